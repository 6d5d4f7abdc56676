//! The order in which a request is checked, and what each refusal says.

use super::client::request;
use super::server::Server;
use serde_json::{Value, json};

#[test]
fn route_key_beta_and_version_are_checked_in_this_order() {
    let server = Server::start();
    let key = server.key.clone();
    let key = ("x-api-key", key.as_str());
    let bearer = format!("Bearer {}", server.key);
    let bearer = ("authorization", bearer.as_str());
    let lower = format!("bearer {}", server.key);
    let lower = ("authorization", lower.as_str());
    let (own, other) =
        (("anthropic-workspace-id", "default"), ("anthropic-workspace-id", "another"));
    let beta = ("anthropic-beta", "future-beta, managed-agents-2026-04-01");
    let version = ("anthropic-version", "2023-06-01");
    let newest = ("anthropic-version", "2026-10-21");
    let wrong = ("x-api-key", "asy_wrong");
    let agents = "/v1/agents?beta=true";
    type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], u16, &'a str);
    let cases: &[Case] = &[
        ("GET", "/health", &[], 200, ""),
        ("GET", "/v1/none", &[], 404, "Route not found"),
        ("GET", "/v1/none", &[key, beta, version], 404, "Route not found"),
        ("PUT", "/v1/agents", &[], 405, "Method not allowed"),
        ("GET", agents, &[], 401, "Authentication failed"),
        ("GET", agents, &[wrong, beta, version], 401, "Authentication failed"),
        ("GET", agents, &[key], 404, "not found"),
        ("GET", agents, &[key, version], 404, "not found"),
        ("GET", agents, &[key, beta], 400, "anthropic-version"),
        ("GET", agents, &[key, beta, ("anthropic-version", "1999-01-01")], 400, "2026-10-21"),
        ("GET", agents, &[key, beta, version], 200, ""),
        ("GET", agents, &[bearer, beta, newest], 200, ""),
        ("GET", agents, &[lower, beta, newest], 200, ""),
        ("GET", agents, &[key, beta, version, own], 200, ""),
        ("GET", agents, &[key, beta, version, other], 400, "anthropic-workspace-id"),
        ("GET", agents, &[key, beta, other], 400, "anthropic-version"),
        ("GET", "/v1/files", &[bearer, newest, other], 400, "anthropic-workspace-id"),
        ("GET", "/v1/models", &[key, version], 200, ""),
        ("GET", "/v1/files", &[key, version], 200, ""),
        ("GET", "/v1/agents?colour=red", &[key, beta, version], 400, "`colour`"),
        ("GET", "/v1/agents?limit=x", &[key, beta, version], 400, "`limit`"),
        ("GET", "/v1/sessions?order=up", &[key, beta, version], 400, "`order`"),
        ("GET", "/v1/sessions?include_archived=1", &[key, beta, version], 400, "include_archived"),
        ("GET", "/v1/agents/agent_none", &[key, beta, version], 404, "Agent agent_none not found"),
        ("POST", "/v1/agents", &[key, beta, version], 400, "name: Field required"),
        ("DELETE", "/v1/sessions/sesn_none", &[key, beta, version], 404, "sesn_none not found"),
    ];
    for (method, path, headers, status, message) in cases {
        let answer = request(server.address, method, path, headers, "").expect("an answer");
        assert_eq!(answer.status, *status, "{method} {path} {headers:?}: {}", answer.body);
        let id = answer.header("request-id").expect("always there");
        assert!(id.starts_with("req_") && id.len() == 40, "{id}");
        if *status != 200 {
            assert!(answer.message().contains(message), "{method} {path}: {}", answer.body);
        }
    }
}

#[test]
fn bodies_are_bounded_objects_whose_fields_all_mean_something() {
    let server = Server::start();
    let large = "x".repeat(1024 * 1024 + 1);
    let cases = [
        ("{", 400, "Request body must be valid JSON"),
        ("[]", 400, "Request body must be a JSON object"),
        (r#"{"name": 3, "model": "scripted"}"#, 400, "name: must be text"),
        (r#"{"name": "a", "model": "scripted", "x": 1}"#, 400, "Field `x` is not yet supported"),
        (r#"{"name": "a", "model": "scripted", "metadata": {"a": 1}}"#, 400, "metadata"),
        (large.as_str(), 413, "Request body is too large"),
    ];
    for (body, status, message) in cases {
        let headers = server.headers();
        let answer = request(server.address, "POST", "/v1/agents", &headers, body);
        let answer = answer.expect("an answer");
        assert_eq!(
            (answer.status, answer.message().contains(message)),
            (status, true),
            "{message}"
        );
    }
    let nothing = server.ok("GET", "/v1/agents", &Value::Null);
    assert_eq!(nothing["data"], json!([]), "what was refused left nothing");
}

#[test]
fn a_custom_tool_and_a_built_in_one_that_is_enabled_have_different_names() {
    let server = Server::start();
    let agent = |name: &str, configs: Option<Value>| {
        let custom = json!({"type": "custom", "name": name, "description": "d",
            "input_schema": {"type": "object"}});
        let set = configs.map(|configs| {
            json!({"type": "agent_toolset_20260401",
            "configs": configs})
        });
        let tools: Vec<Value> = set.into_iter().chain([custom]).collect();
        server.call(
            "POST",
            "/v1/agents",
            &json!({"name": "a", "model": "scripted",
            "tools": tools}),
        )
    };
    let off = |name: &str| json!([{"name": name, "enabled": false}]);
    let refused = agent("bash", Some(json!([])));
    assert_eq!(refused.status, 400, "{}", refused.body);
    let place = "tools[1].name: `bash` is also a built-in tool that is enabled";
    assert!(refused.message().starts_with(place), "{}", refused.body);
    assert_eq!(agent("bash", Some(off("read"))).status, 400);
    for (name, configs) in [
        ("bash", None),
        ("bash", Some(off("bash"))),
        ("find", Some(json!([]))),
        // What this server does not have clients can bring.
        ("web_search", Some(json!([]))),
    ] {
        let taken = agent(name, configs);
        assert_eq!(taken.status, 200, "{name}: {}", taken.body);
    }
}

#[test]
fn fields_are_named_as_they_stand_in_the_request_and_null_keeps_what_cannot_be_cleared() {
    let server = Server::start();
    let make = |path: &str, body: &Value| {
        let made = server.ok("POST", path, body);
        format!("{path}/{}", made["id"].as_str().expect("an id"))
    };
    let agent = make("/v1/agents", &json!({"name": "a", "model": "scripted"}));
    let vault = make("/v1/vaults", &json!({"display_name": "v"}));
    let environment = make("/v1/environments", &json!({"name": "e"}));
    let cases = [
        (&agent, json!({"name": null}), "name: Field required"),
        (&agent, json!({"tools": {}}), "tools: must be an array"),
        (&agent, json!({"skills": {}}), "skills: must be an array"),
        (&agent, json!({"system": 1}), "system: must be text"),
        (&agent, json!({"version": 0, "name": "b"}), "version: must be a positive integer"),
        (&vault, json!({"display_name": ""}), "display_name: Field required"),
        (&environment, json!({"name": ""}), "name: Field required"),
    ];
    for (path, body, message) in cases {
        let answer = server.call("POST", path, &body);
        assert_eq!((answer.status, answer.message().as_str()), (400, message), "{path} {body}");
    }
    for (path, body, field, kept) in [
        (&environment, json!({"name": null, "description": null}), "name", "e"),
        (&vault, json!({"display_name": null}), "display_name", "v"),
    ] {
        assert_eq!(server.ok("POST", path, &body)[field], kept, "{path}");
    }
    let answer = server.call("POST", "/v1/environments", &json!({"name": null}));
    assert_eq!((answer.status, answer.message().as_str()), (400, "name: Field required"));
}

#[test]
fn the_agent_of_a_session_is_named_by_an_id_and_nothing_longer() {
    let server = Server::start();
    let mut wish = server.place(&Value::Null);
    let long = "x".repeat(100_000);
    for id in ["", "a/b", long.as_str()] {
        let by_object = json!({"type": "agent", "id": id});
        for (agent, place) in [(json!(id), "agent: "), (by_object, "agent.id: ")] {
            wish["agent"] = agent;
            let answer = server.call("POST", "/v1/sessions", &wish);
            assert_eq!(answer.status, 400, "{}", answer.body);
            assert!(answer.message().starts_with(place), "{}", answer.body);
            assert!(answer.body.len() < 1000, "it is not told back");
        }
    }
}

#[test]
fn events_that_cannot_be_taken_change_nothing() {
    let server = Server::start();
    let session = server.session();
    let path = super::server::events_path(&session);
    let text = json!([{"type": "text", "text": "x"}]);
    let message = json!({"type": "user.message", "content": text});
    let many: Vec<&Value> = (0..201).map(|_| &message).collect();
    let cases = [
        (json!({}), "`events` must be an array"),
        (json!({"events": []}), "not empty"),
        (json!({"events": many}), "at most 200"),
        (json!({"events": [message, {"type": "user.tool_result"}]}), "events[1].type"),
        (json!({"events": [{"type": "user.interrupt"}, message]}), "cannot mix"),
        (json!({"events": [message], "more": 1}), "Field `more`"),
    ];
    for (body, expected) in cases {
        let answer = server.call("POST", &path, &body);
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(expected), "{}", answer.body);
    }
    assert_eq!(server.listed(&session).len(), 0);
}
