//! `claude -p --output-format stream-json --verbose`.

use super::{Decode, brief, message, optional, text};
use crate::event::{AgentEvent, RateLimit, Usage, call_id};
use serde_json::Value;

/// Numbers above this are milliseconds: as seconds they would be 5000 years away.
const SECONDS_MAX: u64 = 100_000_000_000;
/// Too many requests, and overloaded.
const LATER: [u64; 2] = [429, 529];

/// Adds up what messages cost, until the result says it in all.
#[derive(Default, Debug)]
pub(crate) struct Claude {
    /// The message whose cost is in `last`: one message comes in several lines.
    message: Option<String>,
    before: Usage,
    last: Usage,
    /// What the service said about its limit.
    limit: Option<RateLimit>,
}

impl Decode for Claude {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        let (kind, value) = match message(line) {
            Ok(message) => message,
            Err(noise) => return vec![noise],
        };
        match (kind.as_str(), value["subtype"].as_str()) {
            ("system", Some("init")) => vec![AgentEvent::Started {
                session: optional(&value["session_id"]),
                model: optional(&value["model"]),
            }],
            ("assistant", _) => self.assistant(&value),
            ("user", _) => tool_results(&value),
            ("rate_limit_event", _) => self.limit_event(&value["rate_limit_info"]),
            ("result", _) => self.result(&value),
            _ => Vec::new(),
        }
    }
}

impl Claude {
    fn assistant(&mut self, value: &Value) -> Vec<AgentEvent> {
        let message = &value["message"];
        let mut events: Vec<AgentEvent> =
            message["content"].as_array().into_iter().flatten().filter_map(block).collect();
        if let Some(usage) = usage(&message["usage"]) {
            let id = message["id"].as_str().map(str::to_string);
            if id.is_none() || id != self.message {
                self.before = sum(self.before, self.last);
                self.message = id;
            }
            self.last = usage;
            events.push(AgentEvent::Usage(sum(self.before, self.last)));
        }
        if matches!(value["error"].as_str(), Some("rate_limit" | "overloaded")) {
            self.limit.get_or_insert_default();
        }
        events
    }

    fn limit_event(&mut self, info: &Value) -> Vec<AgentEvent> {
        if info["status"].as_str() != Some("rejected") {
            return Vec::new();
        }
        let at = info["resetsAt"].as_u64();
        let resets_at_unix = at.map(|at| if at > SECONDS_MAX { at / 1000 } else { at });
        self.limit = Some(RateLimit { retry_after_millis: None, resets_at_unix });
        Vec::new()
    }

    fn result(&mut self, value: &Value) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if let Some(usage) = usage(&value["usage"]) {
            let cost_usd = value["total_cost_usd"].as_f64();
            events.push(AgentEvent::Usage(Usage { cost_usd, ..usage }));
        }
        let ok = value["is_error"].as_bool() == Some(false);
        let status = value["api_error_status"].as_u64();
        let later = status.is_some_and(|status| LATER.contains(&status));
        if !ok && (later || self.limit.is_some()) {
            let limit = Some(self.limit.unwrap_or_default());
            events.push(AgentEvent::Failed { message: text(&value["result"]), limit });
        }
        events.push(AgentEvent::Finished { ok, message: text(&value["result"]) });
        events
    }
}

fn block(block: &Value) -> Option<AgentEvent> {
    match block["type"].as_str()? {
        "text" => Some(AgentEvent::Text { text: text(&block["text"]) }),
        "thinking" => Some(AgentEvent::Thought { text: text(&block["thinking"]) }),
        "tool_use" => {
            let (id, name) = (id(&block["id"]), text(&block["name"]));
            Some(AgentEvent::ToolUse { id, name, detail: brief(&block["input"]), call: None })
        }
        _ => None,
    }
}

fn tool_results(value: &Value) -> Vec<AgentEvent> {
    let blocks = value["message"]["content"].as_array().into_iter().flatten();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results
        .map(|block| {
            let ok = block["is_error"].as_bool() != Some(true);
            AgentEvent::ToolResult { id: id(&block["tool_use_id"]), ok, call: None }
        })
        .collect()
}

fn id(value: &Value) -> Option<String> {
    call_id(value.as_str().unwrap_or_default())
}

fn usage(value: &Value) -> Option<Usage> {
    let number = |name: &str| value[name].as_u64().unwrap_or(0);
    let cached = number("cache_read_input_tokens");
    value.is_object().then(|| Usage {
        input_tokens: number("input_tokens") + number("cache_creation_input_tokens") + cached,
        cached_input_tokens: cached,
        output_tokens: number("output_tokens"),
        cost_usd: None,
    })
}

fn sum(a: Usage, b: Usage) -> Usage {
    Usage {
        input_tokens: a.input_tokens + b.input_tokens,
        cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
        output_tokens: a.output_tokens + b.output_tokens,
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> Vec<AgentEvent> {
        let mut claude = Claude::default();
        lines.iter().flat_map(|line| claude.line(line)).collect()
    }

    #[test]
    fn a_conversation_is_understood() {
        let events = heard(&[
            r#"{"type":"system","subtype":"init","session_id":"s1","model":"sonnet","tools":[]}"#,
            r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"hi"}],
               "usage":{"input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}}}"#,
            r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use",
               "id":"t1","name":"Bash","input":{"command":"ls"}}],
               "usage":{"input_tokens":3,"cache_read_input_tokens":5,"output_tokens":7}}}"#,
            r#"{"type":"user","message":{"content":[{"type":"tool_result",
               "tool_use_id":"t1","is_error":true}]}}"#,
            r#"{"type":"something_new","field":1}"#,
            "Warning: not JSON",
            r#"{"type":"result","subtype":"success","is_error":false,"result":"done",
               "total_cost_usd":0.25,"usage":{"input_tokens":4,"output_tokens":9}}"#,
        ]);
        let usage = |input_tokens, cached_input_tokens, output_tokens, cost_usd| {
            AgentEvent::Usage(Usage { input_tokens, cached_input_tokens, output_tokens, cost_usd })
        };
        let expected = vec![
            AgentEvent::Started { session: Some("s1".into()), model: Some("sonnet".into()) },
            AgentEvent::text("hi"),
            usage(8, 5, 1, None),
            AgentEvent::ToolUse {
                id: Some("t1".into()),
                name: "Bash".into(),
                detail: r#"{"command":"ls"}"#.into(),
                call: None,
            },
            usage(8, 5, 7, None),
            AgentEvent::ToolResult { id: Some("t1".into()), ok: false, call: None },
            AgentEvent::noise("Warning: not JSON"),
            usage(4, 0, 9, Some(0.25)),
            AgentEvent::Finished { ok: true, message: "done".into() },
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn only_a_failure_after_a_rejection_is_a_rate_limit() {
        let rejected = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected",
                           "resetsAt":1700000000000}}"#;
        let warned =
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning"}}"#;
        let prose = r#"{"type":"assistant","message":{"content":[{"type":"text",
                        "text":"429 rate limit"}]}}"#;
        let marked = r#"{"type":"assistant","error":"rate_limit","message":{"content":[]}}"#;
        let failed = r#"{"type":"result","is_error":true,"result":"no"}"#;
        let status = r#"{"type":"result","is_error":true,"result":"no","api_error_status":429}"#;
        let good = r#"{"type":"result","is_error":false,"result":"yes"}"#;
        let at = RateLimit { resets_at_unix: Some(1_700_000_000), ..RateLimit::default() };
        let cases: [(&[&str], Option<RateLimit>); 7] = [
            (&[rejected, failed], Some(at)),
            (&[marked, failed], Some(RateLimit::default())),
            (&[status], Some(RateLimit::default())),
            (&[warned, failed], None),
            (&[prose, failed], None),
            (&[rejected, good], None),
            (&[failed], None),
        ];
        for (lines, expected) in cases {
            let limit = heard(lines).into_iter().find_map(|event| match event {
                AgentEvent::Failed { limit, .. } => limit,
                _ => None,
            });
            assert_eq!(limit, expected, "{lines:?}");
        }
    }
}
