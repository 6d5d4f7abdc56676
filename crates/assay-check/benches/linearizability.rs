//! `make bench`: what checking costs and how that grows.
//!
//! Every case is a history file. It is read and checked in a process of its own, so that its peak
//! memory is its own too; each figure is the median of several runs. Ratios compare figures of one
//! run on one machine: against the textbook search, and from one size to the next.

mod support;

use assay_check::models::Register;
use assay_check::{Budget, CheckOptions, MODELS, ModelKind, check};
use assay_history::{History, ReadOptions, ValueId, read, write_jsonl};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use support::objects::object_history;
use support::plain_wgl::linearizable;
use support::{Load, register_history};

const MEMORY_BYTES_MAX: usize = 2 << 30;
const CONFIGURATIONS_MAX: u64 = 5_000_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().position(|arg| arg == "--one") {
        Some(at) => one(Path::new(&args[at + 1]), &args[at + 2], args[at + 3].parse().unwrap_or(1)),
        None if args.iter().any(|arg| arg == "corpus") => support::corpus::corpus(),
        None => all(),
    }
}

/// Reads and checks one file, several times, and prints the medians for the parent to read.
fn one(path: &Path, model: &str, runs: usize) {
    let model = ModelKind::named(model).expect("a known model");
    let (mut read_s, mut check_s, mut user_s) = (Vec::new(), Vec::new(), 0.0);
    let (mut line, mut peak) = (String::new(), 0);
    for run in 0..runs {
        let begun = Instant::now();
        let file = std::fs::File::open(path).expect("the parent wrote it");
        let history = read(file, &ReadOptions::default()).expect("a valid history");
        read_s.push(begun.elapsed().as_secs_f64());
        let budget = Budget::new(MEMORY_BYTES_MAX, CONFIGURATIONS_MAX);
        let options =
            CheckOptions { budget: Some(&budget), witnesses_max: 0, ..CheckOptions::new(model) };
        let user = user_seconds();
        let begun = Instant::now();
        let report = check(&history, &options).expect("operations of the model");
        check_s.push(begun.elapsed().as_secs_f64());
        user_s += (user_seconds() - user) / runs as f64;
        line = format!("{:?} {}", report.answer, report.configurations);
        if run == 0 {
            // Later runs only add what the allocator did not give back.
            peak = peak_kib();
        }
    }
    println!("{} {} {peak} {line} {user_s}", median(read_s), median(check_s));
}

/// The time this process has spent outside the kernel, as far as ticks of 10 ms tell.
fn user_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may hold spaces; what follows it may not.
    let mut fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    fields.nth(11).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
}

/// The most memory this process ever held, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

struct Figures {
    read_s: f64,
    check_s: f64,
    peak_mib: f64,
    answer: String,
    configurations: u64,
    user_s: f64,
}

/// Runs one file in a process of its own.
fn measure(path: &Path, model: &str, runs: usize) -> Figures {
    let this = std::env::current_exe().expect("a benchmark knows where it is");
    let (path, runs) = (path.display().to_string(), runs.to_string());
    let output = Command::new(this)
        .args(["--one", &path, model, &runs])
        .output()
        .expect("a benchmark can start itself");
    let text = String::from_utf8_lossy(&output.stdout).to_string();
    let fields: Vec<&str> = text.split_whitespace().collect();
    assert!(fields.len() == 6, "{text}{}", String::from_utf8_lossy(&output.stderr));
    Figures {
        read_s: fields[0].parse().expect("seconds"),
        check_s: fields[1].parse().expect("seconds"),
        peak_mib: fields[2].parse::<f64>().expect("KiB") / 1024.0,
        answer: fields[3].to_string(),
        configurations: fields[4].parse().expect("a count"),
        user_s: fields[5].parse().expect("seconds"),
    }
}

struct Bench {
    directory: PathBuf,
}

/// What a case should cost at most.
#[derive(Clone, Copy)]
struct Aim {
    check_ms: f64,
    /// With reading the file, where that is asked for.
    whole_ms: Option<f64>,
    peak_mib: Option<f64>,
}

impl Aim {
    fn check(check_ms: f64) -> Aim {
        Aim { check_ms, whole_ms: None, peak_mib: None }
    }

    /// Says of every figure whether it is met.
    fn print(self, figures: &Figures) {
        let say = |what: &str, unit: &str, found: f64, aim: f64| {
            let word = if found <= aim { "met" } else { "MISSED" };
            println!("  aim: {what} at most {aim} {unit}: {word} ({found:.1} {unit})");
        };
        say("check", "ms", figures.check_s * 1e3, self.check_ms);
        if let Some(aim) = self.whole_ms {
            say("read and check", "ms", (figures.check_s + figures.read_s) * 1e3, aim);
        }
        if let Some(aim) = self.peak_mib {
            say("peak", "MiB", figures.peak_mib, aim);
        }
    }
}

impl Bench {
    fn file(&self, name: &str, history: &History) -> PathBuf {
        let path = self.directory.join(name.replace([' ', ',', '/'], "-"));
        let file = std::fs::File::create(&path).expect("the temporary directory is writable");
        write_jsonl(history, &mut std::io::BufWriter::new(file)).expect("there is room");
        path
    }

    fn case(&self, name: &str, load: Load, runs: usize) -> Figures {
        self.history(name, &register_history(load), ModelKind::Register, runs)
    }

    fn history(&self, name: &str, history: &History, model: ModelKind, runs: usize) -> Figures {
        let path = self.file(name, history);
        let figures = measure(&path, model.name(), runs);
        std::fs::remove_file(path).expect("it was there");
        println!(
            "{name:<44} {:>12} {:>9.2} ms {:>7.0} ns/op {:>9.1} ms {:>7.0} MiB {:>10}",
            figures.answer,
            figures.check_s * 1e3,
            figures.check_s * 1e9 / history.len() as f64,
            figures.read_s * 1e3,
            figures.peak_mib,
            figures.configurations
        );
        figures
    }
}

fn all() {
    let directory = std::env::temp_dir().join(format!("assay-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("the temporary directory is writable");
    let bench = Bench { directory: directory.clone() };
    let quick = std::env::var_os("ASSAY_BENCH_QUICK").is_some();
    println!("seed 7; medians of 5; read = JSON lines from a file; peak = whole process");
    println!(
        "{:<44} {:>12} {:>12} {:>13} {:>12} {:>11} {:>10}",
        "history", "answer", "check", "per op", "read", "peak", "searched"
    );
    unique_values(&bench, quick);
    repeated_values(&bench);
    other_objects(&bench);
    against_the_textbook();
    support::corpus::corpus();
    std::fs::remove_dir_all(directory).expect("it was there");
}

fn unique_values(bench: &Bench, quick: bool) {
    for clients in [10, 20, 50, 1_000] {
        let name = format!("unique values, 10k ops, {clients} clients");
        let figures = bench.case(&name, Load::register(10_000, clients), 5);
        Aim::check(5.0).print(&figures);
    }
    for clients in [10, 20, 50] {
        let name = format!("unique values, 100k ops, {clients} clients");
        bench.case(&name, Load::register(100_000, clients), 5);
    }
    for clients in [10, 20, 50] {
        let name = format!("unique values, 1M ops, {clients} clients");
        let figures = bench.case(&name, Load::register(1_000_000, clients), 5);
        Aim { peak_mib: Some(100.0), ..Aim::check(150.0) }.print(&figures);
    }
    let crashes = Load { unknown_per_mille: 20, ..Load::register(1_000_000, 20) };
    bench.case("unique values, 1M ops, 2 % unknown", crashes, 5);
    let keys = Load { keys: 1_000, ..Load::register(1_000_000, 10) };
    let figures = bench.case("unique values, 1M ops, 1,000 keys", keys, 5);
    Aim { whole_ms: Some(600.0), peak_mib: Some(300.0), ..Aim::check(100.0) }.print(&figures);
    if !quick {
        growth(bench);
    }
}

/// How the cost grows with the history: each time the first check of a process, because memory that
/// was used before costs less, and a large check gets none of that.
fn growth(bench: &Bench) {
    const ROUNDS: usize = 3;
    let [million, ten] = [1_000_000, 10_000_000].map(|ops| {
        let path = bench.file("growth", &register_history(Load::register(ops, 50)));
        let rounds: Vec<Figures> = (0..ROUNDS).map(|_| measure(&path, "register", 1)).collect();
        std::fs::remove_file(path).expect("it was there");
        let of = |figure: fn(&Figures) -> f64| median(rounds.iter().map(figure).collect());
        let (check_s, user_s, mib) = (of(|f| f.check_s), of(|f| f.user_s), of(|f| f.peak_mib));
        println!(
            "first check of a process, {ops} ops, 50 clients: {:.0} ms, {:.0} ns/op, {mib:.0} MiB",
            check_s * 1e3,
            check_s * 1e9 / ops as f64
        );
        (check_s, user_s)
    });
    println!(
        "growth from 1M to 10M operations: {:.1} times the time, {:.1} times the time outside the \
         kernel (which hands out fresh memory)",
        ten.0 / million.0,
        ten.1 / million.1
    );
}

fn repeated_values(bench: &Bench) {
    for clients in [10, 20] {
        for values in [5, 50] {
            let load = Load { values, ..Load::register(10_000, clients) };
            let about = format!("{values} values, 10k ops, {clients} clients");
            let cas = Load { cas_percent: 30, ..load };
            let crashes = Load { unknown_per_mille: 5, ..cas };
            for (kind, load) in
                [("read/write", load), ("with cas", cas), ("with cas and unknowns", crashes)]
            {
                let figures = bench.case(&format!("{kind}, {about}"), load, 5);
                Aim::check(100.0).print(&figures);
            }
        }
    }
}

fn other_objects(bench: &Bench) {
    for model in MODELS.iter().map(|info| info.kind).filter(|&kind| kind != ModelKind::Register) {
        // Strings and stacks leave the search with the least to go by.
        let ops = if matches!(model, ModelKind::Kv | ModelKind::Stack) { 1_000 } else { 10_000 };
        let history = object_history(model, ops, 10);
        let name = format!("{}, {} ops, 10 clients", model.name(), history.len());
        bench.history(&name, &history, model, 3);
    }
}

/// The same histories, in memory, checked by us and by the textbook search.
fn against_the_textbook() {
    println!("\nagainst the textbook search (a bit per operation in every cached configuration)");
    for (ops, clients) in [(1_000, 10), (5_000, 10), (10_000, 10), (1_000, 20), (10_000, 20)] {
        let history = register_history(Load::register(ops, clients));
        let objects = support::corpus::objects(&history, support::corpus::register_op);
        let begun = Instant::now();
        let answer = linearizable(&Register { initial: ValueId::NULL }, &objects);
        let textbook = begun.elapsed().as_secs_f64();
        let ours = median(
            (0..5)
                .map(|_| {
                    let begun = Instant::now();
                    let report = check(&history, &CheckOptions::new(ModelKind::Register));
                    assert!(report.is_ok_and(|report| report.refutations.is_empty()));
                    begun.elapsed().as_secs_f64()
                })
                .collect(),
        );
        let answer = match answer {
            Some(answer) => format!("linearizable: {answer}"),
            None => "gave up at 2 GiB".to_string(),
        };
        println!(
            "{ops:>7} ops, {clients:>2} clients: textbook {:>10.2} ms ({answer}), assay {:>7.3} \
             ms, ratio {:.0}",
            textbook * 1e3,
            ours * 1e3,
            textbook / ours
        );
    }
}
