//! The ten verdicts about a scenario, and which of them say more for a claim.

use crate::named::named;

named! {
    /// What a run of a scenario says about the claim it tried to break.
    pub enum Verdict {
        /// The fault landed, the checker saw everything under it, and found nothing.
        PassHardening = "PASS-hardening",
        /// Nothing was found, and nothing hard was asked: no fault, or a small run.
        PassSmoke = "PASS-smoke",
        /// The checker saw only a part, or what it saw is too narrow to stand on.
        PartialModel = "PARTIAL-model",
        /// The checker that was declared did not judge; only the surface was looked at.
        PartialSurface = "PARTIAL-surface",
        /// The checker judged, and could not have told a pass from a failure.
        InconclusiveOracleTooWeak = "INCONCLUSIVE-oracle-too-weak",
        /// A fault was to be injected, and nothing proves that it was felt.
        InconclusiveFaultNotProven = "INCONCLUSIVE-fault-not-proven",
        /// The machine lacks what the scenario needs, and the operator knows.
        InconclusiveEnv = "INCONCLUSIVE-env",
        /// Declared, never attempted.
        NotRun = "NOT-RUN",
        /// A violation that was seen once and not again.
        FailNondeterministic = "FAIL-nondeterministic",
        /// A violation that comes back with the same seed.
        FailReproducible = "FAIL-reproducible",
    }
}

named! {
    /// How much a verdict says for the claim, from nothing good to all that was asked.
    ///
    /// Verdicts of one level answer different questions and are not compared. The reasons are in
    /// docs/adr/0005-verdict-order.md.
    pub enum Level {
        /// The claim is false, and anyone can see it again.
        BrokenAgain = "broken, and breaks again",
        /// The claim was false once.
        BrokenOnce = "broken once",
        /// Nothing is known about the claim.
        Untested = "not tested",
        /// A part of the question is answered: all of it without a fault, or some of it with one.
        PartlyTested = "partly tested",
        /// The claim stood up to the fault it was tried with.
        Tested = "tested",
    }
}

named! {
    /// The first word of a verdict.
    pub enum Family {
        /// No violation, and evidence for it.
        Pass = "PASS",
        /// A violation.
        Fail = "FAIL",
        /// It ran and says little.
        Partial = "PARTIAL",
        /// It says nothing.
        Inconclusive = "INCONCLUSIVE",
        /// There was no run.
        NotRun = "NOT-RUN",
    }
}

impl Verdict {
    /// How much it says for the claim. Worse facts never lead to a higher level.
    pub const fn level(self) -> Level {
        match self {
            Verdict::PassHardening => Level::Tested,
            Verdict::PassSmoke | Verdict::PartialModel => Level::PartlyTested,
            Verdict::PartialSurface
            | Verdict::InconclusiveOracleTooWeak
            | Verdict::InconclusiveFaultNotProven
            | Verdict::InconclusiveEnv
            | Verdict::NotRun => Level::Untested,
            Verdict::FailNondeterministic => Level::BrokenOnce,
            Verdict::FailReproducible => Level::BrokenAgain,
        }
    }

    /// Its first word.
    pub const fn family(self) -> Family {
        match self {
            Verdict::PassHardening | Verdict::PassSmoke => Family::Pass,
            Verdict::PartialModel | Verdict::PartialSurface => Family::Partial,
            Verdict::InconclusiveOracleTooWeak
            | Verdict::InconclusiveFaultNotProven
            | Verdict::InconclusiveEnv => Family::Inconclusive,
            Verdict::NotRun => Family::NotRun,
            Verdict::FailNondeterministic | Verdict::FailReproducible => Family::Fail,
        }
    }

    /// What it means, in a line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Verdict::PassHardening => {
                "the fault landed, the checker judged every operation around it, nothing was found"
            }
            Verdict::PassSmoke => "nothing was found, but no fault was active or the run was small",
            Verdict::PartialModel => "nothing was found in the part that was judged",
            Verdict::PartialSurface => "nothing was seen, but the declared checker did not judge",
            Verdict::InconclusiveOracleTooWeak => {
                "nothing was found, but a violation would not have been found either"
            }
            Verdict::InconclusiveFaultNotProven => {
                "a fault was planned, and nothing proves that it landed"
            }
            Verdict::InconclusiveEnv => "the environment lacks what the scenario needs",
            Verdict::NotRun => "the scenario was declared and never attempted",
            Verdict::FailNondeterministic => "a violation was seen and has not been seen again",
            Verdict::FailReproducible => "a violation was seen, and again with the same seed",
        }
    }

    /// What one may say, and what to do next.
    pub const fn advice(self) -> &'static str {
        match self {
            Verdict::PassHardening => {
                "The strongest pass there is. It holds for the faults, seeds and sizes that were \
                 used: say \"not observed under these faults\", never \"cannot happen\"."
            }
            Verdict::PassSmoke => {
                "It shows that the harness works, and nothing about robustness. To get further, \
                 meet the hardening budget with a fault that lands."
            }
            Verdict::PartialModel => {
                "More than a look at the surface, less than a hardening pass. The report names \
                 what was left out: check it, or run more seeds, topologies or faults."
            }
            Verdict::PartialSurface => {
                "May be quoted as \"no obvious regression\" and nothing more. Make the declared \
                 checker run on every cycle, and pair weak oracles with a strong one."
            }
            Verdict::InconclusiveOracleTooWeak => {
                "Mend the history, the checker, its budget or the open red flags, and run again. \
                 Until then it is as if nobody had looked."
            }
            Verdict::InconclusiveFaultNotProven => {
                "What the oracle said does not count. Make a counter of the injector and a signal \
                 of a victim move, then run again."
            }
            Verdict::InconclusiveEnv => {
                "Install what is missing, choose an honest substitute, or accept the gap in \
                 writing."
            }
            Verdict::NotRun => {
                "Not evidence of anything. It differs from INCONCLUSIVE-env: there it was tried."
            }
            Verdict::FailNondeterministic => {
                "A violation is a violation. Pursue it with deterministic simulation or many \
                 seeds; do not file it as reproducible."
            }
            Verdict::FailReproducible => {
                "Reduce it, decide whose fault it is (system, harness, checker, environment), and \
                 file it."
            }
        }
    }
}
