//! Production: the bank with a check after every change.

use crate::bank::{Action, Bank};
use crate::promises::{BK1, BK2, BK3, BK4};
use assay_invariant::{Violation, check};

/// Who moves the money.
#[derive(Clone, Debug)]
pub struct Teller {
    /// The bank.
    pub bank: Bank,
}

impl Teller {
    /// Does something and checks. Whether a violation is a line in the log, an error or a panic is
    /// the policy of the invariant; it is counted in any case.
    pub fn act(&mut self, action: &Action) -> Result<(), Violation> {
        let before = self.bank.clone();
        self.bank.act(action);
        check!(BK1, self.bank)?;
        check!(BK2, self.bank, every 10)?;
        check!(BK3, before => self.bank)?;
        check!(BK4, self.bank)
    }
}
