//! How fast histories are read: `cargo run --release -p assay-history --example read_speed --
//! [FORMAT] [OPS]`.
//!
//! Writes a register history of OPS operations (default 1,000,000) in FORMAT (`jsonl`,
//! `jepsen-edn`,
//! `jepsen-json`; default all three) to a temporary file and prints how long reading it takes, and
//! the most memory the process has used so far. The time is the best of a few rounds: on a busy
//! machine only the best says something about the program.

use assay_history::{ReadOptions, ValidateOptions, read, validate};
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

/// How often each file is read.
const ROUNDS: usize = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let format = args.next().unwrap_or_default();
    let ops: u64 = args.next().map_or(Ok(1_000_000), |text| text.parse())?;
    for name in ["jsonl", "jepsen-edn", "jepsen-json"] {
        if format.is_empty() || format == name {
            measure(name, ops)?;
        }
    }
    Ok(())
}

fn measure(format: &str, ops: u64) -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("assay-read-speed-{}", std::process::id()));
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
    let mut line = String::new();
    for record in 0..2 * ops {
        line.clear();
        write_record(format, record, &mut line);
        file.write_all(line.as_bytes())?;
    }
    file.flush()?;
    let bytes = std::fs::metadata(&path)?.len();
    let mut read_s = f64::INFINITY;
    for _ in 1..ROUNDS {
        let start = Instant::now();
        drop(read(std::fs::File::open(&path)?, &ReadOptions::default())?);
        read_s = read_s.min(start.elapsed().as_secs_f64());
    }
    let history = read(std::fs::File::open(&path)?, &ReadOptions::default())?;
    let start = Instant::now();
    let findings = validate(&history, &ValidateOptions::default()).len();
    let validate_s = start.elapsed().as_secs_f64();
    std::fs::remove_file(&path)?;
    println!(
        "{format}: {} operations, {} MB read in {read_s:.3} s ({:.0} MB/s), {} bytes an operation; \
         validated in {validate_s:.3} s ({findings} findings); peak {} MB",
        history.len(),
        bytes / 1_000_000,
        bytes as f64 / 1e6 / read_s,
        history.heap_bytes() / history.len().max(1),
        peak_rss_mb(),
    );
    Ok(())
}

/// Ten clients in turn: the invocations of round n are records 20n to 20n+9, then the completions.
fn write_record(format: &str, record: u64, out: &mut String) {
    let (round, place) = (record / 20, record % 20);
    let (client, invoke) = (place % 10, place < 10);
    let (op, time, value) = (round * 10 + client, record * 1_000 + 7, (round * 7 + client) % 5);
    let kind = if client.is_multiple_of(2) { "read" } else { "write" };
    let sent = if kind == "read" { "null".to_string() } else { value.to_string() };
    let written = match (format, invoke) {
        ("jsonl", true) => writeln!(
            out,
            "{{\"event\":\"invoke\",\"op_id\":{op},\"process_id\":{client},\"invoke_ts\":{time},\
             \"op_type\":\"{kind}\",\"key\":\"x\",\"input\":{sent},\"node_seen\":null,\
             \"fault_epoch\":null}}"
        ),
        ("jsonl", false) => writeln!(
            out,
            "{{\"event\":\"complete\",\"op_id\":{op},\"complete_ts\":{time},\"output\":{value},\
             \"error\":null,\"timeout_marker\":false,\"node_seen\":null,\"fault_epoch\":null}}"
        ),
        ("jepsen-edn", _) => writeln!(
            out,
            "{{:index {record}, :time {time}, :type {}, :process {client}, :f :{kind}, :value {}}}",
            if invoke { ":invoke" } else { ":ok" },
            if invoke && kind == "read" { "nil".to_string() } else { value.to_string() },
        ),
        (_, _) => writeln!(
            out,
            "{{\"index\":{record},\"time\":{time},\"type\":\"{}\",\"process\":{client},\
             \"f\":\"{kind}\",\"value\":{}}}",
            if invoke { "invoke" } else { "ok" },
            if invoke { sent } else { value.to_string() },
        ),
    };
    written.expect("a string can always grow");
}

/// The most memory this process has used, where the system says so.
fn peak_rss_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1_000
}
