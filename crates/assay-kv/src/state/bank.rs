//! Banks: accounts whose sum never changes by transfers.
//!
//! A transfer is safe to retry because its request has an id: see `retry`.

use super::State;
use super::op::{Key, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Balances by account.
pub type Bank = BTreeMap<String, i64>;

impl State {
    pub(super) fn open_account(&mut self, key: &Key, account: &str, balance: i64) -> Outcome {
        let bank = self.banks.entry(key.clone()).or_default();
        if bank.contains_key(account) {
            return Outcome::fail(format!("account {account} is there already"));
        }
        bank.insert(account.to_string(), balance);
        Outcome::Ok(Value::Null)
    }

    pub(super) fn transfer(&mut self, key: &Key, from: &str, to: &str, amount: i64) -> Outcome {
        let Some(bank) = self.banks.get_mut(key) else {
            return Outcome::fail(format!("there is no bank {key}"));
        };
        let (Some(&source), Some(&target)) = (bank.get(from), bank.get(to)) else {
            return Outcome::fail(format!("there is no account {from} or no account {to}"));
        };
        if source < amount {
            return Outcome::fail(format!("account {from} has {source}, not {amount}"));
        }
        let Some(more) = target.checked_add(amount) else {
            return Outcome::fail(format!("account {to} would overflow"));
        };
        if from != to {
            bank.insert(from.to_string(), source - amount);
            bank.insert(to.to_string(), more);
        }
        Outcome::Ok(Value::Null)
    }

    pub(super) fn read_bank(&self, key: &Key) -> Outcome {
        Outcome::Ok(self.banks.get(key).map_or_else(|| json!({}), |bank| json!(bank)))
    }
}
