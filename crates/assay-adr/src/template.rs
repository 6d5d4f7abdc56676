//! New records, and what changes with them.

mod rows;
mod text;

pub use rows::row;

use crate::config::Config;
use crate::kind::Kind;
use crate::record::{FileName, Files, Id, Record, Records};

/// What a new record is about.
#[derive(Clone, Debug)]
pub struct Draft<'d> {
    /// Its kind.
    pub kind: Kind,
    /// Its title, without a number.
    pub title: &'d str,
    /// The day, as in 2026-11-17.
    pub day: &'d str,
    /// Who looks after it; empty if nobody was named.
    pub owner: &'d str,
    /// The decision that a supplement or a deviation belongs to.
    pub parent: Option<Id>,
    /// The record of the same kind that it supersedes.
    pub supersedes: Option<Id>,
}

/// A file to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// From the root.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// A new record, and what else has to change with it.
#[derive(Clone, Debug)]
pub struct New {
    /// The record itself; its file must not be there yet.
    pub record: Change,
    /// Files that are there and change: the index, what is superseded, the parent.
    pub others: Vec<Change>,
}

/// Why there cannot be such a record.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NewError {
    /// No name can be made of the title.
    #[error("\"{0}\": no file name can be made of this title; it needs letters a-z or digits")]
    Title(String),
    /// The title is too long, or has more than one line.
    #[error("the title must be one line of at most {TITLE_CHARS_MAX} characters")]
    Long,
    /// A supplement of nothing.
    #[error("a supplement belongs to a decision: name it with --parent ADR-NNNN")]
    NoParent,
    /// A record that is not there.
    #[error("there is no {0}; `assay adr graph` lists what there is")]
    NoRecord(Id),
    /// What cannot be superseded.
    #[error("{0} cannot be superseded by a {1}: only by a record of its own kind, once")]
    Superseded(Id, Kind),
    /// The file is there.
    #[error("{0}: is there already and is left alone; choose another title")]
    There(String),
    /// Numbers have run out.
    #[error("there is no number left for a {0}")]
    Numbers(Kind),
}

/// The longest title, in characters.
pub const TITLE_CHARS_MAX: usize = 120;

/// The longest name made of a title, in characters.
const SLUG_CHARS_MAX: usize = 60;

/// A title in small letters and dashes.
pub fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()) {
        if slug.len() + word.len() >= SLUG_CHARS_MAX && !slug.is_empty() {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().take(SLUG_CHARS_MAX).map(|c| c.to_ascii_lowercase()));
    }
    slug
}

/// Makes a new record of a draft, and everything that changes with it.
pub fn new(files: &Files, config: &Config, draft: &Draft<'_>) -> Result<New, NewError> {
    let title = draft.title.trim();
    if title.chars().count() > TITLE_CHARS_MAX || title.chars().any(char::is_control) {
        return Err(NewError::Long);
    }
    let slug = slug(title);
    if slug.is_empty() {
        return Err(NewError::Title(title.to_string()));
    }
    let records = Records::read(files, config);
    let parent = found(&records, draft.parent)?;
    let old = found(&records, draft.supersedes)?;
    if let Some(old) = old {
        let status = old.status(config);
        if old.id.kind != draft.kind || status.as_deref() == Some("Superseded") {
            return Err(NewError::Superseded(old.id, draft.kind));
        }
    }
    let name = match (draft.kind, parent) {
        (Kind::Supplement, None) => return Err(NewError::NoParent),
        (Kind::Supplement, Some(parent)) => format!("{}-{slug}.md", parent.name_without_end()),
        (kind, _) => {
            let (number, digits) = records.next(kind, config);
            format!("{number:0digits$}-{slug}.md")
        }
    };
    let path = format!("{}/{name}", config.home(draft.kind));
    if files.contains_key(&path) {
        return Err(NewError::There(path));
    }
    let name = FileName::parse(&name).ok_or(NewError::Numbers(draft.kind))?;
    let text = text::written(config, draft, &name, &path, parent, old);
    let record = Record::read(&path, &text, draft.kind).ok_or(NewError::Numbers(draft.kind))?;
    let mut changed = Files::new();
    if let Some(old) = old {
        changed.insert(old.path.clone(), superseded(old, &record));
    }
    if let (Kind::Supplement, Some(parent)) = (draft.kind, parent) {
        changed.insert(parent.path.clone(), with_link(parent, &record));
    }
    rows::index(files, config, &record, old, &mut changed);
    let others = changed.into_iter().map(|(path, text)| Change { path, text }).collect();
    Ok(New { record: Change { path, text }, others })
}

fn found(records: &Records, id: Option<Id>) -> Result<Option<&Record>, NewError> {
    id.map(|id| records.by_id(id).ok_or(NewError::NoRecord(id))).transpose()
}

/// The text of a record whose status says what superseded it.
fn superseded(old: &Record, by: &Record) -> String {
    let mut text = old.text.clone();
    let status = format!("Superseded by {}", text::link(by, &old.path));
    match old.field("Status") {
        Some(field) => text.replace_range(field.range.clone(), &status),
        None => {
            let at = old.document.preamble().start;
            text.insert_str(at, &format!("\n- **Status:** {status}\n"));
        }
    }
    text
}

/// The text of a decision that links its supplement.
fn with_link(parent: &Record, supplement: &Record) -> String {
    let mut text = parent.text.clone();
    let line = format!("- {}: {}\n", text::link(supplement, &parent.path), supplement.title);
    let section = parent.document.section("References");
    let end = section.map_or(text.len(), |section| section.body.end);
    let kept = text[..end].trim_end().len();
    let lead = if text[..kept].ends_with("None yet.") { kept - "None yet.".len() } else { kept };
    let before = if lead == kept { "\n" } else { "" };
    let after = if end == text.len() { "" } else { "\n" };
    text.replace_range(lead..end, &format!("{before}{line}{after}"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_the_ascii_words_of_a_title() {
        let cases = [
            ("Weaker means: implied", "weaker-means-implied"),
            ("  Größe & Co.  ", "gr-e-co"),
            ("C++ / Rust 2024", "c-rust-2024"),
            ("…", ""),
        ];
        for (title, expected) in cases {
            assert_eq!(slug(title), expected, "{title}");
        }
        assert!(slug(&"word ".repeat(60)).len() <= SLUG_CHARS_MAX);
        assert_eq!(slug(&"x".repeat(100)).len(), SLUG_CHARS_MAX);
    }
}
