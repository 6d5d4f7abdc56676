//! The items of both audits: what each asks, what an open one does, when it cannot apply.

use crate::named::named;

named! {
    /// Ways for a broken test to be green.
    pub enum RedFlag {
        /// 1: the load stopped or sank without a word.
        GeneratorSank = "generator-sank",
        /// 2: the oracle skipped cycles.
        OracleSkipped = "oracle-skipped",
        /// 3: only one side noticed the fault.
        FaultOneSided = "fault-one-sided",
        /// 4: the injector did nothing.
        FaultNoOp = "fault-no-op",
        /// 5: clock skew hid a timing problem.
        ClockMasked = "clock-masked",
        /// 6: the run was shorter than its tier.
        RunTooShort = "run-too-short",
        /// 7: errors were swallowed.
        ErrorsSuppressed = "errors-suppressed",
        /// 8: the system stayed degraded.
        NotRecovered = "not-recovered",
        /// 9: compared with a baseline of another harness.
        UnfairBaseline = "unfair-baseline",
        /// 10: one pass of a statistical test.
        NotReplicated = "not-replicated",
    }
}

named! {
    /// Ways of looking that are too weak alone.
    pub enum WeakOracle {
        /// 1: only the final state.
        FinalStateOnly = "final-state-only",
        /// 2: only logs.
        LogsOnly = "logs-only",
        /// 3: only health checks.
        HealthChecksOnly = "health-checks-only",
        /// 4: one failover.
        OneFailover = "one-failover",
        /// 5: only the absence of errors.
        NoErrorsOnly = "no-errors-only",
        /// 6: a short run.
        ShortRun = "short-run",
        /// 7: only symmetric partitions.
        SymmetricOnly = "symmetric-only",
        /// 8: a client library that hides retries.
        RetriesHidden = "retries-hidden",
        /// 9: timestamps of a wall clock.
        WallClock = "wall-clock",
        /// 10: one topology.
        OneTopology = "one-topology",
        /// 11: one seed.
        OneSeed = "one-seed",
        /// 12: one surface.
        OneSurface = "one-surface",
        /// 13: only positive controls.
        PositiveControlsOnly = "positive-controls-only",
        /// 14: an aggregate that hides groups.
        AggregateOnly = "aggregate-only",
    }
}

named! {
    /// What an open item does to a result.
    pub enum Effect {
        /// The oracle was not really there: at most PARTIAL-surface.
        Surface = "at most PARTIAL-surface",
        /// The evidence is too narrow for hardening: at most PARTIAL-model.
        Model = "at most PARTIAL-model instead of PASS-hardening",
        /// The fault is not proven.
        FaultNotProven = "INCONCLUSIVE-fault-not-proven",
        /// The budget is not proven.
        SmokeCap = "at most PASS-smoke",
        /// The result is held until the item is answered.
        Held = "held: INCONCLUSIVE-oracle-too-weak",
    }
}

named! {
    /// When an item may be called not applicable.
    pub enum Exemption {
        /// Never: there is always something to look at.
        Never = "never",
        /// Where no fault is planned.
        WithoutFault = "when no fault is planned",
        /// Where a reason is given.
        WithReason = "with a reason",
    }
}

impl RedFlag {
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Its number in reports, from 1.
    pub const fn number(self) -> usize {
        self.index() + 1
    }

    /// What has to be shown.
    pub const fn question(self) -> &'static str {
        match self {
            RedFlag::GeneratorSank => "the generator kept its rate for the whole time",
            RedFlag::OracleSkipped => "the oracle ran on every cycle that was planned",
            RedFlag::FaultOneSided => "injector and victim both show the fault",
            RedFlag::FaultNoOp => "the injector's own counter moved",
            RedFlag::ClockMasked => "timing is asserted on a clock that cannot jump",
            RedFlag::RunTooShort => "the run was as long as its budget tier asks",
            RedFlag::ErrorsSuppressed => "the system's log was searched and holds no hidden error",
            RedFlag::NotRecovered => "after the fault the system came back to its baseline",
            RedFlag::UnfairBaseline => "the baseline was taken with the same harness",
            RedFlag::NotReplicated => "statistical results were repeated",
        }
    }

    /// What it does while it is open.
    pub const fn effect(self) -> Effect {
        match self {
            RedFlag::OracleSkipped => Effect::Surface,
            RedFlag::FaultOneSided | RedFlag::FaultNoOp => Effect::FaultNotProven,
            RedFlag::RunTooShort => Effect::SmokeCap,
            RedFlag::GeneratorSank
            | RedFlag::ClockMasked
            | RedFlag::ErrorsSuppressed
            | RedFlag::NotRecovered
            | RedFlag::UnfairBaseline
            | RedFlag::NotReplicated => Effect::Held,
        }
    }

    /// When it may be called not applicable.
    pub const fn exemption(self) -> Exemption {
        match self {
            RedFlag::GeneratorSank
            | RedFlag::OracleSkipped
            | RedFlag::RunTooShort
            | RedFlag::ErrorsSuppressed => Exemption::Never,
            RedFlag::FaultOneSided | RedFlag::FaultNoOp | RedFlag::NotRecovered => {
                Exemption::WithoutFault
            }
            RedFlag::ClockMasked | RedFlag::UnfairBaseline | RedFlag::NotReplicated => {
                Exemption::WithReason
            }
        }
    }
}

impl WeakOracle {
    pub(crate) const fn index(self) -> usize {
        self as usize
    }

    /// Its number in reports, from 1.
    pub const fn number(self) -> usize {
        self.index() + 1
    }

    /// What has to be shown.
    pub const fn question(self) -> &'static str {
        match self {
            WeakOracle::FinalStateOnly => "more than the final state was judged",
            WeakOracle::LogsOnly => "more than logs were judged",
            WeakOracle::HealthChecksOnly => "more than health checks were judged",
            WeakOracle::OneFailover => "failover happened more than once",
            WeakOracle::NoErrorsOnly => "more than the absence of errors was judged",
            WeakOracle::ShortRun => "the duration is the one hardening asks for",
            WeakOracle::SymmetricOnly => "a partition was asymmetric",
            WeakOracle::RetriesHidden => "the client's sends agree with what the server received",
            WeakOracle::WallClock => "timestamps are monotonic or taken by the server",
            WeakOracle::OneTopology => "more than one topology was run",
            WeakOracle::OneSeed => "at least three seeds agree",
            WeakOracle::OneSurface => "every declared surface was exercised, more than one of them",
            WeakOracle::PositiveControlsOnly => "something forbidden was tried and denied",
            WeakOracle::AggregateOnly => "figures are broken down by group",
        }
    }

    /// What it does while it is open, in a serious scenario.
    pub const fn effect(self) -> Effect {
        match self {
            WeakOracle::FinalStateOnly
            | WeakOracle::LogsOnly
            | WeakOracle::HealthChecksOnly
            | WeakOracle::NoErrorsOnly
            | WeakOracle::OneSurface
            | WeakOracle::PositiveControlsOnly => Effect::Surface,
            WeakOracle::OneFailover
            | WeakOracle::ShortRun
            | WeakOracle::SymmetricOnly
            | WeakOracle::RetriesHidden
            | WeakOracle::WallClock
            | WeakOracle::OneTopology
            | WeakOracle::OneSeed
            | WeakOracle::AggregateOnly => Effect::Model,
        }
    }

    /// When it may be called not applicable.
    pub const fn exemption(self) -> Exemption {
        match self {
            WeakOracle::FinalStateOnly
            | WeakOracle::LogsOnly
            | WeakOracle::HealthChecksOnly
            | WeakOracle::NoErrorsOnly
            | WeakOracle::ShortRun
            | WeakOracle::WallClock
            | WeakOracle::OneSeed => Exemption::Never,
            WeakOracle::OneFailover
            | WeakOracle::SymmetricOnly
            | WeakOracle::RetriesHidden
            | WeakOracle::OneTopology
            | WeakOracle::OneSurface
            | WeakOracle::PositiveControlsOnly
            | WeakOracle::AggregateOnly => Exemption::WithReason,
        }
    }
}
