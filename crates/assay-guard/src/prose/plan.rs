//! Plans of Assay: claims by their words, the rest by the plan's own comparison.

use super::judge::judge;
use crate::config::Config;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use assay_plan::diff::{Direction, diff};
use assay_plan::parse;

/// Whether a document is a plan.
pub fn is_plan(source: &str) -> bool {
    source.lines().take(20).any(|line| line.starts_with("# Test Plan:"))
}

/// What got weaker in a plan.
pub fn compare(path: &str, old: Option<&str>, new: Option<&str>, config: &Config) -> Vec<Finding> {
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    if old.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for change in diff(&parse(old), &parse(new)) {
        let name = change.id.to_string();
        let line = |source: &str, what: &str| {
            let lines = || source.lines().enumerate();
            let both = lines().find(|(_, l)| l.contains(&name) && l.contains(what));
            let one = both.or_else(|| lines().find(|(_, l)| l.contains(&name)));
            one.map_or(1, |(at, _)| at + 1)
        };
        let side = |source: &str, text: &'_ str| (line(source, text), text.to_string());
        let (a, b) = (side(old, &change.old), side(new, &change.new));
        let present = |text: &str, (line, _): &(usize, String)| (!text.is_empty(), *line);
        let (before, after) = (present(&change.old, &a), present(&change.new, &b));
        let sides = (
            before.0.then(|| Side { file: path, line: before.1, text: &a.1 }),
            after.0.then(|| Side { file: path, line: after.1, text: &b.1 }),
        );
        let mut push = |rule: &'static str, verdict, reason: String| {
            findings.push(finding(id(rule), format!("{path}::{name}"), verdict, sides, reason));
        };
        if change.what == "claim" || change.what == "hypothesis" {
            for (rule, verdict, reason) in judge(&change.old, &change.new, config) {
                push(rule, verdict, reason);
            }
            continue;
        }
        // What an oracle compares with is a number with a direction.
        let told = match (change.what.as_str(), change.direction) {
            ("oracle", Direction::Changed) => judge(&change.old, &change.new, config),
            _ => Vec::new(),
        };
        if let Some((rule, verdict, reason)) = told.into_iter().find(|(rule, _, _)| *rule == "Q06")
        {
            push(rule, verdict, reason);
            continue;
        }
        let verdict = match change.direction {
            Direction::Weaker => Verdict::Weaker,
            Direction::Changed => Verdict::Changed,
            Direction::Stronger => Verdict::Stronger,
        };
        let rule = match change.what.as_str() {
            "removed" | "added" => "Q08",
            what if what.contains("seed") || what.contains("nemesis") => "R08",
            _ => "R07",
        };
        let reason = match change.what.as_str() {
            "removed" => format!("{name} is gone from the plan"),
            what => format!("{what}: {:?} became {:?}", change.old, change.new),
        };
        push(rule, verdict, reason);
    }
    findings
}
