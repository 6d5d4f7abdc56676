//! `assay agent run`: an agent of a configuration, once.

use super::run;
use std::path::Path;
use tempfile::TempDir;

/// A directory with a configuration, a script for it, and a prompt.
fn place(actions: &str) -> TempDir {
    let place = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: String| {
        std::fs::write(place.path().join(name), text).expect("ours");
    };
    let script = place.path().join("script.toml");
    write("agent.toml", format!("engine = 'scripted'\nscript = '{}'", script.display()));
    write("script.toml", format!("[[step]]\ndo = [{actions}]"));
    write("prompt.md", "Do it.".to_string());
    std::fs::create_dir(place.path().join("work")).expect("ours");
    place
}

fn agent(place: &Path, more: &[&str]) -> super::Run {
    let path = |name: &str| place.join(name).display().to_string();
    let (config, prompt) = (path("agent.toml"), path("prompt.md"));
    let (work, out) = (path("work"), path("out"));
    let args = ["agent", "run", &config, "--prompt", &prompt, "--work", &work, "--out", &out];
    run(&[&args[..], more].concat())
}

#[test]
fn an_agent_is_run_shown_and_summed_up() {
    let place = place(
        "{ action = 'say', text = 'as ${role}' }, \
         { action = 'drop', name = 'made', text = '${nonce}' }",
    );
    let run = agent(place.path(), &["--var", "role=worker", "--var", "nonce=7"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("says      as worker\n"), "{}", run.out);
    assert!(run.out.contains("scripted exited with 0\nsandbox: "), "{}", run.out);
    let made = std::fs::read_to_string(place.path().join("out/drop/made"));
    assert_eq!(made.expect("it was handed over"), "7");
}

#[test]
fn each_event_and_the_end_are_objects_of_json() {
    let place = place("{ action = 'say', text = 'hi' }, { action = 'exit', code = 3 }");
    let run = agent(place.path(), &["--format", "json"]);
    assert_eq!(run.code, 1);
    let lines: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(lines[0], serde_json::json!({"event": "text", "text": "hi"}));
    let end = lines.last().expect("an end");
    assert_eq!(end["result"], serde_json::json!({"outcome": "exited", "code": 3}));
    assert!(end["sandbox"]["protection"].is_string(), "{end}");
}

#[test]
fn an_agent_that_is_silent_is_ended() {
    let place = place("{ action = 'hang' }");
    let run = agent(place.path(), &["--idle", "300ms"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("scripted ended: silent for too long"), "{}", run.out);
}

#[test]
fn trouble_before_the_start_says_what_to_do() {
    let place = place("");
    let config = |text: &str| {
        std::fs::write(place.path().join("agent.toml"), text).expect("ours");
        agent(place.path(), &[])
    };
    for (text, code, expected) in [
        ("engine = 'command'", 65, "needs `command`"),
        ("engine = 'claude'\nspeed = 1", 65, "unknown field"),
        ("not toml", 65, "agent.toml"),
        ("engine = 'command'\ncommand = ['no-such-agent-anywhere']", 69, "install it"),
    ] {
        let run = config(text);
        assert_eq!(run.code, code, "{text}: {} {}", run.out, run.err);
        assert!(format!("{}{}", run.out, run.err).contains(expected), "{text}: {}", run.err);
    }
    assert_eq!(run(&["agent", "run", "none.toml", "--prompt", "none.md"]).code, 69);
    assert_eq!(agent(place.path(), &["--var", "no-value"]).code, 64);
}
