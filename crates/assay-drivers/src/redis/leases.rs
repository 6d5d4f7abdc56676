//! Leases: locks that run out by themselves, with a token, and the resource that they guard.
//!
//! A holder does what it was granted the lease for and does not look at a clock in between: however
//! often it looked, its request could still be under way for longer than the lease lasts. What
//! compares tokens (`fencing`) need not rely on it.

use super::request::{Reading, Request, mistake, script};
use crate::client::ClientError;
use crate::options::Options;
use crate::trouble::{Trouble, key_name};
use assay_workload::Call;
use redis::cmd;
use serde_json::Value;
use std::collections::BTreeMap;

const ACQUIRE: &str = "\
if redis.call('EXISTS', KEYS[1]) == 1 then return nil end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
return token";

const RENEW: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])";

const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])";

const USE_FENCED: &str = "\
local seen = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) < seen then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
return 1";

/// The leases a client asks for.
pub(super) struct Leases {
    fencing: bool,
    /// How long each lasts, by key: a renewal is for as long.
    ttls: BTreeMap<String, u64>,
}

impl Leases {
    pub(super) fn new(options: &Options<'_>) -> Result<Leases, ClientError> {
        Ok(Leases { fencing: options.flag("fencing", false)?, ttls: BTreeMap::new() })
    }

    /// What is sent for a call.
    pub(super) fn request(&mut self, call: &Call) -> Result<Request, Trouble> {
        let name = key_name(call.key.as_ref().unwrap_or(&Value::Null));
        let (key, guarded) = (format!("lease:{name}"), format!("guarded:{name}"));
        if call.op == "acquire" {
            let ttl_ms = ttl_ms(call)?;
            let command = script(ACQUIRE, &[&key, &format!("fence:{name}")], &[ttl_ms.to_string()]);
            self.ttls.insert(name, ttl_ms);
            return Ok(Request { command, reading: Reading::Fenced });
        }
        let token = token(call)?.to_string();
        let (command, reading) = match (call.op.as_str(), self.ttls.get(&name)) {
            ("release", _) => (script(RELEASE, &[&key], &[token]), Reading::Released),
            ("renew", Some(ttl_ms)) => {
                (script(RENEW, &[&key], &[token, ttl_ms.to_string()]), Reading::Released)
            }
            ("use", _) if self.fencing => {
                (script(USE_FENCED, &[&guarded], &[token]), Reading::Accepted)
            }
            ("use", _) => (cmd("SET").arg(guarded).arg(token).to_owned(), Reading::Done),
            (op, _) => return Err(mistake(&format!("there is no `{op}` of this lease"))),
        };
        Ok(Request { command, reading })
    }
}

fn ttl_ms(call: &Call) -> Result<u64, Trouble> {
    let ttl_ms = call.input["ttl_ms"].as_u64().filter(|ttl_ms| *ttl_ms > 0);
    ttl_ms.ok_or_else(|| mistake(&format!("acquire of {}", call.input)))
}

fn token(call: &Call) -> Result<u64, Trouble> {
    call.input.as_u64().ok_or_else(|| mistake(&format!("{} of {}", call.op, call.input)))
}
