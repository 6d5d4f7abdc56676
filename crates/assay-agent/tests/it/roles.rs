//! What this program is besides a test: keeper, player, and programs that speak like known agents.

use crate::support::{PATIENCE, helper};
use assay_agent::{Agent, AgentConfig, Engine, Limits, ProcessAgent, Task};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;

/// The code of a role that was given on the command line; `None` if this is the test.
pub fn play(args: &[String]) -> Option<u8> {
    let words: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    Some(match words[..] {
        ["agent", "keep", log] => match assay_agent::keep(log.as_ref()) {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error}");
                69
            }
        },
        ["agent", "scripted", script] => match assay_agent::play(script.as_ref()) {
            Ok(code) => std::process::exit(code),
            Err(error) => {
                eprintln!("{error}");
                65
            }
        },
        ["role-leader", root, line] => lead(root.as_ref(), line),
        ["role-acp", manner] => crate::acp_agent::be(manner),
        ["-p", "--output-format", "stream-json", "--verbose", "--model", manner] => claude(manner),
        ["exec", "--json", "--model", manner, "-"] => codex(manner),
        _ => return None,
    })
}

fn lead(root: &Path, line: &str) -> u8 {
    let limits = Limits { wall: PATIENCE * 10, idle: PATIENCE * 10, output_bytes: 1 << 20 };
    let task = Task::new("", &root.join("work"), &root.join("drop"), &root.join("log"));
    let command = ["sh", "-c", line].map(str::to_string).to_vec();
    let config = AgentConfig::of(Engine::Command { command });
    ProcessAgent::new(config, helper()).run(&task.limits(limits), &mut |_| {});
    0
}

fn prompt() -> String {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).expect("a prompt");
    prompt
}

/// Prints a message as a line.
fn say(message: Value) {
    println!("{message}");
}

/// Lines as `claude` writes them.
fn claude(manner: &str) -> u8 {
    let prompt = prompt();
    say(json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": manner}));
    let limited = match manner {
        "limited" => true,
        // The first time only.
        "limited-once" => std::fs::File::create_new("been-here").is_ok(),
        _ => false,
    };
    if limited {
        let info = json!({"status": "rejected", "resetsAt": 1});
        say(json!({"type": "rate_limit_event", "rate_limit_info": info}));
        let words = "You have hit your limit";
        say(json!({
            "type": "result", "subtype": "success", "is_error": true, "result": words,
            "total_cost_usd": 0.25, "usage": {"input_tokens": 5, "output_tokens": 2},
        }));
        return 1;
    }
    let content = json!([{"type": "text", "text": prompt}]);
    say(json!({"type": "assistant", "message": {"id": "m", "content": content}}));
    say(json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "done",
        "total_cost_usd": 0.5, "usage": {"input_tokens": 7, "output_tokens": 3},
    }));
    0
}

/// Lines as `codex` writes them.
fn codex(manner: &str) -> u8 {
    let prompt = prompt();
    say(json!({"type": "thread.started", "thread_id": "t-1"}));
    say(json!({"type": "turn.started"}));
    if manner == "limited" {
        let message = "exceeded retry limit, last status: 429 Too Many Requests";
        say(json!({"type": "error", "message": message}));
        say(json!({"type": "turn.failed", "error": {"message": message}}));
        return 1;
    }
    let item = json!({"id": "item_0", "type": "agent_message", "text": prompt});
    say(json!({"type": "item.completed", "item": item}));
    let usage = json!({"input_tokens": 9, "cached_input_tokens": 1, "output_tokens": 4});
    say(json!({"type": "turn.completed", "usage": usage}));
    0
}
