//! An endpoint that speaks the Messages API, by heart: it gives what it was told to give, in order,
//! and keeps what it was asked.

use super::server::{Server, Setup};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Error, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Longer than any request takes to come.
const REQUEST_MAX: Duration = Duration::from_secs(60);

/// What is given for one request.
pub enum Gives {
    /// A message with these blocks, and why it ends.
    Message(Vec<Value>, &'static str),
    /// No message: a status, headers and an error.
    Refusal(u16, Vec<(&'static str, &'static str)>, &'static str),
    /// An error within the stream.
    StreamError(&'static str),
    /// Half a message with this text, and then nothing.
    Half(&'static str),
    /// Signs of life until the client is gone.
    Endless,
}

#[derive(Default)]
struct State {
    gives: VecDeque<Gives>,
    asked: Vec<(String, Value)>,
    /// Clients that went before the end.
    gone: usize,
}

pub struct Endpoint {
    pub address: SocketAddr,
    state: Arc<(Mutex<State>, Condvar)>,
}

pub fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// A message that only says something.
pub fn says(words: &str) -> Gives {
    Gives::Message(vec![text(words)], "end_turn")
}

/// A message that wants tools.
pub fn calls(blocks: Vec<Value>) -> Gives {
    Gives::Message(blocks, "tool_use")
}

impl Endpoint {
    pub fn start() -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    // A client that goes in the middle is one of the cases.
                    let _gone = answer(stream, &shared);
                });
            }
        });
        Endpoint { address, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().expect("no panic")
    }

    /// What comes next, after what was said before.
    pub fn give(&self, gives: impl IntoIterator<Item = Gives>) {
        self.state().gives.extend(gives);
    }

    /// What it was asked, all of it.
    pub fn asked(&self) -> Vec<Value> {
        self.state().asked.iter().map(|(_, body)| body.clone()).collect()
    }

    /// The heads of what it was asked.
    pub fn heads(&self) -> Vec<String> {
        self.state().asked.iter().map(|(head, _)| head.clone()).collect()
    }

    fn wait(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let waited = self.state.1.wait_timeout_while(self.state(), REQUEST_MAX, |s| !is_so(s));
        assert!(!waited.expect("no panic").1.timed_out(), "waited for {what}");
    }

    /// Waits until it was asked so often.
    pub fn wait_asked(&self, count: usize) {
        self.wait("requests", |state| state.asked.len() >= count);
    }

    /// Waits until so many clients went before the end.
    pub fn wait_gone(&self, count: usize) {
        self.wait("clients to go", |state| state.gone >= count);
    }

    /// A server with the model `m` behind this endpoint.
    pub fn server(&self, more: &str) -> Server {
        Server::with(self.setup(more))
    }

    pub fn setup(&self, more: &str) -> Setup {
        let engines = format!(
            "[models.m]\nbase_url = \"http://{}/api/\"\napi_key_env = \"TEST_MODEL_KEY\"\n\
             model = \"real-name\"\n{more}",
            self.address
        );
        let key = ("TEST_MODEL_KEY".to_string(), KEY.to_string());
        Setup { engines: Some(engines), env: vec![key], ..Setup::default() }
    }
}

/// The key of the endpoint, which nobody must see anywhere.
pub const KEY: &str = "sk-never-shown-anywhere-1234";

fn answer(stream: TcpStream, shared: &(Mutex<State>, Condvar)) -> Result<(), Error> {
    let (head, body) = read_request(&stream)?;
    let gives = {
        let mut state = shared.0.lock().expect("no panic");
        state.asked.push((head, body));
        shared.1.notify_all();
        state.gives.pop_front()
    };
    let mut stream = stream;
    match gives {
        None => refuse(&mut stream, 400, &[], "nothing is left to give"),
        Some(Gives::Refusal(status, headers, what)) => refuse(&mut stream, status, &headers, what),
        Some(Gives::Message(blocks, reason)) => {
            begin(&mut stream)?;
            let events = message(&blocks, reason);
            events.iter().try_for_each(|event| send(&mut stream, event))?;
            stream.write_all(b"0\r\n\r\n")
        }
        Some(Gives::StreamError(kind)) => {
            begin(&mut stream)?;
            send(&mut stream, &message(&[text("half")], "end_turn")[0])?;
            let error = json!({"type": kind, "message": "so it is"});
            send(&mut stream, &json!({"type": "error", "error": error}))
        }
        Some(Gives::Half(words)) => {
            begin(&mut stream)?;
            let events = message(&[text(words)], "end_turn");
            events[..3].iter().try_for_each(|event| send(&mut stream, event))
        }
        Some(Gives::Endless) => {
            begin(&mut stream)?;
            while send(&mut stream, &json!({"type": "ping"})).is_ok() {
                std::thread::park_timeout(Duration::from_millis(5));
            }
            shared.0.lock().expect("no panic").gone += 1;
            shared.1.notify_all();
            Ok(())
        }
    }
}

/// The head of a request, and its body; null if that is no JSON.
pub fn read_request(stream: &TcpStream) -> Result<(String, Value), Error> {
    let (head, body) = read_bytes(stream)?;
    Ok((head, serde_json::from_slice(&body).unwrap_or_default()))
}

/// The head of a request, and the bytes of its body.
pub fn read_bytes(stream: &TcpStream) -> Result<(String, Vec<u8>), Error> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}

fn refuse(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, &str)],
    what: &str,
) -> Result<(), Error> {
    let body = json!({"type": "error", "error": {"type": "x", "message": what}}).to_string();
    let lines: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{lines}\r\n{body}");
    stream.write_all(head.as_bytes())
}

fn begin(stream: &mut TcpStream) -> Result<(), Error> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

/// One event, in two pieces that are cut anywhere.
fn send(stream: &mut TcpStream, data: &Value) -> Result<(), Error> {
    let kind = data["type"].as_str().unwrap_or_default();
    let frame = format!("event: {kind}\ndata: {data}\n\n");
    let (one, other) = frame.as_bytes().split_at(frame.len() / 2);
    for piece in [one, other] {
        write!(stream, "{:x}\r\n", piece.len())?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
        stream.flush()?;
    }
    Ok(())
}

/// The events of a message, its texts and inputs in two pieces each.
fn message(blocks: &[Value], reason: &str) -> Vec<Value> {
    let usage = json!({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 3});
    let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
    for (index, block) in blocks.iter().enumerate() {
        let (mut empty, field, kind, all) = match block["type"].as_str() {
            Some("text") => {
                (text(""), "text", "text_delta", block["text"].as_str().unwrap_or("").to_string())
            }
            // A text stands for an input that is cut in the middle.
            _ => {
                let input = &block["input"];
                let input = input.as_str().map_or_else(|| input.to_string(), str::to_string);
                (block.clone(), "partial_json", "input_json_delta", input)
            }
        };
        if empty["type"] == "tool_use" {
            empty["input"] = json!({});
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        let middle = all.char_indices().nth(all.chars().count() / 2).map_or(0, |(at, _)| at);
        for piece in [&all[..middle], &all[middle..]] {
            let delta = json!({"type": kind, field: piece});
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let usage = json!({"output_tokens": 7});
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events
}
