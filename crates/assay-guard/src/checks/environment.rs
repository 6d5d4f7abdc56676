//! Options that a workflow gives to tools by variables of the environment.

use super::flat::Setting;
use super::rules::flags;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;

/// Variables that hold options.
const OPTIONS: [&str; 8] = [
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "PYTEST_ADDOPTS",
    "PYTHONWARNINGS",
    "GOFLAGS",
    "CFLAGS",
    "CXXFLAGS",
    "NODE_OPTIONS",
];

/// K04: options that are less strict than before.
pub fn compare(path: &str, old: &[Setting], new: &[Setting], findings: &mut Vec<Finding>) {
    for name in OPTIONS {
        let of = |list: &[Setting]| -> Vec<Setting> {
            list.iter().filter(|setting| setting.key() == name).cloned().collect()
        };
        let (was, is) = (of(old), of(new));
        let words = |list: &[Setting]| -> Vec<String> {
            list.iter().flat_map(|s| s.value.split_whitespace().map(str::to_string)).collect()
        };
        let (a, b) = (words(&was), words(&is));
        if a == b {
            continue;
        }
        let (rule, verdict, reason) = flags(&a, &b);
        // Most options say nothing about how strict a tool is.
        if verdict == Verdict::Changed {
            continue;
        }
        let side = |of: Option<&'_ Setting>| of.map(|s| (s.line, s.value.clone()));
        let (before, after) = (side(was.first()), side(is.first()));
        let sides = (
            before.as_ref().map(|(line, text)| Side { file: path, line: *line, text }),
            after.as_ref().map(|(line, text)| Side { file: path, line: *line, text }),
        );
        let object = format!("{path}::{name}");
        let reason = format!("{name} {reason}");
        findings.push(finding(id(rule), object, verdict, sides, reason));
    }
}
