//! Agent sessions as a pure state machine: turns, waits, interrupts, archive, restart.
//!
//! A session is a conversation with an agent that outlives requests, streams and processes. What
//! it is stands in a [`Session`]; whatever happens to it is an [`Input`], and [`step`] says which
//! [events](Event) that appends to the session's log and what has to be done ([`Effect`]) once
//! state and events are durable:
//!
//! ```
//! use assay_session::{Context, Effect, EventId, Inbound, Input, Session, Status, step};
//!
//! let mut next = 0;
//! let mut ids = || { next += 1; EventId(format!("sevt_{next:04}")) };
//! let mut context = Context { now_ms: 1_000, ids: &mut ids };
//! let text = serde_json::json!([{"type": "text", "text": "hi"}]);
//! let message = serde_json::json!({"type": "user.message", "content": text});
//! let send = Input::Send(vec![Inbound::parse(&message, "events[0]")?]);
//!
//! let sent = step(&Session::default(), &send, &mut context)?;
//! assert_eq!(sent.session.status, Status::Running);
//! assert_eq!(sent.events[1].body.type_name(), "session.status_running");
//! assert_eq!(sent.effects, [Effect::Dispatch]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What holds after every step, whatever the order of inputs, is tested with random ones: a message
//! starts at most one turn; a turn starts only when the one before it has ended, even after an
//! interrupt; no tool is answered twice; each tool and each model request ends exactly once; the
//! last status event is the status.
//!
//! *Knows nothing of* HTTP, storage, the clock and chance: ids and times are given.

mod content;
mod cost;
mod error;
mod event;
mod id;
mod inbound;
mod machine;
mod time;
mod turn;
mod wait;

pub use content::{BlockKinds, check_blocks, is_base64};
pub use cost::Cost;
pub use error::{BadEvent, Refusal};
pub use event::{
    Body, EVENT_TYPES, ErrorKind, Event, Permission, RetryStatus, SessionError, StopReason,
    ToolAnswer, Usage,
};
pub use id::{EventId, Mint, prefix};
pub use inbound::{EVENT_BYTES_MAX, Inbound};
pub use machine::{
    Call, CallKind, Context, DENIED, Echo, Effect, Input, Said, Session, Status, Step,
    TURNS_WAITING_MAX, step,
};
pub use time::rfc3339;
pub use turn::{Turn, TurnRef, TurnState};
pub use wait::{
    Answer, CLOSED_WAITS_MAX, CloseReason, ClosedWait, Fingerprint, WAITS_OPEN_MAX, Wait, WaitKind,
};
