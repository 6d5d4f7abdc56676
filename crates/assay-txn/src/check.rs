//! From a history to a report.

use crate::anomaly::{Anomaly, Because, Evidence, Kind};
use crate::counters::Counters;
use crate::cycles::{Class, Cycle, Level, cycles_of};
use crate::found::Found;
use crate::graph::{Edges, Graph, Label, NODES_MAX};
use crate::list_append::Lists;
use crate::local::Local;
use crate::models::{Model, Models, Strongest};
use crate::orders::{Moments, Whole, by_issue, process_pairs};
use crate::report::Report;
use crate::rw_register::{Assume, Registers};
use crate::scc::components;
use crate::sets::Sets;
use crate::weak::{self, Facts};
use assay_history::{Order, Outcome, Style, TxnIndex, Txns};

/// How to check.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions {
    /// What may be assumed about the order of versions; registers only.
    pub assume: Assume,
    /// Leave real time out: the recorder's clocks cannot be compared between processes.
    pub no_realtime: bool,
    /// Every write to a register is in the history, so that reading a value nobody wrote is an
    /// anomaly. Assay's own recordings are complete; of others that is not known.
    pub recording_complete: bool,
    /// What may be held besides the history and its graph, which take space in proportion to the
    /// file: to see how far each transaction knew every session, many sessions need much.
    pub bytes_max: usize,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            assume: Assume::default(),
            no_realtime: false,
            recording_complete: false,
            bytes_max: 512 << 20,
        }
    }
}

/// Why a history cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The graph would not fit.
    #[error("too large: {nodes} transactions and versions, but at most {NODES_MAX} can be checked")]
    TooLarge {
        /// What it has.
        nodes: usize,
    },
}

/// Below this many transactions, starting a thread costs more than it saves.
const PARALLEL_TXNS_MIN: usize = 20_000;

/// Finds the anomalies of a history, and which models they leave possible.
///
/// # Errors
/// [`CheckError`] if the history is too large.
pub fn check(txns: &Txns, options: &CheckOptions) -> Result<Report, CheckError> {
    // Of sets and counters there are up to six joints for a micro-operation.
    let joints = if matches!(txns.style, Style::SetAdd | Style::CounterInc) { 6 } else { 4 };
    let nodes = joints * (txns.len() + txns.mop_count());
    if nodes >= NODES_MAX {
        return Err(CheckError::TooLarge { nodes });
    }
    let mut found = Found::default();
    let infer = |found: &mut Found| {
        let mut inferred = Inferred::new(txns, options, found);
        let graph = inferred.graph(txns, options.no_realtime, found);
        (inferred, graph)
    };
    let moments = || (!options.no_realtime).then(|| Moments::new(txns));
    let ((inferred, graph), moments) = if txns.len() < PARALLEL_TXNS_MIN {
        (infer(&mut found), moments())
    } else {
        // Dependencies and real time have nothing to do with each other until they meet.
        std::thread::scope(|scope| {
            let moments = scope.spawn(moments);
            (infer(&mut found), moments.join().expect("it does not panic"))
        })
    };
    let whole = Whole { graph: &graph, moments: moments.as_ref() };
    // One transaction and joints are no cycle: nobody comes before itself.
    let cyclic: Vec<Vec<u32>> =
        components(&whole).into_iter().filter(|nodes| nodes[1] < graph.txns).collect();
    let classified = in_parallel(&cyclic, |nodes| {
        let local = Local::new(&whole, nodes, txns);
        let cycles = cycles_of(&local, levels(options)).into_iter();
        cycles.map(|cycle| (inferred.reasons(&cycle), cycle)).collect::<Vec<_>>()
    });
    for (because, cycle) in classified.into_iter().flatten() {
        let kind = Kind::Cycle(cycle.class, cycle.level);
        found.add(kind, || Evidence::Cycle { cycle, because });
    }
    let cyclic_components = cyclic.len();
    let weak = inferred.weak(txns, options.bytes_max, &mut found);
    let mut report = report(txns, options, &inferred, found, &graph, cyclic_components);
    report.undecided.extend(weak.as_ref().map(|_| Model::Causal));
    report.undecided.extend(options.no_realtime.then_some(Model::StrongReadUncommitted));
    report.not_covered.extend(weak);
    Ok(report)
}

/// Components that are looked at on one thread.
const COMPONENTS_PER_THREAD_MIN: usize = 32;

/// Does the same to all items, on as many threads as are of use; results in the order of the items.
fn in_parallel<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(items.len() / COMPONENTS_PER_THREAD_MIN);
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let work = &work;
    std::thread::scope(|scope| {
        let share = items.len().div_ceil(threads);
        let running: Vec<_> = items
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(work).collect::<Vec<U>>()))
            .collect();
        let done = running.into_iter().map(|thread| thread.join().expect("it does not panic"));
        done.flatten().collect()
    })
}

fn levels(options: &CheckOptions) -> &'static [Level] {
    if options.no_realtime { &Level::ALL[..2] } else { &Level::ALL }
}

/// What was inferred, by style.
enum Inferred<'t> {
    Lists(Lists<'t>),
    Registers(Registers<'t>),
    Sets(Sets<'t>),
    Counters(Counters<'t>),
}

impl<'t> Inferred<'t> {
    fn new(txns: &'t Txns, options: &CheckOptions, found: &mut Found) -> Inferred<'t> {
        match txns.style {
            Style::ListAppend => Inferred::Lists(Lists::new(txns)),
            Style::RwRegister => {
                let complete = options.recording_complete || txns.meta.native;
                Inferred::Registers(Registers::new(txns, options.assume, complete, found))
            }
            Style::SetAdd => Inferred::Sets(Sets::new(txns)),
            Style::CounterInc => {
                Inferred::Counters(Counters::new(txns, options.assume.writes_follow_reads))
            }
        }
    }

    fn graph(&mut self, txns: &Txns, no_realtime: bool, found: &mut Found) -> Graph {
        let mut edges = Edges::default();
        edges.list.reserve(txns.mop_count() + txns.mop_count() / 2);
        let first = txns.len() as u32;
        let nodes = match self {
            Inferred::Lists(lists) => lists.edges(&mut edges, first, found),
            Inferred::Registers(registers) => registers.edges(&mut edges, first, found),
            Inferred::Sets(sets) => sets.edges(&mut edges, first, found),
            Inferred::Counters(counters) => counters.edges(&mut edges, first, found),
        };
        // Real time orders the transactions of a process but for those that touch; records that
        // are ordered by their place never do.
        if no_realtime || txns.meta.order == Order::Timestamps {
            let possible = (0..txns.len() as u32).filter(|&t| txns.may_have_committed(TxnIndex(t)));
            process_pairs(txns, &by_issue(txns, possible.collect()), |before, after| {
                let touch = txns.txn(TxnIndex(before)).end == txns.txn(TxnIndex(after)).start;
                if no_realtime || touch {
                    edges.add(before, after, Label::Process);
                }
            });
        }
        Graph::new(first, nodes as usize, &edges)
    }

    /// Looks for what weak models forbid, where it can be there and is not implied: cycles without
    /// anti-dependencies rule these models out already, and lists without read skew have none of
    /// it. Returns what could not be covered.
    fn weak(&self, txns: &Txns, bytes_max: usize, found: &mut Found) -> Option<String> {
        let has = |wanted: &dyn Fn(Class, Level) -> bool| {
            let cycle = |kind: &Kind| matches!(*kind, Kind::Cycle(c, l) if wanted(c, l));
            found.counts.keys().any(cycle)
        };
        if has(&|class, level| class <= Class::G1c && level == Level::Plain) {
            return None;
        }
        let one_missed = has(&|c, l| c <= Class::GSingle && l <= Level::Process);
        match self {
            Inferred::Lists(_) | Inferred::Sets(_) if !one_missed => None,
            Inferred::Lists(lists) => {
                let facts = Facts::new(txns, &lists.writers);
                weak::check(&facts, &lists.version_steps(), bytes_max, found)
            }
            Inferred::Registers(registers) => {
                weak::check(&Facts::new(txns, &registers.writers), &[], bytes_max, found)
            }
            Inferred::Sets(sets) => {
                sets.views(found);
                None
            }
            // Who is in a sum is not known well enough to speak of views.
            Inferred::Counters(_) => None,
        }
    }

    fn ambiguous(&self) -> usize {
        match self {
            Inferred::Lists(lists) => lists.writers.ambiguous,
            Inferred::Registers(registers) => registers.writers.ambiguous,
            Inferred::Sets(sets) => sets.writers.ambiguous,
            Inferred::Counters(_) => 0,
        }
    }

    /// Reads of values that no recorded transaction wrote.
    fn unwritten_reads(&self) -> usize {
        match self {
            Inferred::Registers(registers) => registers.unwritten_reads,
            _ => 0,
        }
    }

    /// What every step of a cycle rests on.
    fn reasons(&self, cycle: &Cycle) -> Vec<Because> {
        let steps = &cycle.steps;
        let next = steps.iter().cycle().skip(1);
        steps
            .iter()
            .zip(next)
            .map(|(&(a, label), &(b, _))| match label {
                Label::Ww | Label::Wr | Label::Rw => {
                    let because =
                        match self {
                            Inferred::Lists(lists) => {
                                lists.because(a, b, label).map(|(key, first, second)| {
                                    Because::Key { key, first, second, order: Vec::new() }
                                })
                            }
                            Inferred::Registers(registers) => registers.because(a, b, label),
                            Inferred::Sets(sets) => sets.because(a, b, label),
                            Inferred::Counters(counters) => counters.because(a, b, label),
                        };
                    because.expect("every dependency rests on a key")
                }
                _ => Because::Order,
            })
            .collect()
    }
}

/// What depends on the cycle and not on its kind alone: update serializability forbids cycles of
/// transactions of which at most one only reads; prefix consistency those that split the view.
fn also_ruled_out(txns: &Txns, anomalies: &[Anomaly]) -> Vec<Model> {
    let only_reads =
        |&&(t, _): &&(u32, Label)| txns.mops(TxnIndex(t)).iter().all(|mop| mop.written().is_none());
    let mut also = Vec::new();
    for anomaly in anomalies {
        let Evidence::Cycle { cycle, .. } = &anomaly.evidence else { continue };
        let readers = cycle.steps.iter().filter(only_reads).count();
        if cycle.level == Level::Plain && readers < 2 {
            also.push(Model::UpdateSerializable);
        }
        if cycle.level == Level::Plain && breaks_prefix(cycle) {
            also.push(Model::Prefix);
        }
    }
    also
}

/// Whether every anti-dependency follows a read: then not everybody can have seen a prefix of the
/// commits (Cerone and Gotsman 2018).
fn breaks_prefix(cycle: &Cycle) -> bool {
    let steps = &cycle.steps;
    (0..steps.len()).all(|i| {
        let before = steps[(i + steps.len() - 1) % steps.len()].1;
        steps[i].1 != Label::Rw || before == Label::Wr
    })
}

fn report(
    txns: &Txns,
    options: &CheckOptions,
    inferred: &Inferred<'_>,
    found: Found,
    graph: &Graph,
    cyclic_components: usize,
) -> Report {
    let [committed, aborted, unknown] = txns.outcomes();
    let kinds: Vec<Kind> = found.counts.keys().copied().collect();
    let ruled_out = Models::ruled_out(&kinds, &also_ruled_out(txns, &found.kept));
    let mut anomalies: Vec<Anomaly> = found.kept;
    anomalies.sort_by_key(|anomaly| anomaly.kind);
    Report {
        style: txns.style,
        assume: options.assume,
        txns_in: txns.len(),
        committed,
        aborted,
        unknown,
        reads: committed_reads(txns),
        undecided: Vec::new(),
        mops: txns.mop_count(),
        edges: graph.edge_count(),
        cyclic_components,
        counts: found.counts.into_iter().collect(),
        anomalies,
        strongest: Strongest::of(ruled_out),
        ruled_out,
        searched: None,
        not_covered: not_covered(txns, options, inferred),
    }
}

fn committed_reads(txns: &Txns) -> usize {
    let committed = txns.iter().filter(|txn| txn.outcome == Outcome::Ok);
    let reads = |index| txns.mops(index).iter().filter(|mop| mop.written().is_none()).count();
    committed.map(|txn| reads(txn.index)).sum()
}

/// What nothing was concluded about, unless an order is found after all.
pub(crate) const NO_ORDER_ASSUMED: &str =
    "no order of versions was assumed: only the initial version is known to come first";

/// What nothing was concluded about.
fn not_covered(txns: &Txns, options: &CheckOptions, inferred: &Inferred<'_>) -> Vec<String> {
    let mut not_covered = Vec::new();
    if inferred.ambiguous() > 0 {
        not_covered.push(format!(
            "{} values were written more than once to the same key: nothing was concluded from \
             them",
            inferred.ambiguous()
        ));
    }
    if let Some(line) = txns.meta.torn_tail {
        not_covered.push(format!(
            "the last record (line {line}) was cut off, as a killed recorder leaves it, and was \
             dropped"
        ));
    }
    if inferred.unwritten_reads() > 0 {
        not_covered.push(format!(
            "{} reads returned values that no recorded transaction wrote: the recording is \
             incomplete, or the values came out of nowhere; nothing was concluded from them",
            inferred.unwritten_reads()
        ));
    }
    if txns.style == Style::RwRegister && options.assume == Assume::default() {
        not_covered.push(NO_ORDER_ASSUMED.to_string());
    }
    if let Inferred::Counters(counters) = inferred {
        not_covered.extend(counters.not_covered());
    }
    if options.no_realtime {
        not_covered.push("real time was left out".to_string());
    }
    if txns.meta.order == Order::Timestamps && txns.meta.clock != assay_history::Clock::Monotonic {
        not_covered.push(
            "the clock was not declared monotonic: real-time edges trust the timestamps"
                .to_string(),
        );
    }
    not_covered
}
