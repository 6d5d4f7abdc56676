//! Exit codes: stable, documented, one place.

use assay_check::{Answer, Report};
use std::process::ExitCode;

/// What the process says when it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// What was claimed held.
    Upheld = 0,
    /// What was claimed did not hold.
    Refuted = 1,
    /// The budget ran out before either was shown.
    Undecided = 2,
    /// There was nothing to check: that is no pass.
    NothingChecked = 3,
    /// The command line is wrong.
    Usage = 64,
    /// The history is malformed, or cannot carry a verdict.
    BadHistory = 65,
    /// A file cannot be opened or written.
    MissingCapability = 69,
    /// A bug in Assay.
    Bug = 70,
}

/// The reader of our output went away: what a shell reports for SIGPIPE.
pub const BROKEN_PIPE: i32 = 141;

impl Exit {
    /// The code for a report.
    pub fn of(report: &Report) -> Exit {
        match report.answer {
            Answer::Refuted => Exit::Refuted,
            Answer::Undecided => Exit::Undecided,
            Answer::Linearizable if report.ops_known == 0 => Exit::NothingChecked,
            Answer::Linearizable => Exit::Upheld,
        }
    }

    /// The word that stands first in the output.
    pub fn word(self) -> &'static str {
        match self {
            Exit::Upheld => "UPHELD",
            Exit::Refuted => "REFUTED",
            Exit::Undecided => "UNDECIDED",
            Exit::NothingChecked => "NOTHING CHECKED",
            Exit::Usage => "USAGE",
            Exit::BadHistory => "BAD HISTORY",
            Exit::MissingCapability => "NOT AVAILABLE",
            Exit::Bug => "BUG",
        }
    }

    /// Of several results the one that must not be overlooked: a bug, then a refutation, then
    /// whatever kept a file from being decided, then success.
    pub fn worse(self, other: Exit) -> Exit {
        let weight = |exit: Exit| match exit {
            Exit::Bug => 7,
            Exit::Refuted => 6,
            Exit::BadHistory => 5,
            Exit::MissingCapability => 4,
            Exit::Usage => 3,
            Exit::Undecided => 2,
            Exit::NothingChecked => 1,
            Exit::Upheld => 0,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}
