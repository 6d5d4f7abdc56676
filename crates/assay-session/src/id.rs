//! Names of things: a prefix that says what, and a UUID (version 7) that says when.
//!
//! Ids of one process only grow, as text too: a list in the order of its ids is a list in the order
//! of creation, and a cursor can be an id. Within a millisecond twelve bits count; when they are
//! used up, the next millisecond is borrowed.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What ids of each kind begin with.
pub mod prefix {
    /// Agents.
    pub const AGENT: &str = "agent_";
    /// Environments.
    pub const ENVIRONMENT: &str = "env_";
    /// Sessions.
    pub const SESSION: &str = "sesn_";
    /// Events of sessions.
    pub const EVENT: &str = "sevt_";
    /// Files.
    pub const FILE: &str = "file_";
    /// What is mounted in sessions.
    pub const RESOURCE: &str = "sesrsc_";
    /// Vaults.
    pub const VAULT: &str = "vlt_";
    /// Credentials in vaults.
    pub const CREDENTIAL: &str = "vcrd_";
    /// Skills.
    pub const SKILL: &str = "skill_";
    /// Versions of skills.
    pub const SKILL_VERSION: &str = "skill_version_";
    /// Requests.
    pub const REQUEST: &str = "req_";
}

/// The id of an event: what clients refer to, in answers and in cursors.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub String);

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bits that count within a millisecond.
const COUNTER_BITS: u32 = 12;
/// A new millisecond begins in the lower half of the counter, so that there is room to count.
const SEED_MASK: u64 = (1 << (COUNTER_BITS - 1)) - 1;
/// The largest time that fits: 48 bits of milliseconds, of which the last is kept for borrowing.
const TICK_MAX: u64 = ((1 << 48) - 1) << COUNTER_BITS;

/// Makes ids that only grow.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Mint {
    /// Milliseconds and counter of the last id.
    tick: u64,
}

impl Mint {
    /// The next id. `random` makes it unique among machines; order comes from the rest.
    pub fn next(&mut self, prefix: &str, now_ms: u64, random: [u64; 2]) -> String {
        let now = now_ms.min(TICK_MAX >> COUNTER_BITS) << COUNTER_BITS;
        let fresh = now | (random[1] & SEED_MASK);
        self.tick = if fresh > self.tick { fresh } else { (self.tick + 1).min(TICK_MAX) };
        let (ms, counter) = (self.tick >> COUNTER_BITS, self.tick & ((1 << COUNTER_BITS) - 1));
        let tail = random[0];
        format!(
            "{prefix}{:08x}-{:04x}-7{counter:03x}-{:04x}-{:012x}",
            ms >> 16,
            ms & 0xffff,
            0x8000 | (tail >> 48 & 0x3fff),
            tail & 0xffff_ffff_ffff,
        )
    }

    /// Makes the next id larger than `id`, which may come from before a restart, when the clock
    /// stood elsewhere. Text that is no id changes nothing.
    pub fn raise(&mut self, id: &str) {
        let Some((_, uuid)) = id.rsplit_once('_') else { return };
        let hex: String = uuid.chars().filter(|c| *c != '-').collect();
        let (Some(ms), Some(counter)) = (hex.get(..12), hex.get(13..16)) else { return };
        let parsed = (u64::from_str_radix(ms, 16), u64::from_str_radix(counter, 16));
        if let (Ok(ms), Ok(counter)) = parsed {
            self.tick = self.tick.max(ms << COUNTER_BITS | counter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_only_grow_whatever_the_clock_and_chance_do() {
        let mut mint = Mint::default();
        let mut last = String::new();
        // A clock that stands still, jumps ahead and goes back; randomness at both ends.
        for step in 0..20_000_u64 {
            let now = 1_794_888_306_789 + step / 9_000 * 5 - step % 3;
            let random = if step & 1 == 0 { [u64::MAX; 2] } else { [0; 2] };
            let id = mint.next(prefix::EVENT, now, random);
            assert!(id > last, "{id} after {last}");
            assert_eq!((id.len(), &id[..5], &id[19..20]), (41, "sevt_", "7"), "{id}");
            last = id;
        }
        let mut after_restart = Mint::default();
        after_restart.raise(&last);
        assert!(after_restart.next(prefix::EVENT, 5, [0; 2]) > last);
        after_restart.raise("nonsense_é-no-id");
    }
}
