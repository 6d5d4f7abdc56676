//! Which compression and which format: decided by the first bytes, never by the file's name.

use super::ReadError;
use std::io::{Cursor, Read};

/// A history format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Assay's own JSON lines.
    Jsonl,
    /// Jepsen operations as JSON maps, in lines or in one array.
    JepsenJson,
    /// Jepsen operations as EDN maps, in lines or in one vector; also Porcupine's key-value logs.
    JepsenEdn,
    /// The log lines of Porcupine's etcd test data (`INFO  jepsen.util - 0 :invoke :read nil`).
    PorcupineLog,
}

impl Format {
    /// Every format with its name on the command line.
    pub const ALL: [(Format, &'static str); 4] = [
        (Format::Jsonl, "jsonl"),
        (Format::JepsenJson, "jepsen-json"),
        (Format::JepsenEdn, "jepsen-edn"),
        (Format::PorcupineLog, "porcupine-log"),
    ];
}

/// How many bytes are looked at to recognise a format.
const PEEK_BYTES: usize = 64 << 10;

/// A source whose beginning can be looked at before it is read.
pub(super) struct Source<'a> {
    peeked: Vec<u8>,
    rest: Box<dyn Read + Send + 'a>,
}

impl<'a> Source<'a> {
    fn new(rest: Box<dyn Read + Send + 'a>) -> Source<'a> {
        Source { peeked: Vec::new(), rest }
    }

    pub(super) fn peek(&mut self) -> Result<&[u8], ReadError> {
        let missing = PEEK_BYTES.saturating_sub(self.peeked.len()) as u64;
        (&mut self.rest)
            .take(missing)
            .read_to_end(&mut self.peeked)
            .map_err(|source| ReadError::Io { line: 0, source })?;
        Ok(&self.peeked)
    }

    pub(super) fn into_read(self) -> Box<dyn Read + Send + 'a> {
        Box::new(Cursor::new(self.peeked).chain(self.rest))
    }
}

/// Undoes gzip or zstd, by magic bytes.
pub(super) fn decompressed<'a>(source: Box<dyn Read + Send + 'a>) -> Result<Source<'a>, ReadError> {
    let mut raw = Source::new(source);
    let head = raw.peek()?;
    if head.starts_with(&[0x1f, 0x8b]) {
        Ok(Source::new(Box::new(flate2::read::MultiGzDecoder::new(raw.into_read()))))
    } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = zstd::stream::read::Decoder::new(raw.into_read())
            .map_err(|source| ReadError::Io { line: 0, source })?;
        Ok(Source::new(Box::new(decoder)))
    } else {
        Ok(raw)
    }
}

/// The format that begins like `head`. An empty file is an empty history in Assay's own format.
pub(super) fn format_of(head: &[u8]) -> Result<Format, ReadError> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.is_empty() {
        return Ok(Format::Jsonl);
    }
    if text.contains("jepsen.util - ") && !text.starts_with(['{', '[']) {
        return Ok(Format::PorcupineLog);
    }
    if text.starts_with('#') || text.starts_with(';') || text.starts_with('(') {
        return Ok(Format::JepsenEdn);
    }
    let inner = text.trim_start_matches('[').trim_start();
    let in_array = text.starts_with('[');
    match inner.strip_prefix('{').map(str::trim_start) {
        Some(map) if map.starts_with(':') => Ok(Format::JepsenEdn),
        // Only Jepsen's maps have a `type` and an `f`; Assay's own have `op_id` or `event`.
        Some(_) if in_array || is_jepsen_json(inner) => Ok(Format::JepsenJson),
        Some(_) => Ok(Format::Jsonl),
        None if in_array && (inner.starts_with('#') || inner.starts_with(']')) => {
            Ok(Format::JepsenEdn)
        }
        None => Err(ReadError::Format(
            "this is no history Assay knows: it should begin with a JSON or EDN map, or with lines \
             of a jepsen.util log; name the format with --from jsonl|jepsen-json|jepsen-edn|\
             porcupine-log if the beginning misleads"
                .to_string(),
        )),
    }
}

/// How much of the first record is looked at to tell the two kinds of JSON apart.
const RECORD_PEEK_BYTES: usize = 2 << 10;

fn is_jepsen_json(text: &str) -> bool {
    let beginning = &text[..text.floor_char_boundary(RECORD_PEEK_BYTES)];
    let has = |name: &str| beginning.contains(&format!("\"{name}\""));
    has("type") && has("f") && !has("op_id") && !has("event")
}
