//! Trace conformance: what was recorded must be what the model can do.

use crate::declare::Registry;
use crate::machine::Machine;
use crate::policy::Violation;
use std::collections::HashSet;
use std::fmt;

/// Follows recorded events through a model.
///
/// A recording seldom says everything: one event may be several actions of the model, and some
/// actions leave no event (a crash). So all states the model may be in are followed at once; an
/// event after which none is left is a divergence.
pub struct Conformance<'a, M: Machine, E> {
    machine: &'a M,
    /// Whether an event can be the record of an action, from a state to a state.
    means: Means<'a, M, E>,
    /// Whether an action may happen without an event.
    hidden: &'a dyn Fn(&M::Action) -> bool,
    hidden_max: usize,
    states_max: usize,
}

type Means<'a, M, E> =
    &'a dyn Fn(&E, &<M as Machine>::State, &<M as Machine>::Action, &<M as Machine>::State) -> bool;

/// Every event was possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conforms<S> {
    /// How many events.
    pub events: usize,
    /// Where the model may be now.
    pub states: Vec<S>,
}

/// Why a recording is none of the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// No enabled action of the model is this event.
    Impossible {
        /// The event, from 0.
        at: usize,
        /// What was recorded.
        event: String,
        /// What the model could have done.
        enabled: Vec<String>,
    },
    /// It is possible, but breaks an invariant in every way it can have happened.
    Violated {
        /// The event, from 0.
        at: usize,
        /// What does not hold.
        violation: Violation,
    },
    /// More states than are followed: record more, or raise the limit.
    TooMany {
        /// The event, from 0.
        at: usize,
        /// The limit.
        limit: usize,
    },
}

impl<'a, M: Machine, E: fmt::Debug> Conformance<'a, M, E> {
    /// For a model; `means(event, before, action, after)` says whether an event can be the record
    /// of an action. Compare values that were recorded with the state after it, if there are any.
    pub fn new(machine: &'a M, means: Means<'a, M, E>) -> Conformance<'a, M, E> {
        let hidden = &|_: &M::Action| false;
        Conformance { machine, means, hidden, hidden_max: 0, states_max: 10_000 }
    }

    /// Actions that may happen without an event, at most `max` between two events.
    pub fn hidden(mut self, hidden: &'a dyn Fn(&M::Action) -> bool, max: usize) -> Self {
        self.hidden = hidden;
        self.hidden_max = max;
        self
    }

    /// How many states are followed at once; 10,000 unless given.
    pub fn states_max(mut self, states_max: usize) -> Self {
        self.states_max = states_max;
        self
    }

    /// Follows the events from the beginning of the model.
    pub fn follow<R: Registry<State = M::State>>(
        &self,
        events: impl IntoIterator<Item = E>,
    ) -> Result<Conforms<M::State>, Divergence> {
        let mut states = vec![self.machine.start()];
        let mut count = 0;
        for (at, event) in events.into_iter().enumerate() {
            let sources = self.closure::<R>(states, at)?;
            states = self.after::<R>(&sources, &event, at)?;
            count = at + 1;
        }
        Ok(Conforms { events: count, states })
    }

    /// All states after up to `hidden_max` hidden actions.
    fn closure<R: Registry<State = M::State>>(
        &self,
        states: Vec<M::State>,
        at: usize,
    ) -> Result<Vec<M::State>, Divergence> {
        let mut seen: HashSet<M::State> = states.iter().cloned().collect();
        let mut all = states;
        let mut from = 0;
        for _ in 0..self.hidden_max {
            let end = all.len();
            for index in from..end {
                let state = all[index].clone();
                for action in self.machine.actions(&state) {
                    if !(self.hidden)(&action) {
                        continue;
                    }
                    let next = self.machine.next(&state, &action);
                    let kept = next.filter(|next| judged::<M, R>(&state, next).is_none());
                    if let Some(next) = kept.filter(|next| seen.insert(next.clone())) {
                        self.room(all.len(), at)?;
                        all.push(next);
                    }
                }
            }
            from = end;
        }
        Ok(all)
    }

    fn after<R: Registry<State = M::State>>(
        &self,
        sources: &[M::State],
        event: &E,
        at: usize,
    ) -> Result<Vec<M::State>, Divergence> {
        let mut seen = HashSet::new();
        let mut after = Vec::new();
        let mut violation = None;
        for state in sources {
            for action in self.machine.actions(state) {
                let Some(next) = self.machine.next(state, &action) else { continue };
                if !(self.means)(event, state, &action, &next) {
                    continue;
                }
                match judged::<M, R>(state, &next) {
                    Some(found) => violation = violation.or(Some(found)),
                    None if seen.insert(next.clone()) => {
                        self.room(after.len(), at)?;
                        after.push(next);
                    }
                    None => {}
                }
            }
        }
        match (after.is_empty(), violation) {
            (false, _) => Ok(after),
            (true, Some(violation)) => Err(Divergence::Violated { at, violation }),
            (true, None) => Err(Divergence::Impossible {
                at,
                event: format!("{event:?}"),
                enabled: self.enabled(sources),
            }),
        }
    }

    fn room(&self, used: usize, at: usize) -> Result<(), Divergence> {
        match used < self.states_max {
            true => Ok(()),
            false => Err(Divergence::TooMany { at, limit: self.states_max }),
        }
    }

    fn enabled(&self, sources: &[M::State]) -> Vec<String> {
        let all = sources.iter().flat_map(|state| self.machine.actions(state));
        let mut names: Vec<String> = all.map(|action| format!("{action:?}")).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn judged<M: Machine, R: Registry<State = M::State>>(
    before: &M::State,
    after: &M::State,
) -> Option<Violation> {
    R::ALL.iter().find_map(|one| one.judge(Some(before), after))
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Divergence::Impossible { at, event, enabled } => write!(
                f,
                "event {at} is nothing the model can do: {event}; possible were: {}",
                enabled.join(", ")
            ),
            Divergence::Violated { at, violation } => write!(f, "event {at}: {violation}"),
            Divergence::TooMany { at, limit } => {
                write!(f, "event {at}: the model may be in more than {limit} states; record more")
            }
        }
    }
}

impl std::error::Error for Divergence {}
