//! Messages as Maelstrom's nodes write and read them: one JSON object per line, with a sender, a
//! receiver and a body.

use crate::json_lines::shown;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a message is about: `type`, `msg_id`, `in_reply_to`, and fields of its type.
pub type Body = Map<String, Value>;

/// A whole message. Fields beside these three are nobody's business here.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) src: String,
    pub(crate) dest: String,
    pub(crate) body: Body,
}

/// What is needed to send a message on, as it is, without understanding it.
#[derive(Deserialize)]
pub(crate) struct Head {
    pub(crate) src: String,
    pub(crate) dest: String,
    #[serde(rename = "body")]
    _body: IgnoredAny,
}

/// A line that is no message.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{why}: `{line}`")]
pub(crate) struct NoMessage {
    why: String,
    line: String,
}

impl Message {
    pub(crate) fn parse(line: &[u8]) -> Result<Message, NoMessage> {
        parse(line)
    }

    /// The line, with its line feed.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("strings and JSON values encode");
        line.push(b'\n');
        line
    }
}

impl Head {
    pub(crate) fn parse(line: &[u8]) -> Result<Head, NoMessage> {
        parse(line)
    }
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, NoMessage> {
    serde_json::from_slice(line)
        .map_err(|error| NoMessage { why: error.to_string(), line: shown(line) })
}

/// A body from a JSON object. Anything else is a mistake in this crate.
pub(crate) fn body(value: Value) -> Body {
    match value {
        Value::Object(body) => body,
        other => unreachable!("a body is written as an object, not as {other}"),
    }
}

/// The body's type; empty if it has none.
pub(crate) fn kind(body: &Body) -> &str {
    body.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// The call that a body answers.
pub(crate) fn in_reply_to(body: &Body) -> Option<u64> {
    body.get("in_reply_to").and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/formats/maelstrom.md");

    #[test]
    fn every_message_on_the_page_is_read_and_written_like_that() {
        let lines: Vec<&str> = PAGE.lines().filter_map(|line| line.strip_prefix("    {")).collect();
        assert!(lines.len() >= 6, "{lines:?}");
        for line in lines {
            let line = format!("{{{line}");
            let message = Message::parse(line.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
            let again = Message::parse(&message.line()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(message, again);
            let head = Head::parse(line.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((head.src, head.dest), (message.src, message.dest));
        }
    }

    #[test]
    fn what_is_no_message_is_refused_and_named() {
        let cases = [
            "",
            "hello",
            "[]",
            r#"{"src":"n1","dest":"n2"}"#,
            r#"{"src":1,"dest":"n2","body":{}}"#,
        ];
        for line in cases {
            assert!(Head::parse(line.as_bytes()).is_err(), "{line}");
            let error = Message::parse(line.as_bytes()).expect_err(line);
            assert!(error.to_string().ends_with(&format!("`{line}`")), "{error}");
        }
        assert!(Message::parse(br#"{"src":"a","dest":"b","body":3}"#).is_err());
    }
}
