//! Whose fault is it? Automatic re-runs gather the tells; a rule draws the conclusion, or none.
//!
//! A wrong guess is worse than none: a finding that goes to the wrong team is closed as "cannot
//! reproduce". So the system is blamed only when nothing else is left, and everything that was not
//! tried leaves the answer open.

use assay_verdict::{Blame, BugClass, BugTag};
use serde::{Deserialize, Serialize};

/// What was tried to find out whose fault it is, and what came of it. `None` was not tried.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tells {
    /// A separate verifier, which shares no code with the checker, agrees with it; not tried where
    /// that would take it too long.
    pub certificate_verified: Option<bool>,
    /// The checker passes a history that is known to be good.
    pub known_good_passes: Option<bool>,
    /// Another generator of the same model, where there is one.
    #[serde(default)]
    pub other_generator: Option<String>,
    /// It shows it, too.
    pub other_generator_shows_it: Option<bool>,
    /// The same generator shows it with other draws: another seed, pace and choice of keys. Tried
    /// where no other generator shows it.
    #[serde(default)]
    pub other_draws_show_it: Option<bool>,
    /// It shows without any fault.
    pub shows_without_fault: Option<bool>,
    /// What was run, line by line, for people.
    pub lines: Vec<String>,
}

impl Tells {
    /// Whom to blame.
    pub fn blame(&self) -> Blame {
        if self.known_good_passes == Some(false) || self.certificate_verified == Some(false) {
            return Blame::Checker;
        }
        let checker_is_cleared =
            self.known_good_passes == Some(true) && self.certificate_verified == Some(true);
        // A second workload, drawn differently, clears the first of having made it up.
        let shown_otherwise =
            [self.other_generator_shows_it, self.other_draws_show_it].contains(&Some(true));
        if checker_is_cleared && shown_otherwise { Blame::Sut } else { Blame::Unknown }
    }
}

/// The kind of bug, from the faults that are needed to show it and the checker that saw it.
pub fn class(faults: &[String]) -> BugClass {
    let any = |words: &[&str]| faults.iter().any(|fault| words.contains(&fault.as_str()));
    if faults.is_empty() {
        BugClass::FaultHandling
    } else if faults.iter().any(|fault| fault.starts_with("part-"))
        || any(&["leader-iso", "splitbrain", "meta-out"])
    {
        BugClass::Partition
    } else if any(&[
        "kill9",
        "term",
        "ctr-restart",
        "roll",
        "roll-wrong",
        "disk-full",
        "bitflip",
        "corrupt",
    ]) {
        BugClass::CrashRecovery
    } else if any(&["roll-up", "mixed-ver"]) {
        BugClass::Upgrade
    } else if any(&["pause", "delay", "rate", "slow-follower", "skew", "slowclock"]) {
        BugClass::Timing
    } else {
        BugClass::FaultHandling
    }
}

/// Further labels, from the checker and the faults.
pub fn tags(checkers: &[String], faults: &[String]) -> Vec<BugTag> {
    let checks =
        |words: &[&str]| checkers.iter().any(|name| words.iter().any(|word| name.contains(word)));
    let hits = |words: &[&str]| faults.iter().any(|fault| words.contains(&fault.as_str()));
    let mut tags = Vec::new();
    if !checks(&["slo", "fairness", "baseline"]) {
        tags.push(BugTag::Safety);
    }
    if checks(&["no-lost-ack", "at-least-once", "replay"]) || hits(&["kill9"]) {
        tags.push(BugTag::Durability);
    }
    if checks(&["exactly-once", "at-most-once", "ledger"]) {
        tags.push(BugTag::Idempotency);
    }
    if checks(&["replicas", "linearizability", "causal", "monotonic", "read-your-writes"]) {
        tags.push(BugTag::Replication);
    }
    if hits(&["leader-iso", "splitbrain"]) {
        tags.push(BugTag::Leadership);
    }
    if checks(&["slo"]) {
        tags.push(BugTag::Liveness);
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_blamed_only_when_everything_else_is_cleared() {
        let states = [None, Some(false), Some(true)];
        let yes = Some(true);
        // Every combination of four answers, each not tried, no or yes.
        for number in 0..states.len().pow(4) {
            let answer = |place: u32| states[number / states.len().pow(place) % states.len()];
            let tells = Tells {
                certificate_verified: answer(0),
                known_good_passes: answer(1),
                other_generator_shows_it: answer(2),
                other_draws_show_it: answer(3),
                ..Tells::default()
            };
            let otherwise = answer(2) == yes || answer(3) == yes;
            let sut = answer(0) == yes && answer(1) == yes && otherwise;
            assert_eq!(tells.blame() == Blame::Sut, sut, "{tells:?}");
            let checker = answer(0) == Some(false) || answer(1) == Some(false);
            assert_eq!(tells.blame() == Blame::Checker, checker, "{tells:?}");
        }
    }

    #[test]
    fn labels_follow_from_what_is_needed_to_show_it() {
        let faults = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(class(&faults(&["leader-iso"])), BugClass::Partition);
        assert_eq!(class(&faults(&["kill9", "pause"])), BugClass::CrashRecovery);
        assert_eq!(class(&faults(&["pause"])), BugClass::Timing);
        assert_eq!(class(&[]), BugClass::FaultHandling);
        let tags = tags(&faults(&["linearizability:register"]), &faults(&["leader-iso"]));
        assert_eq!(tags, [BugTag::Safety, BugTag::Replication, BugTag::Leadership]);
    }
}
