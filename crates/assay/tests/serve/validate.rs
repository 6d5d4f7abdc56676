//! Whether a credential opens its server: found out by trying, and told without secrets.

use super::keyring::vault;
use super::mcp::URL;
use super::oauth::{TOKEN_URL, credential, fresh, nothing_leaked, refresh, world};
use super::server::{Server, call, make_key};
use serde_json::{Value, json};

fn validate(server: &Server, credential: &str) -> Value {
    let found = server.ok("POST", &format!("{credential}/mcp_oauth_validate"), &Value::Null);
    assert_eq!(found["type"], "vault_credential_validation");
    assert!(credential.ends_with(found["credential_id"].as_str().expect("an id")), "{found}");
    assert!(credential.contains(found["vault_id"].as_str().expect("an id")), "{found}");
    found
}

#[test]
fn a_credential_is_tried_and_renewed_if_need_be() {
    let (_endpoint, tokens, server) = world();
    let with = |refresh: Value, expires_at: Value| {
        credential(&server, &vault(&server), expires_at, refresh)
    };
    let no = json!({"error": "invalid_grant", "error_description": "refresh-1-never-shown"});
    let (past, later) = (json!("2020-01-01T00:00:00Z"), Value::Null);
    let endpoint = || refresh(TOKEN_URL, "client_secret_basic");
    let gone = || refresh("http://far.example.test/token", "none");
    type Case<'a> = (Value, &'a Value, Option<(u16, Value)>, &'a str, Option<&'a str>, u16);
    let good = || Some((200, fresh("fresh-1-never-shown", None)));
    let cases: [Case; 7] = [
        (endpoint(), &later, good(), "valid", Some("succeeded"), 0),
        (endpoint(), &past, good(), "valid", Some("succeeded"), 0),
        (Value::Null, &later, None, "invalid", Some("no_refresh_token"), 401),
        (Value::Null, &past, None, "invalid", Some("no_refresh_token"), 0),
        (endpoint(), &later, Some((400, no)), "invalid", Some("failed"), 401),
        (
            endpoint(),
            &later,
            Some((200, fresh("stale-too", None))),
            "invalid",
            Some("succeeded"),
            401,
        ),
        (gone(), &later, None, "unknown", Some("connect_error"), 401),
    ];
    let mut shown = Vec::new();
    for (index, (refresh, expires_at, gives, status, renewed, probe)) in
        cases.into_iter().enumerate()
    {
        let has_refresh = !refresh.is_null();
        gives.into_iter().for_each(|(status, body)| tokens.give(status, body));
        let found = validate(&server, &with(refresh, expires_at.clone()));
        assert_eq!(found["status"], status, "{index}: {found}");
        assert_eq!(found["has_refresh_token"], has_refresh, "{index}: {found}");
        assert_eq!(found["refresh"]["status"].as_str(), renewed, "{index}: {found}");
        let answered = &found["mcp_probe"]["http_response"];
        assert_eq!(answered["status_code"].as_u64(), (probe > 0).then_some(u64::from(probe)));
        assert!(found["mcp_probe"].is_null() || found["mcp_probe"]["method"] == "initialize");
        if renewed == Some("failed") {
            let body = found["refresh"]["http_response"]["body"].as_str().expect("text");
            assert!(body.contains("invalid_grant") && body.contains("[key]"), "{found}");
        }
        shown.push(found.to_string());
    }
    // One that opens is not renewed.
    tokens.give(200, fresh("fresh-1-never-shown", None));
    let path = with(endpoint(), json!("2020-01-01T00:00:00Z"));
    validate(&server, &path);
    let found = validate(&server, &path);
    assert_eq!((&found["status"], &found["refresh"]), (&json!("valid"), &Value::Null));
    nothing_leaked(&server, shown);
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let (_endpoint, _tokens, server) = world();
    let vault = vault(&server);
    let path = format!("/v1/vaults/{vault}/credentials");
    let auth = json!({"type": "static_bearer", "mcp_server_url": URL, "token": "t"});
    let plain = server.ok("POST", &path, &json!({ "auth": auth }));
    let plain = format!("{path}/{}", plain["id"].as_str().expect("an id"));
    let refused = server.call("POST", &format!("{plain}/mcp_oauth_validate"), &Value::Null);
    assert_eq!((refused.status, refused.message().contains("mcp_oauth")), (400, true));
    server.ok("DELETE", &plain, &Value::Null);
    let path = credential(&server, &vault, Value::Null, Value::Null);
    let there = format!("{path}/mcp_oauth_validate");
    let other = make_key(&server.data, "other");
    let foreign = call(server.address, &other, "POST", &there, &Value::Null, &[]);
    assert_eq!(foreign.expect("an answer").status, 404);
    server.ok("POST", &format!("{path}/archive"), &Value::Null);
    let refused = server.call("POST", &there, &Value::Null);
    assert_eq!((refused.status, refused.message().contains("archived")), (400, true));
}
