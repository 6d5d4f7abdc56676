//! Operations by column, with every text kept once.

use crate::clean;
use crate::timeline::Outcome;
use std::collections::HashMap;

/// Longer inputs and outputs are cut: the history has them whole.
pub(super) const VALUE_CELLS_MAX: usize = 200;
/// Longer names of processes, keys, nodes, epochs and operation types are cut.
pub(super) const NAME_CELLS_MAX: usize = 80;
/// Numbers in a browser are exact up to here; in nanoseconds that is 104 days.
pub(super) const TIME_NS_MAX: u64 = (1 << 53) - 1;
/// Stands for "no end".
pub(super) const OPEN: u64 = u64::MAX;

/// One operation on its way into an [`OpTable`]. Every text is untrusted and may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpRow<'a> {
    /// Who did it.
    pub process: &'a str,
    /// When it was sent, from the start of the trial.
    pub start_ns: u64,
    /// When its answer came, or when the client gave up; `None` if neither is known.
    pub end_ns: Option<u64>,
    /// How long before it was sent it should have been; where that is known, latency counts from
    /// the schedule, so that a stalled system cannot hide behind clients that wait for it.
    pub late_ns: Option<u64>,
    /// What is known about its effect.
    pub outcome: Outcome,
    /// The type of operation, such as `write`.
    pub kind: &'a str,
    /// The key it addressed.
    pub key: &'a str,
    /// The node it went to.
    pub node: &'a str,
    /// The fault epoch it fell into.
    pub epoch: &'a str,
    /// What was sent.
    pub input: &'a str,
    /// What came back, or the error.
    pub output: &'a str,
}

/// Operations by column. All columns have the same length, because only [`OpTable::push`] adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpTable {
    pub(super) start_ns: Vec<u64>,
    pub(super) end_ns: Vec<u64>,
    pub(super) late_ns: Vec<u64>,
    /// Whether at least one operation says when it should have been sent.
    pub(super) from_schedule: bool,
    pub(super) outcome: Vec<Outcome>,
    pub(super) process: TextColumn,
    pub(super) kind: TextColumn,
    pub(super) key: TextColumn,
    pub(super) node: TextColumn,
    pub(super) epoch: TextColumn,
    pub(super) input: TextColumn,
    pub(super) output: TextColumn,
}

impl OpTable {
    /// Adds an operation and gives its number, counted from 0. An end before the start counts as
    /// an end at the start.
    pub fn push(&mut self, row: &OpRow<'_>) -> usize {
        let start = row.start_ns.min(TIME_NS_MAX);
        let end = row.end_ns.map_or(OPEN, |end| end.clamp(start, TIME_NS_MAX));
        self.start_ns.push(start);
        self.end_ns.push(end);
        self.late_ns.push(row.late_ns.unwrap_or(0).min(TIME_NS_MAX));
        self.from_schedule |= row.late_ns.is_some();
        self.outcome.push(row.outcome);
        self.process.push(row.process, NAME_CELLS_MAX);
        self.kind.push(row.kind, NAME_CELLS_MAX);
        self.key.push(row.key, NAME_CELLS_MAX);
        self.node.push(row.node, NAME_CELLS_MAX);
        self.epoch.push(row.epoch, NAME_CELLS_MAX);
        self.input.push(row.input, VALUE_CELLS_MAX);
        self.output.push(row.output, VALUE_CELLS_MAX);
        self.start_ns.len() - 1
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.start_ns.is_empty()
    }

    /// How many ended in `outcome`.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.outcome.iter().filter(|each| **each == outcome).count()
    }
}

/// A column of texts: a number for each row, and each text once.
#[derive(Clone, Debug, Default)]
pub(super) struct TextColumn {
    pub(super) ids: Vec<u32>,
    /// Fit for a page: on one line, and not too long.
    pub(super) texts: Vec<String>,
    known: HashMap<Box<str>, u32>,
}

impl PartialEq for TextColumn {
    fn eq(&self, other: &TextColumn) -> bool {
        (&self.ids, &self.texts) == (&other.ids, &other.texts)
    }
}

impl Eq for TextColumn {}

impl TextColumn {
    fn push(&mut self, text: &str, cells_max: usize) {
        // What follows this prefix is cut in any case, and must not be kept as a key either.
        let bytes_max = cells_max * 16;
        let text = &text[..text.floor_char_boundary(bytes_max.min(text.len()))];
        let id = match self.known.get(text) {
            Some(id) => *id,
            None => {
                let id = u32::try_from(self.texts.len()).expect("fewer texts than operations");
                self.texts.push(clean::line(text, cells_max));
                self.known.insert(text.into(), id);
                id
            }
        };
        self.ids.push(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_once_and_made_harmless() {
        let mut table = OpTable::default();
        for key in ["x", "y", "x", "a\nb\u{202e}"] {
            table.push(&OpRow { key, ..OpRow::default() });
        }
        assert_eq!(table.key.ids, [0, 1, 0, 2]);
        assert_eq!(table.key.texts, ["x", "y", "a\\nb\\u{202e}"]);
    }

    #[test]
    fn times_stay_within_what_a_browser_can_count() {
        let mut table = OpTable::default();
        table.push(&OpRow { start_ns: 9, end_ns: Some(3), ..OpRow::default() });
        table.push(&OpRow { start_ns: u64::MAX, end_ns: Some(u64::MAX), ..OpRow::default() });
        table.push(&OpRow::default());
        assert_eq!(table.end_ns, [9, TIME_NS_MAX, OPEN]);
        assert!(!table.from_schedule);
    }

    #[test]
    fn a_huge_text_is_cut() {
        let mut table = OpTable::default();
        table.push(&OpRow { input: &"ü".repeat(1 << 20), ..OpRow::default() });
        assert!(table.input.texts[0].chars().count() <= VALUE_CELLS_MAX);
        assert!(table.input.known.keys().all(|key| key.len() <= VALUE_CELLS_MAX * 16));
    }
}
