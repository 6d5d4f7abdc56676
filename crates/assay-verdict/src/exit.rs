//! Exit codes: stable, documented, one place.

use std::process::ExitCode;

/// What a process says when it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Exit {
    /// What was claimed held.
    Upheld = 0,
    /// What was claimed did not hold.
    Refuted = 1,
    /// Neither was shown, or not for everything.
    Undecided = 2,
    /// There was nothing to check: that is no pass.
    NothingChecked = 3,
    /// The command line is wrong.
    Usage = 64,
    /// The input is malformed, or cannot carry a verdict.
    BadHistory = 65,
    /// A file cannot be opened or written, or this machine lacks something.
    MissingCapability = 69,
    /// A bug in Assay.
    Bug = 70,
    /// Somebody else holds what is needed.
    TryLater = 75,
    /// Its terminal is gone (SIGHUP).
    HungUp = 129,
    /// Interrupted by a signal (SIGINT).
    Interrupted = 130,
    /// Terminated by a signal (SIGTERM).
    Terminated = 143,
}

/// The reader of our output went away: what a shell reports for SIGPIPE.
pub const BROKEN_PIPE: i32 = 141;

impl Exit {
    /// Every code, in the order of the numbers.
    pub const ALL: [Exit; 12] = [
        Exit::Upheld,
        Exit::Refuted,
        Exit::Undecided,
        Exit::NothingChecked,
        Exit::Usage,
        Exit::BadHistory,
        Exit::MissingCapability,
        Exit::Bug,
        Exit::TryLater,
        Exit::HungUp,
        Exit::Interrupted,
        Exit::Terminated,
    ];

    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The word that stands first in the output.
    pub const fn word(self) -> &'static str {
        match self {
            Exit::Upheld => "UPHELD",
            Exit::Refuted => "REFUTED",
            Exit::Undecided => "UNDECIDED",
            Exit::NothingChecked => "NOTHING CHECKED",
            Exit::Usage => "USAGE",
            Exit::BadHistory => "BAD HISTORY",
            Exit::MissingCapability => "NOT AVAILABLE",
            Exit::Bug => "BUG",
            Exit::TryLater => "TRY LATER",
            Exit::HungUp => "HUNG UP",
            Exit::Interrupted => "INTERRUPTED",
            Exit::Terminated => "TERMINATED",
        }
    }

    /// What it means, in a line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Exit::Upheld => "upheld; a run that is DONE",
            Exit::Refuted => "refuted; a run that is a FAIL",
            Exit::Undecided => "undecided; a run that is INCONCLUSIVE or DONE_WITH_CONCERNS",
            Exit::NothingChecked => "nothing was checked; a run that is BLOCKED",
            Exit::Usage => "the command line was wrong",
            Exit::BadHistory => "the input was wrong: malformed, or unable to carry a verdict",
            Exit::MissingCapability => "a file or something else this machine lacks is needed",
            Exit::Bug => "a bug in Assay",
            Exit::TryLater => "somebody else holds what is needed (reserved)",
            Exit::HungUp => "interrupted, because the terminal was closed",
            Exit::Interrupted => "interrupted",
            Exit::Terminated => "terminated",
        }
    }

    /// Of several results the one that must not be overlooked: a bug, then a refutation, then
    /// whatever kept a file from being decided, then success.
    #[must_use]
    pub const fn worse(self, other: Exit) -> Exit {
        if other.weight() > self.weight() { other } else { self }
    }

    const fn weight(self) -> u8 {
        match self {
            Exit::HungUp | Exit::Interrupted | Exit::Terminated => 9,
            Exit::Bug => 8,
            Exit::Refuted => 7,
            Exit::BadHistory => 6,
            Exit::MissingCapability => 5,
            Exit::TryLater => 4,
            Exit::Usage => 3,
            Exit::Undecided => 2,
            Exit::NothingChecked => 1,
            Exit::Upheld => 0,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
