//! A machine block as it stands in a document: what it says, and where each value stands.

use crate::machine::Machine;
use crate::place::Span;
use crate::words::nearest;
use std::collections::BTreeMap;
use toml_edit::{Document, Item, Table, Value, de};

/// A machine block and the places of its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// What it says.
    pub machine: Machine,
    /// What stands between the fences.
    pub span: Span,
    places: BTreeMap<String, Span>,
    /// Text values with their places, for rules about words.
    pub(crate) texts: Vec<(String, Span)>,
}

/// Why a block cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BlockError {
    pub message: String,
    pub span: Span,
    pub near: Option<String>,
}

/// A longer block is a mistake.
pub(crate) const BLOCK_BYTES_MAX: usize = 64 * 1024;

impl Block {
    /// Reads what stands between the fences.
    pub(crate) fn read(source: &str, span: Span) -> Result<Block, BlockError> {
        let text = span.of(source);
        let at = |range: Option<std::ops::Range<usize>>| match range {
            Some(range) => Span::new(span.start + range.start, span.start + range.end),
            None => span,
        };
        if text.len() > BLOCK_BYTES_MAX {
            let message = format!("longer than {BLOCK_BYTES_MAX} bytes");
            return Err(BlockError { message, span, near: None });
        }
        let document = Document::parse(text.to_string()).map_err(|error| BlockError {
            message: one_line(error.message()),
            span: at(error.span()),
            near: None,
        })?;
        let mut seen = Seen { offset: span.start, places: BTreeMap::new(), texts: Vec::new() };
        seen.table("", document.as_table());
        let machine: Machine = de::from_document(document).map_err(|error| {
            let message = one_line(error.message());
            let near = suggestion(&message);
            BlockError { message, span: at(error.span()), near }
        })?;
        Ok(Block { machine, span, places: seen.places, texts: seen.texts })
    }

    /// Where a value stands, such as `budget.smoke.seeds` or `nemesis.0.landing.victim`; if it is
    /// not there, where the nearest thing around it stands.
    pub fn place(&self, path: &str) -> Span {
        let mut path = path;
        loop {
            if let Some(span) = self.places.get(path) {
                return *span;
            }
            match path.rsplit_once('.') {
                Some((around, _)) => path = around,
                None => return self.span,
            }
        }
    }
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', "; ")
}

/// What may have been meant by an unknown key, from the message that lists the known ones.
fn suggestion(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `")?;
    let (wrong, known) = rest.split_once('`')?;
    nearest(wrong, known.split('`').skip(1).step_by(2)).map(str::to_string)
}

struct Seen {
    offset: usize,
    places: BTreeMap<String, Span>,
    texts: Vec<(String, Span)>,
}

impl Seen {
    fn note(&mut self, path: &str, range: Option<std::ops::Range<usize>>) -> Option<Span> {
        let range = range?;
        let span = Span::new(self.offset + range.start, self.offset + range.end);
        self.places.insert(path.to_string(), span);
        Some(span)
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
        let span = self.note(path, value.span());
        match value {
            Value::String(text) => {
                self.texts.extend(span.map(|span| (text.value().clone(), span)));
            }
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

#[cfg(test)]
mod tests {
    use super::{Block, Span};

    fn read(text: &str) -> Result<Block, super::BlockError> {
        Block::read(text, Span::new(0, text.len()))
    }

    #[test]
    fn values_have_places() {
        let text = "seed = 7\n[system]\nname = \"kv\"\n[[nemesis]]\nfault = \"pause\"\n\
                    target = \"n1\"\nfor = \"1s..2s\"\nlanding = { injector = \"a\", victim = \
                    \"b\" }\n";
        let block = read(text).expect("a block");
        assert_eq!(block.place("nemesis.0.landing.victim").of(text), "\"b\"");
        assert_eq!(block.place("seed").of(text), "7");
        assert!(block.place("nemesis.0.at").of(text).starts_with("[[nemesis]]"));
        assert_eq!(block.place("nothing"), block.span);
        assert_eq!(block.machine.nemesis[0].lasts.to_string(), "1s..2s");
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_errors_with_a_place() {
        for (text, place, near) in [
            ("[system]\nnmae = \"kv\"", "nmae", Some("name")),
            ("[sytem]\nname = \"kv\"", "sytem", Some("system")),
            ("seed = \"one\"", "\"one\"", None),
            ("[workload]\ntimeout = 5\ngenerator=\"x\"\nclients=1", "5", None),
            ("a = = 1", "=", None),
            ("[budget]\nrelease = 7", "7", None),
            ("[budget.release]\nsedes = 7", "sedes", Some("seeds")),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.span.of(text), place, "{text}: {error:?}");
            assert_eq!(error.near.as_deref(), near, "{text}: {error:?}");
        }
    }
}
