//! Which tests there are, said by the runner and not by what is tested.
//!
//! Results are read from output, and everything that runs can print a line that looks like one. So
//! each command with results is asked for a listing, in which no test is run: by its `list`, or as
//! its runner does it. Where a runner has none (TAP, Jest, JUnit files) the name of a test must
//! stand in a test file, outside of comments.

use super::tests::{may_be_skipped, without_line};
use super::{Finding, Severity};
use crate::contract::{CommandSpec, ResultFormat};
use crate::results::Results;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What tests there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Listed {
    /// The runner's own list.
    Runner(BTreeSet<String>),
    /// What the test files say.
    Sources(Sources),
}

/// Names of tests, and how many tests have each: one name can stand in several binaries or in
/// several packages.
pub type Names = BTreeMap<String, usize>;

/// What test files say, as far as it can be the name of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    words: BTreeSet<String>,
    /// What stands in quotes.
    texts: BTreeSet<String>,
    /// The runner joins titles of tests by blanks, as Jest does.
    joined: bool,
}

/// `unittest` cannot list. It can be told to load tests and to name them instead of running them;
/// the mark is new each time, so that nothing that is imported prints it by the way.
const UNITTEST: &str = "\
import sys, unittest
mark, rest = sys.argv[1], sys.argv[2:]
def each(suite):
    for one in suite:
        if isinstance(one, unittest.BaseTestSuite): yield from each(one)
        else: yield one
class Listing(unittest.TestProgram):
    def runTests(self):
        for test in each(self.test): print('\\n' + mark + test.id())
Listing(module=None, argv=['python -m unittest'] + rest)
";

/// What `cargo nextest run` takes and `list` does not; the first ones with a value.
const NEXTEST_VALUED: [&str; 9] = [
    "--status-level",
    "--final-status-level",
    "--success-output",
    "--failure-output",
    "--retries",
    "--test-threads",
    "-j",
    "--max-fail",
    "--no-tests",
];
const NEXTEST_BARE: [&str; 6] =
    ["--no-fail-fast", "--fail-fast", "--ff", "--nff", "--no-capture", "--hide-progress-bar"];

/// The command that lists the tests of a command, if there is one.
pub fn command(spec: &CommandSpec, mark: &str) -> Option<Vec<String>> {
    if let Some(list) = &spec.list {
        return Some(list.clone());
    }
    let words = &spec.run;
    let program = Path::new(words.first()?).file_name()?.to_str()?;
    match spec.results? {
        ResultFormat::Libtest if program == "cargo" => cargo(words),
        ResultFormat::Nextest if program == "cargo" => nextest(words),
        ResultFormat::Pytest => pytest(words, program),
        ResultFormat::Unittest if program.starts_with("python") => unittest(words, mark),
        ResultFormat::Go if program == "go" => go(words),
        _ => None,
    }
}

fn cargo(words: &[String]) -> Option<Vec<String>> {
    let first = words.iter().skip(1).find(|word| !word.starts_with(['+', '-']))?;
    let mut list = (first == "test" || first == "t").then(|| words.to_vec())?;
    if !list.iter().any(|word| word == "--") {
        list.push("--".to_string());
    }
    list.push("--list".to_string());
    Some(list)
}

fn nextest(words: &[String]) -> Option<Vec<String>> {
    let at = words.iter().position(|word| word == "nextest")?;
    words.get(at + 1).filter(|word| matches!(word.as_str(), "run" | "r"))?;
    let mut list = words[..=at].to_vec();
    list.push("list".to_string());
    let mut rest = words[at + 2..].iter();
    while let Some(word) = rest.next() {
        let name = word.split('=').next().unwrap_or(word);
        if NEXTEST_VALUED.contains(&name) {
            if !word.contains('=') {
                rest.next();
            }
        } else if !NEXTEST_BARE.contains(&name) {
            list.push(word.clone());
        }
    }
    Some(list)
}

fn pytest(words: &[String], program: &str) -> Option<Vec<String>> {
    let module = words.windows(2).any(|two| two[0] == "-m" && two[1] == "pytest");
    if !(program == "pytest" || program == "py.test" || program.starts_with("python") && module) {
        return None;
    }
    let (mut list, mut rest) = (Vec::new(), words.iter());
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--verbose" | "--quiet" => {}
            "--verbosity" => _ = rest.next(),
            word if word.starts_with("--verbosity=") => {}
            word if is_loudness(word) => {}
            _ => list.push(word.clone()),
        }
    }
    // Settings of the project may have `-q` or `-v`, which add up; a number is the last word.
    list.extend(["--collect-only", "--verbosity=-1"].map(str::to_string));
    Some(list)
}

/// `-v`, `-qq` and the like.
fn is_loudness(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty());
    letters.is_some_and(|letters| letters.chars().all(|c| matches!(c, 'v' | 'q')))
}

fn unittest(words: &[String], mark: &str) -> Option<Vec<String>> {
    let at = words.windows(2).position(|two| two[0] == "-m" && two[1] == "unittest")?;
    let mut list = words[..at].to_vec();
    list.extend(["-c", UNITTEST, mark].map(str::to_string));
    list.extend_from_slice(&words[at + 2..]);
    Some(list)
}

fn go(words: &[String]) -> Option<Vec<String>> {
    words.get(1).filter(|word| *word == "test")?;
    let mut list = [&words[..2], &["-list".to_string(), ".".to_string()]].concat();
    let quiet = words[2..].iter().filter(|word| !matches!(word.as_str(), "-v" | "-json"));
    list.extend(quiet.cloned());
    Some(list)
}

/// More tests than this are not named one by one.
const NAMED_MAX: usize = 20;

/// Whether every test that the runner lists has to have a result when the command is run: it has a
/// listing, and that leaves out what the command does not run.
pub fn says_what_runs(spec: &CommandSpec) -> bool {
    use ResultFormat::{Go, Libtest, Nextest, Pytest, Unittest};
    let partly = |word: &String| {
        ["-run", "-skip", "--run", "--skip"].iter().any(|option| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    match spec.results {
        Some(Go) => !spec.run.iter().any(partly),
        Some(Libtest | Nextest | Pytest | Unittest) => true,
        _ => false,
    }
}

/// What the runner of a command lists, and nothing that its listing says besides.
pub fn whole(spec: &CommandSpec, mark: &str, output: &str) -> Names {
    let plain = |line: &&str| match spec.results {
        // What is said besides, by the builder or as a warning, can look like a name.
        Some(ResultFormat::Nextest) => {
            line.starts_with("    ") && line.split_whitespace().count() == 1
        }
        Some(ResultFormat::Pytest) => {
            let file = line.split("::").next().unwrap_or("");
            !file.is_empty() && !file.contains(char::is_whitespace)
        }
        _ => true,
    };
    let own = output.lines().filter(plain).filter_map(|line| name(spec, mark, line));
    let mut names = Names::new();
    for name in own {
        *names.entry(name.to_string()).or_insert(0) += 1;
    }
    names
}

/// IL-5: every test that the runner lists has a result, and every one that it listed before the
/// work is still there. A test that nobody runs any more fails nowhere.
pub fn silent(now: &Names, before: &Names, results: &Results, skips: &[String]) -> Vec<Finding> {
    let without = now.iter().filter(|(name, times)| results.times(name) < **times);
    let mut texts: Vec<String> = without
        .filter(|(name, _)| !may_be_skipped(skips, name))
        .map(|(name, times)| match results.times(name) {
            0 => format!("`{name}` is listed and has no result: did the run end before it? (IL-5)"),
            had => format!("`{name}` is listed {times} times and has {had} results (IL-5)"),
        })
        .collect();
    let (cases, had) = (cases(now), cases(before));
    for (name, old) in had.iter().filter(|(name, _)| !may_be_skipped(skips, name)) {
        match cases.get(name).copied().unwrap_or(0) {
            0 => texts.push(format!("`{name}` was listed before the work and is not now (IL-5)")),
            new if new < *old => {
                texts.push(format!("`{name}` had {old} cases before the work and has {new} (IL-5)"))
            }
            _ => {}
        }
    }
    let more = texts.len().saturating_sub(NAMED_MAX);
    texts.truncate(NAMED_MAX);
    texts.extend((more > 0).then(|| format!("and {more} more tests")));
    let remedy = "restore it, under its name; a person may name it in `skips`";
    let finding = |text| Finding::new("suite", Severity::Critical, format!("{text}: {remedy}"));
    texts.into_iter().map(finding).collect()
}

/// Tests without the parameters and lines in their names, and how many there are of each.
fn cases(all: &Names) -> Names {
    let mut cases = Names::new();
    for (name, times) in all {
        let stem =
            name.find('[').filter(|_| name.ends_with(']')).map_or(&name[..], |at| &name[..at]);
        *cases.entry(without_line(stem)).or_insert(0) += times;
    }
    cases
}

/// Reads a listing. One that a contract's `list` printed may also have one name a line.
pub fn read(spec: &CommandSpec, mark: &str, output: &str) -> Listed {
    let mut all = BTreeSet::new();
    for line in output.lines() {
        let bare = line.trim();
        if spec.list.is_some() && !bare.is_empty() {
            all.insert(bare.to_string());
        }
        all.extend(name(spec, mark, line).map(str::to_string));
    }
    Listed::Runner(all)
}

/// The name of a test in a line of its runner's listing.
fn name<'l>(spec: &CommandSpec, mark: &str, line: &'l str) -> Option<&'l str> {
    let bare = line.trim();
    match spec.results? {
        ResultFormat::Libtest => bare.strip_suffix(": test"),
        ResultFormat::Nextest => nextest_name(line),
        ResultFormat::Pytest => Some(bare).filter(|name| {
            name.contains("::") && !name.starts_with(['=', '<']) && !name.starts_with("ERROR")
        }),
        ResultFormat::Unittest => bare.strip_prefix(mark).filter(|_| !mark.is_empty()),
        ResultFormat::Go => Some(bare).filter(|name| {
            let kinds = ["Test", "Example", "Fuzz"];
            kinds.iter().any(|kind| name.starts_with(kind)) && !name.contains(' ')
        }),
        _ => None,
    }
}

/// `    module::test` below the name of its binary, or `package::binary module::test`.
fn nextest_name(line: &str) -> Option<&str> {
    let name = line.split_whitespace().next_back()?;
    (!line.trim_end().ends_with(':')).then_some(name)
}

/// Words and quoted texts of test files, without lines that are comments.
pub fn sources<'t>(spec: &CommandSpec, texts: impl Iterator<Item = &'t str>) -> Listed {
    let joined = spec.results == Some(ResultFormat::Jest);
    let mut all = Sources { joined, ..Sources::default() };
    let lines = texts.flat_map(str::lines).map(str::trim);
    for line in lines.filter(|line| !line.starts_with("//") && !line.starts_with('#')) {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        all.words.extend(words.filter(|word| !word.is_empty()).map(str::to_string));
        for quote in ['"', '\'', '`'] {
            let pieces = line.split(quote).skip(1).map(str::trim).filter(|p| !p.is_empty());
            all.texts.extend(pieces.map(str::to_string));
        }
    }
    Listed::Sources(all)
}

impl Listed {
    /// Whether there is a test of this name.
    pub fn has(&self, name: &str) -> bool {
        match self {
            // Subtests of Go are known by what they are parts of.
            Listed::Runner(all) => {
                let whole = name.split('/').next().unwrap_or(name);
                all.contains(name) || !name.contains("::") && all.contains(whole)
            }
            Listed::Sources(sources) => sources.have(name),
        }
    }
}

impl Sources {
    fn have(&self, name: &str) -> bool {
        let last = name.rsplit(" > ").next().unwrap_or(name);
        // A case of a test with parameters has them behind its name.
        let plain = last.find(['[', '(']).map_or(last, |at| &last[..at]).trim();
        let mut parts = ["::", ".", "/"].iter().filter_map(|by| plain.rsplit_once(by));
        let mut titles = last.match_indices(' ').map(|(at, _)| &last[at + 1..]);
        self.texts.contains(last)
            || self.texts.contains(plain)
            || self.word(plain)
            || parts.any(|(_, part)| self.word(part))
            || self.joined && titles.any(|title| self.texts.contains(title))
    }

    fn word(&self, word: &str) -> bool {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_') && self.words.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::{Listed, Names, command, read, says_what_runs, silent, sources, whole};
    use crate::contract::{CommandSpec, ResultFormat};
    use crate::results::{Results, Status};

    fn spec(run: &str, results: ResultFormat) -> CommandSpec {
        let run = run.split(' ').map(str::to_string).collect();
        CommandSpec { run, exit: 0, prints: None, results: Some(results), file: None, list: None }
    }

    #[test]
    fn runners_are_asked_in_their_own_way() {
        for (run, results, wanted) in [
            ("cargo test", ResultFormat::Libtest, "cargo test -- --list"),
            ("cargo +nightly t a -- b", ResultFormat::Libtest, "cargo +nightly t a -- b --list"),
            ("cargo build", ResultFormat::Libtest, ""),
            ("make test", ResultFormat::Libtest, ""),
            (
                "cargo nextest run -p a --status-level all --no-fail-fast --retries=2",
                ResultFormat::Nextest,
                "cargo nextest list -p a",
            ),
            ("pytest -v tests", ResultFormat::Pytest, "pytest tests --collect-only --verbosity=-1"),
            (
                "python3 -m pytest -vv --quiet --verbosity=2 --verbosity 1 -rA a",
                ResultFormat::Pytest,
                "python3 -m pytest -rA a --collect-only --verbosity=-1",
            ),
            ("go test -v ./...", ResultFormat::Go, "go test -list . ./..."),
            ("sh t/all", ResultFormat::Tap, ""),
        ] {
            let list = command(&spec(run, results), "m").unwrap_or_default().join(" ");
            assert_eq!(list, wanted, "{run}");
        }
        let run = "/usr/bin/python3 -B -m unittest discover -v -s tests";
        let list = command(&spec(run, ResultFormat::Unittest), "m").expect("a listing");
        assert_eq!(list[..3], ["/usr/bin/python3", "-B", "-c"]);
        assert_eq!(list[4..], ["m", "discover", "-v", "-s", "tests"]);
        let own = CommandSpec { list: Some(vec!["x".into()]), ..spec("sh a", ResultFormat::Tap) };
        assert_eq!(command(&own, "m"), Some(vec!["x".to_string()]));
    }

    #[test]
    fn what_runners_list_is_read() {
        for (results, output, there, absent) in [
            (ResultFormat::Libtest, "a::b: test\nc: benchmark\n1 test\n", "a::b", "c"),
            (ResultFormat::Nextest, "demo::it:\n    a::b\n", "a::b", "demo::it:"),
            (ResultFormat::Pytest, "tests/a.py::b[1 2]\n1 test\n", "tests/a.py::b[1 2]", "b"),
            (ResultFormat::Unittest, "t.C.b\nmt.C.a\n", "t.C.a", "t.C.b"),
            (ResultFormat::Go, "TestA\nok  \tdemo\t0.1s\n", "TestA/case", "ok"),
        ] {
            let listed = read(&spec("x", results), "m", output);
            assert!(listed.has(there), "{output}: {listed:?}");
            assert!(!listed.has(absent), "{output}: {listed:?}");
        }
        let own = CommandSpec { list: Some(vec!["x".into()]), ..spec("sh", ResultFormat::Tap) };
        assert!(read(&own, "m", "adds one\n").has("adds one"));
    }

    #[test]
    fn a_test_that_nobody_runs_any_more_is_missed() {
        let set = |names: &[&str]| {
            let mut all = Names::new();
            names.iter().for_each(|name| *all.entry(name.to_string()).or_insert(0) += 1);
            all
        };
        let mut results = Results::default();
        for name in ["a", "p[1]", "p[2]", "src/lib.rs - f (line 9)"] {
            results.add(name, Status::Passed);
        }
        let now: Names = set(&["a", "p[1]", "p[2]", "src/lib.rs - f (line 9)"]);
        let said = |now: &Names, before: &[&str], skips: &[&str]| {
            let skips: Vec<String> = skips.iter().map(|name| name.to_string()).collect();
            let found = silent(now, &set(before), &results, &skips);
            found.into_iter().map(|finding| finding.text).collect::<Vec<_>>().join("\n")
        };
        let moved = ["a", "p[1]", "p[3]", "src/lib.rs - f (line 4)"];
        assert_eq!(said(&now, &moved, &[]), "");
        for (now, before, why) in [
            (set(&["a", "b"]), &["a"][..], "`b` is listed and has no result"),
            (set(&["a", "a"]), &["a"], "`a` is listed 2 times and has 1 results"),
            (now.clone(), &["a", "a"], "`a` had 2 cases before the work and has 1"),
            (now.clone(), &["a", "b"], "`b` was listed before the work and is not now"),
            (now.clone(), &["p[1]", "p[2]", "p[3]"], "`p` had 3 cases before the work and has 2"),
        ] {
            let found = said(&now, before, &[]);
            assert!(found.contains(why), "{found}");
            assert_eq!(said(&now, before, &["a", "b", "p"]), "", "a person decided it");
        }
        let many: Names = (0..30).map(|n| (format!("t{n}"), 1)).collect();
        assert_eq!(said(&many, &[], &[]).lines().count(), 21);
    }

    #[test]
    fn only_what_a_runner_has_to_run_needs_a_result() {
        for (run, results, output, wanted) in [
            ("cargo test", ResultFormat::Libtest, "a: test\n1 test, 0 benchmarks\n", &["a"][..]),
            (
                "cargo nextest run",
                ResultFormat::Nextest,
                "d::it:\n    a::b\n    Finished `test` profile in 0.05s\n",
                &["a::b"],
            ),
            (
                "pytest",
                ResultFormat::Pytest,
                "t/a.py::b[1 2]\n\n1 test collected\n  Warning: see std::c\n",
                &["t/a.py::b[1 2]"],
            ),
            ("go test -v ./...", ResultFormat::Go, "TestA\nok  \tdemo\n", &["TestA"]),
            ("sh t/all", ResultFormat::Tap, "a\n", &[]),
        ] {
            let found: Vec<String> = whole(&spec(run, results), "m", output).into_keys().collect();
            assert_eq!(found, wanted, "{run}");
        }
        for (run, results, wanted) in [
            ("cargo test", ResultFormat::Libtest, true),
            ("go test -v ./...", ResultFormat::Go, true),
            ("go test -run=A ./...", ResultFormat::Go, false),
            ("go test -skip A ./...", ResultFormat::Go, false),
            ("sh t/all", ResultFormat::Tap, false),
        ] {
            assert_eq!(says_what_runs(&spec(run, results)), wanted, "{run}");
        }
    }

    #[test]
    fn without_a_listing_a_test_file_has_the_name() {
        let text = "# 'only a comment'\ncheck 'adds two' 2\ndef test_c(): pass\n";
        let stands = |results, name: &str| {
            let listed = sources(&spec("x", results), [text].into_iter());
            assert!(matches!(listed, Listed::Sources(_)));
            listed.has(name)
        };
        for (results, name, wanted) in [
            (ResultFormat::Tap, "adds two", true),
            (ResultFormat::Tap, "outer > adds two", true),
            (ResultFormat::Tap, "only a comment", false),
            (ResultFormat::Tap, "subtracts two", false),
            (ResultFormat::Tap, "it adds two", false),
            (ResultFormat::Jest, "it adds two", true),
            (ResultFormat::Junit, "tests.a.test_c[1]", true),
            (ResultFormat::Junit, "tests.a.test_d", false),
            (ResultFormat::Junit, "tests.a.2", false),
        ] {
            assert_eq!(stands(results, name), wanted, "{name}");
        }
    }
}
