//! Runs a judge over many random histories and reports the smallest one it objects to.

use super::generate::{LONG, SMALL, Size, generate};
use super::{Case, brute};
use assay_check::{Certificate, ModelKind, Relaxation, verify};
use assay_history::{KeyId, Outcome};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says what is wrong with an answer, if anything is, given the seed, the history and whether it
/// has an explanation.
pub type Judge = dyn Fn(u64, &Case, bool) -> Result<(), String> + Sync;

/// Which histories a judge is asked about.
#[derive(Clone, Copy)]
pub struct Trial {
    pub model: ModelKind,
    pub size: Size,
    /// Seeds 0 up to this are tried; `ASSAY_CASES` overrides it.
    pub count: u64,
}

impl Trial {
    pub fn case(self, seed: u64) -> Case {
        generate(self.model, self.size, seed)
    }

    /// Whether a history has an explanation; `None` if that takes too long to find out.
    pub fn oracle(self, case: &Case) -> Option<bool> {
        if self.size == SMALL { Some(brute::linearizable(case)) } else { verifier_says(case) }
    }

    /// Asks the judge about every history. The error shows the smallest one it objects to.
    pub fn run(self, judge: &Judge) -> Result<(), String> {
        let count = match std::env::var("ASSAY_CASES") {
            Ok(text) => text.parse().expect("ASSAY_CASES is a number"),
            Err(_) => self.count,
        };
        let (refuted, decided) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let objection = (0..count)
            .into_par_iter()
            .filter_map(|seed| {
                let case = self.case(seed);
                let explained = self.oracle(&case)?;
                decided.fetch_add(1, Ordering::Relaxed);
                refuted.fetch_add(usize::from(!explained), Ordering::Relaxed);
                // A panic is an objection too: it must name its history.
                let judged = catch_unwind(AssertUnwindSafe(|| judge(seed, &case, explained)));
                let what = judged.unwrap_or_else(|_| Err("panicked".to_owned())).err()?;
                Some((case.ops.len(), seed, what))
            })
            .min();
        let (refuted, decided) = (refuted.into_inner() as f64, decided.into_inner() as f64);
        let percent = refuted * 100.0 / decided;
        println!("{}: {decided} of {count} histories, {percent:.1} % refuted", self.model.name());
        if let Some((_, seed, what)) = objection {
            return Err(self.report(seed, &what));
        }
        // Both answers must be common, or agreement says little.
        assert!((25.0..=75.0).contains(&percent), "{percent:.1} % refuted");
        assert!(decided >= count as f64 * 0.9, "too few of {count} histories were decided");
        Ok(())
    }

    /// A history for a message, and how to look at it again.
    pub fn report(self, seed: u64, what: &str) -> String {
        let case = self.case(seed);
        let name = self.model.name();
        let size = if self.size == SMALL { "small" } else { "long" };
        format!(
            "{what}\n{name}, {size}, seed {seed}, initial {}:\n{}again: ASSAY_CASE={name}:{size}:\
             {seed} cargo test -p assay-check --test agreement one_case -- --nocapture",
            case.initial,
            case.json_lines()
        )
    }

    /// The trial and seed that `model:size:seed` names.
    pub fn named(text: &str) -> Option<(Trial, u64)> {
        let mut parts = text.split(':');
        let model = ModelKind::named(parts.next()?)?;
        let size = if parts.next()? == "long" { LONG } else { SMALL };
        Some((Trial { model, size, count: 1 }, parts.next()?.parse().ok()?))
    }
}

/// What the verifier says about a whole history: there is no order that explains all ok operations.
fn verifier_says(case: &Case) -> Option<bool> {
    let (history, initial) = case.history();
    for key in (0..history.key_count() as u32).map(KeyId) {
        let on_key = history.ops().filter(|op| op.key == key && op.outcome() == Outcome::Ok);
        let core = on_key.map(|op| op.index).collect();
        let (key, part) = (history.key(key), Relaxation::none());
        match verify(&history, &Certificate { model: case.model, initial, key, part, core }) {
            Ok(_) => return Some(false),
            Err(why) if why.starts_with("an explanation exists") => {}
            Err(_) => return None,
        }
    }
    Some(true)
}
