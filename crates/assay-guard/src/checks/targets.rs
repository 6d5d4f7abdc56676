//! Targets of Makefiles and justfiles: what they run, and what they need to be run before.

use super::commands::{Command, OnFailure, PIPED, lines};
use std::collections::BTreeMap;

/// How often variables within variables are looked up.
const LOOKUPS_MAX: usize = 4;

/// How long a recipe may become by its variables: each that stands twice in another doubles it.
const EXPANDED_BYTES_MAX: usize = 64 << 10;

/// The commands of each target. What a target needs is one, too: `check: lint` runs `make lint`.
pub fn targets(source: &str) -> Vec<Command> {
    let variables = variables(source);
    let mut found = Vec::new();
    let mut target = String::new();
    for (at, line) in source.lines().enumerate() {
        if !line.starts_with(['\t', ' ']) {
            if let Some((name, needed)) = head(line) {
                target = name.to_string();
                found.extend(words(needed).map(|word| needs(&target, word, at + 1)));
            }
            continue;
        }
        let text = expanded(line.trim(), &variables);
        if text.starts_with('#') || text.is_empty() {
            continue;
        }
        if let Some(goals) = goals(&text) {
            found.extend(goals.into_iter().map(|goal| needs(&target, goal, at + 1)));
            continue;
        }
        for mut command in lines(&target, &text, at + 1, OnFailure::GoesOn) {
            if text.starts_with('-') || text.starts_with("@-") {
                command.harmless = Some("a leading -".to_string());
            }
            found.push(command);
        }
    }
    if source.contains("pipefail") {
        let piped = |command: &&mut Command| command.harmless.as_deref() == Some(PIPED);
        found.iter_mut().filter(piped).for_each(|command| command.harmless = None);
    }
    found
}

fn needs(target: &str, goal: &str, line: usize) -> Command {
    Command {
        job: target.to_string(),
        text: format!("make {goal}"),
        line,
        harmless: None,
        condition: None,
    }
}

/// `check: lint test` as the target and what it needs; nothing for a variable.
fn head(line: &str) -> Option<(&str, &str)> {
    let (name, needed) = line.split_once(':')?;
    let assigned = needed.starts_with('=') || needed.starts_with(":=");
    if name.contains('=') || name.starts_with(['#', '.']) || assigned {
        return None;
    }
    let needed = needed.trim_start_matches(':').split(['#', ';']).next().unwrap_or_default();
    Some((name.trim(), needed))
}

/// The words that can be names of targets, and not of files.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| is_goal(word))
}

fn is_goal(word: &str) -> bool {
    word.starts_with(char::is_alphabetic)
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

/// The goals of a recipe that only calls make again.
fn goals(text: &str) -> Option<Vec<&str>> {
    let rest = text.trim_start_matches('@').trim();
    let rest = ["make ", "$(MAKE) ", "${MAKE} "].iter().find_map(|own| rest.strip_prefix(own))?;
    let all: Vec<&str> = rest.split_whitespace().collect();
    all.iter().all(|word| is_goal(word)).then_some(all)
}

fn variables(source: &str) -> BTreeMap<&str, &str> {
    let mut found = BTreeMap::new();
    for line in source.lines().filter(|line| !line.starts_with(['\t', ' ', '#'])) {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '?', '+', '!']).trim();
        if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            found.insert(name, value.trim());
        }
    }
    found
}

/// A recipe with its variables in place of their names; as it is written if that gets too long.
fn expanded(written: &str, variables: &BTreeMap<&str, &str>) -> String {
    let mut text = written.to_string();
    for _ in 0..LOOKUPS_MAX {
        let before = text.clone();
        for (name, value) in variables {
            for form in [format!("$({name})"), format!("${{{name}}}")] {
                // Counted before it is done: one replacement alone may be beyond all memory.
                let grown = text.matches(&form).count().saturating_mul(value.len());
                if grown > EXPANDED_BYTES_MAX {
                    return written.to_string();
                }
                text = text.replace(&form, value);
                if text.len() > EXPANDED_BYTES_MAX {
                    return written.to_string();
                }
            }
        }
        if text == before {
            break;
        }
    }
    text
}
