//! Ledgers: accounts as lists of entries, each with the id of who asked for it.
//!
//! A balance alone cannot tell an entry that was booked twice from two entries. So entries are kept
//! as they were booked, and shown by a dump.

use super::State;
use super::op::{Key, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One account: what was booked, and what that adds up to.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Account {
    balance: i64,
    entries: Vec<Entry>,
}

/// Something that was booked; a debit is negative.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Entry {
    id: String,
    amount: i64,
}

impl State {
    /// Books an amount. An account that was never credited holds nothing, and none is overdrawn.
    pub(super) fn book(&mut self, key: &Key, id: &str, amount: i64) -> Outcome {
        let account = self.accounts.entry(key.clone()).or_default();
        let Some(balance) = account.balance.checked_add(amount) else {
            return Outcome::fail(format!("account {key} would overflow"));
        };
        if balance < 0 {
            return Outcome::fail(format!(
                "account {key} has {}, not {}",
                account.balance, -amount
            ));
        }
        account.balance = balance;
        account.entries.push(Entry { id: id.to_string(), amount });
        Outcome::Ok(Value::Null)
    }

    pub(super) fn balance(&self, key: &Key) -> Outcome {
        Outcome::Ok(json!(self.accounts.get(key).map_or(0, |account| account.balance)))
    }
}
