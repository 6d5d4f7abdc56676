//! The edges of sets in linear size.
//!
//! Who read the first `n` elements of a row comes after the `n` transactions that added them and
//! before all that added the others: as many edges as there are elements, for every read. So, as
//! with real time (`orders`), joints stand for what reads have in common. Where a read of the chain
//! ended, one joint collects all who added what stands before (wr), another leads to all who added
//! what stands behind (rw), and each is linked to the next of its kind.
//!
//! A read that is not in the chain (a long fork) saw several stretches of the row and missed those
//! between them. For it the row gets a tree of joints over halves, quarters and so on, so that
//! every stretch is a few joints: the cost is the number of stretches times the logarithm of the
//! row, never more than the read itself took to write down, but for that logarithm. Nothing is left
//! out.

use super::{Row, Sets};
use crate::graph::{Edges, Label};
use crate::writers::NONE;
use assay_history::{ListId, TxnKey};

/// Hands out the numbers of joints.
struct Numbers {
    next: u32,
}

impl Numbers {
    fn take(&mut self, count: usize) -> u32 {
        let first = self.next;
        self.next += count as u32;
        first
    }
}

/// The joints of a key. A place in the row that no read ended at has none.
#[derive(Default)]
struct Joints {
    /// By place: who added what stands before it leads in.
    before: Vec<u32>,
    /// By place: leads to who added what stands behind it.
    behind: Vec<u32>,
    /// The first joint of the trees; [`NONE`] if nobody needs them.
    trees: u32,
}

impl Sets<'_> {
    /// Adds all dependencies; joints get numbers from `joint` on. Returns the next free number.
    pub(super) fn add_edges(&self, edges: &mut Edges, joint: u32) -> u32 {
        let mut numbers = Numbers { next: joint };
        let mut ends: Vec<Vec<bool>> =
            self.rows.iter().map(|row| vec![false; row.writers.len() + 1]).collect();
        self.for_each_read(|_, key, list| {
            if let Some(len) = list.prefix_len() {
                ends[key.0 as usize][self.known(key, len)] = true;
            }
        });
        let chain = |(row, ends): (&Row, &Vec<bool>)| Joints::chain(row, ends, edges, &mut numbers);
        let mut joints: Vec<Joints> = self.rows.iter().zip(&ends).map(chain).collect();
        self.for_each_read(|t, key, list| {
            let (row, joints) = (&self.rows[key.0 as usize], &mut joints[key.0 as usize]);
            match list.prefix_len() {
                Some(len) => {
                    let at = self.known(key, len);
                    if joints.before[at] != NONE {
                        edges.add(joints.before[at], t, Label::Join);
                    }
                    if joints.behind[at] != NONE {
                        edges.add(t, joints.behind[at], Label::Rw);
                    }
                }
                None => {
                    if joints.trees == NONE {
                        joints.trees = plant(row, edges, &mut numbers);
                    }
                    let stretches = Stretches { row, trees: joints.trees, reader: t, edges };
                    stretches.add(&self.places(key, list));
                }
            }
        });
        numbers.next
    }

    /// The places of a read's elements in their row, ascending.
    fn places(&self, key: TxnKey, list: ListId) -> Vec<u32> {
        let place = |&value| Some(self.writers.get(key, value)?.place).filter(|&p| p != NONE);
        let mut places: Vec<u32> = self.txns.list(key, list).iter().filter_map(place).collect();
        places.sort_unstable();
        places
    }
}

impl Joints {
    fn chain(row: &Row, ends: &[bool], edges: &mut Edges, numbers: &mut Numbers) -> Joints {
        let count = row.writers.len();
        let mut joints =
            Joints { before: vec![NONE; count + 1], behind: vec![NONE; count + 1], trees: NONE };
        let (mut last, mut from) = (NONE, 0);
        for end in (1..=count).filter(|&end| ends[end]) {
            let joint = numbers.take(1);
            row.writers[from..end].iter().for_each(|&w| edges.add(w, joint, Label::Wr));
            if last != NONE {
                edges.add(last, joint, Label::Join);
            }
            joints.before[end] = joint;
            (last, from) = (joint, end);
        }
        let (mut last, mut to) = (NONE, count);
        for end in (0..count).rev().filter(|&end| ends[end]) {
            let joint = numbers.take(1);
            row.writers[end..to].iter().for_each(|&w| edges.add(joint, w, Label::Join));
            if last != NONE {
                edges.add(joint, last, Label::Join);
            }
            joints.behind[end] = joint;
            (last, to) = (joint, end);
        }
        joints
    }
}

/// Two trees over a row of `n`: node `i` has the children `2 i` and `2 i + 1`, and nodes from `n`
/// on are the elements themselves. In the first everything leads to the root, in the second it
/// comes from there. Returns the number of the first joint; element nodes need none.
fn plant(row: &Row, edges: &mut Edges, numbers: &mut Numbers) -> u32 {
    let n = row.writers.len();
    let first = numbers.take(2 * n.saturating_sub(1));
    for node in 1..n {
        let (into, out) = (joint_into(first, node), joint_out(first, n, node));
        for child in [2 * node, 2 * node + 1] {
            if child < n {
                edges.add(joint_into(first, child), into, Label::Join);
                edges.add(out, joint_out(first, n, child), Label::Join);
            } else {
                edges.add(row.writers[child - n], into, Label::Wr);
                edges.add(out, row.writers[child - n], Label::Join);
            }
        }
    }
    first
}

fn joint_into(first: u32, node: usize) -> u32 {
    first + node as u32 - 1
}

fn joint_out(first: u32, n: usize, node: usize) -> u32 {
    first + (n + node) as u32 - 2
}

/// The edges of one read that is not in the chain.
struct Stretches<'a> {
    row: &'a Row,
    trees: u32,
    reader: u32,
    edges: &'a mut Edges,
}

impl Stretches<'_> {
    /// `seen` are the places it saw, ascending.
    fn add(mut self, seen: &[u32]) {
        let mut at = 0;
        for run in seen.chunk_by(|a, b| a + 1 == *b) {
            let (from, to) = (run[0] as usize, run[run.len() - 1] as usize + 1);
            self.stretch(at, from, Label::Rw);
            self.stretch(from, to, Label::Wr);
            at = to;
        }
        self.stretch(at, self.row.writers.len(), Label::Rw);
    }

    /// All places from `from` to before `to` were seen (wr) or missed (rw).
    fn stretch(&mut self, from: usize, to: usize, label: Label) {
        let n = self.row.writers.len();
        let (mut low, mut high) = (from + n, to + n);
        while low < high {
            if low % 2 == 1 {
                self.node(low, label);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.node(high, label);
            }
            (low, high) = (low / 2, high / 2);
        }
    }

    fn node(&mut self, node: usize, label: Label) {
        let (n, t) = (self.row.writers.len(), self.reader);
        match (label, node.checked_sub(n)) {
            (Label::Wr, Some(leaf)) => self.edges.add(self.row.writers[leaf], t, Label::Wr),
            (Label::Wr, None) => self.edges.add(joint_into(self.trees, node), t, Label::Join),
            (_, Some(leaf)) => self.edges.add(t, self.row.writers[leaf], Label::Rw),
            (_, None) => self.edges.add(t, joint_out(self.trees, n, node), Label::Rw),
        }
    }
}
