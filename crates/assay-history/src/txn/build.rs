//! Putting a transactional history together, transaction by transaction.

use super::mop::KEYS_MAX;
use super::sets::Levels;
use super::{Does, ListId, MOPS_MAX, Mop, Style, TxnIndex, Txns};
use crate::history::{Meta, NEVER, Names, OPS_MAX, Outcome};
use crate::lines::RecordLines;
use crate::value::{ValueId, Values};
use rustc_hash::FxHashSet;

/// A micro-operation on its way in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MopIn<'a> {
    /// Append this value to the key's list, or add it to its set or counter.
    Append(ValueId, ValueId),
    /// Write this value to the key.
    Write(ValueId, ValueId),
    /// Read the key and saw this list.
    ReadList(ValueId, &'a [ValueId]),
    /// Read the key and saw this value.
    ReadValue(ValueId, ValueId),
    /// Reads the key; nobody knows what it saw.
    ReadUnknown(ValueId),
}

/// Builds [`Txns`].
#[derive(Debug)]
pub struct TxnsBuilder {
    txns: Txns,
    /// Of sets only.
    levels: Levels,
}

impl TxnsBuilder {
    /// An empty history.
    pub fn new(style: Style) -> TxnsBuilder {
        TxnsBuilder {
            txns: Txns {
                style,
                values: Values::new(),
                meta: Meta::default(),
                processes: Names::default(),
                keys: Names::default(),
                process: Vec::new(),
                start: Vec::new(),
                end: Vec::new(),
                outcome: Vec::new(),
                records: Vec::new(),
                mop_first: Vec::new(),
                mop_count: Vec::new(),
                mops: Vec::new(),
                trunks: Vec::new(),
                odd_lists: Vec::new(),
                odd_items: Vec::new(),
                record_lines: RecordLines::default(),
            },
            levels: Levels::default(),
        }
    }

    /// The pool that this history's values live in.
    pub fn values(&mut self) -> &mut Values {
        &mut self.txns.values
    }

    /// What the history says about itself.
    pub fn meta(&mut self) -> &mut Meta {
        &mut self.txns.meta
    }

    /// How many transactions have been invoked.
    pub fn len(&self) -> usize {
        self.txns.len()
    }

    /// Whether none has been invoked.
    pub fn is_empty(&self) -> bool {
        self.txns.is_empty()
    }

    /// Adds a transaction whose outcome is unknown until [`TxnsBuilder::complete`] says otherwise.
    pub fn invoke(&mut self, process: ValueId, start: i64, record: u32) -> TxnIndex {
        let txns = &mut self.txns;
        let index = txns.process.len();
        assert!(index < OPS_MAX, "a history holds fewer than 2^32 transactions");
        txns.process.push(txns.processes.intern(process));
        txns.start.push(start);
        txns.end.push(NEVER);
        txns.outcome.push(Outcome::Unknown);
        txns.records.push([record, u32::MAX]);
        txns.mop_first.push(0);
        txns.mop_count.push(0);
        TxnIndex(index as u32)
    }

    /// Says how a transaction ended; its micro-operations follow by [`TxnsBuilder::mop`].
    pub fn complete(&mut self, txn: TxnIndex, outcome: Outcome, end: Option<i64>, record: u32) {
        let (i, txns) = (txn.0 as usize, &mut self.txns);
        txns.outcome[i] = outcome;
        txns.end[i] = if outcome == Outcome::Unknown { NEVER } else { end.unwrap_or(NEVER) };
        txns.records[i][1] = record;
    }

    /// Adds a micro-operation to a transaction; all of one transaction come in a row.
    ///
    /// # Errors
    /// If the history has too many keys or micro-operations.
    #[inline]
    pub fn mop(&mut self, txn: TxnIndex, mop: MopIn<'_>) -> Result<(), String> {
        let key = match mop {
            MopIn::Append(key, _)
            | MopIn::Write(key, _)
            | MopIn::ReadList(key, _)
            | MopIn::ReadValue(key, _)
            | MopIn::ReadUnknown(key) => self.txns.keys.intern(key),
        };
        if key >= KEYS_MAX || self.txns.mops.len() >= MOPS_MAX {
            return Err(format!(
                "a history holds at most {KEYS_MAX} keys and {MOPS_MAX} micro-operations"
            ));
        }
        let does = match mop {
            MopIn::Append(_, value) => Does::Append(value),
            MopIn::Write(_, value) => Does::Write(value),
            MopIn::ReadList(_, list) => Does::ReadList(self.keep(key, list)),
            MopIn::ReadValue(_, value) => Does::ReadValue(value),
            MopIn::ReadUnknown(_) => Does::ReadUnknown,
        };
        let i = txn.0 as usize;
        if self.txns.mop_count[i] == 0 {
            self.txns.mop_first[i] = self.txns.mops.len() as u32;
        }
        self.txns.mop_count[i] += 1;
        self.txns.mops.push(Mop::new(key, does));
        Ok(())
    }

    /// Finds a list among the prefixes of its key's trunk, lets the trunk grow, or keeps it apart.
    #[inline]
    fn keep(&mut self, key: u32, list: &[ValueId]) -> ListId {
        let txns = &mut self.txns;
        if txns.trunks.len() <= key as usize {
            txns.trunks.resize_with(key as usize + 1, Vec::new);
        }
        let trunk = &mut txns.trunks[key as usize];
        if txns.style == Style::SetAdd {
            return match self.levels.keep(key, trunk, list) {
                Some(length) => ListId::prefix(length),
                None => self.keep_apart(&each_once(list)),
            };
        }
        let common = trunk.len().min(list.len());
        if trunk[..common] == list[..common] {
            trunk.extend_from_slice(&list[common..]);
            return ListId::prefix(list.len());
        }
        self.keep_apart(list)
    }

    fn keep_apart(&mut self, list: &[ValueId]) -> ListId {
        let txns = &mut self.txns;
        let first = u32::try_from(txns.odd_items.len()).expect("fewer than 2^32 odd items");
        txns.odd_items.extend_from_slice(list);
        txns.odd_lists.push((first, list.len() as u32));
        ListId::odd_at(txns.odd_lists.len() - 1)
    }

    /// Notes the line of the next record, for formats whose records are not lines.
    pub(crate) fn record_line(&mut self, line: u32) {
        self.txns.record_lines.push(line);
    }

    /// The finished history.
    pub fn finish(mut self) -> Txns {
        let txns = &mut self.txns;
        txns.trunks.resize_with(txns.keys.values.len(), Vec::new);
        self.txns
    }
}

/// A set may name an element twice, and has it once.
fn each_once(list: &[ValueId]) -> Vec<ValueId> {
    let mut seen = FxHashSet::default();
    list.iter().copied().filter(|&value| seen.insert(value)).collect()
}
