//! Reads a description, and finds the line of everything in it.
//!
//! What one key says may be wrong because of what another says; then the reader of the message
//! needs a line as much as for a missing quotation mark. So the place of each value is noted by its
//! path before the values are taken out.

use super::check::check;
use super::description::Description;
use std::collections::BTreeMap;
use toml_edit::{Document, Item, Table, Value, de};

/// A longer description is a mistake.
const DESCRIPTION_BYTES_MAX: usize = 256 << 10;

/// What is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Problem {
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) message: String,
}

/// Reads and checks a description.
pub(super) fn read(text: &str) -> Result<Description, Problem> {
    let problem = |at: Option<std::ops::Range<usize>>, message: &str| Problem {
        line: at.map_or(1, |at| line_of(text, at.start)),
        message: message.trim().replace('\n', "; "),
    };
    if text.len() > DESCRIPTION_BYTES_MAX {
        return Err(problem(None, &format!("longer than {DESCRIPTION_BYTES_MAX} bytes")));
    }
    let document = Document::parse(text.to_string())
        .map_err(|error| problem(error.span(), error.message()))?;
    let mut places = Places::default();
    places.table("", document.as_table());
    let description: Description =
        de::from_document(document).map_err(|error| problem(error.span(), error.message()))?;
    check(&description)
        .map_err(|(path, message)| Problem { line: line_of(text, places.of(&path)), message })?;
    Ok(description)
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Where values begin, by path: `node.command.3`.
#[derive(Default)]
struct Places(BTreeMap<String, usize>);

impl Places {
    /// Where a value stands, or the nearest thing around it.
    fn of(&self, path: &str) -> usize {
        let mut path = path;
        loop {
            if let Some(at) = self.0.get(path) {
                return *at;
            }
            match path.rsplit_once('.') {
                Some((around, _)) => path = around,
                None => return 0,
            }
        }
    }

    fn note(&mut self, path: &str, range: Option<std::ops::Range<usize>>) {
        self.0.extend(range.map(|range| (path.to_string(), range.start)));
    }

    fn table(&mut self, path: &str, table: &Table) {
        for (key, item) in table.iter() {
            let path = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
            match item {
                Item::Table(inner) => {
                    self.note(&path, inner.span());
                    self.table(&path, inner);
                }
                Item::ArrayOfTables(tables) => {
                    for (i, inner) in tables.iter().enumerate() {
                        self.note(&format!("{path}.{i}"), inner.span());
                        self.table(&format!("{path}.{i}"), inner);
                    }
                }
                Item::Value(value) => self.value(&path, value),
                Item::None => {}
            }
        }
    }

    fn value(&mut self, path: &str, value: &Value) {
        self.note(path, value.span());
        match value {
            Value::Array(values) => {
                for (i, value) in values.iter().enumerate() {
                    self.value(&format!("{path}.{i}"), value);
                }
            }
            Value::InlineTable(table) => {
                for (key, value) in table.iter() {
                    self.value(&format!("{path}.{key}"), value);
                }
            }
            _ => {}
        }
    }
}
