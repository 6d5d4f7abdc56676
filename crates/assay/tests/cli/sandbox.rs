//! `assay sandbox`: commands and tools in a sandbox of this machine.
//!
//! What a sandbox keeps in and out is tested by its crate; here it is whether the binary makes one.

use super::{run, run_with};
use serde_json::{Value, json};

/// Whether this machine can promise what a sandbox needs.
fn is_possible() -> bool {
    let probe = run(&["sandbox", "run", "--", "true"]);
    if probe.code == 69 {
        assert!(probe.err.contains("cannot promise what is asked for"), "{}", probe.err);
        eprintln!("SKIPPED: {}", probe.err);
        return false;
    }
    true
}

#[test]
fn a_command_runs_in_a_sandbox_and_says_how_it_ended() {
    if !is_possible() {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let (work, secret) = (place.path().join("session"), place.path().join("master.key"));
    std::fs::write(&secret, "it must not be seen").expect("ours");
    let work = work.to_str().expect("a plain path");
    let script = format!("echo out; echo made > $ASSAY_OUTPUTS/a.txt; cat {}", secret.display());
    let ran = run(&["sandbox", "run", "--work", work, "--", "sh", "-c", &script]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "out\n"), "{}", ran.err);
    assert!(ran.err.contains("exited with 1\nsandbox local: "), "{}", ran.err);
    assert!(ran.err.contains("output a.txt (5 bytes)"), "{}", ran.err);
    // The same directory again: what was made is still there, as an object of JSON this time.
    let args = ["sandbox", "run", "--work", work, "--format", "json", "--", "sh", "-c", "exit 4"];
    let ran = run(&args);
    let value: Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!((ran.code, &value["end"]), (1, &json!({ "exited": 4 })));
    assert_eq!(value["outputs"], json!([{ "name": "a.txt", "path": "a.txt", "bytes": 5 }]));
    assert_eq!(value["provider"], "local");
    // What is not there says why.
    let capabilities = &value["capabilities"];
    let present = capabilities["present"].as_array().expect("a list");
    let is_present = present.contains(&json!("network-limited"));
    let says_why_not = capabilities["missing"]["network-limited"].is_string();
    assert!(is_present != says_why_not, "{value}");
}

#[test]
fn limits_of_a_command_are_its_end() {
    if !is_possible() {
        return;
    }
    for (args, words) in [
        (["--time", "500ms", "sleep 600"], "--time"),
        (["--output-max", "1MiB", "yes"], "--output-max"),
    ] {
        let ran = run(&["sandbox", "run", args[0], args[1], "--", "sh", "-c", args[2]]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
}

#[test]
fn a_tool_answers_as_it_would_to_an_agent() {
    if !is_possible() {
        return;
    }
    let place = tempfile::tempdir().expect("a directory");
    let work = place.path().join("session").display().to_string();
    let tool = |name: &str, input: Value| {
        let args = ["sandbox", "tool", name, "--work", &work, "--format", "json"];
        let ran = run_with(&args, input.to_string().as_bytes());
        let value: Value = serde_json::from_str(&ran.out).expect("one object");
        assert_eq!(ran.code, i32::from(value["is_error"] == true), "{}", ran.err);
        value["text"].as_str().expect("a text").to_string()
    };
    tool("write", json!({ "path": "a", "content": "one\n" }));
    assert_eq!(tool("read", json!({ "path": "a" })), "     1\tone\n");
    assert!(tool("bash", json!({ "command": "cat a; exit 2" })).ends_with("one\n[exit code 2]"));
    assert!(tool("read", json!({ "path": "../master.key" })).contains("must not contain `..`"));
    assert!(tool("bash", json!({ "command": "ls", "cwd": "/" })).contains("unknown field `cwd`"));
}

#[test]
fn what_cannot_be_kept_is_refused_before_the_start() {
    for (args, code, words) in [
        (vec!["--provider", "docker"], 64, "there are `local`, and `none`"),
        (vec!["--provider", "none"], 69, "network-off"),
        (vec!["--without", "everything"], 64, "needed are files"),
        (vec!["--env", "NAME"], 64, "expected NAME=VALUE"),
    ] {
        let ran = run(&[&["sandbox", "run"][..], &args[..], &["--", "true"][..]].concat());
        assert_eq!(ran.code, code, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    }
    let ran = run(&["sandbox", "run", "--provider", "none", "--allow-network", "--", "true"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("nothing is protected"), "{}", ran.err);
    let ran = run_with(&["sandbox", "tool", "bash"], b"no json");
    assert_eq!(ran.code, 65, "{}", ran.err);
}

#[test]
fn the_doctor_says_what_a_sandbox_promises_here() {
    let ran = run(&["doctor"]);
    assert!(ran.out.contains("sandbox of tools: "), "{}", ran.out);
    let ran = run(&["doctor", "--format", "json"]);
    let value: Value = serde_json::from_str(&ran.out).expect("one object");
    assert!(value["sandbox"]["how"].is_string() && value["sandbox"]["missing"].is_object());
}
