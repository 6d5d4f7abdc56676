//! What people do with sessions.

use super::browser::play;
use super::server::{Server, here};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

fn scripted() -> Server {
    Server::start(&["--script".into(), here("script.toml").into_os_string()])
}

#[test]
fn a_session_is_begun_watched_answered_interrupted_and_ended() {
    play("work", &mut scripted(), Value::Null);
}

#[test]
fn a_killed_server_leaves_a_gap_that_is_seen_and_closes_without_doubles() {
    play("gap", &mut scripted(), Value::Null);
}

#[test]
fn what_people_and_agents_write_is_text_and_never_markup() {
    play("markup", &mut scripted(), Value::Null);
}

#[test]
fn everything_can_be_done_with_the_keyboard_alone() {
    play("keyboard", &mut scripted(), Value::Null);
}

#[test]
fn light_and_dark_can_be_read_and_small_screens_too() {
    play("looks", &mut scripted(), Value::Null);
}

#[test]
fn agents_and_environments_are_made_changed_and_put_away() {
    play("things", &mut scripted(), Value::Null);
}

/// By chance, from a seed that is printed: `ASSAY_SEED=7` repeats it.
#[test]
fn diffs_streams_waits_and_markdown_hold_on_whatever_comes() {
    let seed = std::env::var("ASSAY_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(std::process::id);
    play("parts", &mut scripted(), json!({"seed": seed}));
}

/// Ten thousand events and more: so many turns of so many messages, of three events each.
#[test]
fn a_long_session_opens_at_its_end_and_gives_older_events_when_asked() {
    const TURNS: usize = 12;
    const MESSAGES: usize = 280;
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("long.toml");
    let steps = r#"{ say = "One of many." },"#.repeat(MESSAGES);
    std::fs::write(&script, format!("[[turn]]\nsteps = [{steps}]\n")).expect("ours");
    let mut server = Server::start(&[OsString::from("--script"), script.into_os_string()]);
    play("long", &mut server, json!({"turns": TURNS, "events_min": TURNS * MESSAGES * 3}));
}

/// A model that always says the same, for 1,000 tokens read and 500 written.
fn endpoint() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes is none of its business.
            let _gone = say_hello(stream);
        }
    });
    address
}

fn say_hello(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let text = |text: &str| json!({"type": "text", "text": text});
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 1000,
            "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": text("")}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": "Worth every cent."}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 500}}),
        json!({"type": "message_stop"}),
    ];
    let frame = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    let body: String = events.iter().map(frame).collect();
    let (kind, length) = ("content-type: text/event-stream", body.len());
    write!(stream, "HTTP/1.1 200 OK\r\n{kind}\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[test]
fn a_session_shows_what_it_costs_where_there_are_prices() {
    let directory = tempfile::tempdir().expect("a directory");
    let engines = directory.path().join("engines.toml");
    let model = |name: &str, prices: &str| {
        let address = endpoint();
        format!("[models.{name}]\nbase_url = \"http://{address}\"\nmodel = \"x\"\n{prices}\n")
    };
    // 1,000 for 300 and 500 for 2,000 a million: 1.30 each time.
    let prices = "prices = { input = 300, output = 2000, cache_read = 0, cache_write = 0 }";
    let text = model("priced", prices) + &model("unpriced", "");
    std::fs::write(&engines, text).expect("ours");
    let mut server = Server::start(&[OsString::from("--engines"), engines.into_os_string()]);
    play("cost", &mut server, Value::Null);
}
