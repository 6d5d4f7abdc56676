//! The logs of Porcupine's etcd test data: a record is a line with process, type, function and
//! value, and the value of a completion that brought nothing is its error.

use super::jepsen::{Layout, Records, is_name, write_edn};
use crate::history::{History, Op, Outcome};
use crate::role::Role;
use crate::show::push;
use crate::value::ValueId;
use std::io::{self, Write};

/// Writes lines of Porcupine's etcd logs: for one object without a key, and read back with the same
/// meaning. A read that failed comes back as unknown, which says as little.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] where the format cannot say what happened:
/// several keys, a `cas` that failed for certain, and what [`super::write_jepsen_edn`] refuses.
pub fn write_porcupine_log(history: &History, out: &mut dyn Write) -> io::Result<()> {
    if history.key_count() > 1 {
        let message = format!(
            "this format has no keys, and the history has {}: write jepsen-edn, which Porcupine's \
             key-value logs are read as",
            history.key_count()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Records::new(history, out, Layout::Log).write()
}

impl Records<'_, '_> {
    /// The line of a completion.
    pub(super) fn log_end(&mut self, op: &Op, role: Role) -> io::Result<()> {
        let (kind, value) = match (op.outcome(), role) {
            (Outcome::Ok, Role::Cas) if op.output == ValueId::FALSE => ("fail", op.input),
            (Outcome::Ok, Role::Answer) => ("ok", op.output),
            (Outcome::Ok, Role::Echo) if !op.output.is_null() => ("ok", op.output),
            (Outcome::Ok, _) => ("ok", op.input),
            (Outcome::Fail, Role::Cas) => {
                let why = "is a cas that failed for certain: here a cas that fails has compared";
                return Err(self.impossible(op, why));
            }
            (Outcome::Fail, Role::Answer) => ("info", self.diagnosis(op)),
            (Outcome::Fail, Role::Echo) => ("fail", self.diagnosis(op)),
            (Outcome::Unknown, _) => ("info", self.diagnosis(op)),
        };
        self.log_line(op, kind, value)
    }

    /// What stands in the place of a value: the error, or what was sent if none is known.
    fn diagnosis(&self, op: &Op) -> ValueId {
        let plain = self.history.values.as_str(op.error) == Some("fail");
        if op.error.is_null() || plain { op.input } else { op.error }
    }

    /// One line.
    pub(super) fn log_line(&mut self, op: &Op, kind: &str, value: ValueId) -> io::Result<()> {
        let (process, name) = (self.process(op), self.history.type_name(op.op_type));
        if !is_name(name) {
            return Err(self.impossible(op, "has a type that is no keyword"));
        }
        let text = &mut self.out.text;
        text.push_str("INFO  jepsen.util - ");
        push(process, text);
        for word in [kind, name] {
            text.push_str("\t:");
            text.push_str(word);
        }
        text.push('\t');
        write_edn(self.history, value, text);
        self.out.line()
    }
}
