//! Histories for benchmarks: clients in a closed loop against a simulated object that is right.

pub mod corpus;
pub mod objects;
pub mod plain_wgl;

use assay_history::{Builder, Completion, History, Invocation, ValueId};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What to generate.
#[derive(Clone, Copy)]
pub struct Load {
    pub ops: usize,
    pub clients: usize,
    pub keys: usize,
    /// Different written values per key; 0 makes every write unique.
    pub values: i64,
    /// Percent of operations that are compare-and-swap.
    pub cas_percent: u32,
    /// Operations per thousand whose outcome is unknown.
    pub unknown_per_mille: u32,
    pub seed: u64,
}

impl Load {
    pub fn register(ops: usize, clients: usize) -> Load {
        Load { ops, clients, keys: 1, values: 0, cas_percent: 0, unknown_per_mille: 0, seed: 7 }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Read,
    Write(i64),
    Cas(i64, i64),
}

struct Planned {
    client: usize,
    key: usize,
    start: i64,
    effect: i64,
    end: i64,
    kind: Kind,
    unknown: bool,
    applied: bool,
    output: Option<i64>,
    swapped: bool,
}

/// Runs the load against a correct register per key.
pub fn register_history(load: Load) -> History {
    let mut rng = ChaCha8Rng::seed_from_u64(load.seed);
    let mut clock: Vec<i64> = (0..load.clients as i64).collect();
    let mut names: Vec<usize> = (0..load.clients).collect();
    let mut planned: Vec<Planned> = Vec::with_capacity(load.ops);
    for i in 0..load.ops {
        let lane = i % load.clients;
        let start = clock[lane] + rng.random_range(1..200);
        let end = start + rng.random_range(100..2_000);
        let unknown = rng.random_range(0..1_000) < load.unknown_per_mille;
        let value = match load.values {
            0 => i as i64 + 1,
            n => rng.random_range(0..n),
        };
        let kind = if rng.random_range(0..100) < load.cas_percent {
            Kind::Cas(rng.random_range(0..load.values.max(1)), value)
        } else if rng.random_bool(0.5) {
            Kind::Read
        } else {
            Kind::Write(value)
        };
        planned.push(Planned {
            client: names[lane],
            key: rng.random_range(0..load.keys),
            start,
            effect: rng.random_range(start..=end),
            end,
            kind,
            unknown,
            applied: !unknown || rng.random_bool(0.5),
            output: None,
            swapped: false,
        });
        clock[lane] = end;
        if unknown {
            // A client that timed out comes back under a new name.
            names[lane] += load.clients;
        }
    }
    planned.sort_by_key(|op| op.effect);
    let mut state: Vec<Option<i64>> = vec![None; load.keys];
    for op in planned.iter_mut().filter(|op| op.applied) {
        let held = &mut state[op.key];
        match op.kind {
            Kind::Read => op.output = *held,
            Kind::Write(value) => *held = Some(value),
            Kind::Cas(from, to) => {
                op.swapped = *held == Some(from);
                if op.swapped {
                    *held = Some(to);
                }
            }
        }
    }
    planned.sort_by_key(|op| op.start);
    build(&planned, load.keys)
}

fn build(planned: &[Planned], keys: usize) -> History {
    let mut b = Builder::new();
    let names: Vec<ValueId> = (0..keys).map(|k| b.values().str(&format!("k{k}"))).collect();
    for op in planned {
        let client = b.values().int(op.client as i64);
        let (name, input) = match op.kind {
            Kind::Read => ("read", ValueId::NULL),
            Kind::Write(value) => ("write", b.values().int(value)),
            Kind::Cas(from, to) => {
                let pair = [b.values().int(from), b.values().int(to)];
                ("cas", b.values().list(&pair))
            }
        };
        let key = if keys == 1 { ValueId::NULL } else { names[op.key] };
        let index = b.invoke(Invocation::new(client, name, op.start).key(key).input(input));
        let output = match op.kind {
            Kind::Read => op.output.map_or(ValueId::NULL, |v| b.values().int(v)),
            Kind::Write(_) => ValueId::NULL,
            Kind::Cas(..) => b.values().bool(op.swapped),
        };
        b.complete(
            index,
            if op.unknown { Completion::unknown() } else { Completion::at(op.end).output(output) },
        );
    }
    b.finish()
}
