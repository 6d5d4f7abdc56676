//! What an agent tells about a call of a tool: what goes in, what comes out, what it changes.

use crate::change::unified;
use crate::event::beginning;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, ToolCall, ToolCallContent, ToolCallLocation,
    ToolCallStatus, ToolCallUpdateFields, ToolKind,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is kept of the input of a call, of its content, and of its output, in bytes each.
pub const CALL_BYTES_MAX: usize = 100_000;
/// Pieces and places of a call that are kept.
const PIECES_MAX: usize = 100;
const PATH_BYTES_MAX: usize = 4096;
const REST: &str = "\n[the rest is left out]";

/// What is known of a call. Nothing of it decides anything.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallFacts {
    /// What sort of tool it is, in a word of the protocol: `edit`, `execute`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What the tool is given. A text instead, if that is too long: how it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// What there is to show of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Piece>,
    /// What the tool gave, as it gave it; a text if that is too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Files it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// Whether the agent says that it is at work, or over.
    pub has_begun: bool,
}

/// Something to show of a call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Piece {
    /// Words.
    Text {
        /// Which.
        text: String,
    },
    /// A change of a file.
    Diff {
        /// Which file.
        path: String,
        /// A unified diff.
        diff: String,
    },
}

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// Which file.
    pub path: String,
    /// Which line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
}

impl CallFacts {
    /// Takes in what was told later: what it says replaces what was said, as a whole.
    pub fn learn(&mut self, later: CallFacts) {
        let CallFacts { kind, input, content, output, locations, has_begun } = later;
        self.kind = kind.or(self.kind.take());
        self.input = input.or(self.input.take());
        self.output = output.or(self.output.take());
        if !content.is_empty() {
            self.content = content;
        }
        if !locations.is_empty() {
            self.locations = locations;
        }
        self.has_begun |= has_begun;
    }

    pub(crate) fn of_call(call: ToolCall) -> CallFacts {
        CallFacts {
            kind: Some(call.kind).filter(|kind| *kind != ToolKind::Other).and_then(kind_word),
            input: call.raw_input.map(bounded),
            content: pieces(call.content),
            output: call.raw_output.map(bounded),
            locations: locations(call.locations),
            has_begun: call.status != ToolCallStatus::Pending,
        }
    }

    pub(crate) fn of_update(fields: ToolCallUpdateFields) -> CallFacts {
        CallFacts {
            kind: fields.kind.and_then(kind_word),
            input: fields.raw_input.map(bounded),
            content: pieces(fields.content.unwrap_or_default()),
            output: fields.raw_output.map(bounded),
            locations: locations(fields.locations.unwrap_or_default()),
            has_begun: fields.status.is_some_and(|status| status != ToolCallStatus::Pending),
        }
    }

    /// The same for an event, which has nothing if there is nothing.
    pub(crate) fn told(self) -> Option<Box<CallFacts>> {
        (self != CallFacts::default()).then(|| Box::new(self))
    }
}

fn kind_word(kind: ToolKind) -> Option<String> {
    serde_json::to_value(kind).ok()?.as_str().map(str::to_string)
}

/// A value, or how it begins.
fn bounded(value: Value) -> Value {
    let text = value.to_string();
    if text.len() <= CALL_BYTES_MAX { value } else { Value::String(cut(&text, CALL_BYTES_MAX)) }
}

fn cut(text: &str, bytes_max: usize) -> String {
    let kept = beginning(text, bytes_max);
    format!("{kept}{}", if kept.len() < text.len() { REST } else { "" })
}

fn short_path(path: &std::path::Path) -> String {
    beginning(&path.to_string_lossy(), PATH_BYTES_MAX).to_string()
}

fn locations(all: Vec<ToolCallLocation>) -> Vec<Location> {
    let location = |at: ToolCallLocation| Location { path: short_path(&at.path), line: at.line };
    all.into_iter().take(PIECES_MAX).map(location).collect()
}

/// As much as there is room for. A change is compared as a whole before it is cut: two beginnings
/// would show changes that are none.
fn pieces(all: Vec<ToolCallContent>) -> Vec<Piece> {
    let mut room = CALL_BYTES_MAX;
    let mut kept = Vec::new();
    for content in all.into_iter().take(PIECES_MAX) {
        let (path, text) = match content {
            ToolCallContent::Content(content) => match words(content.content) {
                Some(text) => (None, text),
                None => continue,
            },
            ToolCallContent::Diff(diff) => {
                let path = short_path(&diff.path);
                let text = unified(&path, diff.old_text.as_deref(), &diff.new_text);
                (Some(path), text)
            }
            // There are no terminals of ours.
            _ => continue,
        };
        let is_cut = text.len() > room;
        let text = cut(&text, room);
        room = room.saturating_sub(text.len());
        kept.push(match path {
            Some(path) => Piece::Diff { path, diff: text },
            None => Piece::Text { text },
        });
        if is_cut {
            break;
        }
    }
    kept
}

/// The words of a block; others are named.
fn words(block: ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text),
        ContentBlock::ResourceLink(link) => Some(link.uri),
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => Some(text.text),
            _ => Some("[a resource]".to_string()),
        },
        ContentBlock::Image(_) => Some("[an image]".to_string()),
        ContentBlock::Audio(_) => Some("[a sound]".to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn facts(fields: Value) -> CallFacts {
        CallFacts::of_update(serde_json::from_value(fields).expect("an update of the protocol"))
    }

    #[test]
    fn what_is_told_later_replaces_what_it_names_and_nothing_else() {
        let mut known = facts(json!({"kind": "edit", "rawInput": {"a": 1},
            "content": [{"type": "diff", "path": "/f", "oldText": "a\n", "newText": "b\n"}]}));
        known.learn(facts(json!({"status": "completed", "rawOutput": "ok",
            "locations": [{"path": "/f", "line": 3}]})));
        let diff = "--- /f\n+++ /f\n@@ -1,1 +1,1 @@\n-a\n+b\n".to_string();
        let expected = CallFacts {
            kind: Some("edit".into()),
            input: Some(json!({"a": 1})),
            content: vec![Piece::Diff { path: "/f".into(), diff }],
            output: Some(json!("ok")),
            locations: vec![Location { path: "/f".into(), line: Some(3) }],
            has_begun: true,
        };
        assert_eq!(known, expected);
        let text = json!([{"type": "content", "content": {"type": "text", "text": "x"}}]);
        known.learn(facts(json!({"content": text})));
        assert_eq!(known.content, [Piece::Text { text: "x".into() }]);
        assert_eq!(facts(json!({"status": "pending"})).told(), None);
    }

    #[test]
    fn nothing_of_a_call_is_longer_than_its_bound() {
        let long = "é".repeat(CALL_BYTES_MAX);
        let text = |text: &str| {
            json!({"type": "content",
            "content": {"type": "text", "text": text}})
        };
        let known = facts(json!({"rawInput": {"a": long}, "rawOutput": long,
            "content": [text("x"), text(&long), text("y")],
            "locations": vec![json!({"path": "/f"}); 2 * PIECES_MAX]}));
        let most = CALL_BYTES_MAX + REST.len();
        for value in [&known.input, &known.output] {
            let text = value.as_ref().and_then(Value::as_str).expect("a text");
            assert!(text.ends_with(REST) && text.len() <= most, "{}", text.len());
        }
        let lengths: Vec<usize> = known
            .content
            .iter()
            .map(|piece| match piece {
                Piece::Text { text } | Piece::Diff { diff: text, .. } => text.len(),
            })
            .collect();
        assert_eq!((lengths.len(), lengths[0]), (2, 1));
        assert!(lengths[1] < most && lengths[1] > CALL_BYTES_MAX / 2, "{lengths:?}");
        assert_eq!(known.locations.len(), PIECES_MAX);
    }
}
