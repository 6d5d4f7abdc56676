//! Writing histories: Assay's JSON lines in two forms, Jepsen's operations in two notations,
//! Porcupine's logs.
//!
//! ```
//! use assay_history::{Builder, Completion, Invocation, write_jsonl_rows};
//! let mut b = Builder::new();
//! let client = b.values().int(0);
//! let op = b.invoke(Invocation::new(client, "read", 10));
//! b.complete(op, Completion::at(20));
//! let mut file = Vec::new();
//! write_jsonl_rows(&b.finish(), &mut file).unwrap();
//! assert_eq!(String::from_utf8(file).unwrap().lines().count(), 2);
//! ```
//!
//! Reading what was written gives the same operations; docs/formats/history.md says what Jepsen's
//! format cannot carry.

mod jepsen;
mod jsonl;
mod porcupine;

pub use jepsen::{write_jepsen_edn, write_jepsen_json};
pub use jsonl::{write_jsonl, write_jsonl_rows};
pub use porcupine::write_porcupine_log;

use crate::history::{History, NEVER, Op, OpIndex, Order};
use std::io::{self, Write};

/// How what is written is compressed; readers recognise it by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// As gzip.
    Gzip,
    /// As zstd.
    Zstd,
}

/// Lets `write` write through a compression.
///
/// # Errors
/// Those of `write` and of `out`.
pub fn write_packed(
    packing: Packing,
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match packing {
        Packing::Plain => write(out),
        Packing::Gzip => {
            let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            write(&mut packed)?;
            packed.finish().map(drop)
        }
        Packing::Zstd => {
            let mut packed = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            write(&mut packed)?;
            packed.finish().map(drop)
        }
    }
}

/// How much text is gathered before it is written.
const BUFFER_BYTES: usize = 64 << 10;

/// Text on its way to a file.
struct Out<'w> {
    text: String,
    sink: &'w mut dyn Write,
}

impl<'w> Out<'w> {
    fn new(sink: &'w mut dyn Write) -> Out<'w> {
        Out { text: String::with_capacity(BUFFER_BYTES + 4096), sink }
    }

    /// Ends a record.
    fn line(&mut self) -> io::Result<()> {
        self.text.push('\n');
        if self.text.len() >= BUFFER_BYTES { self.drain() } else { Ok(()) }
    }

    fn drain(&mut self) -> io::Result<()> {
        self.sink.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.drain()?;
        self.sink.flush()
    }
}

/// The beginning or the end of an operation, in the order they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    /// In the history's order; [`NEVER`] for an end without a time.
    at: i64,
    /// At equal times beginnings come first: such operations overlap.
    end: bool,
    op: u32,
}

/// The beginnings of all operations and the ends of those that completed, in order.
fn moments(history: &History) -> Vec<Moment> {
    let mut moments = Vec::with_capacity(2 * history.len());
    for op in history.ops() {
        let (begin, end) = times(history, &op);
        moments.push(Moment { at: begin, end: false, op: op.index.0 });
        if op.completed {
            // An end before its beginning is for validation to report; here it must come after.
            moments.push(Moment { at: end.max(begin), end: true, op: op.index.0 });
        }
    }
    moments.sort();
    moments
}

/// Where an operation's two records belong in the history's order.
fn times(history: &History, op: &Op) -> (i64, i64) {
    match history.meta.order {
        Order::Timestamps => (op.invoke_ts, op.complete_ts.unwrap_or(NEVER)),
        Order::Positions => (i64::from(op.invoke_at), i64::from(op.complete_at)),
    }
}

impl Moment {
    fn op(self, history: &History) -> Op {
        history.op(OpIndex(self.op))
    }
}
