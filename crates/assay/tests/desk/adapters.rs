//! The ways agents are run, each from the contract to COMPLETE.

use super::{Bench, Ended, USUAL, Wish};
use std::process::{Command, Stdio};

const WORK: &str = "work; commit; sign";
const JUDGE: &str = "verdict \"$good\"";
const PATIENT: Wish = Wish { limits: "iterations = 3\nidle_seconds = 60", ..USUAL };

/// An agent that speaks the Agent Client Protocol, and does its work when it is prompted.
pub const ACP_AGENT: &str = r#"
import json, subprocess, sys

def answer(message, result):
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        answer(message, {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []})
    elif method == "session/new":
        answer(message, {"sessionId": "one"})
    elif method == "session/prompt":
        text = message["params"]["prompt"][0]["text"]
        assert "fresh context" in text, text
        words = {"type": "text", "text": "on it"}
        chunk = {"sessionUpdate": "agent_message_chunk", "content": words}
        update = {"sessionId": "one", "update": chunk}
        note = {"jsonrpc": "2.0", "method": "session/update", "params": update}
        print(json.dumps(note), flush=True)
        subprocess.run(["sh", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
        answer(message, {"stopReason": "end_turn"})
    elif "id" in message:
        answer(message, {})
"#;

#[test]
fn an_agent_of_the_agent_client_protocol_works_from_the_contract_to_the_end() {
    let bench = Bench::new(PATIENT, WORK, JUDGE);
    bench.write(".assay/desk/small/acp.py", ACP_AGENT);
    let script = bench.path(".assay/desk/small/agent.sh");
    let agent = format!("acp:python3 {} {script}", bench.path(".assay/desk/small/acp.py"));
    let args = ["run", "small", "--worker", &agent, "--verifier", &agent];
    let ended = bench.ask(&args);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn a_command_reads_its_prompt_and_works_from_the_contract_to_the_end() {
    let reads = "text=$(cat); case \"$text\" in *'You are the Worker'*) work; commit; sign;; esac";
    let judges =
        "text=$(cat); case \"$text\" in *'You are the Verifier'*) verdict \"$good\";; esac";
    let bench = Bench::new(PATIENT, reads, judges);
    let ended = bench.run(&[]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn engines_can_have_names_of_their_own_in_the_contract() {
    let bench = Bench::new(PATIENT, WORK, JUDGE);
    let script = bench.path(".assay/desk/small/agent.sh");
    let text = super::contract(PATIENT).replacen(
        "[limits]",
        &format!(
            "[agents]\nworker = [\"mine\"]\nverifier = \"mine\"\n[agents.engines.mine]\nengine = \
             \"command\"\ncommand = [\"sh\", \"{script}\"]\n[limits]"
        ),
        1,
    );
    bench.write(".assay/desk/small/contract.md", &text);
    let ended = bench.ask(&["run", "small"]);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    bench.write(".assay/desk/other/contract.md", &text.replacen("small", "other", 1));
    let unknown = bench.ask(&["run", "other", "--verifier", "nobody"]);
    assert_eq!(unknown.code, Some(65), "{}", unknown.err);
    assert!(unknown.err.contains("agent `nobody`"), "{}", unknown.err);
}

/// What is promised of the demo, in seconds.
const DEMO_SECONDS_MAX: &str = "60";

/// A command that is ended when it takes longer than the demo may, started by way of another.
fn bounded(command: Command, by: &[&str]) -> Command {
    let mut all = Command::new("timeout");
    all.args(["--signal=KILL", DEMO_SECONDS_MAX]).args(by).arg(command.get_program());
    all.args(command.get_args()).stdin(Stdio::null());
    all.current_dir(command.get_current_dir().expect("a directory"));
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => all.env(name, value),
            None => all.env_remove(name),
        };
    }
    all
}

#[test]
fn the_demo_needs_no_network() {
    let alone = ["unshare", "--user", "--map-root-user", "--net"];
    let tried = Command::new(alone[0]).args(&alone[1..]).arg("true").output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        return eprintln!("SKIPPED the_demo_needs_no_network: nothing can be cut off from it here");
    }
    let bench = Bench::new(USUAL, WORK, JUDGE);
    let demo = bench.desk(&["demo", "--format", "json"]);
    let ended = Ended::of(bounded(demo, &alone).output().expect("timeout runs"));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn the_demo_shows_an_honest_campaign_and_a_lying_one() {
    let bench = Bench::new(USUAL, WORK, JUDGE);
    let ended = Ended::of(bounded(bench.desk(&["demo"]), &[]).output().expect("timeout runs"));
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
    for words in ["fix       US-001", "COMPLETE  ", "BLOCKED  ", "UPHELD  the honest campaign"] {
        assert!(ended.out.contains(words), "{words}:\n{}", ended.out);
    }
}
