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

named! {
    /// How a scenario is meant to end.
    pub enum Expectation {
        /// Its claims hold.
        Upheld = "upheld",
        /// It is a canary: a defect is planted, and a run that does not find it proves little.
        Refuted = "refuted",
    }
}

impl Expectation {
    /// Whether a scenario ended as it is meant to: a canary has to fail, and nothing else may.
    pub fn is_met_by(self, verdict: Verdict) -> bool {
        match self {
            Expectation::Upheld => verdict.family() == Family::Pass,
            Expectation::Refuted => verdict.family() == Family::Fail,
        }
    }
}

impl RunVerdict {
    /// The verdict of a run with canaries. A canary that failed says that the oracle can see, and
    /// nothing about the claims: it neither breaks a run nor makes one. A canary that did not fail
    /// is a concern, whatever else it ended with.
    ///
    /// ```
    /// use assay_verdict::{Expectation::*, RunVerdict, Verdict::*};
    /// let with = |canary| RunVerdict::expecting(&[(PassHardening, Upheld), (canary, Refuted)]);
    /// assert_eq!(with(FailReproducible), RunVerdict::Done);
    /// assert_eq!(with(PassHardening), RunVerdict::DoneWithConcerns);
    /// ```
    pub fn expecting(scenarios: &[(Verdict, Expectation)]) -> RunVerdict {
        let of = |wanted: Expectation| {
            let wanted = scenarios.iter().filter(move |(_, expected)| *expected == wanted);
            wanted.map(|(verdict, _)| *verdict).collect::<Vec<Verdict>>()
        };
        let (claims, canaries) = (of(Expectation::Upheld), of(Expectation::Refuted));
        let caught = |verdict: &Verdict| Expectation::Refuted.is_met_by(*verdict);
        match RunVerdict::of(&claims) {
            RunVerdict::Blocked if canaries.iter().any(|v| v.family() != Family::NotRun) => {
                RunVerdict::Inconclusive
            }
            RunVerdict::Done if !canaries.iter().all(caught) => RunVerdict::DoneWithConcerns,
            verdict => verdict,
        }
    }

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
