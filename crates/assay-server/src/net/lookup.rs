//! Names of hosts, and the addresses behind them.
//!
//! The system looks names up in a call that nobody can break off: a name server that says nothing
//! has a thread for as long as the system is patient, whoever still waits for the answer. So there
//! are [places](Seats), fewer than threads, of which no workspace can have all, and a place is
//! given back when its thread is free again, not when somebody has stopped waiting. Otherwise a
//! program that asks for name after name would have every thread on which tools run and files are
//! written.

use crate::seats::Seats;
use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Names that are looked up at a time, for all, and for one workspace: small beside the 512 threads
/// on which the server does what blocks.
const ALL_LOOKUPS_MAX: usize = 32;
const OWN_LOOKUPS_MAX: usize = 8;
/// Names of the operator that are looked up at a time, and how often one of them is: many turns
/// may begin at once, and all ask for the same one.
const ALL_TRUSTED_MAX: usize = 32;
const ONE_TRUSTED_MAX: usize = 16;
/// How long to wait for a place; turns can wait longer than programs.
const PLACE_TIME_MAX: Duration = Duration::from_secs(5);
const TRUSTED_PLACE_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a name may take to become an address.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(10);

/// Finds what is behind a name.
pub trait Resolver: Send + Sync + fmt::Debug {
    /// The addresses; takes as long as it takes, on a thread of its own.
    ///
    /// # Errors
    /// If there are none.
    fn find(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>>;
}

/// What this machine knows.
#[derive(Debug)]
struct System;

impl Resolver for System {
    fn find(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok((host, port).to_socket_addrs()?.collect())
    }
}

/// Why there is no address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfound {
    /// Nobody knows the name, or nobody has said so in time.
    Nowhere,
    /// Too many names are being looked up for whoever asks, or for all.
    Busy,
}

/// Looks names up, so many at a time. Clones share the places.
#[derive(Clone, Debug)]
pub struct Names {
    resolver: Arc<dyn Resolver>,
    seats: Arc<Seats>,
    patience: Duration,
}

impl Names {
    /// By what this machine knows, for what models and programs name.
    pub fn new() -> Names {
        Names::by(Arc::new(System), PLACE_TIME_MAX)
    }

    /// By what this machine knows, for what the operator named: in places of its own.
    pub fn trusted() -> Names {
        let seats = Arc::new(Seats::new(ALL_TRUSTED_MAX, ONE_TRUSTED_MAX));
        Names { resolver: Arc::new(System), seats, patience: TRUSTED_PLACE_TIME_MAX }
    }

    /// By what somebody else knows; `patience` is how long to wait for a place.
    pub fn by(resolver: Arc<dyn Resolver>, patience: Duration) -> Names {
        let seats = Arc::new(Seats::new(ALL_LOOKUPS_MAX, OWN_LOOKUPS_MAX));
        Names { resolver, seats, patience }
    }

    /// The addresses behind a name, in a place of somebody.
    ///
    /// # Errors
    /// If there are none, or no place.
    pub async fn find(
        &self,
        whose: &str,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Unfound> {
        if let Ok(address) = host.parse() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let Ok(Some(seat)) = timeout(self.patience, self.seats.take(whose)).await else {
            return Err(Unfound::Busy);
        };
        let (resolver, host) = (self.resolver.clone(), host.to_string());
        let looking = tokio::task::spawn_blocking(move || {
            // It goes with the thread: whoever asked may be gone long before.
            let _seat = seat;
            resolver.find(&host, port)
        });
        match timeout(LOOKUP_TIME_MAX, looking).await {
            Ok(Ok(Ok(found))) => Ok(found),
            _ => Err(Unfound::Nowhere),
        }
    }
}

impl Default for Names {
    fn default() -> Names {
        Names::new()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::{Condvar, Mutex, PoisonError};

    /// Long enough that a place which is free is had.
    pub const PATIENCE: Duration = Duration::from_millis(200);

    /// Says nothing about some names until it is let go, and counts who waits for that.
    #[derive(Default, Debug)]
    pub struct Silent {
        state: Mutex<State>,
        changed: Condvar,
    }

    #[derive(Default, Debug)]
    struct State {
        waiting: usize,
        most: usize,
        speaks: bool,
    }

    impl Silent {
        fn state(&self) -> std::sync::MutexGuard<'_, State> {
            self.state.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// The most who ever waited at a time.
        pub fn most(&self) -> usize {
            self.state().most
        }

        /// Answers from now on, and waits until nobody waits.
        pub fn speak(&self) {
            let mut state = self.state();
            state.speaks = true;
            self.changed.notify_all();
            while state.waiting > 0 {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Lets everybody go in the end, also of a test that failed: nobody could wait for them.
    pub struct Spoken(pub Arc<Silent>);

    impl Drop for Spoken {
        fn drop(&mut self) {
            self.0.speak();
        }
    }

    impl Resolver for Silent {
        fn find(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
            if host.ends_with("silent.example") {
                let mut state = self.state();
                state.waiting += 1;
                state.most = state.most.max(state.waiting);
                while !state.speaks {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                state.waiting -= 1;
                self.changed.notify_all();
            }
            Ok(vec![SocketAddr::from(([192, 0, 2, 1], port))])
        }
    }

    async fn ask(names: Names, whose: &'static str, number: usize) -> Result<(), Unfound> {
        names.find(whose, &format!("{number}.silent.example"), 443).await.map(drop)
    }

    #[tokio::test]
    async fn a_name_server_that_says_nothing_has_few_threads_and_never_those_of_others() {
        let silent = Arc::new(Silent::default());
        let _in_the_end = Spoken(silent.clone());
        let names = Names::by(silent.clone(), PATIENCE);
        let mut first = tokio::task::JoinSet::new();
        (0..OWN_LOOKUPS_MAX * 8)
            .for_each(|number| drop(first.spawn(ask(names.clone(), "a", number))));
        // Those who have a place wait for an answer; the others have been told that there is none.
        for _ in 0..OWN_LOOKUPS_MAX * 7 {
            let told = first.join_next().await.expect("there are more").expect("no panic");
            assert_eq!(told, Err(Unfound::Busy));
        }
        assert_eq!(silent.most(), OWN_LOOKUPS_MAX);
        // Who has gone leaves the thread behind, and the place with it.
        first.shutdown().await;
        assert_eq!(ask(names.clone(), "a", 0).await, Err(Unfound::Busy));
        assert_eq!(silent.most(), OWN_LOOKUPS_MAX);
        let found = names.find("b", "fine.example", 443).await;
        assert_eq!(found, Ok(vec![SocketAddr::from(([192, 0, 2, 1], 443))]));
        silent.speak();
        assert_eq!(ask(names.clone(), "a", 0).await, Ok(()));
    }

    #[tokio::test]
    async fn all_together_have_no_more_places_than_there_are() {
        let silent = Arc::new(Silent::default());
        let _in_the_end = Spoken(silent.clone());
        let names = Names::by(silent.clone(), PATIENCE);
        let mut all = tokio::task::JoinSet::new();
        for whose in ["a", "b", "c", "d", "e"] {
            (0..OWN_LOOKUPS_MAX)
                .for_each(|number| drop(all.spawn(ask(names.clone(), whose, number))));
        }
        for _ in 0..5 * OWN_LOOKUPS_MAX - ALL_LOOKUPS_MAX {
            let told = all.join_next().await.expect("there are more").expect("no panic");
            assert_eq!(told, Err(Unfound::Busy));
        }
        assert_eq!(silent.most(), ALL_LOOKUPS_MAX);
        silent.speak();
        while let Some(told) = all.join_next().await {
            assert_eq!(told.expect("no panic"), Ok(()));
        }
    }
}
