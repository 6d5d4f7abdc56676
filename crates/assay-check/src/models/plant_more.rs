//! What anomalies look like in queues, stacks, logs, locks and leases.

use super::plant::Plant;
use super::*;
use std::sync::Arc;

impl Plant for Queue {
    fn is_reader(&self, op: &QueueOp) -> bool {
        matches!(op, QueueOp::Dequeue(_) | QueueOp::Empty)
    }

    fn impossible(&self, op: &QueueOp, fresh: ValueId) -> Option<QueueOp> {
        self.is_reader(op).then_some(QueueOp::Dequeue(fresh))
    }

    fn without(&self, reader: &QueueOp, update: &QueueOp, _: Option<&QueueOp>) -> Option<QueueOp> {
        match (reader, update) {
            (QueueOp::Dequeue(taken), QueueOp::Enqueue(lost)) if taken == lost => {
                Some(QueueOp::Empty)
            }
            _ => None,
        }
    }

    fn again(&self, reader: &QueueOp, update: &QueueOp) -> Option<QueueOp> {
        match (reader, update) {
            (QueueOp::Dequeue(_) | QueueOp::Empty, QueueOp::Dequeue(taken)) => {
                Some(QueueOp::Dequeue(*taken))
            }
            _ => None,
        }
    }
}

impl Plant for Stack {
    fn is_reader(&self, op: &StackOp) -> bool {
        matches!(op, StackOp::Pop(_) | StackOp::Empty)
    }

    fn impossible(&self, op: &StackOp, fresh: ValueId) -> Option<StackOp> {
        self.is_reader(op).then_some(StackOp::Pop(fresh))
    }

    fn without(&self, reader: &StackOp, update: &StackOp, _: Option<&StackOp>) -> Option<StackOp> {
        match (reader, update) {
            (StackOp::Pop(taken), StackOp::Push(lost)) if taken == lost => Some(StackOp::Empty),
            _ => None,
        }
    }

    fn again(&self, reader: &StackOp, update: &StackOp) -> Option<StackOp> {
        match (reader, update) {
            (StackOp::Pop(_) | StackOp::Empty, StackOp::Pop(taken)) => Some(StackOp::Pop(*taken)),
            _ => None,
        }
    }
}

impl Plant for Log {
    fn is_reader(&self, op: &LogOp) -> bool {
        matches!(op, LogOp::ReadAll(_) | LogOp::ReadAt(..))
    }

    fn is_alike(&self, a: &LogOp, b: &LogOp) -> bool {
        match (a, b) {
            (LogOp::ReadAll(_), LogOp::ReadAll(_)) => true,
            (LogOp::ReadAt(a, _), LogOp::ReadAt(b, _)) => a == b,
            _ => false,
        }
    }

    fn impossible(&self, op: &LogOp, fresh: ValueId) -> Option<LogOp> {
        match op {
            LogOp::ReadAll(all) => {
                Some(LogOp::ReadAll(all.iter().copied().chain([fresh]).collect()))
            }
            LogOp::ReadAt(offset, _) => Some(LogOp::ReadAt(*offset, Some(fresh))),
            LogOp::Append(..) => None,
        }
    }

    fn without(&self, reader: &LogOp, update: &LogOp, _: Option<&LogOp>) -> Option<LogOp> {
        match (reader, update) {
            (LogOp::ReadAll(all), LogOp::Append(lost, _)) => {
                Some(LogOp::ReadAll(all.iter().copied().filter(|e| e != lost).collect()))
            }
            (LogOp::ReadAt(offset, Some(seen)), LogOp::Append(lost, _)) if seen == lost => {
                Some(LogOp::ReadAt(*offset, None))
            }
            _ => None,
        }
    }

    fn again(&self, reader: &LogOp, update: &LogOp) -> Option<LogOp> {
        match (reader, update) {
            (LogOp::ReadAll(all), LogOp::Append(twice, _)) => {
                let again: Arc<[ValueId]> = all.iter().copied().chain([*twice]).collect();
                Some(LogOp::ReadAll(again))
            }
            _ => None,
        }
    }
}

impl Plant for Mutex {
    /// A lock shows nothing; its anomalies are in who got it.
    fn is_reader(&self, _: &MutexOp) -> bool {
        false
    }

    /// Someone releases the lock who never held it.
    fn impossible(&self, op: &MutexOp, fresh: ValueId) -> Option<MutexOp> {
        match op {
            MutexOp::Release(_) => Some(MutexOp::Release(assay_history::ProcessId(fresh.bits()))),
            MutexOp::Acquire(_) => None,
        }
    }

    fn without(&self, _: &MutexOp, _: &MutexOp, _: Option<&MutexOp>) -> Option<MutexOp> {
        None
    }

    /// A release that gets the lock once more instead.
    fn again(&self, reader: &MutexOp, update: &MutexOp) -> Option<MutexOp> {
        match (reader, update) {
            (MutexOp::Release(process), MutexOp::Acquire(_)) => Some(MutexOp::Acquire(*process)),
            _ => None,
        }
    }
}

impl Plant for Lease {
    fn is_reader(&self, op: &LeaseOp) -> bool {
        matches!(op, LeaseOp::Use(_))
    }

    /// A token that was never handed out is used.
    fn impossible(&self, op: &LeaseOp, fresh: ValueId) -> Option<LeaseOp> {
        let token = fresh.as_inline_int()?;
        matches!(op, LeaseOp::Use(_)).then_some(LeaseOp::Use(token))
    }

    fn without(&self, _: &LeaseOp, _: &LeaseOp, _: Option<&LeaseOp>) -> Option<LeaseOp> {
        None
    }

    /// A later acquire hands out the same token again.
    fn again(&self, reader: &LeaseOp, update: &LeaseOp) -> Option<LeaseOp> {
        match (reader, update) {
            (LeaseOp::Acquire(_), LeaseOp::Acquire(token)) => Some(LeaseOp::Acquire(*token)),
            _ => None,
        }
    }
}
