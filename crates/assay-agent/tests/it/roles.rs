//! What this program is besides a test: keeper, player, and programs that speak like known agents.

use crate::support::{PATIENCE, helper};
use assay_agent::{Agent, AgentConfig, Engine, Limits, ProcessAgent, Task};
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

/// Lines as `claude` writes them.
fn claude(manner: &str) -> u8 {
    let prompt = prompt();
    println!(r#"{{"type":"system","subtype":"init","session_id":"s-1","model":"{manner}"}}"#);
    let limited = match manner {
        "limited" => true,
        // The first time only.
        "limited-once" => std::fs::File::create_new("been-here").is_ok(),
        _ => false,
    };
    if limited {
        println!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":1}}}}"#
        );
        println!(r#"{{"type":"result","subtype":"success","is_error":true,"result":"limit"}}"#);
        return 1;
    }
    println!(
        r#"{{"type":"assistant","message":{{"id":"m","content":[{{"type":"text","text":"{prompt}"}}]}}}}"#
    );
    println!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.5,"usage":{{"input_tokens":7,"output_tokens":3}}}}"#
    );
    0
}

/// Lines as `codex` writes them.
fn codex(manner: &str) -> u8 {
    let prompt = prompt();
    println!(r#"{{"type":"thread.started","thread_id":"t-1"}}"#);
    println!(r#"{{"type":"turn.started"}}"#);
    if manner == "limited" {
        let message = "exceeded retry limit, last status: 429 Too Many Requests";
        println!(r#"{{"type":"error","message":"{message}"}}"#);
        println!(r#"{{"type":"turn.failed","error":{{"message":"{message}"}}}}"#);
        return 1;
    }
    println!(
        r#"{{"type":"item.completed","item":{{"id":"item_0","type":"agent_message","text":"{prompt}"}}}}"#
    );
    println!(
        r#"{{"type":"turn.completed","usage":{{"input_tokens":9,"cached_input_tokens":1,"output_tokens":4}}}}"#
    );
    0
}
