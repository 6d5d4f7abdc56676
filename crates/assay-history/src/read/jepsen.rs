//! Jepsen operations as maps, in EDN or JSON: cut here, put together by [`super::pairing`].
//!
//! Records are maps, not lines: they may stand one per line, many on one line, or each on several.
//! What surrounds them at the top level (`[`, `]`, `(`, `)`, commas) is stepped over, so that an
//! array of any size streams through without anybody remembering that it is one.

use super::detect::Source;
use super::notation::{EdnNotation, Field, Fields, JsonNotation, Notation, name};
use super::pairing::{Assembler, Dialect};
use super::pipeline::{self, Cut};
use super::raw::Raw;
use super::shape::Shape;
use super::{ReadError, ReadOptions};
use crate::history::History;
use std::marker::PhantomData;

/// What a record says about an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
    /// Nothing: it is no operation of a client.
    Skip,
}

impl Kind {
    pub(super) fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "invoke" => Kind::Invoke,
            "ok" => Kind::Ok,
            "fail" => Kind::Fail,
            "info" => Kind::Info,
            _ => return None,
        })
    }
}

/// One record, its values still in the block.
pub(super) struct Event {
    pub(super) line: u64,
    pub(super) kind: Kind,
    pub(super) process: Raw,
    pub(super) f: Raw,
    pub(super) key: Raw,
    pub(super) value: Raw,
    pub(super) error: Raw,
    pub(super) time: Raw,
    /// Fields that have no column.
    pub(super) others: Vec<String>,
}

impl Event {
    pub(super) fn new(line: u64, kind: Kind) -> Event {
        let null = Raw::NULL;
        let (process, f, key, value, error, time) = (null, null, null, null, null, null);
        Event { line, kind, process, f, key, value, error, time, others: Vec::new() }
    }
}

/// A record while its fields come in.
pub(super) struct Record<'t> {
    text: &'t str,
    pub(super) event: Event,
    typed: bool,
}

impl<'t> Record<'t> {
    pub(super) fn new(text: &'t str, line: u64) -> Record<'t> {
        Record { text, event: Event::new(line, Kind::Skip), typed: false }
    }
}

impl Fields for Record<'_> {
    #[inline]
    fn set(&mut self, field: Field, raw: Raw, other: &str) -> Result<(), String> {
        let event = &mut self.event;
        match field {
            Field::Type => {
                event.kind = name(raw, self.text)
                    .and_then(Kind::named)
                    .ok_or("the type must be one of invoke, ok, fail and info")?;
                self.typed = true;
            }
            Field::Process => event.process = raw,
            Field::F => event.f = raw,
            Field::Key => event.key = raw,
            Field::Value => event.value = raw,
            Field::Error => event.error = raw,
            Field::Time => event.time = raw,
            Field::Index => {}
            Field::Other => event.others.push(other.to_string()),
        }
        Ok(())
    }
}

pub(super) struct Cutter<N> {
    pub(super) shape: Shape<Field>,
    independent: bool,
    notation: PhantomData<N>,
}

impl<N: Notation> Cut for Cutter<N> {
    type Event = Event;
    type Side = ();

    fn whole_records(buffer: &[u8]) -> usize {
        N::maps_end(buffer)
    }

    /// A killed recorder leaves one record unfinished. Where the tail holds several, a bracket or
    /// quote is missing somewhere, and dropping them all would hide operations.
    fn may_be_torn(&self, tail: &str) -> bool {
        tail.matches(N::TYPE_FIELD).count() < 2
    }

    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Event>,
        _side: &mut (),
    ) -> Result<(), ReadError> {
        let mut pos = from;
        let mut lines = Lines::new(text, from, line);
        loop {
            let next =
                N::next_map(text, pos).map_err(|(at, why)| ReadError::record(lines.of(at), why))?;
            let Some(start) = next else { return Ok(()) };
            let line = lines.of(start);
            let mut record = Record::new(text, line);
            pos = N::map(&mut self.shape, text, start, &mut record)
                .and_then(|end| self.check(&mut record).map(|()| end))
                .map_err(|why| ReadError::record(line, why))?;
            events.push(record.event);
        }
    }
}

/// Counts lines up to places that only rise.
pub(super) struct Lines<'t> {
    bytes: &'t [u8],
    line: u64,
    /// Where the current line ends.
    end: usize,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, from: usize, line: u64) -> Lines<'t> {
        let mut lines = Lines { bytes: text.as_bytes(), line, end: 0 };
        lines.end = lines.end_after(from);
        lines
    }

    fn end_after(&self, from: usize) -> usize {
        memchr::memchr(b'\n', &self.bytes[from..]).map_or(self.bytes.len(), |length| from + length)
    }

    /// The line of the byte at `place`.
    #[inline]
    pub(super) fn of(&mut self, place: usize) -> u64 {
        while self.end < place {
            self.line += 1;
            self.end = self.end_after(self.end + 1);
        }
        self.line
    }
}

impl<N: Notation> Cutter<N> {
    pub(super) fn new(independent: bool) -> Cutter<N> {
        Cutter { shape: Shape::new(), independent, notation: PhantomData }
    }

    pub(super) fn check(&self, record: &mut Record<'_>) -> Result<(), String> {
        let (text, event) = (record.text, &mut record.event);
        if !record.typed {
            let field = N::TYPE_FIELD;
            return Err(format!("the field {field} is missing: it says invoke, ok, fail or info"));
        }
        if event.process == Raw::NULL {
            return Err("the record has no process".to_string());
        }
        if event.process.int(text).is_none() {
            event.kind = Kind::Skip;
        }
        if self.independent && matches!(event.kind, Kind::Invoke | Kind::Ok) {
            let pair = event.value.span().and_then(|(start, _)| N::pair(text, start));
            (event.key, event.value) = pair.ok_or(
                "the value is not a pair of key and value, as every value of an independent \
                 history is",
            )?;
        }
        Ok(())
    }
}

/// Adds the record's number to a message where the line does not already tell it.
pub(super) fn with_record(message: String, line: u64, record: u64) -> String {
    if line == record + 1 {
        return message;
    }
    format!("{message} (record {record}, counted from 0)")
}

pub(super) fn read_json(
    source: Source<'_>,
    options: &ReadOptions<'_>,
) -> Result<History, ReadError> {
    read::<JsonNotation>(source, options)
}

pub(super) fn read_edn(
    source: Source<'_>,
    options: &ReadOptions<'_>,
) -> Result<History, ReadError> {
    read::<EdnNotation>(source, options)
}

fn read<N: Notation>(source: Source<'_>, options: &ReadOptions<'_>) -> Result<History, ReadError> {
    let cutter = || Cutter::<N>::new(options.independent);
    let mut assembler = Assembler::<N>::new(Dialect::Jepsen);
    pipeline::run(source, options, cutter, &mut assembler)?;
    Ok(assembler.finish())
}
