//! What a store in PostgreSQL promises beyond any other one: one server at a time, and commits
//! that happen once however often connections break and databases die.

use super::broken_lines::{Cut, Proxy};
use super::database::{Database, PASSWORD, USER};
use super::keyed::{PROMISES, writes};
use assay_ledger::keyed::{PostgresAddress, PostgresStore, Store, StoreError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a store may take to see that its database is back.
const BACK_MAX: Duration = Duration::from_secs(60);

fn address(url: &str) -> PostgresAddress {
    url.parse().expect("an address")
}

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

#[test]
fn postgres_keeps_the_promises_of_stores() {
    let database = Database::start();
    for (number, (promise, check)) in PROMISES.iter().enumerate() {
        println!("{promise}");
        let made = database.sql(&format!("CREATE DATABASE d{number}"));
        assert!(made.status.success(), "{made:?}");
        let url = database.url();
        let server = url.strip_suffix("postgres").expect("its first database");
        let address = address(&format!("{server}d{number}"));
        check(&|| Box::new(PostgresStore::open_guest(&address).expect("a store")));
    }
}

#[test]
fn a_store_has_one_server_at_a_time_and_who_was_replaced_writes_nothing() {
    let database = Database::start();
    let address = address(&database.url());
    let mut first = PostgresStore::open_server(&address).expect("nobody has it");
    first.commit(&writes(&[("a", Some("1"))])).expect("write");
    let held = PostgresStore::open_server(&address).expect_err("it is held");
    assert!(matches!(held, StoreError::Held { .. }), "{held}");
    assert!(held.to_string().contains("process"), "{held}");
    let mut guest = PostgresStore::open_guest(&address).expect("guests may come");
    guest.commit(&writes(&[("guest", Some("1"))])).expect("write");
    first.commit(&writes(&[("a", Some("2"))])).expect("guests take nothing away");
    // It is cut off, does not know yet, and another one comes.
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
    assert_eq!(text(&database.sql(cut)), "t");
    let mut second = PostgresStore::open_server(&address).expect("nobody has it");
    second.commit(&writes(&[("b", Some("1"))])).expect("write");
    let fenced = first.commit(&writes(&[("a", Some("lost"))])).expect_err("replaced");
    assert!(matches!(fenced, StoreError::Fenced { .. }) && fenced.is_final(), "{fenced}");
    let fenced = first.get("a").expect_err("it reads nothing for a server either");
    assert!(matches!(fenced, StoreError::Fenced { .. }), "{fenced}");
    assert_eq!(second.get("a").expect("read"), Some(b"2".to_vec()));
    // Also one whose connection never broke.
    database.sql("UPDATE assay.writer SET owner = 'another'");
    let fenced = second.commit(&writes(&[("b", Some("lost"))])).expect_err("replaced");
    assert!(matches!(fenced, StoreError::Fenced { .. }), "{fenced}");
    drop((first, second));
    let mut third = PostgresStore::open_server(&address).expect("both are gone");
    assert_eq!(third.get("b").expect("read"), Some(b"1".to_vec()));
}

/// The line breaks in the middle of a commit: before the database hears of it, after it was done
/// but before anybody is told, and while the database goes on with it behind our back.
#[test]
fn a_commit_whose_answer_is_lost_happens_once() {
    let database = Database::start();
    let proxy = Proxy::start(database.address);
    let url = format!("postgres://{USER}:{PASSWORD}@{}/postgres", proxy.address);
    let mut store = PostgresStore::open_server(&address(&url)).expect("nobody has it");
    let mut commits = 0;
    for cut in [Cut::Before, Cut::After, Cut::Late] {
        for round in 0..3 {
            let value = format!("{cut:?} {round}");
            proxy.cut_next(cut);
            store.commit(&writes(&[("a", Some(&value))])).expect("it finds out");
            commits += 1;
            assert!(proxy.has_cut(), "{value}: the line did not break");
            assert_eq!(store.get("a").expect("read"), Some(value.into_bytes()));
            let counted = text(&database.sql("SELECT number FROM assay.writer"));
            assert_eq!(counted, commits.to_string(), "once, and not twice");
        }
    }
}

/// Tells that it is over also when a commit failed: whoever breaks things would go on for ever.
struct AtTheEnd<'a>(&'a AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn commits_go_on_when_the_database_is_killed_and_connections_are_cut() {
    const COMMITS: usize = 400;
    let mut database = Database::start();
    let address = address(&database.url());
    let mut store = PostgresStore::open_server(&address).expect("nobody has it");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ending = AtTheEnd(&is_over);
            for n in 0..COMMITS {
                let (key, before) = (format!("k/{n:04}"), format!("k/{:04}", n.max(1) - 1));
                if n > 0 {
                    let seen = store.get(&before).expect("it comes back");
                    assert_eq!(seen, Some((n - 1).to_string().into_bytes()));
                }
                let value = n.to_string();
                store.commit(&writes(&[(&key, Some(&value))])).expect("it comes back");
            }
        });
        let mut rounds = 0;
        while !is_over.load(Ordering::SeqCst) {
            rounds += 1;
            match rounds % 4 {
                0 => {
                    database.kill();
                    database.restart();
                }
                _ => {
                    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                               WHERE application_name = 'assay'";
                    database.sql(cut);
                }
            }
        }
        println!("{rounds} breaks");
        assert!(rounds > 3, "the database was never killed");
    });
    let counted = text(&database.sql("SELECT number FROM assay.writer"));
    assert_eq!(counted, COMMITS.to_string());
    let counted = text(&database.sql("SELECT count(*) FROM assay.pairs"));
    assert_eq!(counted, COMMITS.to_string());
}

#[test]
fn what_cannot_be_a_store_is_refused_in_words() {
    let database = Database::start();
    let refused = |url: &str| {
        let opened = PostgresStore::open_server(&address(url));
        let error = opened.expect_err(url);
        assert!(!error.to_string().contains(PASSWORD), "{error}");
        error
    };
    let made = database.sql("CREATE SCHEMA assay CREATE TABLE pairs (own text)");
    assert!(made.status.success(), "{made:?}");
    let foreign = refused(&database.url());
    assert!(matches!(foreign, StoreError::Foreign { .. }), "{foreign}");
    assert_eq!(text(&database.sql("SELECT count(*) FROM assay.pairs")), "0", "left alone");
    database.sql("DROP SCHEMA assay CASCADE");
    drop(PostgresStore::open_server(&address(&database.url())).expect("now it is free"));
    database.sql("UPDATE assay.format SET version = 2");
    let newer = refused(&database.url());
    assert!(matches!(newer, StoreError::Newer { found: 2, .. }), "{newer}");
    let wrong = refused(&database.url().replace(PASSWORD, "wrong"));
    assert!(wrong.to_string().contains("password authentication failed"), "{wrong}");
    let nowhere = refused("postgres://u@127.0.0.1:1/postgres");
    assert!(nowhere.to_string().contains("127.0.0.1:1/postgres: cannot connect"), "{nowhere}");
    let careless = Database::start_with(&["fsync=off"]);
    let unfit = refused(&careless.url());
    assert!(unfit.to_string().contains("`fsync` is off"), "{unfit}");
}

#[test]
fn a_database_that_stays_away_is_an_error_in_time_and_nothing_was_written() {
    let mut database = Database::start();
    let address = address(&database.url()).with_patience(Duration::from_millis(300));
    let mut store = PostgresStore::open_server(&address).expect("nobody has it");
    store.commit(&writes(&[("a", Some("1"))])).expect("write");
    database.kill();
    let away = store.commit(&writes(&[("a", Some("2"))])).expect_err("nobody is there");
    assert!(matches!(away, StoreError::Away { .. }) && away.is_final(), "{away}");
    database.restart();
    assert_eq!(come_back(&mut store, "a"), Some(b"1".to_vec()), "it comes back");
    store.commit(&writes(&[("a", Some("3"))])).expect("write");
}

/// What is at a key, once the store has seen that its database is back.
fn come_back(store: &mut PostgresStore, key: &str) -> Option<Vec<u8>> {
    let until = Instant::now() + BACK_MAX;
    loop {
        match store.get(key) {
            Err(StoreError::Away { .. }) if Instant::now() < until => {
                std::thread::park_timeout(Duration::from_millis(5));
            }
            read => return read.expect("it comes back"),
        }
    }
}

#[test]
fn who_asks_while_a_database_is_away_does_not_wait_for_a_try_of_his_own() {
    const QUESTIONS: usize = 1000;
    let mut database = Database::start();
    let proxy = Proxy::start(database.address);
    let url = format!("postgres://{USER}:{PASSWORD}@{}/postgres", proxy.address);
    let address = address(&url).with_patience(Duration::ZERO);
    let mut store = PostgresStore::open_guest(&address).expect("a store");
    store.commit(&writes(&[("a", Some("1"))])).expect("write");
    database.kill();
    let before = proxy.connections();
    for _ in 0..QUESTIONS {
        let away = store.get("a").expect_err("nobody is there");
        assert!(matches!(away, StoreError::Away { .. }), "{away}");
    }
    let tries = proxy.connections() - before;
    assert!(tries < QUESTIONS / 10, "{tries} tries for {QUESTIONS} questions");
    database.restart();
    assert_eq!(come_back(&mut store, "a"), Some(b"1".to_vec()));
}
