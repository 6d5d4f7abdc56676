//! Which tests speak for which criterion, and whether they do: GREEN, RED, IL-4 and IL-5.

use super::listing::Listed;
use super::symbols::names;
use super::{Finding, Severity};
use crate::contract::{Category, Contract, MappedTest, ResultFormat, Story};
use crate::event::Counts;
use crate::results::{Results, Status};
use std::collections::{BTreeMap, BTreeSet};

/// IL-4: tests for each criterion.
pub const TESTS_PER_CRITERION_MIN: usize = 3;
/// IL-4: categories they must come from.
pub const CATEGORIES_MIN: usize = 2;

/// The contract's tests of a story and those its Worker named.
pub fn mapping(story: &Story, named: &[MappedTest]) -> Vec<MappedTest> {
    let all: BTreeSet<&MappedTest> = story.tests.iter().chain(named).collect();
    all.into_iter().cloned().collect()
}

/// GREEN and the listing: every mapped test exists, ran and passed; they are enough.
pub fn green(
    story: &Story,
    named: &[MappedTest],
    results: &Results,
    skips_allowed: &[String],
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mapping = mapping(story, named);
    for test in &mapping {
        if !story.criteria.iter().any(|criterion| criterion.id == test.criterion) {
            let text = format!("`{}` is mapped to {}, which is none", test.name, test.criterion);
            findings.push(Finding::new("mapping", Severity::Major, text));
            continue;
        }
        let about = format!("{}/{}", story.id, test.criterion);
        let times = results.times(&test.name);
        if times > 1 {
            let text = format!(
                "`{}` is the name of {times} tests, and all of them have to pass: give what is \
                 mapped a name of its own",
                test.name
            );
            findings.push(Finding::new(about.clone(), Severity::Minor, text));
        }
        let problem = match results.status(&test.name) {
            Some(Status::Passed) => continue,
            Some(Status::Failed) => "fails",
            Some(Status::Skipped) => "was skipped, which is no pass (IL-5)",
            None => "does not exist or did not run (IL-5)",
        };
        let text = format!("the mapped test `{}` {problem}", test.name);
        findings.push(Finding::new(about, Severity::Critical, text));
    }
    if results.executed() == 0 {
        let about = format!("{}/L1", story.id);
        let text = "no tests were collected (IL-5)";
        findings.push(Finding::new(about, Severity::Critical, text));
    }
    for name in results.skipped() {
        if !may_be_skipped(skips_allowed, name) {
            let text = format!("`{name}` is skipped: nobody decided that (IL-5)");
            findings.push(Finding::new("skips", Severity::Major, text));
        }
    }
    findings.extend(density(story, &mapping));
    findings
}

/// Whether a person let a test be skipped. A doctest may be named without its line, which every
/// edit above it moves.
pub fn may_be_skipped(skips: &[String], name: &str) -> bool {
    skips.iter().any(|allowed| allowed == name || without_line(allowed) == without_line(name))
}

/// `src/lib.rs - f (line 12)` is `src/lib.rs - f`.
pub(super) fn without_line(name: &str) -> String {
    let Some((before, rest)) = name.split_once(" (line ") else {
        return name.to_string();
    };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match after.strip_prefix(')') {
        Some(after) if after.len() + 1 < rest.len() => format!("{before}{after}"),
        _ => name.to_string(),
    }
}

/// IL-4: enough tests for each criterion, and not all of a kind.
fn density(story: &Story, mapping: &[MappedTest]) -> Vec<Finding> {
    if story.waives("IL-4") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for criterion in &story.criteria {
        let own: Vec<&MappedTest> =
            mapping.iter().filter(|test| test.criterion == criterion.id).collect();
        let names: BTreeSet<&str> = own.iter().map(|test| test.name.as_str()).collect();
        for name in &names {
            // One test is of one kind; two would make a second one of it.
            if own.iter().filter(|test| test.name == *name).count() > 1 {
                let about = format!("{}/{}", story.id, criterion.id);
                let text = format!("`{name}` has two categories: which one is it? (IL-4)");
                findings.push(Finding::new(about, Severity::Major, text));
            }
        }
        let kinds: BTreeSet<Category> = own.iter().map(|test| test.category).collect();
        if names.len() < TESTS_PER_CRITERION_MIN || kinds.len() < CATEGORIES_MIN {
            let text = format!(
                "{} tests of {} categories; {TESTS_PER_CRITERION_MIN} of {CATEGORIES_MIN} are \
                 needed (IL-4)",
                names.len(),
                kinds.len()
            );
            let about = format!("{}/{}", story.id, criterion.id);
            findings.push(Finding::new(about, Severity::Major, text));
        }
    }
    findings
}

/// RED: the tests of the claim, on the code from before it, must fail by name.
///
/// Where the runner could not even begin, because what is tested is not there, its output must name
/// one of `symbols`: something the claim adds, and that was nowhere before it.
pub fn red(
    story: &Story,
    named: &[MappedTest],
    results: &Results,
    output: &str,
    symbols: &BTreeSet<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let missing = symbols.iter().find(|symbol| names(output, symbol));
    let mut seen: BTreeMap<String, bool> = BTreeMap::new();
    for test in mapping(story, named) {
        if story.existing.contains_key(&test.criterion) {
            continue;
        }
        let about = format!("{}/{}", story.id, test.criterion);
        seen.insert(about.clone(), true);
        let problem = match (results.status(&test.name), missing) {
            (Some(Status::Failed), _) if results.passed(&test.name) > 0 => {
                "is the name of several tests, and one of them passes without the work (RED)"
            }
            (Some(Status::Failed), _) | (None, Some(_)) => continue,
            (Some(Status::Passed), _) => {
                "passes without the work: it shows nothing; sharpen it (RED)"
            }
            (Some(Status::Skipped), _) => "is skipped without the work (RED)",
            (None, None) => "does not run without the work, and not because of it (RED)",
        };
        let text = format!("`{}` {problem}", test.name);
        findings.push(Finding::new(about, Severity::Major, text));
    }
    for criterion in &story.criteria {
        let about = format!("{}/{}", story.id, criterion.id);
        if !story.existing.contains_key(&criterion.id) && !seen.contains_key(&about) {
            let text = "no test was seen to fail without the work (RED)";
            findings.push(Finding::new(about, Severity::Major, text));
        }
    }
    findings
}

/// The listing: every mapped test is one that the runner knows of, or stands in a test file. A
/// result alone is a line that anything could have printed, also what is tested.
pub fn listed(story: &Story, named: &[MappedTest], listings: &[Listed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for test in mapping(story, named) {
        if listings.iter().any(|listing| listing.has(&test.name)) {
            continue;
        }
        let how = match listings.iter().all(|listing| matches!(listing, Listed::Runner(_))) {
            true => "its runner does not list it",
            false => "no test file has it, and no listing: is something else printing it?",
        };
        let text = format!("the mapped test `{}` does not exist: {how} (IL-5)", test.name);
        let about = format!("{}/{}", story.id, test.criterion);
        findings.push(Finding::new(about, Severity::Critical, text));
    }
    findings
}

/// Whether results of a command count for the whole beside those of the suite: a suite has one
/// runner, and cannot show what only another one runs.
pub fn has_own_runner(contract: &Contract, results: Option<ResultFormat>) -> bool {
    results.is_some() && results != contract.settings.suite.results
}

/// The whole: nothing fails in the suite, and as many tests passed as are mapped, in the suite and
/// in commands with runners of their own.
pub fn whole(suite: Counts, others: u64, mapped: usize) -> Option<Finding> {
    let passed = suite.passed.saturating_add(others);
    let text = if suite.failed > 0 {
        format!("{} tests of the suite fail", suite.failed)
    } else if passed < mapped as u64 {
        format!("the suite shows {passed} tests that pass, and {mapped} are mapped (IL-5)")
    } else {
        return None;
    };
    Some(Finding::new("suite", Severity::Critical, text))
}

/// The whole, by name: every mapped test passed in the suite, or in a command of `others`, which
/// have runners of their own.
pub fn shown(
    story: &Story,
    named: &[MappedTest],
    suite: &Results,
    others: &Results,
) -> Vec<Finding> {
    let passed = |name: &str| {
        [suite, others].iter().any(|results| results.status(name) == Some(Status::Passed))
    };
    let mut findings = Vec::new();
    for test in mapping(story, named).iter().filter(|test| !passed(&test.name)) {
        let about = format!("{}/{}", story.id, test.criterion);
        let text = format!(
            "the suite does not show the mapped test `{}`: let the suite run it (IL-5)",
            test.name
        );
        findings.push(Finding::new(about, Severity::Critical, text));
    }
    findings
}
