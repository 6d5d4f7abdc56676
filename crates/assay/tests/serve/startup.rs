//! What a server lacks it says before it serves, with a code that says whose fault it is.

use super::endpoint::Endpoint;
use super::server::{Server, Setup, refused};
use serde_json::json;

#[test]
fn what_is_missing_or_wrong_is_told_at_the_start() {
    let model = |more: &str| format!("[models.m]\nbase_url = \"http://127.0.0.1:9\"\n{more}");
    let engines = |text: String| Setup { engines: Some(text), ..Setup::default() };
    let args = |args: &[&str]| Setup {
        args: args.iter().map(ToString::to_string).collect(),
        ..Setup::default()
    };
    let cases = [
        (engines("nonsense".into()), 65, "engines.toml"),
        (engines(model("max_tokens = 0")), 65, "max_tokens"),
        (engines(model("api_key = \"x\"")), 65, "api_key"),
        (engines(model("api_key_env = \"NOT_SET_ANYWHERE\"")), 69, "NOT_SET_ANYWHERE is not set"),
        (engines("[acp.a]\ncommand = [\"no-such-program\"]".into()), 69, "no-such-program"),
        (args(&["--sandbox", "strong"]), 64, "no sandbox `strong`"),
        (args(&["--local-origin", "localhost"]), 64, "NAME=ADDRESS:PORT"),
    ];
    for (setup, code, words) in cases {
        let ended = refused(&setup);
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn what_a_sandbox_cannot_keep_is_refused_when_it_is_asked_for() {
    let open = json!({"type": "cloud", "networking": {"type": "unrestricted"}});
    let open = json!({"name": "e", "config": open});
    let closed = json!({"name": "e"});
    let with = |args: &[&str]| {
        let args = args.iter().map(ToString::to_string).collect();
        Server::with(Setup { args, ..Setup::default() })
    };
    let refusal = |server: &Server, wish| {
        let answer = server.call("POST", "/v1/environments", wish);
        assert_eq!(answer.status, 400, "{}", answer.body);
        answer.message()
    };
    let usual = with(&[]);
    assert!(refusal(&usual, &open).contains("--open-network"));
    usual.ok("POST", "/v1/environments", &closed);
    let opened = with(&["--open-network"]);
    opened.ok("POST", "/v1/environments", &open);
    opened.ok("POST", "/v1/environments", &closed);
    // Without a sandbox nothing can be kept closed, and only what is open is promised.
    let none = with(&["--sandbox", "none"]);
    assert!(refusal(&none, &closed).contains("protects nothing"), "none promises nothing");
    none.ok("POST", "/v1/environments", &open);
}

#[test]
fn a_server_that_allows_less_than_before_ends_turns_that_would_need_more() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("ours");
    let port = listener.local_addr().expect("an address").port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let script = format!(
        "[[turn]]\nsteps = [{{ call = \"bash\", input = {{ command = \"{connect}\" }} }}]\n"
    );
    let args = vec!["--open-network".to_string()];
    let setup = Setup { script: Some(script), args, ..Setup::default() };
    let mut server = Server::with(setup.clone());
    let open = json!({"type": "cloud", "networking": {"type": "unrestricted"}});
    let tools = json!([{"type": "agent_toolset_20260401"}]);
    let agent = json!({"name": "a", "model": "scripted", "tools": tools});
    let session = server.session_of(&agent, &json!({"name": "e", "config": open}));
    let events = server.turn(&session, "hi");
    assert!(listener.accept().is_ok(), "a tool could reach it: {events:?}");
    server.restart_with(Setup { args: Vec::new(), ..setup });
    let events = server.turn(&session, "hi");
    assert_eq!(super::model::kinds(&events), "status_running error status_idle", "{events:?}");
    let error = events[1]["error"]["message"].as_str().expect("a message");
    assert!(error.contains("not allowed") && error.contains("--open-network"), "{error}");
    assert!(listener.accept().is_err(), "a tool had the network");
}

#[test]
fn a_session_whose_model_is_gone_says_so_and_no_other_stands_in() {
    let endpoint = Endpoint::start();
    let mut server = endpoint.server("");
    let agent = json!({"name": "a", "model": "m"});
    let session = server.session_of(&agent, &json!({"name": "e"}));
    let setup = Setup { script: None, engines: None, ..endpoint.setup("") };
    server.restart_with(setup);
    let events = server.turn(&session, "hi");
    let error = events[events.len() - 2]["error"]["message"].as_str().expect("a message");
    assert!(error.contains("no model `m` any more"), "{error}");
    assert!(endpoint.asked().is_empty());
}
