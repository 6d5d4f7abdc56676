//! Which pending calls need which state, as bits over slots.

use super::plan::Facts;
use super::states::{NO_STATE, StateId};

/// One row of bits for every state that some call needs, and one for the calls that do not say.
pub(super) struct Needed {
    words: usize,
    /// By state: its row. States that nobody needs have the last one, which stays empty.
    rows: Vec<u32>,
    bits: Vec<u64>,
}

/// The row of calls that do not say what they need.
const ANY: u32 = 0;
/// The row of states that nobody needs.
const NOBODY: u32 = 1;

impl Needed {
    pub(super) fn new(facts: &[Facts], words: usize) -> Needed {
        let said = facts.iter().map(|facts| facts.needs).filter(|&needs| needs != NO_STATE);
        let states = said.clone().max().map_or(0, |state| state as usize + 1);
        let mut rows = vec![NOBODY; states];
        let mut next = NOBODY + 1;
        for state in said {
            let row = &mut rows[state as usize];
            if *row == NOBODY {
                *row = next;
                next += 1;
            }
        }
        Needed { words, rows, bits: vec![0; next as usize * words] }
    }

    /// The slots whose calls need this state.
    pub(super) fn of(&self, state: StateId) -> &[u64] {
        self.row(self.rows.get(state as usize).copied().unwrap_or(NOBODY))
    }

    /// The slots whose calls do not say which state they need.
    pub(super) fn of_any(&self) -> &[u64] {
        self.row(ANY)
    }

    pub(super) fn occupy(&mut self, needs: StateId, word: usize, bit: u64) {
        let at = self.at(needs, word);
        self.bits[at] |= bit;
    }

    pub(super) fn vacate(&mut self, needs: StateId, word: usize, bit: u64) {
        let at = self.at(needs, word);
        self.bits[at] &= !bit;
    }

    fn at(&self, needs: StateId, word: usize) -> usize {
        let row = if needs == NO_STATE { ANY } else { self.rows[needs as usize] };
        row as usize * self.words + word
    }

    fn row(&self, row: u32) -> &[u64] {
        let from = row as usize * self.words;
        &self.bits[from..from + self.words]
    }
}
