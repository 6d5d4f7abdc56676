//! Limits say no before anything breaks, to who has too much, and no longer than needed; what is
//! counted is what happened.

use super::client::{ANSWER_MAX, Answer, Connection, request};
use super::server::{Server, call, events_path, headers, make_key, message};
use super::tools::wait_for;
use serde_json::{Value, json};
use std::time::Instant;

/// Tries until it is taken.
fn until_taken(mut work: impl FnMut() -> u16) {
    let end = Instant::now() + ANSWER_MAX;
    while work() != 200 {
        assert!(Instant::now() < end, "it is never taken again");
    }
}

/// A request whose body does not come.
fn begin(server: &Server, path: &str, headers: &[(&str, &str)], length: usize) -> Connection {
    let mut connection = Connection::open(server.address).expect("a connection");
    connection.head("POST", path, headers, length).expect("sent");
    connection
}

/// Requests of which one has the only place, and what another is told. Which of two comes first is
/// not ours to say: so it is tried until a slow one did.
fn held(begin: impl Fn() -> Connection, ask: impl Fn() -> Answer) -> (Vec<Connection>, Answer) {
    let end = Instant::now() + ANSWER_MAX;
    let mut slow = Vec::new();
    loop {
        slow.push(begin());
        let answer = ask();
        if answer.status != 200 {
            return (slow, answer);
        }
        assert!(Instant::now() < end, "the slow one never has the place");
    }
}

fn too_many(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{}", answer.body);
    assert!(answer.message().contains(part), "{}", answer.body);
    let seconds = answer.header("retry-after").expect("when to try again");
    assert!(seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0), "{seconds}");
}

#[test]
fn a_workspace_that_asks_too_often_is_told_so_and_no_other() {
    let server = Server::start_with(&["--max-requests-per-second", "2"]);
    let other = make_key(&server.data, "other");
    let ask = || server.call("GET", "/v1/models", &Value::Null);
    let refused = (0..1000).map(|_| ask()).find(|answer| answer.status != 200);
    too_many(&refused.expect("more than two in a second"), 429, "too many requests");
    let foreign = call(server.address, &other, "GET", "/v1/models", &Value::Null, &[]);
    assert_eq!(foreign.expect("an answer").status, 200);
    for _ in 0..10 {
        let health = request(server.address, "GET", "/health", &[], "").expect("an answer");
        assert_eq!(health.status, 200);
    }
    until_taken(|| ask().status);
}

#[test]
fn streams_and_uploads_have_places_that_are_given_back() {
    let server = Server::start_with(&["--max-streams", "1", "--max-uploads", "1"]);
    let session = server.session();
    let path = format!("{}/stream", events_path(&session));
    let stream = server.stream(&session, &[]);
    too_many(&server.call("GET", &path, &Value::Null), 429, "streams are open");
    drop(stream);
    let end = Instant::now() + ANSWER_MAX;
    let open = || super::client::Events::open(server.address, &path, &server.headers());
    while open().is_err() {
        assert!(Instant::now() < end, "the place is never given back");
    }
    let mut headers = server.headers();
    headers.retain(|(name, _)| *name != "content-type");
    headers.push(("content-type", "multipart/form-data; boundary=b"));
    let begin = || begin(&server, "/v1/files", &headers, 100);
    let upload = || server.upload("/v1/files", &[("file", "a", "x")]);
    let (slow, refused) = held(begin, upload);
    too_many(&refused, 429, "uploads are on their way");
    drop(slow);
    until_taken(|| server.upload("/v1/files", &[("file", "a", "x")]).status);
}

#[test]
fn turns_and_active_sessions_are_limited_and_interrupts_are_not() {
    let server = Server::start_with(&["--max-turns", "2", "--max-active-sessions", "1"]);
    let (one, two) = (server.session(), server.session());
    let send =
        |session: &str, text: &str| server.call("POST", &events_path(session), &message(text));
    assert_eq!(send(&one, "forever").status, 200);
    too_many(&send(&two, "hello"), 429, "sessions are active");
    assert_eq!(send(&one, "behind it").status, 200);
    too_many(&send(&one, "too many"), 429, "messages are waiting");
    let mut wish = server.place(&Value::Null);
    wish["initial_events"] = message("hello")["events"].clone();
    too_many(&server.call("POST", "/v1/sessions", &wish), 429, "messages are waiting");
    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
    assert_eq!(server.call("POST", &events_path(&one), &interrupt).status, 200);
    until_taken(|| send(&two, "hello").status);
    assert_eq!(server.listed(&two).iter().filter(|e| e["type"] == "user.message").count(), 1);
}

#[test]
fn a_process_that_has_too_much_to_do_says_so_and_goes_on() {
    let server = Server::start_with(&["--max-requests", "1"]);
    let headers = headers(&server.key);
    let begin = || begin(&server, "/v1/agents", &headers, 2);
    let ask = || server.call("GET", "/v1/models", &Value::Null);
    let (slow, refused) = held(begin, ask);
    too_many(&refused, 529, "requests are being answered");
    let answered = slow.into_iter().filter_map(|mut slow| {
        // Those that were refused may be closed.
        let _closed = slow.write(b"{}");
        slow.answer().ok().map(|answer| answer.status)
    });
    let answered: Vec<u16> = answered.filter(|status| *status != 529).collect();
    let is_right = !answered.is_empty() && answered.iter().all(|status| *status == 400);
    assert!(is_right, "the one that had the place was being answered: {answered:?}");
    until_taken(|| ask().status);
}

#[test]
fn what_is_counted_is_what_happened_and_only_this_machine_is_told() {
    let mut server = Server::start();
    let session = server.session();
    let sent = server.say(&session, "hello");
    server.rest(&session, &sent);
    let metrics = |server: &Server| {
        let answer = request(server.address, "GET", "/metrics", &[], "").expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    };
    let number = |text: &str, name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        let line = line.unwrap_or_else(|| panic!("{name} in {text}"));
        line.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number")
    };
    let text = metrics(&server);
    assert_eq!(number(&text, "assay_sessions{status=\"idle\"}"), 1);
    assert_eq!(number(&text, "assay_turns_total"), 1);
    assert_eq!(number(&text, "assay_events_total"), server.listed(&session).len() as u64);
    let created = "assay_requests_total{route=\"/v1/sessions\",method=\"POST\",status=\"200\"}";
    assert_eq!(number(&text, created), 1);
    let (jobs, commits) = (number(&text, "assay_jobs_total"), number(&text, "assay_commits_total"));
    assert!(jobs >= commits && commits > 0, "{text}");
    assert!(text.ends_with("# EOF\n"));
    // The stream of the turn above is over for the server a moment later than for its client.
    let streams = || number(&metrics(&server), "assay_streams");
    wait_for("streams that are over", || streams() == 0);
    let stream = server.stream(&session, &[]);
    wait_for("one that is not", || streams() == 1);
    drop(stream);
    for proxy in ["forwarded", "x-forwarded-for"] {
        let headers = [(proxy, "for=10.0.0.1")];
        let answer = request(server.address, "GET", "/metrics", &headers, "");
        assert_eq!(answer.expect("an answer").status, 404, "{proxy}");
    }
    server.kill_and_restart();
    assert_eq!(number(&metrics(&server), "assay_sessions{status=\"idle\"}"), 1);
    server.ok("DELETE", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(number(&metrics(&server), "assay_sessions{status=\"idle\"}"), 0);
}
