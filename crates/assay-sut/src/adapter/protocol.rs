//! The words of the client protocol, as docs/formats/client-protocol.md describes them byte by
//! byte: what Assay says to an adapter, and what an adapter may answer.
//!
//! Reading is strict. A field with a wrong name would otherwise be a value that was never read, and
//! a history with a `null` that nobody received refutes an innocent system.

use crate::json_lines::shown;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version that is spoken here.
pub(crate) const PROTOCOL: u32 = 1;

/// What Assay says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Say {
    /// The first line: who the adapter is, and where the nodes are.
    Init {
        protocol: u32,
        client: usize,
        node: String,
        nodes: BTreeMap<String, String>,
        seed: u64,
        options: Map<String, Value>,
    },
    /// Do one operation.
    Invoke {
        id: u64,
        op: String,
        key: Option<Value>,
        input: Value,
        request_id: Option<String>,
        node: Option<String>,
        timeout_ms: u64,
    },
}

/// What an adapter answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Answer {
    /// It can take operations.
    Ready {},
    /// The operation took effect. The output must be said, also if it is `null`.
    Ok { id: u64, output: Value, node: Option<String>, revision: Option<i64> },
    /// It did not, and never will.
    Fail { id: u64, error: String, node: Option<String> },
    /// Nobody knows.
    Info { id: u64, error: String, node: Option<String> },
}

/// A line that is no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{why}: `{line}`")]
pub(crate) struct NoAnswer {
    why: String,
    line: String,
}

impl Say {
    /// The line, with its line feed.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("strings, numbers and JSON values encode");
        line.push(b'\n');
        line
    }
}

impl Answer {
    /// The line, with its line feed.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("strings, numbers and JSON values encode");
        line.push(b'\n');
        line
    }

    /// Reads a line without its line feed.
    pub(crate) fn parse(line: &[u8]) -> Result<Answer, NoAnswer> {
        serde_json::from_slice(line)
            .map_err(|error| NoAnswer { why: error.to_string(), line: shown(line) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/formats/client-protocol.md");

    /// The example lines of a section: indented, as Markdown wants code.
    fn examples(heading: &str) -> Vec<&'static str> {
        let after = PAGE.split_once(heading).unwrap_or_else(|| panic!("no section `{heading}`")).1;
        let section = after.split("\n## ").next().unwrap_or(after);
        section.lines().filter_map(|line| line.strip_prefix("    ")).collect()
    }

    #[test]
    fn every_line_assay_says_on_the_page_is_written_like_that() {
        let lines = examples("## What Assay says");
        assert!(lines.len() >= 3, "{lines:?}");
        for line in lines {
            let say: Say = serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(say.line(), format!("{line}\n").into_bytes());
        }
    }

    #[test]
    fn every_answer_on_the_page_is_read() {
        let lines = examples("## What the adapter answers");
        assert!(lines.len() >= 5, "{lines:?}");
        for line in &lines {
            Answer::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        }
        for kind in ["ready", "ok", "fail", "info"] {
            let tag = format!("\"type\":\"{kind}\"");
            assert!(lines.iter().any(|line| line.contains(&tag)), "no example of {kind}");
        }
    }

    #[test]
    fn every_mistake_on_the_page_is_refused() {
        let lines = examples("## Mistakes");
        assert!(lines.len() >= 5, "{lines:?}");
        for line in lines {
            assert!(Answer::parse(line.as_bytes()).is_err(), "{line}");
        }
        for line in [&b"\xff"[..], b"", b"[]", b"{\"type\":\"ready\"} {}"] {
            assert!(Answer::parse(line).is_err(), "{}", shown(line));
        }
    }

    #[test]
    fn a_refused_line_is_named() {
        let error =
            Answer::parse(br#"{"id":1,"type":"ok","ouput":3}"#).expect_err("a typing error");
        assert!(error.to_string().contains("`ouput`"), "{error}");
        assert!(error.to_string().contains(r#"`{"id":1,"type":"ok""#), "{error}");
    }
}
