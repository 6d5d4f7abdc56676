//! The bank itself: the same code in production, in simulation and in the model.

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

/// What can happen: the actions of specs/Bank.tla.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A transfer to an account begins.
    Send(usize),
    /// It arrives.
    Arrive(usize),
    /// No confirmation came: it is sent again.
    Retry(usize),
    /// The confirmation came.
    Confirm(usize),
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

    /// Does what can be done now; an action that is not in [`Bank::possible`] changes nothing.
    pub fn act(&mut self, action: &Action) {
        if !self.possible().contains(action) {
            return;
        }
        match *action {
            Action::Send(to) => {
                self.accounts[1 - to] -= 1;
                self.transfers.push(Transfer { to, phase: Phase::Sent, retried: false });
            }
            Action::Arrive(at) => {
                self.transfers[at].phase = Phase::Arrived;
                self.accounts[self.transfers[at].to] += 1;
            }
            Action::Retry(at) => {
                self.transfers[at].retried = true;
                if self.delivery == Delivery::Twice {
                    self.accounts[self.transfers[at].to] += 1;
                }
            }
            Action::Confirm(at) => self.transfers[at].phase = Phase::Done,
        }
    }

    /// What can happen now.
    pub fn possible(&self) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.transfers.len() < self.planned {
            let funded = [0, 1].into_iter().filter(|to| self.accounts[1 - to] > 0);
            actions.extend(funded.map(Action::Send));
        }
        for (at, transfer) in self.transfers.iter().enumerate() {
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

    /// What is on its way.
    pub fn on_its_way(&self) -> i64 {
        self.transfers.iter().map(|transfer| i64::from(transfer.phase == Phase::Sent)).sum()
    }
}
