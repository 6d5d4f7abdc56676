//! Reading histories: one entry point, four formats, two compressions.
//!
//! ```
//! use assay_history::{ReadOptions, read};
//! let log = "INFO  jepsen.util - 0\t:invoke\t:write\t3\nINFO  jepsen.util - 0\t:ok\t:write\t3\n";
//! let history = read(log.as_bytes(), &ReadOptions::default()).unwrap();
//! assert_eq!(history.len(), 1);
//! ```

mod detect;
mod edn;
mod edn_value;
mod error;
mod jepsen;
mod json;
mod jsonl;
mod jsonl_build;
mod jsonl_event;
mod jsonl_template;
#[cfg(test)]
mod jsonl_template_test;
mod notation;
mod pairing;
mod pipeline;
mod porcupine;
mod raw;
#[cfg(test)]
mod scan_test;
mod shape;
mod txn_cut;
mod txn_pairing;
mod usual_value;

pub use detect::Format;
pub use error::ReadError;

use crate::history::History;
use crate::txn::{Style, Txns};
use crate::validate::{Severity, ValidateOptions, validate};
use notation::{EdnNotation, JsonNotation, Notation};
use std::io::Read;
use std::sync::atomic::AtomicU64;
use txn_cut::TxnCutter;
use txn_pairing::TxnAssembler;

/// The longest record (line, or element of an array) that is read: 64 MiB.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// How deep lists and maps inside a value may nest.
pub const NESTING_MAX: usize = 64;

/// How to read a history.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The format; `None` looks at the first bytes.
    pub format: Option<Format>,
    /// Jepsen's `independent` histories: each value is a pair of key and value.
    pub independent: bool,
    /// Counts the uncompressed bytes read so far, for progress.
    pub progress: Option<&'a AtomicU64>,
}

/// Reads a whole history. Gzip and zstd are recognised by their first bytes.
///
/// # Errors
/// [`ReadError`] names the line and what is wrong with it. A last line that a killed recorder left
/// half-written is no error: it is dropped and noted in [`crate::Meta::torn_tail`].
pub fn read<'a>(
    source: impl Read + Send + 'a,
    options: &ReadOptions<'_>,
) -> Result<History, ReadError> {
    let mut source = detect::decompressed(Box::new(source))?;
    let format = match options.format {
        Some(format) => format,
        None => detect::format_of(source.peek()?)?,
    };
    match format {
        Format::Jsonl => jsonl::read(source, options),
        Format::JepsenJson => jepsen::read_json(source, options),
        Format::JepsenEdn => jepsen::read_edn(source, options),
        Format::PorcupineLog => porcupine::read(source, options),
    }
}

/// Reads a whole transactional history: every operation of a client is a transaction.
///
/// Jepsen's records go straight into the table of transactions; other formats are read as a
/// general history first.
///
/// # Errors
/// As [`read`], and if an operation is no transaction of this style.
pub fn read_txns<'a>(
    source: impl Read + Send + 'a,
    options: &ReadOptions<'_>,
    style: Style,
) -> Result<Txns, ReadError> {
    let mut source = detect::decompressed(Box::new(source))?;
    let format = match options.format {
        Some(format) => format,
        None => detect::format_of(source.peek()?)?,
    };
    match format {
        Format::JepsenJson => jepsen_txns::<JsonNotation>(source, options, style),
        Format::JepsenEdn => jepsen_txns::<EdnNotation>(source, options, style),
        Format::Jsonl => sound_txns(jsonl::read(source, options)?, style),
        Format::PorcupineLog => sound_txns(porcupine::read(source, options)?, style),
    }
}

/// A history that no checker can be sound on is an error here, as Jepsen's records are read by
/// rules of their own.
fn sound_txns(history: History, style: Style) -> Result<Txns, ReadError> {
    let findings = validate(&history, &ValidateOptions::default());
    match findings.iter().find(|finding| finding.severity == Severity::Unsound) {
        Some(finding) => {
            let what = format!(
                "this history cannot carry a verdict: {:?}: {}; {}",
                finding.rule, finding.what, finding.consequence
            );
            Err(ReadError::record(finding.line.unwrap_or(0), what))
        }
        None => Txns::from_history(history, style),
    }
}

fn jepsen_txns<N: Notation>(
    source: detect::Source<'_>,
    options: &ReadOptions<'_>,
    style: Style,
) -> Result<Txns, ReadError> {
    let mut assembler = TxnAssembler::<N>::new(style);
    pipeline::run(source, options, TxnCutter::<N>::new, &mut assembler)?;
    assembler.finish()
}

/// A time in nanoseconds; `None` unless it is a whole number below 2^62.
fn time_ns(raw: raw::Raw, text: &str) -> Option<i64> {
    raw.int(text).filter(|time| time.unsigned_abs() < 1 << 62)
}

fn bad_time(name: &str) -> String {
    format!("{name} must be a whole number of nanoseconds below 2^62")
}

/// Counts a field that has no column, for a bounded number of names.
fn count_ignored(ignored: &mut Vec<(String, u64)>, name: &str) {
    const NAMES_MAX: usize = 20;
    match ignored.iter().position(|(known, _)| known == name) {
        Some(i) => ignored[i].1 += 1,
        None if ignored.len() < NAMES_MAX => ignored.push((name.to_string(), 1)),
        None => {}
    }
}
