//! Loads on the other objects: queues, stacks, logs, counters, sets, strings, locks, leases.

use assay_check::ModelKind;
use assay_history::{Builder, Completion, History, Invocation, ValueId, Values};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeSet, VecDeque};

/// The simulated object: right by construction, since operations are applied one by one.
struct Object {
    model: ModelKind,
    list: VecDeque<i64>,
    set: BTreeSet<i64>,
    text: String,
    number: i64,
    holder: Option<i64>,
    used: i64,
}

/// An operation that took effect: type, input, output.
type Done = (&'static str, ValueId, ValueId);

impl Object {
    /// Applies a random operation; `None` if this process can do nothing now.
    fn apply(&mut self, v: &mut Values, rng: &mut impl Rng, id: i64, process: i64) -> Option<Done> {
        let (null, coin) = (ValueId::NULL, rng.random_bool(0.5));
        let value = |v: &mut Values, x: Option<i64>| x.map_or(ValueId::NULL, |x| v.int(x));
        Some(match self.model {
            ModelKind::Queue | ModelKind::Stack if coin => {
                self.list.push_back(id);
                let verb = if self.model == ModelKind::Queue { "enqueue" } else { "push" };
                (verb, v.int(id), null)
            }
            ModelKind::Queue => ("dequeue", null, value(v, self.list.pop_front())),
            ModelKind::Stack => ("pop", null, value(v, self.list.pop_back())),
            ModelKind::Counter if coin => {
                let delta = rng.random_range(1..4);
                self.number += delta;
                ("add", v.int(delta), null)
            }
            ModelKind::Counter => ("read", null, v.int(self.number)),
            ModelKind::Set if rng.random_bool(0.98) => {
                self.set.insert(id);
                ("add", v.int(id), null)
            }
            ModelKind::Set => {
                let all: Vec<ValueId> = self.set.iter().map(|&x| v.int(x)).collect();
                ("read", null, v.list(&all))
            }
            ModelKind::Log if coin => {
                self.list.push_back(id);
                ("append", v.int(id), v.int(self.list.len() as i64 - 1))
            }
            ModelKind::Log => {
                let at = rng.random_range(0..self.list.len() as i64 + 1);
                let there = self.list.get(at as usize).copied();
                ("read", v.int(at), value(v, there))
            }
            ModelKind::Kv if coin => {
                let piece = format!("<{id}>");
                self.text += &piece;
                ("append", v.str(&piece), null)
            }
            ModelKind::Kv => ("get", null, v.str(&self.text)),
            ModelKind::Mutex => match self.holder {
                None => {
                    self.holder = Some(process);
                    ("acquire", null, null)
                }
                Some(holder) if holder == process => {
                    self.holder = None;
                    ("release", null, null)
                }
                Some(_) => return None,
            },
            ModelKind::Lease | ModelKind::Register => {
                if coin || self.number == 0 {
                    self.number += 1;
                    ("acquire", null, v.int(self.number))
                } else {
                    self.used = rng.random_range(self.used.max(1)..=self.number);
                    ("use", v.int(self.used), null)
                }
            }
        })
    }
}

/// A history of about `ops` operations by `clients` clients.
pub fn object_history(model: ModelKind, ops: usize, clients: usize) -> History {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut spans: Vec<(i64, i64, i64, i64)> = Vec::with_capacity(ops);
    let mut clock = vec![0i64; clients];
    for i in 0..ops {
        let lane = i % clients;
        let start = clock[lane] + rng.random_range(1..200);
        let end = start + rng.random_range(100..2_000);
        spans.push((rng.random_range(start..=end), start, end, lane as i64));
        clock[lane] = end;
    }
    spans.sort_unstable();
    let mut b = Builder::new();
    let mut object = Object {
        model,
        list: VecDeque::new(),
        set: BTreeSet::new(),
        text: String::new(),
        number: 0,
        holder: None,
        used: 0,
    };
    let mut done: Vec<(i64, i64, i64, Done)> = Vec::new();
    for (id, &(_, start, end, lane)) in spans.iter().enumerate() {
        let applied = object.apply(b.values(), &mut rng, id as i64 + 1, lane);
        done.extend(applied.map(|applied| (start, end, lane, applied)));
    }
    done.sort_by_key(|&(start, ..)| start);
    for (start, end, lane, (verb, input, output)) in done {
        let process = b.values().int(lane);
        let op = b.invoke(Invocation::new(process, verb, start).input(input));
        b.complete(op, Completion::at(end).output(output));
    }
    b.finish()
}
