//! Links lead somewhere, and ids mean the record they name: A13 and A14.

use super::{Lint, index};
use crate::kind::Kind;
use crate::markdown::{Document, Link};
use crate::record::{ids, resolve};
use std::collections::{BTreeMap, BTreeSet};

pub fn check(lint: &mut Lint<'_>) {
    let records = lint.records;
    let mut anchors = Anchors::default();
    for record in &records.all {
        file(lint, &record.path, &record.document, &mut anchors);
    }
    for (path, document) in &records.indexes {
        file(lint, path, document, &mut anchors);
    }
}

/// The headings of files that links lead to, read once.
#[derive(Default)]
struct Anchors(BTreeMap<String, Option<BTreeSet<String>>>);

impl Anchors {
    fn has(&mut self, lint: &Lint<'_>, path: &str, name: &str) -> bool {
        let known = self.0.entry(path.to_string()).or_insert_with(|| {
            let text = lint.text(path)?;
            let mut anchors = BTreeSet::from_iter(Document::read(&text).anchors());
            for mark in ["id=\"", "name=\""] {
                let marked = text.split(mark).skip(1);
                anchors.extend(marked.filter_map(|rest| Some(rest.split_once('"')?.0.to_string())));
            }
            Some(anchors)
        });
        known.as_ref().is_none_or(|known| known.contains(name))
    }
}

fn file(lint: &mut Lint<'_>, path: &str, document: &Document, anchors: &mut Anchors) {
    // A row about a record that is gone is a stale row; that it leads nowhere needs no saying.
    let mut stale: Vec<std::ops::Range<usize>> = Vec::new();
    if lint.records.indexes.contains_key(path) {
        for row in document.tables.iter().flat_map(|table| &table.rows) {
            let target = index::row_target(lint, path, document, row);
            if target.is_some_and(|target| lint.records.by_path(&target).is_none()) {
                stale.push(row.range.clone());
            }
        }
    }
    let is_stale = |at: usize| {
        let row = stale.partition_point(|range| range.start <= at).checked_sub(1);
        row.is_some_and(|row| stale[row].contains(&at))
    };
    for link in document.links.iter().filter(|link| !is_stale(link.at)) {
        one(lint, path, link, anchors);
    }
    // What the title calls a record is A02's concern.
    let title = document.title().map_or(0, |title| title.line);
    for text in document.texts.iter().filter(|text| !is_stale(text.at) && text.line != title) {
        for (_, id) in ids(&text.text) {
            if lint.records.by_id(id).is_none() {
                lint.add("A14", path, text.line, format!("there is no {id}"));
            }
        }
    }
}

/// Where a link leads to, taken apart: the path, if it is one of this repository, and what follows
/// `#`.
pub fn parts(target: &str) -> Option<(String, &str)> {
    let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
    let file = file.split('?').next().unwrap_or("");
    let scheme = file.find(':').is_some_and(|at| !file[..at].contains('/'));
    if scheme || target.starts_with("//") {
        return None;
    }
    Some((decoded(file), fragment))
}

/// `%20` and the like, as the characters they stand for.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        let value = hex.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (bytes[at], value) {
            (b'%', Some(value)) => {
                out.push(value);
                at += 3;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).to_string()
}

fn one(lint: &mut Lint<'_>, path: &str, link: &Link, anchors: &mut Anchors) {
    let Some((file, fragment)) = parts(&link.target) else { return };
    let target = match file.is_empty() {
        true => Some(path.to_string()),
        false => resolve(path, &file),
    };
    let Some(target) = target else {
        let message = format!("{} leads out of the repository", link.target);
        return lint.add("A13", path, link.line, message);
    };
    if !lint.exists(&target) {
        let message = format!("{} leads to {target}, which is not there", link.target);
        return lint.add("A13", path, link.line, message);
    }
    let markdown = target.ends_with(".md");
    if markdown && !fragment.is_empty() && !anchors.has(lint, &target, fragment) {
        let message = format!("{target} has no heading #{fragment}");
        lint.add("A13", path, link.line, message);
    }
    let named = ids(&link.text);
    if let (Some(record), [(_, id)]) = (lint.records.by_path(&target), &named[..]) {
        let other = record.id != *id && record.id.kind != Kind::Supplement;
        if other && lint.records.by_id(*id).is_some() {
            let message = format!("{id} leads to {}", record.label());
            lint.add("A14", path, link.line, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_taken_apart() {
        let cases = [
            ("a.md#b", Some(("a.md", "b"))),
            ("#b", Some(("", "b"))),
            ("a%20b.md", Some(("a b.md", ""))),
            ("a%zz.md", Some(("a%zz.md", ""))),
            ("https://x.org/a", None),
            ("mailto:a@b.c", None),
            ("//x.org/a", None),
        ];
        for (target, expected) in cases {
            let found = parts(target);
            let found = found.as_ref().map(|(file, fragment)| (file.as_str(), *fragment));
            assert_eq!(found, expected, "{target}");
        }
    }
}
