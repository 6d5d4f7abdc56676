//! The server is killed in the middle of things, again and again. Clients try again with the keys
//! of their requests, and streams go on behind the last event they saw.

use super::client::Events;
use super::server::{Server, call, events_path, headers, message};
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

const CLIENTS: usize = 8;
/// How often it is killed, unless ASSAY_SERVE_KILLS says otherwise.
const KILLS: usize = 10;
/// Acknowledgements before each kill, at most.
const ACKNOWLEDGED_MAX: u64 = 40;
/// How long a client waits before it looks again by itself.
const A_MOMENT: Duration = Duration::from_millis(20);
/// Longer than all of it takes.
const ALL_MAX: Duration = Duration::from_secs(600);

/// What one client has seen.
#[derive(Default)]
struct Seen {
    session: String,
    /// The key of each request and the event that was acknowledged for it, in order.
    acknowledged: Vec<(String, String)>,
    /// Ids in the order of the stream.
    streamed: Vec<String>,
}

struct World {
    address: SocketAddr,
    key: String,
    acknowledged: AtomicUsize,
    is_over: AtomicBool,
    began: Instant,
    /// Something has happened: an acknowledgement, a restart.
    happened: Condvar,
    quiet: Mutex<()>,
}

impl World {
    fn check_time(&self) {
        assert!(self.began.elapsed() < ALL_MAX, "it takes too long");
    }

    /// Waits until something happens, or for a moment.
    fn pause(&self) {
        self.check_time();
        let quiet = self.quiet.lock().expect("no panic");
        drop(self.happened.wait_timeout(quiet, A_MOMENT).expect("no panic"));
    }

    /// Sends until there is an answer.
    fn send(&self, session: &str, key: &str, text: &str) -> String {
        loop {
            let more = [("idempotency-key", key)];
            let path = events_path(session);
            let sent = call(self.address, &self.key, "POST", &path, &message(text), &more);
            let Ok(answer) = sent else {
                self.pause();
                continue;
            };
            // Too many messages wait for their turn.
            if answer.status == 429 {
                self.pause();
                continue;
            }
            assert_eq!(answer.status, 200, "{}", answer.body);
            return answer.json()["data"][0]["id"].as_str().expect("an id").to_string();
        }
    }

    fn client(&self, number: usize, seen: &Mutex<Seen>) {
        let session = seen.lock().expect("no panic").session.clone();
        for count in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let key = format!("{number}-{count}");
            let id = self.send(&session, &key, &key);
            seen.lock().expect("no panic").acknowledged.push((key, id));
            self.acknowledged.fetch_add(1, Ordering::SeqCst);
            self.happened.notify_all();
        }
    }

    /// Listens, and goes on after each break, until the session has ended.
    fn listener(&self, seen: &Mutex<Seen>) {
        let session = seen.lock().expect("no panic").session.clone();
        let path = format!("{}/stream", events_path(&session));
        loop {
            self.check_time();
            let behind = seen.lock().expect("no panic").streamed.last().cloned();
            let mut headers = headers(&self.key);
            if let Some(behind) = &behind {
                headers.push(("last-event-id", behind));
            }
            let Ok(mut events) = Events::open(self.address, &path, &headers) else {
                self.pause();
                continue;
            };
            while let Ok(Some(frame)) = events.next() {
                seen.lock().expect("no panic").streamed.push(frame.id.clone());
                if frame.event == "session.status_terminated" {
                    return;
                }
            }
        }
    }
}

/// Small, and always the same for a seed.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_server_that_is_killed_loses_nothing_it_acknowledged_and_does_nothing_twice() {
    let kills = std::env::var("ASSAY_SERVE_KILLS").ok().and_then(|text| text.parse().ok());
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    println!("seed {seed}, {} kills", kills.unwrap_or(KILLS));
    let mut server = Server::start();
    let new = || Mutex::new(Seen { session: server.session(), ..Seen::default() });
    let seen: Vec<Mutex<Seen>> = (0..CLIENTS).map(|_| new()).collect();
    let world = World {
        address: server.address,
        key: server.key.clone(),
        acknowledged: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        began: Instant::now(),
        happened: Condvar::new(),
        quiet: Mutex::new(()),
    };
    let shared = &world;
    std::thread::scope(|scope| {
        let clients: Vec<_> = seen
            .iter()
            .enumerate()
            .map(|(number, seen)| scope.spawn(move || shared.client(number, seen)))
            .collect();
        for seen in &seen {
            scope.spawn(move || shared.listener(seen));
        }
        for _ in 0..kills.unwrap_or(KILLS) {
            let before = world.acknowledged.load(Ordering::SeqCst);
            let wanted = usize::try_from(random(&mut seed) % ACKNOWLEDGED_MAX).expect("small");
            while world.acknowledged.load(Ordering::SeqCst) < before + wanted {
                world.pause();
            }
            server.kill_and_restart();
            world.happened.notify_all();
        }
        world.is_over.store(true, Ordering::SeqCst);
        clients.into_iter().for_each(|client| client.join().expect("no panic"));
        for seen in &seen {
            // It is still of use; then it ends, and listeners with it.
            let session = seen.lock().expect("no panic").session.clone();
            let sent = server.say(&session, "the end");
            server.rest(&session, &sent);
            let archived = format!("/v1/sessions/{session}/archive");
            server.ok("POST", &archived, &Value::Null);
        }
    });
    let total = world.acknowledged.load(Ordering::SeqCst);
    println!("{total} messages were acknowledged");
    for (number, seen) in seen.iter().enumerate() {
        judge(&server, &world, number, &seen.lock().expect("no panic"));
    }
}

fn judge(server: &Server, world: &World, number: usize, seen: &Seen) {
    let events = server.listed(&seen.session);
    let id = |event: &Value| event["id"].as_str().expect("an id").to_string();
    let listed: Vec<String> = events.iter().map(id).collect();
    assert_eq!(listed, seen.streamed, "client {number}: the stream is the list");
    let of = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["type"] == kind).collect()
    };
    let texts = |kind: &str| -> Vec<String> {
        let text = |event: &&Value| event["content"][0]["text"].as_str().expect("text").to_string();
        of(kind).iter().map(text).collect()
    };
    let mut sent: Vec<(String, String)> =
        texts("user.message").into_iter().zip(of("user.message").into_iter().map(id)).collect();
    let end = sent.pop().expect("the end");
    assert_eq!(end.0, "the end");
    assert_eq!(sent, seen.acknowledged, "client {number}: what was acknowledged, once, in order");
    // A turn answers once, or says that it was cut off; none is forgotten, none runs twice.
    let mut said = texts("agent.message");
    let errors = of("session.error").len();
    assert_eq!(said.len() + errors, sent.len() + 1, "client {number}: every turn has one end");
    said.sort();
    said.dedup();
    assert_eq!(said.len() + errors, sent.len() + 1, "client {number}: no turn twice");
    let starts: Vec<&str> =
        of("span.model_request_start").iter().map(|e| e["id"].as_str().expect("id")).collect();
    let ends: Vec<&str> = of("span.model_request_end")
        .iter()
        .map(|e| e["model_request_start_id"].as_str().expect("id"))
        .collect();
    assert_eq!(starts, ends, "client {number}: each request to a model ended once");
    // No key has a second effect, long after.
    for (key, id) in &seen.acknowledged {
        assert_eq!(world.send(&seen.session, key, key), *id);
    }
    assert_eq!(server.listed(&seen.session).len(), listed.len());
    let state = server.ok("GET", &format!("/v1/sessions/{}", seen.session), &Value::Null);
    assert_eq!(state["status"], "terminated");
}
