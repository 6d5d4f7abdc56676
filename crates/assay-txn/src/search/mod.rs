//! Looking for an order of transactions that explains every read, where nothing smaller decides.
//!
//! Registers do not show the order of their versions, so the absence of cycles proves nothing.
//! What is left is to look for an order: of whole transactions (serializability), or of moments at
//! which each takes its snapshot and at which its writes become visible (snapshot isolation,
//! prefix consistency). The problem is hard in general and polynomial for a fixed number of
//! sessions (Biswas and Enea, 2019): what is already placed decides what can follow, whatever the
//! order it was placed in. So every set of placed steps is looked at once, under [`Limits`].
//!
//! An order that is found is replayed by [`crate::verify_order`]; a history without one is reduced
//! to the transactions that contradict each other.

mod explore;
mod problem;
mod reduce;

use crate::anomaly::{Anomaly, Evidence, Kind};
use crate::check::NO_ORDER_ASSUMED;
use crate::cycles::Level;
use crate::models::{Model, Models, Strongest};
use crate::report::Report;
use crate::verify_order::verify_order;
use crate::weak::{Facts, INITIAL};
use crate::writers::Writers;
use assay_history::{Style, Txns};
use explore::{Answer, Search};
use problem::Problem;
use reduce::reduce;
use serde::Serialize;
use std::sync::atomic::AtomicBool;

/// When the reads and the writes of a transaction take place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum View {
    /// At the same moment: serializability.
    Serial,
    /// The reads first, the writes later, and nobody else writes the same keys in between: snapshot
    /// isolation.
    Snapshot,
    /// The reads first, the writes later: prefix consistency.
    Prefix,
}

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Steps to try at most.
    pub steps_max: u64,
    /// Bytes to remember dead ends in.
    pub bytes_max: usize,
    /// Set from outside when time is up.
    pub stop: &'a AtomicBool,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Searched {
    /// The model that was asked about.
    pub model: Model,
    /// When reads and writes take place in what was found.
    pub view: View,
    /// What was found.
    pub result: SearchResult,
    /// Steps that were tried.
    pub steps: u64,
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchResult {
    /// An order, which keeps this much.
    Order(Level, Vec<Moment>),
    /// There is none: these transactions contradict each other.
    None(Level, Vec<u32>),
    /// The limits were reached first.
    GaveUp,
}

/// A transaction's place in an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// All of it.
    Whole(u32),
    /// Its reads.
    Reads(u32),
    /// Its writes.
    Writes(u32),
}

/// What to look for to prove a model, and how much order it keeps; `None` where no search is known.
pub fn view_of(model: Model) -> Option<(View, Level)> {
    Some(match model {
        Model::Serializable => (View::Serial, Level::Plain),
        Model::StrongSessionSerializable => (View::Serial, Level::Process),
        Model::StrictSerializable => (View::Serial, Level::Realtime),
        Model::SnapshotIsolation => (View::Snapshot, Level::Plain),
        Model::StrongSessionSnapshotIsolation => (View::Snapshot, Level::Process),
        Model::StrongSnapshotIsolation => (View::Snapshot, Level::Realtime),
        Model::Prefix => (View::Prefix, Level::Plain),
        _ => return None,
    })
}

/// Steps per transaction that an attempt under a stricter order than asked for may take: such
/// orders are found at once or not at all.
const STEPS_PER_TXN_FIRST: u64 = 64;

/// Looks for an order that proves `claim`, where `report` leaves it possible and registers do not
/// show the order of their versions. A history without such an order gets one more anomaly; one
/// for which the limits do not suffice is undecided.
///
/// # Errors
/// What is wrong with the order that was found: a bug.
pub fn prove(
    txns: &Txns,
    no_realtime: bool,
    report: &mut Report,
    claim: Model,
    limits: Limits<'_>,
) -> Result<(), String> {
    if txns.style != Style::RwRegister || report.ruled_out.has(claim) {
        return Ok(());
    }
    let writers = Writers::new(txns);
    let facts = Facts::new(txns, &writers);
    let Some(searched) = search(&facts, claim, no_realtime, limits) else { return Ok(()) };
    match &searched.result {
        SearchResult::Order(level, order) => {
            verify_order(txns, searched.view, *level, order)?;
            report.not_covered.retain(|note| note != NO_ORDER_ASSUMED);
        }
        SearchResult::None(level, core) => {
            let kind = Kind::NoOrder(searched.view, *level);
            let read_from = core.iter().flat_map(|&t| facts.reads_of(t)).map(|from| from.writer);
            let mut writers: Vec<u32> =
                read_from.filter(|w| *w != INITIAL && !core.contains(w)).collect();
            writers.sort_unstable();
            writers.dedup();
            let evidence = Evidence::NoOrder { txns: core.clone(), writers };
            report.counts.push((kind, 1));
            report.anomalies.push(Anomaly { kind, evidence });
            report.ruled_out = report.ruled_out.or(Models::ruled_out_by(&[kind]));
            report.strongest = Strongest::of(report.ruled_out);
        }
        SearchResult::GaveUp => report.undecided.push(claim),
    }
    report.searched = Some(searched);
    Ok(())
}

/// An order that keeps more than the model asks for proves it as well and is easier to find, so the
/// strictest are tried first: whole transactions that keep real time, then less and less.
fn search(
    facts: &Facts<'_>,
    model: Model,
    no_realtime: bool,
    limits: Limits<'_>,
) -> Option<Searched> {
    let (asked, wanted) = view_of(model)?;
    let strictest = if no_realtime { Level::Process } else { Level::Realtime };
    if wanted > strictest {
        return None;
    }
    let levels = Level::ALL.into_iter().rev().filter(|&l| wanted <= l && l <= strictest);
    let whole = (asked != View::Serial).then_some((View::Serial, strictest));
    let mut steps = 0;
    for (view, level) in whole.into_iter().chain(levels.map(|level| (asked, level))) {
        let last = (view, level) == (asked, wanted);
        let problem = Problem::new(facts, view, level, None);
        let quick = STEPS_PER_TXN_FIRST * (problem.tasks.len() as u64 + 1_000);
        let left = limits.steps_max.saturating_sub(steps);
        let steps_max = if last { left } else { left.min(quick) };
        let mut search = Search::new(&problem, Limits { steps_max, ..limits });
        let result = match decide(facts, &mut search, &problem, limits) {
            Decision::Order => SearchResult::Order(level, search.order()),
            Decision::Contradiction(core) if last => {
                SearchResult::None(level, reduce(facts, view, level, limits, core))
            }
            Decision::GaveUp if last => SearchResult::GaveUp,
            _ => {
                steps += search.steps;
                continue;
            }
        };
        return Some(Searched { model, view, result, steps: steps + search.steps });
    }
    None
}

enum Decision {
    Order,
    /// These transactions have none.
    Contradiction(Vec<u32>),
    GaveUp,
}

/// Steps beyond one per transaction before something smaller is looked at; doubles each time.
const STEPS_FIRST: u64 = 20_000;
/// Transactions in the first window; doubles while it has an order.
const WINDOW_FIRST: usize = 32;
const WINDOW_MAX: usize = 4_096;

/// Searches, and whenever that takes long, looks whether the transactions around the point where it
/// got stuck contradict each other by themselves: then nothing before them has to be tried again.
fn decide(
    facts: &Facts<'_>,
    search: &mut Search<'_>,
    problem: &Problem,
    limits: Limits<'_>,
) -> Decision {
    let mut allowance = STEPS_FIRST;
    // Placing everything without going back takes a few steps per task.
    let mut until = 8 * problem.tasks.len() as u64 + allowance;
    loop {
        match search.run(until) {
            Answer::Found => return Decision::Order,
            Answer::GaveUp => return Decision::GaveUp,
            Answer::Exhausted => {
                return Decision::Contradiction(search.window(2 * problem.tasks.len()));
            }
            Answer::Paused => {}
        }
        let mut size = WINDOW_FIRST;
        while size <= WINDOW_MAX && size < problem.tasks.len() {
            let window = search.window(size);
            let relaxed = Problem::new(facts, problem.view, problem.level, Some(&window));
            match Search::new(&relaxed, limits).run(allowance) {
                Answer::Exhausted => return Decision::Contradiction(window),
                Answer::Found => size *= 2,
                Answer::Paused | Answer::GaveUp => break,
            }
        }
        allowance *= 2;
        until = search.steps + allowance;
    }
}
