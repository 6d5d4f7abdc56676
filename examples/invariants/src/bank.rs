//! The bank itself: what runs in production.

use crate::promises::{BK1, BK2, BK3};
use assay_invariant::{Violation, check};

/// Accounts and the transfers between them. Money that is on its way is in no account.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bank {
    /// What is in each of the two accounts.
    pub accounts: [i64; 2],
    /// All transfers so far, of 1 each.
    pub transfers: Vec<Transfer>,
    /// All the money there is.
    pub minted: i64,
    /// How many transfers there will be.
    pub planned: usize,
    /// What happens to a transfer that is sent again.
    pub delivery: Delivery,
}

/// A transfer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transfer {
    /// The account it goes to; it is from the other one.
    pub to: usize,
    /// How far it got.
    pub phase: Phase,
    /// It was sent again.
    pub retried: bool,
}

/// How far a transfer got.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// On its way.
    Sent,
    /// It is in the account.
    Arrived,
    /// The sender knows.
    Done,
}

/// What happens to a transfer that is sent again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Delivery {
    /// The account remembers which it has had.
    Once,
    /// The defect: it is credited every time.
    Twice,
}

impl Bank {
    /// One coin in each account.
    pub fn new(planned: usize, delivery: Delivery) -> Bank {
        Bank { accounts: [1, 1], transfers: Vec::new(), minted: 2, planned, delivery }
    }

    /// Takes 1 from the other account; false if it is not there.
    pub fn send(&mut self, to: usize) -> Result<bool, Violation> {
        let before = self.clone();
        let from = 1 - to;
        if self.accounts[from] < 1 {
            return Ok(false);
        }
        self.accounts[from] -= 1;
        self.transfers.push(Transfer { to, phase: Phase::Sent, retried: false });
        self.checked(&before)?;
        Ok(true)
    }

    /// A transfer arrives.
    pub fn arrive(&mut self, at: usize) -> Result<(), Violation> {
        let before = self.clone();
        self.transfers[at].phase = Phase::Arrived;
        self.accounts[self.transfers[at].to] += 1;
        self.checked(&before)
    }

    /// No confirmation came: it is sent again.
    pub fn retry(&mut self, at: usize) -> Result<(), Violation> {
        let before = self.clone();
        self.transfers[at].retried = true;
        if self.delivery == Delivery::Twice {
            self.accounts[self.transfers[at].to] += 1;
        }
        self.checked(&before)
    }

    /// The confirmation came.
    pub fn confirm(&mut self, at: usize) -> Result<(), Violation> {
        let before = self.clone();
        self.transfers[at].phase = Phase::Done;
        self.checked(&before)
    }

    /// In production, after every change. Whether one is a log line or an error is its policy.
    fn checked(&self, before: &Bank) -> Result<(), Violation> {
        check!(BK1, self)?;
        check!(BK2, self, every 10)?;
        check!(BK3, before => self)
    }

    /// What is on its way.
    pub fn on_its_way(&self) -> i64 {
        self.transfers.iter().map(|transfer| i64::from(transfer.phase == Phase::Sent)).sum()
    }
}
