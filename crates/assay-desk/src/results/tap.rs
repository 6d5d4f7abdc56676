//! The Test Anything Protocol: `node --test`, `prove -v`, and small runners of one's own.

use super::{Results, Status};

/// `ok 1 - name`, `not ok 2 - name # SKIP why`. Names of nested tests have those around them in
/// front, joined by ` > `. A plan that promises more tests than came is a failure.
pub(super) fn read(text: &str) -> Results {
    let mut results = Results::default();
    let mut around: Vec<(usize, String)> = Vec::new();
    let (mut planned, mut came) = (None, 0u64);
    for line in text.lines() {
        let body = line.trim_start();
        let depth = line.len() - body.len();
        if let Some(name) = body.strip_prefix("# Subtest: ") {
            around.retain(|(other, _)| *other < depth);
            around.push((depth, name.trim().to_string()));
            continue;
        }
        if depth == 0 && body.starts_with("Bail out!") {
            results.add("Bail out!", Status::Failed);
        }
        if depth == 0
            && let Some(plan) = body.strip_prefix("1..")
        {
            let digits: String = plan.chars().take_while(char::is_ascii_digit).collect();
            planned = digits.parse::<u64>().ok();
            continue;
        }
        let (rest, mut status) = match (body.strip_prefix("not ok"), body.strip_prefix("ok")) {
            (Some(rest), _) => (rest, Status::Failed),
            (None, Some(rest)) => (rest, Status::Passed),
            (None, None) => continue,
        };
        if !rest.is_empty() && !rest.starts_with(' ') {
            continue;
        }
        came += u64::from(depth == 0);
        let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
        let directive = directive.trim_start().to_uppercase();
        if directive.starts_with("SKIP") || directive.starts_with("TODO") {
            status = Status::Skipped;
        }
        let name = name.trim().trim_start_matches(|c: char| c.is_ascii_digit());
        let name = name.trim().trim_start_matches('-').trim();
        around.retain(|(other, around)| *other < depth || (*other == depth && around != name));
        let mut path: Vec<&str> = around.iter().map(|(_, name)| name.as_str()).collect();
        path.retain(|_| depth > 0);
        path.push(name);
        results.add(path.join(" > "), status);
    }
    if planned.is_some_and(|planned| planned > came) {
        results.add("tests that were planned and did not come", Status::Failed);
    }
    results
}
