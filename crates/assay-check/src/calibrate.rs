//! How sharp is the oracle? Plants anomalies into copies of a history and counts those it catches.
//!
//! A pass says little if the checker could not have failed. So calibration takes the history at
//! hand, changes what a few operations saw (nothing else: same clients, same times, same overlap),
//! and runs the same checker on each changed copy. What it misses has a valid order in spite of the
//! change: at this concurrency nobody could tell.

use crate::budget::Budget;
use crate::check::{CheckError, CheckOptions, decide_problem, with_model};
use crate::model::{Call, Problem};
use crate::models::Plant;
use crate::partition::{Part, Reader};
use crate::search::Answer;
use assay_history::{History, ValueId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// A kind of planted anomaly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anomaly {
    /// A later read returns what an earlier one returned.
    StaleRead,
    /// An acknowledged write vanishes from everything that began after it.
    LostWrite,
    /// Something is seen that nobody ever wrote.
    ImpossibleValue,
    /// Two operations, one after the other, saw things in the opposite order.
    ReorderedEffect,
    /// A write takes effect a second time.
    DoubleEffect,
}

impl Anomaly {
    /// Every kind, with its name.
    pub const ALL: [(Anomaly, &'static str); 5] = [
        (Anomaly::StaleRead, "stale read"),
        (Anomaly::LostWrite, "lost write"),
        (Anomaly::ImpossibleValue, "impossible value"),
        (Anomaly::ReorderedEffect, "reordered effect"),
        (Anomaly::DoubleEffect, "double effect"),
    ];
}

/// How many anomalies of one kind were caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct CalibrationRow {
    /// The kind.
    pub anomaly: Anomaly,
    /// How many changed copies were made; fewer than asked for if the history offers no place, or
    /// if the budget was spent.
    pub planted: u32,
    /// How many of them were refuted.
    pub caught: u32,
    /// How many still have a valid order: they cannot be seen at this concurrency.
    pub unseen: u32,
    /// How many the budget was too small for.
    pub undecided: u32,
    /// How many of those decided are wrong by construction: an argument that needs no search, and
    /// no checker, says that they have no valid order.
    pub certain: u32,
    /// How many of these were refuted.
    pub certain_caught: u32,
}

/// Configurations one changed copy may cost.
const CONFIGURATIONS_MAX: u64 = 1_000_000;
/// Attempts to find a place for one anomaly.
const ATTEMPTS_MAX: u32 = 64;
/// Changed calls of a copy that are looked at to see whether it is wrong for certain.
const CHANGES_LOOKED_AT_MAX: usize = 16;

/// Plants `count` anomalies of each kind, one at a time, and checks each changed copy.
///
/// # Errors
/// As [`crate::check`].
pub fn calibrate(
    history: &History,
    options: &CheckOptions<'_>,
    count: u32,
    seed: u64,
) -> Result<Vec<CalibrationRow>, CheckError> {
    struct Visitor<'a> {
        history: &'a History,
        options: &'a CheckOptions<'a>,
        count: u32,
        seed: u64,
    }
    impl crate::check::WithModel for Visitor<'_> {
        type Output = Result<Vec<CalibrationRow>, CheckError>;
        fn run<M: Plant>(self, model: &M) -> Self::Output {
            let reader = Reader::new(self.history, self.options.model, model)?;
            let (calls, parts) = reader.parts()?;
            let unlimited = Budget::unlimited();
            let budget = self.options.budget.unwrap_or(&unlimited);
            let rng = ChaCha8Rng::seed_from_u64(self.seed);
            let mut planter = Planter { model, calls, parts, rng, budget };
            let kinds = Anomaly::ALL.iter();
            Ok(kinds.map(|&(anomaly, _)| planter.row(anomaly, self.count)).collect())
        }
    }
    with_model(options, Visitor { history, options, count, seed })
}

struct Planter<'a, M: Plant> {
    model: &'a M,
    calls: Vec<Call<M::Op>>,
    parts: Vec<Part>,
    rng: ChaCha8Rng,
    budget: &'a Budget,
}

impl<M: Plant> Planter<'_, M> {
    fn row(&mut self, anomaly: Anomaly, count: u32) -> CalibrationRow {
        let mut row = CalibrationRow {
            anomaly,
            planted: 0,
            caught: 0,
            unseen: 0,
            undecided: 0,
            certain: 0,
            certain_caught: 0,
        };
        for _ in 0..count {
            if self.budget.is_spent() {
                break;
            }
            let Some((changed, certain)) = self.changed_copy(anomaly) else { break };
            row.planted += 1;
            let limit = self.budget.allowance(self.budget.memory_bytes_max, CONFIGURATIONS_MAX);
            let (_, decision) = decide_problem(self.model, Problem::new(changed), &limit);
            self.budget.visit(limit.configurations());
            match decision.answer {
                Answer::Refuted => row.caught += 1,
                Answer::Linearizable => row.unseen += 1,
                Answer::Undecided => row.undecided += 1,
            }
            // Out of budget is no answer: such a history would not pass either.
            row.certain += u32::from(certain && decision.answer != Answer::Undecided);
            row.certain_caught += u32::from(certain && decision.answer == Answer::Refuted);
        }
        row
    }

    /// A copy of some part with one anomaly in it, and whether it is one for certain; `None` if no
    /// place for it is found.
    fn changed_copy(&mut self, anomaly: Anomaly) -> Option<(Vec<Call<M::Op>>, bool)> {
        (0..ATTEMPTS_MAX).find_map(|_| {
            if self.calls.is_empty() {
                return None;
            }
            // A random call, so that large parts are chosen more often than small ones.
            let at = self.rng.random_range(0..self.calls.len());
            let after = self.parts.partition_point(|part| part.range.start <= at);
            let part = &self.parts[after.checked_sub(1)?];
            if !part.range.contains(&at) {
                return None;
            }
            let range = part.range.clone();
            let mut calls = self.calls[range.clone()].to_vec();
            let planted = self.plant(anomaly, &mut calls, at - range.start);
            planted.then(|| {
                let certain = self.is_certain(&self.calls[range], &calls);
                (calls, certain)
            })
        })
    }

    /// Whether one of the changed calls has no place in any order.
    fn is_certain(&self, before: &[Call<M::Op>], after: &[Call<M::Op>]) -> bool {
        let changed = (0..after.len()).filter(|&i| before[i].op != after[i].op);
        changed.take(CHANGES_LOOKED_AT_MAX).any(|i| self.model.is_evident(after, i))
    }

    fn plant(&mut self, anomaly: Anomaly, calls: &mut [Call<M::Op>], at: usize) -> bool {
        match anomaly {
            Anomaly::StaleRead => self.stale_read(calls, at),
            Anomaly::LostWrite => self.lost_write(calls, at),
            Anomaly::ImpossibleValue => self.impossible_value(calls, at),
            Anomaly::ReorderedEffect => self.reordered_effect(calls, at),
            Anomaly::DoubleEffect => self.double_effect(calls, at),
        }
    }

    fn is_reader(&self, call: &Call<M::Op>) -> bool {
        call.required && self.model.is_reader(&call.op)
    }

    /// A reader that ended before `at` began and saw something else.
    fn earlier_reader(&mut self, calls: &[Call<M::Op>], at: usize) -> Option<usize> {
        let later = &calls[at];
        let fits = |&i: &usize| {
            self.is_reader(&calls[i])
                && calls[i].end < later.start
                && calls[i].op != later.op
                && self.model.is_alike(&calls[i].op, &later.op)
        };
        let earlier: Vec<usize> = (0..calls.len()).filter(fits).collect();
        if earlier.is_empty() {
            return None;
        }
        Some(earlier[self.rng.random_range(0..earlier.len())])
    }

    fn stale_read(&mut self, calls: &mut [Call<M::Op>], at: usize) -> bool {
        if !self.is_reader(&calls[at]) {
            return false;
        }
        let Some(earlier) = self.earlier_reader(calls, at) else { return false };
        calls[at].op = calls[earlier].op.clone();
        true
    }

    fn reordered_effect(&mut self, calls: &mut [Call<M::Op>], at: usize) -> bool {
        if !self.is_reader(&calls[at]) {
            return false;
        }
        let Some(earlier) = self.earlier_reader(calls, at) else { return false };
        let seen = calls[earlier].op.clone();
        calls[earlier].op = std::mem::replace(&mut calls[at].op, seen);
        true
    }

    fn impossible_value(&mut self, calls: &mut [Call<M::Op>], at: usize) -> bool {
        const FAR_AWAY: i64 = 1 << 29;
        let fresh = ValueId::inline_int(-FAR_AWAY + self.rng.random_range(0..FAR_AWAY / 2));
        let fresh = fresh.expect("the range fits a small integer");
        let changed = match calls[at].required {
            true => self.model.impossible(&calls[at].op, fresh),
            false => None,
        };
        changed.is_some_and(|op| {
            calls[at].op = op;
            true
        })
    }

    /// Everything that began after the update at `at` sees the object without it.
    fn lost_write(&mut self, calls: &mut [Call<M::Op>], at: usize) -> bool {
        let update = calls[at].clone();
        if !update.required {
            return false;
        }
        let before = calls
            .iter()
            .filter(|call| self.is_reader(call) && call.end < update.start)
            .max_by_key(|call| call.end)
            .map(|call| call.op.clone());
        let mut any = false;
        for call in calls.iter_mut().filter(|call| call.required && call.start > update.end) {
            if let Some(op) = self.model.without(&call.op, &update.op, before.as_ref()) {
                any |= op != call.op;
                call.op = op;
            }
        }
        any
    }

    /// One operation after the update at `at` sees its effect again.
    fn double_effect(&mut self, calls: &mut [Call<M::Op>], at: usize) -> bool {
        let update = calls[at].clone();
        if !update.required {
            return false;
        }
        let model = self.model;
        let fits = |call: &Call<M::Op>| {
            let again = model.again(&call.op, &update.op);
            call.required && call.start > update.end && again.is_some_and(|op| op != call.op)
        };
        let later: Vec<usize> = (0..calls.len()).filter(|&i| fits(&calls[i])).collect();
        if later.is_empty() {
            return false;
        }
        let chosen = later[self.rng.random_range(0..later.len())];
        if let Some(op) = model.again(&calls[chosen].op, &update.op) {
            calls[chosen].op = op;
        }
        true
    }
}
