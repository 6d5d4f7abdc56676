//! What a picture of a witness consists of: lanes, bars, fault windows and marks.
//!
//! These are plain values without behaviour. Whoever has a witness fills them in; every string may
//! come straight from a history file, because the renderers treat all of them as untrusted.
//!
//! ```
//! use assay_report::{Bar, Lane, Outcome, Role, Timeline};
//!
//! let timeline = Timeline {
//!     title: "key x".into(),
//!     lanes: vec![Lane::new("client 1"), Lane::new("client 2")],
//!     bars: vec![
//!         Bar { lane: 0, start: 0, end: Some(900), label: "write 4".into(), ..Bar::default() },
//!         Bar {
//!             lane: 1,
//!             start: 1_000,
//!             end: Some(1_700),
//!             label: "read → null".into(),
//!             role: Role::Refuted,
//!             ..Bar::default()
//!         },
//!     ],
//!     ..Timeline::default()
//! };
//! assert_eq!(timeline.bars[0].outcome, Outcome::Ok);
//! assert!(assay_report::svg(&timeline).contains("cannot be placed"));
//! ```

/// Operations over time: who did what, from when to when, and which faults were active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// What the picture is about, such as `key "x"`.
    pub title: String,
    /// One or two sentences below the title; may be empty.
    pub subtitle: String,
    /// The rows of the picture from top to bottom, one per client.
    pub lanes: Vec<Lane>,
    /// The operations.
    pub bars: Vec<Bar>,
    /// Fault windows, shaded behind the operations.
    pub bands: Vec<Band>,
    /// Single moments worth a line, such as a restart.
    pub marks: Vec<Mark>,
    /// What the integers in [`Bar::start`] and its kin count.
    pub time_unit: TimeUnit,
}

/// One client, drawn as a horizontal lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// The name at the left, such as `client 3`.
    pub name: String,
}

impl Lane {
    /// A lane of this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into() }
    }
}

/// One operation, drawn from its invocation to its completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bar {
    /// Index into [`Timeline::lanes`]. A bar whose lane does not exist is shown in a lane of its
    /// own, so that nothing is lost.
    pub lane: usize,
    /// When it was invoked.
    pub start: i64,
    /// When it completed; `None` if that is not known, which leaves the bar open at the right.
    /// An end before the start counts as an end at the start.
    pub end: Option<i64>,
    /// What it did and saw, in few words: `write 4`, `read → 4`.
    pub label: String,
    /// Where to find it, for the tooltip: operation id, line, node. May be empty.
    pub detail: String,
    /// What is known about its effect.
    pub outcome: Outcome,
    /// Its part in the contradiction.
    pub role: Role,
    /// Its position in the best order that was found, counted from 1.
    pub order: Option<u32>,
}

/// What is known about the effect of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It took effect once, between invocation and completion.
    #[default]
    Ok,
    /// It had no effect and never will.
    Fail,
    /// It may take effect at any time after its invocation, or never. Its bar stays open at the
    /// right even if the client stopped waiting at a known time.
    Unknown,
}

/// The part an operation plays in the contradiction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// No valid order has a place for it.
    Refuted,
    /// Without it there would be no contradiction.
    #[default]
    Core,
    /// Shown for orientation only.
    Context,
}

/// A span of time in which a fault was active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// What was injected, such as `partition {n1} | {n2 n3}`.
    pub label: String,
    /// When it began.
    pub start: i64,
    /// When it was lifted; `None` if it never was.
    pub end: Option<i64>,
}

/// A single moment, drawn as a vertical line through all lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// What happened, such as `n2 restarted`.
    pub label: String,
    /// When it happened.
    pub at: i64,
}

/// What one step of an integer time means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// A billionth of a second.
    #[default]
    Nanoseconds,
    /// A millionth of a second.
    Microseconds,
    /// A thousandth of a second.
    Milliseconds,
    /// A second.
    Seconds,
    /// Not a duration: a line number, an event number. The string names one step.
    Steps(String),
}
