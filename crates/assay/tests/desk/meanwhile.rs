//! What people do while a Leader runs, or after one was killed: it goes on, and says what protects
//! it.

use super::{Bench, Ended, USUAL, Wish};
use std::process::{Command, Stdio};

/// A Worker that waits until the test has done something, once.
const WAITS: &str = "[ -p \"$HOME/gate\" ] && cat \"$HOME/gate\"; work; commit; sign";
const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const TWO: Wish = Wish { stories: 2, limits: "iterations = 9\nidle_seconds = 60", ..USUAL };
const PROTECTED: &str = "the kernel refuses writes elsewhere";
const UNPROTECTED: &str = "nothing keeps it from writing elsewhere: it was switched off";

/// Runs a campaign and does something while its first agent is out.
fn meanwhile(bench: &Bench, more: &[&str], act: impl FnOnce()) -> Ended {
    let gate = bench.home().join("gate");
    let made = Command::new("mkfifo").arg(&gate).status();
    assert!(made.expect("mkfifo runs").success());
    let engine = bench.engine();
    let mut args = vec!["run", "small", "--worker", &engine, "--verifier", &engine];
    args.extend(more);
    let mut leader = bench.desk(&args);
    let leader = leader.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    // Opens when somebody reads: then an agent is out.
    let open = std::fs::File::options().write(true).open(&gate).expect("somebody reads it");
    std::fs::remove_file(&gate).expect("it was there");
    act();
    drop(open);
    Ended::of(leader.expect("assay runs").wait_with_output().expect("it ends"))
}

#[test]
fn what_a_person_changes_meanwhile_stops_the_leader_and_ends_nothing() {
    type Act = fn(&Bench);
    let rows: [(&str, Act, bool); 3] = [
        ("contract.md was changed", |b| b.edit("sees 2", "sees the number 2"), true),
        (".git/config was changed", |b| b.git(&["config", "branch.x.remote", "o"]), false),
        ("report.html was made", |b| b.write(".assay/desk/small/report.html", "x"), false),
    ];
    for (said, act, amends) in rows {
        let bench = Bench::new(TWO, WAITS, JUDGE);
        let stopped = meanwhile(&bench, &[], || act(&bench));
        let all = format!("{}{}", stopped.out, stopped.err);
        assert!(all.contains(said), "{said}: {all}");
        if !stopped.out.contains(PROTECTED) {
            // Then nobody can say who did it.
            assert_eq!(stopped.code, Some(1), "{said}: {all}");
            continue;
        }
        assert_eq!(stopped.code, Some(65), "{said}: {all}");
        for words in ["somebody else changed", "assay desk run small", "assay desk amend small"] {
            assert!(stopped.err.contains(words), "{words}: {all}");
        }
        if amends {
            assert_eq!(bench.ask(&["run", "small"]).code, Some(65), "it is still another contract");
            let amended = bench.ask(&["amend", "small", "--by", "me", "--why", "clearer"]);
            assert_eq!(amended.code, Some(0), "{}", amended.err);
        }
        let ended = bench.ask(&["run", "small"]);
        assert_eq!(ended.code, Some(0), "{said}: {}{}", ended.out, ended.err);
        assert_eq!(bench.ask(&["verify", "small"]).code, Some(0));
        let log = bench.ask(&["log", "small"]);
        assert!(log.out.contains("by somebody else"), "the record says so: {}", log.out);
        let workers = log.out.lines().filter(|line| line.contains("  worker "));
        // What was done for a contract that changed is done again, and nothing else is.
        let wanted = 2 + usize::from(amends);
        assert_eq!(workers.count(), wanted, "no agent was out in vain: {}", log.out);
    }
}

#[test]
fn without_the_kernel_nobody_can_say_who_did_it() {
    let bench = Bench::new(USUAL, WAITS, JUDGE);
    let off = ["--sandbox", "off"];
    let ended = meanwhile(&bench, &off, || bench.edit("sees 1", "sees the number 1"));
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("integrity") && ended.out.contains("contract.md was changed"));
}

/// A file that is a fold of the record.
fn file(bench: &Bench, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(bench.root.join(".assay/desk/small").join(name));
    serde_json::from_str(&text.unwrap_or_else(|e| panic!("{name}: {e}"))).expect("it is whole")
}

#[test]
fn every_start_says_what_protects_it_and_files_say_where_it_stands() {
    let bench = Bench::new(TWO, WORK, JUDGE);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"verified\""));
    let status = file(&bench, "status.json");
    assert!(status["events"].as_u64().is_some_and(|events| events > 5), "{status}");
    assert!(!bench.root.join(".assay/desk/small/result.json").exists());
    // A killed Leader left it open; whoever looks at it closes it, if it holds.
    let verify = ["verify", "small", "--format", "json"];
    let sealed = || -> serde_json::Value {
        let verified = bench.ask(&verify);
        assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
        let value: serde_json::Value = serde_json::from_str(&verified.out).expect("JSON");
        serde_json::json!([value["sealed"], value["sealed_now"]])
    };
    assert_eq!(sealed(), serde_json::json!([false, true]));
    assert_eq!(sealed(), serde_json::json!([true, false]));
    let said = |out: &str| out.contains("goes on   small; ");
    bench.stop_when(&["run", "small", "--sandbox", "off"], |line| {
        said(line) && line.contains(UNPROTECTED)
    });
    let mut asked = bench.desk(&["run", "small", "--format", "json", "--sandbox", "off"]);
    let ended = Ended::of(asked.output().expect("assay runs"));
    assert!(said(&ended.err) && ended.err.contains(UNPROTECTED), "{}", ended.err);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(file(&bench, "result.json")["phase"], "COMPLETE");
    let again = bench.ask(&["run", "small"]);
    assert!(!said(&again.out), "nothing is started: {}", again.out);
}

#[test]
fn an_aborted_campaign_has_its_files() {
    let bench = Bench::new(TWO, WORK, JUDGE);
    let engine = bench.engine();
    let args = ["run", "small", "--worker", &engine, "--verifier", &engine, "--format", "json"];
    bench.stop_when(&args, |line| line.contains("\"kind\":\"dispatched\""));
    assert_eq!(bench.ask(&["abort", "small", "--why", "enough"]).code, Some(0));
    let result = file(&bench, "result.json");
    assert_eq!(result["result"]["state"], "ABORTED", "{result}");
    assert_eq!(file(&bench, "status.json")["phase"], "ABORTED");
}
