//! Who wrote which value of which key, where values are written once: what session oracles fall
//! back on when the system gives no versions.

use crate::table::{FINAL, READ, RECONNECT, REMOVE, Row, Table, WRITE};
use assay_history::{OpIndex, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The writers of a history.
pub(crate) struct Registers {
    /// The only operation that may have written a value of a key, or `None` if there are several.
    writers: FxHashMap<(ValueId, ValueId), Option<OpIndex>>,
    /// Keys that other kinds of operations change: values say nothing there.
    strange: FxHashSet<ValueId>,
    /// Keys that may have become null again.
    nulled: FxHashSet<ValueId>,
}

/// The value an operation writes if it takes effect.
pub(crate) fn written(table: &Table<'_>, row: &Row<'_>) -> Option<ValueId> {
    match row.verb {
        _ if row.is(WRITE) => Some(row.input),
        "cas" if row.output != ValueId::FALSE => table.items(row.input).get(1).copied(),
        _ => None,
    }
}

impl Registers {
    pub fn new(table: &Table<'_>) -> Registers {
        let mut registers = Registers {
            writers: FxHashMap::default(),
            strange: FxHashSet::default(),
            nulled: FxHashSet::default(),
        };
        for row in table.rows.iter().filter(|row| row.possible()) {
            if let Some(value) = written(table, row) {
                let writer = registers.writers.entry((row.key, value)).or_insert(Some(row.index));
                if *writer != Some(row.index) {
                    *writer = None;
                }
                if value.is_null() {
                    registers.nulled.insert(row.key);
                }
            } else if row.is(REMOVE) {
                registers.nulled.insert(row.key);
            } else if !row.is(READ) && !row.is(FINAL) && !row.is(RECONNECT) && row.verb != "cas" {
                registers.strange.insert(row.key);
            }
        }
        registers
    }

    /// Whether values of this key come from writes alone.
    pub fn plain(&self, key: ValueId) -> bool {
        !self.strange.contains(&key)
    }

    /// Whether null can only be the initial value.
    pub fn null_is_initial(&self, key: ValueId) -> bool {
        self.plain(key) && !self.nulled.contains(&key)
    }

    /// The one operation that may have written this value.
    pub fn writer(&self, key: ValueId, value: ValueId) -> Option<OpIndex> {
        self.writers.get(&(key, value)).copied().flatten()
    }

    /// Whether nobody may have written this value.
    pub fn unwritten(&self, key: ValueId, value: ValueId) -> bool {
        self.plain(key) && !value.is_null() && !self.writers.contains_key(&(key, value))
    }
}
