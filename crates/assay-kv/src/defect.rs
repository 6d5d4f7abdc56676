//! The named defects. All of them are off unless asked for.

use crate::state::{Fencing, Retries, Rules};
use std::collections::BTreeSet;

/// One mistake that can be switched on. Each acts in one place, named here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Defect {
    /// Reads are served from local state on any node, leader or not. Hook: `server::ops`.
    StaleReads,
    /// The leader answers before its peers have the write. Hook: `propose`.
    AckBeforeCommit,
    /// The log stays in memory until a clean stop. Hook: `storage::log_file`.
    ForgetOnRestart,
    /// A retried write puts back what its first attempt wrote. Hook: `state::retry`.
    LostUpdateOnRetry,
    /// A retried request is applied again. Hook: `state::retry`.
    DuplicateOnRetry,
    /// The resource behind a lease takes any token. Hook: `state::lease`.
    LockWithoutFencing,
}

impl Defect {
    /// Every defect with its name on the command line.
    pub const ALL: [(Defect, &str); 6] = [
        (Defect::StaleReads, "stale-reads"),
        (Defect::AckBeforeCommit, "ack-before-commit"),
        (Defect::ForgetOnRestart, "forget-on-restart"),
        (Defect::LostUpdateOnRetry, "lost-update-on-retry"),
        (Defect::DuplicateOnRetry, "duplicate-on-retry"),
        (Defect::LockWithoutFencing, "lock-without-fencing"),
    ];

    /// The defect of this name.
    pub fn named(name: &str) -> Option<Defect> {
        Defect::ALL.iter().find(|(_, known)| *known == name).map(|(defect, _)| *defect)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Defect::ALL.iter().find(|(defect, _)| *defect == self);
        found.map_or("", |(_, name)| name)
    }
}

/// The defects of a node.
#[derive(Clone, Default, Debug)]
pub struct Defects(BTreeSet<Defect>);

impl Defects {
    /// Whether `defect` is switched on.
    pub fn has(&self, defect: Defect) -> bool {
        self.0.contains(&defect)
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|defect| defect.name()).collect()
    }

    /// What a leader with these defects writes into its batches.
    pub(crate) fn rules(&self) -> Rules {
        let retries = if self.has(Defect::DuplicateOnRetry) {
            Retries::ApplyAgain
        } else if self.has(Defect::LostUpdateOnRetry) {
            Retries::Overwrite
        } else {
            Retries::Remember
        };
        let fencing =
            if self.has(Defect::LockWithoutFencing) { Fencing::Ignored } else { Fencing::Checked };
        Rules { retries, fencing }
    }
}

impl FromIterator<Defect> for Defects {
    fn from_iter<I: IntoIterator<Item = Defect>>(defects: I) -> Defects {
        Defects(defects.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_defect_is_found_by_its_name_and_none_is_on_by_default() {
        for (defect, name) in Defect::ALL {
            assert_eq!(Defect::named(name), Some(defect));
            assert_eq!(defect.name(), name);
            assert!(!Defects::default().has(defect));
            assert!(Defects::from_iter([defect]).has(defect));
        }
        assert_eq!(Defect::named("honest"), None);
        assert_eq!(Defects::default().rules(), Rules::default());
    }
}
