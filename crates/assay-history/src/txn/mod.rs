//! Transactions: operations that read and write several keys at once.
//!
//! A transactional history is a table too, but its cells are lists of micro-operations, and what
//! its reads return is mostly the same lists over and over again: a list that is only appended to
//! is read as a longer and longer prefix of itself. So [`Txns`] keeps, for every key, the longest
//! list seen (its *trunk*), and a read that saw a prefix of it costs eight bytes, however long the
//! list is. A million transactions take about a hundred bytes each.
//!
//! ```
//! use assay_history::{Does, ReadOptions, Style, TxnIndex, read_txns};
//! let log = "\
//! {:process 0, :type :invoke, :f :txn, :value [[:append :x 1] [:r :x nil]]}
//! {:process 0, :type :ok, :f :txn, :value [[:append :x 1] [:r :x [1]]]}
//! ";
//! let txns = read_txns(log.as_bytes(), &ReadOptions::default(), Style::ListAppend)?;
//! let mop = txns.mops(TxnIndex(0))[1];
//! let Does::ReadList(list) = mop.does() else { panic!("the second micro-operation reads") };
//! assert_eq!(txns.list(mop.key(), list).len(), 1);
//! # Ok::<(), assay_history::ReadError>(())
//! ```

mod build;
mod from_history;
mod mop;
mod sets;

pub use build::{MopIn, TxnsBuilder};
pub(crate) use from_history::{MopKind, bad_mop};
pub use mop::{Does, ListId, Mop};

use crate::history::{Meta, NEVER, Names, Outcome};
use crate::lines::RecordLines;
use crate::value::{ValueId, Values};
use serde::Serialize;

/// The place of a transaction in its history, from 0, in the order of invocation records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub struct TxnIndex(pub u32);

/// A key that transactions touch, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TxnKey(pub u32);

/// What the micro-operations of a history are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// `append` adds to the end of a list, `r` reads the whole list.
    ListAppend,
    /// `w` replaces a value, `r` reads it.
    RwRegister,
    /// `add` adds an element to a set, `r` reads the whole set; order means nothing.
    SetAdd,
    /// `inc` adds a positive number to a counter, `r` reads it; null is 0.
    CounterInc,
}

impl Style {
    /// All of them.
    pub const ALL: [Style; 4] =
        [Style::ListAppend, Style::RwRegister, Style::SetAdd, Style::CounterInc];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Style::ListAppend => "list-append",
            Style::RwRegister => "rw-register",
            Style::SetAdd => "set-add",
            Style::CounterInc => "counter-inc",
        }
    }

    /// Whether a read returns several values.
    pub(crate) fn reads_lists(self) -> bool {
        matches!(self, Style::ListAppend | Style::SetAdd)
    }
}

/// The most micro-operations that one history can hold.
pub const MOPS_MAX: usize = u32::MAX as usize - 1;

/// A transaction as the table holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Txn {
    /// Its place.
    pub index: TxnIndex,
    /// Who issued it, numbered from 0.
    pub process: u32,
    /// When it began, in this history's order.
    pub start: i64,
    /// When it ended; [`NEVER`] unless it is known to have committed or aborted.
    pub end: i64,
    /// Committed, aborted, or nobody knows.
    pub outcome: Outcome,
}

/// A transactional history. Built by a reader or a [`TxnsBuilder`]; never changed afterwards.
#[derive(Clone, Debug)]
pub struct Txns {
    /// What the micro-operations are.
    pub style: Style,
    /// All values.
    pub values: Values,
    /// What the history says about itself.
    pub meta: Meta,
    pub(crate) processes: Names,
    pub(crate) keys: Names,
    pub(crate) process: Vec<u32>,
    pub(crate) start: Vec<i64>,
    pub(crate) end: Vec<i64>,
    pub(crate) outcome: Vec<Outcome>,
    /// Record numbers of invocation and completion, for messages.
    pub(crate) records: Vec<[u32; 2]>,
    pub(crate) mop_first: Vec<u32>,
    pub(crate) mop_count: Vec<u32>,
    pub(crate) mops: Vec<Mop>,
    /// By key: the longest list seen.
    pub(crate) trunks: Vec<Vec<ValueId>>,
    /// Lists that were no prefix of their key's trunk, as ranges of `odd_items`.
    pub(crate) odd_lists: Vec<(u32, u32)>,
    pub(crate) odd_items: Vec<ValueId>,
    pub(crate) record_lines: RecordLines,
}

impl Txns {
    /// How many transactions there are, committed or not.
    pub fn len(&self) -> usize {
        self.process.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.process.is_empty()
    }

    /// One transaction.
    #[inline]
    pub fn txn(&self, index: TxnIndex) -> Txn {
        let i = index.0 as usize;
        Txn {
            index,
            process: self.process[i],
            start: self.start[i],
            end: self.end[i],
            outcome: self.outcome[i],
        }
    }

    /// All transactions, in the order of their invocation records.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Txn> + '_ {
        (0..self.len()).map(|i| self.txn(TxnIndex(i as u32)))
    }

    /// What a transaction did, in its order.
    #[inline]
    pub fn mops(&self, index: TxnIndex) -> &[Mop] {
        let first = self.mop_first[index.0 as usize] as usize;
        &self.mops[first..first + self.mop_count[index.0 as usize] as usize]
    }

    /// Micro-operations of all transactions.
    pub fn mop_count(&self) -> usize {
        self.mops.len()
    }

    /// How many keys there are.
    pub fn key_count(&self) -> usize {
        self.keys.values.len()
    }

    /// The key's name.
    pub fn key(&self, key: TxnKey) -> ValueId {
        self.keys.values[key.0 as usize]
    }

    /// How many processes there are.
    pub fn process_count(&self) -> usize {
        self.processes.values.len()
    }

    /// The process's name.
    pub fn process(&self, process: u32) -> ValueId {
        self.processes.values[process as usize]
    }

    /// The list that a read of `key` saw.
    #[inline]
    pub fn list(&self, key: TxnKey, list: ListId) -> &[ValueId] {
        match list.odd() {
            None => &self.trunks[key.0 as usize][..list.len_of_prefix()],
            Some(i) => {
                let (first, len) = self.odd_lists[i];
                &self.odd_items[first as usize..(first + len) as usize]
            }
        }
    }

    /// The longest list seen of a key, or the first such.
    pub fn trunk(&self, key: TxnKey) -> &[ValueId] {
        &self.trunks[key.0 as usize]
    }

    /// Whether any read saw a list that is no prefix of its key's trunk.
    pub fn has_odd_lists(&self) -> bool {
        !self.odd_lists.is_empty()
    }

    /// The lines of the invocation and, if there is one, of the completion.
    pub fn lines(&self, index: TxnIndex) -> (u64, Option<u64>) {
        let [invoked, completed] = self.records[index.0 as usize];
        let line = |at: u32| u64::from(self.record_lines.get(at).unwrap_or(at));
        (line(invoked), (completed != u32::MAX).then(|| line(completed)))
    }

    /// Whether a transaction may have committed, and by when it must have: [`NEVER`] if it need
    /// not.
    #[inline]
    pub fn may_have_committed(&self, index: TxnIndex) -> bool {
        self.outcome[index.0 as usize] != Outcome::Fail
    }

    /// How many transactions have each outcome: committed, aborted, unknown.
    pub fn outcomes(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for outcome in &self.outcome {
            counts[match outcome {
                Outcome::Ok => 0,
                Outcome::Fail => 1,
                Outcome::Unknown => 2,
            }] += 1;
        }
        counts
    }

    /// The end of a committed transaction; `None` for others.
    pub fn committed_at(&self, index: TxnIndex) -> Option<i64> {
        let txn = self.txn(index);
        (txn.outcome == Outcome::Ok && txn.end != NEVER).then_some(txn.end)
    }
}
