//! The search itself: depth first, one configuration at a time, resumable.

use super::needed::Needed;
use super::plan::{Event, Plan};
use super::states::{NO_STATE, StateId, States};
use super::table::Table;
use crate::budget::Budget;
use crate::model::{Effect, Model, Problem, Start};

pub(super) const NO_CALL: u32 = u32::MAX;

/// How a run of the search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// An order was found.
    Found,
    /// There is none.
    Exhausted,
    /// The round's allowance is used up; the search can go on.
    Paused,
    /// The whole check's budget is used up.
    OutOfBudget,
}

/// The furthest point that some order reached.
#[derive(Clone, Copy)]
pub(super) struct Furthest {
    pub(super) event: usize,
    pub(super) time: i64,
    pub(super) calls: usize,
    pub(super) open: usize,
}

/// What to do with a pending call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Choice {
    pub(super) call: u32,
    /// Hide it before an overwrite that was placed while it was pending, instead of placing it
    /// now.
    pub(super) absorb: bool,
}

struct Frame {
    event: u32,
    state: StateId,
    first_choice: u32,
    next_choice: u32,
}

/// Bits over slots.
pub(super) type Mask = Vec<u64>;

pub(super) struct Search<'a, M: Model> {
    pub(super) model: &'a M,
    pub(super) plan: Plan<'a, M::Op>,
    pub(super) states: States<M>,
    budget: &'a Budget,
    table: Table<'a>,
    words: usize,
    // The configuration: where we are, what is placed, what may hide, what the state is.
    pub(super) event: usize,
    pub(super) state: StateId,
    pub(super) done: Mask,
    pub(super) absorbable: Mask,
    /// The state that stands for all states, if that is where the search begins.
    pub(super) any_state: StateId,
    // Determined by `event` alone: which slots are pending, by whom, and of which kind.
    pub(super) active: Mask,
    pub(super) observers: Mask,
    pub(super) overwrites: Mask,
    pub(super) required: Mask,
    pub(super) hideable: Mask,
    pub(super) needed: Needed,
    pub(super) slot_call: Vec<u32>,
    frames: Vec<Frame>,
    frame_masks: Vec<u64>,
    choices: Vec<Choice>,
    // Scratch space of `candidates`.
    pub(super) class_best: Vec<u32>,
    pub(super) candidates: Vec<u32>,
    pub(super) ranked: Vec<(u8, i64, Choice)>,
    key: Vec<u64>,
    furthest_event: usize,
    charged: usize,
}

impl<'a, M: Model> Search<'a, M> {
    pub(super) fn new(model: &'a M, problem: &'a Problem<M::Op>, budget: &'a Budget) -> Self {
        let mut states = States::new();
        let start = match problem.start {
            Start::Initial => model.initial(),
            Start::Any => model.any_state().expect("windows need a model with any_state"),
        };
        let state = states.intern(model, start);
        let any_state = if problem.start == Start::Any { state } else { NO_STATE };
        let plan = Plan::new(model, problem, &mut states);
        let words = plan.slots.div_ceil(64).max(1);
        Search {
            model,
            states,
            budget,
            table: Table::new(1 + 2 * words, budget),
            words,
            event: 0,
            state,
            done: vec![0; words],
            absorbable: vec![0; words],
            active: vec![0; words],
            observers: vec![0; words],
            overwrites: vec![0; words],
            required: vec![0; words],
            hideable: vec![0; words],
            needed: Needed::new(&plan.facts, words),
            any_state,
            slot_call: vec![NO_CALL; plan.slots],
            frames: Vec::new(),
            frame_masks: Vec::new(),
            choices: Vec::new(),
            class_best: vec![NO_CALL; plan.classes],
            candidates: Vec::new(),
            ranked: Vec::new(),
            key: Vec::new(),
            furthest_event: 0,
            charged: 0,
            plan,
        }
    }

    /// Searches on until an answer or until about `configurations` more were visited.
    pub(super) fn run(&mut self, configurations: u64) -> Step {
        const CHECK_EVERY: u64 = 256;
        let mut visited = 0;
        loop {
            if self.advance() {
                self.budget.visit(visited % CHECK_EVERY);
                return Step::Found;
            }
            visited += 1;
            if visited % CHECK_EVERY == 0 {
                self.budget.visit(CHECK_EVERY);
                if self.budget.is_spent() || !self.charge() {
                    return Step::OutOfBudget;
                }
            }
            let choices_before = self.choices.len();
            if self.is_new() {
                self.push_choices();
            }
            match self.choices.len() - choices_before {
                0 => {
                    if !self.backtrack() {
                        self.budget.visit(visited % CHECK_EVERY);
                        return Step::Exhausted;
                    }
                }
                1 => {
                    let only = self.choices.pop().expect("there is one");
                    self.take(only);
                }
                _ => self.branch(choices_before),
            }
            if visited >= configurations {
                return Step::Paused;
            }
        }
    }

    /// The furthest point any order reached.
    pub(super) fn furthest(&self) -> Furthest {
        let event = self.furthest_event;
        let before = &self.plan.events[..event];
        let returned = before.iter().filter(|e| e.is_return()).count();
        let invoked = before.len() - returned;
        let time = self.plan.time_of(event);
        Furthest { event, time, calls: returned, open: invoked - returned }
    }

    /// The time `count` events before `event`; `None` if that is before the first event.
    pub(super) fn time_before(&self, event: usize, count: usize) -> Option<i64> {
        (count < event).then(|| self.plan.time_of(event - count))
    }

    pub(super) fn bit(&self, slot: u32) -> (usize, u64) {
        (slot as usize / 64, 1 << (slot % 64))
    }

    pub(super) fn step(&mut self, call: u32) -> Option<StateId> {
        let op = &self.plan.calls[call as usize].op;
        let next = self.model.step(self.states.get(self.state), op)?;
        Some(self.states.intern(self.model, next))
    }

    /// Walks events that leave no choice; true at the end of the history.
    fn advance(&mut self) -> bool {
        while let Some(&event) = self.plan.events.get(self.event) {
            let call = event.call();
            let facts = self.plan.facts[call];
            let (word, bit) = self.bit(facts.slot);
            if event.is_return() {
                if self.done[word] & bit == 0 {
                    self.furthest_event = self.furthest_event.max(self.event);
                    return false;
                }
                self.done[word] &= !bit;
                self.absorbable[word] &= !bit;
                self.vacate(event);
            } else {
                self.occupy(event);
                match facts.effect {
                    Effect::Observe if self.step(call as u32).is_some() => self.done[word] |= bit,
                    Effect::Overwrite if facts.required && facts.leaves == self.state => {
                        self.absorbable[word] |= bit;
                    }
                    _ => {}
                }
            }
            self.event += 1;
        }
        true
    }

    fn occupy(&mut self, event: Event) {
        let facts = self.plan.facts[event.call()];
        let (word, bit) = self.bit(facts.slot);
        self.slot_call[facts.slot as usize] = event.call() as u32;
        self.active[word] |= bit;
        self.needed.occupy(facts.needs, word, bit);
        self.required[word] |= if facts.required { bit } else { 0 };
        match facts.effect {
            Effect::Observe => self.observers[word] |= bit,
            Effect::Overwrite => {
                self.overwrites[word] |= bit;
                self.hideable[word] |= if facts.required { bit } else { 0 };
            }
            Effect::Update => {}
        }
    }

    fn vacate(&mut self, event: Event) {
        let facts = self.plan.facts[event.call()];
        let (word, bit) = self.bit(facts.slot);
        self.slot_call[facts.slot as usize] = NO_CALL;
        self.needed.vacate(facts.needs, word, bit);
        self.active[word] &= !bit;
        self.observers[word] &= !bit;
        self.overwrites[word] &= !bit;
        self.required[word] &= !bit;
        self.hideable[word] &= !bit;
    }

    fn is_new(&mut self) -> bool {
        self.key.clear();
        self.key.push((self.event as u64) << 32 | u64::from(self.state));
        self.key.extend_from_slice(&self.done);
        self.key.extend_from_slice(&self.absorbable);
        self.table.insert(&self.key)
    }

    /// Places (or hides) a pending call.
    fn take(&mut self, choice: Choice) {
        let facts = self.plan.facts[choice.call as usize];
        let (word, bit) = self.bit(facts.slot);
        self.done[word] |= bit;
        self.absorbable[word] &= !bit;
        if choice.absorb {
            return;
        }
        let next = self.step(choice.call).expect("only legal calls are offered");
        if facts.effect == Effect::Overwrite {
            for word in 0..self.words {
                self.absorbable[word] |= self.active[word] & self.hideable[word] & !self.done[word];
            }
        }
        if next != self.state {
            self.state = next;
            self.settle();
        }
    }

    /// After a change of state: places every pending observer that is legal now, and lets pending
    /// overwrites that would leave the same state hide here.
    fn settle(&mut self) {
        for word in 0..self.words {
            let mut pending = self.active[word] & !self.done[word];
            pending &= self.observers[word] | (self.hideable[word] & !self.absorbable[word]);
            while pending != 0 {
                let bit = pending & pending.wrapping_neg();
                pending &= !bit;
                let call = self.slot_call[word * 64 + bit.trailing_zeros() as usize];
                if self.observers[word] & bit != 0 {
                    if self.step(call).is_some() {
                        self.done[word] |= bit;
                    }
                } else if self.plan.facts[call as usize].leaves == self.state {
                    self.absorbable[word] |= bit;
                }
            }
        }
    }

    fn branch(&mut self, first_choice: usize) {
        self.frames.push(Frame {
            event: self.event as u32,
            state: self.state,
            first_choice: first_choice as u32,
            next_choice: first_choice as u32 + 1,
        });
        self.frame_masks.extend_from_slice(&self.done);
        self.frame_masks.extend_from_slice(&self.absorbable);
        self.take(self.choices[first_choice]);
    }

    /// Goes back to the last configuration with a choice left and takes it; false if there is none.
    fn backtrack(&mut self) -> bool {
        let Some(frame) = self.frames.last_mut() else { return false };
        let choice = self.choices[frame.next_choice as usize];
        frame.next_choice += 1;
        let (event, state) = (frame.event as usize, frame.state);
        let exhausted = frame.next_choice as usize == self.choices.len();
        let first_choice = frame.first_choice as usize;
        while self.event > event {
            self.event -= 1;
            let undone = self.plan.events[self.event];
            if undone.is_return() { self.occupy(undone) } else { self.vacate(undone) }
        }
        self.state = state;
        let masks = self.frame_masks.len() - 2 * self.words;
        self.done.copy_from_slice(&self.frame_masks[masks..masks + self.words]);
        self.absorbable.copy_from_slice(&self.frame_masks[masks + self.words..]);
        if exhausted {
            self.frames.pop();
            self.frame_masks.truncate(masks);
            self.choices.truncate(first_choice);
        }
        self.take(choice);
        true
    }

    fn push_choices(&mut self) {
        let event = self.plan.events[self.event];
        let mut choices = std::mem::take(&mut self.choices);
        self.offer(event.call() as u32, &mut choices);
        self.choices = choices;
    }

    /// Accounts for states and frames; false if the budget does not allow them.
    fn charge(&mut self) -> bool {
        let held = self.states.bytes
            + self.frames.len() * size_of::<Frame>()
            + self.frame_masks.len() * size_of::<u64>()
            + self.choices.len() * size_of::<Choice>();
        if held <= self.charged {
            return true;
        }
        let more = (held - self.charged).max(1 << 16);
        let allowed = self.budget.grow(more);
        self.charged += if allowed { more } else { 0 };
        allowed
    }
}

impl<M: Model> Drop for Search<'_, M> {
    fn drop(&mut self) {
        self.budget.shrink(self.charged);
    }
}
