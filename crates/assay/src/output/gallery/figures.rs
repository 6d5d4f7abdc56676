//! Landing figures of a twin: fault by fault, what both sides counted.

use assay_verdict::{Landing, LandingState, Signal};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All windows of one fault.
pub struct Figures {
    /// The fault.
    pub fault: String,
    /// Windows that were planned.
    pub planned: usize,
    /// Those that landed on both sides.
    pub landed: usize,
    injector: Side,
    victim: Side,
}

/// What one side counted, by how much it moved: the least and the most of all windows.
struct Side {
    what: String,
    moved: Option<(u64, u64)>,
}

impl Side {
    fn of<'l>(signals: impl Iterator<Item = &'l Signal>) -> Side {
        let (mut what, mut moved) = (String::new(), None);
        for signal in signals {
            what.clone_from(&signal.what);
            let by = signal.before.zip(signal.during).map_or(0, |(a, b)| b.abs_diff(a));
            moved = Some(moved.map_or((by, by), |(least, most)| (by.min(least), by.max(most))));
        }
        Side { what, moved }
    }

    fn words(&self) -> String {
        match self.moved {
            None => "nothing".to_string(),
            Some((least, most)) if least == most => format!("{} {least}", self.what),
            Some((least, most)) => format!("{} {least}..{most}", self.what),
        }
    }

    fn json(&self) -> Value {
        let (least, most) = self.moved.unzip();
        json!({ "what": self.what, "least": least, "most": most })
    }
}

impl Figures {
    /// `kill9 6 of 6: injector killed 1, victim restarts 1..2`.
    pub fn words(&self) -> String {
        let Figures { fault, planned, landed, injector, victim } = self;
        let (injector, victim) = (injector.words(), victim.words());
        format!("{fault} {landed} of {planned}: injector {injector}; victim {victim}")
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        json!({
            "fault": self.fault, "planned": self.planned, "landed": self.landed,
            "injector": self.injector.json(), "victim": self.victim.json(),
        })
    }
}

/// The figures of all faults, by name.
pub fn figures(landings: &[&Landing]) -> Vec<Figures> {
    let mut by_fault = BTreeMap::<String, Vec<&Landing>>::new();
    for landing in landings {
        by_fault.entry(fault_of(landing)).or_default().push(landing);
    }
    let one = |(fault, all): (String, Vec<&Landing>)| Figures {
        fault,
        planned: all.len(),
        landed: all.iter().filter(|one| one.state() == LandingState::Landed).count(),
        injector: Side::of(all.iter().map(|one| &one.injector)),
        victim: Side::of(all.iter().map(|one| &one.victim)),
    };
    by_fault.into_iter().map(one).collect()
}

/// `part-full` of `seed 1: part-full-2 of leader (n1)`: windows of a fault are numbered, and said
/// with the seed of their trial.
fn fault_of(landing: &Landing) -> String {
    let named = landing.fault.strip_prefix("seed ").and_then(|rest| rest.split_once(": "));
    let named = named.map_or(landing.fault.as_str(), |(_seed, named)| named);
    let id = named.split_whitespace().next().unwrap_or_default();
    match id.rsplit_once('-') {
        Some((fault, number)) if number.bytes().all(|b| b.is_ascii_digit()) => fault.to_string(),
        _ => id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_one_fault_are_one_line_with_the_numbers_of_both_sides() {
        let landing = |fault: &str, injector: u64, victim: u64| Landing {
            fault: fault.to_string(),
            injector: Signal::counted("dropped", 10, 10 + injector, 0),
            victim: Signal::counted("elections", 1, 1 + victim, 0),
        };
        let all = [
            landing("seed 1: leader-iso-1 of leader (n1)", 4, 1),
            landing("seed 12: leader-iso-2 of leader (n2)", 9, 2),
            landing("part-asym-1 of others -> leader", 0, 1),
        ];
        let words: Vec<String> =
            figures(&all.iter().collect::<Vec<_>>()).iter().map(Figures::words).collect();
        assert_eq!(
            words,
            [
                "leader-iso 2 of 2: injector dropped 4..9; victim elections 1..2",
                "part-asym 0 of 1: injector dropped 0; victim elections 1",
            ]
        );
    }
}
