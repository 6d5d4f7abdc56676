//! Banks and ledgers: money that must neither appear nor vanish.

use super::Client;
use crate::call::Call;
use crate::source::Source;
use serde_json::{Value, json};

/// The one bank of a workload: its accounts are judged together.
pub(crate) const BANK: &str = "bank";

/// The name of an account of the bank.
pub(crate) fn account(number: u64) -> String {
    format!("a{number}")
}

/// A client that moves money.
pub(super) struct Bank {
    pub(super) accounts: u64,
    pub(super) amount_max: u64,
}

impl Client for Bank {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let input = match op {
            "transfer" => {
                let from = source.key_number();
                // Another account, if there is one.
                let others = self.accounts.saturating_sub(1);
                let step = if others == 0 { 0 } else { source.between(1..=others) };
                let to = (from + step) % self.accounts;
                let amount = source.between(1..=self.amount_max);
                json!({ "from": account(from), "to": account(to), "amount": amount })
            }
            _ => Value::Null,
        };
        Call::new(op, Some(json!(BANK)), input)
    }
}

/// A client that books. Credits are larger than debits in the mean: most debits find enough.
pub(super) struct Ledger {
    pub(super) amount_max: u64,
}

impl Client for Ledger {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        let amount_max = match op {
            "credit" => self.amount_max * 2,
            "debit" => self.amount_max,
            _ => return Call::new(op, Some(key), Value::Null),
        };
        let (amount, id) = (source.between(1..=amount_max), source.id());
        let input = json!({ "id": id, "amount": amount });
        Call { id: Some(id), ..Call::new(op, Some(key), input) }
    }
}
