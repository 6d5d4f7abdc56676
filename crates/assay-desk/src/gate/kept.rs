//! Do the tests from before still pass? What they showed where the campaign began, and what they
//! show of the work.

use super::tests::{may_be_skipped, without_line};
use super::{Finding, Severity, sabotage};
use crate::contract::Settings;
use crate::results::{Results, Status};
use std::collections::{BTreeMap, BTreeSet};

/// More tests than this are not named one by one.
const NAMED_MAX: usize = 20;

/// Tests that passed before and do not now, by name. A doctest is known without its line, which
/// every edit above it moves.
pub fn check(before: &Results, now: &Results, settings: &Settings) -> Vec<Finding> {
    let (passed, failed) = (named(now, Status::Passed), named(now, Status::Failed));
    let skipped = named(now, Status::Skipped);
    let mut texts = Vec::new();
    for (name, times) in named(before, Status::Passed) {
        let is_shown = passed.get(&name).is_some_and(|now| *now >= times);
        if is_shown || may_be_skipped(&settings.outdated, &name) {
            continue;
        }
        let what = match (failed.contains_key(&name), skipped.contains_key(&name)) {
            (true, _) => "fails now",
            (false, _) if may_be_skipped(&settings.skips, &name) => continue,
            (false, true) => "is skipped now",
            (false, false) if passed.contains_key(&name) => "runs in fewer places now",
            (false, false) => "does not run now",
        };
        texts.push(format!("`{name}` passed before the work, and {what}"));
    }
    let more = texts.len().saturating_sub(NAMED_MAX);
    texts.truncate(NAMED_MAX);
    texts.extend((more > 0).then(|| format!("and {more} more tests")));
    let remedy = "with the test files from before: mend the work; only a person may let go of a \
                  test, or of a test file, and names it in `outdated`";
    let finding = |text| Finding::new("kept", Severity::Critical, format!("{text}, {remedy}"));
    texts.into_iter().map(finding).collect()
}

/// Tests that passed before and do so now.
pub fn still(before: &Results, now: &Results) -> BTreeSet<String> {
    let passes = |name: &&str| now.status(name) == Some(Status::Passed);
    before.of(Status::Passed).filter(passes).map(str::to_string).collect()
}

/// Whether each of the tests from before that were made to fail is said to fail.
pub fn heard(found: &BTreeSet<String>, results: &Results) -> Vec<Finding> {
    let silent = found.iter().filter_map(|name| {
        let what = match sabotage::status(results, name) {
            Some(Status::Failed) => return None,
            Some(Status::Passed) => "is said to pass",
            Some(Status::Skipped) => "is said to be skipped",
            None => "has no result then",
        };
        Some(format!("`{name}` passed before the work, was made to fail with it, and {what}"))
    });
    let mut texts: Vec<String> = silent.collect();
    let more = texts.len().saturating_sub(NAMED_MAX);
    texts.truncate(NAMED_MAX);
    texts.extend((more > 0).then(|| format!("and {more} more tests")));
    let remedy = "something in the work stands between it and its result: remove that";
    let finding = |text| Finding::new("kept", Severity::Critical, format!("{text}: {remedy}"));
    texts.into_iter().map(finding).collect()
}

/// Names without lines, and how many tests have each.
fn named(results: &Results, status: Status) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for name in results.of(status) {
        *names.entry(without_line(name)).or_insert(0) += results.times(name);
    }
    names
}
