//! The same for a bare store, with sizes so small that its journal is being moved again and again.

use super::{next, start};
use assay_ledger::keyed::{KeyRange, Order, STORE_NAME, SqliteStore, Store, StoreSizes, Writes};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sqlx::{Connection, SqliteConnection};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Kills, at least; and until so many of them have met a journal that was being moved.
const KILLS_MIN: u32 = 25;
const KILLS_MAX: u32 = 400;
const KILLS_IN_MOVES: u32 = 8;
/// It is killed after at most so many acknowledgements.
const LINES_MAX: u32 = 60;
const SEED: u64 = 11;
/// Programs that open a store at once.
const PROGRAMS: usize = 8;

const SIZES: StoreSizes = StoreSizes { move_bytes: 40_000, direct_bytes: 3_000, row_bytes: 6_000 };
/// A journal that is longer without its last row is being moved. A move begins at `move_bytes` of
/// keys and values; here is counted what rows take, which is a little more.
const MOVING_BYTES: i64 = 52_000;

/// What commit number so and so writes, which is known without having written it.
fn writes(number: u64) -> Writes {
    let mut rng = ChaCha8Rng::seed_from_u64(number);
    let mut writes = Writes::new();
    // So many small ones that a move takes several commits.
    for _ in 0..rng.random_range(20..60) {
        let key = format!("k/{:04}", rng.random_range(0..2_000));
        let bytes = match rng.random_range(0..200) {
            0..=20 => None,
            21..=196 => Some(rng.random_range(0..60)),
            197..=198 => Some(rng.random_range(500..2_500)),
            _ => Some(rng.random_range(3_000..6_000)),
        };
        let byte = u8::try_from(number % 251).expect("a byte");
        writes.insert(key, bytes.map(|bytes| vec![byte; bytes]));
    }
    writes.insert("number".into(), Some(number.to_string().into_bytes()));
    writes
}

fn number(store: &mut SqliteStore) -> u64 {
    let number = store.get("number").expect("no kill leaves a broken store");
    let number = number.map(|number| String::from_utf8(number).expect("text"));
    number.map_or(0, |number| number.parse().expect("a number"))
}

/// Commits as quickly as it can, and says what was acknowledged.
pub fn write(directory: &Path) {
    let opened = SqliteStore::open_sized(directory, SIZES);
    let mut store = opened.expect("no kill leaves a broken store");
    let mut out = std::io::stdout();
    for number in number(&mut store) + 1.. {
        store.commit(&writes(number)).expect("room");
        writeln!(out, "{number}").and_then(|()| out.flush()).expect("somebody listens");
    }
}

pub fn killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    println!("seed {SEED}");
    let (mut twin, mut there) = (BTreeMap::new(), 0);
    let (mut kills, mut in_moves) = (0, 0);
    while kills < KILLS_MIN || in_moves < KILLS_IN_MOVES {
        assert!(kills < KILLS_MAX, "only {in_moves} of {kills} kills have met a move");
        kills += 1;
        let (mut writer, mut lines) = start("--role-store", directory.path());
        let count = if kills.is_multiple_of(8) { 0 } else { rng.random_range(1..=LINES_MAX) };
        let mut acknowledged = there;
        for _ in 0..count {
            acknowledged = next(&mut lines).expect("it writes until it is killed");
        }
        (0..rng.random_range(0..200_000_u64)).for_each(|step| _ = std::hint::black_box(step));
        writer.kill().expect("it runs");
        writer.wait().expect("it is gone");
        while let Some(more) = next(&mut lines) {
            acknowledged = more;
        }
        // Looked at before anybody opens the store as one and goes on with it.
        in_moves += u32::from(journal_bytes(directory.path()) > MOVING_BYTES);
        let found = check(directory.path(), &mut twin, there);
        let may_be = acknowledged..=acknowledged + 1;
        assert!(may_be.contains(&found), "kill {kills}: {acknowledged} said, {found} there");
        there = found;
    }
    println!("  {kills} kills, {in_moves} of them in moves, {there} commits, all there");
}

/// That it holds what the first so many commits lead to, and nothing else.
fn check(directory: &Path, twin: &mut BTreeMap<String, Vec<u8>>, from: u64) -> u64 {
    let mut store = SqliteStore::open_sized(directory, SIZES).expect("a store");
    let found = number(&mut store);
    for (key, value) in (from + 1..=found).flat_map(writes) {
        match value {
            Some(value) => drop(twin.insert(key, value)),
            None => drop(twin.remove(&key)),
        }
    }
    let all = KeyRange { from: String::new(), to: "~".into(), order: Order::Ascending };
    let pairs = store.scan(&all, usize::MAX).expect("read");
    let wanted: Vec<_> = twin.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    assert!(pairs == wanted, "after {found} commits it holds something else");
    found
}

/// Opens the store, beside others who do, and writes something of its own.
pub fn open(directory: &Path) {
    let mut store = SqliteStore::open(directory).expect("one of them makes it");
    let key = format!("k/{}", std::process::id());
    store.commit(&Writes::from([(key, Some(Vec::new()))])).expect("room");
}

/// Programs that open a store at once, which is new or of the format before there was a journal.
pub fn opened() {
    for round in 0..6 {
        let directory = tempfile::tempdir().expect("a directory");
        if round == 1 || round == 4 {
            drop(SqliteStore::open(directory.path()).expect("a new store"));
            let first = "DROP TABLE journal; DROP TABLE moved; PRAGMA user_version = 1";
            say(directory.path(), first);
        }
        let started = (0..PROGRAMS).map(|_| start("--role-open", directory.path()));
        let started: Vec<_> = started.collect();
        for (mut program, _) in started {
            assert!(program.wait().expect("our child").success(), "round {round}");
        }
        let mut store = SqliteStore::open(directory.path()).expect("a store");
        let there = store.scan(&KeyRange::below("k", Order::Ascending), 99).expect("read");
        assert_eq!(there.len(), PROGRAMS, "round {round}");
    }
}

/// Says something to the database itself.
fn say(directory: &Path, sql: &'static str) {
    let path = directory.join(STORE_NAME);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let said = async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        sqlx::raw_sql(sql).execute(&mut connection).await?;
        connection.close().await
    };
    runtime.expect("a runtime").block_on(said).expect("done");
}

/// What the rows of the journal take, but for the last one.
fn journal_bytes(directory: &Path) -> i64 {
    let path = directory.join(STORE_NAME);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let asked = async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
        let mut connection = SqliteConnection::connect_with(&options).await?;
        let sql = "SELECT coalesce(sum(length(writes)), 0) FROM journal \
                   WHERE seq < (SELECT max(seq) FROM journal)";
        let bytes = sqlx::query_scalar(sql).fetch_one(&mut connection).await;
        connection.close().await?;
        bytes
    };
    // Killed before it was made, it has no journal.
    runtime.expect("a runtime").block_on(asked).unwrap_or_default()
}
