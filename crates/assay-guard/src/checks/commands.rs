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
    "cover",
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
    "mutmut",
    "mutants",
    "stryker",
    "pitest",
    "codeql",
    "shellcheck",
    "hadolint",
    "proptest",
    "pre-commit",
    "e2e",
    "smoke",
    "integration",
    "acceptance",
    "regression",
    "conformance",
    "bandit",
    "pyright",
    "gosec",
    "govulncheck",
    "trivy",
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
        "|| continue",
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

/// Why a command before a pipe cannot fail.
pub const PIPED: &str = "only the end of the pipe can fail";

/// `cargo test | tee log`: a shell asks how the last one ended.
fn is_piped(text: &str) -> bool {
    let sides = text.split_once(" | ");
    sides.is_some_and(|(check, rest)| {
        // What `tee` writes to may have the name of a check.
        let last = rest.rsplit(" | ").next().unwrap_or(rest);
        let program = last.split_whitespace().find(|word| *word != "xargs").unwrap_or_default();
        is_check(check) && !is_check(program)
    })
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
        "|| continue",
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
    if is_piped(&text) {
        text.truncate(text.find(" | ").unwrap_or(text.len()));
    }
    if is_left_alone(&text) {
        text.truncate(text.trim_end().len() - 1);
    }
    let quiet = ["-v", "--verbose", "-q", "--quiet", "--color=always", "--color", "always"];
    let words = text.split_whitespace().filter(|word| !quiet.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// What a shell does when one of several commands fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It ends, and tells.
    Ends,
    /// It goes on with the next.
    GoesOn,
}

/// Words that make `;` part of a larger command.
const CONTROL: [&str; 8] = ["for ", "while ", "if ", "case ", "do ", "then ", "else ", "function "];

/// `a; b` as its commands.
fn sequence(text: &str) -> Vec<&str> {
    let control = CONTROL.iter().any(|word| text.starts_with(word));
    if control || !text.contains("; ") || text.contains(['"', '\'']) || hides(text).is_some() {
        return vec![text];
    }
    text.split("; ").collect()
}

/// The commands in a script: one a line, continued lines together.
pub fn lines(job: &str, script: &str, first: usize, failure: OnFailure) -> Vec<Command> {
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
        if text.starts_with("set +") || text.starts_with("set -") {
            let goes_on = text.starts_with("set +e");
            harmless = goes_on.then(|| "set +e".to_string());
            // What follows on the same line is a command of its own.
            let rest = ["; ", " && "].iter().find_map(|end| text.split_once(end));
            match rest.map(|(_, rest)| rest.to_string()) {
                Some(rest) => text = rest,
                None => continue,
            }
        }
        if let Some(at) = text.find(" #") {
            text.truncate(at);
        }
        let parts: Vec<&str> = text.split(" && ").collect();
        for part in parts {
            let sequence = sequence(part);
            let last = sequence.len() - 1;
            for (at, one) in sequence.into_iter().enumerate() {
                let passed = failure == OnFailure::GoesOn && at < last;
                let piped = is_piped(one) && !script.contains("pipefail");
                let own = hides(one)
                    .or(piped.then_some(PIPED))
                    .or(passed.then_some("what follows is run whatever it says"));
                found.push(Command {
                    job: job.to_string(),
                    text: one.trim().to_string(),
                    line: start,
                    harmless: own.map(str::to_string).or_else(|| harmless.clone()),
                    condition: None,
                });
            }
        }
    }
    found
}
