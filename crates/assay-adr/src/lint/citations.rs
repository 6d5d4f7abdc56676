//! Citations of code: `path:line` stands where it says (A16), and what a decision says about its
//! implementation is there (A21).

use super::{Lint, links};
use crate::kind::Kind;
use crate::markdown::Document;
use crate::record::{Record, resolve};
use std::collections::BTreeMap;

/// A place in a file that a record cites.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Citation {
    /// As it is written.
    written: String,
    path: String,
    first: usize,
    last: usize,
    /// What must stand there, if the record says so.
    expected: String,
}

/// Endings of files that are cited without a directory.
const SOURCES: [&str; 20] = [
    "rs", "toml", "md", "py", "go", "ts", "js", "java", "tla", "cfg", "sh", "yml", "yaml", "json",
    "c", "h", "cc", "cpp", "sql", "proto",
];

/// Takes `path:12`, `path:12-20` or `path:12:7` apart.
fn citation(word: &str) -> Option<Citation> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mut path, mut lines) = word.rsplit_once(':')?;
    if let Some((before, line)) = path.rsplit_once(':').filter(|(_, line)| is_number(line)) {
        if !is_number(lines) {
            return None;
        }
        (path, lines) = (before, line);
    }
    let (first, last) = lines.split_once(['-', '–']).unwrap_or((lines, lines));
    let plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let name = path.rsplit('/').next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let known = SOURCES.contains(&ending) && !stem.is_empty();
    let named = known || (path.contains('/') && ending.chars().any(char::is_alphabetic));
    if !is_number(first) || !is_number(last) || !path.chars().all(plain) || !named {
        return None;
    }
    let number = |text: &str| text.parse().unwrap_or(usize::MAX);
    Some(Citation {
        written: word.to_string(),
        path: path.to_string(),
        first: number(first),
        last: number(last),
        expected: String::new(),
    })
}

/// The citations of a document, each with its line.
fn citations(document: &Document) -> Vec<(usize, Citation)> {
    let mut found = Vec::new();
    for code in &document.codes {
        let text = code.text.trim();
        let (word, expected) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if let Some(mut citation) = citation(word) {
            citation.expected = expected.trim().to_string();
            found.push((code.line, citation));
        }
    }
    for text in &document.texts {
        let edge = |c: char| c.is_whitespace() || "()[]{}<>,;\"'".contains(c);
        for word in text.text.split(edge).filter(|word| word.contains(':')) {
            found.extend(citation(word.trim_end_matches(['.', ':'])).map(|c| (text.line, c)));
        }
    }
    for link in &document.links {
        let Some((path, fragment)) = links::parts(&link.target) else { continue };
        let lines = fragment.strip_prefix('L').map(|lines| lines.replace("-L", "-"));
        if let Some(citation) = lines.and_then(|lines| citation(&format!("{path}:{lines}"))) {
            found.push((link.line, citation));
        }
    }
    found
}

/// The most citations of one file that are followed, and the most lines of one citation.
const CITATIONS_MAX: usize = 1_000;
const CITED_LINES_MAX: usize = 1_000;

/// Files by path, in lines; nothing for what cannot be read.
type Cited = BTreeMap<String, Option<Vec<String>>>;

pub fn check(lint: &mut Lint<'_>) {
    let records = lint.records;
    let mut cited = Cited::new();
    for record in &records.all {
        file(lint, &record.path, &record.document, &mut cited);
        if record.id.kind == Kind::Adr {
            implementation(lint, record);
        }
    }
    for (path, document) in &records.indexes {
        file(lint, path, document, &mut cited);
    }
}

fn file(lint: &mut Lint<'_>, path: &str, document: &Document, cited: &mut Cited) {
    let all = citations(document);
    if let Some((line, _)) = all.get(CITATIONS_MAX) {
        let message = format!("more than {CITATIONS_MAX} citations: the rest is not looked at");
        lint.add("A16", path, *line, message);
    }
    for (line, citation) in all.iter().take(CITATIONS_MAX) {
        if let Some(message) = stale(lint, path, citation, cited) {
            lint.add("A16", path, *line, message);
        }
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Why a citation is stale, if it is.
fn stale(lint: &Lint<'_>, from: &str, wanted: &Citation, cited: &mut Cited) -> Option<String> {
    let written = &wanted.written;
    let places = [resolve("", &wanted.path), resolve(from, &wanted.path)];
    let Some(path) = places.into_iter().flatten().find(|path| lint.exists(path)) else {
        return Some(format!("{written}: there is no {}", wanted.path));
    };
    let known = cited
        .entry(path.clone())
        .or_insert_with(|| Some(lint.text(&path)?.lines().map(str::to_string).collect()));
    let Some(lines) = known else {
        return Some(format!("{written}: {path} is no text that can be read"));
    };
    let (first, last) = (wanted.first, wanted.last);
    if first == 0 || last < first || last > lines.len() {
        return Some(format!("{written}: {path} has {} lines", lines.len()));
    }
    if last - first >= CITED_LINES_MAX {
        return Some(format!("{written}: cites more than {CITED_LINES_MAX} lines"));
    }
    let shown = &lines[first - 1..last];
    if !wanted.expected.is_empty() {
        let expected = squeezed(&wanted.expected);
        if squeezed(&shown.join(" ")).contains(&expected) {
            return None;
        }
        let now = lines.iter().position(|line| squeezed(line).contains(&expected));
        let now = match now {
            Some(at) => format!("it stands in line {} now", at + 1),
            None => "it is nowhere in that file".to_string(),
        };
        return Some(format!("{written}: \"{expected}\" does not stand there; {now}"));
    }
    if shown[0].trim().is_empty() {
        return Some(format!("{written}: line {first} is empty"));
    }
    moved(lint, from, wanted, &path, lines)
}

/// Whether what stood at the place when it was cited stands elsewhere now.
fn moved(
    lint: &Lint<'_>,
    from: &str,
    wanted: &Citation,
    path: &str,
    lines: &[String],
) -> Option<String> {
    let before = lint.input.before?;
    // A citation that is new since then was written for the text as it is.
    if before.get(from).is_some_and(|old| !old.contains(&wanted.written)) {
        return None;
    }
    let old: Vec<&str> = before.get(path)?.lines().collect();
    let old = old.get(wanted.first - 1..wanted.last)?;
    let same = old.iter().zip(&lines[wanted.first - 1..]).all(|(a, b)| a.trim() == b.trim());
    if same {
        return None;
    }
    let text = old[0].trim();
    let now = lines.iter().position(|line| !text.is_empty() && line.trim() == text);
    let now = match now {
        Some(at) => format!("it stands in line {} now", at + 1),
        None => "it is gone".to_string(),
    };
    Some(format!("{}: stood there before: \"{text}\"; {now}", wanted.written))
}

/// Words that say that something is built.
const BUILT: [&str; 5] = ["implemented", "done", "complete", "built", "yes"];

fn implementation(lint: &mut Lint<'_>, record: &Record) {
    let document = &record.document;
    let Some(section) = document.section("Implementation Status") else { return };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    for code in document.codes.iter().filter(|code| section.body.contains(&code.at)) {
        let path = code.text.as_str();
        let is_path = path.contains('/') && path.chars().all(plain) && !path.starts_with('/');
        if is_path && !lint.exists(path.trim_end_matches('/')) {
            let message = format!("there is no {path}; paths here count from the root");
            lint.at("A21", record, code.line, message);
        }
    }
    if record.status(lint.config).as_deref() != Some("Proposed") {
        return;
    }
    for table in document.tables.iter().filter(|t| section.body.contains(&t.range.start)) {
        let Some(at) = table.head.iter().position(|head| head.eq_ignore_ascii_case("Status"))
        else {
            continue;
        };
        for row in &table.rows {
            let cell = row.cells.get(at).map_or("", String::as_str).to_lowercase();
            let first = cell.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            if BUILT.contains(&first) {
                let message = "is only proposed, and this part of it is built".to_string();
                lint.at("A21", record, row.line, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_told_from_addresses_and_times() {
        let cases = [
            ("crates/a/src/lib.rs:12", Some(("crates/a/src/lib.rs", 12, 12))),
            ("a/b.rs:12-20", Some(("a/b.rs", 12, 20))),
            ("a/b.rs:12:7", Some(("a/b.rs", 12, 12))),
            ("Cargo.toml:3", Some(("Cargo.toml", 3, 3))),
            ("a/b.rs:99999999999999999999", Some(("a/b.rs", usize::MAX, usize::MAX))),
            ("localhost:8080", None),
            ("127.0.0.1:7001", None),
            ("example.org:80", None),
            ("http://example.org/a.html:80", None),
            ("12:30", None),
            ("a/b.rs:", None),
            ("a/b.rs:-", None),
        ];
        for (word, expected) in cases {
            let found = citation(word);
            let found = found.as_ref().map(|c| (c.path.as_str(), c.first, c.last));
            assert_eq!(found, expected, "{word}");
        }
    }
}
