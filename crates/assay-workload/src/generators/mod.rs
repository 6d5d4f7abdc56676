//! One client of each kind: what it does next, given what it has seen.

mod collections;
mod locks;
mod membership;
mod money;
mod registers;
mod strings;
mod txn;

pub(crate) use locks::{Habits, Oversleep};
pub(crate) use money::{BANK, account};
pub(crate) use txn::{Lists, Pattern, Style};

use crate::call::{Call, Reply};
use crate::source::Source;
use serde_json::Value;

/// What one client does.
pub(crate) trait Client: Send {
    /// The call for an operation type that was drawn from the mix. Where that makes no sense (to
    /// release what is not held), another one.
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call;

    /// What came of it.
    fn hear(&mut self, _call: &Call, _reply: &Reply) {}
}

/// What the config says about a generator, read once for all clients.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Also map and session.
    Registers,
    Strings,
    Txn(Style),
    Set,
    Queue {
        business_key: String,
    },
    Log {
        whole_read_percent: u64,
    },
    Counter,
    Lock,
    Lease(Habits),
    Bank {
        accounts: u64,
        balance: u64,
        amount_max: u64,
    },
    Ledger {
        amount_max: u64,
    },
    Membership {
        members: Vec<String>,
    },
}

impl Kind {
    /// Client number `client`.
    pub(crate) fn client(&self, client: usize, clients: usize) -> Box<dyn Client> {
        match self {
            Kind::Registers => Box::<registers::Registers>::default(),
            Kind::Strings => Box::new(strings::Strings),
            Kind::Txn(style) => Box::new(txn::Transactions::new(style.clone())),
            Kind::Set => Box::<collections::Set>::default(),
            Kind::Queue { business_key } => {
                Box::new(collections::Queue { business_key: business_key.clone() })
            }
            Kind::Log { whole_read_percent } => {
                Box::new(collections::Log::new(*whole_read_percent))
            }
            Kind::Counter => Box::new(collections::Counter),
            Kind::Lock => Box::<locks::Lock>::default(),
            Kind::Lease(habits) => Box::new(locks::Lease::new(*habits)),
            Kind::Bank { accounts, amount_max, .. } => {
                Box::new(money::Bank { accounts: *accounts, amount_max: *amount_max })
            }
            Kind::Ledger { amount_max } => Box::new(money::Ledger { amount_max: *amount_max }),
            Kind::Membership { members } => {
                Box::new(membership::Membership::new(members, client, clients))
            }
        }
    }
}

/// The output of a reply that says it took effect.
fn output(reply: &Reply) -> Option<&Value> {
    match reply {
        Reply::Ok { output, .. } => Some(output),
        Reply::Fail { .. } | Reply::Unknown { .. } => None,
    }
}
