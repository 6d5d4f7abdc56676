//! Did a test get weaker? Lines of a diff, compared by what they do to tests.
//!
//! This looks at text, not at meaning: it counts assertions and tests that disappear, markers that
//! switch tests off, tolerances that grow, and sources that ask whether they are being tested. It
//! compares counts per file, so a test may be moved and rewritten as long as it does not end up
//! saying less. It works in every language; what the languages mean is read by
//! [`super::weaker`].

use super::beside::Beside;
use super::diff::FileDiff;
use super::symbols::names;
use super::{Finding, Severity, asked, glob, shadowed};
use std::collections::BTreeMap;

/// What asserts, outside of Rust. Each begins a word.
const ASSERTIONS: [&str; 9] = [
    "expect(",
    "should.",
    "must_be",
    "t.Error",
    "t.Fatal",
    "require.",
    "XCTAssert",
    "EXPECT_",
    "check ",
];
/// Those that are methods of a test only: `t.ok(`, but not `answer.ok(`.
const BARE_ASSERTIONS: [&str; 2] = ["ok(", "is("];
/// What switches a test off. Each begins a word.
const SKIPS: [&str; 10] = [
    "#[ignore",
    "@ignore",
    "pytest.skip",
    "pytest.mark.skip",
    "pytest.mark.xfail",
    "unittest.skip",
    "@skip",
    "self.skipTest",
    "expectedFailure",
    "t.Skip",
];
/// The same in JavaScript; elsewhere these are everyday names.
const SCRIPT_SKIPS: [&str; 11] = [
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "context.skip(",
    "suite.skip(",
    "t.skip(",
    "this.skip(",
    "xit(",
    "xdescribe(",
    "it.todo",
    "test.todo",
];
const SCRIPTS: [&str; 8] = [".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"];
/// The same in TAP, behind a result or a plan.
const DIRECTIVES: [&str; 2] = ["# SKIP", "# TODO"];
/// New test files of these kinds are data, and nobody expects to read them.
const DATA: [&str; 22] = [
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".pdf", ".zip", ".gz", ".xz", ".zst", ".bz2",
    ".tar", ".bin", ".dat", ".db", ".sqlite", ".parquet", ".wasm", ".woff2", ".mp3", ".wav",
];
/// What says how far off a value may be. Each begins a word or a part of one (`assert_approx`).
const TOLERANCES: [&str; 12] = [
    "delta",
    "places",
    "rel_tol",
    "abs_tol",
    "rtol",
    "atol",
    "epsilon",
    "tolerance",
    "approx",
    "InDelta",
    "toBeCloseTo",
    "within",
];

/// What the diff does to tests. `tests` are the globs of test files, `beside` are tests elsewhere.
pub fn check(files: &[FileDiff], tests: &[String], beside: &Beside) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if glob::any(tests, &file.path) {
            test_file(file, &mut findings);
        } else {
            source_file(file, beside, &mut findings);
        }
        // Helpers of tests, and what they take from the program, may stand anywhere.
        for (line, text) in file.added() {
            if let Some(name) = shadowed::shadowed(&file.path, text) {
                let what = format!("`{name}` means something else now");
                findings.push(weaker(&file.path, Some(line), &what));
            }
        }
    }
    findings
}

fn weaker(path: &str, line: Option<usize>, what: &str) -> Finding {
    let place = line.map_or(path.to_string(), |line| format!("{path}:{line}"));
    let text = format!("{place}: {what}: restore it");
    Finding::new("gaming", Severity::Critical, text)
}

fn test_file(file: &FileDiff, findings: &mut Vec<Finding>) {
    if file.deleted {
        findings.push(weaker(&file.path, None, "a test file was deleted"));
        return;
    }
    if file.binary && !(file.added && DATA.iter().any(|end| file.path.ends_with(end))) {
        findings.push(unreadable(&file.path));
        return;
    }
    let old: Vec<&str> = file.removed().collect();
    let new: Vec<(usize, &str)> = file.added().collect();
    let count = |is: &dyn Fn(&str) -> bool| {
        let before = old.iter().filter(|line| is(line)).count();
        let after = new.iter().filter(|(_, line)| is(line)).count();
        (before, after)
    };
    let asserts = |line: &str| is_assertion(&file.path, line);
    for (what, (before, after)) in [("assertions", count(&asserts)), ("tests", count(&is_test))] {
        if after < before {
            let what = format!("{} {what} removed, {after} added", before);
            findings.push(weaker(&file.path, None, &what));
        }
    }
    for (line, text) in &new {
        if let Some(marker) = skip(&file.path, text)
            && !old.iter().any(|old| skip(&file.path, old) == Some(marker))
        {
            findings.push(weaker(&file.path, Some(*line), &format!("`{marker}` was added")));
        }
        if is_empty_assertion(text) {
            let what = "an assertion that is always true was added";
            findings.push(weaker(&file.path, Some(*line), what));
        }
    }
    tolerances(file, findings);
}

/// A line that differs from a removed one in a tolerance only, and allows more.
fn tolerances(file: &FileDiff, findings: &mut Vec<Finding>) {
    let mut before: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in file.removed().filter(|line| has_tolerance(line)) {
        let (shape, numbers) = shape(line);
        before.insert(shape, numbers);
    }
    for (line, text) in file.added().filter(|(_, line)| has_tolerance(line)) {
        let (shape, numbers) = shape(text);
        let Some(old) = before.get(&shape) else {
            continue;
        };
        // `places` counts digits: fewer are wider. Everything else is wider when it is larger.
        let digits = text.contains("places") || text.contains("toBeCloseTo");
        let (old, new) = (old.last().copied(), numbers.last().copied());
        if let (Some(old), Some(new)) = (old, new)
            && ((!digits && new > old) || (digits && new < old))
        {
            let what = format!("a tolerance was widened from {old} to {new}");
            findings.push(weaker(&file.path, Some(line), &what));
        }
    }
}

/// What cannot be read cannot be compared: anything could have been taken out of it.
fn unreadable(path: &str) -> Finding {
    let text = format!("{path}: it cannot be read as text: restore it, or give what is new a name");
    Finding::new("gaming", Severity::Critical, text)
}

fn source_file(file: &FileDiff, beside: &Beside, findings: &mut Vec<Finding>) {
    let lines: Vec<(usize, &str)> = file.added().collect();
    for (at, (line, text)) in lines.iter().enumerate() {
        if beside.after(&file.path, *line) == Some(true) {
            continue;
        }
        let next = lines.get(at + 1).filter(|(next, _)| *next == line + 1).map(|(_, text)| *text);
        if let Some(marker) = asked::asks(&file.path, text, next) {
            let what = format!("the program asks whether it is being tested (`{marker}`)");
            findings.push(weaker(&file.path, Some(*line), &what));
        }
    }
    if !file.path.ends_with(".rs") {
        return;
    }
    if file.binary && !file.deleted {
        findings.push(unreadable(&file.path));
    }
    // Rust keeps unit tests beside the code. Where it is not known which lines are theirs, all are.
    let path = file.path.as_str();
    let asserts = |line: &str| is_assertion(path, line);
    let removed = file.removed_at().filter(|(at, _)| beside.before(path, *at) != Some(false));
    let added = file.added().filter(|(at, _)| beside.after(path, *at) != Some(false));
    let before = removed.filter(|(_, line)| asserts(line)).count();
    let after = added.filter(|(_, line)| asserts(line)).count();
    if after < before {
        let what = format!("{before} assertions removed, {after} added");
        findings.push(weaker(path, None, &what));
    }
    for (line, text) in file.added() {
        if text.trim_start().starts_with("#[ignore") {
            findings.push(weaker(path, Some(line), "`#[ignore` was added"));
        }
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") || (line.starts_with('#') && !line.starts_with("#["))
}

fn is_assertion(path: &str, line: &str) -> bool {
    if is_comment(line) {
        return false;
    }
    if path.ends_with(".rs") {
        return is_assert_macro(line);
    }
    line.contains("assert")
        || ASSERTIONS.iter().any(|word| begins_a_word(line, word))
        || BARE_ASSERTIONS.iter().any(|word| is_bare(line, word))
}

/// `assert!`, `assert_eq!`, `prop_assert!`: a macro with that word in its name.
fn is_assert_macro(line: &str) -> bool {
    line.match_indices("assert").any(|(at, _)| {
        let rest = line[at..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        rest.starts_with('!')
    })
}

/// Whether a marker stands in a line, and not as the end of another word.
fn begins_a_word(line: &str, marker: &str) -> bool {
    places(line, marker).any(|before| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// As a function, or as a method of `t`.
fn is_bare(line: &str, marker: &str) -> bool {
    places(line, marker).any(|before| {
        let method = before.ends_with('.') && !begins_a_word(line, &format!("t.{marker}"));
        !method && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// What stands before each place of a marker.
fn places<'l>(line: &'l str, marker: &'l str) -> impl Iterator<Item = &'l str> {
    line.match_indices(marker).map(|(at, _)| &line[..at])
}

/// What switches a test off in a line.
fn skip(path: &str, line: &str) -> Option<&'static str> {
    let script = SCRIPTS.iter().any(|end| path.ends_with(end));
    let scripts = SCRIPT_SKIPS.iter().filter(|_| script);
    let marker = { SKIPS.iter().chain(scripts) }.find(|marker| begins_a_word(line, marker));
    // A comment may say TODO; behind a result or a plan it is an order to the reader of results.
    let directive = DIRECTIVES.iter().find(|directive| {
        let is_result = |before: &str| names(before, "ok") || before.contains("1..0");
        places(line, directive).any(is_result)
    });
    marker.or(directive).copied()
}

fn is_test(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[test]")
        || line.starts_with("#[tokio::test")
        || line.starts_with("def test")
        || line.starts_with("async def test")
        || line.starts_with("func Test")
        || line.starts_with("it(")
        || line.starts_with("test(")
        || line.starts_with("test_") && line.contains("()")
}

fn is_empty_assertion(line: &str) -> bool {
    let line: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    ["assertTrue(True)", "assert!(true)", "assertTrue", "expect(true).toBe(true)"].iter().any(
        |empty| line == *empty || line == format!("self.{empty}") || line == format!("{empty};"),
    )
}

fn has_tolerance(line: &str) -> bool {
    let begins = |before: &str| !before.ends_with(char::is_alphabetic);
    TOLERANCES.iter().any(|word| places(line, word).any(begins))
}

/// A line with its numbers taken out, and the numbers.
fn shape(line: &str) -> (String, Vec<f64>) {
    let (mut shape, mut numbers, mut number) = (String::new(), Vec::new(), String::new());
    for c in line.trim().chars().chain([' ']) {
        let inside = !number.is_empty() && matches!(c, '.' | 'e' | '-' | '_');
        let word = shape.ends_with(|last: char| last.is_alphabetic() || last == '_');
        if (c.is_ascii_digit() && !word) || (inside && !number.ends_with(c)) {
            number.push(c);
            continue;
        }
        if !number.is_empty() {
            numbers.extend(number.replace('_', "").parse::<f64>().ok());
            shape.push('0');
            number.clear();
        }
        shape.push(c);
    }
    (shape, numbers)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::gate::beside::Beside;
    use crate::gate::diff::parse;
    use assay_guard::Tree;

    fn found(path: &str, removed: &str, added: &str) -> Vec<String> {
        let lines = |sign: char, text: &str| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        let text = format!(
            "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n{}{}",
            lines('-', removed),
            lines('+', added)
        );
        check(&parse(&text), &["tests/**".to_string()], &Beside::default())
            .into_iter()
            .map(|f| f.text)
            .collect()
    }

    #[test]
    fn what_makes_tests_weaker_is_found() {
        for (path, removed, added, what) in [
            ("tests/a.py", "    self.assertEqual(a, 1)", "    pass", "1 assertions removed"),
            ("tests/a.py", "def test_a():\n    assert a", "", "tests removed"),
            ("tests/a.py", "", "@unittest.skip('later')", "was added"),
            ("tests/a.rs", "", "#[ignore]", "was added"),
            ("src/a.rs", "", "    #[ignore = \"slow\"]", "was added"),
            ("src/a.rs", "    assert_eq!(a, 1);", "", "1 assertions removed"),
            (
                "tests/a.py",
                "assertAlmostEqual(x, 1.5, delta=0.01)",
                "assertAlmostEqual(x, 1.5, delta=0.5)",
                "widened from 0.01 to 0.5",
            ),
            (
                "tests/a.py",
                "assertAlmostEqual(x, 1.5, places=7)",
                "assertAlmostEqual(x, 1.5, places=1)",
                "widened from 7 to 1",
            ),
            ("a.py", "", "if 'PYTEST_CURRENT_TEST' in os.environ:", "being tested"),
            ("tests/a.py", "", "self.assertTrue(True)", "always true"),
            ("tests/t.sh", "", "echo 'ok 1 - a # SKIP'", "was added"),
            ("tests/t.sh", "", "echo \"not ok 2 # TODO later\"", "`# TODO` was added"),
            ("tests/t.sh", "", "echo '1..0 # SKIP all'", "`# SKIP` was added"),
            ("tests/a.ts", "", "  it.skip('adds', () => {})", "`it.skip(` was added"),
            ("tests/a.js", "", "xit('adds', () => {})", "`xit(` was added"),
            ("tests/a.js", "", "t.skip()", "`t.skip(` was added"),
            ("tests/a_test.go", "", "\tt.SkipNow()", "`t.Skip` was added"),
            ("tests/a.js", "  t.ok(answer)", "  answer", "1 assertions removed"),
            ("tests/a.js", "  ok(answer)", "  answer", "1 assertions removed"),
            ("tests/a.rs", "    prop_assert!(a);", "    a;", "1 assertions removed"),
            (
                "tests/a.rs",
                "assert_approx_eq!(a, 1.0, 0.1);",
                "assert_approx_eq!(a, 1.0, 0.5);",
                "widened from 0.1 to 0.5",
            ),
            ("tests/a.go", "InDelta(t, a, b, 0.1)", "InDelta(t, a, b, 2)", "widened"),
        ] {
            let found = found(path, removed, added);
            assert!(found.iter().any(|text| text.contains(what)), "{added}: {found:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_found_where_it_could_hide_a_test() {
        for (path, mode, is_found) in [
            ("tests/a.sh", "index 1..2 100644", true),
            ("tests/a.sh", "new file mode 100644", true),
            ("tests/a", "new file mode 100644", true),
            ("tests/a.png", "index 1..2 100644", true),
            ("tests/a.png", "new file mode 100644", false),
            ("src/a.rs", "index 1..2 100644", true),
            ("src/a.png", "index 1..2 100644", false),
        ] {
            let text = format!(
                "diff --git a/{path} b/{path}\n{mode}\nBinary files a/{path} and b/{path} differ\n"
            );
            let tests = ["tests/**".to_string()];
            let found = check(&parse(&text), &tests, &Beside::default());
            assert_eq!(found.len(), usize::from(is_found), "{path} {mode}: {found:?}");
            assert!(found.iter().all(|f| f.text.contains("cannot be read as text")), "{found:?}");
        }
    }

    #[test]
    fn tests_may_be_moved_rewritten_and_sharpened() {
        for (path, removed, added) in [
            ("tests/a.py", "self.assertEqual(a, 1)", "self.assertEqual(a, 2)"),
            ("tests/a.py", "", "def test_more():\n    assert a == 3"),
            (
                "tests/a.py",
                "assertAlmostEqual(x, 1, delta=0.5)",
                "assertAlmostEqual(x, 1, delta=0.1)",
            ),
            ("src/a.py", "assert a", ""),
            ("src/a.py", "x = 1", "x = 2"),
            ("tests/a.py", "", "    sys.exit(main())"),
            ("tests/a.rs", "", "    for line in text.lines().skip(1) {"),
            ("tests/a.rs", "", "    let mut it = all.iter(); it.skip(1)"),
            ("tests/a.py", "", "    # TODO: more prices"),
            ("tests/a.py", "", "    # SKIP is what TAP calls it"),
            ("src/a.rs", "    let a = text.parse().ok();", "    let a = text.parse()?;"),
            ("tests/a.rs", "    let a = text.parse().ok();", "    let a = text.parse()?;"),
            ("tests/a.js", "  if (answer.ok()) {", "  if (answer) {"),
            ("tests/a.py", "due = now + timedelta(days=1)", "due = now + timedelta(days=7)"),
        ] {
            assert_eq!(found(path, removed, added), Vec::<String>::new(), "{added}");
        }
    }

    #[test]
    fn an_invariant_of_the_program_is_no_test_and_one_beside_it_is() {
        let tree = |text: &str| Tree::from([("src/a.rs".to_string(), text.into())]);
        let (product, test) = ("fn a() {\n    assert!(b());\n", "}\n#[test]\nfn t() {\n");
        let old = format!("{product}{test}    assert_eq!(1, 1);\n}}\n");
        let before = tree(&old);
        for (gone, line, wanted) in [("assert!(b());", 2, 0), ("assert_eq!(1, 1);", 5, 1)] {
            let after = tree(&old.replace(&format!("    {gone}\n"), ""));
            let diff = format!(
                "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -{line} \
                 +{},0 @@\n-    {gone}\n",
                line - 1
            );
            let beside = Beside::of(&before, &after, &[]);
            assert_eq!(check(&parse(&diff), &[], &beside).len(), wanted, "{gone}");
        }
    }
}
