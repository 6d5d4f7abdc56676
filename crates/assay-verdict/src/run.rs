//! The verdict of a whole run: by its strongest evidence, not by majority.

use crate::exit::Exit;
use crate::named::named;
use crate::state::{Family, Verdict};

named! {
    /// What a run says, all scenarios together.
    pub enum RunVerdict {
        /// A claim was broken.
        Fail = "FAIL",
        /// Nothing ran.
        Blocked = "BLOCKED",
        /// Nothing passed and nothing failed.
        Inconclusive = "INCONCLUSIVE",
        /// Something passed, and something else says less.
        DoneWithConcerns = "DONE_WITH_CONCERNS",
        /// Everything passed.
        Done = "DONE",
    }
}

impl RunVerdict {
    /// The verdict of a run from those of its scenarios.
    ///
    /// ```
    /// use assay_verdict::{RunVerdict, Verdict::*};
    /// assert_eq!(RunVerdict::of(&[PassHardening, PartialModel]), RunVerdict::DoneWithConcerns);
    /// assert_eq!(RunVerdict::of(&[]), RunVerdict::Blocked);
    /// ```
    pub fn of(scenarios: &[Verdict]) -> RunVerdict {
        let any = |family| scenarios.iter().any(|verdict| verdict.family() == family);
        let all = |family| scenarios.iter().all(|verdict| verdict.family() == family);
        if any(Family::Fail) {
            RunVerdict::Fail
        } else if all(Family::NotRun) {
            RunVerdict::Blocked
        } else if all(Family::Pass) {
            RunVerdict::Done
        } else if any(Family::Pass) {
            RunVerdict::DoneWithConcerns
        } else {
            RunVerdict::Inconclusive
        }
    }

    /// How a process ends that reports this run. Only DONE is a success: a gate must not open on
    /// concerns by accident.
    pub const fn exit(self) -> Exit {
        match self {
            RunVerdict::Done => Exit::Upheld,
            RunVerdict::Fail => Exit::Refuted,
            RunVerdict::DoneWithConcerns | RunVerdict::Inconclusive => Exit::Undecided,
            RunVerdict::Blocked => Exit::NothingChecked,
        }
    }

    /// When it is given, in a line.
    pub const fn meaning(self) -> &'static str {
        match self {
            RunVerdict::Fail => "at least one scenario broke its claim, reproducibly or not",
            RunVerdict::Blocked => "no scenario was attempted",
            RunVerdict::Inconclusive => "nothing broke, and nothing passed either",
            RunVerdict::DoneWithConcerns => "at least one pass, and at least one that is none",
            RunVerdict::Done => "every scenario passed, with evidence",
        }
    }
}
