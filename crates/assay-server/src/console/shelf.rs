//! What the console shows besides sessions: campaigns and runs that are somewhere on this machine.

use serde::Serialize;
use std::fmt::Debug;

/// Where campaigns and runs come from. All calls may block, and see the state of the moment.
pub trait Shelf: Debug + Send + Sync {
    /// Everything there is, newest first.
    fn exhibits(&self) -> Listing;

    /// The report of one, as a page of its own.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    fn report(&self, id: &str) -> Result<Vec<u8>, ShelfError>;
}

/// What is on a shelf.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Listing {
    /// The things.
    #[serde(rename = "data")]
    pub exhibits: Vec<Exhibit>,
    /// Whether that is all: a shelf looks at so many things and no more.
    pub is_complete: bool,
    /// Whether somebody asked for anything to be shown.
    pub is_shown: bool,
}

/// A campaign or a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Exhibit {
    /// Its name in addresses; letters and digits.
    pub id: String,
    /// Which of the two.
    pub kind: ExhibitKind,
    /// Its name for people.
    pub name: String,
    /// Where it is.
    pub place: String,
    /// How it stands, in a word or two.
    pub state: String,
    /// The colour of that.
    pub tone: Tone,
    /// What there is to say, in a sentence.
    pub summary: String,
    /// When it changed last.
    pub changed_at: Option<String>,
    /// Whether there is a report.
    pub has_report: bool,
    /// Stories of a campaign, scenarios of a run.
    pub parts: Vec<Part>,
}

/// A campaign or a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExhibitKind {
    /// Of the desk.
    Campaign,
    /// Of a plan.
    Run,
}

/// A part, and how it stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: String,
    /// The colour of that.
    pub tone: Tone,
}

/// A colour; there is always a word beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// As it should be.
    Ok,
    /// Nobody can tell.
    Unknown,
    /// Not as it should be.
    Fail,
    /// Not decided yet.
    Plain,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// There is no such thing, or not any more.
    #[error("there is no such campaign or run")]
    Missing,
    /// There is, and it has none.
    #[error("it has no report")]
    NoReport,
    /// It is too large, or cannot be read.
    #[error("its report cannot be shown: {0}")]
    Unreadable(String),
}

/// For servers that show nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct EmptyShelf;

impl Shelf for EmptyShelf {
    fn exhibits(&self) -> Listing {
        Listing { is_complete: true, ..Listing::default() }
    }

    fn report(&self, _id: &str) -> Result<Vec<u8>, ShelfError> {
        Err(ShelfError::Missing)
    }
}
