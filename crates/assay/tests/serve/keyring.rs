//! Vaults of sessions: who a session is for the MCP servers of its agent, and for nobody else.

use super::endpoint::{Endpoint, call, calls, says};
use super::mcp::{URL, agent, environment, mcp_server, server};
use super::server::{Server, make_key};
use super::vaults::{files, holds};
use serde_json::{Value, json};

/// What the server of these tests wants to be told.
const RIGHT: &str = "right-and-never-shown-7777";
const HEADER: &str = "Bearer right-and-never-shown-7777";

pub fn vault(server: &Server) -> String {
    let vault = server.ok("POST", "/v1/vaults", &json!({"display_name": "v"}));
    vault["id"].as_str().expect("an id").to_string()
}

/// A credential of a vault, and where it is.
fn credential(server: &Server, vault: &str, url: &str, token: &str) -> String {
    let path = format!("/v1/vaults/{vault}/credentials");
    let auth = json!({"type": "static_bearer", "mcp_server_url": url, "token": token});
    let made = server.ok("POST", &path, &json!({ "auth": auth }));
    format!("{path}/{}", made["id"].as_str().expect("an id"))
}

fn change(server: &Server, credential: &str, token: &str) {
    let auth = json!({"type": "static_bearer", "token": token});
    server.ok("POST", credential, &json!({ "auth": auth }));
}

fn wish(server: &Server, vaults: &[&str]) -> Value {
    let agent = server.ok("POST", "/v1/agents", &agent(URL));
    let environment = server.ok("POST", "/v1/environments", &environment(true));
    json!({"agent": agent["id"], "environment_id": environment["id"], "vault_ids": vaults})
}

pub fn session(server: &Server, vaults: &[&str]) -> String {
    let session = server.ok("POST", "/v1/sessions", &wish(server, vaults));
    assert_eq!(session["vault_ids"], json!(vaults), "in their order");
    session["id"].as_str().expect("an id").to_string()
}

/// What a turn says of the server: nothing if it is there, or the kind of the error.
pub fn trouble(endpoint: &Endpoint, server: &Server, session: &str) -> Option<String> {
    endpoint.give([says("Hm.")]);
    let events = server.turn(session, "go");
    let error = events.iter().find(|event| event["type"] == "session.error");
    let asked = endpoint.asked();
    let offered = asked.last().expect("a request")["tools"].to_string();
    assert_eq!(offered.contains("mcp__small__echo"), error.is_none(), "{events:?}");
    error.map(|error| error["error"]["type"].as_str().expect("a type").to_string())
}

#[test]
fn a_server_is_told_who_asks_as_the_vault_has_it_then() {
    let (port, _) = mcp_server(Some(HEADER));
    let endpoint = Endpoint::start();
    let mut server = server(&endpoint, port);
    let vault = vault(&server);
    let credential = credential(&server, &vault, URL, RIGHT);
    let known = session(&server, &[&vault]);
    let unknown = session(&server, &[]);
    let failed = Some("mcp_authentication_failed_error".to_string());
    assert_eq!(trouble(&endpoint, &server, &known), None);
    assert_eq!(trouble(&endpoint, &server, &unknown), failed, "it has no vault");
    change(&server, &credential, "wrong");
    assert_eq!(trouble(&endpoint, &server, &known), failed);
    change(&server, &credential, RIGHT);
    assert_eq!(trouble(&endpoint, &server, &known), None, "it counts at once");
    server.kill_and_restart();
    assert_eq!(trouble(&endpoint, &server, &known), None, "and after a restart");
    let seen = server.ok("GET", &format!("/v1/sessions/{known}"), &Value::Null);
    assert_eq!(seen["vault_ids"], json!([vault]));
    server.ok("POST", &format!("{credential}/archive"), &Value::Null);
    assert_eq!(trouble(&endpoint, &server, &known), failed, "archived is gone");
}

#[test]
fn the_first_vault_with_exactly_this_address_counts() {
    let (port, _) = mcp_server(Some(HEADER));
    let endpoint = Endpoint::start();
    let server = server(&endpoint, port);
    let (right, wrong, near) = (vault(&server), vault(&server), vault(&server));
    credential(&server, &right, URL, RIGHT);
    let elsewhere = credential(&server, &wrong, URL, "wrong");
    credential(&server, &near, &format!("{URL}/"), "wrong");
    let failed = Some("mcp_authentication_failed_error".to_string());
    let cases: [(&[&str], _); 4] = [
        (&[&right, &wrong], None),
        (&[&wrong, &right], failed.clone()),
        (&[&near, &right], None),
        (&[&near], failed),
    ];
    for (vaults, expected) in cases {
        let session = session(&server, vaults);
        assert_eq!(trouble(&endpoint, &server, &session), expected, "{vaults:?}");
    }
    let session = session(&server, &[&wrong, &right]);
    server.ok("POST", &format!("{elsewhere}/archive"), &Value::Null);
    assert_eq!(trouble(&endpoint, &server, &session), None, "what is archived matches nothing");
}

#[test]
fn vaults_that_a_session_cannot_have_are_refused() {
    let endpoint = Endpoint::start();
    let server = server(&endpoint, 9);
    let (good, archived) = (vault(&server), vault(&server));
    server.ok("POST", &format!("/v1/vaults/{archived}/archive"), &Value::Null);
    let other = make_key(&server.data, "other");
    let body = json!({"display_name": "v"});
    let foreign = super::server::call(server.address, &other, "POST", "/v1/vaults", &body, &[]);
    let foreign = foreign.expect("an answer").json()["id"].as_str().expect("an id").to_string();
    let many: Vec<String> = (0..21).map(|index| format!("vlt_{index}")).collect();
    let mut wish = wish(&server, &[]);
    let cases = [
        (json!([good, "vlt_none"]), "vault_ids[1]: vlt_none not found".to_string()),
        (json!([archived]), format!("vault_ids[0]: {archived} is archived")),
        (json!([foreign]), format!("vault_ids[0]: {foreign} not found")),
        (json!([good, good]), "vault_ids[1]: is there twice".to_string()),
        (json!([7]), "vault_ids[0]: must be the id".to_string()),
        (json!("vlt_1"), "vault_ids: must be an array".to_string()),
        (json!(many), "vault_ids: must have at most 20".to_string()),
    ];
    for (vaults, expected) in cases {
        wish["vault_ids"] = vaults;
        let answer = server.call("POST", "/v1/sessions", &wish);
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(&expected), "{expected}: {}", answer.body);
    }
    let session = session(&server, &[&good]);
    let path = format!("/v1/sessions/{session}");
    server.ok("POST", &path, &json!({"vault_ids": [good], "title": "the same"}));
    let answer = server.call("POST", &path, &json!({"vault_ids": []}));
    assert_eq!((answer.status, answer.message().contains("vault_ids")), (400, true));
}

#[test]
fn a_token_is_for_its_server_and_for_nobody_else() {
    let (port, called) = mcp_server(Some(HEADER));
    let endpoint = Endpoint::start();
    let server = server(&endpoint, port);
    let vault = vault(&server);
    credential(&server, &vault, URL, RIGHT);
    let session = session(&server, &[&vault]);
    // It repeats what it was told.
    endpoint.give([calls(vec![call("t1", "mcp__small__who", json!({}))]), says("Hm.")]);
    server.turn(&session, "go");
    assert_eq!(called.lock().expect("no panic").len(), 1);
    let result = endpoint.asked()[1]["messages"].to_string();
    assert!(result.contains("Bearer [key]") && !result.contains(RIGHT), "{result}");
    let mut shown = vec![json!(server.listed(&session)).to_string(), server.log()];
    shown.push(server.ok("GET", &format!("/v1/sessions/{session}"), &Value::Null).to_string());
    for text in shown {
        assert!(!text.contains(RIGHT), "{text}");
    }
    let mut found = Vec::new();
    files(&server.data, &mut found);
    for (name, bytes) in found {
        assert!(!holds(&bytes, RIGHT), "{name}");
    }
}
