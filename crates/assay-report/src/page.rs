//! What a report page consists of.
//!
//! A [`Page`] is filled by whoever ran the check. Each part may be empty, and an empty part takes
//! no room on the page. Every string is untrusted.
//!
//! ```
//! use assay_report::{Fact, Page, Verdict};
//!
//! let page = Page {
//!     verdict: Verdict::Refuted,
//!     headline: "orders.jsonl is not linearizable: 1 of 12 keys".into(),
//!     facts: vec![Fact::new("model", "register"), Fact::new("operations", "4,812")],
//!     reproduce: vec!["assay check orders.jsonl --model register".into()],
//!     ..Page::default()
//! };
//! let html = assay_report::html(&page);
//! assert!(html.contains("orders.jsonl is not linearizable"));
//! assert!(!html.contains("<script"));
//! ```

use crate::ring::Ring;
use crate::timeline::Timeline;

/// A whole report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Decides the word and the colour before the headline.
    pub verdict: Verdict,
    /// The answer, in one sentence.
    pub headline: String,
    /// What happened, in plain words, one string per paragraph.
    pub explanation: Vec<String>,
    /// Circles of transactions, each with its reasons.
    pub stories: Vec<Story>,
    /// The pictures, one per refuted key.
    pub timelines: Vec<Timeline>,
    /// The longest orders that were found before the contradiction.
    pub orders: Vec<Order>,
    /// What was checked, how, and with which settings.
    pub facts: Vec<Fact>,
    /// Further tables, such as the calibration of the checker.
    pub tables: Vec<Table>,
    /// Command lines that lead to the same result.
    pub reproduce: Vec<String>,
    /// What the reader should know besides, one string per paragraph.
    pub notes: Vec<String>,
    /// The certificate as JSON, to be checked by another program.
    pub certificate: String,
}

/// A circle and why it is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The circle; without nodes only its title is shown.
    pub ring: Ring,
    /// What happened, one string per sentence.
    pub lines: Vec<String>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The history satisfies the model.
    Upheld,
    /// It does not, and the page shows why.
    Refuted,
    /// The check ended without an answer.
    #[default]
    Undecided,
    /// There was nothing to check.
    NothingChecked,
}

impl Verdict {
    /// The word for it on screens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Upheld => "upheld",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
            Self::NothingChecked => "nothing checked",
        }
    }
}

/// One row of the table of facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// What it is, such as `algorithm`.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Fact {
    /// A fact of this name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// One order that respects real time and the model as far as it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// What is particular about it, such as `if write 5 took effect`; may be empty.
    pub title: String,
    /// The operations in that order.
    pub placed: Vec<Step>,
    /// The operation that could not come next.
    pub stuck: Option<Stuck>,
}

/// One operation in an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What it did: `write 4`.
    pub label: String,
    /// The state after it, such as `x = 4`; may be empty.
    pub state: String,
}

impl Step {
    /// A step of this label, with the state after it.
    pub fn new(label: impl Into<String>, state: impl Into<String>) -> Self {
        Self { label: label.into(), state: state.into() }
    }
}

/// Where an order ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stuck {
    /// The operation: `read → 3`.
    pub label: String,
    /// Why it cannot come next: `the register holds 4`.
    pub reason: String,
}

/// A table of any content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The heading above it.
    pub title: String,
    /// Column names; may be empty.
    pub head: Vec<String>,
    /// Rows of cells, of any length.
    pub rows: Vec<Vec<String>>,
}
