//! Operations and the batches they are replicated in.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of an object. Whole numbers and strings name the same objects: `1` is `"1"`.
pub type Key = String;

/// What a client asks for. The names on the wire are in the table of `parse`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// A register's value, or null.
    Read(Key),
    /// Sets a register.
    Write(Key, Value),
    /// Sets a register to the second value if it holds the first.
    Cas(Key, Value, Value),
    /// Micro-operations on registers and lists, all or none.
    Txn(Vec<Micro>),
    /// A field of a map, or null.
    MapGet(Key, String),
    /// Sets a field of a map.
    MapPut(Key, String, Value),
    /// Removes a field of a map.
    MapRemove(Key, String),
    /// A whole map.
    MapRead(Key),
    /// Adds to a counter.
    CounterAdd(Key, i64),
    /// A counter's value.
    CounterRead(Key),
    /// Puts an element into a set.
    SetAdd(Key, Value),
    /// Takes an element out of a set.
    SetRemove(Key, Value),
    /// Whether an element is in a set.
    SetContains(Key, Value),
    /// All elements of a set.
    SetRead(Key),
    /// Puts an element at the back of a queue.
    Enqueue(Key, Value),
    /// Takes the element at the front of a queue, or null.
    Dequeue(Key),
    /// Appends to a log and gives the offset.
    LogAppend(Key, Value),
    /// A whole log, or the element at an offset.
    LogRead(Key, Option<u64>),
    /// Takes a lock for a holder.
    LockAcquire(Key, String),
    /// Gives it back.
    LockRelease(Key, String),
    /// Takes a lease for some milliseconds; gives its fencing token.
    LeaseAcquire(Key, String, u64),
    /// Starts the lease's time again.
    LeaseRenew(Key, u64),
    /// Gives the lease back before its time.
    LeaseRelease(Key, u64),
    /// Uses the resource that the lease guards.
    LeaseUse(Key, u64),
    /// Opens an account of a bank with a balance.
    BankOpen(Key, String, i64),
    /// Moves money between two accounts of a bank.
    BankTransfer(Key, String, String, i64),
    /// All balances of a bank.
    BankRead(Key),
    /// Books an amount to an account of a ledger, under an id; a debit is negative.
    LedgerBook(Key, String, i64),
    /// What an account of a ledger holds.
    LedgerBalance(Key),
    /// The ids of the voting members.
    Members,
}

impl Op {
    /// Whether it changes nothing. Reads are not replicated.
    pub fn is_read(&self) -> bool {
        match self {
            Op::Txn(micros) => micros.iter().all(|micro| matches!(micro, Micro::Read(..))),
            Op::Read(_) | Op::MapGet(..) | Op::MapRead(_) | Op::CounterRead(_) => true,
            Op::SetContains(..) | Op::SetRead(_) | Op::LogRead(..) => true,
            Op::BankRead(_) | Op::LedgerBalance(_) | Op::Members => true,
            _ => false,
        }
    }

    /// Whether its answer is null whatever the state is: a leader that does not wait for its peers
    /// can answer it at once (the defect `ack-before-commit`).
    pub fn is_blind(&self) -> bool {
        use Op::{CounterAdd, Enqueue, MapPut, Write};
        matches!(self, Write(..) | MapPut(..) | CounterAdd(..) | Enqueue(..))
    }
}

/// A part of a transaction. The key is kept as it was written, because the answer repeats it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Micro {
    /// `["r", key, null]`: the answer has the value in the place of null.
    Read(Value),
    /// `["w", key, value]`.
    Write(Value, Value),
    /// `["append", key, value]`.
    Append(Value, Value),
}

/// An operation with the id by which its retries are known.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Command {
    /// Unique to the request; the same in every retry of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What to do.
    pub op: Op,
}

/// What came of an operation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It took effect; this is its answer.
    Ok(Value),
    /// It had no effect and never will; this is why.
    Fail(String),
}

impl Outcome {
    pub(super) fn fail(reason: impl Into<String>) -> Outcome {
        Outcome::Fail(reason.into())
    }
}

/// What happens to a request whose id is known already.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retries {
    /// It gets the outcome of the first attempt, and changes nothing.
    #[default]
    Remember,
    /// The defect `duplicate-on-retry`.
    ApplyAgain,
    /// The defect `lost-update-on-retry`.
    Overwrite,
}

/// Whether the resource behind a lease looks at the token.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fencing {
    /// Tokens older than the newest that was used are refused.
    #[default]
    Checked,
    /// The defect `lock-without-fencing`.
    Ignored,
}

/// The rules a batch is applied by.
///
/// They travel with the batch, as time does, and are not read from the node that applies it:
/// replicas stay equal even if only one node of a cluster has a defect.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Rules {
    /// For requests seen before.
    pub retries: Retries,
    /// For leases.
    pub fencing: Fencing,
}

/// Commands that are replicated and applied together, one after the other.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    /// The leader's clock when it proposed them.
    pub at_ms: u64,
    /// The leader's rules.
    pub rules: Rules,
    /// What to do.
    pub commands: Vec<Command>,
}

impl Batch {
    /// A batch at time zero under honest rules.
    pub fn of(commands: Vec<Command>) -> Batch {
        Batch { at_ms: 0, rules: Rules::default(), commands }
    }
}
