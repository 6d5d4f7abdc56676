//! The command line, through the real binary: what users type, what they see, how it ends.

mod adr;
mod agents;
mod browser;
mod check;
mod corpus;
mod guard;
mod guard_self;
mod heal;
mod histories;
mod hostile_input;
mod invariants;
mod isolation;
mod models;
mod plans;
mod promises;
mod report;
mod sandbox;
mod sets;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// How a run ended.
struct Run {
    code: i32,
    out: String,
    err: String,
}

fn finished(output: Output) -> Run {
    Run {
        code: output.status.code().expect("assay ends by itself, not by a signal"),
        out: String::from_utf8(output.stdout).expect("output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("errors are UTF-8"),
    }
}

fn assay(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(args).env("NO_COLOR", "1").env("COLUMNS", "100").env("LC_ALL", "C.UTF-8");
    command
}

fn run(args: &[&str]) -> Run {
    finished(assay(args).stdin(Stdio::null()).output().expect("assay runs"))
}

/// Runs with `input` on standard input; `-` names it.
fn run_with(args: &[&str], input: &[u8]) -> Run {
    let mut child = assay(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("assay runs");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    std::thread::scope(|scope| {
        // A program that has seen enough closes its input: that is no error here.
        scope.spawn(move || _ = stdin.write_all(input));
        finished(child.wait_with_output().expect("assay ends"))
    })
}

fn json(run: &Run) -> serde_json::Value {
    serde_json::from_str(&run.out).unwrap_or_else(|e| panic!("{e}: {}\n{}", run.out, run.err))
}

/// A bundled history.
fn example(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/histories").join(name).display().to_string()
}

/// A directory of this test's own.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be made")
}

fn write(directory: &tempfile::TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, content).expect("a temporary file can be written");
    path
}

/// Row-form JSON lines from `(process, type, input, output, start, end)`; an end of -1 is unknown.
fn rows(ops: &[(u32, &str, &str, &str, i64, i64)]) -> String {
    let mut text = String::new();
    for (i, (process, op_type, input, output, start, end)) in ops.iter().enumerate() {
        let (complete, timeout) =
            if *end < 0 { ("null".to_string(), true) } else { (end.to_string(), false) };
        text += &format!(
            "{{\"op_id\":{i},\"process_id\":{process},\"invoke_ts\":{start},\
             \"complete_ts\":{complete},\"op_type\":\"{op_type}\",\"key\":null,\"input\":{input},\
             \"output\":{output},\"error\":null,\"timeout_marker\":{timeout},\"node_seen\":null,\
             \"fault_epoch\":null}}\n"
        );
    }
    text
}
