//! What the journal must not change: whoever looks sees pairs, wherever they stand.

use super::opening::FORMAT_VERSION;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A store that moves all the time.
fn restless(directory: &Path, move_bytes: usize) -> SqliteStore {
    let sizes = StoreSizes { move_bytes, direct_bytes: 700, row_bytes: 2000 };
    SqliteStore::open_sized(directory, sizes).expect("a store")
}

/// A store of which no value goes to its place at once.
fn patient(directory: &Path, move_bytes: usize) -> SqliteStore {
    let sizes = StoreSizes { move_bytes, direct_bytes: usize::MAX, row_bytes: usize::MAX };
    SqliteStore::open_sized(directory, sizes).expect("a store")
}

impl SqliteStore {
    fn number(&mut self, sql: &'static str) -> Result<i64, sqlx::Error> {
        self.runtime.block_on(sqlx::query_scalar(sql).fetch_one(&mut self.connection))
    }
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
        5 => (0..3usize, writes).prop_map(|(who, writes)| Deed::Commit(who, writes)),
        3 => (0..3usize, range, 0..40usize).prop_map(|(who, r, limit)| Deed::Scan(who, r, limit)),
        3 => (0..3usize, prop::collection::vec(key(), 0..70)).prop_map(|(w, k)| Deed::Get(w, k)),
        1 => (0..3usize).prop_map(Deed::Reopen),
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
    fn all_who_have_it_open_see_what_a_map_would_hold(
        deeds in prop::collection::vec(deed(), 1..60),
        move_bytes in prop_oneof![Just(1), Just(500), Just(3000), Just(usize::MAX)],
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || restless(directory.path(), move_bytes);
        // The third one hears what the first one writes, until one of them is opened again.
        let [mut first, mut third] = [open(), open()];
        let feed = Arc::new(Feed::default());
        first.recent.tell(feed.clone());
        third.heard = Some(feed);
        let mut stores = [first, open(), third];
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
    let mut stores = [patient(directory.path(), 10_000), patient(directory.path(), 10_000)];
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
    make_first_format(directory.path());
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
        (store.sizes.direct_bytes, store.sizes.row_bytes) = (direct_bytes, usize::MAX);
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

#[test]
fn a_move_of_small_pairs_keeps_up_with_large_ones_that_are_written_meanwhile() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = patient(directory.path(), 200_000);
    let small = |number: usize| (format!("a/{number:06}"), Some(vec![7; 100]));
    for some in 0..20 {
        store.commit(&(some * 100..(some + 1) * 100).map(small).collect()).expect("room");
    }
    for round in 0..200 {
        let large = |number: usize| (format!("{round:04}/{number}"), Some(vec![7; 5000]));
        store.commit(&(0..5).map(large).collect()).expect("room");
        // As long as it may be when a move begins, half as much again, and two commits.
        assert!(store.recent.bytes() < 390_000, "{round}: {}", store.recent.bytes());
    }
}

#[test]
fn a_large_value_goes_to_its_place_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    let small = |number: usize| (format!("a/{number:06}"), Some(vec![7; 100]));
    let mut writes: Writes = (0..1000).map(small).collect();
    store.commit(&writes).expect("room");
    writes = Writes::from([("a/000500".to_string(), Some(vec![8; 2 << 20]))]);
    writes.insert("a/000501".into(), Some(vec![9; 9]));
    store.commit(&writes).expect("room");
    assert_eq!(store.number("SELECT count(*) FROM pairs").expect("read"), 1, "no other one moves");
    let mut other = SqliteStore::open(directory.path()).expect("the same");
    for store in [&mut store, &mut other] {
        let keys = ["a/000499", "a/000500", "a/000501"].map(str::to_string);
        let found = store.get_many(&keys).expect("read");
        let sizes = found.into_iter().map(|value| value.map(|value| value.len()));
        assert_eq!(sizes.collect::<Vec<_>>(), [Some(100), Some(2 << 20), Some(9)]);
    }
    // It is small again, and gone, and large again.
    for value in [Some(vec![1; 5]), None, Some(vec![2; 1 << 20]), None] {
        other.commit(&Writes::from([("a/000500".into(), value.clone())])).expect("room");
        assert_eq!(store.get("a/000500").expect("read"), value);
        assert_eq!(other.get("a/000500").expect("read"), value);
    }
}

#[test]
fn of_a_large_commit_the_journal_gets_only_a_part() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = SqliteStore::open(directory.path()).expect("a new store");
    let pair = |number: usize| (format!("a/{number:06}"), Some(vec![7; 100 + number]));
    let writes: Writes = (0..3000).map(pair).collect();
    store.commit(&writes).expect("room");
    let row = store.number("SELECT sum(length(writes)) FROM journal").expect("read");
    assert!((900_000..1_200_000).contains(&row), "{row}");
    let all = KeyRange::below("a", Order::Ascending);
    let wanted: Vec<Pair> =
        writes.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
    assert_eq!(store.scan(&all, 9999).expect("read"), wanted);
}

#[test]
fn many_may_open_it_for_the_first_time_at_once() {
    for round in 0..10 {
        let directory = tempfile::tempdir().expect("a directory");
        let is_old = round % 2 == 1;
        if is_old {
            make_first_format(directory.path());
        }
        let open = |number: usize| {
            let mut store = SqliteStore::open(directory.path()).expect("one of them makes it");
            store.commit(&Writes::from([(format!("k/{number}"), Some(vec![1]))])).expect("room");
        };
        std::thread::scope(|scope| {
            (0..12).for_each(|number| drop(scope.spawn(move || open(number))));
        });
        let mut store = SqliteStore::open(directory.path()).expect("a store");
        let all = KeyRange::below("k", Order::Ascending);
        assert_eq!(store.scan(&all, 99).expect("read").len(), 12);
        assert_eq!(store.number("SELECT count(*) FROM moved").expect("read"), 1);
        assert_eq!(store.get("a").expect("read"), is_old.then(|| b"1".to_vec()));
    }
}

/// As the first format was: pairs, and nothing else.
fn make_first_format(directory: &Path) {
    let mut store = SqliteStore::open(directory).expect("a new store");
    store.sizes.direct_bytes = 1;
    store.commit(&Writes::from([("a".into(), Some(b"1".to_vec()))])).expect("room");
    store.runtime.block_on(async {
        for sql in ["DROP TABLE journal", "DROP TABLE moved", "PRAGMA user_version = 1"] {
            sqlx::query(sql).execute(&mut store.connection).await.expect("done");
        }
    });
}

/// A text for which sqlx has no number of a place: its thread panics.
const DEADLY: &str = "SELECT $0";

#[test]
fn a_store_that_has_lost_its_thread_says_so_once_and_for_all() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = || SqliteStore::open(directory.path()).expect("a store");
    let small = Writes::from([("a".into(), Some(b"1".to_vec()))]);
    let mut store = open();
    store.commit(&small).expect("room");
    let deadly = || statements::of(&["SELECT 1", DEADLY, "COMMIT"]);
    let said = store.runtime.block_on(say(&mut store.connection, deadly(), |query| query));
    let BrokeOff { done, error } = said.expect_err("nobody has heard of its end");
    assert_eq!((done, matches!(error, sqlx::Error::WorkerCrashed)), (1, true));
    assert!(is_unknown(&error), "in a COMMIT");
    let mut store = open();
    let error = store.ask(deadly(), |query| query).expect_err("it is lost while it is asked");
    assert!(error.is_final(), "{error}");
    for _ in 0..2 {
        let error = store.get("a").expect_err("nobody is there");
        assert!(error.is_final(), "{error}");
        let error = store.commit(&small).expect_err("nobody is there");
        assert!(error.is_final(), "{error}");
    }
    assert_eq!(open().get("a").expect("read"), Some(b"1".to_vec()));
}

#[test]
fn a_commit_is_two_journeys_to_the_thread_of_sqlite_and_a_question_is_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut store = patient(directory.path(), 5000);
    let journeys = |act: &mut dyn FnMut()| {
        let before = ask::JOURNEYS.get();
        act();
        ask::JOURNEYS.get() - before
    };
    for round in 0..40_usize {
        let pair = |number: usize| {
            let key = format!("k/{:04}", (round * 97 + number * 13) % 1000);
            (key, (!number.is_multiple_of(4)).then(|| vec![7; 90]))
        };
        let writes: Writes = (0..1 + (round * 7) % 120).map(pair).collect();
        assert_eq!(journeys(&mut || store.commit(&writes).expect("room")), 2, "{round}");
        let keys: Vec<String> = writes.into_keys().collect();
        assert_eq!(journeys(&mut || drop(store.get_many(&keys).expect("read"))), 1, "{round}");
    }
    let moved = store.number("SELECT count(*) FROM pairs").expect("read");
    assert!(moved > 100, "{moved} were moved meanwhile");
    let all = KeyRange::below("k", Order::Ascending);
    assert_eq!(journeys(&mut || drop(store.scan(&all, 9999).expect("read"))), 1);
    // What has more pairs than one text takes needs one more for each so many.
    let many: Writes = (0..600).map(|n| (format!("m/{n}"), None)).collect();
    assert_eq!(journeys(&mut || store.commit(&many).expect("room")), 4);
}

#[test]
fn a_reader_beside_a_writer_hears_of_rows_and_asks_only_for_what_it_missed() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut writes, mut reads) = SqliteStore::open_pair(directory.path()).expect("a new store");
    let mut guest = SqliteStore::open(directory.path()).expect("the same");
    let put = |store: &mut SqliteStore, number: usize| {
        let key = format!("k/{number:05}");
        store.commit(&Writes::from([(key, Some(vec![7; 10]))])).expect("room");
    };
    let all = KeyRange::below("k", Order::Ascending);
    let there = |store: &mut SqliteStore| store.scan(&all, 9999).expect("read").len();
    let mut count = 0;
    for round in 0..30 {
        // More than wait for the reader, once; and somebody else writes in between.
        for _ in 0..if round == 20 { 1500 } else { round } {
            put(&mut writes, count);
            count += 1;
        }
        if round % 3 == 0 {
            put(&mut guest, count);
            count += 1;
        }
        assert_eq!(there(&mut reads), count, "{round}");
    }
    // What was heard is not asked for again.
    assert_eq!(there(&mut writes), count);
    put(&mut writes, count);
    let seen = reads.recent.seen();
    let feed = reads.heard.clone().expect("it hears");
    reads.recent.overhear(&feed);
    assert_eq!(reads.recent.seen(), seen + 1);
}
