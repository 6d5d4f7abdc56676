//! The bank as a machine that can be walked and explored. It moves the real bank.

use crate::bank::{Bank, Delivery, Phase};
use assay_invariant::Machine;

/// Every way in which a bank can do its transfers.
#[derive(Clone, Debug)]
pub struct BankModel {
    /// How many transfers.
    pub transfers: usize,
    /// With or without the defect.
    pub delivery: Delivery,
}

/// What can happen: the actions of specs/Bank.tla.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A transfer to an account begins.
    Send(usize),
    /// It arrives.
    Arrive(usize),
    /// It is sent again.
    Retry(usize),
    /// It is confirmed.
    Confirm(usize),
}

impl Machine for BankModel {
    type State = Bank;
    type Action = Action;

    fn start(&self) -> Bank {
        Bank::new(self.transfers, self.delivery)
    }

    fn actions(&self, bank: &Bank) -> Vec<Action> {
        let mut actions = Vec::new();
        if bank.transfers.len() < bank.planned {
            actions.extend(
                [0, 1].into_iter().filter(|to| bank.accounts[1 - to] > 0).map(Action::Send),
            );
        }
        for (at, transfer) in bank.transfers.iter().enumerate() {
            match transfer.phase {
                Phase::Sent => actions.push(Action::Arrive(at)),
                Phase::Arrived => {
                    actions.extend((!transfer.retried).then_some(Action::Retry(at)));
                    actions.push(Action::Confirm(at));
                }
                Phase::Done => {}
            }
        }
        actions
    }

    fn next(&self, bank: &Bank, action: &Action) -> Option<Bank> {
        let mut bank = bank.clone();
        // Whoever walks judges for themselves: what production says is not asked here.
        _ = match action {
            Action::Send(to) => bank.send(*to).map(|_| ()),
            Action::Arrive(at) => bank.arrive(*at),
            Action::Retry(at) => bank.retry(*at),
            Action::Confirm(at) => bank.confirm(*at),
        };
        Some(bank)
    }
}
