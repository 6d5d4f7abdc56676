//! Runs a judge over many random histories and reports a smallest one it objects to.

use super::generate::{LONG, SMALL, Size, generate};
use super::shrink::{Histories, Seeded};
use super::{Case, brute};
use assay_check::{Certificate, ModelKind, Relaxation, verify};
use assay_history::{KeyId, Outcome};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Into how many parts the histories are divided, to be tried side by side.
const SHARES: u64 = 16;

/// Says what is wrong with an answer, if anything is, given the seed, the history and whether it
/// has an explanation.
pub type Judge = dyn Fn(u64, &Case, bool) -> Result<(), String> + Sync;

/// Which histories a judge is asked about.
#[derive(Clone, Copy)]
pub struct Trial {
    pub model: ModelKind,
    pub size: Size,
    /// So many are tried; `ASSAY_CASES` overrides it.
    pub count: u64,
}

/// How many histories had an answer, and how many of those had no explanation.
#[derive(Default)]
struct Tally {
    decided: AtomicU64,
    refuted: AtomicU64,
}

impl Trial {
    pub fn case(self, seed: u64) -> Case {
        generate(self.model, self.size, seed)
    }

    /// Whether a history has an explanation; `None` if that takes too long to find out.
    pub fn oracle(self, case: &Case) -> Option<bool> {
        if self.size == SMALL { Some(brute::linearizable(case)) } else { verifier_says(case) }
    }

    /// Asks the judge about so many histories. The error shows a smallest one it objects to.
    pub fn run(self, judge: &Judge) -> Result<(), String> {
        let count = match std::env::var("ASSAY_CASES") {
            Ok(text) => text.parse().expect("ASSAY_CASES is a number"),
            Err(_) => self.count,
        };
        let tally = Tally::default();
        let shares = (0..SHARES).into_par_iter();
        let objections = shares.filter_map(|share| self.share(share, count, judge, &tally));
        let objection = objections.min_by_key(|objection| objection.0);
        let (refuted, decided) = (tally.refuted.into_inner(), tally.decided.into_inner());
        let percent = refuted as f64 * 100.0 / decided as f64;
        println!("{}: {decided} of {count} histories, {percent:.1} % refuted", self.model.name());
        if let Some((_, what)) = objection {
            return Err(what);
        }
        // Both answers must be common, or agreement says little.
        assert!((25.0..=75.0).contains(&percent), "{percent:.1} % refuted");
        assert!(decided as f64 >= count as f64 * 0.9, "too few of {count} histories were decided");
        Ok(())
    }

    /// One part of the histories: how long a smallest one is that the judge objects to, and why.
    fn share(
        self,
        share: u64,
        count: u64,
        judge: &Judge,
        tally: &Tally,
    ) -> Option<(usize, String)> {
        let cases = count / SHARES + u64::from(share < count % SHARES);
        let config = Config {
            cases: u32::try_from(cases).expect("a share is small"),
            failure_persistence: None,
            ..Config::default()
        };
        let seed = [share as u8 + 1; 32];
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let outcome = runner.run(&Histories(self), |Seeded { seed, case }| {
            let Some(explained) = self.oracle(&case) else { return Ok(()) };
            tally.decided.fetch_add(1, Ordering::Relaxed);
            tally.refuted.fetch_add(u64::from(!explained), Ordering::Relaxed);
            // A panic is an objection too, and proptest makes one of it.
            judge(seed, &case, explained).map_err(TestCaseError::fail)
        });
        match outcome {
            Ok(()) => None,
            Err(TestError::Fail(what, found)) => {
                let what = self.report(found.seed, &found.case, what.message());
                Some((found.case.ops.len(), what))
            }
            Err(TestError::Abort(why)) => panic!("nothing was tried: {why}"),
        }
    }

    /// A history for a message, and how to look at the one it was made of.
    pub fn report(self, seed: u64, case: &Case, what: &str) -> String {
        let name = self.model.name();
        let size = if self.size == SMALL { "small" } else { "long" };
        format!(
            "{what}\n{name}, {size}, of seed {seed}, initial {}:\n{}with all its operations: \
             ASSAY_CASE={name}:{size}:{seed} cargo test -p assay-check --test agreement one_case \
             -- --nocapture",
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
