//! Locks as the documentation of Redis proposes them: `SET NX PX` with a token nobody else has, and
//! a release that deletes the key only if it still has that token.

use super::request::{Reading, Request, script};
use crate::client::ClientError;
use crate::options::Options;
use redis::cmd;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tokens that are remembered for one lock. A request of unknown outcome can arrive late; a release
/// must still know its token.
const TOKENS_MAX: usize = 64;
/// The longest a lock may last.
const TTL_MS_MAX: u64 = 24 * 60 * 60 * 1000;
const TTL_MS_DEFAULT: u64 = 10_000;

const ACQUIRE_FENCED: &str = "\
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', unpack(ARGV, 2)) then return nil end
return redis.call('INCR', KEYS[2])";

const RELEASE: &str = "\
local now = redis.call('GET', KEYS[1])
for _, token in ipairs(ARGV) do
  if now == token then return redis.call('DEL', KEYS[1]) end
end
return 0";

/// The locks a client holds or may hold.
pub(super) struct Locks {
    ttl_ms: u64,
    fencing: bool,
    session: usize,
    /// Tokens made so far.
    made: u64,
    /// By key, the newest last.
    tokens: BTreeMap<String, Vec<String>>,
}

impl Locks {
    pub(super) fn new(options: &Options<'_>, session: usize) -> Result<Locks, ClientError> {
        let ttl_ms = options.natural("ttl", 0..=TTL_MS_MAX, TTL_MS_DEFAULT)?;
        let fencing = options.flag("fencing", false)?;
        Ok(Locks { ttl_ms, fencing, session, made: 0, tokens: BTreeMap::new() })
    }

    pub(super) fn acquire(&mut self, key: &str, name: &str, holder: &Value) -> Request {
        let token = json!([holder, self.session, self.made]).to_string();
        self.made += 1;
        let known = self.tokens.entry(key.to_string()).or_default();
        if known.len() == TOKENS_MAX {
            known.remove(0);
        }
        known.push(token.clone());
        let mut end = Vec::new();
        if self.ttl_ms > 0 {
            end = vec!["PX".to_string(), self.ttl_ms.to_string()];
        }
        if self.fencing {
            let arguments = [vec![token], end].concat();
            let command = script(ACQUIRE_FENCED, &[key, &format!("fence:{name}")], &arguments);
            return Request { command, reading: Reading::Fenced };
        }
        let command = cmd("SET").arg(key).arg(token).arg("NX").arg(end).to_owned();
        Request { command, reading: Reading::Acquired }
    }

    pub(super) fn release(&self, key: &str) -> Request {
        let tokens = self.tokens.get(key).map_or(&[][..], Vec::as_slice);
        Request { command: script(RELEASE, &[key], tokens), reading: Reading::Released }
    }
}

/// Who holds a lock, by its token.
pub(super) fn holder(token: &Value) -> Value {
    token[0].clone()
}
