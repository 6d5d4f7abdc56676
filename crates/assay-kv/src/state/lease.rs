//! Leases: locks that end by themselves, with fencing tokens.
//!
//! A holder that was paused cannot know that its time is over. So time alone does not protect what
//! the lease guards; the guarded resource must refuse tokens older than the newest it has seen.

use super::State;
use super::op::{Fencing, Key, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One lease and the resource behind it.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Lease {
    /// The newest token handed out; the first is 1.
    granted: u64,
    /// Who holds it, and until when by the state's clock; nobody after a release.
    holder: Option<Holder>,
    /// The newest token that the resource has accepted.
    used: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Holder {
    name: String,
    ttl_ms: u64,
    until_ms: u64,
}

impl Lease {
    fn held(&self, token: u64, now_ms: u64) -> Option<&Holder> {
        self.holder.as_ref().filter(|holder| token == self.granted && now_ms < holder.until_ms)
    }
}

impl State {
    pub(super) fn acquire_lease(&mut self, key: &Key, name: &str, ttl_ms: u64) -> Outcome {
        let now_ms = self.now_ms;
        let lease = self.leases.entry(key.clone()).or_default();
        if let Some(holder) = lease.held(lease.granted, now_ms) {
            return Outcome::fail(format!("held by {}", holder.name));
        }
        lease.granted += 1;
        let until_ms = now_ms.saturating_add(ttl_ms);
        lease.holder = Some(Holder { name: name.to_string(), ttl_ms, until_ms });
        Outcome::Ok(json!(lease.granted))
    }

    pub(super) fn renew_lease(&mut self, key: &Key, token: u64) -> Outcome {
        let now_ms = self.now_ms;
        let Some(lease) = self.leases.get_mut(key) else { return not_held(token) };
        let Some(holder) = lease.held(token, now_ms).cloned() else { return not_held(token) };
        let until_ms = now_ms.saturating_add(holder.ttl_ms);
        lease.holder = Some(Holder { until_ms, ..holder });
        Outcome::Ok(Value::Null)
    }

    pub(super) fn release_lease(&mut self, key: &Key, token: u64) -> Outcome {
        let now_ms = self.now_ms;
        let Some(lease) = self.leases.get_mut(key) else { return not_held(token) };
        if lease.held(token, now_ms).is_none() {
            return not_held(token);
        }
        lease.holder = None;
        Outcome::Ok(Value::Null)
    }

    /// The guarded resource takes a token. Whether the lease has run out meanwhile does not matter:
    /// only a newer token in use shuts an older one out.
    pub(super) fn use_lease(&mut self, key: &Key, token: u64, fencing: Fencing) -> Outcome {
        let Some(lease) = self.leases.get_mut(key) else { return not_held(token) };
        // The hook of `lock-without-fencing`.
        let accepted = match fencing {
            Fencing::Checked => (lease.used..=lease.granted).contains(&token),
            Fencing::Ignored => token <= lease.granted,
        };
        if !accepted {
            return Outcome::fail(format!("token {token} is fenced off: {} is in use", lease.used));
        }
        lease.used = token;
        Outcome::Ok(Value::Null)
    }
}

fn not_held(token: u64) -> Outcome {
    Outcome::fail(format!("no lease is held with token {token}"))
}
