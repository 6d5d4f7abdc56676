//! Finding files by their names and by what is in them.

use super::path::ToolPath;
use super::walk::Walk;
use super::{ANSWER_BYTES_MAX, FILE_BYTES_MAX, FileResult, Grep, GrepMode, MATCHES_MAX, shortened};
use crate::job::Places;
use globset::{GlobBuilder, GlobMatcher};
use regex::bytes::{Regex, RegexBuilder};
use std::io::Read;
use std::path::Path;

/// The longest pattern.
const PATTERN_BYTES_MAX: usize = 1000;
/// How much a compiled expression may take.
const EXPRESSION_BYTES_MAX: usize = 4 << 20;

/// Compiles a pattern of names: `*` stays in a directory, `**` does not.
pub(crate) fn name_pattern(pattern: &str) -> Result<GlobMatcher, String> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("a pattern has 1 to {PATTERN_BYTES_MAX} bytes"));
    }
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err("a pattern counts from `path`, without a leading `/` and `..`".to_string());
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
    Ok(glob.map_err(|error| error.to_string())?.compile_matcher())
}

/// Compiles an expression.
pub(crate) fn expression(pattern: &str, ignores_case: bool) -> Result<Regex, String> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!("a pattern has 1 to {PATTERN_BYTES_MAX} bytes"));
    }
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(ignores_case).size_limit(EXPRESSION_BYTES_MAX);
    builder.build().map_err(|error| error.to_string())
}

pub(super) fn glob(seen: &Places, pattern: &str, path: &str) -> FileResult {
    let (pattern, path) = (name_pattern(pattern)?, ToolPath::parse(path)?);
    let mut walk = Walk::new(seen, &path)?;
    let mut found = Shown::new(MATCHES_MAX);
    for below in walk.by_ref() {
        if pattern.is_match(&below) && !found.add(path.join(&below).shown()) {
            break;
        }
    }
    Ok(found.text("No files found", walk.is_cut))
}

pub(super) fn grep(seen: &Places, grep: &Grep) -> FileResult {
    let expression = expression(&grep.pattern, grep.ignores_case)?;
    let names = grep.glob.as_deref().map(name_pattern).transpose()?;
    let path = ToolPath::parse(&grep.path)?;
    let mut walk = Walk::new(seen, &path)?;
    let mut found = Shown::new(grep.head_limit);
    while let Some(below) = walk.next() {
        if names.as_ref().is_some_and(|names| !fits(names, &below)) {
            continue;
        }
        let Some(text) = text(&walk, &below) else { continue };
        let shown = path.join(&below).shown();
        let lines = text.split(|byte| *byte == b'\n').enumerate();
        let mut matches = lines.filter(|(_, line)| expression.is_match(line));
        let goes_on = match grep.mode {
            GrepMode::FilesWithMatches => matches.next().is_none() || found.add(shown),
            GrepMode::Count => match matches.count() {
                0 => true,
                count => found.add(format!("{shown}:{count}")),
            },
            GrepMode::Content => matches.all(|(number, line)| {
                let line = shortened(&String::from_utf8_lossy(line));
                found.add(format!("{shown}:{}:{line}", number + 1))
            }),
        };
        if !goes_on {
            break;
        }
    }
    Ok(found.text("No matches found", walk.is_cut))
}

/// A pattern without directories is for names in any of them.
fn fits(names: &GlobMatcher, below: &Path) -> bool {
    let is_plain = !names.glob().glob().contains('/');
    let name = below.file_name().filter(|_| is_plain).map(Path::new);
    names.is_match(name.unwrap_or(below))
}

/// A file that is text, and not too large.
fn text(walk: &Walk, below: &Path) -> Option<Vec<u8>> {
    let file = walk.open(below)?;
    if file.metadata().ok()?.len() > FILE_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    (!bytes.contains(&0)).then_some(bytes)
}

/// Lines of an answer, up to a limit.
struct Shown {
    lines: Vec<String>,
    bytes: usize,
    most: u64,
    has_more: bool,
}

impl Shown {
    fn new(most: u64) -> Shown {
        Shown { lines: Vec::new(), bytes: 0, most, has_more: false }
    }

    /// Whether more are wanted.
    fn add(&mut self, line: String) -> bool {
        let is_full = self.lines.len() as u64 >= self.most;
        if is_full || self.bytes + line.len() > ANSWER_BYTES_MAX {
            self.has_more = true;
            return false;
        }
        self.bytes += line.len() + 1;
        self.lines.push(line);
        true
    }

    fn text(mut self, nothing: &str, is_cut: bool) -> String {
        if self.lines.is_empty() {
            return nothing.to_string();
        }
        if self.has_more {
            self.lines.push(format!("[more than {} matches; narrow the search]", self.lines.len()));
        }
        if is_cut {
            self.lines.push("[not everything was looked at: too many files]".to_string());
        }
        self.lines.join("\n")
    }
}
