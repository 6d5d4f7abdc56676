//! What can be walked: a state machine that says which actions are possible.

use std::fmt::Debug;
use std::hash::Hash;

/// A state machine: a model, or a system that can be copied.
///
/// The same machine is walked by [`crate::Simulation`], explored by Stateright, and followed by
/// [`crate::Conformance`]. It has to be a function of what it is given: no clock, no randomness.
pub trait Machine {
    /// Where it stands.
    type State: Clone + Debug + Eq + Hash + 'static;
    /// What can happen.
    type Action: Clone + Debug + PartialEq;

    /// Where it begins.
    fn start(&self) -> Self::State;

    /// What can happen next; nothing if it is over.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// What it leads to; nothing if the action is not possible here after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;
}
