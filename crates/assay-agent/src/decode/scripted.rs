//! What a player of scripts says: one JSON object per line.

use super::Decode;
use crate::event::{AgentEvent, RateLimit, Usage, shortened};
use serde::{Deserialize, Serialize};

/// A line of a player.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Spoken {
    Text { text: String },
    Action { name: String, detail: String },
    Failed { message: String },
    Usage { input_tokens: u64, output_tokens: u64 },
    RateLimited { retry_after_millis: Option<u64> },
}

/// Understands them.
#[derive(Debug)]
pub(crate) struct Scripted;

impl Decode for Scripted {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        vec![match serde_json::from_str(line) {
            Ok(Spoken::Text { text }) => AgentEvent::text(&text),
            Ok(Spoken::Action { name, detail }) => {
                AgentEvent::ToolUse { id: None, name, detail: shortened(&detail), call: None }
            }
            Ok(Spoken::Failed { message }) => {
                AgentEvent::Failed { message: shortened(&message), limit: None }
            }
            Ok(Spoken::Usage { input_tokens, output_tokens }) => {
                AgentEvent::Usage(Usage { input_tokens, output_tokens, ..Usage::default() })
            }
            Ok(Spoken::RateLimited { retry_after_millis }) => {
                let limit = Some(RateLimit { retry_after_millis, resets_at_unix: None });
                AgentEvent::Failed { message: "come back later".to_string(), limit }
            }
            Err(_) => AgentEvent::noise(line),
        }]
    }
}
