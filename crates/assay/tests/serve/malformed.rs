//! Requests that nobody should send: answered or closed, never a hang, and nothing breaks.

use super::client::{Connection, request};
use super::server::Server;
use std::io::ErrorKind;

/// What may come back.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Wanted {
    /// An answer with this status.
    Status(u16),
    /// An answer with this status, or the end of the connection.
    StatusOrEnd(u16),
    /// The end of the connection.
    End,
}

use Wanted::{End, Status, StatusOrEnd};

/// Sends bytes, says that no more come if it is told to, and compares what comes back.
fn check(server: &Server, name: &str, bytes: &[u8], is_over: bool, wanted: Wanted) {
    let mut connection = Connection::open(server.address).expect("a connection");
    // The server may have said no before it has heard everything.
    let _cut_off = connection.write(bytes);
    if is_over {
        let _cut_off = connection.finish();
    }
    let answer = connection.answer();
    let (status, ended) = match &answer {
        Ok(answer) => (Some(answer.status), false),
        Err(error) => (None, !matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)),
    };
    let is_good = match wanted {
        Status(wanted) => status == Some(wanted),
        StatusOrEnd(wanted) => status == Some(wanted) || ended,
        End => ended,
    };
    assert!(is_good, "{name}: {status:?}, {:?}", answer.err());
}

#[test]
fn whatever_is_sent_is_answered_or_closed() {
    let server = Server::start();
    let lines = server.headers().iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect::<String>();
    let head =
        |start: &str, more: &str| format!("{start} HTTP/1.1\r\nhost: t\r\n{lines}{more}\r\n");
    let post = |more: &str, body: &str| [head("POST /v1/agents", more), body.to_string()].concat();
    let long = "x".repeat(1024 * 1024);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let sized = |body: &str| post(&format!("content-length: {}\r\n", body.len()), body);
    let cases: Vec<(&str, String, bool, Wanted)> = vec![
        ("no HTTP", "hello\r\n\r\n".into(), false, Status(400)),
        ("no version", "GET /health\r\n\r\n".into(), false, Status(400)),
        ("another version", "GET /health HTTP/9.9\r\n\r\n".into(), false, Status(400)),
        ("nothing", String::new(), true, End),
        ("half a head", "GET /health HT".into(), true, StatusOrEnd(400)),
        ("half of a header", "GET /health HTTP/1.1\r\nhos".into(), true, StatusOrEnd(400)),
        ("the end before the body", post("content-length: 10\r\n", ""), true, StatusOrEnd(400)),
        (
            "half of a chunk",
            post("transfer-encoding: chunked\r\n", "5\r\n{\"n"),
            true,
            StatusOrEnd(400),
        ),
        (
            "chunks without the last",
            post("transfer-encoding: chunked\r\n", "2\r\n{}\r\n"),
            true,
            StatusOrEnd(400),
        ),
        ("a head, then the end", head("GET /v1/agents", ""), true, StatusOrEnd(200)),
        ("a whole request, then the end", sized("{}"), true, StatusOrEnd(400)),
        ("a bad header", "GET /health HTTP/1.1\r\nno colon\r\n\r\n".into(), false, Status(400)),
        ("a long URL", format!("GET /{long} HTTP/1.1\r\n\r\n"), false, StatusOrEnd(431)),
        ("a long header", head("GET /health", &format!("x: {long}\r\n")), false, Status(431)),
        ("no length", post("", "{}"), false, Status(400)),
        ("a bad length", post("content-length: two\r\n", "{}"), false, Status(400)),
        (
            "two lengths",
            post("content-length: 2\r\ncontent-length: 3\r\n", "{}x"),
            false,
            Status(400),
        ),
        ("a bad chunk", post("transfer-encoding: chunked\r\n", "zz\r\n"), false, Status(400)),
        ("a body that breaks off", post("content-length: 10\r\n", "{"), true, StatusOrEnd(400)),
        ("no JSON", sized("{"), false, Status(400)),
        ("JSON that is too deep", sized(&deep), false, Status(400)),
        ("no UTF-8", sized("{\"name\": \"\u{fffd}"), false, Status(400)),
        ("a body that is too large", sized(&format!("{long}x")), false, StatusOrEnd(413)),
        ("no parts", head("POST /v1/files", "content-length: 0\r\n"), false, Status(400)),
        ("an id that is none", head("GET /v1/sessions/%00%ff", ""), false, Status(404)),
        ("a bad parameter", head("GET /v1/sessions?limit=%zz", ""), false, Status(400)),
        (
            "a key with a line break",
            "GET /v1/models HTTP/1.1\r\nx-api-key: a\rb\r\n\r\n".into(),
            false,
            Status(400),
        ),
    ];
    for (name, text, is_over, wanted) in cases {
        check(&server, name, text.as_bytes(), is_over, wanted);
    }
    let health = request(server.address, "GET", "/health", &[], "").expect("an answer");
    assert_eq!(health.status, 200);
    assert!(!server.log().contains("panic"), "{}", server.log());
}

#[test]
fn what_was_asked_for_before_the_end_is_done_whole_or_not_at_all() {
    let server = Server::start();
    let lines = server.headers().iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect::<String>();
    let body = r#"{"name": "a", "model": "scripted"}"#;
    let post = |length: usize, body: &str| {
        format!(
            "POST /v1/agents HTTP/1.1\r\nhost: t\r\n{lines}content-length: {length}\r\n\r\n{body}"
        )
    };
    for cut in [0, 1, body.len() - 1] {
        let text = post(body.len(), &body[..cut]);
        check(&server, "cut off", text.as_bytes(), true, StatusOrEnd(400));
    }
    let agents = || {
        let listed = server.ok("GET", "/v1/agents", &serde_json::Value::Null);
        listed["data"].as_array().expect("a list").len()
    };
    assert_eq!(agents(), 0, "half of a request is none");
    // Who closes its side has gone, and may have been too early: then nothing was done.
    check(&server, "whole", post(body.len(), body).as_bytes(), true, StatusOrEnd(200));
    assert!(agents() <= 1);
}

#[test]
fn a_stream_whose_reader_has_hung_up_its_side_ends() {
    let server = Server::start();
    let session = server.session();
    let mut connection = Connection::open(server.address).expect("a connection");
    let path = format!("{}/stream", super::server::events_path(&session));
    connection.head("GET", &path, &server.headers(), 0).expect("sent");
    assert_eq!(connection.answer_head().expect("an answer").0, 200);
    connection.finish().expect("open");
    let metrics = || request(server.address, "GET", "/metrics", &[], "").expect("an answer").body;
    let is_over = || metrics().lines().any(|line| line == "assay_streams 0");
    super::tools::wait_for("its place is given back", is_over);
}

#[test]
fn who_is_too_slow_is_told_so_or_cut_off() {
    let server = Server::start();
    let lines = server.headers().iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect::<String>();
    let post = |more: &str| format!("POST /v1/agents HTTP/1.1\r\nhost: t\r\n{lines}{more}");
    let chunked = post("transfer-encoding: chunked\r\n\r\n5\r\n{");
    let cases = [
        ("nothing at all", String::new(), End),
        ("a head that never ends", "GET /health HTTP/1.1\r\nhost:".to_string(), StatusOrEnd(408)),
        ("a body that never ends", post("content-length: 5\r\n\r\n{"), Status(408)),
        ("chunks that never end", chunked, Status(408)),
    ];
    std::thread::scope(|scope| {
        for (name, text, wanted) in &cases {
            let server = &server;
            scope.spawn(move || check(server, name, text.as_bytes(), false, *wanted));
        }
    });
}
