//! Lines of output, understood.
//!
//! Only structured lines mean something. What is not in the form an engine promises is noise:
//! shown, kept, and never interpreted. Fields that are not known are no mistake, because these
//! languages grow.

mod claude;
mod codex;
mod scripted;

pub(crate) use claude::Claude;
pub(crate) use codex::Codex;
pub(crate) use scripted::{Scripted, Spoken};

use crate::event::{AgentEvent, shortened};
use serde_json::Value;

/// Understands one line after the other.
pub(crate) trait Decode {
    /// What a line means; often nothing.
    fn line(&mut self, line: &str) -> Vec<AgentEvent>;
}

/// Any command: every line is something it says.
#[derive(Debug)]
pub(crate) struct Plain;

impl Decode for Plain {
    fn line(&mut self, line: &str) -> Vec<AgentEvent> {
        vec![AgentEvent::text(line)]
    }
}

/// An object with a `type`, or noise.
fn message(line: &str) -> Result<(String, Value), AgentEvent> {
    let value: Option<Value> = serde_json::from_str(line).ok();
    let kind = value.as_ref().and_then(|value| value["type"].as_str()).map(str::to_string);
    match (value, kind) {
        (Some(value), Some(kind)) => Ok((kind, value)),
        _ => Err(AgentEvent::noise(line)),
    }
}

fn text(value: &Value) -> String {
    shortened(value.as_str().unwrap_or_default())
}

fn optional(value: &Value) -> Option<String> {
    value.as_str().map(shortened)
}

/// Something structured in one short line.
fn brief(value: &Value) -> String {
    const BRIEF_CHARS_MAX: usize = 200;
    let whole = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    whole.chars().take(BRIEF_CHARS_MAX).collect()
}
