//! `assay check --model list-append` and `rw-register`: isolation, as people who know Elle expect.

use super::{json, run, run_with, scratch, write};
use std::path::PathBuf;

/// Two transactions that do not see each other.
const WRITE_SKEW: &str = "\
{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :y 1]]}
{:process 1, :type :invoke, :f :txn, :value [[:r :y nil] [:append :x 2]]}
{:process :nemesis, :type :info, :f :start, :value nil}
{:process 0, :type :ok, :f :txn, :value [[:r :x []] [:append :y 1]]}
{:process 1, :type :ok, :f :txn, :value [[:r :y []] [:append :x 2]]}
";

/// The same as Assay's own recorder writes it.
fn write_skew_rows() -> String {
    let row = |id: u32, input: &str, output: &str| {
        format!(
            r#"{{"op_id":{id},"process_id":{id},"invoke_ts":{id},"complete_ts":9,"op_type":"txn","#
        ) + &format!(r#""key":null,"input":{input},"output":{output},"error":null,"#)
            + r#""timeout_marker":false,"node_seen":null,"fault_epoch":null}"#
            + "\n"
    };
    let first =
        row(1, r#"[["r","x",null],["append","y",1]]"#, r#"[["r","x",[]],["append","y",1]]"#);
    first + &row(2, r#"[["r","y",null],["append","x",2]]"#, r#"[["r","y",[]],["append","x",2]]"#)
}

#[test]
fn write_skew_is_refuted_with_a_cycle_in_words() {
    let run = run_with(&["check", "-", "--model", "list-append"], WRITE_SKEW.as_bytes());
    assert_eq!(run.code, 1, "{}", run.err);
    assert!(run.out.starts_with("REFUTED"), "{}", run.out);
    let sentence =
        "T1 read x as an empty list, without 2, which T2 appended, so T1 came before T2.";
    assert!(run.out.contains(sentence), "{}", run.out);
    assert!(run.out.contains("re-checked by the verifier"), "{}", run.out);
}

#[test]
fn the_claim_decides_and_the_formats_agree() {
    for (claim, code) in [
        ("strict-serializable", 1),
        ("serializable", 1),
        ("PL-3", 1),
        ("repeatable-read", 1),
        ("snapshot-isolation", 0),
        ("read-committed", 0),
    ] {
        for history in [WRITE_SKEW, &write_skew_rows()] {
            let args = ["check", "-", "--model", "list-append", "--consistency-model", claim];
            let run = run_with(&args, history.as_bytes());
            assert_eq!(run.code, code, "{claim}: {}{}", run.out, run.err);
        }
    }
}

#[test]
fn json_output_carries_the_cycle_and_the_models() {
    let args = ["check", "-", "--model", "list-append", "--format", "json"];
    let report = json(&run_with(&args, WRITE_SKEW.as_bytes()));
    assert_eq!(report["verdict"], "refuted");
    assert_eq!(report["strongest_possible"], serde_json::json!(["strong-snapshot-isolation"]));
    let anomaly = &report["anomalies"][0];
    assert_eq!(anomaly["kind"], "G2-item");
    assert_eq!(anomaly["cycle"].as_array().map(Vec::len), Some(2));
    assert_eq!(anomaly["verified"]["ok"], true);
}

#[test]
fn pictures_are_written() {
    let directory = scratch();
    let file = |name: &str| directory.path().join(name).display().to_string();
    let (html, svg, dot) = (file("r.html"), file("r.svg"), file("r.dot"));
    let args =
        ["check", "-", "--model", "list-append", "--html", &html, "--svg", &svg, "--dot", &dot];
    assert_eq!(run_with(&args, WRITE_SKEW.as_bytes()).code, 1);
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert!(read(&html).contains("without 2"));
    assert!(read(&svg).contains("T2"));
    assert!(read(&dot).contains("T1 -> T2"));
}

#[test]
fn a_history_without_a_committed_transaction_is_no_pass() {
    let unknown = "{:process 0, :type :invoke, :f :txn, :value [[:append :y 1]]}\n";
    let empty = "{:process 0, :type :invoke, :f :txn, :value []}\n\
                 {:process 0, :type :ok, :f :txn, :value []}\n";
    let blind = format!("{unknown}{}", unknown.replace("invoke", "ok"));
    for history in ["", unknown, empty, &blind] {
        let run = run_with(
            &["check", "-", "--model", "list-append", "--from", "jepsen-edn"],
            history.as_bytes(),
        );
        assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    }
}

#[test]
fn bad_transactions_are_one_clear_error() {
    for (value, wanted) in [
        ("5", "list of micro-operations"),
        ("[[:w :x 1]]", "use rw-register"),
        ("[[:cas :x 1]]", "no micro-operation"),
        ("[[:r :x]]", "fewer than three"),
        ("[[:append :x nil]]", "writes null"),
        ("[[:r :x 7]]", "which is no list"),
    ] {
        let record = |kind: &str| format!("{{:process 0, :type :{kind}, :value {value}}}\n");
        let history = record("invoke") + &record("ok");
        let run = run_with(&["check", "-", "--model", "list-append"], history.as_bytes());
        assert_eq!(run.code, 65, "{history}: {}{}", run.out, run.err);
        assert!(run.err.contains(wanted), "{history}: {}", run.err);
    }
}

#[test]
fn options_that_mean_nothing_here_are_refused() {
    for extra in
        [&["--initial", "5"][..], &["--independent"], &["--linearizable-keys"], &["-c", "nonsense"]]
    {
        let args = [&["check", "-", "--model", "list-append"][..], extra].concat();
        let run = run_with(&args, WRITE_SKEW.as_bytes());
        assert_eq!(run.code, 64, "{extra:?}: {}", run.err);
    }
}

#[test]
fn a_register_value_that_nobody_wrote_refutes_complete_recordings_only() {
    let history = "{:process 0, :type :invoke, :value [[:r :x nil]]}\n\
                   {:process 0, :type :ok, :value [[:r :x 2]]}\n";
    let args = ["check", "-", "--model", "rw-register"];
    let foreign = run_with(&args, history.as_bytes());
    assert_eq!(foreign.code, 0, "{}", foreign.out);
    assert!(foreign.out.contains("no recorded transaction wrote"), "{}", foreign.out);
    let complete = run_with(&[&args[..], &["--recording-complete"]].concat(), history.as_bytes());
    assert_eq!(complete.code, 1, "{}", complete.out);
    assert!(complete.out.contains("phantom"), "{}", complete.out);
}

#[test]
fn a_strict_serializable_register_history_is_accepted_with_linearizable_keys() {
    let corpus = std::env::var_os("ASSAY_CORPUS").map(PathBuf::from);
    let Some(file) = corpus.map(|c| c.with_file_name("rw-register-strict-serializable.edn")) else {
        eprintln!("SKIPPED: ASSAY_CORPUS is not set, so no third-party history was checked");
        return;
    };
    let file = file.display().to_string();
    for extra in
        [&[][..], &["--wfr-keys"], &["--sequential-keys"], &["--wfr-keys", "--sequential-keys"]]
    {
        let args = [&["check", &file, "--model", "rw-register", "--linearizable-keys"][..], extra];
        let run = run(&args.concat());
        assert_eq!(run.code, 0, "{extra:?}: {}{}", run.out, run.err);
    }
}

#[test]
fn gzip_is_read_and_the_torn_tail_is_dropped() {
    use std::io::Write;
    let directory = scratch();
    let torn = &WRITE_SKEW.as_bytes()[..WRITE_SKEW.len() - 20];
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(torn).expect("memory suffices");
    let path = write(&directory, "h.edn.gz", &encoder.finish().expect("memory suffices"));
    let path = path.display().to_string();
    let report = json(&run(&["check", &path, "--model", "list-append", "--format", "json"]));
    // Without its completion the second transaction is unknown, and nobody saw it.
    assert_eq!(report["verdict"], "upheld");
    assert_eq!(report["unknown"], 1);
    assert!(report["scope_not_covered"].to_string().contains("cut off"));
}

#[test]
fn a_recording_that_cannot_carry_a_verdict_is_refused() {
    let twice = write_skew_rows().replace("\"op_id\":2", "\"op_id\":1");
    let run = run_with(&["check", "-", "--model", "list-append"], twice.as_bytes());
    assert_eq!(run.code, 65, "{}{}", run.out, run.err);
    assert!(run.err.contains("V1"), "{}", run.err);
}

#[test]
fn the_pictures_of_the_guide_are_made_from_the_examples() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let directory = scratch();
    let mut drawn = 0;
    for entry in std::fs::read_dir(root.join("examples/isolation")).expect("there are examples") {
        let history = entry.expect("it can be listed").path();
        let name = history.file_stem().expect("a name").to_string_lossy().to_string();
        let picture = directory.path().join("picture.svg").display().to_string();
        let file = history.display().to_string();
        let run = run(&["check", &file, "--model", "list-append", "--svg", &picture]);
        assert_eq!(run.code, 1, "{name}: {}{}", run.out, run.err);
        let made = std::fs::read_to_string(&picture).expect("it was written");
        let kept = root.join(format!("docs/guides/isolation/{name}.svg"));
        if std::env::var_os("ASSAY_BLESS").is_some() {
            std::fs::write(&kept, &made).expect("the documentation is writable");
        }
        let kept = std::fs::read_to_string(kept).unwrap_or_default();
        assert!(kept == made, "{name}: the picture of the guide is old: ASSAY_BLESS=1");
        drawn += 1;
    }
    assert!(drawn >= 10);
}

/// Rows of one process: start, end, input and output.
fn rows_of(header: &str, ops: &[(u32, i64, i64, &str, &str)]) -> String {
    let row = |(id, (process, start, end, input, output)): (
        usize,
        &(u32, i64, i64, &str, &str),
    )| {
        format!(
            "{{\"op_id\":{id},\"process_id\":{process},\"invoke_ts\":{start},\"complete_ts\":{end},\
             \"op_type\":\"txn\",\"key\":null,\"input\":{input},\"output\":{output},\"error\":null,\
             \"timeout_marker\":false,\"node_seen\":null,\"fault_epoch\":null}}\n"
        )
    };
    header.to_string() + &ops.iter().enumerate().map(row).collect::<String>()
}

const APPEND: &str = r#"[["append","x",1]]"#;
const SAW_NOTHING: &str = r#"[["r","x",[]]]"#;
const SAW_IT: &str = r#"[["r","x",[1]]]"#;

#[test]
fn the_order_of_a_process_is_what_did_not_overlap() {
    let check = |text: &str, extra: &[&str]| {
        let args = [&["check", "-", "--model", "list-append"][..], extra].concat();
        run_with(&args, text.as_bytes())
    };
    let header = "{\"event\":\"header\",\"clock\":\"monotonic\",\"pipelined\":true}\n";
    // The read ran inside the write: either may have been first.
    let inside = [
        (0, 0, 10, APPEND, APPEND),
        (0, 5, 6, SAW_NOTHING, SAW_NOTHING),
        (1, 20, 21, SAW_IT, SAW_IT),
    ];
    let overlapping = check(&rows_of(header, &inside), &[]);
    assert_eq!(overlapping.code, 0, "{}{}", overlapping.out, overlapping.err);
    // One after the other, at the same moment: the order of the records decides.
    let touching = [
        (0, 5, 5, APPEND, APPEND),
        (0, 5, 5, SAW_NOTHING, SAW_NOTHING),
        (1, 9, 10, SAW_IT, SAW_IT),
    ];
    for extra in [&[][..], &["--no-realtime", "-c", "strong-session-serializable"]] {
        let refuted = check(&rows_of("", &touching), extra);
        assert_eq!(refuted.code, 1, "{}{}", refuted.out, refuted.err);
        assert!(refuted.out.contains("G-single-process"), "{}", refuted.out);
    }
    // Records out of order are put in order first.
    let unsorted = [(0, 20, 21, SAW_IT, SAW_IT), (0, 0, 1, APPEND, APPEND)];
    let fine = check(&rows_of("", &unsorted), &[]);
    assert_eq!(fine.code, 0, "{}{}", fine.out, fine.err);
}

#[test]
fn a_committed_transaction_without_an_answer_saw_nobody_knows_what() {
    let history = rows_of(
        "",
        &[
            (0, 0, 1, APPEND, APPEND),
            (1, 2, 3, r#"[["r","x",null],["append","y",1]]"#, "null"),
            (1, 4, 5, SAW_IT, SAW_IT),
        ],
    );
    let run = run_with(&["check", "-", "--model", "list-append"], history.as_bytes());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
}

#[test]
fn calibration_says_which_anomalies_this_history_could_have_shown() {
    let history = "\
{:process 0, :type :invoke, :f :txn, :value [[:append x 1]]}
{:process 0, :type :ok, :f :txn, :value [[:append x 1]]}
{:process 0, :type :invoke, :f :txn, :value [[:append x 2] [:r y nil]]}
{:process 0, :type :ok, :f :txn, :value [[:append x 2] [:r y []]]}
{:process 1, :type :invoke, :f :txn, :value [[:r x nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r x [1 2]]]}
{:process 1, :type :invoke, :f :txn, :value [[:r x nil]]}
{:process 1, :type :ok, :f :txn, :value [[:r x [1 2]]]}
";
    let args = ["check", "-", "--model", "list-append", "--calibrate", "10", "--format", "json"];
    let report = json(&run_with(&args, history.as_bytes()));
    let rows = report["calibration"].as_array().expect("rows").clone();
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in rows {
        assert_eq!(row["planted"], 10, "{row}");
        assert_eq!(row["caught"], 10, "{row}");
    }
}

/// Two readers, one after the other, saw two concurrent writes in different orders; which version
/// is the later one is not known.
const TWO_READERS: &str = "\
{:process 1, :type :invoke, :value [[:w x 2]]}
{:process 2, :type :invoke, :value [[:w x 3]]}
{:process 1, :type :ok, :value [[:w x 2]]}
{:process 2, :type :ok, :value [[:w x 3]]}
{:process 3, :type :invoke, :value [[:r x nil]]}
{:process 3, :type :ok, :value [[:r x 2]]}
{:process 4, :type :invoke, :value [[:r x nil]]}
{:process 4, :type :ok, :value [[:r x 3]]}
";

#[test]
fn registers_without_an_order_of_versions_are_searched() {
    let check = |more: &[&str]| {
        let args = [&["check", "-", "--model", "rw-register"], more].concat();
        run_with(&args, TWO_READERS.as_bytes())
    };
    let strict = check(&[]);
    assert_eq!(strict.code, 1, "{}", strict.err);
    assert!(strict.out.contains("no-serial-order-realtime"), "{}", strict.out);
    assert!(strict.out.contains("re-checked by the verifier"), "{}", strict.out);
    let plain = check(&["-c", "serializable"]);
    assert_eq!(plain.code, 0, "{}", plain.err);
    assert!(plain.out.contains("an order of all 4 transactions was found"), "{}", plain.out);
    assert!(plain.out.contains("it was replayed"), "{}", plain.out);
    let short = check(&["-c", "serializable", "--states", "2", "--format", "json"]);
    assert_eq!(short.code, 2, "{}", short.err);
    assert_eq!(json(&short)["search"]["result"], "gave-up");
    assert_eq!(json(&short)["verdict"], "undecided");
    let never = check(&["--search", "never"]);
    assert_eq!(never.code, 0, "cycles show nothing: {}", never.out);
    assert!(never.out.contains("not covered: no order of versions"), "{}", never.out);
}

#[test]
fn lists_need_no_search_and_say_so() {
    let args = ["check", "-", "--model", "list-append", "--search", "always"];
    let run = run_with(&args, WRITE_SKEW.as_bytes());
    assert_eq!(run.code, 64, "{}", run.out);
    assert!(run.err.contains("--search is for rw-register"), "{}", run.err);
}

#[test]
fn memory_bounds_what_transactions_may_take() {
    let one = |i: usize, kind: &str, seen: &str| {
        format!("{{:process {i}, :type :{kind}, :value [[:w k{i} 1] [:r k{} {seen}]]}}\n", i + 1)
    };
    let all = (0..600).map(|i| one(i, "invoke", "nil") + &one(i, "ok", "nil"));
    let history: String = all.collect();
    let check = |memory: &str| {
        let args = ["check", "-", "--model", "rw-register", "-c", "causal", "--memory", memory];
        run_with(&args, history.as_bytes())
    };
    let little = check("1MiB");
    assert_eq!(little.code, 2, "{}{}", little.out, little.err);
    let why = "600 transactions of 600 processes are too many";
    assert!(little.out.contains(why), "{}", little.out);
    assert_eq!(check("4MiB").code, 0);
}
