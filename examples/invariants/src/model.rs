//! The bank as a machine that can be walked and explored.

use crate::bank::{Action, Bank, Delivery};
use assay_invariant::Machine;

/// Every way in which a bank can do its transfers.
#[derive(Clone, Debug)]
pub struct BankModel {
    /// How many transfers.
    pub transfers: usize,
    /// With or without the defect.
    pub delivery: Delivery,
}

impl Machine for BankModel {
    type State = Bank;
    type Action = Action;

    fn start(&self) -> Bank {
        Bank::new(self.transfers, self.delivery)
    }

    fn actions(&self, bank: &Bank) -> Vec<Action> {
        bank.possible()
    }

    fn next(&self, bank: &Bank, action: &Action) -> Option<Bank> {
        let mut bank = bank.clone();
        bank.act(action);
        Some(bank)
    }
}
