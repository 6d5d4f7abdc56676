//! Every generator against real nodes of the embedded store, judged by `assay check`.

#[allow(dead_code, reason = "shared with the tests of the store, which use all of it")]
#[path = "../kv/cluster.rs"]
mod cluster;
#[allow(dead_code, reason = "shared with the tests of the store, which use all of it")]
#[path = "../kv/http.rs"]
mod http;
mod recorder;

use assay_workload::{Config, generator};
use cluster::Cluster;
use recorder::{Recorder, Sending};
use serde_json::{Value, json};

const CLIENTS: usize = 3;
const KEYS: u64 = 3;
const CALLS: usize = 200;

fn config(generator: &str, options: &[(&str, Value)]) -> Config {
    let mut config = Config::new(generator, CLIENTS, KEYS, 42);
    let options = options.iter().map(|(name, value)| (name.to_string(), value.clone()));
    config.options = options.collect();
    config
}

/// What `--set` tells a checker.
fn settings(generator: &str, checker: &str) -> &'static [&'static str] {
    match (generator, checker) {
        ("bank", "bank") => &["total=300"],
        ("bank", "invariant") => &["invariant=sum(*) == 300"],
        ("counter", "invariant") => &["invariant=count(*) <= 3"],
        ("lease", "lease") => &["lease-ttl=30ms"],
        ("membership", "membership") => &["members-at-start=n1,n2,n3"],
        (_, "exactly-once" | "at-least-once" | "at-most-once") => &["business-key=id"],
        _ => &[],
    }
}

/// Runs generators one after the other on one honest cluster. They must not share objects.
fn upheld(generators: &[&str]) {
    let cluster = Cluster::start(3, &[]);
    for name in generators {
        let options = match *name {
            "lease" => vec![("ttl-ms", json!(30))],
            _ => Vec::new(),
        };
        let mut config = config(name, &options);
        if *name == "register" {
            // Two checkers look at keys that nothing but writes changes; `cas` has tests below.
            config.mix = [("read".to_string(), 1), ("write".to_string(), 1)].into();
        }
        let recorder = Recorder::run(&cluster, &config, CALLS, Sending::Once);
        // Who oversleeps a lease is refused many times.
        assert!(recorder.oks() > CALLS / 4, "{name}: {} ok of {CALLS}", recorder.oks());
        for checker in generator(name).expect("it is in the catalog").checkers {
            let (code, text) = recorder.judge(checker, settings(name, checker));
            assert_eq!(code, 0, "{name} by {checker}: {text}");
        }
    }
}

#[test]
fn the_honest_store_is_upheld_by_every_checker_of_its_collections() {
    upheld(&["map", "set", "queue", "log", "counter"]);
}

#[test]
fn the_honest_store_is_upheld_by_every_checker_of_its_locks_and_money() {
    upheld(&["lock", "lease", "bank", "ledger", "membership"]);
}

#[test]
fn the_honest_store_is_upheld_by_every_checker_of_its_registers() {
    // These are the same objects of the store: each needs a cluster of its own.
    for name in ["register", "session", "kv-append", "rw-register", "list-append"] {
        upheld(&[name]);
    }
}

/// Runs a generator with and without a defect; `checkers` must tell the two apart.
fn only_with(defect: &str, config: &Config, sending: Sending, checkers: &[&str]) {
    for (extra, expected) in [(vec![], 0), (vec!["--defect", defect], 1)] {
        let cluster = Cluster::start(3, &extra);
        let recorder = Recorder::run(&cluster, config, CALLS, sending);
        for checker in checkers {
            let (code, text) = recorder.judge(checker, settings(&config.generator, checker));
            assert_eq!(code, expected, "{} by {checker}, {extra:?}: {text}", config.generator);
        }
    }
}

#[test]
fn a_ledger_that_books_retries_again_is_refuted() {
    let config = config("ledger", &[]);
    let checkers = ["exactly-once", "at-most-once", "ledger"];
    only_with("duplicate-on-retry", &config, Sending::AgainAsOwn, &checkers);
}

#[test]
fn a_log_that_appends_retries_again_is_refuted() {
    let config = config("log", &[("retries", json!(1))]);
    let checkers = ["linearizability:log", "log"];
    only_with("duplicate-on-retry", &config, Sending::AgainLater, &checkers);
}

#[test]
fn a_register_that_puts_back_what_a_retry_left_is_refuted() {
    let mut config = config("register", &[("retries", json!(1))]);
    // On one key, so that others read and write between the two sendings.
    config.keys = 1;
    let checkers = ["linearizability:register"];
    only_with("lost-update-on-retry", &config, Sending::AgainLater, &checkers);
}

#[test]
fn a_resource_that_takes_old_tokens_is_refuted() {
    let config = config("lease", &[("ttl-ms", json!(30)), ("oversleep-percent", json!(100))]);
    let checkers = ["lease", "linearizability:lease"];
    only_with("lock-without-fencing", &config, Sending::Once, &checkers);
}
