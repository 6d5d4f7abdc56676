//! The audits as functions of measured numbers. What was not measured is unknown.

use super::{Audits, Check, RedFlag, WeakOracle};
use crate::budget::readable_ms;
use crate::facts::{Fault, RunFacts, SEEDS_AGREEING_MIN};
use crate::landing::{Landing, LandingState, landing_of};
use crate::named::named;
use serde::{Deserialize, Serialize};

/// A generator may fall short of its rate by a tenth before it counts as sunk.
pub const RATE_PERCENT_MIN: u64 = 90;

/// A statistical result counts from this many repetitions on, as with seeds.
pub const REPLICAS_MIN: u64 = 3;

/// A question that may not arise in a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Applicable<T> {
    /// It arises, and this was measured.
    Measured(T),
    /// It does not arise, for this reason.
    NotApplicable(String),
}

named! {
    /// Where timestamps come from.
    pub enum Clock {
        /// A clock that never jumps.
        Monotonic = "monotonic",
        /// The time at which the server received the request.
        ServerReceive = "server-receive",
        /// The time of day, which may jump.
        Wall = "wall",
    }
}

named! {
    /// What an oracle looks at.
    pub enum OracleKind {
        /// The history of the clients, with a checker.
        ClientHistory = "client-history",
        /// The state at the end.
        FinalState = "final-state",
        /// Logs.
        Logs = "logs",
        /// Health checks.
        HealthChecks = "health-checks",
        /// Error counts.
        ErrorMetrics = "error-metrics",
        /// Measured service levels.
        ServiceLevels = "service-levels",
    }
}

/// Declares structs of plain numbers that stand in a run record.
macro_rules! measures {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde(deny_unknown_fields)]
            pub struct $name { $($(#[$doc])* pub $field: $type,)* }
        )*
    };
}

measures! {
    /// A search of the system's log for exceptions, panics and internal errors.
    pub struct LogScan {
        /// How many lines were read.
        pub lines_read: u64,
        /// How many of them look like a hidden error.
        pub matches: u64,
        /// The first of them, to be shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub first: Option<String>,
    }

    /// A figure of health (throughput, replicas up) before the fault and after healing.
    pub struct Health {
        /// What it is, with its unit.
        pub what: String,
        /// Before the fault.
        pub baseline: u64,
        /// After healing.
        pub after: u64,
        /// How many percent of the baseline count as recovered.
        pub percent_min: u64,
    }

    /// Partitions that were injected.
    pub struct Partitions {
        /// Both directions cut.
        pub symmetric: u64,
        /// One direction cut.
        pub asymmetric: u64,
    }

    /// Requests counted at both ends.
    pub struct Retries {
        /// Sends the client recorded.
        pub client_sends: u64,
        /// Requests the server, or a tap on the wire, saw.
        pub server_receives: u64,
    }

    /// Topologies, for a claim about any size.
    pub struct Topologies {
        /// How many different ones were run.
        pub run: u64,
    }

    /// Surfaces, for a claim about a boundary.
    pub struct Surfaces {
        /// How many the plan declares.
        pub declared: u64,
        /// How many were exercised.
        pub exercised: u64,
    }

    /// Controls, for a claim about a boundary.
    pub struct Controls {
        /// Allowed things that were tried and succeeded.
        pub positive: u64,
        /// Forbidden things that were tried and denied.
        pub negative: u64,
    }

    /// How long a client of a closed loop had done nothing when the planned time was over.
    pub struct Silence {
        /// The longest of all clients, in milliseconds.
        pub ms: u64,
        /// More is no waiting for an answer any more: that client had stopped.
        pub ms_max: u64,
    }

    /// Groups, for a claim about fairness.
    pub struct Groups {
        /// How many groups have figures of their own.
        pub broken_down: u64,
    }

    /// What was measured around a run, beyond its facts.
    pub struct Measured {
        /// Operations a second the plan asks for.
        pub rate_planned: Option<u64>,
        /// Operations a second over the planned time; a generator that stops early has less.
        pub rate_achieved: Option<u64>,
        /// Clients that wait for answers have no rate; one that stopped is known by its silence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub silence: Option<Silence>,
        /// Cycles (epochs, windows) the oracle was to judge.
        pub cycles_planned: Option<u64>,
        /// Cycles it judged.
        pub cycles_judged: Option<u64>,
        /// Cycles that could not be done, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub cycles_lost: Vec<String>,
        /// The clock of the history.
        pub clock: Option<Clock>,
        /// Assertions about time; not applicable if there are none.
        pub timing_assertions: Option<Applicable<u64>>,
        /// How long the workload ran.
        pub duration_ms: Option<u64>,
        /// How long the tier asks for that the run set out to meet.
        pub duration_ms_claimed: Option<u64>,
        /// How long the hardening budget asks for.
        pub duration_ms_hardening: Option<u64>,
        /// The search of the system's log.
        pub log: Option<LogScan>,
        /// Health after the fault.
        pub health: Option<Health>,
        /// Faults that were not shown to be healed, or not carried to their end, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub unhealed: Vec<String>,
        /// Digests of the harness: of the baseline, and of this run.
        pub harness: Option<Applicable<[String; 2]>>,
        /// Repetitions of a statistical result; not applicable to one that is not.
        pub replicas: Option<Applicable<u64>>,
        /// What the oracles looked at.
        pub oracles: Option<Vec<OracleKind>>,
        /// Failovers that happened.
        pub failovers: Option<Applicable<u64>>,
        /// Partitions that were injected.
        pub partitions: Option<Applicable<Partitions>>,
        /// Requests at both ends.
        pub retries: Option<Applicable<Retries>>,
        /// Topologies that were run.
        pub topologies: Option<Applicable<Topologies>>,
        /// Surfaces that were exercised.
        pub surfaces: Option<Applicable<Surfaces>>,
        /// Controls that were tried.
        pub controls: Option<Applicable<Controls>>,
        /// Groups with figures of their own.
        pub groups: Option<Applicable<Groups>>,
    }
}

fn unknown(missing: &str) -> Check {
    Check::Unknown(format!("not measured: {missing}"))
}

fn answer(clean: bool, evidence: String) -> Check {
    if clean { Check::Clean(evidence) } else { Check::Raised(evidence) }
}

/// The answer to a question that may not arise.
fn if_applicable<T>(
    value: Option<&Applicable<T>>,
    missing: &str,
    judge: impl FnOnce(&T) -> Check,
) -> Check {
    match value {
        None => unknown(missing),
        Some(Applicable::NotApplicable(reason)) => Check::NotApplicable(reason.clone()),
        Some(Applicable::Measured(measured)) => judge(measured),
    }
}

/// At least so many percent of a whole; a whole of nothing is not reached.
fn reaches(part: u64, whole: u64, percent: u64) -> bool {
    whole > 0 && u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

impl Audits {
    /// Answers every item from what was measured; what was not measured is unknown.
    ///
    /// `facts.audits` is not read: it is what this function is to fill.
    pub fn of(facts: &RunFacts, measured: &Measured) -> Audits {
        let mut audits = Audits::default();
        for &item in RedFlag::ALL {
            audits.red_flags[item.index()] = red_flag(item, facts, measured);
        }
        for &item in WeakOracle::ALL {
            audits.weak_oracles[item.index()] = weak_oracle(item, facts, measured);
        }
        audits
    }
}

fn red_flag(item: RedFlag, facts: &RunFacts, m: &Measured) -> Check {
    match item {
        RedFlag::GeneratorSank => generator_sank(m),
        RedFlag::OracleSkipped => oracle_skipped(facts, m),
        RedFlag::FaultOneSided => {
            fault_check(facts, |landings| (landing_of(landings), evidence(landings)))
        }
        RedFlag::FaultNoOp => fault_check(facts, |landings| {
            let states = landings.iter().map(|landing| landing.injector.state());
            let numbers: Vec<String> = landings.iter().map(|l| l.injector.numbers()).collect();
            (states.max().unwrap_or(LandingState::Unknown), numbers.join("; "))
        }),
        RedFlag::ClockMasked => {
            if_applicable(m.timing_assertions.as_ref(), "assertions about time", |count| {
                match m.clock {
                    None => unknown("the clock of the history"),
                    Some(clock) => answer(
                        clock != Clock::Wall,
                        format!("{count} assertions about time on a {clock} clock"),
                    ),
                }
            })
        }
        RedFlag::RunTooShort => duration(m.duration_ms, m.duration_ms_claimed, "its tier"),
        RedFlag::ErrorsSuppressed => match &m.log {
            Some(scan) if scan.lines_read > 0 => {
                let first = scan.first.as_ref().map(|line| format!("; the first: {line}"));
                answer(
                    scan.matches == 0,
                    format!(
                        "{} suspicious lines among {} of the log{}",
                        scan.matches,
                        scan.lines_read,
                        first.unwrap_or_default()
                    ),
                )
            }
            _ => unknown("a search of the system's log"),
        },
        RedFlag::NotRecovered => not_recovered(facts, m),
        RedFlag::UnfairBaseline => {
            if_applicable(m.harness.as_ref(), "digests of the harness", |[baseline, run]| {
                answer(
                    baseline == run && !run.is_empty(),
                    format!("harness {run}, baseline taken with {baseline}"),
                )
            })
        }
        RedFlag::NotReplicated => if_applicable(m.replicas.as_ref(), "repetitions", |replicas| {
            answer(*replicas >= REPLICAS_MIN, format!("{replicas} repetitions"))
        }),
    }
}

fn generator_sank(m: &Measured) -> Check {
    let (Some(planned), Some(achieved)) = (m.rate_planned, m.rate_achieved) else {
        return unknown("planned and achieved rate");
    };
    let rate = format!("{achieved} of {planned} operations a second");
    match &m.silence {
        Some(Silence { ms, ms_max }) if ms > ms_max => Check::Raised(format!(
            "{rate}, and a client had been silent for {ms} ms at the end, {ms_max} ms at most are \
             waiting"
        )),
        _ => answer(reaches(achieved, planned, RATE_PERCENT_MIN), rate),
    }
}

fn oracle_skipped(facts: &RunFacts, m: &Measured) -> Check {
    let ops = &facts.operations;
    match (m.cycles_planned, m.cycles_judged, ops.sent, ops.recorded) {
        (Some(planned), Some(judged), Some(sent), Some(recorded)) => answer(
            planned > 0 && judged >= planned && recorded >= sent && m.cycles_lost.is_empty(),
            format!(
                "{judged} of {planned} cycles judged{}, {recorded} of {sent} operations recorded",
                m.cycles_lost.iter().map(|lost| format!(" ({lost})")).collect::<String>()
            ),
        ),
        _ => unknown("cycles planned and judged, operations sent and recorded"),
    }
}

fn evidence(landings: &[Landing]) -> String {
    landings.iter().map(Landing::evidence).collect::<Vec<_>>().join("; ")
}

fn fault_check(
    facts: &RunFacts,
    judge: impl FnOnce(&[Landing]) -> (LandingState, String),
) -> Check {
    let Fault::Planned { landings, .. } = &facts.fault else {
        return Check::NotApplicable("no fault is planned".to_string());
    };
    match judge(landings) {
        (LandingState::Landed, text) => Check::Clean(text),
        (LandingState::Missed, text) => Check::Raised(text),
        (LandingState::Unknown, _) => unknown("counters of injector and victim"),
    }
}

fn duration(run: Option<u64>, wanted: Option<u64>, of: &str) -> Check {
    match (run, wanted) {
        (Some(run), Some(wanted)) => answer(
            run >= wanted,
            format!("{}, {of} asks for {}", readable_ms(run), readable_ms(wanted)),
        ),
        _ => unknown("duration of the run and of its tier"),
    }
}

fn not_recovered(facts: &RunFacts, m: &Measured) -> Check {
    if facts.fault == Fault::NotPlanned {
        return Check::NotApplicable("no fault is planned".to_string());
    }
    if let Some(first) = m.unhealed.first() {
        let count = m.unhealed.len();
        return Check::Raised(format!("{count} faults were not healed as planned: {first}"));
    }
    let Some(health) = &m.health else { return unknown("health before and after the fault") };
    answer(
        reaches(health.after, health.baseline, health.percent_min.max(1)),
        format!("{} {} before, {} after", health.what, health.baseline, health.after),
    )
}

fn weak_oracle(item: WeakOracle, facts: &RunFacts, m: &Measured) -> Check {
    match item {
        WeakOracle::FinalStateOnly => alone(m, OracleKind::FinalState),
        WeakOracle::LogsOnly => alone(m, OracleKind::Logs),
        WeakOracle::HealthChecksOnly => alone(m, OracleKind::HealthChecks),
        WeakOracle::NoErrorsOnly => alone(m, OracleKind::ErrorMetrics),
        WeakOracle::OneFailover => if_applicable(m.failovers.as_ref(), "failovers", |count| {
            answer(*count >= 2, format!("{count} failovers"))
        }),
        WeakOracle::ShortRun => duration(m.duration_ms, m.duration_ms_hardening, "hardening"),
        WeakOracle::SymmetricOnly => if_applicable(m.partitions.as_ref(), "partitions", |cut| {
            let Partitions { symmetric, asymmetric } = cut;
            answer(*asymmetric > 0, format!("{symmetric} symmetric, {asymmetric} asymmetric"))
        }),
        WeakOracle::RetriesHidden => {
            if_applicable(m.retries.as_ref(), "requests at both ends", |retries| {
                let Retries { client_sends, server_receives } = retries;
                answer(
                    server_receives <= client_sends,
                    format!("client sent {client_sends}, server received {server_receives}"),
                )
            })
        }
        WeakOracle::WallClock => match m.clock {
            None => unknown("the clock of the history"),
            Some(clock) => answer(clock != Clock::Wall, format!("{clock} clock")),
        },
        WeakOracle::OneTopology => if_applicable(m.topologies.as_ref(), "topologies", |t| {
            answer(t.run >= 2, format!("{} topologies", t.run))
        }),
        WeakOracle::OneSeed => answer(
            facts.seeds_agreeing >= SEEDS_AGREEING_MIN,
            format!("{} seeds agree, {SEEDS_AGREEING_MIN} are wanted", facts.seeds_agreeing),
        ),
        WeakOracle::OneSurface => if_applicable(m.surfaces.as_ref(), "surfaces", |s| {
            answer(
                s.exercised >= 2 && s.exercised >= s.declared,
                format!("{} of {} surfaces", s.exercised, s.declared),
            )
        }),
        WeakOracle::PositiveControlsOnly => if_applicable(m.controls.as_ref(), "controls", |c| {
            answer(c.negative > 0, format!("{} positive, {} negative", c.positive, c.negative))
        }),
        WeakOracle::AggregateOnly => if_applicable(m.groups.as_ref(), "groups", |g| {
            answer(g.broken_down >= 2, format!("{} groups apart", g.broken_down))
        }),
    }
}

/// A weak kind is raised if it was used and nothing strong stood beside it.
fn alone(m: &Measured, weak: OracleKind) -> Check {
    let Some(kinds) = m.oracles.as_ref().filter(|kinds| !kinds.is_empty()) else {
        return unknown("what the oracles looked at");
    };
    let strong =
        kinds.iter().any(|k| matches!(k, OracleKind::ClientHistory | OracleKind::ServiceLevels));
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    answer(strong || !kinds.contains(&weak), names.join(", "))
}
