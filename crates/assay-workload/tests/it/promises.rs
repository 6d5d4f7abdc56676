//! Same seed, same calls; unique values; mixes in their shares; errors that say what is wrong.

use crate::judge::cases;
use assay_workload::{Call, Config, ConfigError, GENERATORS, Reply, Resend, Workload, generator};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

fn ok(output: Value) -> Reply {
    Reply::Ok { output, node: None, revision: None }
}

/// The first calls of a client that always hears the same.
fn calls(workload: &Workload, client: usize, count: usize, reply: &Reply) -> Vec<Call> {
    let mut script = workload.script(client);
    let mut one = || {
        let call = script.next().expect("endless");
        script.observe(&call, reply);
        call
    };
    (0..count).map(|_| one()).collect()
}

proptest! {
    #![proptest_config(cases(16))]

    #[test]
    fn the_same_seed_gives_the_same_calls_whatever_others_do(seed: u64, clients in 1..5usize) {
        for info in GENERATORS {
            let config = Config::new(info.name, clients, 4, seed);
            let make = || Workload::new(&config).expect(info.name);
            let (one, two) = (make(), make());
            // In the second workload, all other clients have done something before.
            for other in 1..clients {
                calls(&two, other, 30, &ok(json!(1)));
            }
            prop_assert_eq!(
                calls(&one, 0, 100, &ok(json!(1))),
                calls(&two, 0, 100, &ok(json!(1))),
                "{}", info.name
            );
        }
    }

    #[test]
    fn no_value_and_no_id_is_made_twice(seed: u64, clients in 1..6usize) {
        for info in GENERATORS {
            let mut config = Config::new(info.name, clients, 4, seed);
            if info.options.iter().any(|option| option.name == "retries") {
                config.options.insert("retries".to_string(), json!(1));
            }
            let workload = Workload::new(&config).expect(info.name);
            let (mut values, mut ids) = (BTreeSet::new(), BTreeSet::new());
            for call in (0..clients).flat_map(|c| calls(&workload, c, 60, &ok(Value::Null))) {
                for value in written(info.name, &call) {
                    prop_assert!(values.insert(value.to_string()), "{value} twice: {}", info.name);
                }
                if let Some(id) = call.id {
                    prop_assert!(ids.insert(id), "an id twice: {}", info.name);
                }
            }
        }
    }

    #[test]
    fn mixes_come_out_in_their_shares(
        seed: u64,
        read in 0..9u64,
        write in 1..9u64,
        cas in 0..9u64,
    ) {
        const CALLS: usize = 4_000;
        let mut config = Config::new("register", 1, 4, seed);
        let shares = [("read", read), ("write", write), ("cas", cas)];
        config.mix = shares.iter().map(|(op, share)| (op.to_string(), *share)).collect();
        let workload = Workload::new(&config).expect("a mix");
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for call in calls(&workload, 0, CALLS, &ok(Value::Null)) {
            *counts.entry(call.op).or_default() += 1;
        }
        for (op, share) in shares {
            let p = share as f64 / (read + write + cas) as f64;
            let (mean, found) = (CALLS as f64 * p, *counts.get(op).unwrap_or(&0) as f64);
            // Six standard deviations of a binomial draw.
            let bound = 6.0 * (CALLS as f64 * p * (1.0 - p)).sqrt();
            prop_assert!((found - mean).abs() <= bound, "{op}: {found}, not {mean}");
        }
    }
}

/// The values a call writes, where they must be unique.
fn written(generator: &str, call: &Call) -> Vec<Value> {
    match call.op.as_str() {
        "write" | "put" | "append" | "enqueue" => vec![call.input.clone()],
        "add" if generator == "set" => vec![call.input.clone()],
        "cas" => vec![call.input[1].clone()],
        "credit" | "debit" => vec![call.input["id"].clone()],
        "txn" => {
            let micros = call.input.as_array().expect("a list").iter();
            micros.filter(|micro| micro[0] != "r").map(|micro| micro[2].clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// A config that differs from one that works in one thing.
fn error(change: impl FnOnce(&mut Config)) -> String {
    let mut config = Config::new("register", 2, 2, 1);
    change(&mut config);
    Workload::new(&config).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn what_is_wrong_with_a_config_is_said() {
    let option = |generator: &'static str, name: &'static str, value: Value| {
        move |config: &mut Config| {
            config.generator = generator.to_string();
            config.options.insert(name.to_string(), value);
        }
    };
    let mix = |op: &'static str, share: u64| {
        move |config: &mut Config| {
            config.mix.insert(op.to_string(), share);
        }
    };
    let cases = [
        (error(|c| c.generator = "regster".to_string()), "did you mean `register`?"),
        (error(|c| c.generator = "blockchain".to_string()), "there are register, map"),
        (error(|c| c.clients = 0), "the number of clients must be 1 to 100000, not 0"),
        (error(|c| c.keys = 0), "the number of keys must be 1 to 1000000, not 0"),
        (error(mix("raed", 1)), "makes no `raed`; did you mean `read`?"),
        (error(mix("read", 0)), "no share above 0"),
        (error(option("register", "retires", json!(1))), "did you mean `retries`?"),
        (error(option("register", "retries", json!(-1))), "a whole number from 0 to 100, not -1"),
        (error(option("lock", "ttl-ms", json!(5))), "`lock` has no option `ttl-ms`"),
        (error(option("lease", "ttl-ms", json!(0))), "from 1 to 86400000"),
        (error(option("rw-register", "txn-ops", json!("4..1"))), "a range within 1 to 64"),
        (error(option("queue", "business-key", json!(1))), "is a text, not 1"),
        (error(option("membership", "members", json!([]))), "is a list of texts, not []"),
        (error(option("register", "skew", json!("much"))), "a number from 0 to 10"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found:?} does not say {expected:?}");
    }
}

#[test]
fn every_form_of_a_range_is_read() {
    for (value, most) in [(json!("2..5"), 5), (json!([2, 5]), 5), (json!(2), 2)] {
        let mut config = Config::new("list-append", 1, 3, 1);
        config.options.insert("txn-ops".to_string(), value);
        let workload = Workload::new(&config).expect("a range");
        let sizes: BTreeSet<usize> = calls(&workload, 0, 300, &ok(Value::Null))
            .iter()
            .map(|call| call.input.as_array().expect("micro-operations").len())
            .collect();
        assert_eq!((sizes.first(), sizes.last()), (Some(&2), Some(&most)));
    }
}

#[test]
fn only_what_changes_something_has_an_id_and_only_where_it_is_sent_again() {
    for (retries, expected) in [(0, false), (2, true)] {
        let mut config = Config::new("register", 1, 2, 3);
        config.options.insert("retries".to_string(), json!(retries));
        let workload = Workload::new(&config).expect("retries");
        assert_eq!((workload.retries(), workload.resend()), (retries, Resend::SameOperation));
        for call in calls(&workload, 0, 50, &ok(Value::Null)) {
            assert_eq!(call.id.is_some(), expected && call.op != "read", "{call:?}");
        }
    }
    let ledger = Workload::new(&Config::new("ledger", 1, 2, 3)).expect("a ledger");
    assert_eq!((ledger.retries(), ledger.resend()), (2, Resend::OwnOperation));
    assert_eq!(ledger.info(), generator("ledger").expect("it is there"));
}

#[test]
fn a_client_releases_what_it_may_hold_and_nothing_else() {
    let workload = Workload::new(&Config::new("lock", 1, 3, 9)).expect("locks");
    let mut script = workload.script(0);
    let unknown = Reply::Unknown { error: "timeout".to_string(), node: None };
    let (mut held, mut doubtful) = (BTreeSet::new(), None);
    for turn in 0..500 {
        let call = script.next().expect("endless");
        let key = call.key.clone().expect("a key").to_string();
        if let Some(expected) = doubtful.take() {
            assert_eq!((call.op.as_str(), &key), ("release", &expected));
        }
        if call.op == "release" {
            assert!(held.remove(&key), "{call:?} is not held");
        }
        let reply = match (call.op.as_str(), turn % 7) {
            ("acquire", 0) => unknown.clone(),
            _ => ok(Value::Null),
        };
        if call.op == "acquire" {
            assert!(held.insert(key.clone()), "{call:?} is held already");
            if reply == unknown {
                doubtful = Some(key);
            }
        }
        script.observe(&call, &reply);
    }
}

#[test]
fn an_end_that_never_succeeds_ends_all_the_same() {
    for info in GENERATORS {
        let workload = Workload::new(&Config::new(info.name, 1, 2, 1)).expect(info.name);
        let mut finals = workload.finals(3, assay_workload::Dumps::Wanted);
        let mut count = 0;
        while let Some(call) = finals.next() {
            count += 1;
            assert!(count < 1_000, "{} does not end", info.name);
            finals.observe(&call, &Reply::Fail { error: "no".to_string(), node: None });
        }
        assert!(count > 0, "{} reads nothing at the end", info.name);
    }
}

#[test]
fn errors_can_be_told_apart() {
    let config = Config::new("nothing", 1, 1, 1);
    assert!(matches!(Workload::new(&config), Err(ConfigError::UnknownGenerator { .. })));
}

#[test]
fn transactions_that_update_read_each_object_before_they_write_it_once() {
    for generator in ["list-append", "rw-register"] {
        let mut config = Config::new(generator, 2, 4, 7);
        config.options.insert("pattern".to_string(), json!("updates"));
        let workload = Workload::new(&config).expect("a pattern");
        for call in calls(&workload, 0, 500, &ok(Value::Null)) {
            let micros = call.input.as_array().expect("a list");
            let (reads, writes) = micros.split_at(micros.len() / 2);
            let keys = |half: &[Value]| -> Vec<Value> {
                half.iter().map(|micro| micro[1].clone()).collect()
            };
            assert!(reads.iter().all(|micro| micro[0] == "r"), "{micros:?}");
            assert!(writes.iter().all(|micro| micro[0] != "r"), "{micros:?}");
            assert_eq!(keys(reads), keys(writes));
            assert!(!reads.is_empty());
        }
    }
}
