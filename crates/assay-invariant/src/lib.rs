//! Invariants declared once, and checked wherever it matters.
//!
//! A declaration has an id, the name of the operator in a TLA+ module, a sentence, a reference, a
//! kind and a predicate. From that one declaration come a property for the Stateright model checker
//! (feature `stateright`), a check after each step of a seeded simulation ([`Simulation`]), a check
//! of recorded events against a model ([`Conformance`]), and a check in production ([`check!`])
//! which counts whether or not anybody asked for it. They all call the same function.
//!
//! ```
//! use assay_invariant::{check, invariants};
//!
//! #[derive(Debug)]
//! pub struct Bank {
//!     accounts: Vec<i64>,
//!     minted: i64,
//! }
//!
//! invariants! {
//!     /// What the bank promises.
//!     pub registry BankPromises for Bank;
//!
//!     /// Money.
//!     state BK1 {
//!         id: "BK-1",
//!         tla: "BK1_MoneyIsKept",
//!         says: "Money is neither made nor lost.",
//!         see: "bank.md",
//!         holds: |bank| bank.accounts.iter().sum::<i64>() == bank.minted,
//!         shows: |bank| { accounts: bank.accounts, minted: bank.minted },
//!     }
//! }
//!
//! let bank = Bank { accounts: vec![70, 40], minted: 100 };
//! let violation = check!(BK1, bank).unwrap_err();
//! assert_eq!(
//!     violation.to_string(),
//!     "BK-1 violated: Money is neither made nor lost. accounts = [70, 40], minted = 100"
//! );
//! assert_eq!((BK1.passes(), BK1.violations()), (0, 1));
//! ```
//!
//! It has no dependencies, starts no threads and reads no clock. What it does not do: decide
//! liveness for a system without a model, nor look for ids that two crates share (`assay invariants
//! scan` does).

mod conform;
mod counters;
mod declare;
mod machine;
mod policy;
mod shrink;
mod simulate;
#[cfg(feature = "stateright")]
pub mod stateright;

pub use conform::{Conformance, Conforms, Divergence};
pub use counters::{Counted, prometheus};
pub use declare::{Declared, Invariant, Kind, Predicate, Registry, Values, Visitor};
pub use machine::Machine;
pub use policy::{Policy, Violation, set_log};
pub use shrink::shrink;
pub use simulate::{Broken, Failure, Simulation, Summary, Trace, Unsteady};

#[doc(hidden)]
pub mod hidden {
    //! What macros need.
    pub use crate::counters::Counters;
    pub use crate::declare::debug_values;
}
