//! How long it takes to take up a ledger again: 10,000 events, each checked.

use assay_ledger::{Ledger, NewEvent, UnixMillis, verify};
use serde_json::json;
use std::time::Instant;

const EVENTS: u64 = 10_000;
const ROUNDS: usize = 20;
const APPENDS: u64 = 200;
/// What opening may take.
const OPEN_AIM_MS: f64 = 100.0;

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut ledger = Ledger::open(directory.path()).expect("a new one").ledger;
    let event = |number: u64| {
        let payload = json!({"number": number, "story": "US-001", "text": "x".repeat(200)});
        NewEvent::new("happened", &payload).expect("good")
    };
    for portion in 0..EVENTS / 1000 {
        let events = (0..1000).map(|i| event(portion * 1000 + i)).collect();
        ledger.append_all(UnixMillis(1), events).expect("appended");
    }
    drop(ledger);
    let open = median(ROUNDS, || {
        let opened = Ledger::open(directory.path()).expect("it can be opened");
        assert_eq!(opened.entries.len() as u64, EVENTS);
    });
    let verified = median(ROUNDS, || {
        assert_eq!(verify(directory.path()).expect("good").events, EVENTS);
    });
    let mut ledger = Ledger::open(directory.path()).expect("it can be opened").ledger;
    let mut times = Vec::new();
    for number in 0..APPENDS {
        let start = Instant::now();
        ledger.append(UnixMillis(1), event(number)).expect("appended");
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("ledger of {EVENTS} events (median of {ROUNDS})");
    let met = if open <= OPEN_AIM_MS { "met" } else { "MISSED" };
    println!("  open and read all   {open:8.2} ms (aim {OPEN_AIM_MS} ms {met})");
    println!("  verify              {verified:8.2} ms");
    println!("  append one, durable {:8.3} ms (median of {APPENDS})", times[times.len() / 2]);
}

/// Milliseconds.
fn median(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
