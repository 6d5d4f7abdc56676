//! Assay's own JSON lines: see docs/formats/history.md.

use super::detect::Source;
use super::json::{Json, Raw};
use super::pipeline::{self, Assemble, Cut};
use super::{ReadError, ReadOptions};
use crate::builder::{Builder, Completion, Invocation};
use crate::history::{Clock, Column, FaultWindow, History, OPS_MAX, OpIndex, TYPES_MAX};
use crate::value::ValueId;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Row,
    Invoke,
    Complete,
    Header,
    Fault,
    Footer,
}

/// One line, its values still in the block.
pub(super) struct Event {
    line: u64,
    kind: Kind,
    columns: u16,
    /// By column, in the order of [`Column`].
    fields: [Raw; 12],
    revision: Raw,
    /// Header, fault and footer fields, and fields that are not defined.
    others: Vec<(String, Raw)>,
}

pub(super) fn read(source: Source<'_>, options: &ReadOptions<'_>) -> Result<History, ReadError> {
    let mut assembler = Assembler {
        builder: Builder::new(),
        open: FxHashMap::default(),
        ignored: Vec::new(),
        ended: None,
    };
    pipeline::run(source, options, Cutter, &mut assembler)?;
    let mut builder = assembler.builder;
    builder.meta().fields_ignored = assembler.ignored;
    Ok(builder.finish())
}

struct Cutter;

impl Cut for Cutter {
    type Event = Event;

    fn cut(
        &mut self,
        text: &str,
        from: usize,
        line: u64,
        events: &mut Vec<Event>,
    ) -> Result<(), ReadError> {
        let mut json = Json::new(text, from);
        let mut line = line;
        loop {
            while let Some(b' ' | b'\t' | b'\r' | b'\n') = json.peek() {
                line += u64::from(json.peek() == Some(b'\n'));
                json.pos += 1;
            }
            // A byte order mark may stand before the first line.
            if json.pos == 0 && text.starts_with('\u{feff}') {
                json.pos = '\u{feff}'.len_utf8();
            }
            if json.pos >= text.len() {
                return Ok(());
            }
            let end = memchr::memchr(b'\n', &text.as_bytes()[json.pos..])
                .map_or(text.len(), |length| json.pos + length);
            let mut of_line = Json::new(&text[..end], json.pos);
            let event =
                event(&mut of_line, line).map_err(|message| ReadError::record(line, message))?;
            json.pos = of_line.pos;
            events.push(event);
        }
    }
}

fn event(json: &mut Json<'_>, line: u64) -> Result<Event, String> {
    let mut event = Event {
        line,
        kind: Kind::Row,
        columns: 0,
        fields: [Raw::NULL; 12],
        revision: Raw::NULL,
        others: Vec::new(),
    };
    json.expect(b'{')?;
    if !json.eat(b'}') {
        loop {
            let name = json.string()?;
            json.expect(b':')?;
            field(&mut event, name, json)?;
            if json.eat(b'}') {
                break;
            }
            json.expect(b',')?;
        }
    }
    json.skip_space();
    match json.peek() {
        None => Ok(event),
        Some(_) => Err(json.unexpected("the end of the line after the closing brace")),
    }
}

fn field(event: &mut Event, name: &str, json: &mut Json<'_>) -> Result<(), String> {
    if let Some(column) = column_named(name) {
        if event.columns & column.bit() != 0 {
            return Err(format!("the field \"{name}\" stands twice in this line"));
        }
        event.columns |= column.bit();
        event.fields[column as usize] = json.raw()?;
        return Ok(());
    }
    match name {
        "event" => event.kind = kind(json.string()?)?,
        "revision" => event.revision = json.raw()?,
        _ => event.others.push((name.to_string(), json.raw()?)),
    }
    Ok(())
}

fn column_named(name: &str) -> Option<Column> {
    Some(match name {
        "op_id" => Column::OpId,
        "process_id" => Column::ProcessId,
        "invoke_ts" => Column::InvokeTs,
        "complete_ts" => Column::CompleteTs,
        "op_type" => Column::OpType,
        "key" => Column::Key,
        "input" => Column::Input,
        "output" => Column::Output,
        "error" => Column::Error,
        "timeout_marker" => Column::TimeoutMarker,
        "node_seen" => Column::NodeSeen,
        "fault_epoch" => Column::FaultEpoch,
        _ => return None,
    })
}

fn kind(name: &str) -> Result<Kind, String> {
    Ok(match name {
        "invoke" => Kind::Invoke,
        "complete" => Kind::Complete,
        "op" => Kind::Row,
        "header" => Kind::Header,
        "fault" => Kind::Fault,
        "footer" => Kind::Footer,
        other => {
            return Err(format!(
                "unknown event \"{other}\": expected invoke, complete, op, header, fault or footer"
            ));
        }
    })
}

struct Assembler {
    builder: Builder,
    open: FxHashMap<ValueId, OpIndex>,
    ignored: Vec<(String, u64)>,
    /// The line of the footer.
    ended: Option<u64>,
}

impl Assemble<Event> for Assembler {
    fn take(&mut self, text: &str, event: Event) -> Result<(), ReadError> {
        let line = event.line;
        self.apply(text, event).map_err(|message| ReadError::record(line, message))
    }

    fn torn(&mut self, line: u64) {
        self.builder.meta().torn_tail = Some(line);
    }
}

impl Assembler {
    fn apply(&mut self, text: &str, event: Event) -> Result<(), String> {
        if let Some(footer) = self.ended {
            return Err(format!("there is a record after the footer in line {footer}"));
        }
        match event.kind {
            Kind::Row => {
                let op = self.invoke(text, &event)?;
                self.complete(text, &event, op)?;
                self.ignore(event.others);
            }
            Kind::Invoke => {
                let op = self.invoke(text, &event)?;
                let op_id = self.builder.so_far().op(op).op_id;
                if self.open.insert(op_id, op).is_some() {
                    let id = self.builder.values_ref().show(op_id);
                    return Err(format!(
                        "operation {id} is invoked again while it is still open: every send needs \
                         an op_id of its own"
                    ));
                }
                self.ignore(event.others);
            }
            Kind::Complete => {
                let op = self.opened(text, &event)?;
                self.complete(text, &event, op)?;
                self.ignore(event.others);
            }
            Kind::Header => self.header(text, event.others)?,
            Kind::Fault => self.fault(text, &event)?,
            Kind::Footer => {
                self.ended = Some(event.line);
                self.footer(text, event.others)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, text: &str, event: &Event, column: Column) -> Result<ValueId, String> {
        let raw = event.fields[column as usize];
        raw.intern(text, self.builder.values())
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
        let op_type = self.value(text, event, Column::OpType)?;
        if self.builder.values_ref().as_str(op_type).is_none() {
            return Err("op_type must be a string such as \"read\"".to_string());
        }
        let op_type = self.builder.type_id(op_type).ok_or_else(|| {
            format!("more than {TYPES_MAX} different op_types: is a value in the wrong field?")
        })?;
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
        Ok(op)
    }

    fn hint(&mut self, text: &str, event: &Event, op: OpIndex) -> Result<(), String> {
        if event.revision == Raw::NULL {
            return Ok(());
        }
        let revision = event.revision.int(text).ok_or("revision must be a whole number")?;
        self.builder.revision(op, revision);
        Ok(())
    }

    fn opened(&mut self, text: &str, event: &Event) -> Result<OpIndex, String> {
        if event.columns & Column::OpId.bit() == 0 {
            return Err("the field \"op_id\" is missing".to_string());
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
        let timeout_marker = match event.fields[Column::TimeoutMarker as usize] {
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

    fn header(&mut self, text: &str, fields: Vec<(String, Raw)>) -> Result<(), String> {
        let mut unknown = Vec::new();
        for (name, raw) in fields {
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
                _ => unknown.push((name, raw)),
            }
        }
        self.ignore(unknown);
        Ok(())
    }

    fn fault(&mut self, text: &str, event: &Event) -> Result<(), String> {
        let epoch = self.value(text, event, Column::FaultEpoch)?;
        if epoch.is_null() {
            return Err("a fault needs a fault_epoch".to_string());
        }
        let time = |wanted: &str| {
            let raw = event.others.iter().find(|(name, _)| name == wanted);
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

    fn footer(&mut self, text: &str, fields: Vec<(String, Raw)>) -> Result<(), String> {
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

    fn ignore(&mut self, fields: Vec<(String, Raw)>) {
        const NAMES_MAX: usize = 20;
        for (name, _) in fields {
            match self.ignored.iter().position(|(known, _)| *known == name) {
                Some(i) => self.ignored[i].1 += 1,
                None if self.ignored.len() < NAMES_MAX => self.ignored.push((name, 1)),
                None => {}
            }
        }
    }
}

fn time(text: &str, event: &Event, column: Column) -> Result<Option<i64>, String> {
    let raw = event.fields[column as usize];
    if raw == Raw::NULL {
        return Ok(None);
    }
    match raw.int(text) {
        Some(time) if time.unsigned_abs() < i64::MAX as u64 / 2 => Ok(Some(time)),
        _ => {
            let name = Column::ALL[column as usize].1;
            Err(format!("{name} must be a whole number of nanoseconds below 2^62"))
        }
    }
}
