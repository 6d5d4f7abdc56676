//! What is broken on purpose, and who notices.
//!
//! RED and GREEN read what a runner says. A hook, a helper or a runner of the claim's own can say
//! something else than what happened. So the mapped tests are made to fail in their first line:
//! each must be said to fail, by name. And tests that could not begin without the work, because a
//! name was missing, must notice when the functions behind the names do nothing but fail.

use super::{Finding, Severity};
use crate::contract::{MappedTest, Story};
use crate::results::{Results, Status};
use std::collections::BTreeSet;

/// More tests than this are not named one by one.
const NAMED_MAX: usize = 20;
/// Files without which nothing can be built: they are no part of what a work does.
const MANIFESTS: [&str; 13] = [
    ".toml", ".lock", ".json", ".yaml", ".yml", ".cfg", ".ini", ".mod", ".sum", ".gradle", ".xml",
    ".md", ".rst",
];

/// Whether each test that was found, and was made to fail, is said to fail.
pub fn heard(tests: &[MappedTest], found: &BTreeSet<String>, results: &Results) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names: BTreeSet<&String> = tests.iter().map(|test| &test.name).collect();
    for name in names.iter().filter(|name| found.contains(**name)) {
        // Subtests of Go do not begin when what they are parts of fails.
        let whole = name.split('/').next().filter(|_| !name.contains("::")).unwrap_or(name);
        let status = match results.status(name) {
            None => results.status(whole),
            status => status,
        };
        let what = match status {
            Some(Status::Failed) => continue,
            Some(Status::Passed) => "is said to pass",
            Some(Status::Skipped) => "is said to be skipped",
            None => "has no result then",
        };
        let text = format!(
            "the mapped test `{name}` was made to fail and {what}: something stands between it \
             and its result (a hook, a runner, a helper), and what it shows is void: remove that"
        );
        findings.push(Finding::new("sabotage", Severity::Critical, text));
    }
    let lost: Vec<&str> =
        names.iter().filter(|name| !found.contains(**name)).map(|name| name.as_str()).collect();
    if let Some(text) = not_found(&lost) {
        findings.push(Finding::new("sabotage", Severity::Minor, text));
    }
    findings
}

/// What nobody could make fail is said.
fn not_found(lost: &[&str]) -> Option<String> {
    if lost.is_empty() {
        return None;
    }
    let some: Vec<String> = lost.iter().take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    let more = match lost.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "nobody saw {}{more} fail when made to: no function of a test file that can be read has \
         that name",
        some.join(", ")
    ))
}

/// RED of tests that did not pass without the work because names were missing, by what they say of
/// a hollow claim: of each criterion one test at least must not pass there. `before` are the
/// results without the work, `hollow` those with functions that fail.
pub fn hollow(
    story: &Story,
    tests: &[MappedTest],
    before: &Results,
    hollow: &Results,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for criterion in &story.criteria {
        if story.existing.contains_key(&criterion.id) {
            continue;
        }
        let own = tests.iter().filter(|test| test.criterion == criterion.id);
        let red = |test: &&MappedTest| before.status(&test.name) != Some(Status::Passed);
        let (idle, good): (Vec<&MappedTest>, Vec<&MappedTest>) =
            own.filter(red).partition(|test| hollow.status(&test.name) == Some(Status::Passed));
        let Some(first) = idle.first() else { continue };
        let about = format!("{}/{}", story.id, criterion.id);
        let finding = match good.is_empty() {
            true => Finding::new(
                about,
                Severity::Major,
                format!(
                    "its tests (`{}` and others) could not begin without the work, and they all \
                     pass although each function that the claim adds or changes fails: let one \
                     ask for what it does (RED)",
                    first.name
                ),
            ),
            false => {
                let names: Vec<String> =
                    idle.iter().take(NAMED_MAX).map(|test| format!("`{}`", test.name)).collect();
                let text = format!(
                    "{} would pass whatever the functions of the claim do",
                    names.join(", ")
                );
                Finding::new(about, Severity::Minor, text)
            }
        };
        findings.push(finding);
    }
    findings
}

/// Whether a file says nothing about how the work is built, so that without it, it is built all
/// the same.
pub fn is_data(path: &str) -> bool {
    !assay_guard::spoil::is_known(path) && !MANIFESTS.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{heard, is_data};
    use crate::contract::{Category, MappedTest};
    use crate::gate::Severity;
    use crate::results::{Results, Status};

    fn test(name: &str) -> MappedTest {
        let (criterion, name) = ("AC-1".to_string(), name.to_string());
        MappedTest { criterion, name, category: Category::Happy }
    }

    #[test]
    fn a_test_that_was_made_to_fail_has_to_be_said_to_fail() {
        for (name, result, status, wanted) in [
            ("t::a", "t::a", Some(Status::Failed), None),
            ("TestA/case", "TestA", Some(Status::Failed), None),
            ("t::a", "t::a", Some(Status::Passed), Some("is said to pass")),
            ("TestA/case", "TestA/case", Some(Status::Passed), Some("is said to pass")),
            ("t::a", "t::a", Some(Status::Skipped), Some("is said to be skipped")),
            ("t::a", "t::b", Some(Status::Failed), Some("has no result")),
        ] {
            let mut results = Results::default();
            status.into_iter().for_each(|status| results.add(result, status));
            let found = heard(&[test(name)], &[name.to_string()].into(), &results);
            match wanted {
                None => assert_eq!(found, [], "{name}"),
                Some(what) => assert!(found[0].text.contains(what) && found[0].blocks()),
            }
        }
        let lost = heard(&[test("adds")], &Default::default(), &Results::default());
        assert_eq!((lost.len(), lost[0].severity), (1, Severity::Minor), "{lost:?}");
        assert!(lost[0].text.contains("nobody saw `adds` fail"), "{lost:?}");
    }

    #[test]
    fn manifests_and_programs_are_no_data() {
        for (path, wanted) in
            [("a/b.html", true), ("n1", true), ("Cargo.toml", false), ("a.py", false)]
        {
            assert_eq!(is_data(path), wanted, "{path}");
        }
    }
}
