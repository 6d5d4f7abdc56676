//! Which pending call to place next: what is tried first decides how fast an order is found.

use super::explore::{Choice, NO_CALL, Search};
use super::states::{NO_STATE, StateId};
use crate::model::{Effect, Model};

/// How many calls are looked at to see whether a state is still wanted, or can still be had elsewhere.
const LOOK_AHEAD_CALLS: usize = 8;

impl<M: Model> Search<'_, M> {
    /// Appends what can be done now that `due` returns without a place, the most promising first.
    pub(super) fn offer(&mut self, due: u32, choices: &mut Vec<Choice>) {
        let first = choices.len();
        let mut ranked: Vec<(u8, u32, Choice)> = Vec::with_capacity(8);
        let facts = self.plan.facts[due as usize];
        let wanted = facts.leaves != NO_STATE && self.is_wanted_from(facts.leaves, due);
        let (word, bit) = self.bit(facts.slot);
        if self.absorbable[word] & bit != 0 {
            let rank = if wanted { 2 } else { 0 };
            ranked.push((rank, facts.returns_at, Choice { call: due, absorb: true }));
        }
        self.keep_best_of_each_class();
        for slot in 0..self.slot_call.len() {
            let Some(call) = self.offered_at(slot) else { continue };
            let Some(next) = self.step(call) else { continue };
            let of = self.plan.facts[call as usize];
            let unchanged = next == self.state;
            // Leaving out an optional call that changes nothing loses nothing; an overwrite that
            // changes nothing may hide where it is.
            if unchanged && call != due && (!of.required || of.effect == Effect::Overwrite) {
                continue;
            }
            let rank = if call == due {
                if self.absorbable[word] & bit != 0 && !wanted { 2 } else { 0 }
            } else if unchanged {
                0
            } else if facts.needs == next {
                1
            } else if of.needs == self.state && !self.is_supplied_until(of.needs, of.returns_at) {
                // Legal now, and perhaps never again once the state moves on.
                0
            } else {
                3
            };
            ranked.push((rank, of.returns_at, Choice { call, absorb: false }));
        }
        ranked
            .sort_unstable_by_key(|&(rank, returns_at, choice)| (rank, returns_at, choice.absorb));
        choices.extend(ranked.into_iter().map(|(_, _, choice)| choice));
        debug_assert!(choices.len() >= first);
        self.forget_best_of_each_class();
    }

    /// The call in a slot, if it is pending, changes states, and is the first of its class.
    fn offered_at(&self, slot: usize) -> Option<u32> {
        let call = self.slot_call[slot];
        if call == NO_CALL {
            return None;
        }
        let facts = self.plan.facts[call as usize];
        let pending = self.done[slot / 64] & (1 << (slot % 64)) == 0;
        let first = self.class_best[facts.class as usize] == call;
        (pending && facts.effect != Effect::Observe && first).then_some(call)
    }

    /// Notes, for each class, the pending call that returns first (the first invoked, if none must).
    fn keep_best_of_each_class(&mut self) {
        for slot in 0..self.slot_call.len() {
            let call = self.slot_call[slot];
            if call == NO_CALL || self.done[slot / 64] & (1 << (slot % 64)) != 0 {
                continue;
            }
            let of = |call: u32| {
                let facts = self.plan.facts[call as usize];
                (facts.returns_at, facts.invoked_at)
            };
            let class = self.plan.facts[call as usize].class as usize;
            let best = self.class_best[class];
            if best == NO_CALL || of(call) < of(best) {
                self.class_best[class] = call;
            }
        }
    }

    fn forget_best_of_each_class(&mut self) {
        for &call in &self.slot_call {
            if call != NO_CALL {
                self.class_best[self.plan.facts[call as usize].class as usize] = NO_CALL;
            }
        }
    }

    /// Whether some later call needs `state`, and only `supplier` can still bring it about.
    fn is_wanted_from(&self, state: StateId, supplier: u32) -> bool {
        if state == self.state {
            return false;
        }
        let Some(demand) = self.plan.demand.get(&state) else { return false };
        let due = demand
            .partition_point(|&c| (self.plan.facts[c as usize].returns_at as usize) < self.event);
        let next = demand[due..].iter().take(LOOK_AHEAD_CALLS).find(|&&c| !self.is_placed(c));
        let Some(&next) = next else { return false };
        let until = self.plan.facts[next as usize].returns_at;
        !self.is_supplied(state, until, supplier)
    }

    /// Whether some overwrite can still bring `state` about before event `until`.
    fn is_supplied_until(&self, state: StateId, until: u32) -> bool {
        self.is_supplied(state, until, NO_CALL)
    }

    fn is_supplied(&self, state: StateId, until: u32, except: u32) -> bool {
        let Some(supply) = self.plan.supply.get(&state) else { return false };
        let live = supply
            .partition_point(|&c| (self.plan.facts[c as usize].returns_at as usize) < self.event);
        supply[live..].iter().take(LOOK_AHEAD_CALLS).any(|&c| {
            c != except && self.plan.facts[c as usize].invoked_at < until && !self.is_placed(c)
        })
    }

    /// Whether a call that has not returned yet is already placed.
    fn is_placed(&self, call: u32) -> bool {
        let facts = self.plan.facts[call as usize];
        let (word, bit) = self.bit(facts.slot);
        (facts.invoked_at as usize) < self.event && self.done[word] & bit != 0
    }
}
