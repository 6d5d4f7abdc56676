//! Pairs of twins that are quick enough to be run each time.

use super::{assay, root};
use assay_plan::faults::Fault;

/// Entries, and the kind of anomaly that was published. Each pair takes less than a minute at the
/// tier of smoke; they cover registers of transactions, ledgers, leases and queues.
type Pairs = [(&'static str, &'static [&'static str]); 2];
const TRANSACTIONS: Pairs = [
    ("postgres-lost-update", &["lost-update", "fractured-read", "G-single"]),
    ("postgres-write-skew", &["G2-item", "write-skew"]),
];
const WORK: Pairs = [
    ("queue-ack-before-work", &["missing-effect"]),
    ("redis-lock-expiry", &["stale-token-accepted"]),
];

#[test]
fn quick_pairs_about_transactions_end_as_published() {
    end_as_published(&TRANSACTIONS);
}

#[test]
fn quick_pairs_about_work_and_locks_end_as_published() {
    end_as_published(&WORK);
}

fn end_as_published(pairs: &Pairs) {
    let sessions = tempfile::tempdir().expect("a directory");
    let place = sessions.path().display().to_string();
    let mut words = vec!["gallery", "run", "--tier", "smoke", "--format", "json"];
    words.extend(["--sessions", &place]);
    words.extend(pairs.iter().map(|(entry, _)| *entry));
    let (shown, code) = assay(&words, &root());
    let twins = shown["twins"].as_array().expect("twins");
    assert_eq!(twins.len(), 2 * pairs.len(), "{shown}");
    for twin in twins {
        assert_eq!(twin["as_expected"], true, "{twin}");
        let (landed, planned) = (&twin["faults_landed"], &twin["faults_planned"]);
        assert!(planned.as_u64() > Some(0) && landed == planned, "{twin}");
        assert!(twin["operations"].as_u64() > Some(0), "{twin}");
        for one in twin["faults"].as_array().expect("faults") {
            let name = one["fault"].as_str().unwrap_or_default();
            assert!(Fault::named(name).is_some(), "no fault is called {name}: {twin}");
        }
        let entry = pairs.iter().find(|(entry, _)| twin["entry"] == *entry);
        let (_, kinds) = entry.expect("an entry that was asked for");
        let anomaly = twin["anomaly"].as_str().unwrap_or_default();
        let published = kinds.iter().any(|kind| anomaly.starts_with(kind));
        assert_eq!(published, twin["twin"] == "red", "{twin}");
    }
    assert_eq!(code, Some(0), "{shown}");
}
