//! What a model may say to a tool: every field known, every number in its bounds.

use crate::files::search::{expression, name_pattern};
use crate::files::{FILE_BYTES_MAX, FileCall, Grep, GrepMode, LINES_DEFAULT, MATCHES_MAX};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The longest command: the kernel takes no longer argument than 128 KiB.
const COMMAND_BYTES_MAX: usize = 100_000;
/// The longest time a shell may be given.
pub(super) const TIMEOUT_MS_MAX: u64 = 600_000;
/// How many matches can be asked for.
pub(super) const HEAD_LIMIT_MAX: u64 = 1000;
/// How many lines can be asked for.
pub(super) const LINES_MAX: u64 = 10_000;

/// A call that can be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Input {
    Bash(BashInput),
    File(FileCall),
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BashInput {
    pub command: String,
    pub timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadInput {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteInput {
    path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EditInput {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GlobInput {
    pattern: String,
    path: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GrepInput {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    output_mode: GrepMode,
    head_limit: Option<u64>,
}

/// Where searches begin.
const TOP: &str = "/workspace";

impl Input {
    /// Reads the input of a tool; what is wrong is said in words for a model.
    pub(super) fn parse(tool: &str, input: &Value) -> Result<Input, String> {
        let parsed = match tool {
            "bash" => bash(input),
            "read" => read(input),
            "write" => typed::<WriteInput>(input).and_then(|WriteInput { path, content }| {
                match content.len() as u64 > FILE_BYTES_MAX {
                    true => Err(format!("content has more than {FILE_BYTES_MAX} bytes")),
                    false => Ok(Input::File(FileCall::Write { path, content })),
                }
            }),
            "edit" => typed(input).map(|input: EditInput| {
                let EditInput { path, old_string: old, new_string: new, replace_all: all } = input;
                Input::File(FileCall::Edit { path, old, new, all })
            }),
            "glob" => typed(input).and_then(|GlobInput { pattern, path }| {
                name_pattern(&pattern)?;
                let path = path.unwrap_or_else(|| TOP.to_string());
                Ok(Input::File(FileCall::Glob { pattern, path }))
            }),
            "grep" => grep(input),
            _ => Err("there is no such tool".to_string()),
        };
        parsed.map_err(|wrong| format!("{tool}: {wrong}"))
    }
}

fn typed<T: DeserializeOwned>(input: &Value) -> Result<T, String> {
    T::deserialize(input).map_err(|error| error.to_string())
}

fn within(name: &str, value: u64, most: u64) -> Result<u64, String> {
    match (1..=most).contains(&value) {
        true => Ok(value),
        false => Err(format!("{name} has to be from 1 to {most}")),
    }
}

fn bash(input: &Value) -> Result<Input, String> {
    let input: BashInput = typed(input)?;
    if input.command.trim().is_empty() || input.command.contains('\0') {
        return Err("command must not be empty, nor contain NUL".to_string());
    }
    if input.command.len() > COMMAND_BYTES_MAX {
        return Err(format!(
            "command has more than {COMMAND_BYTES_MAX} bytes; write it to a file and run that"
        ));
    }
    if let Some(timeout) = input.timeout_ms {
        within("timeout_ms", timeout, TIMEOUT_MS_MAX)?;
    }
    Ok(Input::Bash(input))
}

fn read(input: &Value) -> Result<Input, String> {
    let ReadInput { path, offset, limit } = typed(input)?;
    let offset = within("offset", offset.unwrap_or(1), u64::MAX)?;
    let limit = within("limit", limit.unwrap_or(LINES_DEFAULT), LINES_MAX)?;
    Ok(Input::File(FileCall::Read { path, offset, limit }))
}

fn grep(input: &Value) -> Result<Input, String> {
    let input: GrepInput = typed(input)?;
    expression(&input.pattern, input.case_insensitive)?;
    input.glob.as_deref().map(name_pattern).transpose()?;
    Ok(Input::File(FileCall::Grep(Grep {
        pattern: input.pattern,
        path: input.path.unwrap_or_else(|| TOP.to_string()),
        glob: input.glob,
        ignores_case: input.case_insensitive,
        mode: input.output_mode,
        head_limit: within("head_limit", input.head_limit.unwrap_or(MATCHES_MAX), HEAD_LIMIT_MAX)?,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn inputs_are_read_strictly() {
        let good = [
            ("bash", json!({"command": "ls"})),
            ("bash", json!({"command": "ls", "timeout_ms": 600_000})),
            ("read", json!({"path": "a", "offset": 1, "limit": 10_000})),
            ("write", json!({"path": "a", "content": ""})),
            ("edit", json!({"path": "a", "old_string": "a", "new_string": "b"})),
            ("glob", json!({"pattern": "**/*.rs"})),
            ("grep", json!({"pattern": "a+", "output_mode": "content", "head_limit": 1})),
        ];
        for (tool, input) in good {
            assert!(Input::parse(tool, &input).is_ok(), "{tool} {input}");
        }
        let bad = [
            ("bash", json!({"command": "ls", "cwd": "/"}), "unknown field `cwd`"),
            ("bash", json!({}), "missing field `command`"),
            ("bash", json!({"command": " "}), "must not be empty"),
            ("bash", json!({"command": "a\0"}), "NUL"),
            ("bash", json!({"command": "x".repeat(100_001)}), "write it to a file"),
            ("bash", json!({"command": "ls", "timeout_ms": 0}), "from 1 to 600000"),
            ("bash", json!({"command": ["ls"]}), "invalid type"),
            ("bash", json!("ls"), "invalid type"),
            ("read", json!({"path": "a", "limit": 10_001}), "from 1 to 10000"),
            ("read", json!({"path": "a", "offset": -1}), "invalid value"),
            ("write", json!({"path": "a"}), "missing field `content`"),
            ("glob", json!({"pattern": "/etc/*"}), "counts from `path`"),
            ("glob", json!({"pattern": "../*"}), "counts from `path`"),
            ("glob", json!({"pattern": "a[" }), "unclosed"),
            ("grep", json!({"pattern": "a("}), "unclosed group"),
            ("grep", json!({"pattern": "a", "output_mode": "all"}), "unknown variant"),
            ("grep", json!({"pattern": "a", "head_limit": 1001}), "from 1 to 1000"),
            ("shell", json!({}), "no such tool"),
        ];
        for (tool, input, expected) in bad {
            let wrong = Input::parse(tool, &input).expect_err(tool);
            assert!(wrong.contains(expected) && wrong.starts_with(tool), "{tool} {input}: {wrong}");
        }
    }
}
