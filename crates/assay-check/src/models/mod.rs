//! The models that come with Assay. What each operation means is said in docs/models.md.

mod chain;
mod counter;
mod evident;
mod kv;
mod lease;
mod log;
mod mutex;
mod plant;
mod plant_more;
mod queue;
mod register;
mod set;
mod stack;

pub use counter::{Counter, CounterOp};
pub(crate) use evident::Evident;
pub use kv::{Kv, KvOp};
pub use lease::{Lease, LeaseOp};
pub use log::{Log, LogOp};
pub use mutex::{Mutex, MutexOp};
pub(crate) use plant::Plant;
pub use queue::{Queue, QueueOp};
pub use register::{Register, RegisterOp};
pub use set::{Set, SetOp};
pub use stack::{Stack, StackOp};

use crate::model::{Call, Model};
use crate::search::Decision;
use assay_history::{Glance, History, Outcome, ValueId};

/// A model that can read its operations out of a history.
pub(crate) trait Decode: Model {
    /// What an operation of a history means here: `None` if it says nothing (an unknown read), an
    /// error if its input or output has the wrong shape. `verb` is the operation type's canonical
    /// name; failed operations are not asked about.
    fn decode(
        &self,
        history: &History,
        verb: &str,
        op: &Glance,
    ) -> Result<Option<Self::Op>, String>;

    /// Whether an operation of this type can have the wrong shape.
    fn can_be_malformed(verb: &str) -> bool {
        let _ = verb;
        true
    }

    /// The element a call is about, if its object consists of elements that do not influence each
    /// other.
    fn element(op: &Self::Op) -> Option<ValueId> {
        let _ = op;
        None
    }

    /// Decides calls without a search, where a special case applies.
    fn decide_fast(&self, calls: &[Call<Self::Op>]) -> Option<Decision> {
        let _ = calls;
        None
    }

    /// Like [`Decode::decide_fast`], for special cases that need not hold the calls in memory.
    fn decide_fast_iter<I>(&self, calls: I) -> Option<Decision>
    where
        I: Iterator<Item = Call<Self::Op>> + Clone,
    {
        let _ = calls;
        None
    }
}

/// The output of an operation, or `None` if its outcome is unknown.
fn known_output(op: &Glance) -> Option<ValueId> {
    (op.outcome == Outcome::Ok).then_some(op.output)
}

/// An integer field.
fn whole(history: &History, value: ValueId, what: &str) -> Result<i64, String> {
    history
        .values
        .as_int(value)
        .ok_or_else(|| format!("{what} must be an integer, not {}", history.values.show(value)))
}

/// A list field.
fn list<'h>(history: &'h History, value: ValueId, what: &str) -> Result<&'h [ValueId], String> {
    history
        .values
        .as_list(value)
        .ok_or_else(|| format!("{what} must be a list, not {}", history.values.show(value)))
}

/// A truth value, or `None` for `null`.
fn truth(history: &History, value: ValueId, what: &str) -> Result<Option<bool>, String> {
    match value {
        ValueId::NULL => Ok(None),
        ValueId::TRUE => Ok(Some(true)),
        ValueId::FALSE => Ok(Some(false)),
        _ => Err(format!("{what} must be true, false or null, not {}", history.values.show(value))),
    }
}
