//! One suite for every store of pairs, and a map in memory as the twin that cannot be wrong.

use assay_ledger::keyed::{
    KEY_BYTES_MAX, KeyRange, Order, Pair, SqliteStore, Store, StoreError, Transaction,
    VALUE_BYTES_MAX, Writes,
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

/// Opens one and the same store, each time it is called.
pub type Open<'a> = &'a (dyn Fn() -> Box<dyn Store> + Sync);

/// A promise in words, and what holds a store to it.
pub type Promise = (&'static str, fn(Open));

/// What every store promises. Each gets one that is empty.
pub const PROMISES: [Promise; 10] = [
    ("several are asked for at once, in any order and twice", several),
    ("pairs are found, in ranges and in both orders", ranges),
    ("keys are in the order of their bytes", order),
    ("values are any bytes, also none", bytes),
    ("values and keys have a limit, and a commit past it leaves nothing", limits),
    ("many are written at once", many),
    ("a commit is seen whole or not at all", atomic),
    ("each commit is seen by all who have the store open", shared),
    ("what was written is there when the store is opened again", reopened),
    ("transactions read what they will write", transactions),
];

pub fn writes(pairs: &[(&str, Option<&str>)]) -> Writes {
    let write = |(key, value): &(&str, Option<&str>)| {
        (key.to_string(), value.map(|value| value.as_bytes().to_vec()))
    };
    pairs.iter().map(write).collect()
}

fn keys(pairs: Vec<Pair>) -> Vec<String> {
    pairs.into_iter().map(|(key, _)| key).collect()
}

fn several(open: Open) {
    let mut store = open();
    let key = |number: usize| format!("a/{number}");
    let put: Writes = (0..100).step_by(2).map(|n| (key(n), Some(vec![n as u8]))).collect();
    store.commit(&put).expect("room");
    for count in [0, 1, 5, 64, 90, 150] {
        // Backwards, with some that are not there, and some that are asked for twice.
        let keys: Vec<String> = (0..count).rev().map(|number| key(number % 110)).collect();
        let wanted: Vec<Option<Vec<u8>>> =
            keys.iter().map(|key| store.get(key).expect("read")).collect();
        assert_eq!(store.get_many(&keys).expect("read"), wanted, "{count}");
    }
}

fn ranges(open: Open) {
    let store = &mut *open();
    let first = [("a/1", Some("x")), ("a/2", Some("y")), ("a/3", Some("")), ("ab/1", Some("z"))];
    store.commit(&writes(&first)).expect("empty so far");
    assert_eq!(store.get("a/2").expect("read"), Some(b"y".to_vec()));
    assert_eq!(store.get("a/4").expect("read"), None);
    let mut see = |range: &KeyRange, limit: usize, expected: &[&str]| {
        assert_eq!(keys(store.scan(range, limit).expect("read")), expected, "{range:?} {limit}");
    };
    let range = KeyRange::below("a", Order::Ascending);
    see(&range, 9, &["a/1", "a/2", "a/3"]);
    see(&range, 2, &["a/1", "a/2"]);
    see(&range, 0, &[]);
    see(&range, usize::MAX, &["a/1", "a/2", "a/3"]);
    see(&range.clone().after("a/1"), 9, &["a/2", "a/3"]);
    let range = KeyRange::below("a", Order::Descending);
    see(&range, 2, &["a/3", "a/2"]);
    see(&range.clone().after("a/2"), 9, &["a/1"]);
    see(&range.after("a/1"), 9, &[]);
    let backwards = KeyRange { from: "b".into(), to: "a".into(), order: Order::Ascending };
    see(&backwards, 9, &[]);
    store.commit(&writes(&[("a/1", None), ("a/2", Some("Y")), ("a/9", None)])).expect("write");
    assert_eq!(store.get("a/1").expect("read"), None);
    assert_eq!(store.get("a/2").expect("read"), Some(b"Y".to_vec()));
    store.commit(&Writes::new()).expect("nothing is no trouble");
}

fn order(open: Open) {
    let store = &mut *open();
    let mut expected = [
        "", "a", "a\0", "a\u{1}", "a b", "a/", "a0", "A", "B", "_", "-", "~", "é", "e", "日本",
        "ss", "ß",
    ]
    .map(str::to_string);
    let written = expected.iter().map(|key| (key.clone(), Some(Vec::new())));
    store.commit(&written.collect()).expect("write");
    expected.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    let all = |order| KeyRange { from: String::new(), to: "\u{10ffff}".into(), order };
    assert_eq!(keys(store.scan(&all(Order::Ascending), 99).expect("read")), expected);
    expected.reverse();
    assert_eq!(keys(store.scan(&all(Order::Descending), 99).expect("read")), expected);
}

fn bytes(open: Open) {
    let store = &mut *open();
    let all: Vec<u8> = (0..=255).collect();
    for value in [Vec::new(), all, vec![0; 3], vec![0xff; 3], b"\\x00 '; --".to_vec()] {
        store.commit(&Writes::from([("k".into(), Some(value.clone()))])).expect("write");
        assert_eq!(store.get("k").expect("read"), Some(value.clone()));
        let range = KeyRange { from: "k".into(), to: "l".into(), order: Order::Ascending };
        assert_eq!(store.scan(&range, 1).expect("read"), [("k".to_string(), value)]);
    }
}

fn limits(open: Open) {
    let store = &mut *open();
    let (long, large) = ("k".repeat(KEY_BYTES_MAX), vec![7; VALUE_BYTES_MAX]);
    store.commit(&Writes::from([(long.clone(), Some(large.clone()))])).expect("just fits");
    assert!(store.get(&long).expect("read") == Some(large), "as it was written");
    let more = Writes::from([
        ("a/1".into(), Some(Vec::new())),
        ("a/2".into(), Some(vec![0; VALUE_BYTES_MAX + 1])),
    ]);
    let error = store.commit(&more).expect_err("too large");
    assert!(error.to_string().contains("a/2") && !error.is_final(), "{error}");
    let more = Writes::from([("a/1".into(), Some(Vec::new())), (long + "k", None)]);
    store.commit(&more).expect_err("too long");
    assert_eq!(store.get("a/1").expect("read"), None);
    let mut transaction = Transaction::new(store);
    transaction.put("a/1".into(), Vec::new());
    let saved = transaction.savepoint();
    transaction.put("a/2".into(), vec![0; VALUE_BYTES_MAX + 1]);
    let error = transaction.check_since(saved).expect_err("too large");
    assert!(error.to_string().contains("a/2"), "{error}");
    let later = transaction.savepoint();
    transaction.put("a/3".into(), Vec::new());
    transaction.check_since(later).expect("what came before is not its own");
    transaction.roll_back(saved);
    transaction.check_since(saved).expect("nothing is left of it");
    transaction.commit().expect("the rest is written");
    assert_eq!(store.get("a/1").expect("read"), Some(Vec::new()));
}

fn many(open: Open) {
    let store = &mut *open();
    let key = |n: usize| format!("m/{n:05}");
    let all = (0..2500).map(|n| (key(n), Some(vec![1; 100])));
    store.commit(&all.collect()).expect("write");
    let half = (0..2500).map(|n| (key(n), (n % 2 == 0).then(|| vec![2; 100])));
    store.commit(&half.collect()).expect("write");
    let range = KeyRange::below("m", Order::Ascending);
    let left = store.scan(&range, usize::MAX).expect("read");
    assert_eq!(left.len(), 1250);
    assert!(left.iter().all(|(_, value)| value[..] == [2; 100]));
}

/// One writes two equal values, again and again; others never see them differ.
fn atomic(open: Open) {
    const ROUNDS: u32 = 100;
    let pair = |n: u32| {
        let value = Some(n.to_be_bytes().to_vec());
        Writes::from([("p/1".into(), value.clone()), ("p/2".into(), value)])
    };
    open().commit(&pair(0)).expect("write");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut store = open();
                loop {
                    let range = KeyRange::below("p", Order::Ascending);
                    let seen = store.scan(&range, 9).expect("read");
                    assert_eq!(seen[0].1, seen[1].1, "half of a commit");
                    if seen[0].1 == ROUNDS.to_be_bytes() {
                        return;
                    }
                }
            });
        }
        let mut store = open();
        for n in 1..=ROUNDS {
            store.commit(&pair(n)).expect("write");
        }
    });
}

fn shared(open: Open) {
    let (mut first, mut second) = (open(), open());
    first.commit(&writes(&[("a", Some("1"))])).expect("write");
    assert_eq!(second.get("a").expect("read"), Some(b"1".to_vec()));
    second.commit(&writes(&[("b", Some("2"))])).expect("write");
    assert_eq!(first.get("b").expect("read"), Some(b"2".to_vec()));
}

fn reopened(open: Open) {
    open().commit(&writes(&[("a", Some("1")), ("b", Some("2"))])).expect("write");
    open().commit(&writes(&[("b", None)])).expect("write");
    let mut store = open();
    assert_eq!(store.get("a").expect("read"), Some(b"1".to_vec()));
    assert_eq!(store.get("b").expect("read"), None);
}

/// Random changes, savepoints and scans through transactions: the store and the twin agree.
fn transactions(open: Open) {
    let mut store = open();
    let mut memory = Memory::default();
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for round in 0..60 {
        let mut both = [Transaction::new(store.as_mut()), Transaction::new(&mut memory)];
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
    assert_eq!(store.scan(&all, 99).expect("read"), memory.scan(&all, 99).expect("read"));
}

#[test]
fn sqlite_keeps_the_promises_of_stores() {
    for (promise, check) in PROMISES {
        println!("{promise}");
        let directory = tempfile::tempdir().expect("a directory");
        check(&|| Box::new(SqliteStore::open(directory.path()).expect("a store")));
    }
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
