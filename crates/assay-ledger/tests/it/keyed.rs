//! One suite for every store of pairs, and a map in memory as the twin that cannot be wrong.

use assay_ledger::keyed::{
    KeyRange, Order, Pair, SqliteStore, Store, StoreError, Transaction, VALUE_BYTES_MAX, Writes,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// The twin.
#[derive(Default)]
struct Memory(BTreeMap<String, Vec<u8>>);

impl Store for Memory {
    fn get(&mut self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.get(key).cloned())
    }

    fn scan(&mut self, range: &KeyRange, limit: usize) -> Result<Vec<Pair>, StoreError> {
        if range.from >= range.to {
            return Ok(Vec::new());
        }
        let pairs = self.0.range(range.from.clone()..range.to.clone());
        let pairs = pairs.map(|(key, value)| (key.clone(), value.clone()));
        Ok(match range.order {
            Order::Ascending => pairs.take(limit).collect(),
            Order::Descending => pairs.rev().take(limit).collect(),
        })
    }

    fn commit(&mut self, writes: &Writes) -> Result<(), StoreError> {
        for (key, value) in writes {
            match value {
                Some(value) => drop(self.0.insert(key.clone(), value.clone())),
                None => drop(self.0.remove(key)),
            }
        }
        Ok(())
    }
}

fn writes(pairs: &[(&str, Option<&str>)]) -> Writes {
    let write = |(key, value): &(&str, Option<&str>)| {
        (key.to_string(), value.map(|value| value.as_bytes().to_vec()))
    };
    pairs.iter().map(write).collect()
}

fn keys(pairs: Vec<Pair>) -> Vec<String> {
    pairs.into_iter().map(|(key, _)| key).collect()
}

/// What every store promises.
fn conforms(store: &mut dyn Store) {
    let first = [("a/1", Some("x")), ("a/2", Some("y")), ("a/3", Some("")), ("ab/1", Some("z"))];
    store.commit(&writes(&first)).expect("empty so far");
    assert_eq!(store.get("a/2").expect("read"), Some(b"y".to_vec()));
    assert_eq!(store.get("a/3").expect("read"), Some(Vec::new()), "empty is not absent");
    assert_eq!(store.get("a/4").expect("read"), None);
    let range = KeyRange::below("a", Order::Ascending);
    assert_eq!(keys(store.scan(&range, 9).expect("read")), ["a/1", "a/2", "a/3"]);
    assert_eq!(keys(store.scan(&range, 2).expect("read")), ["a/1", "a/2"]);
    let behind = range.clone().after("a/1");
    assert_eq!(keys(store.scan(&behind, 9).expect("read")), ["a/2", "a/3"]);
    let range = KeyRange::below("a", Order::Descending);
    assert_eq!(keys(store.scan(&range, 2).expect("read")), ["a/3", "a/2"]);
    let behind = range.clone().after("a/2");
    assert_eq!(keys(store.scan(&behind, 9).expect("read")), ["a/1"]);
    let behind = range.after("a/1");
    assert_eq!(keys(store.scan(&behind, 9).expect("read")), [""; 0]);
    store.commit(&writes(&[("a/1", None), ("a/2", Some("Y")), ("a/9", None)])).expect("write");
    assert_eq!(store.get("a/1").expect("read"), None);
    assert_eq!(store.get("a/2").expect("read"), Some(b"Y".to_vec()));
}

#[test]
fn every_store_keeps_the_promises_of_stores() {
    conforms(&mut Memory::default());
    let directory = tempfile::tempdir().expect("a directory");
    let mut sqlite = SqliteStore::open(directory.path()).expect("a new store");
    conforms(&mut sqlite);
    let mut second = SqliteStore::open(directory.path()).expect("beside the first");
    assert_eq!(second.get("a/2").expect("read"), Some(b"Y".to_vec()));
    second.commit(&writes(&[("b/1", Some("1"))])).expect("write");
    assert_eq!(sqlite.get("b/1").expect("read"), Some(b"1".to_vec()), "seen by all");
    drop((sqlite, second));
    let mut again = SqliteStore::open(directory.path()).expect("after both are gone");
    assert_eq!(again.get("b/1").expect("read"), Some(b"1".to_vec()));
}

#[test]
fn a_commit_is_all_or_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    let mut both = writes(&[("a/1", Some("x"))]);
    both.insert("a/2".into(), Some(vec![0; VALUE_BYTES_MAX + 1]));
    let error = store.commit(&both).expect_err("too large");
    assert!(error.to_string().contains("a/2"), "{error}");
    assert_eq!(store.get("a/1").expect("read"), None);
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("store.sqlite");
    std::fs::write(&path, "not a database at all, but long enough to look at").expect("ours");
    SqliteStore::open(directory.path()).expect_err("not a database");
    let kept = std::fs::read(&path).expect("ours");
    assert!(kept.starts_with(b"not a database"));
}

/// Random changes, savepoints and scans through transactions: SQLite and the twin agree.
#[test]
fn transactions_read_what_they_will_write_whatever_the_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut sqlite = SqliteStore::open(directory.path()).expect("a new store");
    let mut memory = Memory::default();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for round in 0..60 {
        let mut both =
            [Transaction::new(&mut sqlite as &mut dyn Store), Transaction::new(&mut memory)];
        let mut saved = [both[0].savepoint(), both[1].savepoint()];
        for _ in 0..12 {
            let key = format!("k/{}", rng.random_range(0..20));
            let choice = rng.random_range(0..10);
            let order = if rng.random() { Order::Ascending } else { Order::Descending };
            let limit = rng.random_range(1..8);
            let seen = [0, 1].map(|i| {
                let transaction = &mut both[i];
                match choice {
                    0..4 => transaction.put(key.clone(), vec![round]),
                    4..6 => transaction.delete(key.clone()),
                    6 => saved[i] = transaction.savepoint(),
                    7 => {
                        transaction.roll_back(saved[i]);
                        saved[i] = transaction.savepoint();
                    }
                    _ => {}
                }
                let range = KeyRange::below("k", order).after(&key);
                let scanned = transaction.scan(&range, limit).expect("read");
                (scanned, transaction.get(&key).expect("read"))
            });
            assert_eq!(seen[0], seen[1]);
        }
        let [first, second] = both;
        first.commit().expect("write");
        second.commit().expect("write");
    }
    let all = KeyRange::below("k", Order::Ascending);
    assert_eq!(sqlite.scan(&all, 99).expect("read"), memory.scan(&all, 99).expect("read"));
}
