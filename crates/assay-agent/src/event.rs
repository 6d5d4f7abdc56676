//! What an agent does, while it does it.

use crate::call::CallFacts;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest text in an event, in bytes; the rest is in the log. What an agent says by the Agent
/// Client Protocol is whole, as long as a line may be.
pub const TEXT_BYTES_MAX: usize = 16 << 10;

/// The longest name of a call, in bytes; the rest of it is dropped.
const CALL_ID_BYTES_MAX: usize = 1 << 10;

/// Something an agent did or said. For screens and logs: nothing is decided by it, except that a
/// [rate limit](AgentEvent::Failed) makes a failure one that may be tried again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum AgentEvent {
    /// It is there.
    Started {
        /// What it calls this conversation.
        session: Option<String>,
        /// Which model answers.
        model: Option<String>,
    },
    /// It says something.
    Text {
        /// What.
        text: String,
    },
    /// It thinks aloud.
    Thought {
        /// What.
        text: String,
    },
    /// It uses a tool.
    ToolUse {
        /// What the agent calls this call, if it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Which.
        name: String,
        /// On what, in short.
        detail: String,
        /// What else it tells of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallFacts>>,
    },
    /// It tells more about a call.
    ToolUpdate {
        /// Which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What it is called now, if that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallFacts>>,
    },
    /// It asks whether it may, and waits: see [`Leave::Asked`](crate::Leave::Asked).
    LeaveAsked {
        /// The number of the question.
        question: u64,
        /// For which call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What the call is called, if it says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What it tells of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallFacts>>,
    },
    /// A tool has answered.
    ToolResult {
        /// Of which call, if the agent says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Whether it did what it should.
        ok: bool,
        /// What else it tells of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Box<CallFacts>>,
    },
    /// What the run has cost so far, in all.
    Usage(Usage),
    /// Something went wrong on its side.
    Failed {
        /// What it says.
        message: String,
        /// It was told to come back later.
        limit: Option<RateLimit>,
    },
    /// It says it has finished. That is a claim.
    Finished {
        /// Whether it thinks it went well.
        ok: bool,
        /// Its last words.
        message: String,
    },
    /// A line on its standard error.
    Stderr {
        /// The line.
        text: String,
    },
    /// A line on its standard output that is not in the form the engine promises.
    Noise {
        /// The line.
        text: String,
    },
    /// Its service asked to come back later: the next try is after this.
    Waiting {
        /// How long.
        millis: u64,
        /// The number of the try that follows, from 2.
        attempt: u32,
    },
}

impl AgentEvent {
    pub(crate) fn text(text: &str) -> AgentEvent {
        AgentEvent::Text { text: shortened(text) }
    }

    pub(crate) fn noise(text: &str) -> AgentEvent {
        AgentEvent::Noise { text: shortened(text) }
    }
}

/// What a run has cost.
#[derive(Clone, Copy, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens read, those from a cache included.
    pub input_tokens: u64,
    /// Of those, from a cache.
    pub cached_input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// In US dollars, if the agent says so.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// What two runs have cost together.
    pub fn and(self, other: Usage) -> Usage {
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
        let sum = u64::saturating_add;
        Usage {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_input_tokens: sum(self.cached_input_tokens, other.cached_input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cost_usd,
        }
    }
}

/// A service that has had enough for now.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// How long to stay away, if it said so.
    pub retry_after_millis: Option<u64>,
    /// When to come back, in seconds since 1970, if it said so.
    pub resets_at_unix: Option<u64>,
}

impl RateLimit {
    /// How long to stay away at a moment in seconds since 1970.
    pub fn wait(&self, now_unix: u64) -> Option<Duration> {
        let until = self.resets_at_unix.map(|at| Duration::from_secs(at.saturating_sub(now_unix)));
        self.retry_after_millis.map(Duration::from_millis).or(until)
    }
}

/// The beginning of a text, cut between characters.
pub(crate) fn shortened(text: &str) -> String {
    let kept = beginning(text, TEXT_BYTES_MAX);
    let more = if kept.len() < text.len() { "…" } else { "" };
    format!("{kept}{more}")
}

/// The name of a call.
pub(crate) fn call_id(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| beginning(text, CALL_ID_BYTES_MAX).to_string())
}

/// The beginning of a text, as long as it may be.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shortened("abc"), "abc");
        let long = format!("{}é", "x".repeat(TEXT_BYTES_MAX - 1));
        assert_eq!(shortened(&long), format!("{}…", "x".repeat(TEXT_BYTES_MAX - 1)));
    }

    #[test]
    fn a_limit_says_how_long_to_stay_away() {
        let limit =
            |retry_after_millis, resets_at_unix| RateLimit { retry_after_millis, resets_at_unix };
        assert_eq!(limit(None, None).wait(5), None);
        assert_eq!(limit(Some(1500), Some(99)).wait(5), Some(Duration::from_millis(1500)));
        assert_eq!(limit(None, Some(9)).wait(5), Some(Duration::from_secs(4)));
        assert_eq!(limit(None, Some(3)).wait(5), Some(Duration::ZERO));
    }
}
