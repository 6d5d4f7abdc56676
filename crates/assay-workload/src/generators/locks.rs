//! Locks and leases: taken, used, given back.

use super::{Client, output};
use crate::call::{Call, Reply};
use crate::source::Source;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A client that releases what it holds, and what it may hold.
#[derive(Default)]
pub(super) struct Lock {
    held: Vec<Value>,
    /// Acquired with unknown outcome: to be released next.
    doubtful: Vec<Value>,
    /// All keys that were ever doubtful: a request can arrive after the release that was to undo
    /// it, so a refused acquire of these may mean that the client itself holds the lock.
    suspect: BTreeSet<String>,
}

impl Client for Lock {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        let name = json!(source.name());
        if let Some(key) = self.doubtful.last() {
            return Call::new("release", Some(key.clone()), name);
        }
        if op == "release" && !self.held.is_empty() {
            let at = source.between(0..=self.held.len() as u64 - 1) as usize;
            return Call::new("release", Some(self.held[at].clone()), name);
        }
        let op = if self.held.contains(&key) { "release" } else { "acquire" };
        Call::new(op, Some(key), name)
    }

    fn hear(&mut self, call: &Call, reply: &Reply) {
        let Some(key) = &call.key else { return };
        match (call.op.as_str(), reply) {
            ("acquire", Reply::Ok { .. }) => self.held.push(key.clone()),
            ("acquire", Reply::Unknown { .. }) => {
                self.doubtful.push(key.clone());
                self.suspect.insert(key.to_string());
            }
            ("acquire", Reply::Fail { .. }) if self.suspect.contains(&key.to_string()) => {
                self.doubtful.push(key.clone());
            }
            // Whatever became of the release, the lock is not certainly held any more. One of
            // unknown outcome is tried again: it may never have arrived.
            ("release", Reply::Ok { .. } | Reply::Fail { .. }) => {
                self.held.retain(|held| held != key);
                self.doubtful.retain(|held| held != key);
            }
            ("release", Reply::Unknown { .. }) if !self.doubtful.contains(key) => {
                self.held.retain(|held| held != key);
                self.doubtful.push(key.clone());
            }
            _ => {}
        }
    }
}

/// How often and how long holders oversleep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oversleep {
    pub(crate) percent: u64,
    pub(crate) refusals_max: u64,
}

/// What holders do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub(crate) ttl_ms: u64,
    /// Uses that follow each grant at once.
    pub(crate) uses: u64,
    pub(crate) oversleep: Oversleep,
}

/// A client that holds leases, and sometimes holds on to a token for too long.
///
/// A script has no clock. What tells a sleeper that its time is over is that the lease is granted
/// anew; so it asks for it until then, or until it was refused often enough.
pub(super) struct Lease {
    habits: Habits,
    tokens: BTreeMap<String, u64>,
    sleeping: Option<Sleep>,
    /// Calls that come next, whatever is drawn.
    next: VecDeque<Call>,
    /// Whether the next granted lease is overslept; drawn when its acquire is made.
    drowsy: bool,
}

struct Sleep {
    key: Value,
    token: u64,
    refusals_left: u64,
}

impl Lease {
    pub(super) fn new(habits: Habits) -> Lease {
        let (tokens, next) = (BTreeMap::new(), VecDeque::new());
        Lease { habits, tokens, sleeping: None, next, drowsy: false }
    }

    fn acquire(&self, key: Value, source: &Source) -> Call {
        let input = json!({ "holder": source.name(), "ttl_ms": self.habits.ttl_ms });
        Call::new("acquire", Some(key), input)
    }

    /// The sleeper wakes up, with a new token or without.
    fn wake(&mut self, granted: Option<u64>) {
        let Some(sleep) = self.sleeping.take() else { return };
        for token in granted.into_iter().chain([sleep.token]) {
            self.next.push_back(Call::new("use", Some(sleep.key.clone()), json!(token)));
        }
    }
}

impl Client for Lease {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        if let Some(call) = self.next.pop_front() {
            return call;
        }
        if let Some(sleep) = &self.sleeping {
            return self.acquire(sleep.key.clone(), source);
        }
        let key = source.key();
        match self.tokens.get(&key.to_string()) {
            Some(token) if op != "acquire" => Call::new(op, Some(key), json!(token)),
            _ => {
                self.drowsy = source.chance(self.habits.oversleep.percent);
                self.acquire(key, source)
            }
        }
    }

    fn hear(&mut self, call: &Call, reply: &Reply) {
        let Some(key) = &call.key else { return };
        match (call.op.as_str(), reply) {
            ("acquire", _) => {
                let token = output(reply).and_then(Value::as_u64);
                if let Some(token) = token {
                    self.tokens.insert(key.to_string(), token);
                }
                match (&mut self.sleeping, token) {
                    (Some(_), Some(_)) => self.wake(token),
                    (Some(sleep), None) => {
                        sleep.refusals_left = sleep.refusals_left.saturating_sub(1);
                        if sleep.refusals_left == 0 {
                            self.wake(None);
                        }
                    }
                    (None, Some(token)) if self.drowsy => {
                        let refusals_left = self.habits.oversleep.refusals_max;
                        self.sleeping = Some(Sleep { key: key.clone(), token, refusals_left });
                    }
                    (None, Some(token)) => {
                        let using = Call::new("use", Some(key.clone()), json!(token));
                        self.next.extend((0..self.habits.uses).map(|_| using.clone()));
                    }
                    (None, None) => {}
                }
            }
            // Refused: the lease is over. A release counts as done even if its outcome is unknown.
            ("renew" | "use", Reply::Fail { .. }) | ("release", _)
                if self.tokens.get(&key.to_string()).copied() == call.input.as_u64() =>
            {
                self.tokens.remove(&key.to_string());
            }
            _ => {}
        }
    }
}
