//! Micro-operations, cut out of the values of Jepsen's records.
//!
//! Most of a transactional history is lists of small integers. Reading them is left to the threads
//! that cut, so that what has to happen in order is little more than comparing.

use super::ReadError;
use super::jepsen::{Cutter, Event, Kind, Lines, Record};
use super::notation::{Field, Fields, Notation, name};
use super::pipeline::Cut;
use super::raw::Raw;
use crate::txn::{MopKind, bad_mop};
use crate::value::ValueId;

/// One micro-operation, its values still in the block.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawMop {
    pub(super) kind: MopKind,
    pub(super) key: Raw,
    pub(super) value: Raw,
    /// Where the items of the value stand in [`RawMops::items`], if it is a list of small
    /// integers.
    pub(super) list: Option<(u32, u32)>,
}

/// The micro-operations of a block.
#[derive(Default, Debug)]
pub(super) struct RawMops {
    pub(super) mops: Vec<RawMop>,
    pub(super) items: Vec<ValueId>,
}

impl RawMops {
    pub(super) fn clear(&mut self) {
        self.mops.clear();
        self.items.clear();
    }
}

/// Walks lists, whatever separates their items.
pub(super) trait Walk {
    /// The text that is walked.
    fn text(&self) -> &str;
    /// Where it is.
    fn place(&self) -> usize;
    /// Steps over the name of a micro-operation, if it is spelt as most people spell it.
    fn kind(&mut self) -> Option<MopKind>;
    /// Steps into a list; false if there is none.
    fn enter(&mut self) -> Result<bool, String>;
    /// Steps out of a list, or over what separates its items; true if it ended. `first` before the
    /// first item.
    fn ends(&mut self, first: bool) -> Result<bool, String>;
    /// Steps over a value.
    fn value(&mut self) -> Result<Raw, String>;
    /// Steps over a list of small integers and appends them; false (and nothing done) if it is
    /// anything else.
    fn small_ints(&mut self, items: &mut Vec<ValueId>) -> bool;
}

/// Appends the micro-operations of the transaction that begins where `walk` stands.
pub(super) fn cut_mops(walk: &mut impl Walk, into: &mut RawMops) -> Result<(), String> {
    if !walk.enter()? {
        return Err("the value of a transaction must be a list of micro-operations".to_string());
    }
    let mut first = true;
    while !walk.ends(first)? {
        first = false;
        let mop = cut_mop(walk, into)?;
        into.mops.push(mop);
    }
    Ok(())
}

fn cut_mop(walk: &mut impl Walk, into: &mut RawMops) -> Result<RawMop, String> {
    let no_list = || "a micro-operation must be a list such as [\"r\", key, null]".to_string();
    if !walk.enter()? {
        return Err(no_list());
    }
    if walk.ends(true)? {
        return Err(no_list());
    }
    let kind = match walk.kind() {
        Some(kind) => kind,
        None => named_kind(walk)?,
    };
    let short = || bad_mop("a list of fewer than three items");
    if walk.ends(false)? {
        return Err(short());
    }
    let key = walk.value()?;
    if walk.ends(false)? {
        return Err(short());
    }
    let before = into.items.len();
    let mut mop = RawMop { kind, key, value: Raw::NULL, list: None };
    if kind == MopKind::Read && walk.small_ints(&mut into.items) {
        mop.list = Some((before as u32, (into.items.len() - before) as u32));
    } else {
        mop.value = walk.value()?;
    }
    if !walk.ends(false)? {
        return Err(bad_mop("a list of more than three items"));
    }
    Ok(mop)
}

fn named_kind(walk: &mut impl Walk) -> Result<MopKind, String> {
    let f = walk.value()?;
    name(f, walk.text()).and_then(MopKind::named).ok_or_else(|| {
        let spelt = f.span().map_or("that", |(start, end)| &walk.text()[start..end]);
        bad_mop(&format!("[{spelt} ...]"))
    })
}

/// A list of integers of up to nine digits, from its bracket on: where it ends, or `None` if it is
/// anything else. With `commas` exactly one comma separates items, else any blanks and commas do.
#[inline]
pub(super) fn scan_small_ints(
    bytes: &[u8],
    start: usize,
    commas: bool,
    items: &mut Vec<ValueId>,
) -> Option<usize> {
    let before = items.len();
    let mut pos = start + 1;
    let end = loop {
        let mut value = 0u32;
        let digits = pos;
        while let Some(digit @ b'0'..=b'9') = bytes.get(pos).copied() {
            value = value.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            pos += 1;
        }
        let length = pos - digits;
        if length == 0 {
            // An empty list, or (in EDN) blanks before the bracket.
            match bytes.get(pos) {
                Some(b']') if items.len() == before || !commas => break Some(pos + 1),
                Some(b' ') if !commas => pos += 1,
                _ => break None,
            }
            continue;
        }
        if length > 9 || (length > 1 && bytes[digits] == b'0') {
            break None;
        }
        items.push(ValueId::inline_int(i64::from(value)).expect("nine digits fit"));
        match bytes.get(pos) {
            Some(b']') => break Some(pos + 1),
            Some(b',') if commas => pos += 1,
            Some(b' ' | b',') if !commas => pos += 1,
            _ => break None,
        }
        if commas && bytes.get(pos) == Some(&b' ') {
            pos += 1;
        }
    };
    if end.is_none() {
        items.truncate(before);
    }
    end
}

/// A record and the micro-operations it completed with.
pub(super) struct TxnEvent {
    pub(super) event: Event,
    /// A range of [`RawMops::mops`]; empty unless the transaction committed.
    pub(super) mops: (u32, u32),
}

pub(super) struct TxnCutter<N> {
    records: Cutter<N>,
}

impl<N: Notation> TxnCutter<N> {
    pub(super) fn new() -> TxnCutter<N> {
        TxnCutter { records: Cutter::new(false) }
    }
}

/// A record while its fields come in. Where the type of the record comes before its value, as it
/// mostly does, the micro-operations are cut while the value is stepped over.
struct TxnRecord<'t, 's> {
    record: Record<'t>,
    side: &'s mut RawMops,
    cut: bool,
}

impl Fields for TxnRecord<'_, '_> {
    #[inline]
    fn set(&mut self, field: Field, raw: Raw, name: &str) -> Result<(), String> {
        self.record.set(field, raw, name)
    }

    #[inline]
    fn value(&mut self, walk: &mut impl Walk) -> Result<Raw, String> {
        if self.record.event.kind != Kind::Ok {
            return walk.value();
        }
        let start = walk.place();
        cut_mops(walk, self.side)?;
        self.cut = true;
        Ok(Raw::text(start, walk.place()))
    }
}

impl<N: Notation> Cut for TxnCutter<N> {
    type Event = TxnEvent;
    type Side = RawMops;

    fn clear(side: &mut RawMops) {
        side.clear();
    }

    fn whole_records(buffer: &[u8]) -> usize {
        Cutter::<N>::whole_records(buffer)
    }

    fn may_be_torn(&self, tail: &str) -> bool {
        self.records.may_be_torn(tail)
    }

    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<TxnEvent>,
        side: &mut RawMops,
    ) -> Result<(), ReadError> {
        let mut pos = from;
        let mut lines = Lines::new(text, from, line);
        loop {
            let next =
                N::next_map(text, pos).map_err(|(at, why)| ReadError::record(lines.of(at), why))?;
            let Some(start) = next else { return Ok(()) };
            let line = lines.of(start);
            let first = side.mops.len() as u32;
            let mut fields = TxnRecord { record: Record::new(text, line), side, cut: false };
            let at_line = |why| ReadError::record(line, why);
            pos = N::map(&mut self.records.shape, text, start, &mut fields).map_err(at_line)?;
            self.records.check(&mut fields.record).map_err(at_line)?;
            let TxnRecord { record: Record { event, .. }, cut, .. } = fields;
            if event.kind != Kind::Ok {
                side.mops.truncate(first as usize);
            } else if let Some((start, _)) = event.value.span()
                && !cut
            {
                N::mops(text, start, side).map_err(at_line)?;
            }
            let mops = (first, side.mops.len() as u32);
            events.push(TxnEvent { event, mops });
        }
    }
}
