//! A twin that keeps its word is upheld by every checker its generator fits; one that does not is
//! refuted by the checker that should see it.

use crate::judge::{cases, run};
use crate::twin::{Flaw, Twin};
use assay_oracle::Answer;
use assay_workload::{Config, Distribution, GENERATORS, Workload};
use proptest::prelude::*;
use serde_json::json;

/// What checkers must be told.
fn settings(generator: &str, checker: &str) -> Vec<(&'static str, &'static str)> {
    match (generator, checker) {
        ("bank", "bank") => vec![("total", "300")],
        ("bank", "invariant") => vec![("invariant", "sum(*) == 300")],
        ("counter", "invariant") => vec![("invariant", "count(*) <= 3")],
        // Two calls' time: shorter than any lease of the twin.
        ("lease", "lease") => vec![("lease-ttl", "20ns")],
        ("membership", "membership") => vec![("members-at-start", "n1,n2,n3")],
        (_, "exactly-once" | "at-least-once" | "at-most-once") => vec![("business-key", "id")],
        _ => Vec::new(),
    }
}

fn workload(generator: &str, clients: usize, seed: u64) -> Workload {
    let config = Config::new(generator, clients, 3, seed);
    Workload::new(&config).expect("defaults make a workload")
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn a_twin_that_keeps_its_word_is_upheld_by_every_checker_that_fits(
        seed: u64,
        clients in 1..6usize,
        zipf: bool,
    ) {
        for info in GENERATORS {
            let mut config = Config::new(info.name, clients, 3, seed);
            if zipf {
                config.distribution = Distribution::Zipf;
            }
            let record = |config: &Config| {
                let workload = Workload::new(config).expect(info.name);
                run(&workload, clients, &mut Twin::new(info.name, Flaw::None), 200)
            };
            let recorder = record(&config);
            // Two checkers look at keys that nothing but writes changes.
            config.mix = [("read".to_string(), 1), ("write".to_string(), 1)].into();
            let plain = (info.name == "register").then(|| record(&config));
            for checker in info.checkers {
                let recorder = match &plain {
                    Some(plain) if ["no-lost-ack", "causal"].contains(checker) => plain,
                    _ => &recorder,
                };
                let answer = recorder.judge(checker, &settings(info.name, checker));
                prop_assert_eq!(answer, Answer::Upheld, "{} by {}", info.name, checker);
            }
        }
    }
}

/// A flaw, and who must see it.
const FLAWS: &[(&str, Flaw, &[&str])] = &[
    ("register", Flaw::Forgets(7), &["linearizability:register"]),
    ("register", Flaw::Stale(5), &["linearizability:register"]),
    ("map", Flaw::Forgets(7), &["linearizability:register"]),
    // Only the last write of each key is in the final state, so it must be lost.
    ("map", Flaw::Forgets(1), &["no-lost-ack"]),
    ("session", Flaw::Stale(3), &["monotonic-reads", "read-your-writes"]),
    ("kv-append", Flaw::Doubles(9), &["linearizability:kv"]),
    ("rw-register", Flaw::Stale(5), &["rw-register"]),
    ("list-append", Flaw::Forgets(9), &["list-append"]),
    ("set", Flaw::Forgets(9), &["linearizability:set", "set", "no-lost-ack"]),
    ("queue", Flaw::Forgets(9), &["linearizability:queue", "queue", "at-least-once"]),
    ("queue", Flaw::Doubles(9), &["exactly-once", "at-most-once", "linearizability:queue"]),
    ("log", Flaw::Forgets(9), &["linearizability:log", "log", "no-lost-ack"]),
    ("log", Flaw::Doubles(9), &["linearizability:log", "log"]),
    ("counter", Flaw::Doubles(9), &["linearizability:counter"]),
    ("lock", Flaw::Forgets(7), &["lock", "linearizability:mutex"]),
    ("lease", Flaw::Unfenced, &["lease", "linearizability:lease"]),
    ("bank", Flaw::Doubles(5), &["bank"]),
    ("ledger", Flaw::Doubles(9), &["ledger", "exactly-once", "at-most-once"]),
    ("ledger", Flaw::Forgets(9), &["ledger", "exactly-once", "at-least-once"]),
];

#[test]
fn a_twin_with_a_flaw_is_refuted() {
    let mut unseen = Vec::new();
    for (generator, flaw, checkers) in FLAWS {
        let mut twin = Twin::new(generator, *flaw);
        let recorder = run(&workload(generator, 4, 21), 4, &mut twin, 400);
        for checker in *checkers {
            let answer = recorder.judge(checker, &settings(generator, checker));
            if answer != Answer::Refuted {
                unseen.push(format!("{generator} with {flaw:?} by {checker}: {answer:?}"));
            }
        }
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
}

#[test]
fn plain_elements_fit_the_queue_too() {
    let mut config = Config::new("queue", 3, 2, 5);
    config.options.insert("business-key".to_string(), json!(""));
    let workload = Workload::new(&config).expect("a workload");
    let mut twin = Twin::new("queue", Flaw::None);
    let recorder = run(&workload, 3, &mut twin, 200);
    for checker in ["linearizability:queue", "queue", "fifo-producer", "no-lost-ack"] {
        assert_eq!(recorder.judge(checker, &[]), Answer::Upheld, "{checker}");
    }
}
