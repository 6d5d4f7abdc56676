//! Two trees of programs, file by file and test by test.

use super::matching::{self, Located};
use super::model::{Checks, Kind};
use super::{is_program, read, rules, snapshots};
use crate::config::Config;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, extension, file_name, text};
use std::collections::{BTreeMap, BTreeSet};

/// What got weaker in tests and checks.
pub fn compare(before: &Tree, after: &Tree, config: &Config) -> Vec<Finding> {
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |path: &&&String| before.get(**path) != after.get(**path);
    let changed: Vec<&String> = paths.iter().filter(differs).copied().collect();
    let programs: Vec<&String> = changed.iter().filter(|p| is_program(p)).copied().collect();
    let load = |tree: &Tree| -> BTreeMap<String, Checks> {
        let files = programs
            .iter()
            .filter_map(|path| Some((path.to_string(), read(path, text(tree, path)?, config)?)));
        files.collect()
    };
    let (old, new) = (load(before), load(after));
    let mut findings = Vec::new();
    unreadable(&old, &new, &mut findings);
    let (old_all, new_all) = (located(&old), located(&new));
    let paired = matching::pair(&old_all, &new_all);
    let names = rules::Names::of(&old_all, &new_all);
    let heard = paired.come.iter().filter(|one| one.function.skips.is_empty());
    let come: Vec<(Located<'_>, Vec<matching::Seen<'_>>)> =
        heard.map(|one| (*one, matching::seen(one))).collect();
    for (one, other) in &paired.both {
        rules::function(one, other, &come, &names, &mut findings);
    }
    for gone in &paired.gone {
        // Where a file cannot be read, what seems gone may be what was not understood.
        if new.get(gone.file).is_some_and(|checks| checks.error.is_some()) {
            continue;
        }
        rules::gone(gone, &names, &new_all, &mut findings);
    }
    for (file, checks) in &old {
        let empty = Checks::default();
        let now = new.get(file).unwrap_or(&empty);
        rules::file(file, checks, now, &new, &mut findings);
    }
    regressions(before, after, &changed, &mut findings);
    snapshots::compare(before, after, &mut findings);
    once(findings)
}

/// The same pair of places is told once, whoever came across it.
fn once(findings: Vec<Finding>) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    findings
        .into_iter()
        .filter(|one| seen.insert((one.rule, one.verdict, one.old.clone(), one.new.clone())))
        .collect()
}

fn located(files: &BTreeMap<String, Checks>) -> Vec<Located<'_>> {
    let all = files.iter().flat_map(|(file, checks)| {
        checks.functions.iter().map(move |function| Located { file, function, checks })
    });
    all.collect()
}

fn unreadable(
    old: &BTreeMap<String, Checks>,
    new: &BTreeMap<String, Checks>,
    findings: &mut Vec<Finding>,
) {
    for (file, checks) in new {
        let Some(line) = checks.error else { continue };
        // A grammar that did not know a construct before does not know it now.
        if old.get(file).is_some_and(|old| old.error.is_some()) {
            continue;
        }
        let tests = old.get(file).is_some_and(|o| o.functions.iter().any(|f| f.kind == Kind::Test));
        if tests || extension(file) == "rs" && old.contains_key(file) {
            let place = Side { file, line, text: "" };
            let reason = "cannot be read as a program from this line on; what stands there could \
                          not be compared: correct it";
            let sides = (None, Some(place));
            findings.push(finding(id("G01"), file, Verdict::Suspect, sides, reason));
        }
    }
}

/// R08: files of seeds that once failed.
fn regressions(before: &Tree, after: &Tree, changed: &[&String], findings: &mut Vec<Finding>) {
    for path in changed {
        let name = file_name(path);
        let seeds = name.ends_with(".proptest-regressions")
            || name.contains("seeds") && matches!(extension(path).as_str(), "txt" | "list" | "");
        let Some(old) = text(before, path).filter(|_| seeds) else { continue };
        let entries = |text: &str| -> BTreeSet<String> {
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            lines.filter(|line| !line.is_empty()).map(str::to_string).collect()
        };
        let moved = |entry: &str| {
            after.iter().any(|(other, bytes)| {
                file_name(other) == name
                    && crate::tree::readable(bytes).is_some_and(|text| text.contains(entry))
            })
        };
        for (at, line) in old.lines().enumerate() {
            let entry = line.split('#').next().unwrap_or_default().trim();
            if entries(old).contains(entry) && !entry.is_empty() && !moved(entry) {
                let place = Side { file: path, line: at + 1, text: entry };
                let reason = "a seed that once failed is no longer tried";
                let sides = (Some(place), None);
                findings.push(finding(id("R08"), path.as_str(), Verdict::Weaker, sides, reason));
            }
        }
    }
}
