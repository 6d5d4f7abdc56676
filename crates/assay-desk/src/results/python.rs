//! `pytest` and `unittest`, both with `-v`.

use super::{Results, Status};

/// `tests/a.py::test_b PASSED [ 50%]`, and the short summary `PASSED tests/a.py::test_b`. No two
/// tests have one name here.
pub(super) fn read_pytest(text: &str) -> Results {
    let mut results = Results::default();
    let mut in_summary = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("==") {
            in_summary = line.contains("short test summary info");
        }
        let mut words = line.split_whitespace();
        let first = words.next().unwrap_or("");
        if let Some(status) = pytest_status(first) {
            let rest = line[first.len()..].trim();
            // A reason follows what did not pass; the parameters of a test may have a dash, too.
            let name = match status {
                Status::Passed => rest,
                _ => rest.split(" - ").next().unwrap_or("").trim(),
            };
            if first == "ERROR" && !in_summary {
                // A line of somebody's log: `-rA` prints what passing tests logged.
                continue;
            }
            if name.contains("::") {
                results.again(name, status);
            } else if first == "ERROR" && !name.is_empty() {
                // A file that could not be imported is no test, but it is a failure.
                results.again(name, Status::Failed);
            }
            continue;
        }
        for word in ["PASSED", "FAILED", "SKIPPED", "ERROR", "XFAIL", "XPASS"] {
            let Some((name, _)) = line.split_once(&format!(" {word}")) else {
                continue;
            };
            if let Some(status) = pytest_status(word).filter(|_| name.contains("::")) {
                results.again(name.trim(), status);
                break;
            }
        }
    }
    results
}

fn pytest_status(word: &str) -> Option<Status> {
    match word {
        "PASSED" => Some(Status::Passed),
        "FAILED" | "ERROR" | "XPASS" => Some(Status::Failed),
        "SKIPPED" | "XFAIL" => Some(Status::Skipped),
        _ => None,
    }
}

/// `test_a (test_mod.Class.test_a) ... ok`: the name is what stands in parentheses. A test with a
/// docstring has its name on one line and its outcome on the next.
pub(super) fn read_unittest(text: &str) -> Results {
    let mut results = Results::default();
    let mut open: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = unittest_name(line) {
            open = Some(name);
        }
        let Some((_, outcome)) = line.rsplit_once(" ... ").or_else(|| {
            // Output of the test itself may come in between.
            open.as_ref().map(|_| ("", line)).filter(|(_, outcome)| is_outcome(outcome))
        }) else {
            continue;
        };
        let status = match outcome.trim() {
            "ok" => Status::Passed,
            "FAIL" | "ERROR" | "unexpected success" => Status::Failed,
            skipped if skipped.starts_with("skipped") => Status::Skipped,
            "expected failure" => Status::Skipped,
            _ => continue,
        };
        if let Some(name) = open.take() {
            results.add(name, status);
        }
    }
    for line in text.lines() {
        // What fails in a subtest or while loading is named in the report at the end.
        let report = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: "));
        if let Some(name) = report.and_then(unittest_name) {
            results.again(name, Status::Failed);
        }
    }
    results
}

fn is_outcome(text: &str) -> bool {
    let text = text.trim();
    matches!(text, "ok" | "FAIL" | "ERROR" | "expected failure" | "unexpected success")
        || text.starts_with("skipped '")
}

/// `test_a (module.Class.test_a)` of Python 3.11 and later, `test_a (module.Class)` before.
fn unittest_name(line: &str) -> Option<String> {
    let (method, rest) = line.trim().split_once(" (")?;
    let (inside, _) = rest.split_once(')')?;
    let plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    };
    if !plain(method) || !plain(inside) || !inside.contains('.') {
        return None;
    }
    let full = inside.rsplit('.').next() == Some(method);
    Some(if full { inside.to_string() } else { format!("{inside}.{method}") })
}
