//! The two ways to write Jepsen's records: EDN and JSON.

use super::edn::{self, Edn};
use super::edn_value;
use super::json::{self, Json};
use super::raw::{Held, Raw};
use super::shape::Shape;
use super::txn_cut::{RawMops, Walk, cut_mops, scan_small_ints};
use crate::txn::MopKind;
use crate::value::{ValueId, Values};

/// The fields of a record that are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Type,
    Process,
    F,
    Key,
    Value,
    Error,
    Time,
    /// The position, which repeats what the order of the records says.
    Index,
    Other,
}

fn named(name: &str) -> Field {
    match name {
        "type" => Field::Type,
        "process" => Field::Process,
        "f" => Field::F,
        "key" => Field::Key,
        "value" => Field::Value,
        "error" => Field::Error,
        "time" => Field::Time,
        "index" => Field::Index,
        _ => Field::Other,
    }
}

/// Takes in the fields of one record.
pub(super) trait Fields {
    /// A field with its value; `name` is empty unless the field is [`Field::Other`].
    fn set(&mut self, field: Field, raw: Raw, name: &str) -> Result<(), String>;

    /// Steps over the value of [`Field::Value`].
    fn value(&mut self, walk: &mut impl Walk) -> Result<Raw, String> {
        walk.value()
    }
}

/// One of the two ways to write the same records.
pub(super) trait Notation: Send {
    /// How the field that tells a record's kind is written.
    const TYPE_FIELD: &'static str;

    /// How many bytes at the start of `buffer` are whole top-level maps, whatever stands around
    /// them.
    fn maps_end(buffer: &[u8]) -> usize;

    /// Where the next map begins, from byte `pos` on; `None` at the end of the text. An error comes
    /// with its place.
    fn next_map(text: &str, pos: usize) -> Result<Option<usize>, (usize, String)>;

    /// Hands over the fields of the map that begins at `pos` and returns where it ends.
    fn map(
        shape: &mut Shape<Field>,
        text: &str,
        pos: usize,
        fields: &mut impl Fields,
    ) -> Result<usize, String>;

    /// The two values of a list of two that begins at `pos`.
    fn pair(text: &str, pos: usize) -> Option<(Raw, Raw)>;

    /// Appends the micro-operations of the transaction that begins at `pos`.
    fn mops(text: &str, pos: usize, into: &mut RawMops) -> Result<(), String>;

    /// The value that `text` stands for.
    fn intern(text: &str, values: &mut Values) -> Result<ValueId, String>;
}

/// Interns a value of a block.
pub(super) fn intern<N: Notation>(
    raw: Raw,
    block: &str,
    values: &mut Values,
) -> Result<ValueId, String> {
    match raw.held(block) {
        Held::Known(id) => Ok(id),
        Held::Int(int) => Ok(values.int(int)),
        Held::Text(text) => N::intern(text, values),
    }
}

/// The name that a keyword, symbol or plain string stands for, without colon and quotes.
pub(super) fn name(raw: Raw, block: &str) -> Option<&str> {
    let Held::Text(text) = raw.held(block) else { return None };
    let text = match text.strip_prefix('"') {
        Some(quoted) => quoted.strip_suffix('"').filter(|inner| !inner.contains('\\'))?,
        None => text,
    };
    let name = text.strip_prefix(':').unwrap_or(text);
    (!name.is_empty() && !name.starts_with(['[', '{', '(', '#', '\\'])).then_some(name)
}

pub(super) struct EdnNotation;

impl Notation for EdnNotation {
    const TYPE_FIELD: &'static str = ":type";

    fn maps_end(buffer: &[u8]) -> usize {
        edn::maps_end(buffer)
    }

    fn next_map(text: &str, pos: usize) -> Result<Option<usize>, (usize, String)> {
        let mut edn = Edn::new(text, pos);
        loop {
            edn.skip_to_form().map_err(|why| (edn.pos, why))?;
            match edn.peek() {
                Some(b'[' | b']' | b'(' | b')') => edn.pos += 1,
                Some(b'{') => return Ok(Some(edn.pos)),
                None => return Ok(None),
                Some(_) => {
                    return Err((edn.pos, edn.unexpected("an operation, a map like {:type ...}")));
                }
            }
        }
    }

    fn map(
        shape: &mut Shape<Field>,
        text: &str,
        pos: usize,
        fields: &mut impl Fields,
    ) -> Result<usize, String> {
        let mut edn = Edn::new(text, pos + 1);
        let mut place = 0;
        loop {
            edn.skip_blank();
            let guess = shape.guess(place, &text.as_bytes()[edn.pos..]);
            let (field, name) = match guess {
                Some((length, field)) if field != Field::Other => {
                    edn.pos += length;
                    (field, "")
                }
                _ => {
                    edn.skip_to_form()?;
                    match edn.peek() {
                        Some(b'}') => return Ok(edn.pos + 1),
                        Some(b':') => {}
                        _ => return Err(edn.unexpected("a field name such as :type, or '}'")),
                    }
                    let (start, name) = (edn.pos, edn.token());
                    edn.skip_blank();
                    let field = named(&name[1..]);
                    shape.learn(place, &text[start..edn.pos], field);
                    (field, if field == Field::Other { name } else { "" })
                }
            };
            let raw = match field {
                Field::Value => fields.value(&mut edn)?,
                _ => edn.form()?,
            };
            fields.set(field, raw, name)?;
            place += 1;
        }
    }

    fn pair(text: &str, pos: usize) -> Option<(Raw, Raw)> {
        let mut edn = Edn::new(text, pos);
        if edn.peek() != Some(b'[') {
            return None;
        }
        edn.pos += 1;
        let pair = (edn.form().ok()?, edn.form().ok()?);
        edn.skip_to_form().ok()?;
        (edn.peek() == Some(b']')).then_some(pair)
    }

    fn mops(text: &str, pos: usize, into: &mut RawMops) -> Result<(), String> {
        cut_mops(&mut Edn::new(text, pos), into)
    }

    fn intern(text: &str, values: &mut Values) -> Result<ValueId, String> {
        edn_value::intern(text, values)
    }
}

pub(super) struct JsonNotation;

impl Notation for JsonNotation {
    const TYPE_FIELD: &'static str = "\"type\"";

    fn maps_end(buffer: &[u8]) -> usize {
        json::maps_end(buffer)
    }

    fn next_map(text: &str, pos: usize) -> Result<Option<usize>, (usize, String)> {
        let mut json = Json::new(text, pos);
        while let Some(b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']') = json.peek() {
            json.pos += 1;
        }
        match json.peek() {
            Some(b'{') => Ok(Some(json.pos)),
            None => Ok(None),
            Some(_) => Err((json.pos, json.unexpected("an operation, a map like {\"type\": ...}"))),
        }
    }

    fn map(
        shape: &mut Shape<Field>,
        text: &str,
        pos: usize,
        fields: &mut impl Fields,
    ) -> Result<usize, String> {
        let mut json = Json::new(text, pos + 1);
        if json.eat(b'}') {
            return Ok(json.pos);
        }
        let mut place = 0;
        loop {
            json.skip_space();
            let start = json.pos;
            let (field, name) = match shape.guess(place, &text.as_bytes()[start..]) {
                Some((length, field)) if field != Field::Other => {
                    json.pos += length;
                    (field, "")
                }
                _ => {
                    let name = json.string()?;
                    json.expect(b':')?;
                    let field = named(name);
                    shape.learn(place, &text[start..json.pos], field);
                    (field, if field == Field::Other { name } else { "" })
                }
            };
            let raw = match field {
                Field::Value => fields.value(&mut json)?,
                _ => json.raw()?,
            };
            fields.set(field, raw, name)?;
            if json.eat(b'}') {
                return Ok(json.pos);
            }
            json.expect(b',')?;
            place += 1;
        }
    }

    fn pair(text: &str, pos: usize) -> Option<(Raw, Raw)> {
        let mut json = Json::new(text, pos);
        json.expect(b'[').ok()?;
        let first = json.raw().ok()?;
        json.expect(b',').ok()?;
        let second = json.raw().ok()?;
        json.eat(b']').then_some((first, second))
    }

    fn mops(text: &str, pos: usize, into: &mut RawMops) -> Result<(), String> {
        cut_mops(&mut Json::new(text, pos), into)
    }

    fn intern(text: &str, values: &mut Values) -> Result<ValueId, String> {
        json::intern(text, values)
    }
}

impl Walk for Edn<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn place(&self) -> usize {
        self.pos
    }

    #[inline]
    fn kind(&mut self) -> Option<MopKind> {
        let rest = &self.text.as_bytes()[self.pos..];
        let (kind, length) = match rest {
            [b':', b'r', b' ', ..] => (MopKind::Read, 2),
            [b':', b'w', b' ', ..] => (MopKind::Write, 2),
            _ if rest.starts_with(b":append ") => (MopKind::Append, 7),
            _ => return None,
        };
        self.pos += length;
        Some(kind)
    }

    fn enter(&mut self) -> Result<bool, String> {
        self.skip_to_form()?;
        let found = matches!(self.peek(), Some(b'[' | b'('));
        self.pos += usize::from(found);
        Ok(found)
    }

    #[inline]
    fn ends(&mut self, _first: bool) -> Result<bool, String> {
        self.skip_to_form()?;
        let found = matches!(self.peek(), Some(b']' | b')'));
        self.pos += usize::from(found);
        Ok(found)
    }

    fn value(&mut self) -> Result<Raw, String> {
        self.form()
    }

    #[inline]
    fn small_ints(&mut self, items: &mut Vec<ValueId>) -> bool {
        self.skip_blank();
        if self.peek() != Some(b'[') {
            return false;
        }
        let end = scan_small_ints(self.text.as_bytes(), self.pos, false, items);
        end.inspect(|&end| self.pos = end).is_some()
    }
}

impl Walk for Json<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn place(&self) -> usize {
        self.pos
    }

    #[inline]
    fn kind(&mut self) -> Option<MopKind> {
        let rest = &self.text.as_bytes()[self.pos..];
        let (kind, length) = match rest {
            [b'"', b'r', b'"', ..] => (MopKind::Read, 3),
            [b'"', b'w', b'"', ..] => (MopKind::Write, 3),
            _ if rest.starts_with(b"\"append\"") => (MopKind::Append, 8),
            _ => return None,
        };
        self.pos += length;
        Some(kind)
    }

    fn enter(&mut self) -> Result<bool, String> {
        Ok(self.eat(b'['))
    }

    #[inline]
    fn ends(&mut self, first: bool) -> Result<bool, String> {
        if self.eat(b']') {
            return Ok(true);
        }
        if !first {
            self.expect(b',')?;
        }
        Ok(false)
    }

    fn value(&mut self) -> Result<Raw, String> {
        self.raw()
    }

    #[inline]
    fn small_ints(&mut self, items: &mut Vec<ValueId>) -> bool {
        self.skip_space();
        if self.peek() != Some(b'[') {
            return false;
        }
        let end = scan_small_ints(self.text.as_bytes(), self.pos, true, items);
        end.inspect(|&end| self.pos = end).is_some()
    }
}
