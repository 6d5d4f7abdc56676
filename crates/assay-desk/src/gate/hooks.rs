//! Does the work say how tests are run? Whoever sets up a runner can call a failure a success.
//!
//! Hooks of runners, settings of runners, and programs that have to do with a runner although they
//! are no tests. Each can be honest, and nobody can tell by looking: so a person says so, and names
//! the file in `runners`. What hooks do is seen where tests are made to fail ([`super::sabotage`],
//! [`super::kept`]); this is found before, and also where no test can be made to fail.

use super::diff::FileDiff;
use super::{Finding, Severity, glob};
use assay_guard::{Tree, tree};
use serde_json::Value;
use toml_edit::DocumentMut;

/// Files that runners read before any test, wherever they stand.
const SETTINGS: [&str; 4] = ["conftest.py", "pytest.ini", "tox.ini", "setup.cfg"];
/// The same, by how their names begin.
const BEGINS: [&str; 4] = ["jest.config.", "vitest.config.", ".mocharc", "pytest.toml"];
/// What of a `package.json` says how tests are run.
const PACKAGE: [&str; 7] = [
    "/scripts/test",
    "/scripts/pretest",
    "/scripts/posttest",
    "/jest",
    "/vitest",
    "/mocha",
    "/ava",
];
/// Files of Python that name runners for good reasons: they set projects up.
pub(super) const SETTING_UP: [&str; 5] =
    ["setup.py", "noxfile.py", "conftest.py", "tasks.py", "fabfile.py"];
/// What in Python only those have to do with who write runners.
const PYTHON: [&str; 5] =
    ["TextTestResult", "TextTestRunner", "load_tests", "unittest.result", "unittest.case"];
/// Words that are more than themselves: `TestResult` is one, `TestResults` is not.
const WORDS: [&str; 2] = ["TestResult", "TestProgram"];

/// Whether a file says how a runner runs tests.
pub fn is_setting(path: &str) -> bool {
    let name = tree::file_name(path);
    SETTINGS.contains(&name) || BEGINS.iter().any(|begin| name.starts_with(begin))
}

/// Hooks and settings of runners that are new. `tests` and `allowed` are globs.
pub fn check(
    files: &[FileDiff],
    before: &Tree,
    after: &Tree,
    tests: &[String],
    allowed: &[String],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !glob::any(allowed, &file.path)) {
        let path = file.path.as_str();
        for (line, text) in file.added() {
            if let Some(what) = hook(path, text) {
                findings.push(found(&format!("{path}:{line}"), &format!("{what} was added")));
            } else if !glob::any(tests, path) && imports(path, text) {
                let what = "the program asks whether it is being tested (a runner is imported)";
                findings.push(found(&format!("{path}:{line}"), what));
            }
        }
        if settings(path, before) != settings(path, after) {
            findings.push(found(path, "how its tests are run was changed"));
        }
    }
    findings
}

fn found(place: &str, what: &str) -> Finding {
    let text = format!(
        "{place}: {what}: restore it; a person may let the work set up runners in this file, and \
         names it in `runners`"
    );
    Finding::new("gaming", Severity::Critical, text)
}

/// What of a line is a hook of a runner.
fn hook(path: &str, line: &str) -> Option<String> {
    let bare = line.trim_start();
    match tree::extension(path).as_str() {
        "py" if bare.starts_with('#') => None,
        "py" => {
            let name = bare.strip_prefix("async ").unwrap_or(bare).strip_prefix("def ");
            let name = name.and_then(|rest| rest.split('(').next()).map(str::trim);
            if let Some(name) = name.filter(|name| name.starts_with("pytest_")) {
                return Some(format!("the hook `{name}`"));
            }
            let word = PYTHON.iter().find(|word| line.contains(**word));
            let word = word.or(WORDS.iter().find(|word| super::symbols::names(line, word)));
            word.map(|word| format!("the hook `{word}`"))
        }
        "go" if bare.starts_with("func TestMain(") => Some("the hook `TestMain`".to_string()),
        _ => None,
    }
}

/// Whether a line of a program imports what only tests need. Mocks are for everybody.
fn imports(path: &str, line: &str) -> bool {
    if tree::extension(path) != "py" || SETTING_UP.contains(&tree::file_name(path)) {
        return false;
    }
    let is_runner = |module: &str| {
        let module = module.split_whitespace().next().unwrap_or("");
        let top = module.split('.').next().unwrap_or("");
        let is_mock = module == "unittest.mock" || module.starts_with("unittest.mock.");
        ["unittest", "pytest", "_pytest", "nose"].contains(&top) && !is_mock
    };
    line.split(';').map(str::trim).any(|statement| {
        if let Some(rest) = statement.strip_prefix("from ") {
            let (module, names) = rest.split_once(" import ").unwrap_or((rest, ""));
            let only_mock = names.trim() == "mock" || names.trim().starts_with("mock as ");
            return is_runner(module) && !(module.trim() == "unittest" && only_mock);
        }
        let modules = statement.strip_prefix("import ");
        modules.is_some_and(|modules| modules.split(',').map(str::trim).any(is_runner))
    })
}

/// What of a file that says more says how tests are run.
fn settings(path: &str, all: &Tree) -> String {
    let text = || tree::text(all, path).unwrap_or_default();
    match tree::file_name(path) {
        "pyproject.toml" => {
            let document = text().parse::<DocumentMut>().ok();
            let tool = document.as_ref().and_then(|document| document.get("tool"));
            let own = tool
                .and_then(|tool| tool.as_table_like())
                .into_iter()
                .flat_map(|tool| tool.iter().filter(|(name, _)| name.starts_with("pytest")));
            own.map(|(name, item)| format!("{name} {item}\n")).collect()
        }
        "package.json" => {
            let Ok(document) = serde_json::from_str::<Value>(text()) else {
                return String::new();
            };
            let own = PACKAGE.iter().filter_map(|name| Some((name, document.pointer(name)?)));
            own.map(|(name, value)| format!("{name} {value}\n")).collect()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, is_setting};
    use crate::gate::diff;
    use assay_guard::Tree;

    fn findings(path: &str, before: &str, after: &str, allowed: &[&str]) -> Vec<String> {
        let tree = |text: &str| Tree::from([(path.to_string(), text.into())]);
        let added: String = after.lines().map(|line| format!("+{line}\n")).collect();
        let text = format!(
            "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1 @@\n{added}"
        );
        let allowed: Vec<String> = allowed.iter().map(|glob| glob.to_string()).collect();
        let tests = ["tests/**".to_string()];
        let found = check(&diff::parse(&text), &tree(before), &tree(after), &tests, &allowed);
        found.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn what_sets_up_a_runner_is_found_unless_a_person_allows_it() {
        let options = "[tool.pytest.ini_options]\naddopts = \"-p pkg.plugin\"\n";
        for (path, before, after, wanted) in [
            ("conftest.py", "", "def pytest_runtest_makereport(item):", Some("makereport`")),
            ("pkg/plugin.py", "", "def pytest_configure():", Some("`pytest_configure`")),
            ("conftest.py", "", "def pytest_like(): pass\n", Some("`pytest_like`")),
            ("conftest.py", "", "import pytest\n@pytest.fixture\ndef basket():\n", None),
            ("a.py", "", "import unittest as u", Some("a runner is imported")),
            ("a.py", "", "from _pytest import runner", Some("a runner is imported")),
            ("a.py", "", "import os, pytest", Some("a runner is imported")),
            ("a.py", "", "from unittest import mock", None),
            ("a.py", "", "import unittest.mock as mock", None),
            ("a.py", "", "from unittest import mock, case", Some("a runner is imported")),
            ("a.py", "", "import pytests", None),
            ("setup.py", "", "import pytest", None),
            ("tests/a.py", "", "import unittest", None),
            ("tests/a.py", "", "unittest.TextTestResult.x = 1", Some("`TextTestResult`")),
            ("tests/__init__.py", "", "def load_tests(a, b, c):", Some("`load_tests`")),
            ("a.py", "", "class TestResults: pass", None),
            ("a_test.go", "", "func TestMain(m *testing.M) {", Some("`TestMain`")),
            ("a_test.go", "", "func TestMainly(t *testing.T) {", None),
            ("pyproject.toml", "", options, Some("how its tests are run")),
            ("pyproject.toml", options, options, None),
            ("pyproject.toml", "", "[project]\nname = \"a\"\n", None),
            (
                "package.json",
                "{\"scripts\":{\"test\":\"jest\"}}",
                "{\"scripts\":{\"test\":\"jest || true\"}}",
                Some("how its tests are run"),
            ),
            (
                "package.json",
                "{\"scripts\":{\"test\":\"jest\"}}",
                "{\"scripts\":{\"test\":\"jest\",\"build\":\"x\"}}",
                None,
            ),
        ] {
            let found = findings(path, before, after, &[]);
            assert_eq!(found.is_empty(), wanted.is_none(), "{path}: {after}: {found:?}");
            assert!(wanted.is_none_or(|what| found[0].contains(what)), "{found:?}");
            assert_eq!(findings(path, before, after, &["**"]), [""; 0], "{path}: {after}");
        }
    }

    #[test]
    fn what_runners_read_is_known_by_its_name() {
        for (path, wanted) in [
            ("a/conftest.py", true),
            ("jest.config.ts", true),
            (".mocharc.json", true),
            ("setup.py", false),
            ("conftest.pyc", false),
        ] {
            assert_eq!(is_setting(path), wanted, "{path}");
        }
    }
}
