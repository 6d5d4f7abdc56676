//! Events: what is appended, and what stands in the chain then.

use crate::blobs::BlobRef;
use crate::canonical;
use crate::digest::Digest;
use crate::error::EventError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest name of a kind, in bytes.
pub const KIND_BYTES_MAX: usize = 64;
/// The largest payload, in bytes of its canonical text. What is larger is evidence: a blob.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// Blobs one event may name.
pub(crate) const BLOBS_MAX: usize = 10_000;

/// The place of an event in the chain, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Milliseconds since 1970. Written down, never compared: the order of events is their [`Seq`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

/// An event to be appended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEvent {
    pub(crate) kind: String,
    pub(crate) payload: String,
    pub(crate) blobs: Vec<BlobRef>,
}

impl NewEvent {
    /// An event of a kind, with what there is to say about it.
    ///
    /// # Errors
    /// A kind has 1 to [`KIND_BYTES_MAX`] letters, digits, `.`, `_` and `-`; a payload can be
    /// written as JSON, not nested too deeply, in at most [`PAYLOAD_BYTES_MAX`].
    pub fn new(kind: &str, payload: &impl Serialize) -> Result<NewEvent, EventError> {
        let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if kind.is_empty() || kind.len() > KIND_BYTES_MAX || !kind.bytes().all(good) {
            return Err(EventError::Kind { kind: kind.chars().take(KIND_BYTES_MAX).collect() });
        }
        let value = serde_json::to_value(payload)
            .map_err(|source| EventError::Payload { kind: kind.to_string(), source })?;
        let payload = canonical::text(&value)
            .ok_or_else(|| EventError::Nesting { kind: kind.to_string() })?;
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(EventError::Size { kind: kind.to_string(), bytes: payload.len() });
        }
        Ok(NewEvent { kind: kind.to_string(), payload, blobs: Vec::new() })
    }

    /// The same event, which rests on this blob, too.
    pub fn naming(mut self, blob: BlobRef) -> NewEvent {
        self.blobs.push(blob);
        self
    }

    /// The same event, which rests on all of these, too.
    pub fn naming_all(mut self, blobs: impl IntoIterator<Item = BlobRef>) -> NewEvent {
        self.blobs.extend(blobs);
        self
    }
}

/// An event in the chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its place.
    pub seq: Seq,
    /// The hash of the event before it, or [`Digest::ZERO`].
    pub prev: Digest,
    /// When it was appended, as the writer said.
    pub at: UnixMillis,
    /// What kind of event it is.
    pub kind: String,
    /// The blobs it rests on.
    pub blobs: Vec<BlobRef>,
    /// What there is to say: canonical JSON.
    pub payload: String,
    /// The SHA-256 of everything above.
    pub hash: Digest,
}

impl Entry {
    /// The payload as a type.
    ///
    /// # Errors
    /// If it is not of that type.
    pub fn payload<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&self.payload)
    }

    pub(crate) fn link(seq: Seq, prev: Digest, at: UnixMillis, event: NewEvent) -> Entry {
        let NewEvent { kind, payload, blobs } = event;
        let hash = Digest::ZERO;
        let mut entry = Entry { seq, prev, at, kind, blobs, payload, hash };
        entry.hash = hash_of(&entry);
        entry
    }
}

/// The text of a list of blobs, as it is stored and hashed.
pub(crate) fn blobs_text(blobs: &[BlobRef]) -> String {
    let one = |blob: &BlobRef| format!(r#"{{"bytes":{},"sha256":"{}"}}"#, blob.bytes, blob.sha256);
    format!("[{}]", blobs.iter().map(one).collect::<Vec<_>>().join(","))
}

/// The SHA-256 of the canonical JSON of an entry without its hash. The payload goes in as the text
/// that is stored, so that not even its spelling can change.
pub(crate) fn hash_of(entry: &Entry) -> Digest {
    let text = format!(
        r#"{{"at_ms":{},"blobs":{},"kind":{},"payload":{},"prev":"{}","seq":{}}}"#,
        entry.at.0,
        blobs_text(&entry.blobs),
        canonical::string(&entry.kind),
        entry.payload,
        entry.prev,
        entry.seq,
    );
    Digest::of(text.as_bytes())
}
