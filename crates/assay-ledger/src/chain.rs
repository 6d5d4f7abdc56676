//! Whether events follow each other: pure, one event at a time.

use crate::blobs::BlobRef;
use crate::digest::Digest;
use crate::error::Break;
use crate::event::{BLOBS_MAX, Entry, Seq, UnixMillis, blobs_text, hash_of};
use serde::de::IgnoredAny;

/// A row as the database gives it: nothing in it is believed yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    pub seq: i64,
    pub prev: String,
    pub at_ms: i64,
    pub kind: String,
    pub blobs: String,
    pub payload: String,
    pub hash: String,
}

/// The end of what has been seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tip {
    pub seq: Seq,
    pub hash: Digest,
}

impl Tip {
    /// Before the first event.
    pub(crate) const START: Tip = Tip { seq: Seq(0), hash: Digest::ZERO };

    /// Takes the next row, if it is the one that follows.
    pub(crate) fn follow(&mut self, row: Row) -> Result<Entry, Break> {
        let seq = Seq(self.seq.0 + 1);
        if u64::try_from(row.seq) != Ok(seq.0) {
            return Err(Break::Gap { expected: seq, found: row.seq });
        }
        let entry = read(seq, row)?;
        if entry.prev != self.hash {
            return Err(Break::Link { seq });
        }
        if hash_of(&entry) != entry.hash {
            return Err(Break::Hash { seq });
        }
        *self = Tip { seq, hash: entry.hash };
        Ok(entry)
    }
}

fn read(seq: Seq, row: Row) -> Result<Entry, Break> {
    let bad = |what: String| Break::Row { seq, what };
    let digest = |name: &str, text: &str| {
        text.parse::<Digest>().map_err(|error| bad(format!("{name}: {error}")))
    };
    let blobs: Vec<BlobRef> =
        serde_json::from_str(&row.blobs).map_err(|error| bad(format!("blobs: {error}")))?;
    // The hash is taken of the list, so its text must be the only one that list has.
    if blobs.len() > BLOBS_MAX || blobs_text(&blobs) != row.blobs {
        return Err(bad("blobs: not written as a ledger writes them".to_string()));
    }
    // Otherwise text could move from the payload to its neighbours under the same hash.
    serde_json::from_str::<IgnoredAny>(&row.payload)
        .map_err(|error| bad(format!("payload: {error}")))?;
    Ok(Entry {
        seq,
        prev: digest("prev", &row.prev)?,
        at: UnixMillis(u64::try_from(row.at_ms).map_err(|_| bad("at_ms: negative".to_string()))?),
        kind: row.kind,
        blobs,
        payload: row.payload,
        hash: digest("hash", &row.hash)?,
    })
}
