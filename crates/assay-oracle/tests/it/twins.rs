//! Fast oracles against slow ones that are obviously right, on random small histories.
//!
//! Each loop starts from a fixed seed; a failure prints the seed of the round and the history.

mod durability;
mod locks;
mod money;
mod sessions;
mod streams;

use crate::support::try_history;
use assay_history::{History, Outcome};
use assay_oracle::{Answer, Options, sketch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write;

/// How many histories each pair of twins is compared on.
const ROUNDS: u64 = 20_000;

/// Writes a random history, client by client, with overlaps and equal times.
struct Gen {
    rng: ChaCha8Rng,
    clocks: Vec<i64>,
    text: String,
}

impl Gen {
    fn new(seed: u64, clients: usize) -> Gen {
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Gen { rng, clocks: vec![0; clients], text: String::new() }
    }

    fn below(&mut self, end: usize) -> usize {
        self.rng.random_range(0..end)
    }

    fn client(&mut self) -> usize {
        let clients = self.clocks.len();
        self.below(clients)
    }

    /// Mostly ok, sometimes failed or unknown.
    fn outcome(&mut self) -> &'static str {
        ["ok", "ok", "ok", "ok", "unknown", "fail"][self.below(6)]
    }

    /// Adds a line for a client, at some time after the client's last one.
    fn line(&mut self, client: usize, words: &str, outcome: &str, rest: &str) {
        let start = self.clocks[client] + self.rng.random_range(0..4);
        let end = start + self.rng.random_range(1..6);
        self.clocks[client] = end;
        writeln!(self.text, "{client} {words} {outcome} {rest} @{start}..{end}").unwrap();
    }

    /// Adds a line after everything else has ended.
    fn last(&mut self, words: &str, rest: &str) {
        let start = self.clocks.iter().max().unwrap() + 2;
        writeln!(self.text, "99 {words} ok {rest} @{start}..{}", start + 2).unwrap();
    }
}

/// An operation as the slow twins see it.
struct O {
    client: u32,
    verb: String,
    key: String,
    input: String,
    output: String,
    outcome: Outcome,
    start: i64,
    end: i64,
    version: Option<i64>,
}

impl O {
    fn ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    fn possible(&self) -> bool {
        self.outcome != Outcome::Fail
    }

    fn items(&self) -> Vec<String> {
        serde_json::from_str::<Vec<serde_json::Value>>(&self.output)
            .map(|items| items.iter().map(ToString::to_string).collect())
            .unwrap_or_default()
    }
}

fn operations(history: &History) -> Vec<O> {
    let text = |id| history.values.show(id).to_string();
    let operation = |op: assay_history::Op| {
        let (start, end) = history.span(&op);
        O {
            client: op.process.0,
            verb: history.type_name(op.op_type).to_string(),
            key: text(history.key(op.key)),
            input: text(op.input),
            output: text(op.output),
            outcome: op.outcome(),
            start,
            end,
            version: history.revision(op.index),
        }
    };
    history.ops().map(operation).collect()
}

/// Compares an oracle with its twin: they must agree on whether the history is refuted.
fn compare(
    name: &str,
    options: &Options,
    write: impl Fn(u64) -> String,
    twin: impl Fn(&[O]) -> bool,
) {
    let (mut refuted, mut upheld) = (0, 0);
    for seed in 0..ROUNDS {
        let text = write(seed);
        let history = sketch(&text);
        let Ok(report) = try_history(name, &history, options) else { continue };
        let expected = twin(&operations(&history));
        let found = report.answer == Answer::Refuted;
        assert_eq!(found, expected, "{name}, seed {seed}, refuted?\n{text}\n{report:#?}");
        if found { refuted += 1 } else { upheld += 1 }
    }
    assert!(refuted > ROUNDS / 50, "{name}: only {refuted} of {ROUNDS} are refuted");
    assert!(upheld > ROUNDS / 50, "{name}: only {upheld} of {ROUNDS} are not refuted");
}

/// All orders of some things.
fn orders(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, &first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(i);
        for mut order in orders(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}
