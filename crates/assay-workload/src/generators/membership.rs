//! Who belongs to the cluster.

use super::Client;
use crate::call::Call;
use crate::source::Source;
use serde_json::{Value, json};

/// A client that looks, and moves members of its own.
pub(super) struct Membership {
    members: Vec<String>,
}

impl Membership {
    /// Client `client` of `clients` has every so-manieth of the members.
    pub(super) fn new(members: &[String], client: usize, clients: usize) -> Membership {
        let own = members.iter().skip(client).step_by(clients.max(1));
        Membership { members: own.cloned().collect() }
    }
}

impl Client for Membership {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        if op == "view" || self.members.is_empty() {
            return Call::new("view", None, Value::Null);
        }
        let at = source.between(0..=self.members.len() as u64 - 1) as usize;
        Call::new(op, None, json!(self.members[at]))
    }
}
