//! What is broken on purpose, and who notices.
//!
//! RED and GREEN read what a runner says. A hook, a helper or a runner of the claim's own can say
//! something else than what happened. So the mapped tests are made to fail in their first line:
//! each must be said to fail, by name. And tests that could not begin without the work, because a
//! name was missing, must notice when the functions behind the names do nothing but fail.

use super::tests::{mapping, may_be_skipped};
use super::{Finding, Severity};
use crate::contract::{Criterion, MappedTest, ResultFormat, Settings, Story};
use crate::results::{Results, Status};
use std::collections::{BTreeMap, BTreeSet};

/// More tests than this are not named one by one.
const NAMED_MAX: usize = 20;
/// Files without which nothing can be built: they are no part of what a work does.
const MANIFESTS: [&str; 13] = [
    ".toml", ".lock", ".json", ".yaml", ".yml", ".cfg", ".ini", ".mod", ".sum", ".gradle", ".xml",
    ".md", ".rst",
];

/// How a test ended that was made to fail.
pub fn status(results: &Results, name: &str) -> Option<Status> {
    // Subtests of Go do not begin when what they are parts of fails.
    let whole = name.split('/').next().filter(|_| !name.contains("::")).unwrap_or(name);
    results.status(name).or_else(|| results.status(whole))
}

/// A mapped test that is to be made to fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapped {
    /// `US-001/AC-1`.
    pub about: String,
    /// Its name.
    pub name: String,
    /// Its runner runs functions of languages that are known here, and nobody said that it is made
    /// at run time: so it has to be found.
    pub to_be_found: bool,
}

/// The tests of a story, and which of them have to be found.
pub fn mapped(story: &Story, named: &[MappedTest], settings: &Settings) -> Vec<Mapped> {
    use ResultFormat::{Go, Jest, Libtest, Nextest, Pytest, Unittest};
    let commands = story.commands();
    let mut formats = commands.iter().filter_map(|(_, spec)| spec.results).peekable();
    let known = [Go, Jest, Libtest, Nextest, Pytest, Unittest];
    let is_known = formats.peek().is_some() && formats.all(|format| known.contains(&format));
    let each = |test: MappedTest| Mapped {
        about: format!("{}/{}", story.id, test.criterion),
        to_be_found: is_known && !may_be_skipped(&settings.generated, &test.name),
        name: test.name,
    };
    mapping(story, named).into_iter().map(each).collect()
}

/// Whether each test that was found, and was made to fail, is said to fail.
pub fn heard(tests: &[Mapped], found: &BTreeSet<String>, results: &Results) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut names: BTreeMap<&str, &Mapped> = BTreeMap::new();
    for test in tests {
        names.entry(&test.name).or_insert(test);
    }
    for (name, test) in names.iter().filter(|(name, _)| found.contains(**name)) {
        let what = match status(results, name) {
            Some(Status::Failed) => continue,
            Some(Status::Passed) => "is said to pass",
            Some(Status::Skipped) => "is said to be skipped",
            None => "has no result then",
        };
        let text = format!(
            "the mapped test `{name}` was made to fail and {what}: something stands between it \
             and its result (a hook, a runner, a helper), and what it shows is void: remove that"
        );
        findings.push(Finding::new(test.about.clone(), Severity::Critical, text));
    }
    let lost = names.iter().filter(|(name, _)| !found.contains(**name));
    let (major, minor): (Vec<&Mapped>, Vec<&Mapped>) =
        lost.map(|(_, test)| *test).partition(|test| test.to_be_found);
    let lost =
        |some: &[&Mapped]| -> Vec<String> { some.iter().map(|test| test.name.clone()).collect() };
    if let (Some(text), Some(first)) = (not_found(&lost(&major)), major.first()) {
        let text = format!(
            "{text}: let it be a function of a test file; a person may name tests that are made \
             at run time in `generated`"
        );
        findings.push(Finding::new(first.about.clone(), Severity::Major, text));
    }
    if let Some(text) = not_found(&lost(&minor)) {
        findings.push(Finding::new("sabotage", Severity::Minor, text));
    }
    findings
}

/// What nobody could make fail is said.
fn not_found(lost: &[String]) -> Option<String> {
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
        // What could run without the work, and is not heard of any more, has noticed nothing.
        let is_idle = |test: &&MappedTest| match hollow.status(&test.name) {
            Some(status) => status == Status::Passed,
            None => before.status(&test.name).is_some(),
        };
        let (idle, good): (Vec<&MappedTest>, Vec<&MappedTest>) = own.filter(red).partition(is_idle);
        let Some(first) = idle.first() else { continue };
        let about = format!("{}/{}", story.id, criterion.id);
        let finding = match good.is_empty() {
            true => Finding::new(
                about,
                Severity::Major,
                format!(
                    "its tests (`{}` and others) fail or could not begin without the work, and \
                     they all pass although each function that the claim adds or changes fails: \
                     let one ask for what it does (RED)",
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

/// Criteria whose tests could not begin without the work, when nothing of the work can be made to
/// fail: that they need a name is all that was seen of them.
pub fn unproved(story: &Story, tests: &[MappedTest], before: &Results) -> Vec<Finding> {
    let asked = story.criteria.iter().filter(|one| !story.existing.contains_key(&one.id));
    let silent = asked.filter(|criterion| {
        let mut own = tests.iter().filter(|test| test.criterion == criterion.id);
        own.all(|test| before.status(&test.name).is_none())
    });
    let finding = |criterion: &Criterion| {
        let text = "its tests could not begin without the work, and nothing of the work can be \
                    made to fail: put what they ask for into a function (RED)";
        Finding::new(format!("{}/{}", story.id, criterion.id), Severity::Major, text)
    };
    silent.map(finding).collect()
}

/// Whether a file says nothing about how the work is built, so that without it, it is built all
/// the same.
pub fn is_data(path: &str) -> bool {
    !assay_guard::spoil::is_known(path) && !MANIFESTS.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::{Mapped, heard, is_data};
    use crate::gate::Severity;
    use crate::results::{Results, Status};

    fn test(name: &str) -> Mapped {
        Mapped { about: "US-001/AC-1".into(), name: name.into(), to_be_found: false }
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
                Some(what) => {
                    assert!(found[0].text.contains(what) && found[0].blocks());
                    assert_eq!(found[0].about, "US-001/AC-1");
                }
            }
        }
        let lost = heard(&[test("adds")], &Default::default(), &Results::default());
        assert_eq!((lost.len(), lost[0].severity), (1, Severity::Minor), "{lost:?}");
        assert!(lost[0].text.contains("nobody saw `adds` fail"), "{lost:?}");
        let known = Mapped { to_be_found: true, ..test("adds") };
        let lost = heard(&[known], &Default::default(), &Results::default());
        assert_eq!((lost.len(), lost[0].severity), (1, Severity::Major), "{lost:?}");
        assert!(lost[0].text.contains("`generated`"), "{lost:?}");
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
