//! Third-party histories, where they are at hand, checked by us and by the textbook search.

use super::plain_wgl::linearizable;
use assay_check::models::{Kv, KvOp, Register, RegisterOp};
use assay_check::{Answer, Call, CheckOptions, Model, ModelKind, Thoroughness, check};
use assay_history::{History, Op, Outcome, ReadOptions, ValueId, View, read};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Each history is checked this often, and the median counts: most take a few microseconds.
const RUNS: usize = 25;
/// The textbook search needs up to a second for some; one run tells enough there.
const TEXTBOOK_SLOW_S: f64 = 0.005;

/// Checks every history of the corpus and prints what it took.
pub fn corpus() {
    let Some(corpus) = std::env::var_os("ASSAY_CORPUS").map(PathBuf::from) else {
        println!("\ncorpus: not measured, ASSAY_CORPUS is not set");
        return;
    };
    let table = std::fs::read_to_string(corpus.join("expected.tsv")).expect("a corpus has a table");
    let mut rows = Vec::new();
    for line in table.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, model, verdict] = fields[..] else { continue };
        let model = ModelKind::named(model).expect("a known model");
        rows.push(row(&corpus, file, model, verdict == "linearizable"));
    }
    print(&rows);
    if let Some(times) = std::env::var_os("ASSAY_PEER_TIMES") {
        beside_a_peer(&rows, Path::new(&times));
    }
}

/// Compares with what another checker took for the same files on this machine: a table of file,
/// verdict and microseconds that whoever has that checker made.
fn beside_a_peer(rows: &[Row], times: &Path) {
    let table = std::fs::read_to_string(times).expect("ASSAY_PEER_TIMES names a table");
    let peer: HashMap<&str, f64> = table
        .lines()
        .filter_map(|line| {
            let (file, rest) = line.split_once('\t')?;
            let micros: f64 = rest.rsplit('\t').next()?.parse().ok()?;
            Some((file, micros / 1e6))
        })
        .collect();
    println!("beside the peer, which stops at the first refuted object:");
    beside("--fail-fast, the same question", rows, &peer, |row| row.first_s);
    beside("every object decided", rows, &peer, |row| row.everything_s);
}

/// One way of asking us, beside the peer.
fn beside(asked: &str, rows: &[Row], peer: &HashMap<&str, f64>, ours_s: fn(&Row) -> f64) {
    let both = || rows.iter().filter_map(|row| Some((row, *peer.get(row.file.as_str())?)));
    let (ours, theirs) = both()
        .fold((0.0, 0.0), |(ours, theirs), (row, peer_s)| (ours + ours_s(row), theirs + peer_s));
    let least = both().map(|(row, peer_s)| peer_s / ours_s(row)).fold(f64::MAX, f64::min);
    println!(
        "  {asked}: {} files, {:.2} ms, peer {:.1} ms, {:.0} times as long; {least:.1} times where \
         it does best",
        both().count(),
        ours * 1e3,
        theirs * 1e3,
        theirs / ours
    );
    for (row, peer_s) in both().filter(|(row, peer_s)| *peer_s < ours_s(row)) {
        let (ours, theirs) = (ours_s(row) * 1e6, peer_s * 1e6);
        println!("    SLOWER than the peer: {} {ours:.1} µs, peer {theirs:.1} µs", row.file);
    }
}

struct Row {
    file: String,
    everything_s: f64,
    first_s: f64,
    textbook_s: f64,
}

fn row(corpus: &Path, file: &str, model: ModelKind, expected: bool) -> Row {
    let source = std::fs::File::open(corpus.join(file)).expect("the table names files");
    let history = read(source, &ReadOptions::default()).expect("a valid history");
    let ours = |thoroughness| {
        let options = CheckOptions { witnesses_max: 0, thoroughness, ..CheckOptions::new(model) };
        median_s(|| {
            let report = check(&history, &options).expect("operations of the model");
            assert_eq!(report.answer == Answer::Linearizable, expected, "{file}");
        })
    };
    let (everything_s, first_s) =
        (ours(Thoroughness::Everything), ours(Thoroughness::FirstRefutation));
    let textbook_s = match model {
        ModelKind::Kv => textbook_s(&Kv, &objects(&history, kv_op), expected),
        _ => {
            let register = Register { initial: ValueId::NULL };
            textbook_s(&register, &objects(&history, register_op), expected)
        }
    };
    Row { file: file.to_string(), everything_s, first_s, textbook_s }
}

fn textbook_s<M: Model>(model: &M, objects: &[Vec<Call<M::Op>>], expected: bool) -> f64 {
    let begun = Instant::now();
    let answer = linearizable(model, objects);
    let once = begun.elapsed().as_secs_f64();
    assert!(answer.is_none_or(|answer| answer == expected), "the textbook search disagrees");
    if once > TEXTBOOK_SLOW_S {
        return once;
    }
    median_s(|| assert_eq!(linearizable(model, objects), answer))
}

fn median_s(mut work: impl FnMut()) -> f64 {
    let timed = |()| {
        let begun = Instant::now();
        work();
        begun.elapsed().as_secs_f64()
    };
    let mut times: Vec<f64> = std::iter::repeat_n((), RUNS).map(timed).collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn print(rows: &[Row]) {
    let sum = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>() * 1e3;
    let (ours, textbook) = (sum(|row| row.everything_s), sum(|row| row.textbook_s));
    let slowest = rows.iter().max_by(|a, b| a.everything_s.total_cmp(&b.everything_s));
    println!(
        "\ncorpus: {} histories, {ours:.2} ms of checking in total (medians of {RUNS}), slowest \
         {} {:.3} ms",
        rows.len(),
        slowest.map_or("", |row| &row.file),
        slowest.map_or(0.0, |row| row.everything_s * 1e3)
    );
    println!("the textbook search: {textbook:.1} ms, {:.0} times as long", textbook / ours);
    let behind = |row: &Row| row.first_s - row.textbook_s;
    let quicker = rows.iter().filter(|row| behind(row) > 0.0).count();
    let most = rows.iter().map(behind).fold(0.0, f64::max);
    println!(
        "up to the first refuted object (--fail-fast), where the textbook search ends as well, it \
         is quicker on {quicker} small histories, by {:.0} µs at most: its calls are decoded \
         beforehand, ours are not",
        most * 1e6
    );
}

/// The calls of each key, as the textbook search wants them.
pub fn objects<T: Clone>(
    history: &History,
    decode: fn(&History, &Op) -> Option<T>,
) -> Vec<Vec<Call<T>>> {
    let mut objects = vec![Vec::new(); history.key_count()];
    for (index, op) in history.ops().enumerate() {
        let Some(decoded) = decode(history, &op) else { continue };
        let (start, end) = history.span(&op);
        objects[op.key.0 as usize].push(match op.outcome() {
            Outcome::Ok => Call::required(index as u32, start, end, decoded),
            Outcome::Unknown => Call::optional(index as u32, start, decoded),
            Outcome::Fail => continue,
        });
    }
    objects
}

/// What an operation does to a register.
pub fn register_op(history: &History, op: &Op) -> Option<RegisterOp> {
    let known = op.outcome() == Outcome::Ok;
    match history.type_name(op.op_type) {
        "read" => known.then_some(RegisterOp::Read(op.output)),
        "write" => Some(RegisterOp::Write(op.input)),
        _ => {
            let pair = history.values.as_list(op.input).expect("cas has a pair");
            let (from, to) = (pair[0], pair[1]);
            Some(match (known, op.output) {
                (false, _) => RegisterOp::MaybeSwap(from, to),
                (true, ValueId::FALSE) => RegisterOp::NoSwap(from),
                (true, _) => RegisterOp::Swap(from, to),
            })
        }
    }
}

fn kv_op(history: &History, op: &Op) -> Option<KvOp> {
    let text = |value| match history.values.view(value) {
        View::Str(text) => Arc::from(text),
        _ => Arc::from(""),
    };
    match history.type_name(op.op_type) {
        "get" => (op.outcome() == Outcome::Ok).then(|| KvOp::Get(text(op.output))),
        "put" => Some(KvOp::Put(text(op.input))),
        _ => Some(KvOp::Append(text(op.input))),
    }
}
