//! What a search knows before it starts: events in time order, slots, classes, who needs what.

use super::states::{NO_STATE, StateId, States};
use crate::model::{Call, Effect, Model, Problem};
use rustc_hash::{FxHashMap, FxHashSet};

/// An invocation or a return, and whose.
#[derive(Clone, Copy)]
pub(super) struct Event(u32);

impl Event {
    pub(super) fn call(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(super) fn is_return(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What the search needs to know of one call.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// The bit that stands for the call while it is pending.
    pub(super) slot: u32,
    /// Calls with equal operations have the same class.
    pub(super) class: u32,
    pub(super) effect: Effect,
    pub(super) required: bool,
    /// The only state the call is legal in.
    pub(super) needs: StateId,
    /// The state an overwrite leaves behind.
    pub(super) leaves: StateId,
    /// The state that another call leaves behind if it finds the one it needs.
    pub(super) swaps_in: StateId,
    /// The event at which it is invoked.
    pub(super) invoked_at: u32,
    /// The event at which it returns; `u32::MAX` if it need not.
    pub(super) returns_at: u32,
}

pub(super) struct Plan<'p, Op> {
    /// The calls that matter, by start.
    pub(super) calls: Vec<&'p Call<Op>>,
    pub(super) facts: Vec<Facts>,
    pub(super) events: Vec<Event>,
    pub(super) slots: usize,
    pub(super) classes: usize,
    /// By state: the required calls that need it, by return.
    pub(super) demand: FxHashMap<StateId, Vec<u32>>,
    /// By state: the calls that can bring it about, by return.
    pub(super) supply: FxHashMap<StateId, Vec<u32>>,
    /// The states that optional calls need.
    pub(super) optional_needs: FxHashSet<StateId>,
    /// By call: the model's guess at its place; empty if it has none.
    pub(super) guesses: Vec<Option<i64>>,
    /// Some call that is no overwrite does not say which state it needs.
    pub(super) needs_unknown: bool,
}

impl<'p, Op> Plan<'p, Op> {
    pub(super) fn new<M: Model<Op = Op>>(
        model: &M,
        problem: &'p Problem<Op>,
        states: &mut States<M>,
    ) -> Plan<'p, Op> {
        // An optional call that only observes says nothing.
        let informative =
            |call: &&Call<Op>| call.required || model.effect(&call.op) != Effect::Observe;
        let mut calls: Vec<&Call<Op>> = problem.calls.iter().filter(informative).collect();
        if !calls.is_sorted_by_key(|call| call.start) {
            calls.sort_by_key(|call| call.start);
        }
        let events = events_of(&calls);
        let (facts, classes) = facts_of(model, &calls, states);
        let guesses = model.guesses(&calls);
        let mut plan = Plan {
            calls,
            facts,
            events,
            slots: 0,
            classes,
            demand: FxHashMap::default(),
            supply: FxHashMap::default(),
            optional_needs: FxHashSet::default(),
            guesses,
            needs_unknown: false,
        };
        plan.assign_slots();
        plan.index_states();
        plan
    }

    pub(super) fn time_of(&self, event: usize) -> i64 {
        match self.events.get(event) {
            Some(event) if event.is_return() => self.calls[event.call()].end,
            Some(event) => self.calls[event.call()].start,
            None => i64::MAX,
        }
    }

    fn assign_slots(&mut self) {
        let mut free: Vec<u32> = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            let facts = &mut self.facts[event.call()];
            if event.is_return() {
                facts.returns_at = at as u32;
                free.push(facts.slot);
                continue;
            }
            facts.invoked_at = at as u32;
            facts.slot = free.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots as u32 - 1
            });
        }
    }

    fn index_states(&mut self) {
        for (i, facts) in self.facts.iter().enumerate() {
            if facts.required && facts.needs != NO_STATE {
                self.demand.entry(facts.needs).or_default().push(i as u32);
            }
            if !facts.required && facts.needs != NO_STATE {
                self.optional_needs.insert(facts.needs);
            }
            self.needs_unknown |= facts.needs == NO_STATE && facts.effect != Effect::Overwrite;
            let supplied = if facts.leaves != NO_STATE { facts.leaves } else { facts.swaps_in };
            if supplied != NO_STATE {
                self.supply.entry(supplied).or_default().push(i as u32);
            }
        }
        for list in self.demand.values_mut().chain(self.supply.values_mut()) {
            list.sort_by_key(|&i| self.facts[i as usize].returns_at);
        }
    }
}

/// Invocations and returns by time. At the same time invocations come first: calls that touch
/// overlap.
fn events_of<Op>(calls: &[&Call<Op>]) -> Vec<Event> {
    let mut returns: Vec<u32> =
        (0..calls.len() as u32).filter(|&i| calls[i as usize].required).collect();
    returns.sort_by_key(|&i| calls[i as usize].end);
    let mut events = Vec::with_capacity(calls.len() + returns.len());
    let mut returns = returns.into_iter().peekable();
    for (i, call) in calls.iter().enumerate() {
        while let Some(done) = returns.next_if(|&r| calls[r as usize].end < call.start) {
            events.push(Event(done << 1 | 1));
        }
        events.push(Event((i as u32) << 1));
    }
    events.extend(returns.map(|done| Event(done << 1 | 1)));
    events
}

fn facts_of<M: Model>(
    model: &M,
    calls: &[&Call<M::Op>],
    states: &mut States<M>,
) -> (Vec<Facts>, usize) {
    let mut classes: FxHashMap<&M::Op, u32> = FxHashMap::default();
    let some_state = model.initial();
    let facts = calls
        .iter()
        .map(|call| {
            let next = classes.len() as u32;
            let effect = model.effect(&call.op);
            let leaves = (effect == Effect::Overwrite)
                .then(|| model.step(&some_state, &call.op))
                .flatten()
                .map_or(NO_STATE, |state| states.intern(model, state));
            let needs = model.needs(&call.op);
            let swaps_in = needs
                .as_ref()
                .filter(|_| effect == Effect::Update)
                .and_then(|needs| model.step(needs, &call.op))
                .map_or(NO_STATE, |state| states.intern(model, state));
            Facts {
                slot: 0,
                class: *classes.entry(&call.op).or_insert(next),
                effect,
                required: call.required,
                needs: needs.map_or(NO_STATE, |s| states.intern(model, s)),
                leaves,
                swaps_in,
                invoked_at: 0,
                returns_at: u32::MAX,
            }
        })
        .collect();
    (facts, classes.len())
}
