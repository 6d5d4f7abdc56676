//! The state machine: what the store promises about its objects.
//!
//! Pure and deterministic. A [`State`] changes only by [`State::apply`], and two states that
//! applied the same batches are equal, byte for byte in their JSON. Everything that could differ
//! between nodes comes with the batch: the time (from the leader's clock) and the rules (from the
//! leader's defects).
//!
//! Objects of different kinds live in different places: a counter `x` and a set `x` have nothing to
//! do with each other. Registers and the lists of transactions are the same objects.

mod bank;
mod lease;
mod ledger;
mod objects;
mod op;
mod retry;
mod txn;

pub use op::{Batch, Command, Fencing, Key, Micro, Op, Outcome, Retries, Rules};

use lease::Lease;
use objects::Objects;
use retry::Requests;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Everything the store knows.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct State {
    /// The latest time a leader wrote into a batch. It never goes back, whatever clocks do.
    now_ms: u64,
    #[serde(flatten)]
    objects: Objects,
    leases: BTreeMap<Key, Lease>,
    banks: BTreeMap<Key, bank::Bank>,
    accounts: BTreeMap<Key, ledger::Account>,
    requests: Requests,
}

impl State {
    /// Applies a batch; one outcome for each command, in order.
    pub fn apply(&mut self, batch: &Batch) -> Vec<Outcome> {
        self.now_ms = self.now_ms.max(batch.at_ms);
        batch.commands.iter().map(|command| self.retried(command, batch.rules)).collect()
    }

    /// Answers a read; `voters` are the members by the same log.
    pub fn read(&self, op: &Op, voters: &[u64]) -> Outcome {
        match op {
            Op::Txn(micros) => self.read_txn(micros),
            Op::BankRead(key) => self.read_bank(key),
            Op::LedgerBalance(key) => self.balance(key),
            Op::Members => Outcome::Ok(json!({ "voters": voters })),
            other => self.objects.read(other),
        }
    }

    /// Carries out a write.
    fn execute(&mut self, op: &Op, fencing: Fencing) -> Outcome {
        match op {
            Op::Txn(micros) => self.apply_txn(micros),
            Op::LeaseAcquire(key, holder, ttl_ms) => self.acquire_lease(key, holder, *ttl_ms),
            Op::LeaseRenew(key, token) => self.renew_lease(key, *token),
            Op::LeaseRelease(key, token) => self.release_lease(key, *token),
            Op::LeaseUse(key, token) => self.use_lease(key, *token, fencing),
            Op::BankOpen(key, account, balance) => self.open_account(key, account, *balance),
            Op::BankTransfer(key, from, to, amount) => self.transfer(key, from, to, *amount),
            Op::LedgerBook(key, id, amount) => self.book(key, id, *amount),
            other => self.objects.apply(other),
        }
    }

    /// The objects without the memory of requests: what replicas are compared by.
    pub fn dump(&self) -> Value {
        let mut dump = serde_json::to_value(self)
            .expect("a state holds texts, whole numbers and what came as JSON");
        if let Some(fields) = dump.as_object_mut() {
            fields.remove("requests");
            fields.insert("requests_remembered".to_string(), self.requests.len().into());
        }
        dump
    }
}

#[cfg(test)]
mod tests;
