//! `codex exec --json`.

use super::{Decode, brief, message, optional, text};
use crate::event::{AgentEvent, RateLimit, Usage};
use serde_json::Value;

/// What the message of a failed turn says when the service has had enough. The failure itself is
/// structured; there is no code in it, so its text has to do.
const LATER: [&str; 5] = ["429", "rate limit", "usage limit", "too many requests", "overloaded"];

/// Understands events of a thread.
#[derive(Default, Debug)]
pub(crate) struct Codex {
    last_words: String,
}

impl Decode for Codex {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let (kind, value) = match message(line) {
            Ok(message) => message,
            Err(noise) => return vec![noise],
        };
        match kind.as_str() {
            "thread.started" => {
                let session = optional(&value["thread_id"]);
                vec![AgentEvent::Started { session, model: None }]
            }
            "item.started" => started(&value["item"]).into_iter().collect(),
            "item.completed" => self.completed(&value["item"]).into_iter().collect(),
            "turn.completed" => {
                let mut events: Vec<AgentEvent> = usage(&value["usage"]).into_iter().collect();
                let message = std::mem::take(&mut self.last_words);
                events.push(AgentEvent::Finished { ok: true, message });
                events
            }
            "turn.failed" => {
                let message = text(&value["error"]["message"]);
                let limit = is_limit(&message).then(RateLimit::default);
                vec![
                    AgentEvent::Failed { message: message.clone(), limit },
                    AgentEvent::Finished { ok: false, message },
                ]
            }
            "error" => vec![AgentEvent::Failed { message: text(&value["message"]), limit: None }],
            _ => Vec::new(),
        }
    }
}

impl Codex {
    fn completed(&mut self, item: &Value) -> Option<AgentEvent> {
        match item["type"].as_str()? {
            "agent_message" => {
                self.last_words = text(&item["text"]);
                Some(AgentEvent::Text { text: self.last_words.clone() })
            }
            "reasoning" => Some(AgentEvent::Thought { text: text(&item["text"]) }),
            "command_execution" => {
                Some(AgentEvent::ToolResult { ok: item["exit_code"].as_i64() == Some(0) })
            }
            "file_change" => {
                let detail = brief(&item["changes"]);
                Some(AgentEvent::ToolUse { name: "file_change".to_string(), detail })
            }
            "error" => Some(AgentEvent::Failed { message: text(&item["message"]), limit: None }),
            _ => None,
        }
    }
}

fn started(item: &Value) -> Option<AgentEvent> {
    let (name, detail) = match item["type"].as_str()? {
        "command_execution" => ("command_execution", brief(&item["command"])),
        "mcp_tool_call" => ("mcp_tool_call", brief(&item["tool"])),
        "web_search" => ("web_search", brief(&item["query"])),
        _ => return None,
    };
    Some(AgentEvent::ToolUse { name: name.to_string(), detail })
}

fn usage(value: &Value) -> Option<AgentEvent> {
    let number = |name: &str| value[name].as_u64().unwrap_or(0);
    value.is_object().then(|| {
        AgentEvent::Usage(Usage {
            input_tokens: number("input_tokens"),
            cached_input_tokens: number("cached_input_tokens"),
            output_tokens: number("output_tokens"),
            cost_usd: None,
        })
    })
}

fn is_limit(message: &str) -> bool {
    let message = message.to_lowercase();
    LATER.iter().any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_understood() {
        let mut codex = Codex::default();
        let lines = [
            r#"{"type":"thread.started","thread_id":"t1"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#,
            r#"{"type":"item.completed","item":{"type":"command_execution","exit_code":0}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"done"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,
               "output_tokens":2}}"#,
        ];
        let events: Vec<AgentEvent> = lines.iter().flat_map(|line| codex.line(line)).collect();
        let expected = vec![
            AgentEvent::Started { session: Some("t1".into()), model: None },
            AgentEvent::ToolUse { name: "command_execution".into(), detail: "ls".into() },
            AgentEvent::ToolResult { ok: true },
            AgentEvent::text("done"),
            AgentEvent::Usage(Usage {
                input_tokens: 9,
                cached_input_tokens: 4,
                output_tokens: 2,
                cost_usd: None,
            }),
            AgentEvent::Finished { ok: true, message: "done".into() },
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn a_turn_that_failed_says_whether_to_come_back() {
        for (said, expected) in [
            ("You've hit your usage limit. Try again in 3 days", true),
            ("exceeded retry limit, last status: 429 Too Many Requests", true),
            ("the sandbox denied it", false),
        ] {
            let line = format!(r#"{{"type":"turn.failed","error":{{"message":"{said}"}}}}"#);
            let events = Codex::default().line(&line);
            let is_limit = matches!(&events[0], AgentEvent::Failed { limit: Some(_), .. });
            assert_eq!(is_limit, expected, "{said}");
            assert!(matches!(events[1], AgentEvent::Finished { ok: false, .. }));
        }
        let prose = r#"{"type":"item.completed","item":{"type":"agent_message","text":"429"}}"#;
        assert_eq!(Codex::default().line(prose), [AgentEvent::text("429")]);
    }
}
