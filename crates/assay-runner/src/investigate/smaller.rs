//! Making the trial of a violation smaller: one respect after the other, as long as it still fails.

use super::Inquiry;
use crate::reduce::{Reduced, reduce};
use crate::spec::{Opening, TrialSpec, WindowSpec};
use crate::trial::{TrialError, TrialRecord};
use std::collections::BTreeMap;

/// Clients go on for so long after the last operation of the witness.
const AFTER_WITNESS_MS: u64 = 1_000;

/// Options by which checkers know what all keys together must show. With fewer keys they would be
/// wrong, and every history a violation: the money of half of the accounts is not that of all.
const OF_ALL_KEYS: [&str; 3] = ["total", "invariant", "groups-expected"];

/// A trial that fails, and what came of it.
struct Failing {
    spec: TrialSpec,
    last: TrialRecord,
}

impl Inquiry<'_, '_> {
    /// First shorter, then with fewer faults, clients, keys, types of operations and nodes: each
    /// step makes the next one cheaper. The smallest trial, whether each of its faults is known to
    /// be needed, and what came of it.
    pub(super) fn reduce(
        &mut self,
        first: &TrialRecord,
        again: TrialRecord,
    ) -> Result<(TrialSpec, bool, TrialRecord), TrialError> {
        let mut best = Failing { spec: first.spec.clone(), last: again };
        if let Some(shorter) = shortened(&best.spec, [first, &best.last]) {
            let what = format!("only the first {} ms", shorter.duration_ms);
            self.tried(&mut best, &what, shorter)?;
        }
        let minimal = self.fewer_faults(&mut best)?;
        self.fewer_clients(&mut best)?;
        self.fewer_keys(&mut best)?;
        self.fewer_types(&mut best)?;
        if let Some(nodes) = self.allowance.nodes_min.filter(|min| *min < best.spec.system.nodes) {
            let mut fewer = best.spec.clone();
            fewer.system.nodes = nodes;
            self.tried(&mut best, &format!("{nodes} nodes"), fewer)?;
        }
        Ok((best.spec, minimal, best.last))
    }

    /// Takes a smaller trial over if it still fails.
    fn tried(
        &mut self,
        best: &mut Failing,
        what: &str,
        spec: TrialSpec,
    ) -> Result<bool, TrialError> {
        match self.still_fails(what, &spec)? {
            Some(last) => *best = Failing { spec, last },
            None => return Ok(false),
        }
        Ok(true)
    }

    fn fewer_faults(&mut self, best: &mut Failing) -> Result<bool, TrialError> {
        let all = best.spec.windows.clone();
        let words = |part: &[WindowSpec]| format!("{} of {} faults", part.len(), all.len());
        let with = |spec: &TrialSpec, part: &[WindowSpec]| TrialSpec {
            windows: part.to_vec(),
            ..spec.clone()
        };
        let not_done = self.not_done.len();
        let reduced = self.fewer(best, (&all, 0), words, with)?;
        // A fault is needed if the trial without it passes, not if nobody could try.
        Ok(reduced.minimal && self.may_go_on() && self.not_done.len() == not_done)
    }

    /// Types of operations that are not needed to see it are left out, up to all but one.
    fn fewer_types(&mut self, best: &mut Failing) -> Result<(), TrialError> {
        let mix = shares(&best.spec);
        let all: Vec<(String, u64)> = mix.into_iter().filter(|(_, share)| *share > 0).collect();
        if all.len() < 2 {
            return Ok(());
        }
        let words = |part: &[(String, u64)]| {
            let names: Vec<&str> = part.iter().map(|(name, _)| name.as_str()).collect();
            format!("only {}", names.join(" and "))
        };
        let with = |spec: &TrialSpec, part: &[(String, u64)]| {
            let mut fewer = spec.clone();
            fewer.workload.mix = part.iter().cloned().collect();
            fewer
        };
        // No mix at all would be the usual one.
        self.fewer(best, (&all, 1), words, with).map(drop)
    }

    /// The smallest part of a list, of at least so many, with which the trial still fails.
    fn fewer<T: Clone>(
        &mut self,
        best: &mut Failing,
        (all, least): (&[T], usize),
        words: impl Fn(&[T]) -> String,
        with: impl Fn(&TrialSpec, &[T]) -> TrialSpec,
    ) -> Result<Reduced<T>, TrialError> {
        let allowed = usize::try_from(self.allowance.reruns).unwrap_or(usize::MAX);
        let whole = best.spec.clone();
        let mut trouble = None;
        let reduced = reduce(all, allowed, |part: &[T]| {
            if part.len() < least || trouble.is_some() {
                return false;
            }
            match self.tried(best, &words(part), with(&whole, part)) {
                Ok(fails) => fails,
                Err(error) => {
                    trouble = Some(error);
                    false
                }
            }
        });
        trouble.map_or(Ok(reduced), Err)
    }

    fn fewer_clients(&mut self, best: &mut Failing) -> Result<(), TrialError> {
        while best.spec.workload.clients > 2 {
            let mut fewer = best.spec.clone();
            fewer.workload.clients /= 2;
            let what = format!("{} clients", fewer.workload.clients);
            if !self.tried(best, &what, fewer)? {
                break;
            }
        }
        Ok(())
    }

    fn fewer_keys(&mut self, best: &mut Failing) -> Result<(), TrialError> {
        if OF_ALL_KEYS.iter().any(|option| best.spec.check.options.contains_key(*option)) {
            return Ok(());
        }
        while best.spec.workload.keys > 1 {
            let mut fewer = best.spec.clone();
            fewer.workload.keys /= 2;
            let what = format!("{} keys", fewer.workload.keys);
            if !self.tried(best, &what, fewer)? {
                break;
            }
        }
        Ok(())
    }
}

/// The shares of the operation types, as the generator fills them in.
fn shares(spec: &TrialSpec) -> BTreeMap<String, u64> {
    let own = &spec.workload.mix;
    let Some(info) = assay_workload::generator(&spec.workload.generator) else {
        return own.clone();
    };
    match own.is_empty() {
        true => info.ops.iter().map(|op| (op.name.to_string(), op.share)).collect(),
        false => own.clone(),
    }
}

/// The same trial up to a second after the witness, if that is shorter.
fn shortened(spec: &TrialSpec, records: [&TrialRecord; 2]) -> Option<TrialSpec> {
    let ends = records.iter().map(|record| record.violation_ms());
    let until = ends.collect::<Option<Vec<u64>>>()?.into_iter().max()? + AFTER_WITNESS_MS;
    if until >= spec.duration_ms {
        return None;
    }
    let inside = |window: &&WindowSpec| match window.opens {
        Opening::AtMs(at) => at < until,
        Opening::On { .. } => true,
    };
    let windows = spec.windows.iter().filter(inside).cloned().collect();
    Some(TrialSpec { duration_ms: until, windows, ..spec.clone() })
}
