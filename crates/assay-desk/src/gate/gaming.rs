//! Did a test get weaker? Lines of a diff, compared by what they do to tests.
//!
//! This looks at text, not at meaning: it counts assertions and tests that disappear, markers that
//! switch tests off, tolerances that grow, and sources that ask whether they are being tested. It
//! compares counts per file, so a test may be moved and rewritten as long as it does not end up
//! saying less. It works in every language; what the languages mean is read by
//! [`super::weaker`].

use super::diff::FileDiff;
use super::{Finding, Severity, glob};
use std::collections::BTreeMap;

const ASSERTIONS: [&str; 12] = [
    "assert",
    "expect(",
    "should.",
    "must_be",
    "t.Error",
    "t.Fatal",
    "require.",
    "ok(",
    "is(",
    "XCTAssert",
    "EXPECT_",
    "check ",
];
const SKIPS: [&str; 17] = [
    "#[ignore",
    "@ignore",
    "pytest.skip",
    "pytest.mark.skip",
    "pytest.mark.xfail",
    "unittest.skip",
    "@skip",
    "self.skipTest",
    "expectedFailure",
    "t.Skip(",
    ".skip(",
    "xit(",
    "xdescribe(",
    "it.todo",
    "test.todo",
    "# SKIP",
    "# TODO",
];
const TESTING: [&str; 7] = [
    "PYTEST_CURRENT_TEST",
    "sys.modules['pytest",
    "sys.modules[\"pytest",
    "NODE_ENV === 'test'",
    "JEST_WORKER_ID",
    "testing.Testing()",
    "RUNNING_TESTS",
];
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

/// What the diff does to tests. `tests` are the globs of test files.
pub fn check(files: &[FileDiff], tests: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if glob::any(tests, &file.path) {
            test_file(file, &mut findings);
        } else {
            source_file(file, &mut findings);
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
    let old: Vec<&str> = file.removed().collect();
    let new: Vec<(usize, &str)> = file.added().collect();
    let count = |is: fn(&str) -> bool| {
        let before = old.iter().filter(|line| is(line)).count();
        let after = new.iter().filter(|(_, line)| is(line)).count();
        (before, after)
    };
    for (what, (before, after)) in [("assertions", count(is_assertion)), ("tests", count(is_test))]
    {
        if after < before {
            let what = format!("{} {what} removed, {after} added", before);
            findings.push(weaker(&file.path, None, &what));
        }
    }
    for (line, text) in &new {
        if let Some(marker) = SKIPS.iter().find(|marker| text.contains(**marker))
            && !old.iter().any(|old| old.contains(*marker))
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

fn source_file(file: &FileDiff, findings: &mut Vec<Finding>) {
    for (line, text) in file.added() {
        if let Some(marker) = TESTING.iter().find(|marker| text.contains(**marker)) {
            let what = format!("the program asks whether it is being tested (`{marker}`)");
            findings.push(weaker(&file.path, Some(line), &what));
        }
    }
    if file.deleted || file.path.ends_with(".rs") {
        // Rust keeps unit tests beside the code.
        let before = file.removed().filter(|line| is_assertion(line)).count();
        let after = file.added().filter(|(_, line)| is_assertion(line)).count();
        if file.path.ends_with(".rs") && after < before {
            let what = format!("{before} assertions removed, {after} added");
            findings.push(weaker(&file.path, None, &what));
        }
    }
    for (line, text) in file.added() {
        if file.path.ends_with(".rs") && text.trim_start().starts_with("#[ignore") {
            findings.push(weaker(&file.path, Some(line), "`#[ignore` was added"));
        }
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") || (line.starts_with('#') && !line.starts_with("#["))
}

fn is_assertion(line: &str) -> bool {
    !is_comment(line) && ASSERTIONS.iter().any(|word| line.contains(word))
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
    TOLERANCES.iter().any(|word| line.contains(word))
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
    use crate::gate::diff::parse;

    fn found(path: &str, removed: &str, added: &str) -> Vec<String> {
        let lines = |sign: char, text: &str| -> String {
            text.lines().map(|line| format!("{sign}{line}\n")).collect()
        };
        let text = format!(
            "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n{}{}",
            lines('-', removed),
            lines('+', added)
        );
        check(&parse(&text), &["tests/**".to_string()]).into_iter().map(|f| f.text).collect()
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
        ] {
            let found = found(path, removed, added);
            assert!(found.iter().any(|text| text.contains(what)), "{added}: {found:?}");
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
        ] {
            assert_eq!(found(path, removed, added), Vec::<String>::new(), "{added}");
        }
    }
}
