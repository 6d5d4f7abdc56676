//! `web_fetch`, and programs in sandboxes: only what the environment allows, and nothing near.

use super::server::{Server, Setup};
use assay_sandbox::{Capability, Helper, Local, Provider, ProviderKind};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// A site with pages; what it was asked is kept.
fn site() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = asked.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(&stream);
            let mut line = String::new();
            reader.read_line(&mut line).expect("a request");
            let mut rest = String::from("-");
            while !rest.trim().is_empty() {
                rest.clear();
                reader.read_line(&mut rest).expect("a head");
            }
            let path = line.split(' ').nth(1).unwrap_or_default().to_string();
            let (status, more, body) = match path.as_str() {
                "/page?q=1" => (200, "content-type: text/html", "<p>Hello</p>".to_string()),
                "/away" => (302, "location: http://other.example.test/secret", String::new()),
                "/inside" => (302, "location: http://127.0.0.1:1/secret", String::new()),
                "/again" => (302, "location: /page?q=1", String::new()),
                "/round" => (302, "location: /round", String::new()),
                "/large" => (200, "content-type: text/plain", "x".repeat(200_000)),
                "/image" => (200, "content-type: image/png", "png".to_string()),
                _ => (404, "content-type: text/plain", "not here".to_string()),
            };
            kept.lock().expect("no panic").push(path);
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{more}\r\n\r\n");
            // A client that goes is one of the cases.
            let _gone =
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        }
    });
    (port, asked)
}

const URLS: [(&str, &str, bool); 11] = [
    ("http://docs.example.test/page?q=1", "<p>Hello</p>", false),
    ("http://docs.example.test/again", "<p>Hello</p>", false),
    ("http://docs.example.test/none", "404", true),
    ("http://docs.example.test/large", "the rest is left out", false),
    ("http://docs.example.test/image", "not text", true),
    ("http://docs.example.test/away", "does not allow the host `other.example.test`", true),
    ("http://docs.example.test/inside", "a name, not a number", true),
    ("http://docs.example.test/round", "more than 5 redirects", true),
    ("http://other.example.test/", "does not allow the host", true),
    ("http://127.0.0.1/", "a name, not a number", true),
    ("https://docs.example.test:8443/", "only https:// on port 443", true),
];

fn script() -> String {
    let turn = |(index, (url, ..)): (usize, &(&str, &str, bool))| {
        let call = format!("{{ call = \"web_fetch\", input = {{ url = \"{url}\" }} }}");
        format!("[[turn]]\nwhen = \"url {index}.\"\nsteps = [{call}]\n")
    };
    URLS.iter().enumerate().map(turn).collect()
}

fn environment(hosts: Value) -> Value {
    let networking = json!({"type": "limited", "allowed_hosts": hosts});
    json!({"name": "e", "config": {"type": "cloud", "networking": networking}})
}

#[test]
fn pages_come_from_hosts_that_are_allowed_and_from_nowhere_else() {
    let (port, asked) = site();
    let origin = |host: &str| format!("--local-origin={host}.example.test=127.0.0.1:{port}");
    let args = vec![origin("docs"), origin("other")];
    let server = Server::with(Setup { script: Some(script()), args, ..Setup::default() });
    let agent = json!({"name": "a", "model": "scripted",
        "tools": [{"type": "agent_toolset_20260401"}]});
    let session = server.session_of(&agent, &environment(json!(["docs.example.test"])));
    let closed = server.session_of(&agent, &json!({"name": "e"}));
    let fetch = |session: &str, index: usize| {
        let events = server.turn(session, &format!("url {index}."));
        let result = events.iter().find(|event| event["type"] == "agent.tool_result");
        let result = result.unwrap_or_else(|| panic!("{events:?}")).clone();
        (
            result["content"][0]["text"].as_str().expect("text").to_string(),
            result["is_error"] == true,
        )
    };
    for (index, (url, words, is_error)) in URLS.iter().enumerate() {
        let (text, failed) = fetch(&session, index);
        assert!(text.contains(words) && failed == *is_error, "{url}: {text}");
        assert!(text.len() < 110_000, "{url}");
    }
    let before = asked.lock().expect("no panic").len();
    let (text, failed) = fetch(&closed, 0);
    assert!(failed && text.contains("does not allow the host"), "{text}");
    let asked = asked.lock().expect("no panic").clone();
    assert_eq!(asked.len(), before, "nobody was asked");
    assert!(!asked.contains(&"/secret".to_string()), "{asked:?}");
}

/// What programs in the sandbox try, and what they must say.
const PROGRAMS: [(&str, &str); 8] = [
    ("curl -s 'http://docs.example.test/page?q=1'", "<p>Hello</p>"),
    ("curl -sp 'http://docs.example.test/page?q=1'", "<p>Hello</p>"),
    ("curl -sL http://docs.example.test/away", "does not allow the host `other.example.test`"),
    ("curl -s http://other.example.test/secret", "does not allow the host `other.example.test`"),
    ("curl -s http://127.0.0.1:PORT/secret --noproxy ''", "a name, not a number"),
    ("curl -sp https://other.example.test/secret || echo refused $?", "refused 56"),
    ("curl -s http://docs.example.test/page --noproxy '*' || echo no way $?", "no way 6"),
    ("curl -s http://127.0.0.1:PORT/secret --noproxy '*' || echo no way $?", "no way 7"),
];

/// Why sandboxes of this machine have no gate, if they have none.
fn no_gates() -> Option<String> {
    let program = env!("CARGO_BIN_EXE_assay").into();
    let helper = Helper { program, args: vec!["sandbox".to_string()] };
    let local = Local::new(ProviderKind::Local, helper).expect("it can be tried");
    local.capabilities().missing.get(&Capability::NetworkLimited).cloned()
}

#[test]
fn programs_reach_the_hosts_of_their_environment_through_the_server_and_nothing_else() {
    if let Some(why) = no_gates() {
        // Not by the macro: what that says of a test that passes is swallowed.
        let said = writeln!(std::io::stderr(), "SKIPPED: no gates in sandboxes here: {why}");
        return said.expect("somebody reads it");
    }
    let (port, asked) = site();
    let turn = |(index, (command, _)): (usize, &(&str, &str))| {
        let command = command.replace("PORT", &port.to_string());
        let call = format!("{{ call = \"bash\", input = {{ command = \"{command}\" }} }}");
        format!("[[turn]]\nwhen = \"try {index}.\"\nsteps = [{call}]\n")
    };
    let script = PROGRAMS.iter().enumerate().map(turn).collect();
    let origin = |host: &str| format!("--local-origin={host}.example.test=127.0.0.1:{port}");
    let args = vec![origin("docs"), origin("other")];
    let server = Server::with(Setup { script: Some(script), args, ..Setup::default() });
    let agent = json!({"name": "a", "model": "scripted",
        "tools": [{"type": "agent_toolset_20260401"}]});
    let session = server.session_of(&agent, &environment(json!(["docs.example.test"])));
    let closed = server.session_of(&agent, &json!({"name": "e"}));
    let tried = |session: &str, index: usize| {
        let events = server.turn(session, &format!("try {index}."));
        let result = events.iter().find(|event| event["type"] == "agent.tool_result");
        let result = result.unwrap_or_else(|| panic!("{events:?}"));
        result["content"][0]["text"].as_str().expect("text").to_string()
    };
    for (index, (command, words)) in PROGRAMS.iter().enumerate() {
        let text = tried(&session, index);
        assert!(text.contains(words), "{command}: {text}");
    }
    let before = asked.lock().expect("no panic").len();
    let text = tried(&closed, 0);
    assert!(text.contains("exit code 6"), "nobody leads out: {text}");
    let asked = asked.lock().expect("no panic").clone();
    assert_eq!(asked.len(), before, "nobody was asked");
    assert!(!asked.contains(&"/secret".to_string()), "{asked:?}");
}

#[test]
fn hosts_of_an_environment_are_names_and_are_shown_as_they_were_written() {
    let server = Server::start();
    let made =
        server.ok("POST", "/v1/environments", &environment(json!(["A.example.com", "*.b.org"])));
    assert_eq!(made["config"]["networking"]["allowed_hosts"], json!(["A.example.com", "*.b.org"]));
    let cases = [
        (json!(["localhost"]), "two labels"),
        (json!(["127.0.0.1"]), "not an address"),
        (json!(["https://a.b"]), "without scheme"),
        (json!(["a.b:443"]), "without scheme"),
        (json!(["a.b", "A.B"]), "is there twice"),
        (json!([3]), "must be text"),
    ];
    for (hosts, words) in cases {
        let answer = server.call("POST", "/v1/environments", &environment(hosts));
        assert_eq!(answer.status, 400, "{words}: {}", answer.body);
        assert!(answer.message().contains(words), "{}", answer.body);
    }
}
