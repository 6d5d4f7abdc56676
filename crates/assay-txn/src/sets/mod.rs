//! Sets that only grow: a read shows which elements were there, and nothing of their order.
//!
//! An element is added to a key once, so a read names the transactions it saw, and those it did
//! not. Two kinds of edges follow, and both hold whatever the database keeps inside:
//!
//! - **wr**: a committed read that holds `e` comes after the transaction that added `e`. Nobody
//!   else can have put it there.
//! - **rw**: a committed read without `e` comes before every transaction that added `e` and is
//!   known to have committed. Sets only grow: had it come after, `e` would be there.
//!
//! **No ww.** Adya's order of versions is an order of those who wrote the same item. If a read
//! holds `a` and lacks `b`, then who added `a` came before that read and that read before who added
//! `b`: the order is there already, as wr and rw. A ww edge of its own would claim more: that the
//! database installs whole sets, one after the other. Adds commute, and a database that keeps
//! elements as rows or merges them orders no two of them; there, two keys that were read in
//! opposite orders are a long fork, which weak models allow, and would be called a dirty write
//! (G0), which no model does. So each element is its own item, written once, absent before. Every
//! wr and rw edge is also one (with ww steps beside it) where whole sets are installed, so what is
//! ruled out here is ruled out there; G0 is never reported, and of G-nonadjacent what rests on the
//! order of adds alone is missed. For serializability nothing is missed: a history without
//! anomalies has an order that explains every read.
//!
//! Without any cycle: reading an element of an aborted transaction (G1a) or of nobody (phantom),
//! part of what one transaction added to the key (G1b: a set between two versions), and
//! contradictions inside a transaction (internal): its own adds missing or seen too early, an
//! element gone that it had seen.
//!
//! `joints` keeps the graph linear, `reads` looks at single reads, `views` decides the models that
//! speak of views.

mod joints;
mod reads;
mod views;

use crate::anomaly::Because;
use crate::found::Found;
use crate::graph::{Edges, Label};
use crate::writers::{NONE, Writers};
use assay_history::{Does, ListId, Mop, Outcome, TxnIndex, TxnKey, Txns, ValueId};

/// What transactions added to sets and saw of them.
pub(crate) struct Sets<'t> {
    txns: &'t Txns,
    pub(crate) writers: Writers,
    /// By key.
    rows: Vec<Row>,
    /// By transaction: whether it committed. It said so, or somebody saw what it added.
    committed: Vec<bool>,
}

/// The elements of a key that certainly were added, and by whom: first those of the trunk in its
/// order, then the others. The place of an element is noted in [`Writers`].
#[derive(Default, Debug)]
struct Row {
    writers: Vec<u32>,
    /// By length of a beginning of the trunk: how many of its elements stand in the row.
    known: Vec<u32>,
    /// The first element of the trunk that is not in the row.
    first_odd: u32,
}

impl<'t> Sets<'t> {
    pub(crate) fn new(txns: &'t Txns) -> Sets<'t> {
        let mut sets =
            Sets { txns, writers: Writers::new(txns), rows: Vec::new(), committed: Vec::new() };
        sets.committed = txns.iter().map(|txn| txn.outcome == Outcome::Ok).collect();
        sets.note_observed();
        sets.lay_out();
        sets
    }

    /// Adds all dependencies; joints get numbers from `joint` on. Returns the next free number.
    pub(crate) fn edges(&self, edges: &mut Edges, joint: u32, found: &mut Found) -> u32 {
        self.look_at_reads(found);
        self.add_edges(edges, joint)
    }

    /// Every read of a committed transaction.
    fn for_each_read(&self, mut visit: impl FnMut(u32, TxnKey, ListId)) {
        for txn in self.txns.iter().filter(|txn| txn.outcome == Outcome::Ok) {
            for mop in self.txns.mops(txn.index) {
                if let Does::ReadList(list) = mop.does() {
                    visit(txn.index.0, mop.key(), list);
                }
            }
        }
    }

    /// Who added what a committed transaction saw has committed.
    fn note_observed(&mut self) {
        let mut longest = vec![0usize; self.txns.key_count()];
        let mut apart = Vec::new();
        self.for_each_read(|_, key, list| match list.prefix_len() {
            Some(len) => longest[key.0 as usize] = longest[key.0 as usize].max(len),
            None => apart.push((key, list)),
        });
        let trunks = longest.iter().zip(0..).map(|(&len, key)| (key, len));
        let seen = trunks.map(|(key, len)| (TxnKey(key), &self.txns.trunk(TxnKey(key))[..len]));
        let apart = apart.into_iter().map(|(key, list)| (key, self.txns.list(key, list)));
        for (key, list) in seen.chain(apart) {
            for &value in list {
                if let Some(writer) = self.writers.get(key, value).and_then(|w| w.by()) {
                    self.committed[writer as usize] = true;
                }
            }
        }
    }

    /// Gives every element whose writer is known and committed its place in the row of its key.
    fn lay_out(&mut self) {
        for key in (0..self.txns.key_count() as u32).map(TxnKey) {
            let (mut row, trunk) = (Row::default(), self.txns.trunk(key));
            row.known.reserve(trunk.len() + 1);
            row.known.push(0);
            row.first_odd = NONE;
            for (i, &value) in trunk.iter().enumerate() {
                if !self.place(key, value, &mut row) {
                    row.first_odd = row.first_odd.min(i as u32);
                }
                row.known.push(row.writers.len() as u32);
            }
            self.rows.push(row);
        }
        let mut rest = Vec::new();
        self.for_each_read(|_, key, list| {
            if list.odd().is_some() {
                rest.extend(self.txns.list(key, list).iter().map(|&value| (key, value)));
            }
        });
        for t in (0..self.txns.len() as u32).filter(|&t| self.committed[t as usize]) {
            let adds = self.txns.mops(TxnIndex(t)).iter();
            rest.extend(adds.filter_map(|mop| mop.written().map(|value| (mop.key(), value))));
        }
        let mut rows = std::mem::take(&mut self.rows);
        for (key, value) in rest {
            self.place(key, value, &mut rows[key.0 as usize]);
        }
        self.rows = rows;
    }

    /// Puts an element at the end of a row, if it belongs there and has no place yet.
    fn place(&mut self, key: TxnKey, value: ValueId, row: &mut Row) -> bool {
        let Some(slot) = self.writers.slot(key, value) else { return false };
        let written = &mut self.writers.written[slot.0 as usize];
        match written.by() {
            Some(writer) if written.place == NONE && self.committed[writer as usize] => {
                written.place = row.writers.len() as u32;
                row.writers.push(writer);
                true
            }
            _ => false,
        }
    }

    /// How many elements of the row a beginning of the trunk holds.
    fn known(&self, key: TxnKey, len: usize) -> usize {
        self.rows[key.0 as usize].known[len] as usize
    }

    fn adds(&self, t: u32) -> impl Iterator<Item = (TxnKey, ValueId)> + '_ {
        let mops = self.txns.mops(TxnIndex(t)).iter();
        let known = move |key, value| self.writers.get(key, value).and_then(|w| w.by()) == Some(t);
        mops.filter_map(|mop: &Mop| mop.written().map(|value| (mop.key(), value)))
            .filter(move |&(key, value)| known(key, value))
    }

    /// What an edge between two transactions rests on: an element that one added, and the other
    /// saw or did not see.
    pub(crate) fn because(&self, a: u32, b: u32, label: Label) -> Option<Because> {
        let (writer, reader) = if label == Label::Wr { (a, b) } else { (b, a) };
        for mop in self.txns.mops(TxnIndex(reader)) {
            let (key, Does::ReadList(list)) = (mop.key(), mop.does()) else { continue };
            let list = self.txns.list(key, list);
            let wanted =
                |&(k, e): &(TxnKey, ValueId)| k == key && list.contains(&e) == (label == Label::Wr);
            if let Some((_, second)) = self.adds(writer).find(wanted) {
                let first = if label == Label::Wr { second } else { ValueId::NULL };
                return Some(Because::Key { key, first, second, order: Vec::new() });
            }
        }
        None
    }
}
