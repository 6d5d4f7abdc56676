//! Assay's own JSON lines, put together: events become operations, windows and counts.

use super::ReadError;
use super::jsonl_event::{Event, Kind, Others};
use super::pipeline::Assemble;
use super::raw::{Held, Raw};
use crate::builder::{Builder, Completion, Invocation};
use crate::history::{Clock, Column, FaultWindow, History, OPS_MAX, OpIndex, TYPES_MAX};
use crate::value::ValueId;
use rustc_hash::FxHashMap;

/// How many spellings of operation types are looked through before the pool is asked.
const TYPES_REMEMBERED: usize = 16;

/// The name of the field that says when an operation was due.
const DUE_TS: &str = "due_ts";

/// Puts the events of a file together.
pub(super) struct Assembler {
    builder: Builder,
    open: FxHashMap<ValueId, OpIndex>,
    /// How operation types are spelt in the file.
    types: Vec<(Box<str>, u16)>,
    ignored: Vec<(String, u64)>,
    /// The line of the footer.
    ended: Option<u64>,
}

impl Assemble<Event, Others> for Assembler {
    fn take(&mut self, text: &str, side: &Others, event: &Event) -> Result<(), ReadError> {
        self.apply(text, event.others(side), event)
            .map_err(|message| ReadError::record(event.line, message))
    }

    fn torn(&mut self, line: u64) {
        self.builder.meta().torn_tail = Some(line);
    }
}

impl Assembler {
    pub(super) fn new() -> Assembler {
        Assembler {
            builder: Builder::new(),
            open: FxHashMap::default(),
            types: Vec::new(),
            ignored: Vec::new(),
            ended: None,
        }
    }

    pub(super) fn finish(mut self) -> History {
        self.builder.meta().fields_ignored = self.ignored;
        self.builder.finish()
    }

    fn apply(&mut self, text: &str, others: &[(String, Raw)], event: &Event) -> Result<(), String> {
        if let Some(footer) = self.ended {
            return Err(format!("there is a record after the footer in line {footer}"));
        }
        match event.kind {
            Kind::Row => {
                let op = self.invoke(text, event)?;
                self.complete(text, event, op)?;
                self.ignore(others);
            }
            Kind::Invoke => {
                let op = self.invoke(text, event)?;
                let op_id = self.builder.so_far().op(op).op_id;
                if self.open.insert(op_id, op).is_some() {
                    let id = self.builder.values_ref().show(op_id);
                    return Err(format!(
                        "operation {id} is invoked again while it is still open: every send needs \
                         an op_id of its own"
                    ));
                }
                self.ignore(others);
            }
            Kind::Complete => {
                let op = self.opened(text, event)?;
                self.complete(text, event, op)?;
                self.ignore(others);
            }
            Kind::Header => self.header(text, others)?,
            Kind::Fault => self.fault(text, others, event)?,
            Kind::Footer => {
                self.ended = Some(event.line);
                self.footer(text, others)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn value(&mut self, text: &str, event: &Event, column: Column) -> Result<ValueId, String> {
        match event.field(column).known_id() {
            Some(id) => Ok(id),
            None => self.interned(text, event, column),
        }
    }

    #[inline(never)]
    fn interned(&mut self, text: &str, event: &Event, column: Column) -> Result<ValueId, String> {
        event
            .field(column)
            .intern(text, self.builder.values())
            .map_err(|why| format!("{}: {why}", Column::ALL[column as usize].1))
    }

    fn invoke(&mut self, text: &str, event: &Event) -> Result<OpIndex, String> {
        if self.builder.len() >= OPS_MAX {
            return Err(format!("a history holds at most {OPS_MAX} operations"));
        }
        for column in [Column::OpId, Column::ProcessId, Column::InvokeTs, Column::OpType] {
            if event.columns & column.bit() == 0 {
                let name = Column::ALL[column as usize].1;
                return Err(format!("the field \"{name}\" is missing"));
            }
        }
        let op_type = self.op_type(text, event)?;
        let call = Invocation {
            op_id: Some(self.value(text, event, Column::OpId)?),
            process: self.value(text, event, Column::ProcessId)?,
            op_type: "",
            ts: time(text, event, Column::InvokeTs)?.ok_or("invoke_ts must not be null")?,
            key: self.value(text, event, Column::Key)?,
            input: self.value(text, event, Column::Input)?,
            node_seen: self.value(text, event, Column::NodeSeen)?,
            fault_epoch: self.value(text, event, Column::FaultEpoch)?,
            at: event.line.min(u64::from(u32::MAX)) as u32,
            columns: event.columns,
        };
        let op = self.builder.invoke_typed(call, op_type);
        self.hint(text, event, op)?;
        self.due(text, event, op)?;
        Ok(op)
    }

    /// The id of an operation type; there are few, so their spelling is remembered.
    fn op_type(&mut self, text: &str, event: &Event) -> Result<u16, String> {
        let raw = event.field(Column::OpType);
        let Held::Text(spelling) = raw.held(text) else {
            return Err("op_type must be a string such as \"read\"".to_string());
        };
        let known = self.types.iter().find(|(known, _)| &**known == spelling);
        if let Some(&(_, id)) = known {
            return Ok(id);
        }
        let name = self.value(text, event, Column::OpType)?;
        if self.builder.values_ref().as_str(name).is_none() {
            return Err("op_type must be a string such as \"read\"".to_string());
        }
        let id = self.builder.type_id(name).ok_or_else(|| {
            format!("more than {TYPES_MAX} different op_types: is a value in the wrong field?")
        })?;
        if self.types.len() < TYPES_REMEMBERED {
            self.types.push((spelling.into(), id));
        }
        Ok(id)
    }

    fn hint(&mut self, text: &str, event: &Event, op: OpIndex) -> Result<(), String> {
        if event.revision() == Raw::NULL {
            return Ok(());
        }
        let revision = event.revision().int(text).ok_or("revision must be a whole number")?;
        self.builder.revision(op, revision);
        Ok(())
    }

    fn due(&mut self, text: &str, event: &Event, op: OpIndex) -> Result<(), String> {
        if event.due_ts() == Raw::NULL {
            return Ok(());
        }
        let due = super::time_ns(event.due_ts(), text).ok_or_else(|| super::bad_time(DUE_TS))?;
        self.builder.due(op, due);
        Ok(())
    }

    fn opened(&mut self, text: &str, event: &Event) -> Result<OpIndex, String> {
        if event.columns & Column::OpId.bit() == 0 {
            return Err("the field \"op_id\" is missing".to_string());
        }
        if event.due_ts() != Raw::NULL {
            return Err(format!("{DUE_TS} belongs in the line of the invocation"));
        }
        let op_id = self.value(text, event, Column::OpId)?;
        let op = self.open.remove(&op_id).ok_or_else(|| {
            let id = self.builder.values_ref().show(op_id);
            format!(
                "operation {id} completes, but it is not open (never invoked, or completed twice)"
            )
        })?;
        self.hint(text, event, op)?;
        Ok(op)
    }

    fn complete(&mut self, text: &str, event: &Event, op: OpIndex) -> Result<(), String> {
        let timeout_marker = match event.field(Column::TimeoutMarker) {
            Raw::NULL => false,
            raw => raw.bool().ok_or("timeout_marker must be true, false or null")?,
        };
        let end = Completion {
            ts: time(text, event, Column::CompleteTs)?,
            output: self.value(text, event, Column::Output)?,
            error: self.value(text, event, Column::Error)?,
            timeout_marker,
            node_seen: self.value(text, event, Column::NodeSeen)?,
            fault_epoch: self.value(text, event, Column::FaultEpoch)?,
            at: event.line.min(u64::from(u32::MAX)) as u32,
            columns: event.columns,
        };
        self.builder.complete(op, end);
        Ok(())
    }

    fn header(&mut self, text: &str, fields: &[(String, Raw)]) -> Result<(), String> {
        for field in fields {
            let (name, raw) = field;
            let word = raw.plain_str(text);
            match (name.as_str(), word) {
                ("format", Some("assay-history")) | ("time_unit", Some("ns")) => {}
                ("version", _) if raw.int(text) == Some(1) => {}
                ("clock", Some("monotonic")) => self.builder.meta().clock = Clock::Monotonic,
                ("clock", Some("wall")) => self.builder.meta().clock = Clock::Wall,
                ("pipelined", _) if raw.bool().is_some() => {
                    self.builder.meta().pipelined = raw.bool() == Some(true);
                }
                ("format" | "version" | "clock" | "time_unit" | "pipelined", _) => {
                    return Err(format!(
                        "header: unsupported {name} (see docs/formats/history.md)"
                    ));
                }
                _ => self.ignore(std::slice::from_ref(field)),
            }
        }
        Ok(())
    }

    fn fault(&mut self, text: &str, others: &[(String, Raw)], event: &Event) -> Result<(), String> {
        let epoch = self.value(text, event, Column::FaultEpoch)?;
        if epoch.is_null() {
            return Err("a fault needs a fault_epoch".to_string());
        }
        let time = |wanted: &str| {
            let raw = others.iter().find(|(name, _)| name == wanted);
            raw.and_then(|(_, raw)| raw.int(text))
                .ok_or_else(|| format!("a fault needs {wanted}, a whole number of nanoseconds"))
        };
        let (start_ts, end_ts) = (time("start_ts")?, time("end_ts")?);
        if end_ts < start_ts {
            return Err("a fault window ends before it starts".to_string());
        }
        let at = event.line.min(u64::from(u32::MAX)) as u32;
        self.builder.fault_window(FaultWindow { epoch, start_ts, end_ts, at });
        Ok(())
    }

    fn footer(&mut self, text: &str, fields: &[(String, Raw)]) -> Result<(), String> {
        for (name, raw) in fields {
            let count = raw.int(text).and_then(|count| u64::try_from(count).ok());
            match (name.as_str(), count) {
                ("sent", Some(count)) => self.builder.meta().sent = Some(count),
                ("recorded", Some(count)) => self.builder.meta().recorded = Some(count),
                _ => return Err(format!("footer: \"{name}\" is not a known count")),
            }
        }
        Ok(())
    }

    fn ignore(&mut self, fields: &[(String, Raw)]) {
        for (name, _) in fields {
            super::count_ignored(&mut self.ignored, name);
        }
    }
}

fn time(text: &str, event: &Event, column: Column) -> Result<Option<i64>, String> {
    let raw = event.field(column);
    if raw == Raw::NULL {
        return Ok(None);
    }
    let bad = || super::bad_time(Column::ALL[column as usize].1);
    super::time_ns(raw, text).map(Some).ok_or_else(bad)
}
