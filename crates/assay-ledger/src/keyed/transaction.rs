//! What is collected before it is written.

use super::{KeyRange, Order, Pair, Store, StoreError, Writes, check_size};

/// Changes that are not written yet, and a store to read what they do not cover.
pub struct Transaction<'a> {
    store: &'a mut dyn Store,
    writes: Writes,
    /// What stood in `writes` before each change, to take changes back.
    undo: Vec<(String, Option<Option<Vec<u8>>>)>,
}

/// A moment to go back to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Savepoint(usize);

impl<'a> Transaction<'a> {
    /// With nothing collected.
    pub fn new(store: &'a mut dyn Store) -> Transaction<'a> {
        Transaction { store, writes: Writes::new(), undo: Vec::new() }
    }

    /// What will stand at a key.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self.writes.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.store.get(key),
        }
    }

    /// The first pairs of a range, as they will stand.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        if range.from >= range.to {
            return Ok(Vec::new());
        }
        let own = self.writes.range(range.from.clone()..range.to.clone());
        let own: Vec<(String, Option<Vec<u8>>)> =
            own.map(|(key, value)| (key.clone(), value.clone())).collect();
        // Each of our own may hide one of the store's.
        let stored = self.store.scan(range, limit.saturating_add(own.len()))?;
        let mut merged: Vec<Pair> =
            stored.into_iter().filter(|(key, _)| !self.writes.contains_key(key)).collect();
        merged.extend(own.into_iter().filter_map(|(key, value)| Some((key, value?))));
        merged.sort_by(|a, b| match range.order {
            Order::Ascending => a.0.cmp(&b.0),
            Order::Descending => b.0.cmp(&a.0),
        });
        merged.truncate(limit);
        Ok(merged)
    }

    /// Lets a value stand at a key.
    pub fn put(&mut self, key: String, value: Vec<u8>) {
        self.change(key, Some(value));
    }

    /// Takes a key away.
    pub fn delete(&mut self, key: String) {
        self.change(key, None);
    }

    fn change(&mut self, key: String, value: Option<Vec<u8>>) {
        let before = self.writes.insert(key.clone(), value);
        self.undo.push((key, before));
    }

    /// This moment.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.undo.len())
    }

    /// Whether what was changed since then has sizes that a store takes. A commit says so, too, but
    /// then about everything that was collected.
    ///
    /// # Errors
    /// With the first key or value that no store takes.
    pub fn check_since(&self, savepoint: Savepoint) -> Result<(), StoreError> {
        let changed = self.undo.iter().skip(savepoint.0);
        let mut stands = changed.filter_map(|(key, _)| self.writes.get_key_value(key));
        stands.try_for_each(|(key, value)| check_size(key, value.as_deref()))
    }

    /// Forgets what was changed since then.
    pub fn roll_back(&mut self, to: Savepoint) {
        for (key, before) in self.undo.drain(to.0.min(self.undo.len())..).rev() {
            match before {
                Some(before) => drop(self.writes.insert(key, before)),
                None => drop(self.writes.remove(&key)),
            }
        }
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Those of [`Store::commit`].
    pub fn commit(self) -> Result<(), StoreError> {
        self.store.commit(&self.writes)
    }
}
