//! What has to be put in order.

use super::View;
use crate::cycles::Level;
use crate::weak::{Facts, INITIAL};
use assay_history::{NEVER, Outcome, TxnIndex, TxnKey};
use rustc_hash::FxHashMap;

/// Somebody's read of a version that nobody had written.
pub(super) const NOBODY: u32 = u32::MAX;

/// A transaction that has a place in every order.
#[derive(Clone, Debug, Default)]
pub(super) struct Task {
    pub(super) txn: u32,
    pub(super) start: i64,
    /// [`NEVER`] if nobody knows.
    pub(super) end: i64,
    /// Who comes before it in its session.
    pub(super) after: Option<u32>,
    /// Its session, from 0.
    pub(super) chain: u32,
    /// Key and writer of what it read from others.
    pub(super) reads: Vec<(u32, u32)>,
    pub(super) writes: Vec<u32>,
    /// Whether its reads and writes are steps of their own.
    pub(super) split: bool,
}

/// Tasks, and what is known of their order.
pub(super) struct Problem {
    pub(super) view: View,
    pub(super) level: Level,
    pub(super) tasks: Vec<Task>,
    pub(super) keys: usize,
    pub(super) chains: usize,
}

impl Problem {
    /// The problem of all transactions that committed and of those they read from; or, if `core` is
    /// given, of these and those they read from. What is left out can only make it easier: reads
    /// are forgotten, and writes that nobody reads.
    pub(super) fn new(
        facts: &Facts<'_>,
        view: View,
        level: Level,
        core: Option<&[u32]>,
    ) -> Problem {
        let committed = |&t: &u32| facts.txns().txn(TxnIndex(t)).outcome == Outcome::Ok;
        let core: Vec<u32> = match core {
            Some(core) => core.to_vec(),
            None => (0..facts.txns().len() as u32).filter(committed).collect(),
        };
        let mut tasks: Vec<Task> = Vec::with_capacity(core.len());
        let mut local: FxHashMap<u32, u32> = FxHashMap::default();
        let mut enlist = |t: u32, tasks: &mut Vec<Task>| {
            *local.entry(t).or_insert_with(|| {
                let txn = facts.txns().txn(TxnIndex(t));
                let end = if txn.outcome == Outcome::Ok { txn.end } else { NEVER };
                tasks.push(Task { txn: t, start: txn.start, end, ..Task::default() });
                tasks.len() as u32 - 1
            })
        };
        core.iter().for_each(|&t| _ = enlist(t, &mut tasks));
        let mut keys: FxHashMap<TxnKey, u32> = FxHashMap::default();
        let mut number = |key: TxnKey| {
            let next = keys.len() as u32;
            *keys.entry(key).or_insert(next)
        };
        for place in 0..core.len() {
            let mut reads: Vec<(u32, u32)> = Vec::new();
            for from in facts.reads_of(core[place]) {
                let writer = match from.writer {
                    INITIAL => NOBODY,
                    writer => enlist(writer, &mut tasks),
                };
                reads.push((number(from.key), writer));
            }
            reads.sort_unstable();
            reads.dedup();
            tasks[place].reads = reads;
        }
        for task in &mut tasks {
            task.writes = facts.keys_of(task.txn).iter().map(|&key| number(key)).collect();
            let both = !task.reads.is_empty() && !task.writes.is_empty();
            task.split = view != View::Serial && both;
        }
        let mut problem = Problem { view, level, tasks, keys: keys.len(), chains: 0 };
        problem.chain(facts, &local);
        problem
    }

    /// Puts each task behind its session's last one.
    fn chain(&mut self, facts: &Facts<'_>, local: &FxHashMap<u32, u32>) {
        let mut chained = vec![false; self.tasks.len()];
        let mut chains = 0;
        if self.level != Level::Plain {
            for session in facts.sessions() {
                let mut last = None;
                for &t in session.iter().filter_map(|t| local.get(t)) {
                    let task = &mut self.tasks[t as usize];
                    (task.after, task.chain) = (last, chains);
                    chained[t as usize] = true;
                    last = Some(t);
                }
                chains += u32::from(last.is_some());
            }
            for (after, before) in facts.before_unknown() {
                if let (Some(&after), Some(&before)) = (local.get(&after), local.get(&before)) {
                    self.tasks[after as usize].after = Some(before);
                }
            }
        }
        for (task, chained) in self.tasks.iter_mut().zip(chained) {
            if !chained {
                task.chain = chains;
                chains += 1;
            }
        }
        self.chains = chains as usize;
    }
}
