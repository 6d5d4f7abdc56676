//! Leases: locks that run out by themselves, with a token, and the resource that they guard.
//!
//! The client is as careful as a client can be: it uses the resource only while the lease lasts by
//! its own clock, counted from before it asked for it. What no clock can tell it is how long the
//! request will be under way. A resource that compares tokens (`fencing`) need not rely on it.

use super::request::{Reading, Request, mistake, script};
use crate::client::ClientError;
use crate::options::Options;
use crate::trouble::{Trouble, key_name};
use assay_workload::Call;
use redis::cmd;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Leases whose end is remembered; the oldest are long over.
const REMEMBERED_MAX: usize = 256;

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

/// The leases a client has been given.
pub(super) struct Leases {
    fencing: bool,
    /// By token, how long it lasts at least; tokens of one key rise, and those of others are told
    /// apart by the key.
    given: BTreeMap<(u64, String), Given>,
}

#[derive(Clone, Copy)]
struct Given {
    ttl: Duration,
    end: Instant,
}

impl Leases {
    pub(super) fn new(options: &Options<'_>) -> Result<Leases, ClientError> {
        Ok(Leases { fencing: options.flag("fencing", false)?, given: BTreeMap::new() })
    }

    /// What is sent for a call; a lease that is over by the client's own clock is not used.
    pub(super) fn request(&self, call: &Call) -> Result<Request, Trouble> {
        let name = key_name(call.key.as_ref().unwrap_or(&Value::Null));
        let (key, guarded) = (format!("lease:{name}"), format!("guarded:{name}"));
        if call.op == "acquire" {
            let ttl_ms = ttl(call)?.as_millis().to_string();
            let command = script(ACQUIRE, &[&key, &format!("fence:{name}")], &[ttl_ms]);
            return Ok(Request { command, reading: Reading::Fenced });
        }
        let token = token(call)?;
        let given = self.given.get(&(token, name));
        let lasts = given.filter(|given| Instant::now() < given.end);
        let token = token.to_string();
        let (command, reading) = match (call.op.as_str(), lasts) {
            ("release", _) => (script(RELEASE, &[&key], &[token]), Reading::Released),
            ("use" | "renew", None) => {
                let why = "not sent: the lease is over by the client's own clock";
                return Err(Trouble::Fail(why.to_string()));
            }
            ("renew", Some(given)) => {
                let arguments = [token, given.ttl.as_millis().to_string()];
                (script(RENEW, &[&key], &arguments), Reading::Released)
            }
            ("use", Some(_)) if self.fencing => {
                (script(USE_FENCED, &[&guarded], &[token]), Reading::Accepted)
            }
            ("use", Some(_)) => (cmd("SET").arg(guarded).arg(token).to_owned(), Reading::Done),
            (op, _) => return Err(mistake(&format!("there is no `{op}` of a lease"))),
        };
        Ok(Request { command, reading })
    }

    /// What a call that was sent at `sent` says about how long a lease lasts.
    pub(super) fn hear(&mut self, call: &Call, output: &Value, sent: Instant) {
        let name = key_name(call.key.as_ref().unwrap_or(&Value::Null));
        match call.op.as_str() {
            "acquire" => {
                let (Some(token), Ok(ttl)) = (output.as_u64(), ttl(call)) else { return };
                if self.given.len() == REMEMBERED_MAX {
                    self.given.pop_first();
                }
                self.given.insert((token, name), Given { ttl, end: sent + ttl });
            }
            "renew" => {
                let Ok(token) = token(call) else { return };
                if let Some(given) = self.given.get_mut(&(token, name)) {
                    given.end = sent + given.ttl;
                }
            }
            _ => {}
        }
    }
}

fn ttl(call: &Call) -> Result<Duration, Trouble> {
    let ttl_ms = call.input["ttl_ms"].as_u64().filter(|ttl_ms| *ttl_ms > 0);
    let wrong = || mistake(&format!("acquire of {}", call.input));
    ttl_ms.map(Duration::from_millis).ok_or_else(wrong)
}

fn token(call: &Call) -> Result<u64, Trouble> {
    call.input.as_u64().ok_or_else(|| mistake(&format!("{} of {}", call.op, call.input)))
}
