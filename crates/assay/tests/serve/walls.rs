//! What tools of a turn can neither reach nor exceed: other sessions of the same server, and the
//! limits of their calls.

use super::server::{Server, Setup};
use super::tools::{agent, results, session};
use serde_json::{Value, json};

fn script(turns: &[(&str, Vec<Value>)]) -> String {
    // JSON of text is TOML, too.
    let step = |call: &Value| {
        let input = call["input"].as_object().expect("an object");
        let input: Vec<String> =
            input.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{{ call = {}, input = {{ {} }} }}", call["call"], input.join(", "))
    };
    let turn = |(when, calls): &(&str, Vec<Value>)| {
        let steps: Vec<String> = calls.iter().map(step).collect();
        format!("[[turn]]\nwhen = \"{when}\"\nsteps = [{}]\n", steps.join(", "))
    };
    turns.iter().map(turn).collect()
}

fn bash(command: &str) -> Value {
    json!({"call": "bash", "input": {"command": command}})
}

#[test]
fn a_session_finds_nothing_of_another_one_on_the_same_server() {
    const SECRET: &str = "of-the-other-session";
    let place = "$(cat place)";
    let turns = [
        ("keep", vec![json!({"call": "write", "input": {"path": "own", "content": SECRET}})]),
        (
            "look",
            vec![
                json!({"call": "write", "input": {"path": "place", "content": "PLACE"}}),
                bash(&format!("cat {place}/*/workspace/own; ls -a {place}")),
                bash(&format!(
                    "for d in {place}/*; do ln -s $d/workspace/own link; done; cat link"
                )),
                json!({"call": "read", "input": {"path": "PLACE/OTHER/workspace/own"}}),
                bash("ln -sfn PLACE/OTHER/workspace there; ls there/"),
                json!({"call": "read", "input": {"path": "there/own"}}),
                json!({"call": "grep", "input": {"pattern": SECRET, "path": "PLACE"}}),
                json!({"call": "write", "input": {"path": "PLACE/OTHER/workspace/own",
                    "content": "changed"}}),
                bash(
                    "find / -name own -newer /proc/1 2>/dev/null | xargs -r cat; ls /proc | wc -l",
                ),
            ],
        ),
        ("check", vec![json!({"call": "read", "input": {"path": "own"}})]),
    ];
    let mut server = Server::scripted(&script(&turns));
    let (one, two) = (session(&server), session(&server));
    assert!(!results(&server.turn(&one, "keep"))[0].1);
    // Where it is, is known only now.
    let directory = server.data.join("workspaces/default");
    let place = directory.to_str().expect("text");
    assert!(directory.join(&one).join("workspace/own").exists(), "there is something to find");
    let told = script(&turns).replace("PLACE", place).replace("OTHER", &one);
    server.restart_with(Setup { script: Some(told), ..Setup::default() });
    let events = server.turn(&two, "look");
    let found = results(&events);
    assert_eq!(found.len(), 9, "{events:?}");
    let all = json!(found).to_string();
    assert!(!all.contains(SECRET), "{all}");
    let kept = results(&server.turn(&one, "check"));
    assert!(kept[0].0.contains(SECRET), "nobody has changed it: {kept:?}");
}

#[test]
fn a_turn_cannot_exceed_the_limits_of_its_calls_and_goes_on_behind_them() {
    let many = "i=0; while [ $i -lt 400 ]; do sleep 600 & i=$((i+1)); done; echo all";
    let calls = vec![
        bash("truncate -s 300M big; ls -s big"),
        bash("head -c 300000000 /dev/zero > big; wc -c < big"),
        json!({"call": "bash", "input": {"command": format!("exec sh -c '{many}'")}}),
        bash("head -c 3000000000 /dev/zero | tail > /dev/null"),
        bash("yes | head -c 9000000"),
        json!({"call": "bash", "input": {"command": "sleep 600", "timeout_ms": 500}}),
        bash("ulimit -c; ulimit -n; ps 2>/dev/null | grep -c sleep; echo done"),
    ];
    let server = Server::scripted(&script(&[("go", calls)]));
    let session = server.session_of(&agent(json!([])), &json!({"name": "e"}));
    let events = server.turn(&session, "go");
    let found = results(&events);
    assert_eq!(found.len(), 7, "{events:?}");
    let expected = [
        ("file size limit", false),
        ("268435456", false),
        ("cannot fork", true),
        ("memory", true),
        ("wrote more than 8388608 bytes", true),
        ("took longer than 500 ms", true),
        ("0\n1024\n0\ndone\n", false),
    ];
    for ((text, is_error), (words, wanted)) in found.iter().zip(expected) {
        let shown = &text[text.len().saturating_sub(300)..];
        assert!(text.to_lowercase().contains(words), "{words}: {shown}");
        assert_eq!(*is_error, wanted, "{words}: {shown}");
    }
}
