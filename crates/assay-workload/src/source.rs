//! Where one client's choices come from.

use crate::keys::Keys;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The random stream of one client, and the values only it writes.
pub(crate) struct Source {
    pub(crate) rng: ChaCha8Rng,
    client: u64,
    clients: u64,
    /// Values and ids made so far.
    made: u64,
    keys: Arc<Keys>,
}

impl Source {
    pub(crate) fn new(seed: u64, client: usize, clients: usize, keys: Arc<Keys>) -> Source {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (client, clients) = (client as u64, clients as u64);
        rng.set_stream(client + 1);
        Source { rng, client, clients, made: 0, keys }
    }

    /// A number that no other call of any client has: clients take turns over the whole numbers.
    pub(crate) fn value(&mut self) -> u64 {
        let value = self.made * self.clients + self.client + 1;
        self.made += 1;
        value
    }

    /// An id that no other call of any client has.
    pub(crate) fn id(&mut self) -> String {
        let id = format!("c{}-{}", self.client, self.made);
        self.made += 1;
        id
    }

    /// The client's own name, as a holder of locks.
    pub(crate) fn name(&self) -> String {
        format!("c{}", self.client)
    }

    /// How many clients there are.
    pub(crate) fn clients(&self) -> u64 {
        self.clients
    }

    /// How many keys there are.
    pub(crate) fn keys(&self) -> u64 {
        self.keys.count()
    }

    pub(crate) fn key_number(&mut self) -> u64 {
        self.keys.draw(&mut self.rng)
    }

    pub(crate) fn key(&mut self) -> Value {
        key(self.key_number())
    }

    pub(crate) fn between(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.rng.random_range(range)
    }

    /// True in `percent` of all cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.rng.random_range(0..100) < percent
    }
}

/// The name of a key.
pub(crate) fn key(number: u64) -> Value {
    json!(format!("k{number}"))
}
