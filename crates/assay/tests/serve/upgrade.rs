//! What an earlier Assay left is taken up by this one.

use super::server::{Server, events_path, message};
use assay_ledger::Digest;
use assay_ledger::keyed::{KeyRange, Order, Pair, SqliteStore, Store, Writes};
use serde_json::{Value, json};
use std::path::Path;

fn below(store: &mut SqliteStore, folder: &str) -> Vec<Pair> {
    store.scan(&KeyRange::below(folder, Order::Ascending), 100).expect("read")
}

fn hex(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// A request with a key, as a client sends it.
struct Asked<'a> {
    path: &'a str,
    key: &'a str,
    body: &'a Value,
}

impl Asked<'_> {
    fn send(&self, server: &Server) -> (u16, String) {
        let key = [("idempotency-key", self.key)];
        let answer = server.try_call("POST", self.path, self.body, &key).expect("an answer");
        (answer.status, answer.body)
    }

    fn old_name(&self) -> String {
        format!("requests/default/{}/{}", hex(self.path), hex(self.key))
    }
}

/// Rewrites the keys of requests as the first layout had them: the whole answer under hashes in
/// full, beside a folder that says when to forget it.
fn age(data: &Path, asked: &[(&Asked, &str)], session: &str) {
    let mut store = SqliteStore::open(data).expect("the server has ended");
    let mut writes = Writes::new();
    for folder in ["requests", "answers", "layout"] {
        writes.extend(below(&mut store, folder).into_iter().map(|(at, _)| (at, None)));
    }
    let expires_ms: u64 = 4_000_000_000_000;
    for (asked, answer) in asked {
        let whole = format!("POST\n{}\n{}", asked.path, asked.body);
        let row = json!({
            "fingerprint": hex(&whole), "expires_ms": expires_ms, "answer": {"Ok": answer},
        });
        let forget = format!("forget/{expires_ms:020}/{}", asked.old_name());
        writes.insert(asked.old_name(), Some(row.to_string().into_bytes()));
        writes.insert(forget, Some(b"null".to_vec()));
    }
    let at = format!("sessions/default/{session}");
    let record = store.get(&at).expect("read").expect("a session");
    let mut record: Value = serde_json::from_slice(&record).expect("JSON");
    record["made_by"] = json!(asked[0].0.old_name());
    writes.insert(at, Some(record.to_string().into_bytes()));
    store.commit(&writes).expect("written");
}

#[test]
fn a_store_of_the_first_layout_answers_again_and_its_sessions_can_be_deleted() {
    let mut server = Server::start();
    let place = server.place(&Value::Null);
    let make = Asked { path: "/v1/sessions", key: "k-make", body: &place };
    let made = make.send(&server);
    let session: Value = serde_json::from_str(&made.1).expect("JSON");
    let session = session["id"].as_str().expect("an id").to_string();
    let (path, once) = (events_path(&session), message("once"));
    let say = Asked { path: &path, key: "k-say", body: &once };
    let said = say.send(&server);
    assert_eq!((made.0, said.0), (200, 200), "{} {}", made.1, said.1);
    server.rest(&session, "");
    server.kill();
    age(&server.data, &[(&make, &made.1), (&say, &said.1)], &session);
    server.restart();
    assert_eq!(make.send(&server), made, "it is not made a second time");
    assert_eq!(say.send(&server), said);
    let said = server.listed(&session).into_iter().filter(|e| e["type"] == "user.message");
    assert_eq!(said.count(), 1);
    let gone = server.call("DELETE", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_eq!(gone.status, 200, "{}", gone.body);
    server.kill();
    let mut store = SqliteStore::open(&server.data).expect("the server has ended");
    for folder in ["requests", "answers", "forget"] {
        assert_eq!(below(&mut store, folder), [], "what was there goes with the session");
    }
}
