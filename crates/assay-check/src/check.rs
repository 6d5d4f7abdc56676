//! Checking a whole history: cut, decide each part, explain what was refuted.

use crate::budget::Budget;
use crate::kind::ModelKind;
use crate::model::{Call, Problem};
use crate::models::{Counter, Decode, Kv, Lease, Log, Mutex, Plant, Queue, Register, Set, Stack};
use crate::partition::{Part, Reader};
use crate::report::{Algorithm, PartReport, Refutation, Report, Unfinished};
use crate::search::{Answer, Decision, decide};
use crate::witness;
use assay_history::{History, OpIndex, ValueId};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What to check and how.
#[derive(Clone, Copy)]
pub struct CheckOptions<'a> {
    /// The model.
    pub model: ModelKind,
    /// A register's value before the first write; an id of the history's own pool.
    pub initial: ValueId,
    /// Limits for the searches.
    pub budget: Option<&'a Budget>,
    /// How many refuted parts are reduced to a witness; the others are only counted.
    pub witnesses_max: usize,
    /// Whether to go on after the first refuted part.
    pub thoroughness: Thoroughness,
    /// Counts decided operations, for progress.
    pub ops_done: Option<&'a AtomicU64>,
    /// Counts decided parts, for progress.
    pub parts_done: Option<&'a AtomicU64>,
    /// Called once every part is decided, before refuted ones are reduced: checkers have no clock,
    /// but their callers do.
    pub on_decided: Option<&'a (dyn Fn() + Sync)>,
}

impl CheckOptions<'_> {
    /// A check against `model`, without limits.
    pub fn new(model: ModelKind) -> CheckOptions<'static> {
        CheckOptions {
            model,
            initial: ValueId::NULL,
            budget: None,
            witnesses_max: 5,
            thoroughness: Thoroughness::Everything,
            ops_done: None,
            parts_done: None,
            on_decided: None,
        }
    }
}

/// How much of a history is looked at once it is known to be refuted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Thoroughness {
    /// Every part is decided, so that the report names all that are refuted.
    Everything,
    /// Parts are decided from the smallest up, and none after the first that is refuted: the
    /// answer is the same, sooner.
    FirstRefutation,
}

/// Why a history cannot be checked against a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct CheckError {
    /// The line of the operation.
    pub line: u64,
    /// What does not fit the model.
    pub message: String,
}

/// Decides whether a history is linearizable.
///
/// # Errors
/// [`CheckError`] if an operation does not fit the model: another type, or an input or output of
/// the wrong shape.
pub fn check(history: &History, options: &CheckOptions<'_>) -> Result<Report, CheckError> {
    struct Visitor<'a>(&'a History, &'a CheckOptions<'a>);
    impl WithModel for Visitor<'_> {
        type Output = Result<Report, CheckError>;
        fn run<M: Plant>(self, model: &M) -> Self::Output {
            run(self.0, self.1, model)
        }
    }
    with_model(options, Visitor(history, options))
}

/// Something to do with whichever model was asked for.
pub(crate) trait WithModel {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run<M: Plant>(self, model: &M) -> Self::Output;
}

/// The one place where a model's name becomes its type.
pub(crate) fn with_model<V: WithModel>(options: &CheckOptions<'_>, visitor: V) -> V::Output {
    match options.model {
        ModelKind::Register => visitor.run(&Register { initial: options.initial }),
        ModelKind::Kv => visitor.run(&Kv),
        ModelKind::Counter => visitor.run(&Counter),
        ModelKind::Set => visitor.run(&Set),
        ModelKind::Queue => visitor.run(&Queue),
        ModelKind::Stack => visitor.run(&Stack),
        ModelKind::Log => visitor.run(&Log),
        ModelKind::Mutex => visitor.run(&Mutex),
        ModelKind::Lease => visitor.run(&Lease),
    }
}

/// With fewer calls than this, starting threads costs more than they save.
pub(crate) const PARALLEL_CALLS_MIN: usize = 4_096;

fn run<M: Decode>(
    history: &History,
    options: &CheckOptions<'_>,
    model: &M,
) -> Result<Report, CheckError> {
    let reader = Reader::new(history, options.model, model)?;
    let unlimited = Budget::unlimited();
    let budget = options.budget.unwrap_or(&unlimited);
    let check = Check { reader, options, budget };
    if let Some(part) = check.reader.only_part()?
        && let Some(decision) = model.decide_fast_iter(check.reader.stream())
    {
        check.progress(&part);
        let calls = match decision.answer {
            Answer::Refuted => check.reader.stream().collect(),
            _ => Vec::new(),
        };
        let part = Part { range: 0..calls.len(), ..part };
        return Ok(check.report(&calls, vec![(&part, Algorithm::Special, decision)]));
    }
    let (calls, parts) = check.reader.parts()?;
    let decided = match options.thoroughness {
        Thoroughness::Everything => check.decide_all(&calls, &parts),
        Thoroughness::FirstRefutation => check.decide_until_refuted(&calls, &parts),
    };
    let mut report = check.report(&calls, decided);
    report.parts_skipped = parts.len() - report.parts;
    Ok(report)
}

struct Check<'a, M> {
    reader: Reader<'a, M>,
    options: &'a CheckOptions<'a>,
    budget: &'a Budget,
}

/// A part with what was found out about it, and how.
type Decided<'p> = (&'p Part, Algorithm, Decision);

impl<M: Decode> Check<'_, M> {
    fn decide_all<'p>(&self, calls: &[Call<M::Op>], parts: &'p [Part]) -> Vec<Decided<'p>> {
        // The largest first: the last part to finish should be a small one.
        let mut by_size: Vec<&Part> = parts.iter().collect();
        by_size.sort_by_key(|part| std::cmp::Reverse(part.ops));
        let mut decided: Vec<Decided<'p>> = if calls.len() < PARALLEL_CALLS_MIN {
            by_size.into_iter().map(|part| self.decide_part(calls, part)).collect()
        } else {
            by_size.into_par_iter().map(|part| self.decide_part(calls, part)).collect()
        };
        decided.sort_by_key(|(part, ..)| (part.key, part.element));
        decided
    }

    /// Decides parts, the smallest first, up to the first that is refuted. Threads may be ahead of
    /// it; what they found is left out, so that every run gives the same report.
    fn decide_until_refuted<'p>(
        &self,
        calls: &[Call<M::Op>],
        parts: &'p [Part],
    ) -> Vec<Decided<'p>> {
        let mut by_size: Vec<&Part> = parts.iter().collect();
        by_size.sort_by_key(|part| (part.ops, part.key, part.element));
        let first = AtomicUsize::new(usize::MAX);
        let decide = |(at, part): (usize, &'p Part)| {
            if at > first.load(Ordering::Relaxed) {
                return None;
            }
            let decided = self.decide_part(calls, part);
            if decided.2.answer == Answer::Refuted {
                first.fetch_min(at, Ordering::Relaxed);
            }
            Some(decided)
        };
        let decided: Vec<Option<Decided<'p>>> = if calls.len() < PARALLEL_CALLS_MIN {
            by_size.into_iter().enumerate().map(decide).collect()
        } else {
            by_size.into_par_iter().enumerate().map(decide).collect()
        };
        let needed = first.into_inner().saturating_add(1);
        let mut decided: Vec<Decided<'p>> = decided.into_iter().take(needed).flatten().collect();
        decided.sort_by_key(|(part, ..)| (part.key, part.element));
        decided
    }

    fn decide_part<'p>(&self, calls: &[Call<M::Op>], part: &'p Part) -> Decided<'p> {
        let (algorithm, decision) = self.decide(&calls[part.range.clone()]);
        self.progress(part);
        (part, algorithm, decision)
    }

    fn progress(&self, part: &Part) {
        if let Some(done) = self.options.ops_done {
            done.fetch_add(part.ops as u64, Ordering::Relaxed);
        }
        if let Some(done) = self.options.parts_done {
            done.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn decide(&self, calls: &[Call<M::Op>]) -> (Algorithm, Decision) {
        if let Some(decision) = self.reader.model.decide_fast(calls) {
            return (Algorithm::Special, decision);
        }
        let problem = Problem { hint: self.hint(calls), ..Problem::new(calls.to_vec()) };
        decide_problem(self.reader.model, problem, self.budget)
    }

    /// The order the system assigned, if every required call has its place in it.
    fn hint(&self, calls: &[Call<M::Op>]) -> Option<Vec<i64>> {
        let history = self.reader.history;
        let of = |call: &Call<M::Op>| {
            history.revision(OpIndex(call.index)).or((!call.required).then_some(0))
        };
        if history.has_revisions() { calls.iter().map(of).collect() } else { None }
    }

    fn report(&self, calls: &[Call<M::Op>], decided: Vec<Decided<'_>>) -> Report {
        let (history, options) = (self.reader.history, self.options);
        if let Some(on_decided) = options.on_decided {
            on_decided();
        }
        let mut report = Report::empty(options.model, history.len());
        for (part, algorithm, decision) in decided {
            report.count(part.ops, algorithm, decision.answer);
            report.ops_known += part.known;
            let about = PartReport {
                key: history.key(part.key),
                element: part.element,
                ops: part.ops,
                algorithm,
            };
            match decision.answer {
                Answer::Linearizable => {}
                Answer::Undecided => report.unfinished.push(Unfinished {
                    part: about,
                    prefix_end: decision.prefix_end,
                    prefix_ops: decision.prefix_calls,
                    window_ops: decision.window_calls,
                }),
                Answer::Refuted if report.refutations.len() < options.witnesses_max => {
                    let calls = &calls[part.range.clone()];
                    let found = witness::reduce(self.reader.model, calls, &decision, self.budget);
                    let certificate = found.certificate(options.model, options.initial, about.key);
                    report.refutations.push(Refutation::new(history, about, certificate, found));
                }
                Answer::Refuted => report.refuted_not_shown += 1,
            }
        }
        report.configurations = self.budget.configurations();
        report.memory_bytes_peak = self.budget.memory_bytes_peak();
        report
    }
}

/// Decides a problem by a special case if one applies, by search otherwise.
pub(crate) fn decide_problem<M: Decode>(
    model: &M,
    mut problem: Problem<M::Op>,
    budget: &Budget,
) -> (Algorithm, Decision) {
    if problem.start == crate::model::Start::Initial
        && let Some(decision) = model.decide_fast(&problem.calls)
    {
        return (Algorithm::Special, decision);
    }
    let all = problem.calls.len();
    model.drop_irrelevant(&mut problem.calls);
    if problem.calls.len() != all {
        problem.hint = None;
    }
    (Algorithm::Search, decide(model, &problem, budget))
}
