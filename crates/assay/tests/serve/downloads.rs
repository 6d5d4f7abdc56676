//! Downloads: counted until their last byte is sent, and never held as a whole.

use super::client::{ANSWER_MAX, Connection, Head, request, request_bytes};
use super::server::{Server, Setup};
use super::tools::wait_for;
use serde_json::{Value, json};
use std::time::Instant;

/// More than two sockets hold.
const SIZE_BYTES: usize = 20 << 20;

const SCRIPT: &str = r#"
[[turn]]
steps = [{ call = "bash", input = { command = '''
head -c 20971520 /dev/zero | tr '\0' 'x' > $ASSAY_OUTPUTS/large''' } }]
"#;

/// A server with one large file that can be downloaded.
fn server(arguments: &[&str]) -> (Server, String) {
    let args = arguments.iter().map(ToString::to_string).collect();
    let script = Some(SCRIPT.to_string());
    let server = Server::with(Setup { script, args, ..Setup::default() });
    let tools = json!([{"type": "agent_toolset_20260401"}]);
    let agent = json!({"name": "a", "model": "scripted", "tools": tools});
    let session = server.session_of(&agent, &json!({"name": "e"}));
    // Places are given back a moment after an answer has arrived.
    let ask = |method: &str, path: &str, body: &Value| {
        let end = Instant::now() + ANSWER_MAX;
        loop {
            let answer = server.call(method, path, body);
            if answer.status == 200 {
                return answer.json();
            }
            assert!(answer.status == 529 && Instant::now() < end, "{path}: {}", answer.body);
        }
    };
    ask("POST", &super::server::events_path(&session), &super::server::message("make"));
    let mut file = Value::Null;
    wait_for("the file", || {
        let listed = ask("GET", &format!("/v1/files?scope_id={session}"), &Value::Null);
        file = listed["data"][0]["id"].clone();
        file.is_string()
    });
    let path = format!("/v1/files/{}/content", file.as_str().expect("an id"));
    (server, path)
}

/// A client that is being answered, and does not read.
fn silent(server: &Server, path: &str) -> (Connection, Head) {
    let end = Instant::now() + ANSWER_MAX;
    loop {
        let mut connection = Connection::open(server.address).expect("a connection");
        connection.head("GET", path, &server.headers(), 0).expect("sent");
        let head = connection.answer_head().expect("the beginning of an answer");
        if head.0 == 200 {
            return (connection, head);
        }
        // The place of an earlier answer may not have been given back yet.
        assert!(Instant::now() < end, "it is never taken: {head:?}");
    }
}

#[test]
fn answers_that_nobody_reads_keep_their_places() {
    let (server, path) = server(&["--max-requests", "2"]);
    let ask = || server.call("GET", "/v1/models", &Value::Null);
    let silent = [silent(&server, &path), silent(&server, &path)];
    // Nothing but a reader, or the end of its patience, gives a place back.
    for _ in 0..20 {
        let refused = ask();
        assert_eq!(refused.status, 529, "{}", refused.body);
    }
    for (mut connection, head) in silent {
        let answer = connection.answer_to(head).expect("it reads now");
        assert_eq!(answer.body.len(), SIZE_BYTES);
    }
    wait_for("a place that was given back", || ask().status == 200);
}

#[test]
fn a_workspace_has_so_many_downloads_at_once_and_each_is_whole() {
    let (server, path) = server(&["--max-downloads", "1"]);
    let headers = server.headers();
    let bytes = request_bytes(server.address, "GET", &path, &headers).expect("an answer");
    assert!(bytes.len() == SIZE_BYTES && bytes.iter().all(|byte| *byte == b'x'));
    let ask = || request(server.address, "GET", &path, &headers, "").expect("an answer");
    let silent = silent(&server, &path);
    let refused = ask();
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.message().contains("downloads are on their way"), "{}", refused.body);
    assert_eq!(server.call("GET", "/v1/models", &Value::Null).status, 200, "of this kind only");
    drop(silent);
    wait_for("a place that was given back", || ask().status == 200);
}
