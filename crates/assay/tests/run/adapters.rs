//! Systems that speak other languages: clients in Python and Go, nodes written for Maelstrom.
//!
//! Each is one trial, by `assay reproduce`, with a fault that has to land: a client that quietly
//! went around the proxies, or never spoke to a node, would show.

use crate::support::{Ended, replaced, repository, run, scratch, text, write};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The description of the store, with a client of somebody else.
fn kv_with_client(directory: &Path, command: &[&str]) {
    let described = include_str!("../../../../systems/kv.toml");
    let client = described.find("[client]").expect("it says who the client is");
    let command = json!(command);
    let described = format!(
        "{}[client]\ncommand = {command}\nretries = \"none\"\nreason = \"one call, one request\"\n",
        &described[..client]
    );
    write(directory, "systems/foreign.toml", &described);
}

/// The example of a Maelstrom node, three of them.
fn maelstrom(directory: &Path) {
    let node = repository().join("examples/maelstrom/lin_kv.py");
    let described = format!(
        "about = \"a Maelstrom node\"\nrequires = [\"python3\"]\n\n[nodes]\ndefault = 3\n\n\
         [node]\ncommand = [\"python3\", {}]\n\n[client]\nmaelstrom = true\nretries = \"none\"\n\
         reason = \"one message for each call\"\n",
        json!(text(&node))
    );
    write(directory, "systems/foreign.toml", &described);
}

/// A fault of a second and a half that begins after half a second.
fn window(fault: &str, target: &str, injector: &str, victim: &str) -> Value {
    json!({"id": format!("{fault}-1"), "entry": 0, "fault": fault, "target": target,
           "opens": {"at-ms": 500}, "hold_ms": 2_000, "strength": {},
           "injector": injector, "victim": victim})
}

fn isolated_leader() -> Value {
    window("leader-iso", "leader", "dropped >= 1", "elections >= 1 within 10s")
}

/// One trial of registers.
fn trial(options: Value, window: Value) -> Value {
    json!({
        "scenario": "S1", "seed": 1, "duration_ms": 4_000,
        "system": {"name": "foreign", "nodes": 3, "options": options},
        "workload": {"generator": "register", "clients": 4, "rate": 60.0, "keys": 2, "zipf": false,
                     "mix": {"read": 50, "write": 35, "cas": 15}, "timeout_ms": 1_000,
                     "options": {}},
        "windows": [window],
        "check": {"names": ["linearizability:register"], "options": {}, "model": "register",
                  "model_options": {}},
    })
}

fn tried(directory: &Path, options: Value, window: Value) -> Ended {
    reproduced(directory, &trial(options, window))
}

fn reproduced(directory: &Path, spec: &Value) -> Ended {
    let spec = write(directory, "trial.json", &spec.to_string());
    let kept = directory.join("kept");
    run(&["reproduce", text(&spec), "--directory", text(&kept), "--format", "json"])
}

/// It was upheld, the fault landed, nothing went around it, and clients got answers after it.
#[track_caller]
fn upheld(ended: &Ended, fault: &str) -> Value {
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let trial = ended.json();
    assert_eq!(trial["judged"]["outcome"], "upheld", "{trial:#}");
    assert_eq!(trial["judged"]["consumed"], trial["operations"]["sent"], "{trial:#}");
    assert_eq!(trial["bypasses"], json!([]), "{trial:#}");
    let window = &trial["windows"][0];
    assert_eq!((&window["fault"], &window["trouble"]), (&json!(fault), &Value::Null), "{trial:#}");
    for side in ["injector", "victim"] {
        let signal = &window["landings"][0][side];
        assert!(signal["during"].as_u64() > signal["before"].as_u64(), "{window:#}");
    }
    let ok = trial["operations"]["ok"].as_u64().expect("a count");
    assert!(ok >= 50, "hardly anything worked: {trial:#}");
    trial
}

fn python() -> String {
    text(&repository().join("examples/clients/kv.py")).to_string()
}

#[test]
fn a_client_in_python_upholds_an_honest_store() {
    let directory = scratch();
    kv_with_client(directory.path(), &["python3", &python()]);
    upheld(&tried(directory.path(), json!({}), isolated_leader()), "leader-iso");
}

#[test]
fn a_client_in_python_refutes_a_store_with_stale_reads() {
    let directory = scratch();
    kv_with_client(directory.path(), &["python3", &python()]);
    let mut spec = trial(json!({"defects": ["stale-reads"]}), isolated_leader());
    // A client whose write hangs at the cut off leader reads nothing meanwhile. Enough clients who
    // soon give up, for long enough after the election, make a stale read certain, not just likely.
    spec["duration_ms"] = json!(8_000);
    spec["windows"][0]["hold_ms"] = json!(6_000);
    spec["workload"]["clients"] = json!(9);
    spec["workload"]["timeout_ms"] = json!(250);
    let ended = reproduced(directory.path(), &spec);
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    let trial = ended.json();
    assert_eq!(trial["judged"]["outcome"], "refuted", "{trial:#}");
    assert_eq!(trial["judged"]["anomalies"][0]["verified"], true, "{trial:#}");
}

#[test]
fn a_client_in_go_upholds_an_honest_store() {
    let directory = scratch();
    let program = directory.path().join("kv-client");
    let source = repository().join("examples/clients/kv.go");
    let mut go = Command::new("go");
    go.args(["build", "-o", text(&program), text(&source)]).env("GOFLAGS", "-mod=mod");
    let built = match go.current_dir(directory.path()).output() {
        Ok(built) => built,
        Err(error) => {
            eprintln!("SKIPPED: go cannot be run ({error}), so 1 adapter was not tried");
            return;
        }
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    kv_with_client(directory.path(), &[text(&program)]);
    upheld(&tried(directory.path(), json!({}), isolated_leader()), "leader-iso");
}

#[test]
fn maelstrom_nodes_are_cut_off_and_upheld() {
    let directory = scratch();
    maelstrom(directory.path());
    let window = window("part-full", "n2", "dropped >= 1", "timeouts >= 1 within 5s");
    upheld(&tried(directory.path(), json!({}), window), "part-full");
}

/// Answers of a node that ended well, by the second in which they were asked for.
fn answered_by(directory: &Path, node: &str, since_ns: i64) -> usize {
    let kept = std::fs::read_dir(directory.join("kept")).expect("a directory");
    let mut trials = kept.map(|entry| entry.expect("readable").path());
    let trial = trials.find(|path| path.is_dir()).expect("a trial");
    let history = trial.join("history.jsonl.zst");
    let file = std::fs::File::open(history).expect("a history");
    let history = assay_history::read(file, &assay_history::ReadOptions::default());
    let history = history.expect("a history");
    let is = |op: &assay_history::Op| {
        op.outcome() == assay_history::Outcome::Ok
            && op.invoke_ts >= since_ns
            && history.values.show(op.node_seen).to_string() == format!("\"{node}\"")
    };
    history.ops().filter(is).count()
}

#[test]
fn a_maelstrom_node_that_was_killed_comes_back() {
    let directory = scratch();
    maelstrom(directory.path());
    let window = window("kill9", "n2", "killed >= 1", "restarts >= 1 within 30s");
    let trial = upheld(&tried(directory.path(), json!({}), window), "kill9");
    let healed_ns = trial["windows"][0]["end_ns"].as_i64().expect("it was healed");
    let answers = answered_by(directory.path(), "n2", healed_ns);
    assert!(answers >= 5, "{answers} answers of n2 after it was started again: {trial:#}");
}

#[test]
fn a_maelstrom_owner_that_was_killed_has_lost_its_data_and_that_is_found() {
    let directory = scratch();
    maelstrom(directory.path());
    let window = window("kill9", "n1", "killed >= 1", "restarts >= 1 within 30s");
    let ended = tried(directory.path(), json!({}), window);
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    let title = ended.json()["judged"]["anomalies"][0]["title"].to_string();
    assert!(title.contains("null") || title.contains("read"), "{title}");
}

#[test]
fn an_adapter_that_does_not_start_is_named_with_its_own_words() {
    let directory = scratch();
    let broken = write(directory.path(), "broken.py", "raise SystemExit('no driver installed')\n");
    kv_with_client(directory.path(), &["python3", text(&broken)]);
    let ended = tried(directory.path(), json!({}), isolated_leader());
    assert_eq!(ended.code, Some(69), "{ended:#?}");
    assert!(ended.err.contains("adapter"), "{ended:#?}");
    let described = directory.path().join("systems/foreign.toml");
    let known = std::fs::read_to_string(&described).expect("the description");
    std::fs::write(&described, replaced(&known, text(&broken), "no-such-file.py"))
        .expect("written");
    assert_eq!(tried(directory.path(), json!({}), isolated_leader()).code, Some(69));
}

/// A client that says something else than answers: on its fifth call, all but the first one.
const CHATTY: &str = r#"
import json, subprocess, sys
first = sys.stdin.readline()
client = json.loads(first)["client"]
kv = subprocess.Popen([sys.executable, sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                      text=True, bufsize=1)
kv.stdin.write(first)
print(kv.stdout.readline(), end="", flush=True)
for number, line in enumerate(sys.stdin, 1):
    if number == 5 and client > 0:
        print("hello", flush=True)
    kv.stdin.write(line)
    print(kv.stdout.readline(), end="", flush=True)
"#;

#[test]
fn a_client_that_is_given_up_costs_the_pass_and_is_named() {
    let directory = scratch();
    let script = write(directory.path(), "chatty.py", CHATTY);
    kv_with_client(directory.path(), &["python3", text(&script), &python()]);
    let plan = replaced(&crate::support::pause_plan(), "name = \"kv\"", "name = \"foreign\"");
    let plan = write(directory.path(), "plan.md", &plan);
    let root = directory.path().join("run");
    let mut words = vec!["run", text(&plan), "--directory", text(&root), "--tier", "smoke"];
    words.extend(["--format", "json"]);
    let ended = run(&words);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    let scenario = &ended.json()["scenarios"][0];
    assert_eq!(scenario["verdict"], "INCONCLUSIVE-oracle-too-weak", "{scenario:#}");
    let sentence = scenario["sentence"].as_str().unwrap_or_default();
    for words in ["the harness itself spoiled the history", "client 5 is given up", "hello"] {
        assert!(sentence.contains(words), "{words} is not in: {sentence}");
    }
    let events = crate::support::events(&root);
    let told = |event: &&Value| {
        let what = event["what"].as_str().unwrap_or_default();
        event["event"] == "noticed" && what.contains("client 1 is given up")
    };
    assert!(events.iter().any(|event| told(&event)), "{events:#?}");
}

#[test]
fn a_trial_that_could_not_have_shown_anything_is_not_called_upheld() {
    let directory = scratch();
    kv_with_client(directory.path(), &["python3", &python()]);
    // The fault is injected, and what would prove it never moves.
    let still = window("pause", "n2", "stopped >= 1", "log(\"never said\") >= 1");
    let mut spec = trial(json!({}), still);
    spec["duration_ms"] = json!(3_000);
    let ended = reproduced(directory.path(), &spec);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    let trial = ended.json();
    assert_eq!(trial["reproduced"], false);
    let why = trial["could_not_have_shown"].as_str().unwrap_or_default();
    assert!(why.contains("pause-1 did not land: missed"), "{why}");
    assert!(ended.err.contains("the trial runs in "), "{ended:#?}");
    // One that nobody can inject is not even begun.
    let unknown = window("earthquake", "n2", "stopped >= 1", "timeouts >= 1");
    let ended = reproduced(directory.path(), &trial_of(unknown));
    assert_eq!(ended.code, Some(69), "{ended:#?}");
    assert!(ended.err.contains("earthquake"), "{ended:#?}");
}

fn trial_of(window: Value) -> Value {
    trial(json!({}), window)
}

/// A node that starts once, and never again.
const ONCE: &str = r#"
data=$1; shift
if [ -e "$data.started" ]; then echo "not again"; exit 1; fi
: > "$data.started"
exec "$@"
"#;

#[test]
fn a_node_that_does_not_come_back_is_a_fault_that_is_not_healed() {
    let directory = scratch();
    let script = write(directory.path(), "once.sh", ONCE);
    let described = include_str!("../../../../systems/kv.toml");
    let once =
        format!("command = [\n    \"sh\", \"{}\", \"{{data}}\", \"{{assay}}\"", text(&script));
    let described = replaced(described, "command = [\n    \"{assay}\"", &once);
    write(directory.path(), "systems/foreign.toml", &described);
    let window = window("kill9", "n2", "killed >= 1", "heartbeat-gap >= 500ms within 5s");
    let ended = tried(directory.path(), json!({}), window);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    let trial = ended.json();
    let window = &trial["windows"][0];
    let why = window["unhealed"].as_str().unwrap_or_default();
    assert!(why.contains("n2 did not start"), "{trial:#}");
    // It is on until the end, for every operation that comes.
    assert!(window["start_ns"].is_i64() && window["end_ns"].is_null(), "{trial:#}");
}
