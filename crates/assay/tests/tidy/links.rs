//! The files that documents and comments name.

use super::tree::{Tree, resolve};
use pulldown_cmark::{Event, Options, Parser, Tag};

/// Directories whose files documents name by their path from the root.
const HOMES: [&str; 6] = ["docs/", "crates/", "scripts/", "examples/", "fuzz/", ".ci/"];

/// Paths that are named before they exist: a command makes them.
const PRODUCED: [&str; 3] = ["fuzz/corpus", "fuzz/artifacts", "fuzz/target"];

/// A file that is named somewhere.
pub struct Mention {
    pub line: usize,
    /// The path from the root; `None` when it leads out of the repository.
    pub path: Option<String>,
    /// As it is written.
    pub written: String,
}

/// The relative links of a Markdown file: to files of this repository, without `#fragment`.
pub fn links(path: &str, text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::all()).into_offset_iter() {
        let (Event::Start(Tag::Link { dest_url, .. }) | Event::Start(Tag::Image { dest_url, .. })) =
            event
        else {
            continue;
        };
        let file = dest_url.split('#').next().unwrap_or("");
        let has_scheme = file.contains(':');
        if file.is_empty() || has_scheme {
            continue;
        }
        let line = line_of(text, range.start);
        mentions.push(Mention { line, path: resolve(path, file), written: dest_url.to_string() });
    }
    mentions
}

/// The paths a Markdown file names in `code`: those that begin in a directory of ours, and
/// documents in capitals such as `HOUSE_STYLE.md`.
pub fn code_paths(text: &str) -> Vec<Mention> {
    let mut mentions = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::all()).into_offset_iter() {
        let Event::Code(code) = event else { continue };
        if is_path(&code) && (in_our_homes(&code) || is_document_in_capitals(&code)) {
            mentions.push(mention(line_of(text, range.start), &code));
        }
    }
    mentions
}

/// The paths that Rust source names: in comments, and, because users read those, documents that
/// messages point to.
pub fn source_paths(path: &str, text: &str) -> Vec<Mention> {
    let is_test = path.split('/').any(|part| part == "tests");
    let mut mentions = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let is_comment = line.trim_start().starts_with("//");
        let homes = match (is_comment, is_test) {
            (true, _) => &HOMES[..],
            (false, false) => &HOMES[..1],
            (false, true) => continue,
        };
        for word in line.split(|c: char| !is_path_character(c)) {
            let word = word.trim_end_matches(['.', ':', '-']);
            if homes.iter().any(|home| word.starts_with(home) && word.len() > home.len()) {
                mentions.push(mention(i + 1, word));
            }
        }
    }
    mentions
}

/// Whether the mentioned file is there, or will be made by a command.
pub fn is_there(tree: &Tree, mention: &Mention) -> bool {
    let produced = |path: &str| PRODUCED.iter().any(|start| path.starts_with(start));
    // Decisions may be named by their number alone.
    let decision = |path: &str| path.starts_with("docs/adr/") && tree.begins(&format!("{path}-"));
    let there = |path: &str| tree.exists(path) || produced(path) || decision(path);
    mention.path.as_deref().is_some_and(there)
}

fn mention(line: usize, written: &str) -> Mention {
    Mention { line, path: resolve("", written), written: written.to_string() }
}

fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

fn is_path(code: &str) -> bool {
    code.chars().all(is_path_character)
}

fn is_path_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./".contains(c)
}

fn in_our_homes(code: &str) -> bool {
    HOMES.iter().any(|home| code.starts_with(home))
}

fn is_document_in_capitals(code: &str) -> bool {
    let name = code.strip_suffix(".md").unwrap_or("");
    !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}
