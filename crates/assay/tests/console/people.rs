//! What people do with sessions.

use super::browser::play;
use super::server::{Server, here};
use serde_json::{Value, json};
use std::ffi::OsString;

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
