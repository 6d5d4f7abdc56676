//! When a workflow is started, on what, and what it waits for.

use super::flat::Setting;
use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use std::collections::BTreeSet;

/// K05: triggers, branches and matrices.
pub fn triggers(path: &str, old: &[Setting], new: &[Setting], findings: &mut Vec<Finding>) {
    let group = |setting: &Setting| -> Option<(String, String)> {
        let first = setting.path.first()?.as_str();
        if first == "on" || first == "true" {
            let event = setting.path.get(1).filter(|p| p.parse::<usize>().is_err());
            return match event {
                Some(event) => Some(("event".to_string(), event.clone())),
                None => Some(("event".to_string(), setting.value.clone())),
            };
        }
        if let Some(pair) = needed(setting) {
            return Some(pair);
        }
        let matrix = setting.path.iter().position(|part| part == "matrix")?;
        let key = setting.path.get(matrix + 1)?;
        (key != "include" && key != "exclude")
            .then(|| (format!("matrix {key}"), setting.value.clone()))
    };
    let all = |list: &[Setting]| -> BTreeSet<(String, String)> {
        list.iter().filter_map(group).collect()
    };
    let now = all(new);
    let mut told = BTreeSet::new();
    for setting in old {
        let Some(pair) = group(setting) else { continue };
        if now.contains(&pair) || !told.insert(pair.clone()) {
            continue;
        }
        // Who waits for another job instead may wait for the same under a new name.
        let had: BTreeSet<_> = all(old).into_iter().filter(|(kind, _)| *kind == pair.0).collect();
        let other = |one: &&(String, String)| one.0 == pair.0 && !had.contains(*one);
        if pair.0.starts_with(WAITS) && now.iter().any(|one| other(&one)) {
            continue;
        }
        let empty = new.is_empty();
        let place = Side { file: path, line: setting.line, text: &setting.value };
        let reason = format!("{} {} is gone", pair.0, pair.1);
        if !empty {
            let sides = (Some(place), None);
            findings.push(finding(id("K05"), path, Verdict::Weaker, sides, reason));
        }
    }
    narrowed(path, old, new, findings);
    let ignored = |list: &[Setting]| -> BTreeSet<String> {
        let under = list.iter().filter(|s| s.key() == "paths-ignore");
        under.map(|s| s.value.clone()).collect()
    };
    let was = ignored(old);
    for setting in new.iter().filter(|s| s.key() == "paths-ignore" && !was.contains(&s.value)) {
        let place = Side { file: path, line: setting.line, text: &setting.value };
        let reason = format!("changes of {} no longer start it", setting.value);
        let sides = (None, Some(place));
        findings.push(finding(id("K05"), path, Verdict::Weaker, sides, reason));
    }
}

/// How the kind of a job that waits for others begins.
const WAITS: &str = "what is needed by";

/// `needs: [test, lint]`: what has to be green before a job.
fn needed(setting: &Setting) -> Option<(String, String)> {
    match &setting.path[..] {
        [jobs, job, needs, ..] if jobs == "jobs" && needs == "needs" => {
            Some((format!("{WAITS} {job}:"), setting.value.clone()))
        }
        // A rule of GitLab: one of the reasons to run a job.
        [job, rules, _, when] if rules == "rules" && when == "if" => {
            Some((format!("rule of {job}:"), setting.value.clone()))
        }
        _ => None,
    }
}

/// Lists of an event that let it happen for some branches, paths and kinds only.
fn narrowed(path: &str, old: &[Setting], new: &[Setting], findings: &mut Vec<Finding>) {
    let entries = |list: &[Setting], event: &str, filter: &str| -> BTreeSet<String> {
        let of = |s: &&Setting| match &s.path[..] {
            [on, own, kind, ..] => (on == "on" || on == "true") && own == event && kind == filter,
            _ => false,
        };
        list.iter().filter(of).map(|s| s.value.clone()).collect()
    };
    let events = |list: &[Setting]| -> BTreeSet<String> {
        let on = list.iter().filter(|s| s.path.first().is_some_and(|p| p == "on" || p == "true"));
        let name = |s: &Setting| match s.path.get(1).filter(|part| part.parse::<usize>().is_err()) {
            Some(event) => event.clone(),
            None => s.value.clone(),
        };
        on.map(name).collect()
    };
    let now = events(new);
    for event in events(old).iter().filter(|event| now.contains(*event)) {
        for filter in ["branches", "paths", "types", "tags"] {
            let (was, is) = (entries(old, event, filter), entries(new, event, filter));
            let lost: Vec<&str> = was.difference(&is).map(String::as_str).collect();
            let reason = match (was.is_empty(), is.is_empty()) {
                (true, false) => format!("{event} starts it only for some {filter}"),
                (false, false) if !lost.is_empty() => {
                    format!("{event} no longer starts it for {filter} {}", lost.join(", "))
                }
                _ => continue,
            };
            let line = |list: &[Setting]| {
                let own = list.iter().find(|s| s.path.iter().any(|part| part == filter));
                own.map_or(1, |s| s.line)
            };
            let (before, after) = (
                was.into_iter().collect::<Vec<_>>().join(", "),
                is.into_iter().collect::<Vec<_>>(),
            );
            let after = after.join(", ");
            let sides = (
                Some(Side { file: path, line: line(old), text: &before }),
                Some(Side { file: path, line: line(new), text: &after }),
            );
            findings.push(finding(id("K05"), path, Verdict::Weaker, sides, reason));
        }
    }
}
