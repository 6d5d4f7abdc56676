//! Invocations and completions of transactions, paired by process.

use super::ReadError;
use super::jepsen::{Event, Kind, with_record};
use super::notation::{Notation, intern};
use super::pairing::time;
use super::pipeline::Assemble;
use super::raw::Raw;
use super::txn_cut::{RawMop, RawMops, TxnEvent};
use crate::history::{Clock, OPS_MAX, Order, Outcome};
use crate::txn::{MopKind, Style, TxnIndex, Txns, TxnsBuilder};
use crate::value::ValueId;
use rustc_hash::FxHashMap;
use std::marker::PhantomData;

/// A transaction whose completion has not come yet.
#[derive(Default)]
struct Open {
    txn: u32,
    line: u64,
    /// What it wants to do, as written: looked at only if nobody learns what it did.
    wants: String,
}

pub(super) struct TxnAssembler<N> {
    builder: TxnsBuilder,
    style: Style,
    open: FxHashMap<ValueId, Open>,
    /// Buffers of transactions that have ended.
    spare: Vec<String>,
    records: u64,
    ignored: Vec<(String, u64)>,
    notation: PhantomData<N>,
}

impl<N: Notation> Assemble<TxnEvent, RawMops> for TxnAssembler<N> {
    fn take(&mut self, text: &str, side: &RawMops, event: &TxnEvent) -> Result<(), ReadError> {
        let (line, record) = (event.event.line, self.records);
        self.apply(text, side, event)
            .map_err(|message| ReadError::record(line, with_record(message, line, record)))
    }

    fn locate(&self, error: ReadError) -> ReadError {
        match error {
            ReadError::Record { line, message } => {
                ReadError::record(line, with_record(message, line, self.records))
            }
            error => error,
        }
    }

    fn torn(&mut self, line: u64) {
        self.builder.meta().torn_tail = Some(line);
    }
}

impl<N: Notation> TxnAssembler<N> {
    pub(super) fn new(style: Style) -> TxnAssembler<N> {
        let mut builder = TxnsBuilder::new(style);
        let meta = builder.meta();
        (meta.native, meta.order, meta.clock) = (false, Order::Positions, Clock::Monotonic);
        TxnAssembler {
            builder,
            style,
            open: FxHashMap::default(),
            spare: Vec::new(),
            records: 0,
            ignored: Vec::new(),
            notation: PhantomData,
        }
    }

    /// Transactions that are still open at the end may have done what they wanted.
    pub(super) fn finish(mut self) -> Result<Txns, ReadError> {
        let mut open: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|open| open.txn);
        for open in open {
            self.wanted(&open, Outcome::Unknown)
                .map_err(|message| ReadError::record(open.line, message))?;
        }
        self.builder.meta().fields_ignored = self.ignored;
        Ok(self.builder.finish())
    }

    fn apply(&mut self, text: &str, side: &RawMops, event: &TxnEvent) -> Result<(), String> {
        let &TxnEvent { ref event, mops: (first, end) } = event;
        let at = u32::try_from(self.records).ok().filter(|&at| at < u32::MAX);
        let at = at.ok_or("a history holds at most 2^32 - 2 records")?;
        self.builder.record_line(u32::try_from(event.line).unwrap_or(u32::MAX));
        for name in &event.others {
            super::count_ignored(&mut self.ignored, name);
        }
        match event.kind {
            Kind::Skip => self.builder.meta().records_skipped += 1,
            Kind::Invoke => self.invoke(text, event, at)?,
            Kind::Ok => {
                let open = self.close(text, event)?;
                let end_time = Some(self.moment(text, event, at)?);
                self.builder.complete(TxnIndex(open.txn), Outcome::Ok, end_time, at);
                match event.value.span() {
                    Some(_) => {
                        let mops = &side.mops[first as usize..end as usize];
                        self.add(text, mops, &side.items, open.txn, Outcome::Ok)?;
                    }
                    None => return Err("a committed transaction has no value".to_string()),
                }
                self.spare.push(open.wants);
            }
            Kind::Fail | Kind::Info => {
                let open = self.close(text, event)?;
                let outcome =
                    if event.kind == Kind::Fail { Outcome::Fail } else { Outcome::Unknown };
                let end_time = Some(self.moment(text, event, at)?);
                self.builder.complete(TxnIndex(open.txn), outcome, end_time, at);
                self.wanted(&open, outcome)?;
                self.spare.push(open.wants);
            }
        }
        self.records += 1;
        Ok(())
    }

    /// Real-time order comes from the place of the records; times are only checked.
    fn moment(&self, text: &str, event: &Event, at: u32) -> Result<i64, String> {
        time(text, event, at)?;
        Ok(i64::from(at))
    }

    fn invoke(&mut self, text: &str, event: &Event, at: u32) -> Result<(), String> {
        if self.builder.len() >= OPS_MAX {
            return Err(format!("a history holds at most {OPS_MAX} transactions"));
        }
        let process = self.value(text, event.process)?;
        let start = self.moment(text, event, at)?;
        let mut wants = self.spare.pop().unwrap_or_default();
        wants.clear();
        if let Some((start, end)) = event.value.span() {
            wants.push_str(&text[start..end]);
        }
        let txn = self.builder.invoke(process, start, at).0;
        let open = Open { txn, line: event.line, wants };
        if let Some(earlier) = self.open.insert(process, open) {
            return Err(format!(
                "process {} begins a transaction while the one it began in line {} is still open; \
                 a process does one thing at a time (a transaction that was given up is completed \
                 by info)",
                self.builder.values().show(process),
                earlier.line
            ));
        }
        Ok(())
    }

    fn close(&mut self, text: &str, event: &Event) -> Result<Open, String> {
        let process = self.value(text, event.process)?;
        self.open.remove(&process).ok_or_else(|| {
            let process = self.builder.values().show(process);
            format!("process {process} completes a transaction, but it has none open")
        })
    }

    /// Adds what a transaction wanted to do, where nobody learnt what it did.
    fn wanted(&mut self, open: &Open, outcome: Outcome) -> Result<(), String> {
        if open.wants.is_empty() {
            return Ok(());
        }
        let mut mops = RawMops::default();
        N::mops(&open.wants, 0, &mut mops)?;
        self.add(&open.wants, &mops.mops, &mops.items, open.txn, outcome)
    }

    fn add(
        &mut self,
        text: &str,
        mops: &[RawMop],
        items: &[ValueId],
        txn: u32,
        outcome: Outcome,
    ) -> Result<(), String> {
        for mop in mops {
            mop.kind.fits(self.style)?;
            let key = self.value(text, mop.key)?;
            if let Some((first, len)) = mop.list
                && self.style.reads_lists()
            {
                let list = &items[first as usize..(first + len) as usize];
                let mop = mop.kind.mop(key, ValueId::NULL, Some(list), outcome);
                self.builder.mop(TxnIndex(txn), mop)?;
                continue;
            }
            let mut value = match mop.list {
                Some((first, len)) => {
                    let list = &items[first as usize..(first + len) as usize];
                    self.builder.values().list(list)
                }
                None => self.value(text, mop.value)?,
            };
            mop.kind.has_value(value)?;
            let answered = outcome == Outcome::Ok;
            mop.kind.has_number(self.builder.values(), value, self.style, answered)?;
            let mut list = None;
            if mop.kind == MopKind::Read && self.style.reads_lists() {
                list = Some(self.list(value)?);
                value = ValueId::NULL;
            }
            let mop = mop.kind.mop(key, value, list.as_deref(), outcome);
            self.builder.mop(TxnIndex(txn), mop)?;
        }
        Ok(())
    }

    fn list(&mut self, value: ValueId) -> Result<Vec<ValueId>, String> {
        if value.is_null() {
            return Ok(Vec::new());
        }
        let values = self.builder.values();
        values
            .as_list(value)
            .map(<[ValueId]>::to_vec)
            .ok_or_else(|| format!("a read returned {}, which is no list", values.show(value)))
    }

    fn value(&mut self, text: &str, raw: Raw) -> Result<ValueId, String> {
        intern::<N>(raw, text, self.builder.values())
    }
}
