//! The durable record: an append-only chain of events, and the evidence they name.
//!
//! A [`Ledger`] is a directory. What happened stands in it as events, one after the other, each
//! with the hash of the one before; what an event rests on (output of commands, prompts, artifacts)
//! stands beside them as [blobs](BlobRef) under the name of their content. An event is durable when
//! [`Ledger::append`] returns, and its blobs were durable before. Nothing is ever changed or taken
//! away, so everything that is shown can be computed again from here, and [`verify`] says later,
//! offline and by itself, whether somebody or something changed a byte.
//!
//! ```
//! use assay_ledger::{Ledger, NewEvent, UnixMillis, verify};
//!
//! let directory = tempfile::tempdir()?;
//! let mut ledger = Ledger::open(directory.path())?.ledger;
//! let output = ledger.put_blob(&b"3 passed"[..])?;
//! let event = NewEvent::new("command-ended", &serde_json::json!({"exit": 0}))?;
//! let seq = ledger.append(UnixMillis(1), event.naming(output))?;
//! assert_eq!(seq.0, 1);
//! assert_eq!(verify(directory.path())?.events, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All of it blocks: call it from a thread, not from within an async runtime. Who may write is
//! decided by the kernel (a [`Lock`] that ends with its process); readers need no permission.
//!
//! What changes and goes, rather than only following, is kept by [`keyed`].
//!
//! What it cannot see: a directory replaced as a whole by an older copy of itself. Whoever wants to
//! exclude that notes [`Verified::head`] somewhere else.
//!
//! *Knows nothing of* what events mean, nor of the time: both are given.

mod anew;
mod blobs;
mod canonical;
mod chain;
mod digest;
mod error;
mod event;
mod head;
mod header;
pub mod keyed;
mod ledger;
mod lock;
mod reader;
mod seal;
mod store;
mod verify;

pub use blobs::{BLOB_BYTES_MAX, BlobRef};
pub use digest::Digest;
pub use error::{Break, EventError, LedgerError};
pub use event::{Entry, KIND_BYTES_MAX, NewEvent, PAYLOAD_BYTES_MAX, Seq, UnixMillis};
pub use ledger::{EVENTS_AT_ONCE_MAX, Ledger, Opened};
pub use lock::{Lock, LockError, Owner};
pub use reader::Reader;
pub use seal::Seal;
pub use store::FORMAT_VERSION;
pub use verify::{Verified, verify};
