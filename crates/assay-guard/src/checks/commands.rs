//! Commands of workflows and scripts: which of them check something, and which can fail.

/// A command that is run somewhere.
#[derive(Clone, Debug)]
pub struct Command {
    /// The job or target.
    pub job: String,
    /// What is run, in one line.
    pub text: String,
    /// Its line.
    pub line: usize,
    /// Why it cannot fail the build, if it cannot.
    pub harmless: Option<String>,
    /// Under which condition it runs, if not always.
    pub condition: Option<String>,
}

const WORDS: &[&str] = &[
    "test",
    "tests",
    "nextest",
    "pytest",
    "tox",
    "jest",
    "vitest",
    "mocha",
    "lint",
    "clippy",
    "eslint",
    "check",
    "coverage",
    "cov",
    "llvm-cov",
    "tarpaulin",
    "vet",
    "mypy",
    "ruff",
    "flake8",
    "pylint",
    "tsc",
    "fmt",
    "verify",
    "audit",
    "deny",
    "assay",
    "tlc",
    "tla2tools.jar",
    "apalache",
    "fuzz",
    "miri",
    "kani",
    "bench",
    "staticcheck",
    "golangci-lint",
    "gradlew",
    "mvn",
    "gradle",
    "unittest",
    "ctest",
    "validate",
    "guard",
    "prettier",
    "machete",
    "typecheck",
    "spotbugs",
    "checkstyle",
    "doctest",
    "black",
    "semgrep",
    "codeql",
    "shellcheck",
    "hadolint",
    "proptest",
];

/// Whether a command looks for something.
pub fn is_check(text: &str) -> bool {
    text.split(|c: char| c.is_whitespace() || matches!(c, '/' | ':' | ';' | '@' | '=' | ',')).any(
        |word| {
            let word = word.trim_start_matches("--").trim_matches(['"', '\'']).to_lowercase();
            WORDS.contains(&word.as_str())
                || word.split(['-', '_', '.']).any(|part| WORDS.contains(&part))
        },
    )
}

/// How a command hides its own failure.
pub fn hides(text: &str) -> Option<&'static str> {
    let compact = text.replace("  ", " ");
    [
        "|| true",
        "||true",
        "|| :",
        "|| exit 0",
        "; true",
        "|| echo",
        "; exit 0",
        "|| /bin/true",
        "--exit-zero",
        "--no-fail-on-error",
        "--no-error-on",
        "continue-on-error",
    ]
    .into_iter()
    .find(|sign| compact.contains(sign))
    .or_else(|| is_left_alone(&compact).then_some("in the background"))
}

/// `shellcheck x &`: nobody asks how it ended.
fn is_left_alone(text: &str) -> bool {
    let text = text.trim_end();
    text.ends_with('&') && !text.ends_with("&&")
}

/// Whether a script ends when one of its commands fails.
pub fn ends_on_failure(script: &str) -> bool {
    script.lines().map(str::trim).any(|line| {
        let set = line.strip_prefix("set -").or_else(|| {
            line.strip_prefix("#!").and_then(|rest| rest.split_once(" -").map(|(_, flags)| flags))
        });
        set.is_some_and(|flags| {
            let short = flags.split_whitespace().next().unwrap_or_default();
            short.contains('e') || flags.contains("errexit")
        })
    })
}

/// The command without what hides its failure, and without what only makes it talk.
pub fn bare(text: &str) -> String {
    let mut text = text.trim().trim_start_matches(['-', '@']).trim().to_string();
    for sign in [
        "|| true",
        "||true",
        "|| :",
        "|| exit 0",
        "; true",
        "; exit 0",
        "|| /bin/true",
        "--exit-zero",
    ] {
        text = text.replace(sign, "");
    }
    if let Some(at) = text.find("|| echo") {
        text.truncate(at);
    }
    if is_left_alone(&text) {
        text.truncate(text.trim_end().len() - 1);
    }
    let quiet = ["-v", "--verbose", "-q", "--quiet", "--color=always", "--color", "always"];
    let words = text.split_whitespace().filter(|word| !quiet.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// The commands in a script: one a line, continued lines together.
pub fn lines(job: &str, script: &str, first: usize) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut open: Option<(String, usize)> = None;
    let mut harmless: Option<String> = None;
    for (at, line) in script.lines().enumerate() {
        let trimmed = line.trim();
        let (mut text, start) = match open.take() {
            Some((before, start)) => (format!("{before} {trimmed}"), start),
            None => (trimmed.to_string(), first + at),
        };
        if let Some(more) = text.strip_suffix('\\') {
            open = Some((more.trim().to_string(), start));
            continue;
        }
        if text.starts_with('#') || text.is_empty() {
            continue;
        }
        if text.starts_with("set +e") {
            harmless = Some("set +e".to_string());
            continue;
        }
        if text.starts_with("set -") {
            harmless = None;
            continue;
        }
        if let Some(at) = text.find(" #") {
            text.truncate(at);
        }
        for part in text.split(" && ") {
            let own = hides(part).map(str::to_string).or_else(|| harmless.clone());
            found.push(Command {
                job: job.to_string(),
                text: part.trim().to_string(),
                line: start,
                harmless: own,
                condition: None,
            });
        }
    }
    found
}

/// Targets of a Makefile or justfile with their commands.
pub fn targets(source: &str) -> Vec<Command> {
    let mut found = Vec::new();
    let mut target = String::new();
    for (at, line) in source.lines().enumerate() {
        let indented = line.starts_with(['\t', ' ']);
        if !indented {
            if let Some((name, _)) = line.split_once(':')
                && !name.contains('=')
                && !name.starts_with(['#', '.'])
            {
                target = name.trim().to_string();
            }
            continue;
        }
        let text = line.trim();
        if text.starts_with('#') || text.is_empty() {
            continue;
        }
        for mut command in lines(&target, text, at + 1) {
            if text.starts_with('-') || text.starts_with("@-") {
                command.harmless = Some("a leading -".to_string());
            }
            found.push(command);
        }
    }
    found
}
