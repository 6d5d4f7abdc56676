//! A writer that is killed at any moment loses nothing it was told is durable.
//!
//! The program starts itself again as the writer, so it has no test harness: a harness would list
//! that role as a test that passes without testing anything.

use assay_ledger::{Ledger, NewEvent, UnixMillis, verify};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

#[path = "killed/store.rs"]
mod store;

/// How often the writer is started and killed.
const KILLS: u32 = 25;
/// It is killed after at most so many acknowledgements.
const LINES_MAX: u32 = 40;
const SEED: u64 = 7;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("--role-write") => write(Path::new(&args[2])),
        Some("--role-store") => store::write(Path::new(&args[2])),
        Some("--role-open") => store::open(Path::new(&args[2])),
        _ => {
            killed();
            println!("test nothing_acknowledged_is_lost_by_a_kill ... ok");
            store::killed();
            println!("test a_kill_in_the_middle_of_a_move_loses_no_commit_of_a_store ... ok");
            store::opened();
            println!("test programs_that_open_a_store_for_the_first_time_at_once_all_do ... ok");
        }
    }
}

/// Appends as quickly as it can, and says what was acknowledged.
fn write(directory: &Path) {
    let opened = Ledger::open(directory).expect("no kill leaves a broken ledger");
    let (mut ledger, mut out) = (opened.ledger, std::io::stdout());
    for number in opened.entries.len() as u64.. {
        let blob = ledger.put_blob(format!("evidence {number}").as_bytes()).expect("put");
        let event = |part: &str| {
            let payload = json!({"number": number, "part": part});
            NewEvent::new("wrote", &payload).expect("good").naming(blob)
        };
        // Sometimes two at once: both or none.
        let events = if number % 2 == 0 { vec![event("a")] } else { vec![event("a"), event("b")] };
        let last = ledger.append_all(UnixMillis(number), events).expect("appended");
        writeln!(out, "{last}").and_then(|()| out.flush()).expect("somebody listens");
    }
}

/// Starts this program again in this role.
fn start(role: &str, directory: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut writer = Command::new(std::env::current_exe().expect("a path"))
        .arg(role)
        .arg(directory)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program can be started again");
    let lines = BufReader::new(writer.stdout.take().expect("it is piped"));
    (writer, lines)
}

fn killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    println!("seed {SEED}");
    let (mut acknowledged, mut kills_early) = (0, 0);
    for kill in 0..KILLS {
        let (mut writer, mut lines) = start("--role-write", directory.path());
        // None at all kills it while it opens; a spin of no fixed length hits inside of an append.
        let count = if kill % 8 == 0 { 0 } else { rng.random_range(1..=LINES_MAX) };
        kills_early += u32::from(count == 0);
        for _ in 0..count {
            acknowledged = next(&mut lines).expect("it writes until it is killed");
        }
        (0..rng.random_range(0..200_000_u64)).for_each(|step| _ = std::hint::black_box(step));
        writer.kill().expect("it runs");
        writer.wait().expect("it is gone");
        // What it said before it died was said, too.
        while let Some(more) = next(&mut lines) {
            acknowledged = more;
        }
        if acknowledged > 0 {
            let found = check(directory.path());
            assert!(found >= acknowledged, "kill {kill}: {acknowledged} said, {found} found");
        }
    }
    assert!(kills_early > 0 && acknowledged > u64::from(KILLS), "{acknowledged}");
    println!("  {KILLS} kills, {acknowledged} events acknowledged, all there");
}

fn next(lines: &mut impl BufRead) -> Option<u64> {
    let mut line = String::new();
    lines.read_line(&mut line).expect("readable");
    // A line that was cut short was not said.
    line.strip_suffix('\n')?.parse().ok()
}

/// Verifies, and that events appended together are there together.
fn check(directory: &Path) -> u64 {
    let verified = verify(directory).expect("a kill breaks nothing");
    let payloads: Vec<Value> =
        verified.entries.iter().map(|entry| entry.payload().expect("JSON")).collect();
    let firsts = |part: &str| {
        let odd = |payload: &&Value| payload["number"].as_u64().is_some_and(|n| n % 2 == 1);
        payloads.iter().filter(odd).filter(|payload| payload["part"] == part).count()
    };
    assert_eq!(firsts("a"), firsts("b"), "half of what belongs together is there");
    verified.events
}
