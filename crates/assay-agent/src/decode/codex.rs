//! `codex exec --json`.

use super::{Decode, brief, message, optional, text};
use crate::event::{AgentEvent, RateLimit, Usage, call_id};
use serde_json::Value;

/// Names that an error has when the service has had enough, and the fields it may have them in.
const LATER: [&str; 8] = [
    "usagelimitexceeded",
    "usagelimitreached",
    "ratelimitexceeded",
    "ratelimiterror",
    "ratelimit",
    "serveroverloaded",
    "overloadederror",
    "toomanyrequests",
];
const NAME: [&str; 4] = ["codex_error_info", "codexErrorInfo", "code", "type"];
const STATUS: [&str; 4] = ["http_status_code", "httpStatusCode", "status", "code"];
const LATER_STATUS: [u64; 2] = [429, 529];
/// A failed turn usually has a message and no such field. Then it has to begin as this program
/// begins what it says about limits: a text is about anything, also about a test of code 429.
const BEGINNINGS: [&str; 5] = [
    "you've hit your usage limit",
    "exceeded retry limit, last status: 429",
    "rate limit reached for",
    "stream disconnected before completion: rate limit reached",
    "unexpected status 429",
];

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
                let limit = is_limit(&value["error"], &message).then(RateLimit::default);
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
                let ok = item["exit_code"].as_i64() == Some(0);
                Some(AgentEvent::ToolResult { id: id(item), ok, call: None })
            }
            "file_change" => {
                let detail = brief(&item["changes"]);
                Some(AgentEvent::ToolUse {
                    id: id(item),
                    name: "file_change".to_string(),
                    detail,
                    call: None,
                })
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
    Some(AgentEvent::ToolUse { id: id(item), name: name.to_string(), detail, call: None })
}

fn id(item: &Value) -> Option<String> {
    call_id(item["id"].as_str().unwrap_or_default())
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

fn is_limit(error: &Value, message: &str) -> bool {
    let mut fields = NAME.iter().chain(&STATUS).map(|key| &error[*key]).filter(|v| !v.is_null());
    match fields.clone().next() {
        Some(_) => fields.any(says_later),
        None => {
            let message = message.trim_start().to_lowercase();
            BEGINNINGS.iter().any(|beginning| message.starts_with(beginning))
        }
    }
}

/// `"usageLimitExceeded"`, `429`, or one of them inside.
fn says_later(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_u64().is_some_and(|n| LATER_STATUS.contains(&n)),
        Value::String(name) => {
            let name: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
            LATER.contains(&name.to_lowercase().as_str())
        }
        Value::Object(inside) => inside.iter().any(|(name, value)| {
            says_later(&Value::String(name.clone()))
                || STATUS.iter().any(|key| says_later(&value[*key]))
                || STATUS.contains(&name.as_str()) && says_later(value)
        }),
        _ => false,
    }
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
            r#"{"type":"item.completed",
               "item":{"type":"command_execution","id":"i1","exit_code":0}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"done"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":4,
               "output_tokens":2}}"#,
        ];
        let events: Vec<AgentEvent> = lines.iter().flat_map(|line| codex.line(line)).collect();
        let expected = vec![
            AgentEvent::Started { session: Some("t1".into()), model: None },
            AgentEvent::ToolUse {
                id: None,
                name: "command_execution".into(),
                detail: "ls".into(),
                call: None,
            },
            AgentEvent::ToolResult { id: Some("i1".into()), ok: true, call: None },
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
            ("the test http_429_is_overloaded fails", false),
            ("no way to keep the rate limit of 3", false),
        ] {
            let line = format!(r#"{{"type":"turn.failed","error":{{"message":"{said}"}}}}"#);
            let events = Codex::default().line(&line);
            let is_limit = matches!(&events[0], AgentEvent::Failed { limit: Some(_), .. });
            assert_eq!(is_limit, expected, "{said}");
            assert!(matches!(events[1], AgentEvent::Finished { ok: false, .. }));
        }
        for (fields, expected) in [
            (r#""codex_error_info":"usage_limit_exceeded""#, true),
            (r#""codexErrorInfo":{"responseTooManyFailedAttempts":{"httpStatusCode":429}}"#, true),
            (r#""status":529"#, true),
            (r#""codexErrorInfo":"badRequest","message":"you've hit your usage limit""#, false),
            (r#""status":400"#, false),
        ] {
            let line = format!(r#"{{"type":"turn.failed","error":{{{fields}}}}}"#);
            let events = Codex::default().line(&line);
            let is_limit = matches!(&events[0], AgentEvent::Failed { limit: Some(_), .. });
            assert_eq!(is_limit, expected, "{fields}");
        }
        let prose = r#"{"type":"item.completed","item":{"type":"agent_message","text":"429"}}"#;
        assert_eq!(Codex::default().line(prose), [AgentEvent::text("429")]);
    }
}
