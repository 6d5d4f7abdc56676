//! Anomalies as they are found: all are counted, a bounded number is kept.

use crate::anomaly::{Anomaly, Evidence, Kind};
use std::collections::BTreeMap;

/// How many anomalies of each kind are kept with their facts.
pub const KEPT_PER_KIND_MAX: usize = 100_000;

#[derive(Default, Debug)]
pub(crate) struct Found {
    pub(crate) kept: Vec<Anomaly>,
    pub(crate) counts: BTreeMap<Kind, usize>,
}

impl Found {
    pub(crate) fn add(&mut self, kind: Kind, evidence: impl FnOnce() -> Evidence) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count <= KEPT_PER_KIND_MAX {
            self.kept.push(Anomaly { kind, evidence: evidence() });
        }
    }
}
