//! Fetch, cut, put together: each on threads of its own.
//!
//! One thread fetches blocks of whole records and checks that they are UTF-8. Cutting a block into
//! events, which still point into it, costs most, so two threads take turns at it. The calling
//! thread takes the blocks back in order, interns their values and builds the history. Buffers go
//! round in a circle, so a file of any size needs a few megabytes.

use super::detect::Source;
use super::{RECORD_BYTES_MAX, ReadError, ReadOptions};
use std::io::Read;
use std::string::FromUtf8Error;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

const BLOCK_BYTES: usize = 256 << 10;
const BLOCKS_IN_FLIGHT: usize = 2;

/// How many threads cut.
const CUTTERS: usize = 2;

/// What some editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Cuts text into events.
pub(super) trait Cut: Send {
    /// What one record says, its texts as ranges of the block.
    type Event: Send;

    /// What the events of a block share: what they point to besides the text.
    type Side: Default + Send;

    /// Empties what a block carried before it is used again.
    fn clear(side: &mut Self::Side) {
        let _ = side;
    }

    /// How many bytes at the start of `buffer` are whole records; the rest waits for more bytes.
    fn whole_records(buffer: &[u8]) -> usize {
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
        side: &mut Self::Side,
    ) -> Result<(), ReadError>;
}

/// Puts events together.
pub(super) trait Assemble<E, S = ()> {
    /// Takes in one event of the block `text`.
    fn take(&mut self, text: &str, side: &S, event: &E) -> Result<(), ReadError>;

    /// Says more precisely where an error is that stopped the cutting after the last event taken.
    fn locate(&self, error: ReadError) -> ReadError {
        error
    }

    /// Is told that the last record was cut off in the middle and has been dropped.
    fn torn(&mut self, line: u64);
}

struct Block<E, S> {
    text: String,
    /// How many bytes of the text are whole records; more follow only in the last block.
    whole: usize,
    /// The line that the text begins with.
    first_line: u64,
    events: Vec<E>,
    side: S,
    /// Set on the last block if a half-written line followed it.
    torn_line: Option<u64>,
    /// What stopped the reading after this text, or these events.
    error: Option<ReadError>,
}

type BlockOf<C> = Block<<C as Cut>::Event, <C as Cut>::Side>;

/// Runs all threads to the end of the source. Each cutting thread has a cutter of its own: what
/// cutters remember is only there to make them faster.
pub(super) fn run<C: Cut, A: Assemble<C::Event, C::Side>>(
    source: Source<'_>,
    options: &ReadOptions<'_>,
    new_cutter: impl Fn() -> C,
    assembler: &mut A,
) -> Result<(), ReadError> {
    let (give_back, spare) = sync_channel(CUTTERS * (2 * BLOCKS_IN_FLIGHT + 1) + 2);
    let (mut to_cut, mut from_cut) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..CUTTERS {
            let (send_fetched, fetched) = sync_channel(BLOCKS_IN_FLIGHT);
            let (send_cut, cut) = sync_channel(BLOCKS_IN_FLIGHT);
            let mut cutter = new_cutter();
            to_cut.push(send_fetched);
            from_cut.push(cut);
            spawn(scope, "history-cut", move || cut_all(&mut cutter, fetched, &send_cut))?;
        }
        let mut input = source.into_read();
        let fetcher = Fetcher::<C> { spare, line: 1 };
        spawn(scope, "history-fetch", move || fetcher.run(&mut *input, options, &to_cut))?;
        assemble(from_cut, &give_back, assembler)
    })
}

/// Starts a thread; a machine that has none to spare is an error, not a panic.
fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    work: impl FnOnce() + Send + 'scope,
) -> Result<(), ReadError> {
    std::thread::Builder::new()
        .name(name.to_string())
        .spawn_scoped(scope, work)
        .map(drop)
        .map_err(|source| ReadError::Io { line: 0, source })
}

/// Owns the receiver: when this returns early, whoever waits for room learns that nobody listens.
fn cut_all<C: Cut>(cutter: &mut C, fetched: Receiver<BlockOf<C>>, send: &SyncSender<BlockOf<C>>) {
    for mut block in fetched {
        cut_block(cutter, &mut block);
        if send.send(block).is_err() {
            return;
        }
    }
}

/// Takes the blocks in their order, one cutter after the other. Owns the receivers, as [`cut_all`]
/// does.
fn assemble<E, S, A: Assemble<E, S>>(
    receive: Vec<Receiver<Block<E, S>>>,
    give_back: &SyncSender<Block<E, S>>,
    assembler: &mut A,
) -> Result<(), ReadError> {
    for turn in (0..receive.len()).cycle() {
        // Blocks go round in order: if there is none at this turn, there is none later.
        let Ok(block) = receive[turn].recv() else { break };
        for event in &block.events {
            assembler.take(&block.text, &block.side, event)?;
        }
        if let Some(error) = block.error {
            return Err(assembler.locate(error));
        }
        if let Some(line) = block.torn_line {
            assembler.torn(line);
        }
        // The fetcher may be gone already; then nobody needs the buffer.
        let _unneeded = give_back.try_send(block);
    }
    Ok(())
}

struct Fetcher<C: Cut> {
    spare: Receiver<BlockOf<C>>,
    /// The line that the next block begins with.
    line: u64,
}

impl<C: Cut> Fetcher<C> {
    fn run(
        mut self,
        input: &mut dyn Read,
        options: &ReadOptions<'_>,
        send: &[SyncSender<BlockOf<C>>],
    ) {
        let mut carry: Vec<u8> = Vec::new();
        let mut first = true;
        for turn in (0..send.len()).cycle() {
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
            self.as_text(bytes, !more, &mut block);
            let last = !more || block.error.is_some();
            if send[turn].send(block).is_err() || last {
                return;
            }
        }
    }

    fn fresh_block(&self) -> BlockOf<C> {
        let mut block = self.spare.try_recv().unwrap_or_else(|_| Block {
            text: String::new(),
            whole: 0,
            first_line: 0,
            events: Vec::new(),
            side: C::Side::default(),
            torn_line: None,
            error: None,
        });
        block.events.clear();
        C::clear(&mut block.side);
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
            let whole = C::whole_records(bytes);
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

    fn as_text(&mut self, bytes: Vec<u8>, at_end: bool, block: &mut BlockOf<C>) {
        block.text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(bad) => self.utf8_prefix(bad, at_end, block),
        };
        let bytes = block.text.as_bytes();
        block.whole = if at_end { C::whole_records(bytes) } else { bytes.len() };
        block.first_line = self.line;
        self.line += lines_in(&bytes[..block.whole]);
    }

    /// Keeps what is valid before the first bad byte. A character cut in two at the very end of a
    /// file belongs to a torn last record; anything else is an error.
    fn utf8_prefix(&mut self, bad: FromUtf8Error, at_end: bool, block: &mut BlockOf<C>) -> String {
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

fn cut_block<C: Cut>(cutter: &mut C, block: &mut BlockOf<C>) {
    let whole = &block.text[..block.whole];
    if let Err(error) = cutter.cut(whole, 0, block.first_line, &mut block.events, &mut block.side) {
        // What could not be cut comes before whatever could not be fetched.
        block.error = Some(error);
    } else if block.error.is_none() && !block.text[block.whole..].trim().is_empty() {
        cut_tail(cutter, block);
    }
}

/// The last record has no end. Whole all the same, or the mark of a killed recorder?
fn cut_tail<C: Cut>(cutter: &mut C, block: &mut BlockOf<C>) {
    let (whole, tail) = block.text.split_at(block.whole);
    let line = block.first_line + lines_in(whole.as_bytes());
    let blank = tail.len() - tail.trim_start().len();
    let torn_line = line + lines_in(&tail.as_bytes()[..blank]);
    if !cutter.tail_may_be_whole() {
        block.torn_line = Some(torn_line);
        return;
    }
    let events_before = block.events.len();
    if let Err(error) =
        cutter.cut(&block.text, block.whole, line, &mut block.events, &mut block.side)
    {
        block.events.truncate(events_before);
        if cutter.may_be_torn(tail) {
            block.torn_line = Some(torn_line);
        } else {
            block.error = Some(error);
        }
    }
}

fn lines_in(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
