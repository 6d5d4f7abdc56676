//! The clock and chance of the server: new ids and the time.

use assay_session::Mint;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Makes ids that only grow, from one clock for all threads.
#[derive(Default, Debug)]
pub struct Names {
    mint: Mutex<Mint>,
}

impl Names {
    /// A new id.
    pub fn next(&self, prefix: &str) -> String {
        let mut mint = self.mint.lock().unwrap_or_else(PoisonError::into_inner);
        mint.next(prefix, now_ms(), [random(), random()])
    }

    /// Later ids are larger than this one.
    pub fn raise(&self, id: &str) {
        self.mint.lock().unwrap_or_else(PoisonError::into_inner).raise(id);
    }
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Ids stay unique without it: the counter of the mint sees to that within one process.
fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}
