//! What is kept of an agent that may outlive the Leader, from before it was begun.
//!
//! A session of a server goes on when the Leader is killed. Whoever takes it up needs what was
//! known before it began: how protected files were then, and since when it is out. That is a file
//! beside its drop box, where it cannot write, durable before the session is asked for. Without
//! that file there is no session, and the run begins.

use super::desk::Desk;
use super::protect::Snapshot;
use crate::event::Dispatch;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const NAME: &str = "begun.json";
/// Servers know for a day what a session was called; one that may be older is not asked for.
const AGE_MAX: Duration = Duration::from_secs(20 * 3600);

/// A run that was begun.
#[derive(Serialize, Deserialize)]
pub(super) struct Begun {
    /// Of which dispatch.
    nonce: String,
    /// When, in milliseconds since 1970.
    at_ms: u64,
    /// What was protected then.
    pub before: Snapshot,
}

fn path(desk: &Desk, dispatch: &Dispatch) -> PathBuf {
    desk.run(dispatch.run, dispatch.role.word()).join(NAME)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Begun {
    /// How long ago that was.
    pub(super) fn age(&self) -> Duration {
        Duration::from_millis(now_ms().saturating_sub(self.at_ms))
    }
}

/// Writes down that an agent is about to be begun.
pub(super) fn keep(desk: &Desk, dispatch: &Dispatch, before: &Snapshot) -> std::io::Result<()> {
    let begun = Begun { nonce: dispatch.nonce.clone(), at_ms: now_ms(), before: before.clone() };
    let path = path(desk, dispatch);
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(&serde_json::to_vec(&begun)?)?;
    file.sync_all()?;
    std::fs::rename(&new, &path)?;
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

/// What was written down of this dispatch.
pub(super) fn find(desk: &Desk, dispatch: &Dispatch) -> Option<Begun> {
    let bytes = std::fs::read(path(desk, dispatch)).ok()?;
    let begun: Begun = serde_json::from_slice(&bytes).ok()?;
    (begun.nonce == dispatch.nonce).then_some(begun)
}

/// Whether its session can still be found.
pub(super) fn is_young(begun: &Begun) -> bool {
    begun.age() < AGE_MAX
}
