//! What tools do with files. All of it happens in the process inside, after it is confined.

mod change;
mod path;
mod read;
pub(crate) mod search;
mod walk;

use crate::job::Places;
use serde::{Deserialize, Serialize};

/// The largest file that is written, edited or searched.
pub(crate) const FILE_BYTES_MAX: u64 = 10 << 20;
/// How much text a tool answers with.
pub(crate) const ANSWER_BYTES_MAX: usize = 100_000;
/// How many lines are read unless more or fewer are asked for.
pub(crate) const LINES_DEFAULT: u64 = 2000;
/// How much of a line is shown.
pub(crate) const LINE_CHARS_MAX: usize = 2000;
/// How many matches are shown.
pub(crate) const MATCHES_MAX: u64 = 100;

/// Something to do with files. Paths are absolute, or count from the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileCall {
    /// Show lines.
    Read {
        /// Which file.
        path: String,
        /// The first line, counted from 1.
        offset: u64,
        /// How many.
        limit: u64,
    },
    /// Write a file, and the directories above it.
    Write {
        /// Which.
        path: String,
        /// All of it.
        content: String,
    },
    /// Replace a text that is there exactly once, or all of them.
    Edit {
        /// In which file.
        path: String,
        /// The text.
        old: String,
        /// What it becomes.
        new: String,
        /// Whether there may be several.
        all: bool,
    },
    /// Find files by their paths.
    Glob {
        /// What they look like.
        pattern: String,
        /// Below which directory.
        path: String,
    },
    /// Find files by what is in them.
    Grep(Grep),
}

/// A search in files.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Grep {
    /// A regular expression, for lines.
    pub pattern: String,
    /// A file, or a directory with files.
    pub path: String,
    /// What the names of files look like.
    pub glob: Option<String>,
    /// Whether upper and lower case are the same.
    pub ignores_case: bool,
    /// What is shown.
    pub mode: GrepMode,
    /// How much of it.
    pub head_limit: u64,
}

/// What is shown of matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrepMode {
    /// The paths of files.
    #[default]
    FilesWithMatches,
    /// The lines.
    Content,
    /// How many lines of each file.
    Count,
}

/// A text for the model, or what was wrong, in words for it.
pub type FileResult = Result<String, String>;

/// Does it.
pub(crate) fn perform(seen: &Places, call: &FileCall) -> FileResult {
    match call {
        FileCall::Read { path, offset, limit } => read::read(seen, path, *offset, *limit),
        FileCall::Write { path, content } => change::write(seen, path, content),
        FileCall::Edit { path, old, new, all } => change::edit(seen, path, old, new, *all),
        FileCall::Glob { pattern, path } => search::glob(seen, pattern, path),
        FileCall::Grep(grep) => search::grep(seen, grep),
    }
}

/// Cuts a line that is too long to be shown.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        None => line.to_string(),
        Some((end, _)) => format!("{} [line cut after {LINE_CHARS_MAX} characters]", &line[..end]),
    }
}
