//! What the events of a session mean: pure, one after the other.

use crate::event::{AgentEvent, RateLimit, Usage, beginning, shortened};
use crate::outcome::Outcome;
use serde_json::Value;

/// The longest input of a call that is shown, in bytes.
const DETAIL_BYTES_MAX: usize = 1 << 10;

/// How a session stands.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) enum Stand {
    /// Somebody is at work.
    #[default]
    Working,
    /// It waits for a person.
    Waiting,
    /// It rests, and nothing of it runs.
    Over,
}

/// What is known of a session by its events.
#[derive(Default, Debug)]
pub(super) struct Watch {
    pub stand: Stand,
    pub usage: Option<Usage>,
    /// Why its turn failed, and whether that was for asking too often.
    failure: Option<(String, bool)>,
    /// Calls that somebody has to allow or to answer, by their ids.
    asked: Vec<(String, String)>,
    questions: u64,
}

impl Watch {
    /// Takes an event, and says what it means for people.
    pub(super) fn hear(&mut self, kind: &str, event: &Value) -> Vec<AgentEvent> {
        match kind {
            "agent.message" => vec![AgentEvent::text(&words(&event["content"]))],
            "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" => {
                self.uses(kind, event)
            }
            "agent.tool_result" | "agent.mcp_tool_result" => {
                let ok = event["is_error"] != true;
                vec![AgentEvent::ToolResult { id: None, ok, call: None }]
            }
            "session.status_running" | "session.status_rescheduled" => {
                self.stand = Stand::Working;
                Vec::new()
            }
            "session.status_idle" => self.rests(&event["stop_reason"]),
            "session.status_terminated" | "session.deleted" => {
                if self.stand != Stand::Over {
                    self.failure.get_or_insert(("somebody ended its session".to_string(), false));
                }
                self.stand = Stand::Over;
                Vec::new()
            }
            "session.error" => self.fails(&event["error"]),
            "span.model_request_end" => {
                let now = usage(&event["model_usage"]);
                self.usage = Some(self.usage.map_or(now, |before| before.and(now)));
                self.usage.map(AgentEvent::Usage).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// How its turn ended, once it is over.
    pub(super) fn outcome(&self) -> Outcome {
        match &self.failure {
            None => Outcome::Exited { code: 0 },
            Some((_, true)) => Outcome::RateLimited { limit: RateLimit::default() },
            Some((why, false)) => Outcome::Failed { why: why.clone() },
        }
    }

    fn uses(&mut self, kind: &str, event: &Value) -> Vec<AgentEvent> {
        let name = event["name"].as_str().unwrap_or("a tool").to_string();
        if kind == "agent.custom_tool_use" || event["evaluated_permission"] == "ask" {
            let id = event["id"].as_str().unwrap_or_default();
            self.asked.push((id.to_string(), name.clone()));
        }
        let detail = beginning(&event["input"].to_string(), DETAIL_BYTES_MAX).to_string();
        vec![AgentEvent::ToolUse { id: None, name, detail, call: None }]
    }

    fn rests(&mut self, reason: &Value) -> Vec<AgentEvent> {
        if reason["type"] != "requires_action" {
            if reason["type"] == "retries_exhausted" {
                self.failure.get_or_insert(("it was tried often enough".to_string(), false));
            }
            self.stand = Stand::Over;
            return Vec::new();
        }
        self.stand = Stand::Waiting;
        let ids = reason["event_ids"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut said = Vec::new();
        for id in ids {
            let known = self.asked.iter().find(|(asked, _)| asked == id);
            self.questions += 1;
            said.push(AgentEvent::LeaveAsked {
                question: self.questions,
                id: Some(id.to_string()),
                name: known.map(|(_, name)| name.clone()),
                call: None,
            });
        }
        said
    }

    fn fails(&mut self, error: &Value) -> Vec<AgentEvent> {
        let kind = error["type"].as_str().unwrap_or_default();
        let message = shortened(error["message"].as_str().unwrap_or("no message"));
        // Its turn goes on without that server, or is tried again.
        let goes_on = kind.starts_with("mcp_") || error["retry_status"]["type"] == "retrying";
        if !goes_on {
            self.failure = Some((message.clone(), kind == "model_rate_limited_error"));
        }
        vec![AgentEvent::Failed { message, limit: None }]
    }
}

fn words(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn usage(told: &Value) -> Usage {
    let number = |name: &str| told[name].as_u64().unwrap_or(0);
    let cached = number("cache_read_input_tokens");
    let written = number("cache_creation_input_tokens");
    Usage {
        input_tokens: number("input_tokens").saturating_add(cached).saturating_add(written),
        cached_input_tokens: cached,
        output_tokens: number("output_tokens"),
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn after(events: &[(&str, Value)]) -> (Stand, Outcome) {
        let mut watch = Watch::default();
        for (kind, event) in events {
            watch.hear(kind, event);
        }
        (watch.stand, watch.outcome())
    }

    #[test]
    fn a_turn_is_well_only_if_it_ended_without_an_error() {
        let running = ("session.status_running", json!({}));
        let idle = |why: &str| ("session.status_idle", json!({"stop_reason": {"type": why}}));
        let error = |kind: &str, retry: &str| {
            let error = json!({"type": kind, "message": "m", "retry_status": {"type": retry}});
            ("session.error", json!({"error": error}))
        };
        let well = Outcome::Exited { code: 0 };
        let failed = |why: &str| Outcome::Failed { why: why.to_string() };
        let limited = Outcome::RateLimited { limit: RateLimit::default() };
        let ended = ("session.status_terminated", json!({}));
        let cases = [
            (vec![], Stand::Working, well.clone()),
            (vec![running.clone(), idle("end_turn")], Stand::Over, well.clone()),
            (vec![idle("requires_action")], Stand::Waiting, well.clone()),
            (vec![idle("requires_action"), running], Stand::Working, well.clone()),
            (vec![error("unknown_error", "terminal"), idle("end_turn")], Stand::Over, failed("m")),
            (vec![error("x", "retrying"), idle("end_turn")], Stand::Over, well.clone()),
            (
                vec![error("mcp_connection_failed_error", "terminal"), idle("end_turn")],
                Stand::Over,
                well.clone(),
            ),
            (
                vec![error("model_rate_limited_error", "exhausted"), idle("retries_exhausted")],
                Stand::Over,
                limited,
            ),
            (vec![idle("retries_exhausted")], Stand::Over, failed("it was tried often enough")),
            (vec![ended.clone()], Stand::Over, failed("somebody ended its session")),
            (vec![idle("end_turn"), ended], Stand::Over, well),
        ];
        for (events, stand, outcome) in cases {
            assert_eq!(after(&events), (stand, outcome), "{events:?}");
        }
    }

    #[test]
    fn a_wait_names_the_calls_and_requests_add_up() {
        let mut watch = Watch::default();
        let call = json!({"id": "e1", "name": "bash", "input": {"command": "ls"},
            "evaluated_permission": "ask"});
        let said = watch.hear("agent.tool_use", &call);
        assert!(matches!(&said[0], AgentEvent::ToolUse { detail, .. } if detail.contains("ls")));
        let waits = json!({"stop_reason": {"type": "requires_action", "event_ids": ["e1"]}});
        let said = watch.hear("session.status_idle", &waits);
        let named = |event: &AgentEvent| match event {
            AgentEvent::LeaveAsked { name, .. } => name.clone(),
            _ => None,
        };
        assert_eq!(named(&said[0]).as_deref(), Some("bash"));
        let end = json!({"model_usage": {"input_tokens": 1, "output_tokens": 2,
            "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4}});
        for _ in 0..2 {
            watch.hear("span.model_request_end", &end);
        }
        let usage = watch.usage.expect("it was told");
        assert_eq!(
            (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens),
            (16, 6, 4)
        );
    }
}
