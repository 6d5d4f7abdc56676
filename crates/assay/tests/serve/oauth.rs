//! Access tokens in vaults: renewed before they end, once, for whoever asks, and kept.

use super::endpoint::{Endpoint, read_bytes, says};
use super::keyring::{session, trouble, vault};
use super::mcp::{URL, mcp_server};
use super::model::kinds;
use super::server::{Server, Setup};
use super::tools::wait_for;
use super::vaults::{files, holds};
use serde_json::{Value, json};
use std::io::{Error, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Longer than any request takes to come.
const PATIENCE: Duration = Duration::from_secs(60);
const PAST: &str = "2020-01-01T00:00:00.000Z";
pub const TOKEN_URL: &str = "http://token.example.test/oauth/token?tenant=1";
const REFRESH: &str = "refresh-1-never-shown";
const SECRET: &str = "client-secret-never-shown";
/// What nobody may see anywhere.
const SECRETS: [&str; 7] = [
    REFRESH,
    SECRET,
    "stale-never-shown",
    "fresh-1-never-shown",
    "fresh-2-never-shown",
    "refresh-2-never-shown",
    // The client's name and its secret, as a header has them.
    "Y2xpZW50LTE6Y2xpZW50LXNlY3JldC1uZXZlci1zaG93bg",
];

#[derive(Default)]
struct State {
    /// What it gives to whoever asks: a clock may come first.
    gives: (u16, Value),
    asked: Vec<(String, String)>,
    is_held: bool,
}

/// A token endpoint: it gives what it was told last to give, and keeps what it was asked.
pub struct Tokens {
    pub port: u16,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl Tokens {
    pub fn start() -> Tokens {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    // A client that goes is none of its business.
                    let _gone = answer(stream, &shared);
                });
            }
        });
        Tokens { port, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().expect("no panic")
    }

    pub fn give(&self, status: u16, body: Value) {
        self.state().gives = (status, body);
    }

    /// Heads and bodies of what it was asked.
    fn asked(&self) -> Vec<(String, String)> {
        self.state().asked.clone()
    }

    /// Answers nobody, or everybody again.
    fn hold(&self, is_held: bool) {
        self.state().is_held = is_held;
        self.state.1.notify_all();
    }

    fn wait_asked(&self, count: usize) {
        let waited =
            self.state.1.wait_timeout_while(self.state(), PATIENCE, |s| s.asked.len() < count);
        assert!(!waited.expect("no panic").1.timed_out(), "nobody asked for a token");
    }
}

fn answer(mut stream: TcpStream, shared: &(Mutex<State>, Condvar)) -> Result<(), Error> {
    let (head, body) = read_bytes(&stream)?;
    let form = String::from_utf8(body).map_err(Error::other)?;
    let mut state = shared.0.lock().expect("no panic");
    state.asked.push((head, form));
    shared.1.notify_all();
    let state = shared.1.wait_while(state, |state| state.is_held).expect("no panic");
    let (status, body) = state.gives.clone();
    drop(state);
    let (body, kind) = (body.to_string(), "content-type: application/json");
    let place = "location: http://mcp.example.test/elsewhere";
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{kind}\r\n{place}\r\n\r\n{body}"
    )
}

/// A new token that is good for an hour.
pub fn fresh(token: &str, refresh: Option<&str>) -> Value {
    json!({"access_token": token, "token_type": "bearer", "expires_in": 3600,
        "refresh_token": refresh})
}

/// A server with an MCP server that takes only fresh tokens, and a token endpoint.
pub fn world() -> (Endpoint, Tokens, Server) {
    let (port, _) = mcp_server(Some("Bearer fresh"));
    let (endpoint, tokens) = (Endpoint::start(), Tokens::start());
    let origin =
        |name: &str, port: u16| format!("--local-origin={name}.example.test=127.0.0.1:{port}");
    let args = vec![origin("mcp", port), origin("token", tokens.port)];
    let server = Server::with(Setup { args, ..endpoint.setup("") });
    (endpoint, tokens, server)
}

pub fn refresh(url: &str, auth: &str) -> Value {
    let mut auth = json!({"type": auth});
    if auth["type"] != "none" {
        auth["client_secret"] = json!(SECRET);
    }
    json!({"token_endpoint": url, "client_id": "client-1", "refresh_token": REFRESH,
        "token_endpoint_auth": auth, "scope": "a b"})
}

/// A credential with a token that is not taken, and where it is.
pub fn credential(server: &Server, vault: &str, expires_at: Value, refresh: Value) -> String {
    let path = format!("/v1/vaults/{vault}/credentials");
    let auth = json!({"type": "mcp_oauth", "mcp_server_url": URL, "refresh": refresh,
        "access_token": "stale-never-shown", "expires_at": expires_at});
    let made = server.ok("POST", &path, &json!({ "auth": auth }));
    format!("{path}/{}", made["id"].as_str().expect("an id"))
}

pub fn change(server: &Server, credential: &str, more: Value) {
    let mut auth = more;
    auth["type"] = json!("mcp_oauth");
    server.ok("POST", credential, &json!({ "auth": auth }));
}

fn ends_at(server: &Server, credential: &str) -> String {
    let seen = server.ok("GET", credential, &Value::Null);
    seen["auth"]["expires_at"].as_str().unwrap_or_default().to_string()
}

/// Nothing that is secret is in a log, a file, or what is said here.
pub fn nothing_leaked(server: &Server, mut shown: Vec<String>) {
    shown.push(server.log());
    let mut found = Vec::new();
    files(&server.data, &mut found);
    for secret in SECRETS {
        for text in &shown {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        let place = found.iter().find(|(_, bytes)| holds(bytes, secret));
        assert!(place.is_none(), "{secret} in {}", place.expect("some").0);
    }
}

#[test]
fn a_token_that_has_ended_is_renewed_before_it_is_used_and_kept() {
    let (endpoint, tokens, mut server) = world();
    tokens.give(200, fresh("fresh-1-never-shown", Some("refresh-2-never-shown")));
    let vault = vault(&server);
    let path = credential(&server, &vault, json!(PAST), refresh(TOKEN_URL, "none"));
    let session = session(&server, &[&vault]);
    assert_eq!(trouble(&endpoint, &server, &session), None);
    let (head, form) = tokens.asked().remove(0);
    assert!(head.starts_with("POST /oauth/token?tenant=1 "), "{head}");
    assert!(head.to_lowercase().contains("application/x-www-form-urlencoded"), "{head}");
    assert!(form.contains(&format!("grant_type=refresh_token&refresh_token={REFRESH}")), "{form}");
    assert!(ends_at(&server, &path).as_str() > PAST);
    assert_eq!(trouble(&endpoint, &server, &session), None);
    server.kill_and_restart();
    assert_eq!(trouble(&endpoint, &server, &session), None, "it is durable");
    assert_eq!(tokens.asked().len(), 1, "and good for a while");
    tokens.give(200, fresh("fresh-2-never-shown", None));
    change(&server, &path, json!({"expires_at": PAST}));
    assert_eq!(trouble(&endpoint, &server, &session), None);
    let asked = tokens.asked();
    assert!(asked[1].1.contains("refresh_token=refresh-2-never-shown"), "{:?}", asked[1]);
    assert_eq!(asked.len(), 2);
    let shown = json!([server.listed(&session), server.ok("GET", &path, &Value::Null)]);
    nothing_leaked(&server, vec![shown.to_string(), json!(endpoint.asked()).to_string()]);
}

#[test]
fn a_token_that_the_server_does_not_take_is_renewed_once_in_a_turn() {
    let (endpoint, tokens, server) = world();
    let vault = vault(&server);
    let path = credential(&server, &vault, Value::Null, refresh(TOKEN_URL, "none"));
    let session = session(&server, &[&vault]);
    tokens.give(200, fresh("fresh-1-never-shown", None));
    assert_eq!(trouble(&endpoint, &server, &session), None);
    assert_eq!(tokens.asked().len(), 1);
    change(&server, &path, json!({"access_token": "stale-never-shown"}));
    tokens.give(200, fresh("stale-too", None));
    let failed = Some("mcp_authentication_failed_error".to_string());
    assert_eq!(trouble(&endpoint, &server, &session), failed);
    assert_eq!(tokens.asked().len(), 2, "not again and again");
}

#[test]
fn a_client_says_who_it_is_in_one_way() {
    let (endpoint, tokens, server) = world();
    let cases = [
        ("none", vec!["client_id=client-1"], vec!["client_secret", "authorization"]),
        (
            "client_secret_post",
            vec!["client_id=client-1", "client_secret=client-secret-never-shown"],
            vec!["authorization"],
        ),
        (
            "client_secret_basic",
            vec!["authorization: basic y2xpzw50ltE6"],
            vec!["client_id", "client_secret"],
        ),
    ];
    for (auth, there, not_there) in cases {
        let vault = vault(&server);
        tokens.give(200, fresh("fresh-1-never-shown", None));
        let path = credential(&server, &vault, json!(PAST), refresh(TOKEN_URL, auth));
        let session = session(&server, &[&vault]);
        assert_eq!(trouble(&endpoint, &server, &session), None, "{auth}");
        let (head, form) = tokens.asked().pop().expect("a request");
        let request = format!("{head}{form}").to_lowercase();
        for part in there {
            assert!(request.contains(&part.to_lowercase()), "{auth}: {part} in {request}");
        }
        for part in not_there {
            assert!(!request.contains(part), "{auth}: {part} in {request}");
        }
        assert!(form.contains("scope=a+b"), "{form}");
        server.ok("DELETE", &path, &Value::Null);
    }
    nothing_leaked(&server, Vec::new());
}

#[test]
fn a_token_that_cannot_be_renewed_is_told_and_the_turn_goes_on_without() {
    let (endpoint, tokens, server) = world();
    // It repeats what it was told.
    let repeats = json!({"error": "invalid_grant", "error_description": [REFRESH, SECRET]});
    let cases = [
        (TOKEN_URL, Some((400, repeats)), "answered 400 (invalid_grant)"),
        (TOKEN_URL, Some((401, json!({"error": REFRESH}))), "answered 401"),
        (TOKEN_URL, Some((302, json!({}))), "answered 302"),
        (TOKEN_URL, Some((200, json!({"token_type": "mac"}))), "without a bearer token"),
        ("http://127.0.0.1/token", None, "a name, not a number"),
        ("https://localhost/token", None, "not on the public network"),
        ("http://far.example.test/token", None, "only https"),
    ];
    for (url, gives, words) in cases {
        let vault = vault(&server);
        let session = session(&server, &[&vault]);
        gives.into_iter().for_each(|(status, body)| tokens.give(status, body));
        credential(&server, &vault, json!(PAST), refresh(url, "client_secret_basic"));
        endpoint.give([says("Without.")]);
        let events = server.turn(&session, "hi");
        let begun = kinds(&events).starts_with("status_running error model_request_start");
        assert!(begun && kinds(&events).ends_with("message status_idle"), "{events:?}");
        let error = &events[1]["error"];
        let kind = (&error["type"], &error["mcp_server_name"]);
        assert_eq!(kind, (&json!("mcp_authentication_failed_error"), &json!("small")));
        assert!(error["message"].as_str().expect("a message").contains(words), "{error}");
        nothing_leaked(&server, vec![json!(events).to_string()]);
        server.ok("DELETE", &format!("/v1/vaults/{vault}"), &Value::Null);
    }
}

#[test]
fn whoever_asks_meanwhile_gets_the_same_token() {
    let (endpoint, tokens, server) = world();
    let vault = vault(&server);
    tokens.hold(true);
    tokens.give(200, fresh("fresh-1-never-shown", Some("refresh-2-never-shown")));
    credential(&server, &vault, json!(PAST), refresh(TOKEN_URL, "none"));
    endpoint.give((0..4).map(|_| says("Hm.")));
    let sessions: Vec<String> = (0..4).map(|_| session(&server, &[&vault])).collect();
    let sent: Vec<String> = sessions.iter().map(|session| server.say(session, "go")).collect();
    tokens.wait_asked(1);
    tokens.hold(false);
    for (session, sent) in sessions.iter().zip(&sent) {
        let events = server.after(session, sent);
        assert!(!kinds(&events).contains("error"), "{events:?}");
    }
    assert_eq!(tokens.asked().len(), 1, "a refresh token may be good only once");
}

#[test]
fn what_is_archived_while_it_is_renewed_stays_so() {
    let (endpoint, tokens, server) = world();
    let vault = vault(&server);
    tokens.hold(true);
    tokens.give(200, fresh("fresh-1-never-shown", None));
    let path = credential(&server, &vault, json!(PAST), refresh(TOKEN_URL, "none"));
    let session = session(&server, &[&vault]);
    endpoint.give([says("Without.")]);
    let sent = server.say(&session, "go");
    tokens.wait_asked(1);
    server.ok("POST", &format!("{path}/archive"), &Value::Null);
    tokens.hold(false);
    let events = server.after(&session, &sent);
    assert_eq!(events[1]["error"]["type"], "mcp_authentication_failed_error", "{events:?}");
    let seen = server.ok("GET", &path, &Value::Null);
    assert!(seen["archived_at"].is_string(), "{seen}");
    assert_eq!(seen["auth"]["expires_at"], PAST, "{seen}");
}

#[test]
fn a_clock_renews_what_nobody_asks_for() {
    let (_endpoint, tokens, mut server) = world();
    let vault = vault(&server);
    let path = credential(&server, &vault, Value::Null, refresh(TOKEN_URL, "none"));
    tokens.give(200, fresh("fresh-1-never-shown", Some("refresh-2-never-shown")));
    change(&server, &path, json!({"expires_at": PAST}));
    // It looks when it begins.
    server.kill_and_restart();
    tokens.wait_asked(1);
    wait_for("the new end", || ends_at(&server, &path).as_str() > PAST);
    nothing_leaked(&server, Vec::new());
}

#[test]
fn how_a_token_is_renewed_is_shown_without_secrets_and_changed_within_limits() {
    let (_endpoint, _tokens, server) = world();
    let vault = vault(&server);
    let path = credential(&server, &vault, Value::Null, refresh(TOKEN_URL, "client_secret_post"));
    let seen = server.ok("GET", &path, &Value::Null);
    let shown = json!({"token_endpoint": TOKEN_URL, "client_id": "client-1", "scope": "a b",
        "resource": null, "token_endpoint_auth": {"type": "client_secret_post"}});
    assert_eq!(seen["auth"]["refresh"], shown);
    let basic = json!({"type": "client_secret_basic", "client_secret": SECRET});
    let refresh = json!({"refresh_token": REFRESH, "scope": null, "client_id": "client-1",
        "token_endpoint_auth": basic});
    change(&server, &path, json!({ "refresh": refresh }));
    let seen = server.ok("GET", &path, &Value::Null);
    let kind = &seen["auth"]["refresh"]["token_endpoint_auth"]["type"];
    assert_eq!((kind, &seen["auth"]["refresh"]["scope"]), (&basic["type"], &Value::Null));
    let cases = [
        (json!({"client_id": "other"}), "auth.refresh.client_id: cannot be changed"),
        (json!({"token_endpoint": URL}), "auth.refresh.token_endpoint: cannot be changed"),
        (json!({"resource": URL}), "auth.refresh.resource: cannot be changed"),
        (json!({"token_endpoint_auth": {"type": "none"}}), "cannot become none"),
        (json!({"token_endpoint_auth": {"type": "jwt"}}), "must be none"),
        (json!({"refresh_token": "ü"}), "auth.refresh.refresh_token"),
        (json!({"colour": "red"}), "`auth.refresh.colour`"),
    ];
    for (change, expected) in cases {
        let auth = json!({"type": "mcp_oauth", "refresh": change});
        let answer = server.call("POST", &path, &json!({ "auth": auth }));
        assert_eq!(answer.status, 400, "{expected}: {}", answer.body);
        assert!(answer.message().contains(expected), "{}", answer.body);
    }
    change(&server, &path, json!({"refresh": null}));
    let seen = server.ok("GET", &path, &Value::Null);
    assert_eq!(seen["auth"]["refresh"], Value::Null, "it is renewed no more");
    let auth = json!({"type": "mcp_oauth", "refresh": {"refresh_token": REFRESH}});
    let answer = server.call("POST", &path, &json!({ "auth": auth }));
    assert!(answer.message().contains("this credential has none"), "{}", answer.body);
    for missing in ["token_endpoint", "client_id", "refresh_token", "token_endpoint_auth"] {
        let mut refresh = self::refresh(TOKEN_URL, "client_secret_post");
        refresh[missing] = Value::Null;
        let auth = json!({"type": "mcp_oauth", "mcp_server_url": "https://b.example",
            "access_token": "t", "refresh": refresh});
        let path = format!("/v1/vaults/{vault}/credentials");
        let answer = server.call("POST", &path, &json!({ "auth": auth }));
        let expected = format!("auth.refresh.{missing}: Field required");
        assert!(answer.message().contains(&expected), "{}", answer.body);
    }
}
