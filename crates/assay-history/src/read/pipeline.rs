//! Reading on one thread, putting together on another.
//!
//! The reading thread fetches blocks of whole records, checks that they are UTF-8 and cuts them
//! into events that still point into the block. The calling thread interns their values and builds
//! the history. Buffers go round in a circle, so a file of any size needs a few megabytes.

use super::detect::Source;
use super::{RECORD_BYTES_MAX, ReadError, ReadOptions};
use std::io::Read;
use std::string::FromUtf8Error;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS_IN_FLIGHT: usize = 3;

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Cuts text into events.
pub(super) trait Cut: Send {
    /// What one record says, its texts as ranges of the block.
    type Event: Send;

    /// How many bytes at the start of `buffer` are whole records; the rest waits for more bytes.
    fn whole_records(&mut self, buffer: &[u8]) -> usize {
        memchr::memrchr(b'\n', buffer).map_or(0, |end| end + 1)
    }

    /// Whether a record without its end can be told from a whole one by looking at it.
    fn tail_may_be_whole(&self) -> bool {
        true
    }

    /// Whether a last piece that cannot be cut may be what a killed recorder left, rather than a
    /// mistake further up.
    fn may_be_torn(&self, tail: &str) -> bool {
        let _ = tail;
        true
    }

    /// Appends the events of `text` from byte `from` on, where line number `line` begins.
    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Self::Event>,
    ) -> Result<(), ReadError>;
}

/// Puts events together.
pub(super) trait Assemble<E> {
    /// Takes in one event of the block `text`.
    fn take(&mut self, text: &str, event: E) -> Result<(), ReadError>;

    /// Is told that the last record was cut off in the middle and has been dropped.
    fn torn(&mut self, line: u64);
}

struct Block<E> {
    text: String,
    events: Vec<E>,
    /// Set on the last block if a half-written line followed it.
    torn_line: Option<u64>,
    /// What stopped the reading after these events.
    error: Option<ReadError>,
}

/// Runs both halves to the end of the source.
pub(super) fn run<C: Cut, A: Assemble<C::Event>>(
    source: Source<'_>,
    options: &ReadOptions<'_>,
    mut cutter: C,
    assembler: &mut A,
) -> Result<(), ReadError> {
    let (send, receive) = sync_channel(BLOCKS_IN_FLIGHT);
    let (give_back, spare) = sync_channel(BLOCKS_IN_FLIGHT + 2);
    std::thread::scope(|scope| {
        let mut input = source.into_read();
        let feed =
            move || Feeder { cutter: &mut cutter, spare, line: 1 }.run(&mut *input, options, &send);
        std::thread::Builder::new()
            .name("history-reader".into())
            .spawn_scoped(scope, feed)
            .map_err(|source| ReadError::Io { line: 0, source })?;
        assemble(receive, &give_back, assembler)
    })
}

/// Owns the receiver: when this returns early, a feeder that waits for room learns that nobody
/// listens.
fn assemble<E, A: Assemble<E>>(
    receive: Receiver<Block<E>>,
    give_back: &SyncSender<Block<E>>,
    assembler: &mut A,
) -> Result<(), ReadError> {
    for mut block in receive {
        for event in block.events.drain(..) {
            assembler.take(&block.text, event)?;
        }
        if let Some(error) = block.error {
            return Err(error);
        }
        if let Some(line) = block.torn_line {
            assembler.torn(line);
        }
        // The feeder may be gone already; then nobody needs the buffer.
        let _unneeded = give_back.try_send(block);
    }
    Ok(())
}

struct Feeder<'c, C: Cut> {
    cutter: &'c mut C,
    spare: Receiver<Block<C::Event>>,
    line: u64,
}

impl<C: Cut> Feeder<'_, C> {
    fn run(
        mut self,
        input: &mut dyn Read,
        options: &ReadOptions<'_>,
        send: &SyncSender<Block<C::Event>>,
    ) {
        let mut carry: Vec<u8> = Vec::new();
        let mut first = true;
        loop {
            let mut block = self.fresh_block();
            let mut bytes = std::mem::take(&mut block.text).into_bytes();
            bytes.clear();
            bytes.append(&mut carry);
            let step = self.fill(input, options, &mut bytes, &mut carry);
            if first && bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
            first = false;
            let more = matches!(step, Ok(true));
            if let Err(error) = step {
                block.error = Some(error);
            }
            self.cut_block(bytes, !more, &mut block);
            let last = !more || block.error.is_some();
            if send.send(block).is_err() || last {
                return;
            }
        }
    }

    fn fresh_block(&self) -> Block<C::Event> {
        let mut block = self.spare.try_recv().unwrap_or_else(|_| Block {
            text: String::new(),
            events: Vec::new(),
            torn_line: None,
            error: None,
        });
        block.events.clear();
        block
    }

    /// Fills `bytes` with whole records and leaves the rest in `carry`; false at the end of input.
    fn fill(
        &mut self,
        input: &mut dyn Read,
        options: &ReadOptions<'_>,
        bytes: &mut Vec<u8>,
        carry: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        let mut wanted = BLOCK_BYTES;
        loop {
            let before = bytes.len();
            let missing = wanted.saturating_sub(before);
            // One byte more than is asked for: else reading to the end probes for it separately.
            bytes.reserve(missing + 1);
            if let Err(source) = input.take(missing as u64).read_to_end(bytes) {
                let line = self.line - 1 + lines_in(bytes);
                return Err(ReadError::Io { line, source });
            }
            if let Some(progress) = options.progress {
                progress.fetch_add((bytes.len() - before) as u64, Ordering::Relaxed);
            }
            if bytes.len() < wanted {
                return Ok(false);
            }
            let whole = self.cutter.whole_records(bytes);
            if whole > 0 {
                carry.extend_from_slice(&bytes[whole..]);
                bytes.truncate(whole);
                return Ok(true);
            }
            if bytes.len() >= RECORD_BYTES_MAX {
                let message = format!(
                    "one record is longer than {} MiB; a history has one operation per record \
                     (is this the right file and format?)",
                    RECORD_BYTES_MAX >> 20
                );
                bytes.clear();
                return Err(ReadError::record(self.line, message));
            }
            wanted = bytes.len() * 2;
        }
    }

    fn cut_block(&mut self, bytes: Vec<u8>, at_end: bool, block: &mut Block<C::Event>) {
        block.text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(bad) => self.utf8_prefix(bad, at_end, block),
        };
        let whole = if at_end {
            self.cutter.whole_records(block.text.as_bytes())
        } else {
            block.text.len()
        };
        let first_line = self.line;
        self.line += lines_in(&block.text.as_bytes()[..whole]);
        let cut = self.cutter.cut(&block.text[..whole], 0, first_line, &mut block.events);
        if let Err(error) = cut {
            block.error.get_or_insert(error);
            return;
        }
        if block.error.is_none() && !block.text[whole..].trim().is_empty() {
            self.cut_tail(whole, block);
        }
    }

    /// The last record has no end. Whole all the same, or the mark of a killed recorder?
    fn cut_tail(&mut self, whole: usize, block: &mut Block<C::Event>) {
        let tail = &block.text[whole..];
        let blank = tail.len() - tail.trim_start().len();
        let torn_line = self.line + lines_in(&tail.as_bytes()[..blank]);
        if !self.cutter.tail_may_be_whole() {
            block.torn_line = Some(torn_line);
            return;
        }
        let events_before = block.events.len();
        if let Err(error) = self.cutter.cut(&block.text, whole, self.line, &mut block.events) {
            block.events.truncate(events_before);
            if self.cutter.may_be_torn(tail) {
                block.torn_line = Some(torn_line);
            } else {
                block.error = Some(error);
            }
        }
    }

    /// Keeps what is valid before the first bad byte. A character cut in two at the very end of a
    /// file belongs to a torn last record; anything else is an error.
    fn utf8_prefix(
        &mut self,
        bad: FromUtf8Error,
        at_end: bool,
        block: &mut Block<C::Event>,
    ) -> String {
        let (valid, cut_short) = (bad.utf8_error().valid_up_to(), bad.utf8_error().error_len());
        let mut bytes = bad.into_bytes();
        bytes.truncate(valid);
        if !(at_end && cut_short.is_none()) {
            let message = "not valid UTF-8: histories are UTF-8 text (convert the file, or check \
                           that it is not a binary or compressed with something other than gzip \
                           or zstd)";
            let line = self.line + lines_in(&bytes);
            block.error.get_or_insert(ReadError::record(line, message));
        }
        String::from_utf8(bytes).expect("the prefix was checked")
    }
}

fn lines_in(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
