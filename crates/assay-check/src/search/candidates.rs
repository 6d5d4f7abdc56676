//! Which pending call to place next: what is tried first decides how fast an order is found, and
//! what need not be tried at all decides how fast there is seen to be none.

use super::explore::{Choice, NO_CALL, Search};
use super::plan::Facts;
use super::states::{NO_STATE, StateId};
use crate::model::{Effect, Model};

/// How many calls are looked at to see whether a state is still wanted, or can still be had
/// elsewhere.
const LOOK_AHEAD_CALLS: usize = 8;

/// The most promising first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Hide the due call: nobody needs the state it would leave.
    HideUnwanted,
    /// Serve whom only this call can serve, before the state moves on.
    Finish,
    /// Place the due call itself.
    Due,
    /// Bring about the state that the due call needs.
    Supply,
    /// Hide the due call although its state is wanted, or place it although it is not.
    Unlikely,
    /// Anything else that is legal.
    Rest,
}

impl<M: Model> Search<'_, M> {
    /// Appends what can be done now that `due` returns without a place, the most promising first.
    pub(super) fn offer(&mut self, due: u32, choices: &mut Vec<Choice>) {
        let facts = self.plan.facts[due as usize];
        let (word, bit) = self.bit(facts.slot);
        let hides = self.absorbable[word] & bit != 0;
        let wanted = facts.leaves != NO_STATE && self.is_wanted_from(facts.leaves, due);
        let mut ranked = std::mem::take(&mut self.ranked);
        if hides {
            let rank = if wanted { Rank::Unlikely } else { Rank::HideUnwanted };
            ranked.push((rank as u8, 0, Choice { call: due, absorb: true }));
        }
        self.find_candidates();
        let candidates = std::mem::take(&mut self.candidates);
        for &call in &candidates {
            if self.class_best[self.plan.facts[call as usize].class as usize] != call {
                continue;
            }
            if call == due && hides && !self.is_ever_needed(facts.leaves) {
                continue;
            }
            let Some(next) = self.step(call) else { continue };
            let Some(rank) = self.rank(call, next, due, hides && !wanted) else { continue };
            let returns_at = self.plan.facts[call as usize].returns_at;
            let urgency = self.guess(call).unwrap_or(i64::from(returns_at));
            ranked.push((rank as u8, urgency, Choice { call, absorb: false }));
        }
        for &call in &candidates {
            self.class_best[self.plan.facts[call as usize].class as usize] = NO_CALL;
        }
        self.candidates = candidates;
        ranked.sort_unstable_by_key(|&(rank, urgency, choice)| (rank, urgency, choice.call));
        choices.extend(ranked.drain(..).map(|(_, _, choice)| choice));
        self.ranked = ranked;
    }

    /// How promising it is to place `call` now; `None` if that can never be needed.
    fn rank(&self, call: u32, next: StateId, due: u32, unwanted: bool) -> Option<Rank> {
        let (facts, due_facts) = (self.plan.facts[call as usize], self.plan.facts[due as usize]);
        if call == due {
            return Some(if unwanted { Rank::Unlikely } else { Rank::Due });
        }
        if next == self.state {
            // Leaving out an optional call that changes nothing loses nothing, and an overwrite
            // that changes nothing may hide where it is. But others may hide before an overwrite.
            return match facts.effect {
                Effect::Overwrite => self.lets_others_hide(facts.slot).then_some(Rank::Rest),
                _ => facts.required.then_some(Rank::Finish),
            };
        }
        if due_facts.needs == next {
            return Some(Rank::Supply);
        }
        if let (Some(guess), Some(due_guess)) = (self.guess(call), self.guess(due)) {
            return Some(if guess < due_guess { Rank::Finish } else { Rank::Rest });
        }
        let supplies = due_facts.needs == NO_STATE
            && due_facts.effect != Effect::Overwrite
            && self.follows(next, due)
            && !self.follows(self.state, due);
        if supplies {
            return Some(Rank::Supply);
        }
        if facts.effect == Effect::Overwrite {
            // Whoever does not need its state now will not miss it: it can hide before the next
            // overwrite, or be placed when its state is needed.
            if !self.is_needed_by_pending(facts.leaves) {
                return None;
            }
            return Some(if self.is_finished_by(call) { Rank::Finish } else { Rank::Rest });
        }
        let last_chance = facts.needs == self.state
            && facts.required
            && !self.is_supplied(facts.needs, facts.returns_at, NO_CALL);
        Some(if last_chance { Rank::Finish } else { Rank::Rest })
    }

    /// Whether an overwrite in `slot` would be the first to let some pending overwrite hide.
    fn lets_others_hide(&self, slot: u32) -> bool {
        let (own_word, own_bit) = self.bit(slot);
        (0..self.done.len()).any(|word| {
            let own = if word == own_word { own_bit } else { 0 };
            let exposed = self.active[word] & self.hideable[word] & !self.absorbable[word];
            exposed & !self.done[word] & !own != 0
        })
    }

    fn guess(&self, call: u32) -> Option<i64> {
        self.plan.guesses.get(call as usize).copied().flatten()
    }

    /// Whether a call is legal in a state.
    fn follows(&self, state: StateId, call: u32) -> bool {
        let op = &self.plan.calls[call as usize].op;
        self.model.step(self.states.get(state), op).is_some()
    }

    /// Whether some pending call needs `state`, or does not say which one it needs.
    fn is_needed_by_pending(&self, state: StateId) -> bool {
        let needed = self.needed.of(state);
        (0..self.done.len()).any(|word| {
            let needs = needed[word] | (self.needed.of_any()[word] & !self.overwrites[word]);
            needs & self.active[word] & !self.done[word] != 0
        })
    }

    /// Collects the pending calls that could change the state, and for each class the one that
    /// returns first (the first invoked, if none must).
    ///
    /// An optional call that needs another state than the one there is cannot be placed, or changes
    /// nothing and can be left out. There may be hundreds of those: calls of unknown outcome stay
    /// pending to the end.
    fn find_candidates(&mut self) {
        self.candidates.clear();
        let anything_goes = self.state == self.any_state;
        for word in 0..self.done.len() {
            let mut pending = self.active[word] & !self.done[word] & !self.observers[word];
            if !anything_goes {
                let fits = self.needed.of(self.state)[word] | self.needed.of_any()[word];
                pending &= fits | self.required[word];
            }
            while pending != 0 {
                let call = self.slot_call[word * 64 + pending.trailing_zeros() as usize];
                pending &= pending - 1;
                self.candidates.push(call);
                let facts = self.plan.facts[call as usize];
                let urgency = |facts: Facts| (facts.returns_at, facts.invoked_at);
                let best = self.class_best[facts.class as usize];
                if best == NO_CALL || urgency(facts) < urgency(self.plan.facts[best as usize]) {
                    self.class_best[facts.class as usize] = call;
                }
            }
        }
    }

    /// The required calls that need a state and have not returned yet, the next to return first.
    fn demand(&self, state: StateId) -> &[u32] {
        let all = self.plan.demand.get(&state).map_or(&[][..], |list| list);
        let past = |&c: &u32| (self.plan.facts[c as usize].returns_at as usize) < self.event;
        &all[all.partition_point(past)..]
    }

    /// Whether any call, now or later, can make use of a state.
    fn is_ever_needed(&self, state: StateId) -> bool {
        self.plan.needs_unknown
            || self.plan.optional_needs.contains(&state)
            || self.demand(state).iter().any(|&c| !self.is_placed(c))
    }

    /// Whether some later call needs `state`, and only `supplier` can still bring it about.
    fn is_wanted_from(&self, state: StateId, supplier: u32) -> bool {
        if state == self.state {
            return false;
        }
        let demand = self.demand(state);
        match demand.iter().take(LOOK_AHEAD_CALLS).find(|&&c| !self.is_placed(c)) {
            Some(&next) => {
                !self.is_supplied(state, self.plan.facts[next as usize].returns_at, supplier)
            }
            None => false,
        }
    }

    /// Whether placing this overwrite now serves pending calls and leaves nothing for it to do
    /// later: whoever else needs its state can get it elsewhere.
    fn is_finished_by(&self, call: u32) -> bool {
        let state = self.plan.facts[call as usize].leaves;
        let mut serves = false;
        for &c in self.demand(state).iter().take(LOOK_AHEAD_CALLS) {
            let facts = self.plan.facts[c as usize];
            if self.is_placed(c) {
                continue;
            }
            let pending = (facts.invoked_at as usize) < self.event;
            if pending && facts.effect == Effect::Observe {
                serves = true;
            } else if !self.is_supplied(state, facts.returns_at, call) {
                return false;
            } else if !pending {
                break;
            }
        }
        serves
    }

    /// Whether some call (but not `except`) can still bring `state` about before event `until`.
    fn is_supplied(&self, state: StateId, until: u32, except: u32) -> bool {
        let Some(supply) = self.plan.supply.get(&state) else { return false };
        let past = |&c: &u32| (self.plan.facts[c as usize].returns_at as usize) < self.event;
        let live = &supply[supply.partition_point(past)..];
        // The next to return, and the optional ones, which never have to and stand at the end.
        let ends = live.iter().take(LOOK_AHEAD_CALLS);
        let optional = live.iter().rev().take(LOOK_AHEAD_CALLS);
        ends.chain(optional).any(|&c| {
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
