//! States, each stored once and named by a number.

use crate::model::Model;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// The number of a state.
pub(super) type StateId = u32;
/// What the list and the index of states hold per state, just after they grew.
const STATE_BYTES_EXTRA: usize = 64;
/// No state.
pub(super) const NO_STATE: StateId = u32::MAX;

pub(super) struct States<M: Model> {
    states: Vec<M::State>,
    index: HashTable<StateId>,
    hasher: FxBuildHasher,
    /// What the states hold beyond their own size.
    pub(super) bytes: usize,
}

impl<M: Model> States<M> {
    pub(super) fn new() -> Self {
        States { states: Vec::new(), index: HashTable::new(), hasher: FxBuildHasher, bytes: 0 }
    }

    pub(super) fn get(&self, id: StateId) -> &M::State {
        &self.states[id as usize]
    }

    pub(super) fn intern(&mut self, model: &M, state: M::State) -> StateId {
        let hash = self.hasher.hash_one(&state);
        if let Some(&id) = self.index.find(hash, |&id| self.states[id as usize] == state) {
            return id;
        }
        let id = self.states.len() as StateId;
        assert!(id < NO_STATE, "fewer than 2^32 states");
        self.bytes += model.state_bytes(&state) + STATE_BYTES_EXTRA;
        self.states.push(state);
        let (states, hasher) = (&self.states, &self.hasher);
        self.index.insert_unique(hash, id, |&other| hasher.hash_one(&states[other as usize]));
        id
    }
}
