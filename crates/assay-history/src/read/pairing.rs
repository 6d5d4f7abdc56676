//! Invocations and completions, paired by process: what Jepsen's maps and Porcupine's logs share.

use super::ReadError;
use super::jepsen::{Event, Kind, with_record};
use super::notation::{Notation, intern, name};
use super::pipeline::Assemble;
use super::raw::Raw;
use crate::builder::{Builder, Completion, Invocation};
use crate::history::{Clock, History, OPS_MAX, OpIndex, Order, TYPES_MAX};
use crate::role::Role;
use crate::value::ValueId;
use rustc_hash::FxHashMap;
use std::marker::PhantomData;

/// Whose conventions a file follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// Jepsen: records are counted from 0; a failed `cas` never happened.
    Jepsen,
    /// Porcupine's etcd logs: records are lines; a failed `cas` compared and found a difference, a
    /// failed `read` that timed out is unknown.
    PorcupineLog,
}

/// An operation whose completion has not come yet.
struct Open {
    op: OpIndex,
    line: u64,
    op_type: u16,
    role: Role,
    key: ValueId,
    input: ValueId,
}

pub(super) struct Assembler<N> {
    builder: Builder,
    dialect: Dialect,
    open: FxHashMap<ValueId, Open>,
    /// Operation types by name; there are few, so looking through them is quick.
    types: Vec<(String, u16, Role)>,
    /// Records taken in so far.
    records: u64,
    ignored: Vec<(String, u64)>,
    notation: PhantomData<N>,
}

impl<N: Notation> Assemble<Event> for Assembler<N> {
    fn take(&mut self, text: &str, _side: &(), event: &Event) -> Result<(), ReadError> {
        let (line, record) = (event.line, self.records);
        self.apply(text, event).map_err(|message| match self.dialect {
            Dialect::Jepsen => ReadError::record(line, with_record(message, line, record)),
            Dialect::PorcupineLog => ReadError::record(line, message),
        })
    }

    fn locate(&self, error: ReadError) -> ReadError {
        match (self.dialect, error) {
            (Dialect::Jepsen, ReadError::Record { line, message }) => {
                ReadError::record(line, with_record(message, line, self.records))
            }
            (_, error) => error,
        }
    }

    fn torn(&mut self, line: u64) {
        self.builder.meta().torn_tail = Some(line);
    }
}

impl<N: Notation> Assembler<N> {
    pub(super) fn new(dialect: Dialect) -> Assembler<N> {
        let mut builder = Builder::new();
        let meta = builder.meta();
        (meta.native, meta.order, meta.clock) = (false, Order::Positions, Clock::Monotonic);
        Assembler {
            builder,
            dialect,
            open: FxHashMap::default(),
            types: Vec::new(),
            records: 0,
            ignored: Vec::new(),
            notation: PhantomData,
        }
    }

    pub(super) fn finish(mut self) -> History {
        self.builder.meta().fields_ignored = self.ignored;
        self.builder.finish()
    }

    fn apply(&mut self, text: &str, event: &Event) -> Result<(), String> {
        let at = match self.dialect {
            Dialect::Jepsen => self.records,
            Dialect::PorcupineLog => event.line,
        };
        let at = u32::try_from(at).ok().filter(|&at| at < u32::MAX);
        let at = at.ok_or("a history holds at most 2^32 - 2 records")?;
        if self.dialect == Dialect::Jepsen {
            self.builder.record_line(u32::try_from(event.line).unwrap_or(u32::MAX));
        }
        for name in &event.others {
            super::count_ignored(&mut self.ignored, name);
        }
        match event.kind {
            Kind::Skip => self.builder.meta().records_skipped += 1,
            Kind::Invoke => self.invoke(text, event, at)?,
            Kind::Ok | Kind::Fail | Kind::Info => self.complete(text, event, at)?,
        }
        self.records += 1;
        Ok(())
    }

    fn invoke(&mut self, text: &str, event: &Event, at: u32) -> Result<(), String> {
        if self.builder.len() >= OPS_MAX {
            return Err(format!("a history holds at most {OPS_MAX} operations"));
        }
        let process = self.value(text, event.process)?;
        let (op_type, role) = self.op_type(text, event.f)?;
        let key = self.value(text, event.key)?;
        let input = self.value(text, event.value)?;
        let call =
            Invocation::new(process, "", time(text, event, at)?).key(key).input(input).at(at);
        let op = self.builder.invoke_typed(call, op_type);
        let open = Open { op, line: event.line, op_type, role, key, input };
        if let Some(earlier) = self.open.insert(process, open) {
            return Err(format!(
                "process {} invokes an operation while the one it invoked in line {} is still \
                 open; a process does one thing at a time (an operation that was given up is \
                 completed by info)",
                self.builder.values_ref().show(process),
                earlier.line
            ));
        }
        Ok(())
    }

    fn complete(&mut self, text: &str, event: &Event, at: u32) -> Result<(), String> {
        let process = self.value(text, event.process)?;
        let open = self.open.remove(&process).ok_or_else(|| {
            let process = self.builder.values_ref().show(process);
            format!("process {process} completes an operation, but it has none open")
        })?;
        self.check_same(text, event, &open)?;
        let end = match event.kind {
            Kind::Ok => self.succeeded(text, event, &open, at)?,
            Kind::Fail => self.failed(text, event, &open, at)?,
            _ => self.unknown(text, event, &open)?,
        };
        self.builder.complete(open.op, end.record(at));
        Ok(())
    }

    /// A completion repeats what it completes; where it does not, records were mixed up.
    fn check_same(&mut self, text: &str, event: &Event, open: &Open) -> Result<(), String> {
        if event.f != Raw::NULL && self.op_type(text, event.f)?.0 != open.op_type {
            return Err(format!(
                "this completes another kind of operation than line {} invoked",
                open.line
            ));
        }
        if event.key != Raw::NULL && self.value(text, event.key)? != open.key {
            return Err(format!(
                "this completes an operation on another key than line {}",
                open.line
            ));
        }
        Ok(())
    }

    fn succeeded(
        &mut self,
        text: &str,
        event: &Event,
        open: &Open,
        at: u32,
    ) -> Result<Completion, String> {
        let end = Completion::at(time(text, event, at)?);
        let value = self.value(text, event.value)?;
        Ok(end.output(match open.role {
            Role::Answer => value,
            Role::Echo if value != open.input => value,
            Role::Cas if self.dialect == Dialect::PorcupineLog => ValueId::TRUE,
            Role::Echo | Role::Cas => ValueId::NULL,
        }))
    }

    fn failed(
        &mut self,
        text: &str,
        event: &Event,
        open: &Open,
        at: u32,
    ) -> Result<Completion, String> {
        let end = Completion::at(time(text, event, at)?);
        if self.dialect == Dialect::PorcupineLog {
            let value = self.value(text, event.value)?;
            return Ok(match open.role {
                Role::Cas if value == open.input => end.output(ValueId::FALSE),
                Role::Cas | Role::Answer => Completion::unknown().error(value),
                Role::Echo => end.error(self.failure(value, open.input)),
            });
        }
        let error = self.value(text, event.error)?;
        Ok(end.error(self.failure(error, ValueId::NULL)))
    }

    /// The error a failure is recorded with: what the record says, or the word "fail" where it says
    /// nothing, or nothing but what was sent.
    fn failure(&mut self, said: ValueId, sent: ValueId) -> ValueId {
        if said.is_null() || said == sent { self.builder.values().str("fail") } else { said }
    }

    fn unknown(&mut self, text: &str, event: &Event, open: &Open) -> Result<Completion, String> {
        let diagnosis = match self.dialect {
            Dialect::Jepsen => self.value(text, event.error)?,
            Dialect::PorcupineLog => self.value(text, event.value)?,
        };
        let echo = self.dialect == Dialect::PorcupineLog && diagnosis == open.input;
        Ok(Completion::unknown().error(if echo { ValueId::NULL } else { diagnosis }))
    }

    fn value(&mut self, text: &str, raw: Raw) -> Result<ValueId, String> {
        intern::<N>(raw, text, self.builder.values())
    }

    fn op_type(&mut self, text: &str, f: Raw) -> Result<(u16, Role), String> {
        let name = name(f, text).ok_or("f must name the operation, such as read")?;
        if let Some((_, id, role)) = self.types.iter().find(|(known, ..)| known == name) {
            return Ok((*id, *role));
        }
        let value = self.builder.values().str(name);
        let id = self.builder.type_id(value).ok_or_else(|| {
            format!("more than {TYPES_MAX} different operations: is a value in the wrong field?")
        })?;
        let role = Role::of(name);
        self.types.push((name.to_string(), id, role));
        Ok((id, role))
    }
}

/// When a record happened: its time where it has one, else its place.
pub(super) fn time(text: &str, event: &Event, at: u32) -> Result<i64, String> {
    if event.time == Raw::NULL {
        return Ok(i64::from(at));
    }
    super::time_ns(event.time, text).ok_or_else(|| super::bad_time("time"))
}
