//! Records: files with a number, a title, a status and links to each other.

use crate::config::Config;
use crate::kind::Kind;
use crate::markdown::{Document, Field};
use std::collections::BTreeMap;
use std::fmt;

/// Files by their path from the root, always with `/`.
pub type Files = BTreeMap<String, String>;

/// The largest record, in bytes.
pub const RECORD_BYTES_MAX: usize = 1 << 20;

/// The most files below the directory of records.
pub const RECORDS_MAX: usize = 10_000;

/// What a record is called: `ADR-0007`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id {
    /// Its kind.
    pub kind: Kind,
    /// Its number.
    pub number: u32,
}

impl Id {
    /// What a person typed: `ADR-0007`, or the number alone, which is then one of `kind`.
    pub fn typed(text: &str, kind: Kind) -> Option<Id> {
        let text = text.trim();
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return text.parse().ok().map(|number| Id { kind, number });
        }
        let upper = text.to_uppercase().replace("DEVIATION", "Deviation");
        ids(&upper).first().filter(|(at, _)| *at == 0).map(|(_, id)| *id)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = f.width().unwrap_or(4);
        write!(f, "{}{:0width$}", self.kind.shape().prefix, self.number)
    }
}

/// The name of a record's file, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileName {
    /// The number.
    pub number: u32,
    /// How many digits it is written with.
    pub digits: usize,
    /// What follows the number, without `.md`.
    pub slug: String,
}

impl FileName {
    /// Takes the name of a file apart: `0007-weaker-is-implied.md`.
    pub fn parse(name: &str) -> Option<FileName> {
        let (number, slug) = name.strip_suffix(".md")?.split_once('-')?;
        let digits = number.len();
        let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let words = slug.split('-').all(|word| !word.is_empty() && word.chars().all(small));
        let plain = (3..=6).contains(&digits) && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok()?;
        (plain && words).then(|| FileName { number, digits, slug: slug.to_string() })
    }
}

/// One record.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its file.
    pub path: String,
    /// What it is called, by the file.
    pub id: Id,
    /// The file's name.
    pub name: FileName,
    /// Its title, without the number; empty if there is none.
    pub title: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// Its text, taken apart.
    pub document: Document,
    /// Its text.
    pub text: String,
}

impl Record {
    /// Reads a record; nothing if the name of the file is none of a record.
    pub fn read(path: &str, text: &str, kind: Kind) -> Option<Record> {
        let name = FileName::parse(path.rsplit('/').next()?)?;
        let document = Document::read(text);
        let mut fields = document.fields(text, document.preamble());
        if let Some(section) = document.section("Metadata") {
            fields.extend(document.fields(text, section.body.clone()));
        }
        if let Some(section) = document.section("Status") {
            fields.extend(status_section(text, section.body.clone(), &document));
        }
        let title = document.title().map_or(String::new(), |title| {
            title.text.split_once(':').map_or("", |(_, rest)| rest).trim().to_string()
        });
        Some(Record {
            path: path.to_string(),
            id: Id { kind, number: name.number },
            name,
            title,
            fields,
            document,
            text: text.to_string(),
        })
    }

    /// The field of this name, whatever the case.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// Its id as people write it, with as many digits as its file has.
    pub fn label(&self) -> String {
        let width = self.name.digits;
        match self.id.kind {
            Kind::Supplement => format!("SUP-{}", self.name_without_end()),
            _ => format!("{:width$}", self.id),
        }
    }

    /// The file's name without `.md`.
    pub fn name_without_end(&self) -> String {
        let width = self.name.digits;
        format!("{:0width$}-{}", self.name.number, self.name.slug)
    }

    /// Its status: the word of the lifecycle if it is one, else what is written.
    pub fn status(&self, config: &Config) -> Option<String> {
        let written = self.field("Status")?.value.trim().to_string();
        let known = config.statuses(self.id.kind);
        Some(known.into_iter().find(|known| is_status(&written, known)).unwrap_or(written))
    }

    /// The line of its status, or of its title.
    pub fn status_line(&self) -> usize {
        self.field("Status").map_or(1, |field| field.line)
    }
}

/// Whether what is written begins with a status: it may be followed by a link or a remark.
fn is_status(written: &str, known: &str) -> bool {
    let Some((first, rest)) = written.split_at_checked(known.len()) else { return false };
    let by = rest.trim_start();
    first.eq_ignore_ascii_case(known)
        && (by.is_empty() || by.starts_with("by ") || by.starts_with(['(', '[', ',', ';']))
}

/// The first line of a section `Status`, as some write it.
fn status_section(text: &str, range: std::ops::Range<usize>, document: &Document) -> Option<Field> {
    let body = text.get(range.clone())?;
    let value = body.lines().map(str::trim).find(|line| !line.is_empty())?;
    let at = range.start + body.find(value)?;
    Some(Field {
        name: "Status".to_string(),
        value: value.to_string(),
        line: document.line(at),
        range: at..at + value.len(),
    })
}

/// All records of a repository, and what lies beside them.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// By kind and number, then by file.
    pub all: Vec<Record>,
    /// Markdown files beside them whose names are none of a record: path and kind.
    pub strangers: Vec<(String, Kind)>,
    /// Indexes by path.
    pub indexes: BTreeMap<String, Document>,
    by_path: BTreeMap<String, usize>,
}

impl Records {
    /// Reads all files below the directory of records.
    pub fn read(files: &Files, config: &Config) -> Records {
        let mut records = Records::default();
        for (path, text) in files.iter().filter(|(path, _)| path.ends_with(".md")) {
            let Some(kind) = config.kind_of(path) else { continue };
            let name = path.rsplit('/').next().unwrap_or(path);
            if name.eq_ignore_ascii_case("README.md") {
                records.indexes.insert(path.clone(), Document::read(text));
            } else if is_template(name) {
                continue;
            } else if let Some(record) = Record::read(path, text, kind) {
                records.all.push(record);
            } else {
                records.strangers.push((path.clone(), kind));
            }
        }
        records.all.sort_by(|a, b| (a.id, &a.path).cmp(&(b.id, &b.path)));
        let paths = records.all.iter().enumerate();
        records.by_path = paths.map(|(i, record)| (record.path.clone(), i)).collect();
        records
    }

    /// Those of one kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.all.iter().filter(move |record| record.id.kind == kind)
    }

    /// The first record with this id.
    pub fn by_id(&self, id: Id) -> Option<&Record> {
        let at = self.all.partition_point(|record| record.id < id);
        self.all.get(at).filter(|record| record.id == id)
    }

    /// The record in this file.
    pub fn by_path(&self, path: &str) -> Option<&Record> {
        self.by_path.get(path).map(|at| &self.all[*at])
    }

    /// The number a new record of a kind gets, and how many digits it has.
    pub fn next(&self, kind: Kind, config: &Config) -> (u32, usize) {
        let last = self.of(kind).map(|record| record.id.number).max().unwrap_or(0);
        (last.saturating_add(1), config.digits(self.digits()))
    }

    /// How many digits the first record has.
    pub fn digits(&self) -> Option<usize> {
        self.all.first().map(|record| record.name.digits)
    }
}

/// Whether a file is the template that some keep under the number zero.
fn is_template(name: &str) -> bool {
    let zero = FileName::parse(name).is_some_and(|name| name.number == 0);
    zero || name.eq_ignore_ascii_case("template.md")
}

/// The ids that a text names, with where each begins: `ADR-0007`, `GAP-12`, `Deviation 0001`.
pub fn ids(text: &str) -> Vec<(usize, Id)> {
    let prefixes = [
        ("ADR-", Kind::Adr),
        ("GAP-", Kind::Gap),
        ("DEV-", Kind::Deviation),
        ("Deviation ", Kind::Deviation),
    ];
    let mut found = Vec::new();
    for (prefix, kind) in prefixes {
        for (at, _) in text.match_indices(prefix) {
            let before = text[..at].chars().next_back();
            let rest = &text[at + prefix.len()..];
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let after = rest[end..].chars().next();
            let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if word(before) || word(after) || !(1..=6).contains(&end) {
                continue;
            }
            // A template writes ADR-NNNN, and an id has digits only: this one has.
            found.extend(rest[..end].parse().ok().map(|number| (at, Id { kind, number })));
        }
    }
    found.sort();
    found
}

/// `to` as seen from the directory of the file `from`, with `.` and `..` resolved; nothing if it
/// leads out of the repository.
pub fn resolve(from: &str, to: &str) -> Option<String> {
    let directory = match to.starts_with('/') {
        true => "",
        false => from.rsplit_once('/').map_or("", |(directory, _)| directory),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(to.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// How `to` is written in a link that stands in the file `from`.
pub fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let directory = &from[..from.len() - 1];
    let same = directory.iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = directory.len() - same;
    let parts: Vec<&str> =
        [".."].repeat(up).into_iter().chain(to[same..].iter().copied()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_a_number_and_small_words() {
        let cases = [
            ("0007-weaker-is-implied.md", Some(7)),
            ("001-a.md", Some(1)),
            ("7-a.md", None),
            ("0007_a.md", None),
            ("0007-A.md", None),
            ("0007-a--b.md", None),
            ("0007-.md", None),
            ("0007-a.txt", None),
            ("+007-a.md", None),
        ];
        for (name, expected) in cases {
            assert_eq!(FileName::parse(name).map(|name| name.number), expected, "{name}");
        }
    }

    #[test]
    fn ids_are_found_where_they_are_words() {
        let text = "ADR-0001, (GAP-12) and Deviation 003; XADR-1, ADR-1a, ADR-, ADR-NNNN";
        let found: Vec<String> = ids(text).iter().map(|(_, id)| id.to_string()).collect();
        assert_eq!(found, ["ADR-0001", "GAP-0012", "DEV-0003"]);
    }

    #[test]
    fn links_are_resolved_and_written_from_where_they_stand() {
        let cases = [
            ("d/adr/0001-a.md", "0002-b.md", "d/adr/0002-b.md"),
            ("d/adr/gaps/0001-a.md", "../0002-b.md", "d/adr/0002-b.md"),
            ("d/adr/0001-a.md", "gaps/0001-g.md", "d/adr/gaps/0001-g.md"),
            ("d/adr/0001-a.md", "../../README.md", "README.md"),
        ];
        for (from, written, path) in cases {
            assert_eq!(resolve(from, written).as_deref(), Some(path));
            assert_eq!(relative(from, path), written);
        }
        assert_eq!(resolve("d/a.md", "../../b.md"), None);
    }

    #[test]
    fn a_status_may_be_followed_by_what_it_is_about() {
        assert!(is_status("Superseded by [ADR-0009](x.md)", "Superseded"));
        assert!(is_status("accepted", "Accepted"));
        assert!(!is_status("Accepted-ish", "Accepted"));
        assert!(!is_status("Accepted in parts", "Accepted"));
        assert!(!is_status("Acceptéd", "Accepted"));
    }
}
