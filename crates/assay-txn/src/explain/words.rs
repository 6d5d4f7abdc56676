//! The words for sets and counters.

use super::Teller;
use crate::anomaly::{Kind, VersionStep};
use crate::graph::Label;
use assay_history::{TxnIndex, TxnKey, ValueId};

impl Teller<'_> {
    /// A step between transactions that rests on one element.
    pub(super) fn set_step(
        &self,
        (a, b): (u32, u32),
        label: Label,
        key: TxnKey,
        element: ValueId,
    ) -> (String, String) {
        let (a, b, key) = (self.name(a), self.name(b), self.key(key));
        let element = self.txns.values.show(element).to_string();
        match label {
            Label::Rw => (
                format!("{key}: without {element}"),
                format!(
                    "{a} read {key} without {element}, which {b} added, so {a} came before {b}."
                ),
            ),
            _ => (
                format!("{key}: {element}"),
                format!("{a} added {element} to {key}, and {b} saw it, so {a} came before {b}."),
            ),
        }
    }

    /// A step between transactions that rests on a sum. Of the two values, one is what the reader
    /// saw, the other what the one who incremented saw of its own move (null if it did not look).
    pub(super) fn counter_step(
        &self,
        (a, b): (u32, u32),
        label: Label,
        key: TxnKey,
        [first, second]: [ValueId; 2],
        order: &[VersionStep],
    ) -> (String, String) {
        let (writer, reader) = if label == Label::Rw { (b, a) } else { (a, b) };
        let (pinned, read) = if label == Label::Rw { (second, first) } else { (first, second) };
        let (a, b, k) = (self.name(a), self.name(b), self.key(key));
        let (w, r) = (self.name(writer), self.name(reader));
        let (sum, added) = (self.sum(read), self.added(writer, key));
        let so = format!("so {a} came before {b}");
        let by = match (order.is_empty(), pinned.is_null()) {
            (false, _) => format!("had read {} and then added {added}", self.sum(pinned)),
            (true, false) => format!("added {added} and then read {}", self.sum(pinned)),
            (true, true) => format!("added {added}"),
        };
        let why = match (label, order.is_empty() && pinned.is_null()) {
            (Label::Rw, true) => "which is too little to hold that",
            (_, true) => "which no other increments make",
            (Label::Rw, false) => "a smaller sum than it left",
            (_, false) => "at least what it left",
        };
        let not = if label == Label::Rw { "without" } else { "with" };
        (
            format!("{k}: {sum} {not} +{added}"),
            format!("{w} {by} in {k}, and {r} read {sum}, {why}, {so}."),
        )
    }

    /// A single read of a set or a counter that cannot be.
    pub(super) fn odd_read(
        &self,
        kind: Kind,
        reader: u32,
        key: TxnKey,
        value: ValueId,
        writer: Option<u32>,
    ) -> Option<String> {
        let (reader, k) = (self.name(reader), self.key(key));
        let writer_name = writer.map(|writer| self.name(writer));
        let value_text = self.txns.values.show(value).to_string();
        Some(match (self.txns.style, kind, writer_name) {
            (assay_history::Style::SetAdd, Kind::G1b, Some(writer)) => format!(
                "{reader} saw {value_text} in {k}, which {writer} added, and not all of what \
                 {writer} added there."
            ),
            (assay_history::Style::CounterInc, kind, writer_name) => {
                let saw = format!("{reader} read {} in {k}", self.sum(value));
                match (kind, writer_name) {
                    (Kind::G1b, Some(writer)) => {
                        format!("{saw}, a sum that {writer} passed over and never committed.")
                    }
                    (Kind::G1a, Some(writer)) => format!(
                        "{saw}, more than all increments that may have committed; {writer} aborted."
                    ),
                    _ => format!("{saw}, which no increments make."),
                }
            }
            _ => return None,
        })
    }

    /// Who moved a counter over the same value.
    pub(super) fn lost_increments(&self, key: TxnKey, txns: &[u32]) -> String {
        let told: Vec<String> = txns
            .iter()
            .map(|&t| format!("{} added {}", self.name(t), self.added(t, key)))
            .collect();
        format!(
            "in {}, {} and then saw sums that overlap: one of them did not count the other.",
            self.key(key),
            told.join(", ")
        )
    }

    /// A counter's value; it begins with 0.
    fn sum(&self, value: ValueId) -> String {
        if value.is_null() { "0".into() } else { self.txns.values.show(value).to_string() }
    }

    fn added(&self, t: u32, key: TxnKey) -> String {
        let mops = self.txns.mops(TxnIndex(t)).iter().filter(|mop| mop.key() == key);
        let added: Vec<String> =
            mops.filter_map(|mop| mop.written()).map(|v| self.sum(v)).collect();
        added.join(" and ")
    }
}
