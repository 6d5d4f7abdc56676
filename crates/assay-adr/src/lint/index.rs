//! Indexes list every record, once, with the title and the status it has: A11 and A12.

use super::Lint;
use crate::kind::Kind;
use crate::markdown::{Document, Row, Table};
use crate::record::{FileName, Record, resolve};
use crate::template;
use std::collections::BTreeMap;

pub fn check(lint: &mut Lint<'_>) {
    let records = lint.records;
    let main = lint.config.index();
    if !records.indexes.contains_key(&main) && !records.all.is_empty() {
        let message = format!("there is no index; it lists {} records", records.all.len());
        lint.add("A11", &main, 1, message);
    }
    for (path, document) in &records.indexes {
        let own = lint.config.kind_of(path);
        let kinds: Vec<Kind> = match *path == main {
            true => Kind::ALL.to_vec(),
            false => own.into_iter().collect(),
        };
        index(lint, path, document, &kinds);
    }
}

/// The file that a row of an index is about, if it is one of a record.
pub fn row_target(lint: &Lint<'_>, path: &str, document: &Document, row: &Row) -> Option<String> {
    let from = document.links.partition_point(|link| link.at < row.range.start);
    let links = document.links[from..].iter().take_while(|link| link.at < row.range.end);
    links.filter_map(|link| resolve(path, &link.target)).find(|target| is_record(lint, target))
}

fn is_record(lint: &Lint<'_>, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    lint.config.kind_of(path).is_some() && FileName::parse(name).is_some()
}

fn index(lint: &mut Lint<'_>, path: &str, document: &Document, kinds: &[Kind]) {
    let records = lint.records;
    let mut listed: BTreeMap<String, usize> = BTreeMap::new();
    for table in &document.tables {
        for row in &table.rows {
            let Some(target) = row_target(lint, path, document, row) else { continue };
            if let Some(first) = listed.get(&target) {
                let message = format!("{target} is listed in line {first} already");
                lint.add("A12", path, row.line, message);
                continue;
            }
            listed.insert(target.clone(), row.line);
            match records.by_path(&target) {
                Some(record) => agrees(lint, path, table, row, record),
                None => {
                    let message = format!("there is no {target}");
                    lint.add("A12", path, row.line, message);
                }
            }
        }
    }
    for kind in kinds {
        // Where the row would be added.
        let column = kind.shape().column;
        let table = document
            .tables
            .iter()
            .find(|table| table.head.first().is_some_and(|head| head.eq_ignore_ascii_case(column)));
        let line = table.map_or(1, |table| document.line(table.range.start));
        for record in records.of(*kind).filter(|record| !listed.contains_key(&record.path)) {
            let row = template::row(record, lint.config, path);
            let message = format!("{} is not listed; its row is: {row}", record.label());
            lint.add("A11", path, line, message);
        }
    }
}

fn agrees(lint: &mut Lint<'_>, path: &str, table: &Table, row: &Row, record: &Record) {
    let cell = |name: &str| {
        let at = table.head.iter().position(|head| head.trim().eq_ignore_ascii_case(name))?;
        Some(row.cells.get(at).map_or("", |cell| cell.trim()))
    };
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = !record.title.is_empty();
    let differs = |title: &&str| named && words(title) != words(&record.title);
    if let Some(title) = cell("Title").filter(differs) {
        let message =
            format!("calls {} \"{title}\", its title is \"{}\"", record.label(), record.title);
        lint.add("A12", path, row.line, message);
    }
    let status = record.status(lint.config).unwrap_or_default();
    let begins = |cell: &str| {
        cell.split_at_checked(status.len()).is_some_and(|(start, rest)| {
            start.eq_ignore_ascii_case(&status) && (rest.is_empty() || rest.starts_with(' '))
        })
    };
    if let Some(cell) = cell("Status").filter(|cell| !status.is_empty() && !begins(cell)) {
        let message = format!("says that {} is \"{cell}\", it is {status}", record.label());
        lint.add("A12", path, row.line, message);
    }
}
