//! What was measured with a checker and is kept in the repository: which property notices which
//! mutant, and how many states there are. Both may grow; what shrinks is a finding, whether a
//! checker measures it now or a change edits the record.

use crate::finding::{Finding, Side, Verdict, finding};
use crate::rules::id;
use crate::tree::{Tree, directory, file_name, text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How the name of a file with kills ends.
pub const KILLS_SUFFIX: &str = ".kills.toml";

/// The name of the file with counts of states, beside the modules.
pub const STATES_FILE: &str = "states.toml";

/// Which property notices which mutant of a module.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Kills {
    /// The module.
    pub module: String,
    /// The configuration, as a file beside it.
    pub configuration: String,
    /// What explored it.
    pub engine: String,
    /// Different states of a mutant that were looked at, the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states_max: Option<u64>,
    /// Mutants that could not be explored to the end; what they are not killed by is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// Properties with the mutants that violate them.
    pub kills: BTreeMap<String, Vec<String>>,
    /// All mutants that were tried, with what was changed.
    pub mutants: BTreeMap<String, String>,
}

/// How many states a module has under a configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct States {
    /// The module.
    pub module: String,
    /// Different states that can be reached.
    pub distinct: u64,
    /// Steps between them, as the engine counts.
    pub steps: u64,
    /// What counted.
    pub engine: String,
}

/// Counts by configuration.
pub type Ledger = BTreeMap<String, States>;

impl Kills {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Kills, String> {
        toml_edit::de::from_str(text).map_err(|error| error.to_string().trim().replace('\n', " "))
    }

    /// The record as it is written.
    pub fn to_toml(&self) -> String {
        let head = "# Which property notices which mistake: `assay guard mutate --record`.\n\
                    # A list may grow. One that shrinks needs somebody's decision.\n";
        format!("{head}{}", toml_edit::ser::to_string_pretty(self).unwrap_or_default())
    }
}

/// Reads counts of states.
pub fn parse_states(text: &str) -> Result<Ledger, String> {
    toml_edit::de::from_str(text).map_err(|error| error.to_string().trim().replace('\n', " "))
}

/// Counts of states as they are written.
pub fn states_to_toml(ledger: &Ledger) -> String {
    let head = "# How many states each configuration has: `assay guard states --record`.\n\
                # Fewer states are fewer ways to go wrong: a drop needs a reason.\n";
    format!("{head}{}", toml_edit::ser::to_string_pretty(ledger).unwrap_or_default())
}

/// A record with the file it stands in.
#[derive(Clone, Copy)]
pub struct Placed<'r, T> {
    /// What is recorded.
    pub record: &'r T,
    /// The file.
    pub file: &'r str,
    /// Its text, to find lines.
    pub text: &'r str,
}

impl<T> Placed<'_, T> {
    /// The line on which a name is said first.
    fn line(&self, name: &str) -> usize {
        let said = |line: &str| line.trim_start_matches(['[', '"', ' ']).starts_with(name);
        self.text.lines().position(said).map_or(1, |at| at + 1)
    }
}

/// What got less in a record of kills.
pub fn compare_kills(old: Placed<'_, Kills>, new: Placed<'_, Kills>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (before, after) = (old.record, new.record);
    let none = Vec::new();
    for (property, killed) in &before.kills {
        let now = after.kills.get(property).unwrap_or(&none);
        let missing =
            |mutant: &&String| !now.contains(mutant) && after.mutants.contains_key(*mutant);
        let lost: Vec<&String> = killed.iter().filter(missing).collect();
        let (unknown, lost): (Vec<&String>, Vec<&String>) =
            lost.into_iter().partition(|mutant| after.undecided.contains(mutant));
        let (verdict, reason) = match (after.kills.contains_key(property), &lost[..], &unknown[..])
        {
            (false, ..) => (Verdict::Weaker, "is no longer among what is checked".to_string()),
            (_, [first, ..], _) => (Verdict::Weaker, noticed_less(&lost, before, first)),
            (_, [], []) if now.is_empty() && !killed.is_empty() => {
                (Verdict::Weaker, "no longer notices any mutant".to_string())
            }
            (_, [], [first, ..]) => {
                let reason = format!("whether it still notices {first} could not be decided");
                (Verdict::Suspect, reason)
            }
            _ if now.len() > killed.len() => {
                let more = now.len() - killed.len();
                (Verdict::Stronger, format!("notices {more} more mutants"))
            }
            _ => continue,
        };
        let texts = [killed, now].map(|list| format!("{property}: {}", list.join(" ")));
        let old = Side { file: old.file, line: old.line(property), text: &texts[0] };
        let new = Side { file: new.file, line: new.line(property), text: &texts[1] };
        let object = format!("{}!{property}", before.module);
        findings.push(finding(id("S02"), object, verdict, (Some(old), Some(new)), reason));
    }
    for (property, killed) in &after.kills {
        if killed.is_empty() && !before.kills.contains_key(property) {
            let text = format!("{property}:");
            let side = Side { file: new.file, line: new.line(property), text: &text };
            let object = format!("{}!{property}", after.module);
            let reason = "notices no mutant: nothing shows that it can fail";
            findings.push(finding(id("S03"), object, Verdict::Suspect, (None, Some(side)), reason));
        }
    }
    findings.extend(explored_less(&old, &new));
    if after.mutants.len() < before.mutants.len() {
        let counts = [before, after].map(|kills| format!("{} mutants", kills.mutants.len()));
        let old = Side { file: old.file, line: old.line("mutants"), text: &counts[0] };
        let new = Side { file: new.file, line: new.line("mutants"), text: &counts[1] };
        let reason = format!("{} are tried instead of {}", counts[1], counts[0]);
        let object = format!("{}!mutants", before.module);
        let both = (Some(old), Some(new));
        findings.push(finding(id("S02"), object, Verdict::Suspect, both, reason));
    }
    findings
}

/// A record of mutants that were explored less far than before.
fn explored_less(old: &Placed<'_, Kills>, new: &Placed<'_, Kills>) -> Option<Finding> {
    let (before, after) = (old.record.states_max, new.record.states_max);
    let words = |most: Option<u64>| most.map_or("all".to_string(), |most| format!("up to {most}"));
    let is_less = after.is_some_and(|after| before.is_none_or(|before| after < before));
    // Where time was the limit before, states are the better one: they are the same every time.
    if !is_less || (before.is_none() && !old.record.undecided.is_empty()) {
        return None;
    }
    let texts = [before, after].map(|most| format!("{} states", words(most)));
    let reason = format!("mutants are explored {} instead of {}", texts[1], texts[0]);
    let old_side = Side { file: old.file, line: old.line("states-max"), text: &texts[0] };
    let new_side = Side { file: new.file, line: new.line("states-max"), text: &texts[1] };
    let object = format!("{}!states", old.record.module);
    Some(finding(id("S02"), object, Verdict::Suspect, (Some(old_side), Some(new_side)), reason))
}

fn noticed_less(lost: &[&String], before: &Kills, first: &str) -> String {
    let change = before.mutants.get(first).map(String::as_str).unwrap_or_default();
    let more = match lost.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("no longer notices {first} ({change}){more}")
}

/// What got less in counts of states.
pub fn compare_states(old: Placed<'_, Ledger>, new: Placed<'_, Ledger>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (configuration, before) in old.record {
        let after = new.record.get(configuration);
        let steps_count = after.is_some_and(|now| now.engine == before.engine);
        let states =
            |now: &States| format!("has {} states instead of {}", now.distinct, before.distinct);
        let (verdict, reason) = match after {
            None => (Verdict::Suspect, "its states are no longer counted".to_string()),
            Some(now) if now.distinct < before.distinct => (Verdict::Suspect, states(now)),
            Some(now) if now.distinct > before.distinct => (Verdict::Stronger, states(now)),
            Some(now) if steps_count && now.steps < before.steps => {
                (Verdict::Suspect, format!("has {} steps instead of {}", now.steps, before.steps))
            }
            Some(_) => continue,
        };
        let count = |states: &States| format!("{} states, {} steps", states.distinct, states.steps);
        let texts = (count(before), after.map(count).unwrap_or_default());
        let line = old.line(configuration);
        let old = Side { file: old.file, line, text: &texts.0 };
        let line = new.line(configuration);
        let new = Side { file: new.file, line, text: &texts.1 };
        let both = (Some(old), Some(new));
        findings.push(finding(id("S04"), configuration.clone(), verdict, both, reason));
    }
    findings
}

/// What got less in the records of two trees.
pub fn compare(before: &Tree, after: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in before.keys().filter(|path| is_record(path)) {
        let Some(old) = text(before, path) else { continue };
        // A record moves with its module: the same name elsewhere is the same record.
        let moved = || after.keys().find(|other| file_name(other) == file_name(path));
        let place = if after.contains_key(path) { Some(path) } else { moved() };
        let new = place.and_then(|place| text(after, place)).unwrap_or_default();
        let file = place.unwrap_or(path);
        if file_name(path) == STATES_FILE {
            let Ok(ledger) = parse_states(old) else { continue };
            match parse_states(new) {
                Ok(now) => findings.extend(compare_states(
                    Placed { record: &ledger, file: path, text: old },
                    Placed { record: &now, file, text: new },
                )),
                Err(_) => findings.push(unreadable(file, old, new)),
            }
            continue;
        }
        let Ok(kills) = Kills::parse(old) else { continue };
        let now = match (place, Kills::parse(new)) {
            (_, Ok(now)) => now,
            (None, _) => Kills::default(),
            (Some(_), Err(_)) => {
                findings.push(unreadable(file, old, new));
                continue;
            }
        };
        findings.extend(compare_kills(
            Placed { record: &kills, file: path, text: old },
            Placed { record: &now, file, text: new },
        ));
    }
    findings
}

fn unreadable(file: &str, old: &str, new: &str) -> Finding {
    let side = |text| Some(Side { file, line: 1, text });
    let reason = "is no longer a record that can be read; measure again with --record";
    finding(id("G01"), file, Verdict::Suspect, (side(old), side(new)), reason)
}

/// Whether a path is that of a record.
pub fn is_record(path: &str) -> bool {
    path.ends_with(KILLS_SUFFIX) || file_name(path) == STATES_FILE
}

/// The record of kills of a configuration: beside it, with another ending.
pub fn kills_path(configuration: &str) -> String {
    let name = file_name(configuration).trim_end_matches(".cfg");
    match directory(configuration) {
        "" => format!("{name}{KILLS_SUFFIX}"),
        place => format!("{place}/{name}{KILLS_SUFFIX}"),
    }
}
