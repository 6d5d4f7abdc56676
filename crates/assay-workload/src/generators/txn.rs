//! Transactions over registers and lists.

use super::Client;
use crate::call::Call;
use crate::source::{Source, key};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What transactions are made of.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) ops: RangeInclusive<u64>,
    pub(crate) read_percent: u64,
    pub(crate) pattern: Pattern,
    /// `None`: registers.
    pub(crate) lists: Option<Lists>,
}

/// In which order a transaction reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pattern {
    /// In any.
    Mixed,
    /// It reads some objects and then writes each of them once: what others write in between is
    /// lost, unless somebody sees to it.
    Updates,
}

/// Lists, and when they make way for new ones: who reads a list reads all of it, so that without
/// an end to them a run would read nothing but old entries.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    pub(crate) appends_per_key: u64,
    /// The latest generation of keys any client has come to, for those who read them at the end.
    /// No client looks at it: what it does must not depend on the others.
    pub(crate) generation_max: Arc<AtomicU64>,
}

/// A client that makes transactions.
pub(super) struct Transactions {
    style: Style,
    /// Its own appends, by place of the key.
    appends: BTreeMap<u64, u64>,
}

impl Transactions {
    pub(super) fn new(style: Style) -> Transactions {
        Transactions { style, appends: BTreeMap::new() }
    }

    fn micro(&mut self, place: u64, reads: bool, source: &mut Source) -> Value {
        let Some(lists) = &self.style.lists else {
            let key = key(place);
            return if reads { json!(["r", key, null]) } else { json!(["w", key, source.value()]) };
        };
        // Clients append at about the same pace: each counts for all.
        let appends = self.appends.entry(place).or_default();
        let generation = *appends * source.clients() / lists.appends_per_key;
        lists.generation_max.fetch_max(generation, Ordering::Relaxed);
        let key = key(generation * source.keys() + place);
        if reads {
            return json!(["r", key, null]);
        }
        *appends += 1;
        json!(["append", key, source.value()])
    }
}

impl Client for Transactions {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let count = source.between(self.style.ops.clone());
        let micros = match self.style.pattern {
            Pattern::Mixed => {
                let mut any = || {
                    let (place, reads) =
                        (source.key_number(), source.chance(self.style.read_percent));
                    self.micro(place, reads, source)
                };
                (0..count).map(|_| any()).collect()
            }
            Pattern::Updates => {
                let places: BTreeSet<u64> =
                    (0..count.div_ceil(2)).map(|_| source.key_number()).collect();
                let halves = [true, false].into_iter();
                let steps =
                    halves.flat_map(|reads| places.iter().map(move |place| (*place, reads)));
                steps.map(|(place, reads)| self.micro(place, reads, source)).collect()
            }
        };
        Call::new(op, None, Value::Array(micros))
    }
}
