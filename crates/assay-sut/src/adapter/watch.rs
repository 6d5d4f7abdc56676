//! How an adapter is doing, for those who do not hold its client.

use std::sync::{Arc, Mutex, PoisonError};

/// What was counted over the life of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AdapterCounts {
    /// Calls handed to the adapter.
    pub calls: u64,
    /// Calls that were not answered in time.
    pub timed_out: u64,
    /// Answers that came later than that, and were dropped.
    pub late: u64,
    /// Times that the adapter was started again.
    pub restarts: u64,
}

/// A look at an adapter from outside.
#[derive(Clone, Debug, Default)]
pub struct AdapterWatch(Arc<Mutex<State>>);

#[derive(Clone, Debug, Default)]
struct State {
    counts: AdapterCounts,
    given_up: Option<String>,
}

#[derive(Clone, Copy)]
pub(super) enum Event {
    Call,
    TimedOut,
    Late,
    Restart,
}

impl AdapterWatch {
    /// What has been counted so far.
    pub fn counts(&self) -> AdapterCounts {
        self.with(|state| state.counts)
    }

    /// Why the client was given up: from then on each of its calls fails without being sent.
    pub fn given_up(&self) -> Option<String> {
        self.with(|state| state.given_up.clone())
    }

    pub(super) fn count(&self, event: Event) {
        self.with(|State { counts, .. }| match event {
            Event::Call => counts.calls += 1,
            Event::TimedOut => counts.timed_out += 1,
            Event::Late => counts.late += 1,
            Event::Restart => counts.restarts += 1,
        });
    }

    /// Only the first reason counts: what comes later follows from it.
    pub(super) fn give_up(&self, why: &str) {
        self.with(|state| state.given_up.get_or_insert_with(|| why.to_string()).clone());
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        // Numbers are whole at any time, so a panic elsewhere does not spoil them.
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
