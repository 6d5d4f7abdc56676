//! Ledgers to try things on.

use assay_ledger::{Entry, Ledger, NewEvent, Reader, UnixMillis};
use serde_json::json;
use std::path::Path;

/// A ledger with events, some of which name blobs.
pub fn fill(directory: &Path, events: u64) {
    let mut ledger = Ledger::open(directory).expect("a ledger").ledger;
    for i in 0..events {
        let mut event = event(i);
        if i % 3 == 0 {
            let blob = ledger.put_blob(format!("output {i}").as_bytes()).expect("a blob");
            event = event.naming(blob);
        }
        ledger.append(UnixMillis(1000 + i), event).expect("appended");
    }
}

/// An event that says a number.
pub fn event(number: u64) -> NewEvent {
    NewEvent::new("counted", &json!({"number": number, "text": "äöü \"quoted\""})).expect("good")
}

/// Everything in a ledger, read as anybody may.
pub fn entries(directory: &Path) -> Vec<Entry> {
    Reader::open(directory).expect("a ledger").more().expect("readable")
}

/// Copies a directory with all that is in it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}
