//! How fast transactional histories are read, checked and classified: `make bench`.

#[path = "../tests/support/mod.rs"]
mod support;

use assay_history::{ReadOptions, Style, read_txns};
use assay_txn::{Assume, CheckOptions, Limits, Model, SearchResult, check, prove};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use support::simdb::{Isolation, Settings, Workload, simulate};
use support::text::{Notation, write_record};

const SEED: u64 = 7;
const RUNS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(at) = args.iter().position(|arg| arg == "--one") {
        return one(&args[at + 1..]);
    }
    let quick = std::env::var_os("ASSAY_BENCH_QUICK").is_some();
    println!("\nisolation: seed {SEED}; medians of {RUNS}; peak = whole process");
    println!(
        "{:<52} {:>9} {:>9} {:>9} {:>9}  found",
        "history", "read", "check", "together", "peak"
    );
    let directory = std::env::temp_dir().join(format!("assay-bench-txn-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("the temporary directory is writable");
    // `cargo bench --bench isolation -- searched` runs the cases with that word in their name.
    let wanted = |case: &Case| {
        let words = || args[1..].iter().filter(|arg| !arg.starts_with('-'));
        words().next().is_none() || words().any(|word| case.name.contains(word.as_str()))
    };
    for case in cases(quick).iter().filter(|case| wanted(case)) {
        case.run(&directory);
    }
    std::fs::remove_dir_all(&directory).expect("it was just made");
}

struct Case {
    name: &'static str,
    settings: Settings,
    notation: Notation,
    assume: &'static str,
}

fn cases(quick: bool) -> Vec<Case> {
    let base = Settings {
        isolation: Isolation::StrictSerializable,
        workload: Workload::ListAppend,
        clients: 10,
        txns: 100_000,
        mops_max: 4,
        keys: 10,
        writes_per_key: 32,
        abort_percent: 0,
        unknown_percent: 0,
        seed: SEED,
    };
    let million = Settings { txns: 1_000_000, ..base };
    let snapshot = |txns| Settings { isolation: Isolation::Snapshot, txns, ..base };
    let sets = |txns| Settings { workload: Workload::SetAdd, txns, ..base };
    let counters = |txns| Settings { workload: Workload::CounterInc, txns, ..base };
    let registers = |txns| Settings { workload: Workload::RwRegister, txns, ..base };
    let dense = Settings {
        isolation: Isolation::ReadUncommitted,
        txns: 20_000,
        keys: 20,
        writes_per_key: 256,
        ..base
    };
    let nothing = Settings { isolation: Isolation::Nothing, ..dense };
    let events = Settings { workload: Workload::RwRegister, txns: 400_000, ..base };
    let case = |name, settings, notation, assume| Case { name, settings, notation, assume };
    use Notation::{Edn, Json};
    let mut cases = vec![
        case("list-append, 100k, clean, JSON", base, Json, ""),
        case("list-append, 100k, clean, EDN", base, Edn, ""),
        case("list-append, 100k, snapshot isolation, JSON", snapshot(100_000), Json, ""),
        case("list-append, 20k, read uncommitted, JSON", dense, Json, ""),
        case("list-append, 20k, one cyclic component, JSON", nothing, Json, ""),
        case("rw-register, 1M micro-operations, weak models, JSON", events, Json, ""),
        case("rw-register, 100k, linearizable keys, JSON", registers(100_000), Json, "lin"),
        case("rw-register, 100k, an order searched, JSON", registers(100_000), Json, "search"),
        case("set-add, 100k, clean, JSON", sets(100_000), Json, ""),
        case("counter-inc, 100k, clean, JSON", counters(100_000), Json, ""),
    ];
    if !quick {
        let five = Settings { txns: 5_000_000, ..base };
        let forks = Settings { workload: Workload::SetAdd, ..snapshot(1_000_000) };
        let many = Settings { clients: 1000, ..million };
        cases.extend([
            case("list-append, 1M, clean, JSON", million, Json, ""),
            case("list-append, 1M, clean, EDN", million, Edn, ""),
            case("list-append, 1M, clean, 1,000 clients, JSON", many, Json, ""),
            case("list-append, 1M, snapshot isolation, JSON", snapshot(1_000_000), Json, ""),
            case("rw-register, 1M, linearizable keys, JSON", registers(1_000_000), Json, "lin"),
            case("rw-register, 1M, nothing assumed, JSON", registers(1_000_000), Json, ""),
            case("rw-register, 1M, an order searched, JSON", registers(1_000_000), Json, "search"),
            case("set-add, 1M, clean, JSON", sets(1_000_000), Json, ""),
            case("set-add, 1M, snapshot isolation, JSON", forks, Json, ""),
            case("counter-inc, 1M, clean, JSON", counters(1_000_000), Json, ""),
            case("list-append, 5M, clean, JSON", five, Json, ""),
        ]);
    }
    cases
}

impl Case {
    fn run(&self, directory: &Path) {
        let path: PathBuf = directory.join("history");
        let file = std::fs::File::create(&path).expect("the temporary directory is writable");
        let mut out = BufWriter::with_capacity(1 << 20, file);
        let mut index = 0;
        simulate(self.settings, |record| {
            write_record(&mut out, self.notation, self.settings.workload, index, record);
            index += 1;
        });
        out.flush().expect("the disk is not full");
        let style = match self.settings.workload {
            Workload::ListAppend => "list-append",
            Workload::RwRegister => "rw-register",
            Workload::SetAdd => "set-add",
            Workload::CounterInc => "counter-inc",
        };
        let runs = if self.settings.txns > 1_000_000 { 1 } else { RUNS };
        // A process of its own, so that its peak is that of this history alone.
        let child = Command::new(std::env::current_exe().expect("this program has a path"))
            .arg("--one")
            .args([path.to_str().expect("a plain path"), style, self.assume, &runs.to_string()])
            .output()
            .expect("this program can be started");
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        let size = std::fs::metadata(&path).expect("it was just written").len() >> 20;
        let name = format!("{} ({size} MB)", self.name);
        print!("{name:<52} {}", String::from_utf8_lossy(&child.stdout));
    }
}

static NEVER_STOP: AtomicBool = AtomicBool::new(false);
const NO_LIMITS: Limits<'static> =
    Limits { steps_max: u64::MAX, bytes_max: 1 << 30, stop: &NEVER_STOP };

/// Reads and checks one history several times and prints the medians.
fn one(args: &[String]) {
    let style = Style::ALL.into_iter().find(|style| style.name() == args[1]).expect("a style");
    let assume = Assume { linearizable_keys: args[2] == "lin", ..Assume::default() };
    let options = CheckOptions { assume, ..CheckOptions::default() };
    let (mut reads, mut checks, mut both, mut found) = (vec![], vec![], vec![], String::new());
    for _ in 0..args[3].parse().expect("a number of runs") {
        let begun = Instant::now();
        let file = std::fs::File::open(&args[0]).expect("the history is there");
        let txns = read_txns(file, &ReadOptions::default(), style).expect("it can be read");
        let read = begun.elapsed().as_secs_f64();
        let mut report = check(&txns, &options).expect("it can be checked");
        if args[2] == "search" {
            prove(&txns, false, &mut report, Model::StrictSerializable, NO_LIMITS)
                .expect("what is found holds");
        }
        let total = begun.elapsed().as_secs_f64();
        reads.push(read);
        checks.push(total - read);
        both.push(total);
        let counts = report.counts.iter().map(|(kind, n)| format!("{n} {}", kind.name()));
        let counts: Vec<String> = counts.collect();
        let searched = report.searched.map_or(String::new(), |searched| match searched.result {
            SearchResult::Order(..) => format!("; an order in {} steps", searched.steps),
            _ => "; no order found".to_string(),
        });
        let counts = counts.join(", ");
        let again = format!("{} cyclic; {counts}{searched}", report.cyclic_components);
        assert!(found.is_empty() || found == again, "two runs disagree");
        found = again;
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    println!(
        "{:>7.3} s {:>7.3} s {:>7.3} s {:>5} MiB  {found}",
        median(&mut reads),
        median(&mut checks),
        median(&mut both),
        peak_mib()
    );
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|n| n.parse().ok());
    kib.unwrap_or(0u64) >> 10
}
