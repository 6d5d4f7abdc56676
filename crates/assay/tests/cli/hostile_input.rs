//! Bad input gets one clear error and the right exit code; odd input gets the right verdict.

use super::{rows, run, run_with, scratch, write};
use std::io::Write;

const CHECK: [&str; 4] = ["check", "-", "--model", "register"];

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

#[test]
fn nothing_to_check_is_no_pass() {
    for empty in ["", "\n\n", "[]"] {
        let run = run_with(&CHECK, empty.as_bytes());
        assert_eq!(run.code, 3, "{empty:?}: {}{}", run.out, run.err);
        assert!(run.out.starts_with("NOTHING CHECKED"), "{}", run.out);
    }
    let unknowns = rows(&[(0, "write", "1", "null", 0, -1), (1, "read", "null", "null", 5, -1)]);
    let run = run_with(&CHECK, unknowns.as_bytes());
    assert_eq!(run.code, 3, "only unknowns: {}{}", run.out, run.err);
    // Found by fuzzing: several keys, and not one operation that says anything.
    let reads = rows(&[(0, "read", "null", "null", 0, -1), (1, "read", "null", "null", 5, -1)]);
    let two_keys = reads.replacen("\"key\":null", "\"key\":7", 1);
    let run = run_with(&CHECK, two_keys.as_bytes());
    assert_eq!(run.code, 3, "unknown reads on two keys: {}{}", run.out, run.err);
}

#[test]
fn one_client_and_a_thousand_clients_are_checked() {
    let one = rows(&[(0, "write", "1", "null", 0, 5), (0, "read", "null", "1", 6, 9)]);
    assert_eq!(run_with(&CHECK, one.as_bytes()).code, 0);
    // All overlap; everyone reads what client 7 wrote, and later that is gone again.
    let mut ops: Vec<(u32, &str, String, String, i64, i64)> = Vec::new();
    for client in 0..1_000 {
        ops.push((client, "write", client.to_string(), "null".into(), 0, 1_000));
    }
    for client in 0..1_000 {
        ops.push((client, "read", "null".into(), "7".into(), 2_000, 3_000));
    }
    let table = |ops: &[(u32, &str, String, String, i64, i64)]| {
        let ops: Vec<_> =
            ops.iter().map(|(p, t, i, o, s, e)| (*p, *t, i.as_str(), o.as_str(), *s, *e)).collect();
        rows(&ops)
    };
    assert_eq!(run_with(&CHECK, table(&ops).as_bytes()).code, 0);
    ops.push((0, "read", "null".into(), "8".into(), 4_000, 5_000));
    let run = run_with(&CHECK, table(&ops).as_bytes());
    assert_eq!(run.code, 1, "{}", run.err);
}

#[test]
fn histories_that_cannot_carry_a_verdict_are_refused_with_line_and_rule() {
    let two = rows(&[(0, "write", "1", "null", 0, 5), (0, "read", "null", "1", 6, 9)]);
    let cases = [
        ("duplicate op ids", two.replace("\"op_id\":1", "\"op_id\":0"), "V1"),
        ("time going backwards", two.replace("\"complete_ts\":9", "\"complete_ts\":2"), "V4"),
        ("output and error", two.replace("\"error\":null", "\"error\":\"x\""), "V5"),
        ("another model's operation", two.replace("\"write\"", "\"enqueue\""), "V9"),
        ("counts do not match", two + "{\"event\":\"footer\",\"sent\":5,\"recorded\":2}\n", "V11"),
    ];
    for (name, history, rule) in cases {
        let run = run_with(&CHECK, history.as_bytes());
        assert_eq!(run.code, 65, "{name}: {}{}", run.out, run.err);
        assert!(run.out.is_empty(), "{name}: no verdict on standard output: {}", run.out);
        assert!(run.err.contains(rule), "{name}: {}", run.err);
        assert!(run.err.contains("assay explain"), "{name}: {}", run.err);
    }
}

#[test]
fn malformed_files_name_the_line() {
    let good = rows(&[(0, "write", "1", "null", 0, 5)]);
    let mut bad_utf8 = good.clone().into_bytes();
    bad_utf8.extend_from_slice(b"{\"op_id\":\xff\xfe}\n");
    bad_utf8.extend_from_slice(good.as_bytes());
    let cases: [(&str, Vec<u8>, &str); 4] = [
        ("invalid UTF-8", bad_utf8, "-:2: not valid UTF-8"),
        ("broken JSON", format!("{good}{{\"op_id\":}}\n{good}").into_bytes(), "-:2: "),
        ("a missing field", format!("{good}{{\"op_id\":1}}\n").into_bytes(), "process_id"),
        ("no history at all", b"hello world\n".to_vec(), "no history Assay knows"),
    ];
    for (name, bytes, expected) in cases {
        let run = run_with(&CHECK, &bytes);
        assert_eq!(run.code, 65, "{name}: {}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{name}: {}", run.err);
    }
}

#[test]
fn a_truncated_gzip_is_an_error_and_a_whole_one_is_read() {
    let mut ops = Vec::new();
    for i in 0..2_000i64 {
        ops.push((0, "read", "null", "null", 10 * i, 10 * i + 5));
    }
    let packed = gzip(rows(&ops).as_bytes());
    assert_eq!(run_with(&CHECK, &packed).code, 0);
    let run = run_with(&CHECK, &packed[..packed.len() / 2]);
    assert_eq!(run.code, 65, "{}", run.out);
    assert!(run.err.contains("cut short"), "{}", run.err);
}

#[test]
fn a_torn_last_line_is_dropped_and_said_so() {
    let whole = rows(&[(0, "write", "1", "null", 0, 5), (0, "read", "null", "1", 6, 9)]);
    let torn = format!("{whole}{{\"op_id\":2,\"process_id\":0,\"invo");
    let run = run_with(&CHECK, torn.as_bytes());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    assert!(run.out.contains(":3: note"), "{}", run.out);
}

#[test]
fn a_line_of_a_gigabyte_is_refused_without_reading_it_all() {
    let mut child = super::assay(&CHECK)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("assay runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let chunk = vec![b'x'; 1 << 20];
    let mut sent_mib = 0;
    let _closed = stdin.write_all(b"{\"op_id\":\"");
    while sent_mib < 1_024 && stdin.write_all(&chunk).is_ok() {
        sent_mib += 1;
    }
    drop(stdin);
    let run = super::finished(child.wait_with_output().expect("assay ends"));
    assert_eq!(run.code, 65, "{}", run.err);
    assert!(run.err.contains("-:1: one record is longer than 64 MiB"), "{}", run.err);
    assert!(sent_mib < 200, "it kept reading: {sent_mib} MiB");
}

#[test]
fn usage_errors_exit_64_and_missing_files_69() {
    for args in [
        &["check"][..],
        &["check", "x", "--model", "nonsense"],
        &["check", "x", "--model", "register", "--budget", "30"],
        &["check", "x", "--model", "register", "--memory", "1"],
        &["frobnicate"],
        &["explain", "V99"],
    ] {
        let run = run(args);
        assert_eq!(run.code, 64, "{args:?}: {}{}", run.out, run.err);
        assert!(!run.err.is_empty(), "{args:?}");
    }
    let directory = scratch();
    let missing = directory.path().join("missing").display().to_string();
    let folder = directory.path().display().to_string();
    for path in [&missing, &folder] {
        let run = run(&["check", path, "--model", "register"]);
        assert_eq!(run.code, 69, "{}", run.err);
        assert!(run.err.contains(path.as_str()), "{}", run.err);
    }
    let bad_initial = write(&directory, "h.jsonl", b"").display().to_string();
    let run = run(&["check", &bad_initial, "--model", "register", "--initial", "{"]);
    assert_eq!(run.code, 64, "{}", run.err);
}
