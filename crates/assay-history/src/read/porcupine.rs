//! The logs of Porcupine's etcd test data: lines like `INFO  jepsen.util - 0  :invoke  :read  nil`.

use super::detect::Source;
use super::edn::Edn;
use super::jepsen::{Event, Kind};
use super::notation::{EdnNotation, name};
use super::pairing::{Assembler, Dialect};
use super::pipeline::{self, Cut};
use super::{ReadError, ReadOptions};
use crate::history::History;

/// What stands before the fields of a record.
const MARK: &str = "jepsen.util - ";

pub(super) fn read(source: Source<'_>, options: &ReadOptions<'_>) -> Result<History, ReadError> {
    let mut assembler = Assembler::<EdnNotation>::new(Dialect::PorcupineLog);
    pipeline::run(source, options, || Cutter, &mut assembler)?;
    Ok(assembler.finish())
}

struct Cutter;

impl Cut for Cutter {
    type Event = Event;
    type Side = ();

    /// Nothing closes a record of this format but its line end: `3` may be the beginning of `35`.
    fn tail_may_be_whole(&self) -> bool {
        false
    }

    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Event>,
        _side: &mut (),
    ) -> Result<(), ReadError> {
        let (mut start, mut line) = (from, line);
        while start < text.len() {
            let end = memchr::memchr(b'\n', &text.as_bytes()[start..])
                .map_or(text.len(), |length| start + length);
            if !text[start..end].trim().is_empty() {
                let event = event(&text[..end], start, line);
                events.push(event.map_err(|message| ReadError::record(line, message))?);
            }
            line += 1;
            start = end + 1;
        }
        Ok(())
    }
}

/// Cuts the line that begins at `start` and ends where the text does.
fn event(text: &str, start: usize, line: u64) -> Result<Event, String> {
    let mut event = Event::new(line, Kind::Skip);
    let Some(mark) = memchr::memmem::find(&text.as_bytes()[start..], MARK.as_bytes()) else {
        return Ok(event);
    };
    let mut edn = Edn::new(text, start + mark + MARK.len());
    event.process = edn.form()?;
    if event.process.int(text).is_none() {
        return Ok(event);
    }
    let kind = edn.form()?;
    event.kind = name(kind, text)
        .and_then(Kind::named)
        .ok_or("after the process comes one of :invoke, :ok, :fail and :info")?;
    event.f = edn.form()?;
    event.value = edn.form()?;
    edn.skip_blank();
    match edn.peek() {
        None => Ok(event),
        Some(_) => Err(edn.unexpected("the end of the line after the value")),
    }
}
