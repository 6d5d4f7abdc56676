//! Tools of sessions: in a sandbox, for real, and never longer than their turn.

use super::server::{Server, events_path};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

pub const SCRIPT: &str = r#"
[[turn]]
when = "write"
steps = [{ call = "write", input = { path = "notes/a.txt", content = "kept" } }]

[[turn]]
when = "read"
steps = [{ call = "read", input = { path = "notes/a.txt" } }, { say = "{answer}" }]

[[turn]]
when = "edit"
steps = [
    { call = "edit", input = { path = "notes/a.txt", old_string = "kept", new_string = "new" } },
    { calls = [
        { call = "glob", input = { pattern = "**/*.txt" } },
        { call = "grep", input = { pattern = "new" } },
        { call = "bash", input = { command = "cat notes/a.txt" } },
    ] },
]

[[turn]]
when = "all at once"
steps = [
    { call = "write", input = { path = "list", content = "LINES" } },
    { calls = [
        { call = "read", input = { path = "list" } },
        { call = "edit", input = { path = "list", old_string = "one", new_string = "ONE" } },
        { call = "edit", input = { path = "list", old_string = "two", new_string = "TWO" } },
        { call = "edit", input = { path = "list", old_string = "three", new_string = "THREE" } },
        { call = "bash", input = { command = "sed -i s/four/FOUR/ list" } },
        { call = "write", input = { path = "a", content = "text of a" } },
        { call = "write", input = { path = "b", content = "text of b" } },
        { call = "read", input = { path = "list" } },
        { call = "grep", input = { pattern = "text of", output_mode = "content" } },
        { call = "bash", input = { command = "cat a b list" } },
    ] },
]

[[turn]]
when = "look around"
steps = [
    { call = "bash", input = { command = "env | cut -d= -f1 | sort | tr '\n' ' '" } },
    { call = "bash", input = { command = "cat \"DATA/store.sqlite\" \"DATA/objects\"/*" } },
    { call = "bash", input = { command = "ls \"DATA/workspaces\"/*/*/workspace" } },
    { call = "read", input = { path = "DATA/serve.lock" } },
    { call = "read", input = { path = "DATA/master.key" } },
    { call = "bash", input = { command = "cat \"DATA/master.key\"" } },
    { call = "grep", input = { pattern = ".", path = "DATA", output_mode = "content" } },
    { call = "bash", input = { command = "exec 3<>/dev/tcp/127.0.0.1/PORT" } },
    { say = "looked" },
]

[[turn]]
when = "for ever"
steps = [{ call = "bash", input = { command = "SLEEP & echo begun > begun; SLEEP" } }]

[[turn]]
when = "once"
steps = [{ call = "bash", input = { command = "echo ran >> ran; cat ran" } }]

[[turn]]
when = "mounts"
steps = [
    { call = "bash", input = { command = "cat $ASSAY_UPLOADS/data/a.txt" } },
    { call = "bash", input = { command = "echo no > $ASSAY_UPLOADS/data/a.txt" } },
    { call = "read", input = { path = "/mnt/session/uploads/data/a.txt" } },
]

[[turn]]
when = "web"
steps = [{ call = "web_search", input = { query = "x" } }, { say = "{answer}" }]

[[turn]]
steps = [{ say = "ok" }]
"#;

pub fn agent(configs: Value) -> Value {
    json!({"name": "a", "model": "scripted",
        "tools": [{"type": "agent_toolset_20260401", "configs": configs}]})
}

pub fn session(server: &Server) -> String {
    server.session_of(&agent(json!([])), &json!({"name": "e"}))
}

/// Names, texts and whether they failed, of all results.
pub fn results(events: &[Value]) -> Vec<(String, bool)> {
    let results = events.iter().filter(|event| event["type"] == "agent.tool_result");
    let shown = |event: &Value| {
        let text = event["content"][0]["text"].as_str().expect("text").to_string();
        (text, event["is_error"] == true)
    };
    results.map(shown).collect()
}

#[test]
fn tools_work_in_a_workspace_that_stays() {
    let mut server = Server::scripted(SCRIPT);
    let session = session(&server);
    let events = server.turn(&session, "write");
    assert!(!results(&events)[0].1, "{events:?}");
    let order: Vec<&str> =
        events.iter().map(|event| event["type"].as_str().expect("type")).collect();
    let used = order.iter().position(|kind| *kind == "agent.tool_use").expect("a call");
    assert_eq!(order[used + 1], "agent.tool_result");
    server.kill_and_restart();
    let events = server.turn(&session, "read");
    assert!(json!(events).to_string().contains("kept"), "{events:?}");
    let gave = results(&server.turn(&session, "edit"));
    assert_eq!(gave.len(), 4);
    let all = json!(gave).to_string();
    assert!(gave.iter().all(|(_, is_error)| !is_error) && all.contains("notes/a.txt"), "{all}");
    assert!(gave.iter().any(|(text, _)| text == "new"), "{all}");
    // Another session has a workspace of its own.
    let other = self::session(&server);
    let (text, is_error) = results(&server.turn(&other, "read"))[0].clone();
    assert!(is_error, "{text}");
}

#[test]
fn calls_of_one_answer_find_what_those_before_them_left() {
    const ROUNDS: usize = 8;
    let server = Server::scripted(&SCRIPT.replace("LINES", "one\\ntwo\\nthree\\nfour\\n"));
    let session = session(&server);
    for round in 0..ROUNDS {
        let events = server.turn(&session, "all at once");
        let uses: Vec<&Value> = events.iter().filter(|e| e["type"] == "agent.tool_use").collect();
        let of = |call: &Value| -> String {
            let is_its = |event: &&Value| event["tool_use_id"] == call["id"];
            let result = events.iter().find(is_its).expect("each has one");
            assert_eq!(result["is_error"], false, "round {round}: {call} {result}");
            result["content"][0]["text"].as_str().expect("text").to_string()
        };
        let gave: Vec<String> = uses.into_iter().map(of).collect();
        assert_eq!(gave.len(), 11);
        let has = |text: &str, words: &[&str]| words.iter().all(|word| text.contains(word));
        assert!(has(&gave[1], &["one", "two", "three", "four"]), "round {round}: {}", gave[1]);
        assert!(has(&gave[8], &["ONE", "TWO", "THREE", "FOUR"]), "round {round}: {}", gave[8]);
        assert!(has(&gave[9], &["text of a", "text of b"]), "round {round}: {}", gave[9]);
        assert_eq!(gave[10], "text of atext of bONE\nTWO\nTHREE\nFOUR\n", "round {round}");
    }
}

#[test]
fn what_nothing_here_can_do_cannot_be_switched_on() {
    let server = Server::scripted(SCRIPT);
    let toolset = |default: Value, config: Value| {
        let set = json!({"type": "agent_toolset_20260401", "default_config": default,
            "configs": [config]});
        json!({"name": "a", "model": "scripted", "tools": [set]})
    };
    let (on, off) = (json!({"enabled": true}), json!({"enabled": false}));
    let search = |more: Value| {
        let mut config = more;
        config["name"] = json!("web_search");
        config
    };
    for config in [json!({}), on.clone(), json!({"permission_policy": {"type": "always_ask"}})] {
        let answer = server.call("POST", "/v1/agents", &toolset(on.clone(), search(config)));
        assert_eq!(answer.status, 400, "{}", answer.body);
        let expected = "tools[0].configs[0].name: `web_search` is not yet supported";
        assert!(answer.message().starts_with(expected), "{}", answer.body);
    }
    for (default, config) in [(on, off.clone()), (off.clone(), json!({}))] {
        let agent = server.ok("POST", "/v1/agents", &toolset(default, search(config)));
        assert_eq!(agent["tools"][0]["configs"][0]["enabled"], false, "{agent}");
    }
    // Whoever takes the tools as they are has those that are there.
    let agent = server.ok("POST", "/v1/agents", &agent(json!([])));
    assert_eq!(agent["tools"][0]["configs"], json!([]), "{agent}");
    let change = toolset(off, search(json!({"enabled": true})));
    let path = format!("/v1/agents/{}", agent["id"].as_str().expect("an id"));
    let answer = server.call("POST", &path, &json!({"tools": change["tools"]}));
    assert_eq!((answer.status, answer.message().contains("web_search")), (400, true));
    let events = server.turn(&session(&server), "web");
    let error = events[events.len() - 2]["error"]["message"].as_str().expect("an error");
    assert!(error.contains("no tool `web_search` that is enabled"), "{error}");
}

#[test]
fn a_tool_sees_nothing_of_the_server_and_of_other_sessions() {
    // Where the data is and which port is open is known only once it serves.
    let first = Server::scripted(SCRIPT);
    let data = first.data.to_str().expect("text").to_string();
    let script = SCRIPT.replace("DATA", &data).replace("PORT", &first.address.port().to_string());
    let server = Server::scripted(&script);
    let (victim, inside) = (session(&first), session(&server));
    first.turn(&victim, "write");
    let gave = results(&server.turn(&inside, "look around"));
    let names = "ASSAY_OUTPUTS ASSAY_UPLOADS ASSAY_WORKSPACE HOME LANG PATH PWD SHLVL TMPDIR TZ _ \
        LC_ALL USER LOGNAME SHELL OLDPWD TERM";
    for name in gave[0].0.split_whitespace() {
        assert!(names.split_whitespace().any(|known| known == name), "{name} is from the host");
    }
    let key = std::fs::read_to_string(first.data.join("master.key")).expect("there is one");
    for (text, is_error) in &gave[1..] {
        assert!(is_error, "{text}");
        assert!(!text.contains("SQLite") && !text.contains("notes"), "{text}");
        assert!(!text.contains(key.trim()), "the master key is read");
    }
    assert_eq!(gave.len(), 8);
}

#[test]
fn files_of_a_session_are_seen_by_its_tools_and_cannot_be_changed() {
    let server = Server::scripted(SCRIPT);
    let mut wish = server.place(&Value::Null);
    let file = server.file("mounted");
    wish["resources"] = json!([{"type": "file", "file_id": file, "mount_path": "data/a.txt"}]);
    let session = server.ok("POST", "/v1/sessions", &wish);
    let session = session["id"].as_str().expect("an id");
    let gave = results(&server.turn(session, "mounts"));
    assert_eq!(gave[0], ("mounted".to_string(), false));
    assert!(gave[1].1, "it was written to: {gave:?}");
    assert!(!gave[2].1 && gave[2].0.contains("mounted"), "{gave:?}");
}

/// Processes of this machine with this in their command line.
pub fn processes(with: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let has = |path: std::path::PathBuf| {
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.first().is_some_and(|word| word.ends_with(b"sleep"))
            && words.get(1) == Some(&with.as_bytes())
    };
    all.filter(|entry| has(entry.path())).count()
}

pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A server whose tool sleeps for a time that nobody else sleeps for.
fn sleeper(seconds: &str) -> Server {
    Server::scripted(&SCRIPT.replace("SLEEP", &format!("sleep {seconds}")))
}

#[test]
fn an_interrupt_ends_all_processes_of_a_tool_before_the_next_turn() {
    let seconds = format!("98{}.25", std::process::id());
    let server = sleeper(&seconds);
    let session = session(&server);
    server.say(&session, "for ever");
    wait_for("both processes", || processes(&seconds) == 2);
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&session), &interrupt);
    let events = server.turn(&session, "hello");
    assert_eq!(processes(&seconds), 0, "a turn began while a tool of the last one ran");
    assert!(events.iter().any(|event| event["type"] == "agent.message"), "{events:?}");
    let all = server.listed(&session);
    let of = |kind: &str| all.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((of("agent.tool_use"), of("agent.tool_result")), (1, 1));
}

#[test]
fn a_tool_does_not_outlive_a_server_that_is_killed_and_is_not_run_again() {
    let seconds = format!("97{}.25", std::process::id());
    let mut server = sleeper(&seconds);
    let session = session(&server);
    let sent = server.say(&session, "for ever");
    wait_for("both processes", || processes(&seconds) == 2);
    server.kill();
    wait_for("their end", || processes(&seconds) == 0);
    server.kill_and_restart();
    let events = server.after(&session, &sent);
    let (text, is_error) = results(&events)[0].clone();
    assert!(is_error && text.contains("restarted while this tool ran"), "{text}");
    assert_eq!(processes(&seconds), 0);
    assert_eq!(results(&server.turn(&session, "once"))[0].0, "ran\n");
}

#[test]
fn who_must_ask_runs_once_when_it_is_allowed_and_never_when_it_is_not() {
    let server = Server::scripted(SCRIPT);
    let ask = json!([{"name": "bash", "permission_policy": {"type": "always_ask"}}]);
    let session = server.session_of(&agent(ask), &json!({"name": "e"}));
    for (result, expected) in
        [("deny", "the user did not allow"), ("allow", "ran\n"), ("allow", "ran\nran\n")]
    {
        let events = server.turn(&session, "once");
        assert_eq!(results(&events).len(), 0, "nothing ran before");
        let call = &events.last().expect("idle")["stop_reason"]["event_ids"][0];
        let answer = json!({"events": [
            {"type": "user.tool_confirmation", "tool_use_id": call, "result": result}]});
        let sent = server.ok("POST", &events_path(&session), &answer);
        let again = server.ok("POST", &events_path(&session), &answer);
        assert_eq!(sent["data"][0]["id"], again["data"][0]["id"], "the same answer again");
        let sent = sent["data"][0]["id"].as_str().expect("an id").to_string();
        let gave = results(&server.after(&session, &sent));
        assert!(gave.len() == 1 && gave[0].0.contains(expected), "{result}: {gave:?}");
    }
}
