//! The tools in words for a model: what each does, and the schema of its input.

use super::input::{HEAD_LIMIT_MAX, LINES_MAX, TIMEOUT_MS_MAX};
use crate::files::{LINES_DEFAULT, MATCHES_MAX};
use serde::Serialize;
use serde_json::{Value, json};

/// A tool as a model is told of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ToolDefinition {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What it takes, as a JSON Schema.
    pub input_schema: Value,
}

/// Paths of all tools.
const PATH: &str = "absolute below /workspace, /mnt/session/outputs or /mnt/session/uploads, or \
                    relative to /workspace";

fn tool(
    name: &'static str,
    description: &'static str,
    required: &[&str],
    properties: Value,
) -> ToolDefinition {
    let input_schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ToolDefinition { name, description, input_schema }
}

fn text(what: &str) -> Value {
    json!({ "type": "string", "description": what })
}

fn number(what: &str, most: Option<u64>) -> Value {
    let mut schema = json!({ "type": "integer", "minimum": 1, "description": what });
    if let Some(most) = most {
        schema["maximum"] = json!(most);
    }
    schema
}

fn flag(what: &str) -> Value {
    json!({ "type": "boolean", "description": what })
}

/// All of them.
pub(super) fn all() -> Vec<ToolDefinition> {
    let path = text(PATH);
    vec![
        tool(
            "bash",
            "Runs a shell command. The directory in which one ends is where the next begins; \
             nothing else of a command stays but files. Both output streams are returned.",
            &["command"],
            json!({
                "command": text("what to run"),
                "timeout_ms": number("how long it may take", Some(TIMEOUT_MS_MAX)),
            }),
        ),
        tool(
            "read",
            "Reads a text file. Lines come with their numbers.",
            &["path"],
            json!({
                "path": path,
                "offset": number("the first line, counted from 1", None),
                "limit": number(
                    &format!("how many lines, {LINES_DEFAULT} if not said"),
                    Some(LINES_MAX),
                ),
            }),
        ),
        tool(
            "write",
            "Writes a file, and the directories above it. What was there is replaced.",
            &["path", "content"],
            json!({ "path": path, "content": text("all of the file") }),
        ),
        tool(
            "edit",
            "Replaces a text in a file. It has to be there once, unless replace_all is set.",
            &["path", "old_string", "new_string"],
            json!({
                "path": path,
                "old_string": text("the text, exactly as it is in the file"),
                "new_string": text("what it becomes"),
                "replace_all": flag("replace every one of them"),
            }),
        ),
        tool(
            "glob",
            "Finds files by their paths: * stays in a directory, ** does not. Hidden files too.",
            &["pattern"],
            json!({ "pattern": text("such as src/**/*.rs, counted from path"), "path": path }),
        ),
        grep(&path),
    ]
}

fn grep(path: &Value) -> ToolDefinition {
    tool(
        "grep",
        "Finds lines by a regular expression, in files below a directory.",
        &["pattern"],
        json!({
            "pattern": text("a regular expression"),
            "path": path,
            "glob": text("only files like this, such as *.rs"),
            "case_insensitive": flag("upper and lower case are the same"),
            "output_mode": {
                "type": "string",
                "enum": ["files_with_matches", "content", "count"],
                "description": "paths of files if not said",
            },
            "head_limit": number(
                &format!("how much is shown, {MATCHES_MAX} if not said"),
                Some(HEAD_LIMIT_MAX),
            ),
        }),
    )
}
