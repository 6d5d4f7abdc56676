//! A final state, indexed by key.

use crate::table::{Row, Table};
use assay_history::{ValueId, View};
use rustc_hash::FxHashMap;

/// What a `final` or `dump` showed.
pub(crate) struct State<'t, 'h> {
    table: &'t Table<'h>,
    pub row: Row<'h>,
    /// Of a map, its values by the name of their key.
    names: FxHashMap<String, ValueId>,
    is_map: bool,
}

impl<'t, 'h> State<'t, 'h> {
    pub fn new(table: &'t Table<'h>, row: Row<'h>) -> State<'t, 'h> {
        let mut names = FxHashMap::default();
        let view = table.values.view(row.output);
        if let View::Map(pairs) = view {
            names.extend(pairs.chunks_exact(2).map(|pair| (table.name(pair[0]), pair[1])));
        }
        State { table, row, names, is_map: matches!(view, View::Map(_)) }
    }

    /// Whether it holds a map by key.
    pub fn by_key(&self) -> bool {
        self.is_map && self.row.key.is_null()
    }

    /// Whether it says anything about a key.
    pub fn covers(&self, key: ValueId) -> bool {
        self.row.key.is_null() || self.row.key == key
    }

    /// The elements it holds for a key; `None` if it says nothing about that key.
    pub fn elements(&self, key: ValueId) -> Option<Vec<ValueId>> {
        if !self.covers(key) {
            return None;
        }
        if !self.by_key() || key.is_null() {
            return self.table.elements(&self.row, key);
        }
        match self.names.get(&self.table.name(key)) {
            None => Some(Vec::new()),
            Some(value) if value.is_null() => Some(Vec::new()),
            // A number under the key is a counter or a register, not a list of elements.
            Some(&value) => self.table.values.as_list(value).map(<[ValueId]>::to_vec),
        }
    }

    /// The value it holds for a key, null if it holds none; `None` if it says nothing about it.
    pub fn value(&self, key: ValueId) -> Option<ValueId> {
        if !self.row.key.is_null() {
            return (self.row.key == key).then_some(self.row.output);
        }
        let found = || self.names.get(&self.table.name(key)).copied();
        self.is_map.then(|| found().unwrap_or(ValueId::NULL))
    }
}
