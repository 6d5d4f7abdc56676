//! What holds while nobody cheats.

use crate::support::{copy, entries, event, fill};
use assay_ledger::{
    BlobRef, Break, Digest, EVENTS_AT_ONCE_MAX, EventError, Ledger, LedgerError, LockError,
    NewEvent, PAYLOAD_BYTES_MAX, Reader, Seq, UnixMillis, verify,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn events_are_there_again_in_their_order_and_chained() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 7);
    let opened = Ledger::open(directory.path()).expect("it can be opened again");
    assert_eq!(opened.entries, entries(directory.path()));
    let mut prev = Digest::ZERO;
    for (i, entry) in (0..).zip(&opened.entries) {
        assert_eq!((entry.seq, entry.prev, entry.at), (Seq(i + 1), prev, UnixMillis(1000 + i)));
        assert_eq!(entry.payload::<Value>().expect("JSON")["number"], i);
        prev = entry.hash;
    }
    assert_eq!(opened.ledger.last(), (Seq(7), prev));
    let blob = opened.entries[3].blobs[0];
    assert_eq!(opened.ledger.blob(blob.sha256).expect("it is there"), b"output 3");
    let verified = verify(directory.path()).expect("nothing was changed");
    assert_eq!((verified.events, verified.blobs, verified.unnamed_blobs), (7, 3, 0));
    assert_eq!(verified.head, prev);
}

#[test]
fn a_reader_sees_what_a_writer_appends_meanwhile() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = Reader::open(directory.path()).expect_err("there is none yet");
    assert!(matches!(missing, LedgerError::Missing { .. }), "{missing}");
    let mut ledger = Ledger::open(directory.path()).expect("a new one").ledger;
    let mut reader = Reader::open(directory.path()).expect("it is there now");
    assert_eq!(reader.more().expect("readable"), []);
    ledger.append_all(UnixMillis(1), vec![event(1), event(2)]).expect("appended");
    assert_eq!(reader.more().expect("readable").len(), 2);
    assert_eq!(reader.more().expect("readable"), []);
    ledger.append(UnixMillis(2), event(3)).expect("appended");
    assert_eq!(reader.more().expect("readable")[0].seq, Seq(3));
    assert_eq!(verify(directory.path()).expect("it is being written").events, 3);
}

#[test]
fn there_is_one_writer() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = Ledger::open(directory.path()).expect("a new one");
    let second = Ledger::open(directory.path()).expect_err("somebody writes");
    assert!(matches!(second, LedgerError::Lock(LockError::Held { .. })), "{second}");
    assert!(second.to_string().contains("held by process"), "{second}");
    drop(first);
    Ledger::open(directory.path()).expect("nobody writes");
}

#[test]
fn what_cannot_be_written_is_refused_with_a_reason() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut ledger = Ledger::open(directory.path()).expect("a new one").ledger;
    for kind in ["", "two words", "ü", &"k".repeat(65)] {
        let error = NewEvent::new(kind, &json!(1)).expect_err(kind);
        assert!(matches!(error, EventError::Kind { .. }), "{error}");
    }
    let large = "x".repeat(PAYLOAD_BYTES_MAX - 2);
    NewEvent::new("k", &large).expect("just fits, with its quotes");
    let error = NewEvent::new("k", &(large + "x")).expect_err("too large");
    assert!(error.to_string().contains("blob"), "{error}");
    let deep = (0..70).fold(json!(1), |inner, _| json!([inner]));
    assert!(matches!(NewEvent::new("k", &deep), Err(EventError::Nesting { .. })));
    let odd = BTreeMap::from([(vec![1], 1)]);
    assert!(matches!(NewEvent::new("k", &odd), Err(EventError::Payload { .. })));

    let stranger = BlobRef { bytes: 1, sha256: Digest::of(b"x") };
    let error = ledger.append(UnixMillis(1), event(1).naming(stranger)).expect_err("not put");
    assert!(matches!(error, LedgerError::UnknownBlob { .. }), "{error}");
    let many = vec![event(1); EVENTS_AT_ONCE_MAX + 1];
    assert!(ledger.append_all(UnixMillis(1), many).is_err());
    assert_eq!(ledger.append_all(UnixMillis(1), Vec::new()).expect("nothing"), Seq(0));
    assert_eq!(ledger.append(UnixMillis(1), event(1)).expect("still good"), Seq(1));
    assert_eq!(entries(directory.path()).len(), 1);
}

#[test]
fn the_same_evidence_is_one_blob_and_must_still_be_itself() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut ledger = Ledger::open(directory.path()).expect("a new one").ledger;
    let blob = ledger.put_blob(&b"evidence"[..]).expect("put");
    assert_eq!(ledger.put_blob(&b"evidence"[..]).expect("put again"), blob);
    let unfinished = directory.path().join("blobs/unfinished").read_dir().expect("a directory");
    assert_eq!(unfinished.count(), 0, "nothing of it is left over");
    assert_eq!(ledger.put_blob(&b""[..]).expect("nothing is something").bytes, 0);
    assert_eq!(verify(directory.path()).expect("good").unnamed_blobs, 2);
    let name = blob.sha256.to_string();
    let path = directory.path().join("blobs").join(&name[..2]).join(&name);
    std::fs::write(&path, "Evidence").expect("ours");
    for error in [
        ledger.put_blob(&b"evidence"[..]).expect_err("changed"),
        ledger.blob(blob.sha256).expect_err("changed"),
        verify(directory.path()).expect_err("changed"),
    ] {
        let LedgerError::Broken { broken, .. } = error else { panic!("{error}") };
        assert_eq!(broken, Break::BlobChanged { sha256: blob.sha256 });
    }
}

#[test]
fn an_old_head_is_no_contradiction_and_what_was_unfinished_is_cleared() {
    let directory = tempfile::tempdir().expect("a directory");
    fill(directory.path(), 2);
    // As a power failure may leave it: the head is not synced with each event.
    let older = std::fs::read(directory.path().join("head")).expect("a head");
    fill_more(directory.path());
    std::fs::write(directory.path().join("head"), older).expect("ours");
    let unfinished = directory.path().join("blobs/unfinished/blob");
    std::fs::write(&unfinished, "half a bl").expect("ours");
    verify(directory.path()).expect("half a blob is none yet");
    let opened = Ledger::open(directory.path()).expect("it goes on");
    assert_eq!(opened.entries.len(), 3);
    assert!(!unfinished.exists());
    drop(opened);
    let elsewhere = tempfile::tempdir().expect("a directory");
    copy(directory.path(), elsewhere.path());
    assert_eq!(verify(elsewhere.path()).expect("a copy is as good").events, 3);
}

fn fill_more(directory: &std::path::Path) {
    let mut ledger = Ledger::open(directory).expect("a ledger").ledger;
    ledger.append(UnixMillis(1), event(9)).expect("appended");
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Not just any: reading decimal digits back may be off by the last bit.
        any::<i32>().prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever is said comes back as it was, in whatever portions it was appended.
    #[test]
    fn payloads_come_back(portions in prop::collection::vec(
        prop::collection::vec(json_value(), 0..4), 1..5,
    )) {
        let directory = tempfile::tempdir().expect("a directory");
        let mut said = Vec::new();
        for portion in portions {
            let mut ledger = Ledger::open(directory.path()).expect("a ledger").ledger;
            let event = |value: &Value| NewEvent::new("said", value).expect("good");
            let events = portion.iter().map(event).collect();
            ledger.append_all(UnixMillis(5), events).expect("appended");
            said.extend(portion);
        }
        let verified = verify(directory.path()).expect("good");
        let heard: Vec<Value> =
            verified.entries.iter().map(|entry| entry.payload().expect("JSON")).collect();
        prop_assert_eq!(heard, said);
    }
}
