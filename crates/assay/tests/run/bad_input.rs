//! Nonsense in, a sentence and an exit code out: never a panic, and never a pass.

use crate::support::{Ended, pause_plan, replaced, run, scratch, text, write};
use std::path::Path;

/// Files of a case, then its arguments, in which `@` is the directory; the exit code; and words
/// that have to be said.
type Case<'c> = (&'c [(&'c str, String)], &'c [&'c str], i32, &'c [&'c str]);

#[track_caller]
fn check((files, arguments, code, words): &Case<'_>) -> Ended {
    let directory = scratch();
    for (name, content) in *files {
        write(directory.path(), name, content);
    }
    check_in(directory.path(), arguments, *code, words)
}

#[track_caller]
fn check_in(directory: &Path, arguments: &[&str], code: i32, words: &[&str]) -> Ended {
    let arguments: Vec<String> =
        arguments.iter().map(|word| word.replace('@', text(directory))).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = run(&arguments);
    assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:#?}");
    let said = format!("{}{}", ended.out, ended.err);
    let unsaid: Vec<_> = words.iter().filter(|words| !said.contains(**words)).collect();
    assert!(unsaid.is_empty(), "{arguments:?}: {unsaid:?} is not said: {ended:#?}");
    assert!(!said.contains("panicked"), "{ended:#?}");
    ended
}

const RUN: [&str; 4] = ["run", "@/plan.md", "--directory", "@/run"];

#[test]
fn what_cannot_be_begun_is_refused_with_a_reason_and_leaves_no_run() {
    let plan = [("plan.md", pause_plan())];
    let no_claims = replaced(&pause_plan(), "## 1b. Claims under test", "## Nothing");
    let broken = [("plan.md", no_claims)];
    let taken = [("plan.md", pause_plan()), ("run/run.json", "{}".to_string())];
    // Every error, each with its line: the base of the first is the last line of its block.
    let twice = replaced(&pause_plan(), "target = \"follower\"", "target = \"folower\"");
    let twice = replaced(&twice, "recording = \"in-process\"", "recording = \"by-hand\"");
    let line_of = |words: &str| {
        let line = twice.lines().position(|line| line.contains(words)).expect(words) + 1;
        format!("plan.md:{line}: P084")
    };
    let (target, recording) = (line_of("folower"), line_of("by-hand"));
    let twice = [("plan.md", twice.clone())];
    let refusals: [Case<'_>; 10] = [
        (&[], &RUN, 69, &["plan.md", "cannot read"]),
        (&broken, &RUN, 65, &["nothing was run", "1b. Claims under test", "assay plan lint"]),
        (&twice, &RUN, 65, &["the plan has errors: 2", &target, &recording, "`folower`"]),
        (&plan, &["run", "@/plan.md", "--scenario", "S9"], 64, &["no scenario `S9`; it has S1"]),
        (&taken, &RUN, 64, &["holds a run already", "--resume"]),
        (&plan, &["run", "--resume", "@"], 69, &["holds no run", "run.json is missing"]),
        (&taken, &["run", "--resume", "@/run"], 65, &["run.json cannot be read back"]),
        (&plan, &["run", "@/plan.md", "--resume", "@"], 64, &["cannot be used with"]),
        (&plan, &["run", "@/plan.md", "--sabotage", "x"], 64, &["there is no such sabotage"]),
        (&plan, &["run", "@/plan.md", "--directory", "/proc/run"], 69, &["/proc/run"]),
    ];
    for case in &refusals {
        check(case);
    }
}

/// A fault that begins on an election, and a system that does not count any.
fn without_elections(described: &str) -> [(&'static str, String); 2] {
    let times = "at = \"800ms\"\nfor = \"1500ms\"\nevery = \"1700ms\"";
    let plan = replaced(&pause_plan(), times, "on = \"elections >= 1\"\nfor = \"1500ms\"");
    let plan = replaced(&plan, "name = \"kv\"", "name = \"silent\"");
    let silent = replaced(described, "[signals.elections]", "[signals.votes]");
    [("plan.md", plan), ("systems/silent.toml", silent)]
}

#[test]
fn what_this_machine_lacks_is_inconclusive_with_a_sentence() {
    let with = |from: &str, to: &str| [("plan.md", replaced(&pause_plan(), from, to))];
    let kv = "name = \"kv\"";
    let described = include_str!("../../../../systems/kv.toml");
    let (fails, typo) =
        (with(kv, "name = \"fails\""), replaced(described, "\"--id\"", "\"--idd\""));
    let fails = [fails[0].clone(), ("systems/fails.toml", typo)];
    let unreadable = [fails[0].clone(), ("systems/fails.toml", "nodes = 3\n".to_string())];
    let env = "INCONCLUSIVE-env";
    let (any, target) = ("| any |", "target = \"follower\"");
    let silent = without_elections(described);
    let cases: [Case<'_>; 14] = [
        (&silent, &RUN, 2, &[env, "the signal `elections` that pause begins on", "with `at`"]),
        (&with(any, "| 999.9 |"), &RUN, 2, &[env, "at least 999.9 is needed"]),
        (&with(target, "target = \"n1, n9\""), &RUN, 2, &[env, "there is no node `n9`"]),
        (&with("stopped >= 1", "killed >= 1"), &RUN, 2, &[env, "pause does not count `killed`"]),
        (
            &with("recording = \"in-process\"", "recording = [\"in-process\", \"server-side\"]"),
            &RUN,
            2,
            &[env, "records in-process, not server-side"],
        ),
        (
            &with("recording = \"in-process\"", "recording = \"in-process\"\ncolumns = [\"zone\"]"),
            &RUN,
            2,
            &[env, "no column `zone`"],
        ),
        (
            &with(
                "recording = \"in-process\"",
                "recording = \"in-process\"\nwithout = [\"error\"]",
            ),
            &RUN,
            2,
            &[env, "records every column, error too"],
        ),
        (
            &with("[reduction]\nnodes = 3", "[reduction]\nnodes = 2"),
            &RUN,
            2,
            &[env, "reduction.nodes: kv does not run with 2 nodes"],
        ),
        (
            &with(kv, "name = \"absent\""),
            &RUN,
            2,
            &[env, "no system `absent`", "there are etcd, kv, nats, postgres"],
        ),
        (
            &with("generator = \"register\"", "generator = \"registr\""),
            &RUN,
            2,
            &[env, "no generator `registr`", "did you mean `register`"],
        ),
        (&with("nodes = 3\noptions", "nodes = 4\noptions"), &RUN, 2, &[env, "with 4 nodes"]),
        (&with("defects = []", "defects = [\"x\"]"), &RUN, 2, &[env, "\"x\" is none of"]),
        (&fails, &RUN, 2, &[env, "n1 did not start", "last lines of", "'--idd' found"]),
        (&unreadable, &RUN, 2, &[env, "fails.toml:1"]),
    ];
    for case in &cases {
        let ended = check(case);
        assert!(ended.out.starts_with("\nINCONCLUSIVE"), "{ended:#?}");
    }
}

#[test]
fn a_trial_that_was_tampered_with_is_named_and_nothing_is_made_of_it() {
    let directory = scratch();
    let plan = write(directory.path(), "plan.md", &pause_plan());
    let root = directory.path().join("run");
    let smoke = ["run", text(&plan), "--tier", "smoke", "--directory", text(&root)];
    assert_eq!(run(&smoke).code, Some(0), "a smoke run passes");
    let trial = root.join("artifacts/S1/smoke-seed-1/trial.json");
    let known = std::fs::read_to_string(&trial).expect("the record of a trial");
    std::fs::write(&trial, &known[..known.len() / 2]).expect("half of it");
    let words = ["smoke-seed-1", "trial.json cannot be read back", "line", "is run again"];
    check_in(directory.path(), &["run", "--resume", "@/run"], 65, &words);
    std::fs::remove_dir_all(root.join("artifacts/S1/smoke-seed-1")).expect("moved away");
    check_in(directory.path(), &["run", "--resume", "@/run"], 0, &["PASS-smoke"]);
    // A run that is finished stays as it is.
    check_in(directory.path(), &["run", "--resume", "@/run"], 0, &["PASS-smoke", "(kept)"]);
}

#[test]
fn a_trial_that_is_none_is_named_by_its_line() {
    let trial = |text: &str| [("trial.json", text.to_string())];
    let reproduce = ["reproduce", "@/trial.json"];
    let cases: [Case<'_>; 4] = [
        (&trial("{\"scenario\":\n 5}"), &reproduce, 65, &["trial.json:2: not a trial"]),
        (&trial(""), &reproduce, 65, &["trial.json:1: not a trial"]),
        (&trial("{\"surprise\": 1}"), &reproduce, 65, &["unknown field `surprise`"]),
        (&[], &reproduce, 69, &["trial.json", "cannot read"]),
    ];
    for case in &cases {
        check(case);
    }
}

#[test]
fn a_trial_whose_times_nobody_lives_to_see_is_refused_with_a_sentence() {
    let trial = r#"{"scenario": "S1", "seed": 1, "duration_ms": DURATION,
        "system": {"name": "kv", "nodes": 3, "options": {}},
        "workload": {"generator": "register", "clients": 2, "rate": null, "keys": 2,
            "zipf": false, "mix": {}, "timeout_ms": 100, "options": {}},
        "windows": [{"id": "pause-1", "entry": 0, "fault": "pause", "target": "n1",
            "opens": {"at-ms": BEGIN}, "hold_ms": HOLD, "strength": {}, "injector": "",
            "victim": ""}],
        "check": {"names": [], "options": {}, "model": null, "model_options": {}}}"#;
    let largest = u64::MAX.to_string();
    for (place, words) in [
        ("DURATION", "duration_ms is"),
        ("BEGIN", "opens.at-ms of"),
        ("HOLD", "hold_ms of pause-1"),
    ] {
        let mut text = trial.replace(place, &largest);
        for other in ["DURATION", "BEGIN", "HOLD"] {
            text = text.replace(other, "1");
        }
        let words = ["trial.json: not a trial", words, &largest, "no trial is longer than a year"];
        check(&(&[("trial.json", text)], &["reproduce", "@/trial.json"], 65, &words));
    }
}

#[test]
fn tools_are_looked_for_at_the_root_of_the_repository() {
    let directory = scratch();
    let plan = replaced(&pause_plan(), "name = \"kv\"", "name = \"absent\"");
    write(directory.path(), "docs/testing-plans/plan.md", &plan);
    write(directory.path(), "scripts/soak.sh", "");
    write(directory.path(), ".git/HEAD", "ref: refs/heads/main\n");
    let words = ["run", "@/docs/testing-plans/plan.md", "--directory", "@/run"];
    check_in(directory.path(), &words, 2, &["INCONCLUSIVE-env"]);
    let log = std::fs::read_to_string(directory.path().join("run/session-log.md")).expect("a log");
    assert!(log.contains("scripts/soak.sh"), "{log}");
}
