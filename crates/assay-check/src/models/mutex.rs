//! A mutual exclusion lock.

use super::Decode;
use crate::model::Model;
use assay_history::{Glance, History, ProcessId};

/// A lock that one process at a time holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mutex;

/// What can be done to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MutexOp {
    /// Got the lock.
    Acquire(ProcessId),
    /// Gave it back.
    Release(ProcessId),
}

impl Model for Mutex {
    type Op = MutexOp;
    /// The holder.
    type State = Option<ProcessId>;

    fn initial(&self) -> Self::State {
        None
    }

    fn step(&self, state: &Self::State, op: &MutexOp) -> Option<Self::State> {
        match *op {
            MutexOp::Acquire(process) => state.is_none().then_some(Some(process)),
            MutexOp::Release(process) => (*state == Some(process)).then_some(None),
        }
    }

    fn needs(&self, op: &MutexOp) -> Option<Self::State> {
        Some(match *op {
            MutexOp::Acquire(_) => None,
            MutexOp::Release(process) => Some(process),
        })
    }
}

impl Decode for Mutex {
    fn decode(&self, _: &History, verb: &str, op: &Glance) -> Result<Option<MutexOp>, String> {
        Ok(Some(match verb {
            "acquire" => MutexOp::Acquire(op.process),
            _ => MutexOp::Release(op.process),
        }))
    }
}
