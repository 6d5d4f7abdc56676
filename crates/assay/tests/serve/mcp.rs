//! MCP servers of agents: asked through the guard, and only with leave.

use super::endpoint::{Endpoint, call, calls, read_request, says, text};
use super::model::kinds;
use super::server::{Server, Setup, events_path};
use serde_json::{Value, json};
use std::io::{Error, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server with some tools; `wants` is the token without which it answers nobody.
pub fn mcp_server(wants: Option<&'static str>) -> (u16, Arc<Mutex<Vec<String>>>) {
    mcp_server_with(wants, Vec::new())
}

/// The same with more tools.
fn mcp_server_with(
    wants: Option<&'static str>,
    more: Vec<Value>,
) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let called: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = called.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (kept, more) = (kept.clone(), more.clone());
            std::thread::spawn(move || {
                // A client that goes is none of its business.
                let _gone = answer(stream, wants, more, &kept);
            });
        }
    });
    (port, called)
}

fn answer(
    mut stream: TcpStream,
    wants: Option<&str>,
    more: Vec<Value>,
    called: &Mutex<Vec<String>>,
) -> Result<(), Error> {
    let (head, message) = read_request(&stream)?;
    let mut give = |status: u16, body: String| {
        let kind = "content-type: application/json\r\nmcp-session-id: s1";
        let length = body.len();
        write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{kind}\r\n\r\n{body}")
    };
    if wants.is_some_and(|token| !head.contains(token)) {
        return give(401, String::new());
    }
    if head.starts_with("GET ") {
        called.lock().expect("no panic").push("GET".to_string());
    }
    if !head.starts_with("POST ") {
        return give(405, String::new());
    }
    let mut tools = vec![tool("echo"), tool("fail"), tool("secret"), tool("who"), tool("struct")];
    tools.extend(more);
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}),
        // One a page, and after the last one the first again.
        "tools/list" => {
            let cursor = message["params"]["cursor"].as_str().unwrap_or("0");
            let from: usize = cursor.parse().map_err(Error::other)?;
            let next = (from + 8).to_string();
            json!({"tools": tools.iter().cycle().skip(from).take(8).collect::<Vec<_>>(),
                "nextCursor": next})
        }
        "tools/call" => {
            let (name, word) =
                (&message["params"]["name"], &message["params"]["arguments"]["word"]);
            called.lock().expect("no panic").push(format!("{name} {word}"));
            let words = format!("you said {}", word.as_str().unwrap_or_default());
            match name.as_str() {
                Some("who") => json!({"content": [text(&head)]}),
                Some("struct") => json!({"content": [], "structuredContent": {"word": word}}),
                _ => json!({"content": [text(&words)], "isError": *name == "fail"}),
            }
        }
        _ if message["id"].is_null() => return give(202, String::new()),
        _ => json!({}),
    };
    give(200, json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string())
}

fn tool(name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}});
    json!({"name": name, "description": "d", "inputSchema": schema})
}

pub fn server(endpoint: &Endpoint, port: u16) -> Server {
    let origin = format!("--local-origin=mcp.example.test=127.0.0.1:{port}");
    Server::with(Setup { args: vec![origin], ..endpoint.setup("") })
}

pub fn agent(url: &str) -> Value {
    let allow = json!({"type": "always_allow"});
    json!({
        "name": "a", "model": "m",
        "mcp_servers": [{"type": "url", "name": "small", "url": url}],
        "tools": [{"type": "mcp_toolset", "mcp_server_name": "small", "configs": [
            {"name": "fail", "permission_policy": allow},
            {"name": "who", "permission_policy": allow},
            {"name": "struct", "permission_policy": allow},
            {"name": "secret", "enabled": false},
        ]}],
    })
}

pub const URL: &str = "http://mcp.example.test/mcp";

pub fn environment(allows: bool) -> Value {
    let networking = json!({"type": "limited", "allow_mcp_servers": allows});
    json!({"name": "e", "config": {"type": "cloud", "networking": networking}})
}

#[test]
fn tools_of_a_server_are_offered_and_called_with_leave() {
    let (port, called) = mcp_server(None);
    let endpoint = Endpoint::start();
    let server = server(&endpoint, port);
    let session = server.session_of(&agent(URL), &environment(true));
    endpoint.give([
        calls(vec![
            call("t1", "mcp__small__fail", json!({"word": "b"})),
            call("t2", "mcp__small__echo", json!({"word": "a"})),
            call("t3", "mcp__small__secret", json!({"word": "c"})),
        ]),
        says("Done."),
    ]);
    let events = server.turn(&session, "go");
    let waiting = &events.last().expect("idle")["stop_reason"];
    assert_eq!(waiting["event_ids"].as_array().map(Vec::len), Some(1), "{events:?}");
    assert_eq!(*called.lock().expect("no panic"), [r#""fail" "b""#], "what must ask has not run");
    let offered = endpoint.asked()[0]["tools"].to_string();
    assert!(offered.contains("mcp__small__echo") && !offered.contains("secret"), "{offered}");
    let asked = events.iter().find(|e| e["evaluated_permission"] == "ask").expect("a question");
    assert_eq!(asked["type"], "agent.mcp_tool_use");
    assert_eq!((&asked["mcp_server_name"], &asked["name"]), (&json!("small"), &json!("echo")));
    let allow = json!({"type": "user.tool_confirmation", "tool_use_id": asked["id"],
        "result": "allow"});
    let sent = server.ok("POST", &events_path(&session), &json!({"events": [allow]}));
    let sent = sent["data"][0]["id"].as_str().expect("an id").to_string();
    let events = server.after(&session, &sent);
    assert!(kinds(&events).starts_with("status_running mcp_tool_result"), "{events:?}");
    assert_eq!(
        called.lock().expect("no panic").len(),
        2,
        "each once, and nothing that is disabled"
    );
    let results = endpoint.asked()[1]["messages"][2]["content"].clone();
    let shown = |index: usize| (&results[index]["is_error"], &results[index]["content"][0]["text"]);
    assert_eq!(shown(0), (&json!(true), &json!("you said b")));
    assert_eq!(shown(1), (&json!(false), &json!("you said a")));
    assert_eq!(shown(2).0, &json!(true), "{results}");
    let all = server.listed(&session);
    let of = |kind: &str| all.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((of("agent.mcp_tool_use"), of("agent.mcp_tool_result")), (3, 3));
}

#[test]
fn what_no_model_would_take_of_a_server_is_left_out_and_told() {
    let mut large = tool("large");
    large["description"] = json!("x".repeat(20_000));
    let (port, called) = mcp_server_with(None, vec![tool("echo"), tool("bad name"), large]);
    let endpoint = Endpoint::start();
    let server = server(&endpoint, port);
    let session = server.session_of(&agent(URL), &environment(true));
    let call = call("t1", "mcp__small__struct", json!({"word": "w"}));
    endpoint.give([calls(vec![call]), says("Done.")]);
    let events = server.turn(&session, "go");
    assert!(kinds(&events).starts_with("status_running error model_request_start"), "{events:?}");
    let message = events[1]["error"]["message"].as_str().expect("a message");
    for part in ["`small`", "`bad name` and", "cannot be offered"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let asked = endpoint.asked();
    let names = asked[0]["tools"].as_array().expect("tools").iter();
    let names: Vec<&str> = names.map(|tool| tool["name"].as_str().expect("a name")).collect();
    let expected = ["echo", "fail", "who", "struct"].map(|name| format!("mcp__small__{name}"));
    assert_eq!(names, expected, "each once, although its list has no end");
    let result = &asked[1]["messages"][2]["content"][0]["content"][0]["text"];
    assert_eq!(result, r#"{"word":"w"}"#);
    assert_eq!(called.lock().expect("no panic").len(), 1, "and nobody waits for its news");
}

#[test]
fn a_server_that_cannot_be_reached_is_told_and_the_turn_goes_on_without() {
    let (port, _) = mcp_server(None);
    let (closed, _) = mcp_server(Some("Bearer right"));
    let endpoint = Endpoint::start();
    let reachable = server(&endpoint, port);
    let guarded = server(&endpoint, closed);
    let lost = "https://nobody.invalid/mcp";
    type Case<'a> = (&'a Server, &'a str, bool, &'a str, &'a str);
    let cases: [Case; 3] = [
        (&reachable, URL, false, "mcp_connection_failed_error", "does not allow the host"),
        (&reachable, lost, true, "mcp_connection_failed_error", "cannot be found"),
        (&guarded, URL, true, "mcp_authentication_failed_error", "who asks"),
    ];
    for (server, url, allows, kind, words) in cases {
        let wish = server.place_of(&agent(url), &environment(true));
        let session = server.ok("POST", "/v1/sessions", &wish)["id"].clone();
        let session = session.as_str().expect("an id").to_string();
        // It may allow less than when the session began.
        let path = format!("/v1/environments/{}", wish["environment_id"].as_str().expect("an id"));
        server.ok("POST", &path, &json!({"config": environment(allows)["config"]}));
        endpoint.give([says("Without.")]);
        let events = server.turn(&session, "hi");
        assert!(
            kinds(&events).starts_with("status_running error model_request_start"),
            "{events:?}"
        );
        assert!(kinds(&events).ends_with("message status_idle"), "{events:?}");
        let error = &events[1]["error"];
        assert_eq!((&error["type"], &error["mcp_server_name"]), (&json!(kind), &json!("small")));
        assert!(error["message"].as_str().expect("a message").contains(words), "{error}");
        let asked = endpoint.asked();
        assert!(asked.last().expect("a request")["tools"].is_null());
    }
}

#[test]
fn a_server_that_the_environment_forbids_is_refused_when_a_session_begins() {
    let endpoint = Endpoint::start();
    let server = server(&endpoint, 9);
    let hosts = |hosts: Value| {
        let networking = json!({"type": "limited", "allowed_hosts": hosts});
        json!({"name": "e", "config": {"type": "cloud", "networking": networking}})
    };
    let cases = [
        (URL, environment(true), ""),
        (URL, hosts(json!(["*.example.test"])), ""),
        (URL, environment(false), "does not allow the host `mcp.example.test`"),
        (URL, hosts(json!(["docs.example.test"])), "does not allow the host `mcp.example.test`"),
        ("https://127.0.0.1/mcp", environment(true), "a name, not a number"),
        ("https://mcp.example.test:8443/mcp", environment(true), "port 443"),
        ("http://other.example.test/mcp", environment(true), "only https"),
    ];
    for (url, environment, words) in cases {
        let wish = server.place_of(&agent(url), &environment);
        let answer = server.call("POST", "/v1/sessions", &wish);
        if words.is_empty() {
            assert_eq!(answer.status, 200, "{url}: {}", answer.body);
            continue;
        }
        assert_eq!(answer.status, 400, "{url}: {}", answer.body);
        for part in ["agent.mcp_servers[0].url: `small` at", url, words] {
            assert!(answer.message().contains(part), "{part}: {}", answer.body);
        }
    }
}

#[test]
fn servers_and_toolsets_belong_together() {
    let endpoint = Endpoint::start();
    let server = server(&endpoint, 9);
    let made = server.ok("POST", "/v1/agents", &agent(URL));
    let toolset = &made["tools"][0];
    assert_eq!(toolset["default_config"]["permission_policy"]["type"], "always_ask");
    assert_eq!(made["mcp_servers"][0]["url"], URL, "as it was written");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut agent = agent(URL);
        change(&mut agent);
        agent
    };
    let cases = [
        (with(&|a| a["tools"] = json!([])), "no mcp_toolset in tools uses `small`"),
        (with(&|a| a["mcp_servers"] = json!([])), "no MCP server `small`"),
        (with(&|a| a["mcp_servers"][0]["url"] = json!("ftp://a.b")), "must be https"),
        (with(&|a| a["mcp_servers"][0]["url"] = json!("https://u:p@a.b")), "no user"),
        (with(&|a| a["mcp_servers"][0]["name"] = json!("a b")), "may have letters"),
        (with(&|a| a["mcp_servers"][0]["name"] = json!("a__b")), "must not have `__`"),
        (with(&|a| a["mcp_servers"][0]["name"] = json!("a_")), "nor `_` at its end"),
        (
            with(&|a| {
                let custom = json!({"type": "custom", "name": "mcp__small__echo",
                    "description": "d", "input_schema": {"type": "object"}});
                a["tools"] = json!([a["tools"][0], custom]);
            }),
            "must not begin with `mcp__`",
        ),
        (
            with(&|a| a["tools"][0]["configs"][0]["permission_policy"]["type"] = json!("never")),
            "permission_policy",
        ),
        (
            with(&|a| a["tools"][0]["configs"][0]["permission_policy"]["until"] = json!("noon")),
            "permission_policy.until`",
        ),
        (with(&|a| a["tools"] = json!([a["tools"][0], a["tools"][0]])), "is there twice"),
    ];
    for (agent, words) in cases {
        let answer = server.call("POST", "/v1/agents", &agent);
        assert_eq!(answer.status, 400, "{words}: {}", answer.body);
        assert!(answer.message().contains(words), "{}", answer.body);
    }
    // The merged result counts, not the change.
    let id = made["id"].as_str().expect("an id");
    let answer = server.call("POST", &format!("/v1/agents/{id}"), &json!({"mcp_servers": null}));
    assert_eq!(answer.status, 400, "{}", answer.body);
}
