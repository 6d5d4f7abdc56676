//! Programs of the Agent Client Protocol that ask before they do something.

use super::acp::{agent, environment, server, texts};
use super::server::{Server, events_path};
use serde_json::{Value, json};

const DIFF: &str = "--- plan.txt\n+++ plan.txt\n@@ -1,1 +1,1 @@\n-a\n+b\n";

/// An agent whose program is not allowed anything without being asked.
fn asking() -> Value {
    let mut agent = agent();
    let policy = json!({"permission_policy": {"type": "always_ask"}});
    agent["tools"] = json!([{"type": "agent_toolset_20260401", "default_config": policy}]);
    agent
}

fn find<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let found = events.iter().find(|event| event["type"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {events:?}"))
}

fn confirm(server: &Server, session: &str, call: &Value, result: &str) -> String {
    let answer = json!({"type": "user.tool_confirmation", "tool_use_id": call["id"],
        "result": result});
    let sent = server.ok("POST", &events_path(session), &json!({"events": [answer]}));
    sent["data"][0]["id"].as_str().expect("an id").to_string()
}

/// Asks for a change, until somebody has to answer.
fn asked(server: &Server, session: &str) -> Vec<Value> {
    let events = server.turn(session, "change a file");
    let expected = "status_running model_request_start tool_use model_request_end status_idle";
    assert_eq!(super::model::kinds(&events), expected, "{events:?}");
    let call = find(&events, "agent.tool_use");
    let told = (&call["name"], &call["evaluated_permission"], &call["input"]);
    let input = json!({"path": "plan.txt", "diff": DIFF});
    assert_eq!(told, (&json!("Edit"), &json!("ask"), &input), "all of it is there to see");
    let stop = &find(&events, "session.status_idle")["stop_reason"];
    assert_eq!(stop, &json!({"type": "requires_action", "event_ids": [call["id"]]}));
    events
}

fn plan(server: &Server, session: &str) -> std::path::PathBuf {
    server.data.join(format!("workspaces/default/{session}/workspace/plan.txt"))
}

#[test]
fn what_a_program_asks_for_waits_for_a_user_and_happens_if_it_is_allowed() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    for (decision, chosen, has_plan) in
        [("deny", "reject_once", false), ("allow", "allow_once", true)]
    {
        let session = server.session_of(&asking(), &environment());
        let call = find(&asked(&server, &session), "agent.tool_use").clone();
        assert!(!plan(&server, &session).exists(), "nothing is done before the answer");
        let answered = confirm(&server, &session, &call, decision);
        let events = server.after(&session, &answered);
        assert!(texts(&events).contains(&format!("chosen: {chosen}")), "{events:?}");
        let results = events.iter().filter(|event| event["type"] == "agent.tool_result");
        let results: Vec<&Value> = results.collect();
        assert_eq!((results.len(), &results[0]["tool_use_id"]), (1, &call["id"]), "{events:?}");
        assert_eq!(results[0]["is_error"], !has_plan);
        if has_plan {
            let block = |text: &str| json!({"type": "text", "text": text});
            assert_eq!(results[0]["content"], json!([block("changed"), block(DIFF)]));
        }
        assert_eq!(plan(&server, &session).exists(), has_plan);
        let last = events.last().expect("an end");
        assert_eq!(last["stop_reason"]["type"], "end_turn", "{events:?}");
        let seen = server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null);
        assert_eq!(seen["usage"]["list_cost"], json!({"amount": "50", "currency": "USD"}));
    }
}

#[test]
fn who_asks_nobody_is_allowed_what_it_asks_for_and_shows_the_change() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let session = server.session_of(&agent(), &environment());
    let events = server.turn(&session, "change a file");
    assert!(texts(&events).contains(&"chosen: allow_once".to_string()), "{events:?}");
    assert_eq!(find(&events, "agent.tool_use")["evaluated_permission"], "allow");
    let result = find(&events, "agent.tool_result");
    assert_eq!(result["content"][1]["text"], DIFF, "{result}");
}

#[test]
fn an_interrupt_ends_a_program_that_waits_for_an_answer() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let session = server.session_of(&asking(), &environment());
    let call = find(&asked(&server, &session), "agent.tool_use").clone();
    let asking = plan(&server, &session).with_file_name("asking");
    let pid = || std::fs::read_to_string(&asking).unwrap_or_default();
    super::tools::wait_for("the program", || !pid().is_empty());
    let pid = pid();
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    server.ok("POST", &events_path(&session), &interrupt);
    let listed = server.listed(&session);
    let of_call = listed.iter().filter(|event| event["tool_use_id"] == call["id"]);
    let ends: Vec<&Value> = of_call.map(|event| &event["is_error"]).collect();
    assert_eq!(ends, [&json!(true)], "{listed:?}");
    assert_eq!(texts(&server.turn(&session, "hello")).len(), 2, "it is still of use");
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it is still there: {stat}");
    let late = json!({"events": [{"type": "user.tool_confirmation", "tool_use_id": call["id"],
        "result": "allow"}]});
    assert_eq!(server.call("POST", &events_path(&session), &late).status, 404);
    assert!(!plan(&server, &session).exists());
}

#[test]
fn an_answer_to_a_program_that_is_gone_is_an_error_and_idle() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mut server) = server(directory.path()) else { return };
    let session = server.session_of(&asking(), &environment());
    server.say(&session, "change a file and leave");
    let frames = server.stream(&session, &[]).until(|frame| frame.event == "session.error");
    let error = frames.last().expect("an error").data["error"]["message"].to_string();
    assert!(error.contains("nobody had answered"), "{error}");
    let call = find(&asked(&server, &session), "agent.tool_use").clone();
    server.kill_and_restart();
    let answered = confirm(&server, &session, &call, "allow");
    let events = server.after(&session, &answered);
    let kinds = super::model::kinds(&events);
    assert_eq!(kinds, "tool_result error status_idle", "{events:?}");
    assert!(!plan(&server, &session).exists(), "it is not done without its program");
    assert_eq!(texts(&server.turn(&session, "hello")).len(), 2, "it is still of use");
}

#[test]
fn of_the_tools_of_a_program_one_can_only_say_that_somebody_is_asked() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = server(directory.path()) else { return };
    let ask = json!({"type": "always_ask"});
    let set = |default: Value, configs: Value| {
        let kind = "agent_toolset_20260401";
        json!({"type": kind, "default_config": default, "configs": configs})
    };
    let asks = set(json!({"permission_policy": ask}), json!([]));
    let custom = json!({"type": "custom", "name": "c", "description": "d",
        "input_schema": {"type": "object"}});
    for (tools, status) in [
        (json!([]), 200),
        (json!([asks]), 200),
        (json!([asks, custom]), 400),
        (json!([set(json!({"enabled": false, "permission_policy": ask}), json!([]))]), 400),
        (json!([set(json!({"permission_policy": {"type": "always_allow"}}), json!([]))]), 400),
        (json!([set(json!({"permission_policy": ask}), json!([{"name": "bash"}]))]), 400),
    ] {
        let mut wish = agent();
        wish["tools"] = tools.clone();
        let answer = server.call("POST", "/v1/agents", &wish);
        assert_eq!(answer.status, status, "{tools}");
        assert!(status == 200 || answer.message().contains("brings its own"), "{tools}");
    }
}
