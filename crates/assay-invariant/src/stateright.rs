//! For the Stateright model checker.
//!
//! A [`Machine`] and a [`Registry`] make a model: [`States`] has as many states as the machine, and
//! checks state and eventual invariants; [`Steps`] has a state for each step and checks invariants
//! of actions. Whoever has a `stateright::Model` already adds [`properties`] to it.

use crate::declare::{Declared, Kind, Predicate, Registry, Visitor};
use crate::machine::Machine;
use crate::shrink::shrink;
use stateright::{Checker, Model, Property};
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

/// What an exhaustive search came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored<A> {
    /// Different states of the machine.
    pub states: usize,
    /// Each invariant that does not hold, with a way there in which nothing can be left out.
    pub broken: Vec<(&'static str, Vec<A>)>,
}

/// Looks at every state and every step of a machine that has finitely many.
pub fn explore<M, R>(machine: M) -> Explored<M::Action>
where
    M: Machine + Clone + Send + Sync + 'static,
    M::State: Send + Sync,
    M::Action: Send + Sync,
    R: Registry<State = M::State> + 'static,
{
    let states = States::<M, R>::new(machine.clone()).checker().spawn_bfs().join();
    let steps = Steps::<M, R>::new(machine.clone()).checker().spawn_bfs().join();
    let of_states = states.discoveries().into_iter().map(|(id, path)| (id, path.into_actions()));
    let of_steps = steps.discoveries().into_iter().map(|(id, path)| (id, path.into_actions()));
    // Stateright keeps the last way it found, which may be a long one.
    let shortened =
        |(id, way): (&'static str, Vec<M::Action>)| (id, shrink::<M, R>(&machine, &way, id));
    let mut broken: Vec<_> = of_states.chain(of_steps).map(shortened).collect();
    broken.sort_by_key(|(id, _)| *id);
    Explored { states: states.unique_state_count(), broken }
}

/// State and eventual invariants of a registry as properties of any model with its states, named by
/// their ids. Stateright's `eventually` can miss a violation where paths join: decide liveness with
/// a TLA+ checker, too.
pub fn properties<M, R>() -> Vec<Property<M>>
where
    M: Model<State = R::State>,
    R: Registry,
{
    let mut found = Found(Vec::new());
    R::each(&mut found);
    found.0
}

struct Found<M: Model>(Vec<Property<M>>);

impl<M: Model> Visitor<M::State> for Found<M>
where
    M::State: 'static,
{
    fn visit<D: Declared<State = M::State>>(&mut self) {
        let invariant = D::invariant();
        match invariant.kind() {
            Kind::State => {
                self.0.push(Property::always(invariant.id, |_, state| holds::<D>(state)))
            }
            Kind::Eventually => {
                self.0.push(Property::eventually(invariant.id, |_, state| holds::<D>(state)));
            }
            Kind::Action => {}
        }
    }
}

fn holds<D: Declared>(state: &D::State) -> bool {
    match D::invariant().predicate {
        Predicate::State(holds, _) | Predicate::Eventually(holds, _) => holds(state),
        Predicate::Action(..) => true,
    }
}

fn steps<D: Declared>(before: &D::State, after: &D::State) -> bool {
    match D::invariant().predicate {
        Predicate::Action(holds, _) => holds(before, after),
        _ => true,
    }
}

/// A machine as a model, with the state and eventual invariants of a registry.
#[derive(Clone, Debug)]
pub struct States<M, R>(pub M, PhantomData<fn() -> R>);

impl<M, R> States<M, R> {
    /// Of a machine.
    pub fn new(machine: M) -> States<M, R> {
        States(machine, PhantomData)
    }
}

impl<M: Machine, R: Registry<State = M::State>> Model for States<M, R>
where
    M::State: 'static,
{
    type State = M::State;
    type Action = M::Action;

    fn init_states(&self) -> Vec<M::State> {
        vec![self.0.start()]
    }

    fn actions(&self, state: &M::State, actions: &mut Vec<M::Action>) {
        actions.extend(self.0.actions(state));
    }

    fn next_state(&self, last: &M::State, action: M::Action) -> Option<M::State> {
        self.0.next(last, &action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::<Self, R>()
    }
}

/// A machine as a model of its steps, with the invariants of actions of a registry. A state is a
/// state with the one before it.
#[derive(Clone, Debug)]
pub struct Steps<M, R>(pub M, PhantomData<fn() -> R>);

impl<M, R> Steps<M, R> {
    /// Of a machine.
    pub fn new(machine: M) -> Steps<M, R> {
        Steps(machine, PhantomData)
    }
}

/// A state and what came before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stepped<S> {
    /// The state before; none at the beginning.
    pub before: Option<S>,
    /// The state.
    pub state: S,
}

impl<M: Machine, R: Registry<State = M::State>> Model for Steps<M, R>
where
    M::State: 'static,
{
    type State = Stepped<M::State>;
    type Action = M::Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![Stepped { before: None, state: self.0.start() }]
    }

    fn actions(&self, last: &Self::State, actions: &mut Vec<M::Action>) {
        actions.extend(self.0.actions(&last.state));
    }

    fn next_state(&self, last: &Self::State, action: M::Action) -> Option<Self::State> {
        let state = self.0.next(&last.state, &action)?;
        Some(Stepped { before: Some(last.state.clone()), state })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut found = Found2::<M, R>(Vec::new());
        R::each(&mut found);
        found.0
    }
}

struct Found2<M: Machine, R: Registry<State = M::State>>(Vec<Property<Steps<M, R>>>)
where
    M::State: 'static;

impl<M: Machine, R: Registry<State = M::State>> Visitor<M::State> for Found2<M, R>
where
    M::State: 'static,
{
    fn visit<D: Declared<State = M::State>>(&mut self) {
        if D::invariant().kind() == Kind::Action {
            self.0.push(Property::always(D::invariant().id, |_, stepped: &Stepped<M::State>| {
                let before = stepped.before.as_ref();
                before.is_none_or(|before| steps::<D>(before, &stepped.state))
            }));
        }
    }
}
