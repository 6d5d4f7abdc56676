//! What clients do while the server dies under their hands.

use super::Chance;
use super::history::Attempt;
use crate::client::{Answer, Events, Frame};
use crate::server::{Server, call, events_path, headers, message};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a client waits before it looks again by itself.
const A_MOMENT: Duration = Duration::from_millis(20);
/// Longer than all of it takes.
const ALL_MAX: Duration = Duration::from_secs(600);

/// What a client asked for, and when that was acknowledged.
pub struct Sent {
    /// The idempotency key; of a message also its text.
    pub key: String,
    pub body: Value,
    /// The event that was answered.
    pub event: String,
    pub from: Instant,
    pub to: Instant,
}

/// What one client did and saw.
pub struct Client {
    pub number: usize,
    pub session: String,
    chance: Chance,
    pub messages: Vec<Sent>,
    pub interrupts: Vec<Sent>,
    /// Answers to calls that were taken.
    pub answers: Vec<Sent>,
    pub attempts: Vec<Attempt>,
    /// Events, in the order of the stream.
    pub streamed: Vec<Value>,
    /// Messages, as the list had them in between, and when it was asked.
    pub listed: Vec<(Instant, Instant, Vec<String>)>,
    /// Calls of the client's tool that it ran.
    pub tools_run: Vec<String>,
    /// Keys of the sessions it has begun, and their ids.
    pub begun: Vec<(String, String)>,
}

impl Client {
    pub fn new(number: usize, session: String, seed: u64) -> Client {
        Client {
            number,
            session,
            chance: Chance(seed.max(1)),
            messages: Vec::new(),
            interrupts: Vec::new(),
            answers: Vec::new(),
            attempts: Vec::new(),
            streamed: Vec::new(),
            listed: Vec::new(),
            tools_run: Vec::new(),
            begun: Vec::new(),
        }
    }
}

/// Tells everybody when something panics, so that the first word is also the last.
pub struct Alarm<'a>(pub &'a World);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_broken.store(true, Ordering::SeqCst);
        }
    }
}

/// What all of them share.
pub struct World {
    address: SocketAddr,
    key: String,
    /// A session, as clients begin one.
    wish: Value,
    pub acknowledged: AtomicUsize,
    pub is_over: AtomicBool,
    /// Something panicked: nobody need go on.
    pub is_broken: AtomicBool,
    pub began: Instant,
    /// Something has happened: an acknowledgement, a restart.
    pub happened: Condvar,
    quiet: Mutex<()>,
}

impl World {
    pub fn new(server: &Server, wish: Value) -> World {
        World {
            wish,
            address: server.address,
            key: server.key.clone(),
            acknowledged: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            began: Instant::now(),
            happened: Condvar::new(),
            quiet: Mutex::new(()),
        }
    }

    fn check_time(&self) {
        assert!(self.began.elapsed() < ALL_MAX, "it takes too long");
        assert!(!self.is_broken.load(Ordering::SeqCst), "something else has panicked");
    }

    /// Waits until something happens, or for a moment.
    fn pause(&self) {
        self.check_time();
        let quiet = self.quiet.lock().expect("no panic");
        drop(self.happened.wait_timeout(quiet, A_MOMENT).expect("no panic"));
    }

    pub fn until_acknowledged(&self, count: usize) {
        while self.acknowledged.load(Ordering::SeqCst) < count {
            self.pause();
        }
    }

    /// Sends until there is an answer that settles it. Tells of each attempt.
    pub fn post(
        &self,
        path: &str,
        key: &str,
        body: &Value,
        mut tell: impl FnMut(Instant, Option<&Answer>),
    ) -> Answer {
        loop {
            let (began, more) = (Instant::now(), [("idempotency-key", key)]);
            let sent = call(self.address, &self.key, "POST", path, body, &more);
            tell(began, sent.as_ref().ok());
            match sent {
                // 429: too many messages wait for their turn.
                Ok(answer) if answer.status != 429 && answer.status < 500 => return answer,
                _ => self.pause(),
            }
        }
    }

    /// Sends one thing after the other, until it is over.
    pub fn send_all(&self, client: &Mutex<Client>) {
        for count in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let (number, session, choice) = {
                let mut client = client.lock().expect("no panic");
                (client.number, client.session.clone(), client.chance.below(20))
            };
            let key = |what: &str| format!("{what}-{number}-{count}");
            match choice {
                0 => self.list(client, &session),
                19 => self.begin(client, key("begin")),
                1 | 2 => {
                    let interrupt = json!({"events": [{"type": "user.interrupt"}]});
                    let sent = self.request(client, &session, key("interrupt"), interrupt);
                    client.lock().expect("no panic").interrupts.push(sent);
                }
                _ => {
                    let what = match choice {
                        3..6 => "weather",
                        6..9 => "ask",
                        9..11 => "look",
                        _ => "plain",
                    };
                    let text = key(what);
                    let sent = self.request(client, &session, text.clone(), message(&text));
                    client.lock().expect("no panic").messages.push(sent);
                }
            }
        }
    }

    /// What a session is asked for with this key.
    pub fn wish_of(&self, key: &str) -> Value {
        let mut wish = self.wish.clone();
        wish["title"] = json!(key);
        wish
    }

    /// Begins a session, with a file in it.
    fn begin(&self, client: &Mutex<Client>, key: String) {
        let answer = self.post("/v1/sessions", &key, &self.wish_of(&key), |_, _| {});
        assert_eq!(answer.status, 200, "{}", answer.body);
        let id = answer.json()["id"].as_str().expect("an id").to_string();
        client.lock().expect("no panic").begun.push((key, id));
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
        self.happened.notify_all();
    }

    fn request(&self, client: &Mutex<Client>, session: &str, key: String, body: Value) -> Sent {
        let from = Instant::now();
        let answer = self.post(&events_path(session), &key, &body, |began, answer| {
            let status = answer.map(|answer| answer.status);
            let attempt = Attempt { key: key.clone(), began, ended: Instant::now(), status };
            client.lock().expect("no panic").attempts.push(attempt);
        });
        assert_eq!(answer.status, 200, "{}", answer.body);
        let event = answer.json()["data"][0]["id"].as_str().expect("an id").to_string();
        self.acknowledged.fetch_add(1, Ordering::SeqCst);
        self.happened.notify_all();
        Sent { key, body, event, from, to: Instant::now() }
    }

    /// Reads all messages; what breaks off was no reading.
    fn list(&self, client: &Mutex<Client>, session: &str) {
        let (from, mut texts, mut page) = (Instant::now(), Vec::new(), String::new());
        loop {
            let path = events_path(session);
            let path = format!("{path}?limit=100&types[]=user.message{page}");
            let got = call(self.address, &self.key, "GET", &path, &Value::Null, &[]);
            let Some(answer) = got.ok().filter(|answer| answer.status == 200) else { return };
            let answer = answer.json();
            texts.extend(answer["data"].as_array().expect("a list").iter().map(text_of));
            match answer["next_page"].as_str() {
                Some(next) => page = format!("&page={next}"),
                None => break,
            }
        }
        client.lock().expect("no panic").listed.push((from, Instant::now(), texts));
    }

    /// Listens, goes on after each break, answers what it is asked, until the session has ended.
    pub fn listen(&self, client: &Mutex<Client>) {
        let session = client.lock().expect("no panic").session.clone();
        let path = format!("{}/stream", events_path(&session));
        loop {
            self.check_time();
            let last = client.lock().expect("no panic").streamed.last().map(id_of);
            let mut headers = headers(&self.key);
            if let Some(last) = &last {
                headers.push(("last-event-id", last));
            }
            let Ok(mut events) = Events::open(self.address, &path, &headers) else {
                self.pause();
                continue;
            };
            while let Ok(Some(frame)) = events.next() {
                client.lock().expect("no panic").streamed.push(frame.data.clone());
                if frame.event == "session.status_terminated" {
                    return;
                }
                self.answer(client, &session, &frame);
            }
        }
    }

    /// Runs the client's tool, or allows the server's. It may be too late for both.
    fn answer(&self, client: &Mutex<Client>, session: &str, frame: &Frame) {
        let event = match frame.event.as_str() {
            "agent.custom_tool_use" => {
                client.lock().expect("no panic").tools_run.push(frame.id.clone());
                json!({"type": "user.custom_tool_result", "custom_tool_use_id": frame.id,
                       "content": [{"type": "text", "text": "sunny"}]})
            }
            "agent.tool_use" if frame.data["evaluated_permission"] == "ask" => {
                json!({"type": "user.tool_confirmation", "tool_use_id": frame.id,
                       "result": "allow"})
            }
            _ => return,
        };
        let key = format!("answer-{}", frame.id);
        let (from, body) = (Instant::now(), json!({"events": [event]}));
        let answer = self.post(&events_path(session), &key, &body, |_, _| {});
        assert!([200, 404].contains(&answer.status), "{}", answer.body);
        if answer.status == 200 {
            let event = id_of(&answer.json()["data"][0]);
            let sent = Sent { key, body, event, from, to: Instant::now() };
            client.lock().expect("no panic").answers.push(sent);
        }
    }

    /// It is still of use; then it ends, and its listener with it.
    pub fn finish(&self, server: &Server, client: &Mutex<Client>) {
        let session = client.lock().expect("no panic").session.clone();
        let key = "the-end".to_string();
        let sent = self.request(client, &session, key.clone(), message(&key));
        client.lock().expect("no panic").messages.push(sent);
        let answered = |client: &Client| {
            client.streamed.iter().any(|event| text_of(event).starts_with("the-end:"))
        };
        while !answered(&client.lock().expect("no panic")) {
            self.pause();
        }
        server.ok("POST", &format!("/v1/sessions/{session}/archive"), &Value::Null);
    }
}

pub fn id_of(event: &Value) -> String {
    event["id"].as_str().expect("an id").to_string()
}

/// The text of a message; nothing of what is none.
pub fn text_of(event: &Value) -> String {
    event["content"][0]["text"].as_str().unwrap_or_default().to_string()
}
