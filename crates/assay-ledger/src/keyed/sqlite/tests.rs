//! What the journal must not change: whoever looks sees pairs, wherever they stand.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A store that moves all the time.
fn restless(directory: &Path, move_bytes: usize) -> SqliteStore {
    let mut store = SqliteStore::open(directory).expect("a store");
    store.sizes = Sizes { move_bytes, direct_bytes: 2000 };
    store
}

#[derive(Clone, Debug)]
enum Deed {
    Commit(usize, Writes),
    Scan(usize, KeyRange, usize),
    Get(usize, Vec<String>),
    Reopen(usize),
}

fn key() -> impl Strategy<Value = String> {
    (0..150u32).prop_map(|number| format!("k/{number:03}"))
}

fn deed() -> impl Strategy<Value = Deed> {
    let value = prop_oneof![
        3 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Some),
        2 => Just(None),
        1 => prop::collection::vec(any::<u8>(), 500..900).prop_map(Some),
    ];
    let writes = prop::collection::btree_map(key(), value, 0..30);
    let order = prop_oneof![Just(Order::Ascending), Just(Order::Descending)];
    let range = (key(), key(), order).prop_map(|(from, to, order)| KeyRange { from, to, order });
    prop_oneof![
        5 => (0..2usize, writes).prop_map(|(who, writes)| Deed::Commit(who, writes)),
        3 => (0..2usize, range, 0..40usize).prop_map(|(who, r, limit)| Deed::Scan(who, r, limit)),
        3 => (0..2usize, prop::collection::vec(key(), 0..70)).prop_map(|(w, k)| Deed::Get(w, k)),
        1 => (0..2usize).prop_map(Deed::Reopen),
    ]
}

fn scan(twin: &BTreeMap<String, Vec<u8>>, range: &KeyRange, limit: usize) -> Vec<Pair> {
    if range.from >= range.to {
        return Vec::new();
    }
    let pairs = twin.range(range.from.clone()..range.to.clone());
    let pairs = pairs.map(|(key, value)| (key.clone(), value.clone()));
    match range.order {
        Order::Ascending => pairs.take(limit).collect(),
        Order::Descending => pairs.rev().take(limit).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn two_who_have_it_open_see_what_a_map_would_hold(
        deeds in prop::collection::vec(deed(), 1..60),
        move_bytes in prop_oneof![Just(1), Just(500), Just(3000), Just(usize::MAX)],
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || restless(directory.path(), move_bytes);
        let mut stores = [open(), open()];
        let mut twin: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for deed in deeds {
            match deed {
                Deed::Commit(who, writes) => {
                    stores[who].commit(&writes).expect("room");
                    for (key, value) in writes {
                        match value {
                            Some(value) => drop(twin.insert(key, value)),
                            None => drop(twin.remove(&key)),
                        }
                    }
                }
                Deed::Scan(who, range, limit) => {
                    let seen = stores[who].scan(&range, limit).expect("read");
                    prop_assert_eq!(seen, scan(&twin, &range, limit));
                }
                Deed::Get(who, keys) => {
                    let wanted: Vec<_> = keys.iter().map(|key| twin.get(key).cloned()).collect();
                    prop_assert_eq!(stores[who].get_many(&keys).expect("read"), wanted);
                }
                Deed::Reopen(who) => stores[who] = open(),
            }
        }
        let all = KeyRange { from: String::new(), to: "~".into(), order: Order::Ascending };
        stores[1] = open();
        for store in &mut stores {
            prop_assert_eq!(store.scan(&all, usize::MAX).expect("read"), scan(&twin, &all, 999));
        }
    }
}

#[test]
fn the_journal_is_moved_and_does_not_grow_for_ever() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = restless(directory.path(), 10_000);
    for round in 0..2000_u32 {
        let key = format!("k/{:08x}", round.wrapping_mul(0x9e37_79b9));
        store.commit(&Writes::from([(key, Some(vec![7; 100]))])).expect("room");
        let journal = store.number("SELECT coalesce(sum(length(writes)), 0) FROM journal");
        assert!(journal.expect("read") < 40_000, "{round}");
        assert!(store.recent.bytes() < 40_000, "{round}");
    }
    let moved = store.number("SELECT count(*) FROM pairs").expect("read");
    assert!((1700..=2000).contains(&moved), "{moved}");
    let all = KeyRange::below("k", Order::Ascending);
    assert_eq!(store.scan(&all, 9999).expect("read").len(), 2000);
}

#[test]
fn a_journal_that_says_the_same_again_and_again_is_moved_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut stores = [restless(directory.path(), 10_000), restless(directory.path(), 10_000)];
    for round in 0..1000_usize {
        let writes = Writes::from([("k".to_string(), Some(vec![7; 1000]))]);
        stores[round % 2].commit(&writes).expect("room");
        let journal = stores[0].number("SELECT coalesce(sum(length(writes)), 0) FROM journal");
        assert!(journal.expect("read") < 20_000, "{round}");
    }
    assert_eq!(stores[1].get("k").expect("read"), Some(vec![7; 1000]));
}

#[test]
fn what_is_gone_is_not_looked_past() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = restless(directory.path(), usize::MAX);
    let key = |number: usize| format!("k/{number:04}");
    let put = |number| (key(number), Some(vec![number as u8]));
    store.sizes.direct_bytes = 1;
    store.commit(&(0..1000).map(put).collect()).expect("room");
    store.sizes.direct_bytes = usize::MAX;
    store.commit(&(0..990).map(|number| (key(number), None)).collect()).expect("room");
    assert_eq!(store.number("SELECT count(*) FROM pairs").expect("read"), 10);
    assert_eq!(store.number("SELECT count(*) FROM journal").expect("read"), 0, "nothing to hide");
    let all = KeyRange::below("k", Order::Ascending);
    assert_eq!(store.scan(&all, 3).expect("read")[0].0, key(990));
}

#[test]
fn a_store_without_a_journal_gets_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    store.sizes.direct_bytes = 1;
    store.commit(&Writes::from([("a".into(), Some(b"1".to_vec()))])).expect("room");
    // As the first format was: pairs, and nothing else.
    store.runtime.block_on(async {
        for sql in ["DROP TABLE journal", "DROP TABLE moved", "PRAGMA user_version = 1"] {
            sqlx::query(sql).execute(&mut store.connection).await.expect("done");
        }
    });
    drop(store);
    let mut store = SqliteStore::open(directory.path()).expect("an old store");
    assert_eq!(store.get("a").expect("read"), Some(b"1".to_vec()));
    store.commit(&Writes::from([("a".into(), Some(b"2".to_vec()))])).expect("room");
    drop(store);
    let mut store = SqliteStore::open(directory.path()).expect("the same");
    assert_eq!(store.get("a").expect("read"), Some(b"2".to_vec()));
    assert_eq!(store.number("PRAGMA user_version").expect("read"), FORMAT_VERSION);
}

#[test]
fn a_damaged_journal_is_told_and_not_passed_over() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    store.commit(&Writes::from([("a".into(), Some(b"1".to_vec()))])).expect("room");
    store.runtime.block_on(async {
        let damage = sqlx::query("UPDATE journal SET writes = substr(writes, 1, 5)");
        damage.execute(&mut store.connection).await.expect("done");
    });
    let mut other = SqliteStore::open(directory.path()).expect("its format is good");
    let error = other.get("a").expect_err("nobody knows what stands there");
    assert!(error.to_string().contains("damaged"), "{error}");
    other.commit(&Writes::from([("b".into(), Some(Vec::new()))])).expect_err("nor what it hides");
}

#[test]
fn any_number_of_pairs_is_written_and_removed_whole() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    let all = KeyRange::below("x", Order::Ascending);
    for count in [1, 3, 4, 5, 21, 63, 64, 65, 200] {
        for direct_bytes in [1, usize::MAX] {
            store.sizes.direct_bytes = direct_bytes;
            let key = |number: usize| format!("x/{number:04}");
            let put: Writes = (0..count).map(|n| (key(n), Some(vec![n as u8]))).collect();
            store.commit(&put).expect("room");
            let mut changed: Writes = (0..count).step_by(2).map(|n| (key(n), None)).collect();
            changed.extend((1..count).step_by(2).map(|n| (key(n), Some(vec![1, n as u8]))));
            store.commit(&changed).expect("room");
            let wanted: Vec<Pair> =
                (1..count).step_by(2).map(|n| (key(n), vec![1, n as u8])).collect();
            assert_eq!(store.scan(&all, 1000).expect("readable"), wanted, "{count}");
            let gone: Writes = (0..count).map(|n| (key(n), None)).collect();
            store.commit(&gone).expect("room");
            assert_eq!(store.scan(&all, 1000).expect("readable"), [], "{count}");
        }
    }
}

#[test]
fn a_store_that_was_full_takes_what_comes_when_there_is_room() {
    for direct_bytes in [1, usize::MAX] {
        let directory = tempfile::tempdir().expect("a directory");
        let mut store = restless(directory.path(), 1);
        store.sizes.direct_bytes = direct_bytes;
        let small = Writes::from([("x/0".to_string(), Some(vec![1; 10]))]);
        store.commit(&small).expect("room");
        let pages = store.number("PRAGMA max_page_count = 12").expect("a setting");
        assert_eq!(pages, 12);
        let large: Writes = [("x/1".to_string(), Some(vec![1; 1 << 20]))].into_iter().collect();
        for _ in 0..3 {
            let refused = store.commit(&large).expect_err("there is no room");
            assert!(refused.to_string().contains("full"), "{refused}");
        }
        assert_eq!(store.get("x/1").expect("readable"), None, "all or nothing");
        assert_eq!(store.get("x/0").expect("readable"), Some(vec![1; 10]), "what was there stays");
        store.number("PRAGMA max_page_count = 10000").expect("a setting");
        store.commit(&large).expect("there is room again");
        assert_eq!(store.get("x/1").expect("readable").map(|value| value.len()), Some(1 << 20));
    }
}

#[test]
fn the_log_goes_into_the_database_beside_the_commits() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    // No commit does it.
    store.number("PRAGMA wal_autocheckpoint = 0").expect("a setting");
    let database = directory.path().join(STORE_NAME);
    let length = || std::fs::metadata(&database).expect("a file").len();
    let (before, mut commits) = (length(), 0_u32);
    while length() < before + (1 << 20) {
        commits += 1;
        assert!(commits < 10_000, "{} bytes in the database", length());
        let key = format!("k/{commits:06}");
        store.commit(&Writes::from([(key, Some(vec![7; 100_000]))])).expect("room");
    }
    assert_eq!(store.get("k/000001").expect("read"), Some(vec![7; 100_000]));
    drop(store);
    let mut store = SqliteStore::open(directory.path()).expect("the same");
    let all = KeyRange::below("k", Order::Ascending);
    assert_eq!(store.scan(&all, 9999).expect("read").len(), commits as usize);
}
