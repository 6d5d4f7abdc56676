//! What holds although somebody, or a disk, changes bytes.

use crate::support::{copy, entries, fill};
use assay_ledger::{Break, Entry, Ledger, LedgerError, Seal, Seq, verify};
use proptest::prelude::*;
use sqlx::{Connection, SqliteConnection};
use std::path::{Path, PathBuf};

const EVENTS: u64 = 8;
/// Behind the header every so manyth byte is changed: each costs a ledger, opened twice.
const STRIDE: usize = 97;

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all.sort();
    all
}

/// Changes one byte and asks. Either it is noticed, or it stood where nothing is kept, and every
/// event is read as before.
fn noticed_or_nothing(
    directory: &Path,
    file: &Path,
    at: usize,
    mask: u8,
    before: &[Entry],
) -> bool {
    let place = tempfile::tempdir().expect("a directory");
    copy(directory, place.path());
    let target = place.path().join(file.strip_prefix(directory).expect("below it"));
    let mut bytes = std::fs::read(&target).expect("readable");
    bytes[at] ^= mask;
    std::fs::write(&target, bytes).expect("ours");
    match verify(place.path()) {
        Err(_) => true,
        Ok(verified) => {
            assert_eq!(verified.entries, before, "{} byte {at}", file.display());
            false
        }
    }
}

/// Every single one: events, free space, header, head, seal and blobs.
#[test]
fn no_byte_of_a_ledger_that_was_closed_can_change_unnoticed() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), EVENTS);
    assert_eq!(verify(directory.path()).expect("whole").seal, Seal::Whole);
    let mut tried = 0;
    for file in files(directory.path()) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        // Says who writes, and holds nothing; the other is SQLite's, and made anew.
        if name == "lock" || name.ends_with("-shm") {
            continue;
        }
        let mut bytes = std::fs::read(&file).expect("readable");
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            std::fs::write(&file, &bytes).expect("ours");
            assert!(verify(directory.path()).is_err(), "{name} byte {at}");
            bytes[at] ^= 1;
            tried += 1;
        }
        std::fs::write(&file, &bytes).expect("ours");
    }
    assert!(tried > 8192, "two pages, a head, a seal and three blobs: {tried}");
    assert_eq!(verify(directory.path()).expect("as it was").seal, Seal::Whole);
}

#[test]
fn a_byte_that_holds_nothing_keeps_a_ledger_from_being_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), EVENTS);
    let file = directory.path().join("ledger.sqlite");
    let mut bytes = std::fs::read(&file).expect("readable");
    // Reserved for expansion in the header of SQLite, and zero.
    bytes[75] ^= 1;
    std::fs::write(&file, &bytes).expect("ours");
    assert_broken(&verify(directory.path()).expect_err("found"), &Break::Bytes);
    assert_broken(&Ledger::open(directory.path()).expect_err("refused"), &Break::Bytes);
    assert_broken(&verify(directory.path()).expect_err("still there"), &Break::Bytes);
}

#[test]
fn a_seal_is_taken_off_before_anything_changes_and_comes_back() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 3);
    let mut ledger = Ledger::open(directory.path()).expect("a ledger").ledger;
    assert_eq!(verify(directory.path()).expect("good").seal, Seal::Open);
    ledger.append(assay_ledger::UnixMillis(1), crate::support::event(3)).expect("appended");
    // What `kill -9` leaves.
    let killed = tempfile::tempdir().expect("a directory");
    copy(directory.path(), killed.path());
    drop(ledger);
    assert_eq!(verify(directory.path()).expect("good").seal, Seal::Whole);
    assert_eq!(verify(killed.path()).expect("good").seal, Seal::Open);
    drop(Ledger::open(killed.path()).expect("taken up").ledger);
    let taken_up = verify(killed.path()).expect("good");
    assert_eq!((taken_up.seal, taken_up.events), (Seal::Whole, 4));
    // An earlier Assay left none.
    std::fs::remove_file(killed.path().join("seal")).expect("there");
    assert_eq!(verify(killed.path()).expect("good").seal, Seal::Open);
}

#[test]
fn a_ledger_that_cannot_be_opened_stays_sealed() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 4);
    let (blob, aside) = {
        let all = files(directory.path());
        let of_blobs = |path: &&PathBuf| path.to_string_lossy().contains("blobs");
        let blob = all.iter().find(of_blobs).expect("a blob").clone();
        (blob, directory.path().with_extension("aside"))
    };
    std::fs::rename(&blob, &aside).expect("ours");
    let refused = Ledger::open(directory.path()).expect_err("a blob is missing");
    assert!(matches!(refused, LedgerError::Broken { .. }), "{refused}");
    std::fs::rename(&aside, &blob).expect("ours");
    assert_eq!(verify(directory.path()).expect("as it was").seal, Seal::Whole);
    // One that cannot be written, after everything was looked at.
    let head = directory.path().join("head");
    std::fs::rename(&head, &aside).expect("ours");
    std::os::unix::fs::symlink("/proc/version", &head).expect("ours");
    Ledger::open(directory.path()).expect_err("the head is none");
    std::fs::remove_file(&head).expect("ours");
    std::fs::rename(&aside, &head).expect("ours");
    assert_eq!(verify(directory.path()).expect("as it was").seal, Seal::Whole);
    assert!(Ledger::open(directory.path()).is_ok());
}

#[test]
fn a_log_beside_a_sealed_database_is_noticed() {
    let directory = tempfile::tempdir().expect("a directory");
    with_log(directory.path());
    let log = std::fs::read(directory.path().join("ledger.sqlite-wal")).expect("a log");
    drop(Ledger::open(directory.path()).expect("taken up"));
    assert_eq!(verify(directory.path()).expect("whole").seal, Seal::Whole);
    for planted in [log, vec![0; 100]] {
        let place = tempfile::tempdir().expect("a directory");
        copy(directory.path(), place.path());
        std::fs::write(place.path().join("ledger.sqlite-wal"), planted).expect("ours");
        let refused = Ledger::open(place.path()).expect_err("it is not what was put away");
        assert!(matches!(refused, LedgerError::Broken { .. }), "{refused}");
        assert_broken(&verify(place.path()).expect_err("found"), &Break::Bytes);
    }
}

#[test]
fn a_header_that_was_changed_is_broken_and_one_of_a_newer_assay_is_not() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 3);
    let file = directory.path().join("ledger.sqlite");
    let mut bytes = std::fs::read(&file).expect("readable");
    // The version of the format: the last byte of `user_version`.
    bytes[63] = 99;
    std::fs::write(&file, &bytes).expect("ours");
    assert_broken(&verify(directory.path()).expect_err("found"), &Break::Bytes);
    std::fs::remove_file(directory.path().join("seal")).expect("there");
    let newer = verify(directory.path()).expect_err("unknown");
    assert!(matches!(newer, LedgerError::Newer { found: 99, .. }), "{newer}");
}

/// Where the text of a field of each event stands in the file of the database.
fn places(bytes: &[u8], text: &str) -> Vec<usize> {
    let windows = bytes.windows(text.len()).enumerate();
    windows.filter(|(_, window)| *window == text.as_bytes()).map(|(at, _)| at).collect()
}

#[test]
fn no_byte_of_an_event_can_change_unnoticed() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), EVENTS);
    let before = entries(directory.path());
    let file = directory.path().join("ledger.sqlite");
    let bytes = std::fs::read(&file).expect("readable");
    for entry in &before {
        let (hash, prev) = (entry.hash.to_string(), entry.prev.to_string());
        for text in [&hash, &prev, &entry.kind, &entry.payload] {
            let starts = places(&bytes, text);
            assert!(!starts.is_empty(), "event {} has {text}", entry.seq);
            // Each end and the middle: each byte of all would take minutes.
            for at in [0, text.len() / 2, text.len() - 1].map(|byte| starts[0] + byte) {
                let noticed = noticed_or_nothing(directory.path(), &file, at, 1, &before);
                assert!(noticed, "event {}, {text}, byte {at}", entry.seq);
            }
        }
    }
}

/// A ledger as `kill -9` leaves it: with events in the write-ahead log only.
fn with_log(place: &Path) {
    let live = tempfile::tempdir().expect("a directory");
    fill(live.path(), 3);
    let mut ledger = Ledger::open(live.path()).expect("a ledger").ledger;
    for number in 0..EVENTS {
        let event = crate::support::event(number);
        ledger.append(assay_ledger::UnixMillis(1), event).expect("appended");
    }
    copy(live.path(), place);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// The whole database, with its header, its empty corners and its log.
    #[test]
    fn a_changed_byte_is_noticed_or_changes_nothing(at in any::<usize>(), mask in 1..=255_u8) {
        let directory = tempfile::tempdir().expect("a directory");
        with_log(directory.path());
        let before = entries(directory.path());
        for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
            let file = directory.path().join(name);
            let length = std::fs::metadata(&file).expect("it is there").len() as usize;
            noticed_or_nothing(directory.path(), &file, at % length, mask, &before);
        }
    }
}

/// Every byte of the file and of its log: either it is noticed, or nothing is left of it in what is
/// sealed, which is the same as without.
#[test]
fn nothing_that_was_changed_in_what_a_killed_writer_left_is_ever_sealed() {
    let killed = tempfile::tempdir().expect("a directory");
    with_log(killed.path());
    let sealed = |change: Option<(&str, usize)>| {
        let place = tempfile::tempdir().expect("a directory");
        copy(killed.path(), place.path());
        if let Some((name, at)) = change {
            let mut bytes = std::fs::read(place.path().join(name)).expect("readable");
            bytes[at] ^= 1;
            std::fs::write(place.path().join(name), bytes).expect("ours");
        }
        // As `assay desk verify` does it.
        let verified = verify(place.path()).and_then(|_| Ledger::open(place.path()));
        let refused = verified.map(drop).err();
        let whole = refused.is_none().then(|| verify(place.path()).expect("it holds").seal);
        assert!(whole.is_none_or(|seal| seal == Seal::Whole), "{change:?}");
        let bytes = std::fs::read(place.path().join("ledger.sqlite")).expect("readable");
        (refused, bytes)
    };
    let (refused, good) = sealed(None);
    assert!(refused.is_none(), "{refused:?}");
    let (mut noticed, mut without_trace) = (0, 0);
    for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
        let length = std::fs::metadata(killed.path().join(name)).expect("it is there").len();
        let length = usize::try_from(length).expect("a length");
        for at in (0..100.min(length)).chain((100..length).step_by(STRIDE)) {
            match sealed(Some((name, at))) {
                (Some(LedgerError::Broken { .. }), _) => noticed += 1,
                // The number of a format: nobody can say that no later Assay wrote it.
                (Some(LedgerError::Newer { .. }), _) if (60..64).contains(&at) => noticed += 1,
                (None, bytes) => {
                    assert!(bytes == good, "{name} byte {at} is sealed");
                    without_trace += 1;
                }
                (Some(other), _) => panic!("{name} byte {at}: {other}"),
            }
        }
    }
    assert!(noticed > 50 && without_trace > 10, "{noticed} noticed, {without_trace} without trace");
}

#[test]
fn events_that_a_damaged_log_takes_away_are_missed() {
    let directory = tempfile::tempdir().expect("a directory");
    with_log(directory.path());
    assert_eq!(verify(directory.path()).expect("whole").events, 3 + EVENTS);
    std::fs::write(directory.path().join("ledger.sqlite-wal"), "").expect("ours");
    let error = verify(directory.path()).expect_err("the end is gone");
    assert_broken(&error, &Break::Cut { acknowledged: Seq(3 + EVENTS), found: Seq(3) });
    let refused = Ledger::open(directory.path()).expect_err("nothing is built on it");
    assert!(matches!(refused, LedgerError::Broken { .. }), "{refused}");
}

fn assert_broken(error: &LedgerError, expected: &Break) {
    let LedgerError::Broken { broken, .. } = error else { panic!("{error}") };
    assert_eq!(broken, expected);
}

/// Runs SQL on the database as anybody with the file could.
fn sql(directory: &Path, statements: &[&str]) -> Result<(), sqlx::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(async {
        let url = format!("sqlite://{}", directory.join("ledger.sqlite").display());
        let mut connection = SqliteConnection::connect(&url).await?;
        for statement in statements {
            let statement = sqlx::AssertSqlSafe(statement.to_string());
            sqlx::query(statement).execute(&mut connection).await?;
        }
        connection.close().await
    })
}

#[test]
fn the_database_itself_refuses_to_change_events() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 3);
    for (statement, why) in [
        ("UPDATE events SET payload = '2' WHERE seq = 2", "events never change"),
        ("DELETE FROM events WHERE seq = 3", "events never go"),
        ("INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 2", "events only follow"),
        ("INSERT INTO events SELECT 9, prev, 1, kind, blobs, payload, hash FROM events", "follow"),
    ] {
        let error = sql(directory.path(), &[statement]).expect_err(statement).to_string();
        assert!(error.contains(why), "{statement}: {error}");
    }
    assert_eq!(verify(directory.path()).expect("nothing happened").events, 3);
}

#[test]
fn whoever_gets_around_the_triggers_is_found_out() {
    let change = "DROP TRIGGER events_never_change";
    let go = "DROP TRIGGER events_never_go";
    let again = "CREATE TRIGGER events_never_change BEFORE UPDATE ON events \
                 BEGIN SELECT RAISE(ABORT, 'events never change'); END";
    let gone = "CREATE TRIGGER events_never_go BEFORE DELETE ON events \
                BEGIN SELECT RAISE(ABORT, 'events never go'); END";
    type Expected = fn(&Break) -> bool;
    let cases: [(&[&str], Expected); 9] = [
        (&[change], |broken| matches!(broken, Break::Schema { .. })),
        (&["CREATE TABLE more (a)"], |broken| matches!(broken, Break::Schema { .. })),
        (&[change, "UPDATE events SET payload = '{}' WHERE seq = 2", again], |broken| {
            *broken == Break::Hash { seq: Seq(2) }
        }),
        (&[change, "UPDATE events SET at_ms = 7 WHERE seq = 2", again], |broken| {
            *broken == Break::Hash { seq: Seq(2) }
        }),
        (&[change, "UPDATE events SET kind = 'x' WHERE seq = 2", again], |broken| {
            *broken == Break::Hash { seq: Seq(2) }
        }),
        (&[change, "UPDATE events SET prev = hash WHERE seq = 2", again], |broken| {
            *broken == Break::Link { seq: Seq(2) }
        }),
        (&[change, "UPDATE events SET blobs = ' []' WHERE seq = 2", again], |broken| {
            matches!(broken, Break::Row { seq: Seq(2), .. })
        }),
        (&[go, "DELETE FROM events WHERE seq = 2", gone], |broken| {
            matches!(broken, Break::Gap { expected: Seq(2), found: 3 })
        }),
        (&[go, "DELETE FROM events WHERE seq = 3", gone], |broken| {
            matches!(broken, Break::Cut { acknowledged: Seq(3), found: Seq(2) })
        }),
    ];
    for (statements, expected) in cases {
        let directory = tempfile::tempdir().expect("a directory");
        fill(directory.path(), 3);
        sql(directory.path(), statements).expect("the file is theirs");
        let error = verify(directory.path()).expect_err("found");
        let LedgerError::Broken { broken, .. } = &error else { panic!("{statements:?}: {error}") };
        assert!(expected(broken), "{statements:?}: {broken}");
        let error = Ledger::open(directory.path()).expect_err("refused");
        assert!(matches!(error, LedgerError::Broken { .. }), "{statements:?}: {error}");
    }
}

/// Makes a ledger somebody else's, whose seal is none of ours.
fn theirs(directory: &Path, statement: &str) {
    sql(directory, &[statement]).expect("theirs");
    std::fs::remove_file(directory.join("seal")).expect("there");
}

#[test]
fn what_is_gone_or_of_others_is_named() {
    type Spoil = fn(&Path);
    type Expected = fn(&LedgerError) -> bool;
    let cases: [(&str, Spoil, Expected); 8] = [
        (
            "newer",
            |d| theirs(d, "PRAGMA user_version = 2"),
            |error| matches!(error, LedgerError::Newer { found: 2, .. }),
        ),
        (
            "foreign",
            |d| {
                theirs(d, "PRAGMA application_id = 7");
                std::fs::remove_file(d.join("head")).expect("there");
            },
            |error| matches!(error, LedgerError::Foreign { application_id: 7, .. }),
        ),
        (
            "foreign beside a head",
            |d| theirs(d, "PRAGMA application_id = 7"),
            |e| matches!(e, LedgerError::Broken { broken: Break::Database { .. }, .. }),
        ),
        (
            "empty beside a head",
            |d| {
                std::fs::write(d.join("ledger.sqlite"), "").expect("ours");
                std::fs::remove_file(d.join("seal")).expect("there");
            },
            |e| matches!(e, LedgerError::Broken { broken: Break::Database { .. }, .. }),
        ),
        (
            "no head",
            |d| std::fs::remove_file(d.join("head")).expect("there"),
            |error| error.to_string().contains("`head` is not there"),
        ),
        (
            "no database",
            |d| std::fs::remove_file(d.join("ledger.sqlite")).expect("there"),
            |e| matches!(e, LedgerError::Broken { .. }),
        ),
        (
            "no blobs",
            |d| std::fs::remove_dir_all(d.join("blobs")).expect("there"),
            |error| {
                matches!(
                    error,
                    LedgerError::Broken { broken: Break::BlobMissing { seq: Seq(1), .. }, .. }
                )
            },
        ),
        (
            "no database at all",
            |d| std::fs::write(d.join("ledger.sqlite"), [b'x'; 4096]).expect("ours"),
            |e| matches!(e, LedgerError::Broken { broken: Break::Database { .. }, .. }),
        ),
    ];
    for (name, spoil, expected) in cases {
        let directory = tempfile::tempdir().expect("a directory");
        fill(directory.path(), 3);
        spoil(directory.path());
        let error = verify(directory.path()).expect_err(name);
        assert!(expected(&error), "{name}: {error}");
        let error = Ledger::open(directory.path()).expect_err(name);
        assert!(expected(&error), "{name}, to write: {error}");
    }
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 3);
    std::fs::write(directory.path().join("blobs/notes.txt"), "mine").expect("ours");
    verify(directory.path()).expect_err("a file where shelves are");
}
