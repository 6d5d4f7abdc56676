//! From what trials measured to the facts a verdict is computed from. Pure: it decides nothing, it
//! adds up. What was not measured stays unknown, and unknown never helps.

use crate::arm::{self, Depth};
use crate::faults::action::Cutting;
use crate::spec::TrialSpec;
use crate::trial::TrialRecord;
use assay_plan::machine::Machine;
use assay_plan::words::Category;
use assay_report::run::Planted;
use assay_verdict::audit::{
    Applicable, Clock, Controls, Groups, Health, LogScan, Measured, OracleKind, Partitions,
    Silence, Surfaces, Topologies,
};
use assay_verdict::{
    Audits, Budget, Calibration, Checker, Fault, HistoryFields, Landing, Operations, Rigour,
    RunFacts, Scope, Signal, Violation,
};
use std::collections::BTreeSet;

/// After a fault, this share of the answers before it counts as recovered, in percent.
pub const RECOVERED_PERCENT_MIN: u64 = 80;
/// A client of a closed loop that does nothing for more than so many timeouts has stopped.
pub const SILENT_TIMEOUTS_MAX: u64 = 2;
/// Checkers whose answers depend on how long things took.
pub const ABOUT_TIME: [&str; 4] = ["slo", "lease", "fairness", "baseline"];
/// Checkers whose answers are statistics.
const STATISTICAL: [&str; 3] = ["slo", "fairness", "baseline"];
/// Checkers that compare with another run.
const COMPARING: [&str; 1] = ["baseline"];

/// What is known about an arm beside its trials.
pub struct Setting<'s> {
    /// The machine block.
    pub machine: &'s Machine,
    /// Whether a model checker is needed.
    pub rigour: Rigour,
    /// How far the run was to go.
    pub depth: Depth,
    /// Whether a claim of the scenario speaks of clusters of any size.
    pub any_size: bool,
    /// What the checkers look at.
    pub oracles: Vec<OracleKind>,
    /// Why the client hides no retries; `None` if nobody says so.
    pub no_hidden_retries: Option<String>,
    /// What the claims of the scenario are about.
    pub categories: &'s [Category],
    /// Trials that could not be done, and why.
    pub not_done: &'s [String],
}

impl Setting<'_> {
    fn is_about(&self, category: Category) -> bool {
        self.categories.contains(&category)
    }
}

/// The facts of an arm, and the size of what was run.
pub struct ArmFacts {
    /// Facts without audits: those follow from the measured numbers.
    pub facts: RunFacts,
    /// Measured numbers.
    pub measured: Measured,
    /// The size of the run.
    pub size: Budget,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// What was planted into copies of the histories, over all trials.
    pub planted: Vec<Planted>,
    /// What of that was left out, and why.
    pub planted_less: Vec<String>,
}

impl ArmFacts {
    /// The same, now that all arms of the scenario are over: so many are declared, and so many of
    /// them ran. Nobody can say that before, and an arm that did not run was not exercised.
    pub fn set_surfaces(&mut self, declared: u64, exercised: u64) {
        self.measured.surfaces = Some(Applicable::Measured(Surfaces { declared, exercised }));
        self.facts.audits = Audits::of(&self.facts, &self.measured);
    }
}

/// The facts of the trials that count: all of one tier, or the violating one.
pub fn of(trials: &[&TrialRecord], violation: Violation, setting: &Setting<'_>) -> ArmFacts {
    let tier = arm::tier(setting.machine, setting.depth).unwrap_or_default();
    let faults_planned = trials.iter().any(|trial| !trial.spec.windows.is_empty());
    let agreeing = trials.iter().filter(|trial| is_clean(trial)).count() as u64;
    let least = |of: fn(&TrialRecord) -> u64| trials.iter().map(|t| of(t)).min().unwrap_or(0);
    let duration_ms = least(|trial| trial.workload_ms);
    let faults = if faults_planned { least(TrialRecord::landed) } else { 0 };
    let size = arm::size(setting.machine, &tier, duration_ms, faults, agreeing);
    let mut facts = RunFacts {
        rigour: setting.rigour,
        violation,
        fault: if faults_planned { planned(trials) } else { Fault::NotPlanned },
        checker: checker(trials),
        calibration: calibration(trials),
        history: history(trials),
        operations: operations(trials),
        scope: scope(trials),
        tier: arm::budgets(setting.machine).tier_met(&size),
        seeds_agreeing: u32::try_from(agreeing).unwrap_or(u32::MAX),
        audits: Audits::default(),
    };
    let measured = measured(trials, setting, &size);
    facts.audits = Audits::of(&facts, &measured);
    let seeds: BTreeSet<u64> = trials.iter().map(|trial| trial.spec.seed).collect();
    ArmFacts {
        facts,
        measured,
        size,
        seeds: seeds.into_iter().collect(),
        planted: sharpness(trials),
        planted_less: left_out(trials),
    }
}

fn is_clean(trial: &TrialRecord) -> bool {
    trial.judged.outcome == assay_verdict::Outcome::Upheld
}

fn planned(trials: &[&TrialRecord]) -> Fault {
    let mut landings = Vec::new();
    for trial in trials {
        let seed = trial.spec.seed;
        // First: it tells why the others have missed, if they have.
        if !trial.bypasses.is_empty() {
            landings.push(uncontrolled(seed, &trial.bypasses));
        }
        if let Some(why) = &trial.unwatched {
            let unread = |what: &str| Signal { what: what.to_string(), ..Signal::default() };
            let fault = format!("seed {seed}: nobody knows whether it was bypassed, {why}");
            let injector = unread("links all under control");
            landings.push(Landing { fault, victim: injector.clone(), injector });
        }
        for landing in trial.windows.iter().flat_map(|window| &window.landings) {
            let fault = format!("seed {seed}: {}", landing.fault);
            landings.push(Landing { fault, ..landing.clone() });
        }
    }
    let during = trials.iter().map(|trial| trial.operations.in_fault).sum();
    Fault::Planned { landings, ops_during_fault: Some(during) }
}

/// Traffic that went around the proxies: whatever the counters say, the fault was not complete.
fn uncontrolled(seed: u64, bypasses: &[String]) -> Landing {
    let (count, first) = (bypasses.len(), bypasses.first().map_or("", String::as_str));
    Landing {
        fault: format!("seed {seed}: the proxies were bypassed {count} times, first: {first}"),
        injector: Signal::counted("links all under control", 0, 0, 0),
        victim: Signal::counted("links all under control", 0, 0, 0),
    }
}

fn checker(trials: &[&TrialRecord]) -> Checker {
    let worst = trials.iter().map(|trial| trial.judged.checker).find(|c| *c != Checker::Completed);
    match trials {
        [] => Checker::NotRun,
        _ => worst.unwrap_or(Checker::Completed),
    }
}

fn calibration(trials: &[&TrialRecord]) -> Calibration {
    let (mut all, mut found) = (0, 0);
    for trial in trials {
        match trial.sharpness.as_ref().map(|sharp| sharp.calibration) {
            Some(Calibration::Done { planted, caught }) => {
                all += planted;
                found += caught;
            }
            // A trial that nobody calibrated leaves the whole untried.
            _ => return Calibration::NotDone,
        }
    }
    if all == 0 { Calibration::NotDone } else { Calibration::Done { planted: all, caught: found } }
}

/// What was planted in all trials together, by checker and kind, in the order of the first trial.
fn sharpness(trials: &[&TrialRecord]) -> Vec<Planted> {
    let mut all: Vec<Planted> = Vec::new();
    for row in trials.iter().filter_map(|t| t.sharpness.as_ref()).flat_map(|sharp| &sharp.rows) {
        let known = all.iter_mut().find(|k| k.checker == row.checker && k.kind == row.kind);
        match known {
            None => all.push(row.clone()),
            Some(known) => {
                known.planted += row.planted;
                known.caught += row.caught;
                known.certain += row.certain;
                known.certain_caught += row.certain_caught;
            }
        }
    }
    all
}

/// What calibrations left out, trial by trial.
fn left_out(trials: &[&TrialRecord]) -> Vec<String> {
    let of = |trial: &&TrialRecord| -> Vec<String> {
        let what = trial.sharpness.iter().flat_map(|sharp| &sharp.left_out);
        what.map(|what| format!("seed {}: {what}", trial.spec.seed)).collect()
    };
    trials.iter().flat_map(of).collect()
}

fn history(trials: &[&TrialRecord]) -> HistoryFields {
    let seed = |trial: &TrialRecord, what: String| format!("{what} in seed {}", trial.spec.seed);
    let spoiled: Vec<String> = trials
        .iter()
        .flat_map(|trial| trial.spoiled().into_iter().map(|what| seed(trial, what)))
        .collect();
    if !spoiled.is_empty() {
        return HistoryFields::Spoiled(spoiled);
    }
    let mut lacks = BTreeSet::new();
    for trial in trials {
        match &trial.judged.history {
            HistoryFields::Complete => {}
            HistoryFields::Lacks(fields) => lacks.extend(fields.iter().cloned()),
            unsure => return unsure.clone(),
        }
    }
    match (trials.is_empty(), lacks.is_empty()) {
        (true, _) => HistoryFields::Unknown,
        (_, true) => HistoryFields::Complete,
        (_, false) => HistoryFields::Lacks(lacks.into_iter().collect()),
    }
}

fn operations(trials: &[&TrialRecord]) -> Operations {
    let sum = |of: fn(&TrialRecord) -> u64| Some(trials.iter().map(|trial| of(trial)).sum());
    Operations {
        sent: sum(|trial| trial.operations.sent),
        recorded: sum(|trial| trial.operations.recorded),
        consumed: sum(|trial| trial.judged.consumed),
    }
}

fn scope(trials: &[&TrialRecord]) -> Scope {
    let parts: BTreeSet<String> =
        trials.iter().flat_map(|trial| trial.judged.not_covered.iter().cloned()).collect();
    if parts.is_empty() { Scope::Whole } else { Scope::Part(parts.into_iter().collect()) }
}

fn measured(trials: &[&TrialRecord], setting: &Setting<'_>, size: &Budget) -> Measured {
    let wanted = arm::tier(setting.machine, setting.depth).unwrap_or_default();
    let hardening = arm::budgets(setting.machine).hardening;
    let ms = |time: assay_plan::time::Time| u64::try_from(time.0.as_millis()).unwrap_or(u64::MAX);
    let (rate_planned, rate_achieved) = rates(trials);
    let first = trials.first().map(|trial| &trial.spec);
    let checks = |words: &[&str]| {
        first.is_some_and(|s| s.check.names.iter().any(|n| words.contains(&n.as_str())))
    };
    let seeds_planned = wanted.seeds.unwrap_or(1).max(1);
    Measured {
        rate_planned,
        rate_achieved,
        silence: silence(trials),
        cycles_planned: Some(seeds_planned),
        cycles_judged: Some(trials.iter().filter(|t| t.judged.ops_in > 0).count() as u64),
        cycles_lost: setting.not_done.to_vec(),
        clock: Some(match trials.iter().any(|trial| trial.clock_jumps > 0) {
            true => Clock::Wall,
            false => Clock::Monotonic,
        }),
        timing_assertions: Some(match checks(&ABOUT_TIME) {
            true => Applicable::Measured(1),
            false => Applicable::NotApplicable("no checker compares times with a bound".into()),
        }),
        duration_ms: Some(size.duration_ms),
        duration_ms_claimed: wanted.duration.map(ms),
        duration_ms_hardening: Some(hardening.duration_ms),
        log: Some(LogScan {
            lines_read: trials.iter().map(|trial| trial.log.lines).sum(),
            matches: trials.iter().map(|trial| trial.log.suspicious).sum(),
            first: trials.iter().find_map(|trial| trial.log.samples.first().cloned()),
        }),
        health: health(trials),
        unhealed: unhealed(trials),
        // With which harness a baseline was taken is written nowhere yet: then nobody knows.
        harness: unless(checks(&COMPARING), "nothing is compared with a baseline"),
        replicas: Some(match checks(&STATISTICAL) {
            true => Applicable::Measured(trials.len() as u64),
            false => Applicable::NotApplicable("the result is no statistic".into()),
        }),
        oracles: Some(setting.oracles.clone()),
        failovers: Some(failovers(trials, first)),
        partitions: Some(partitions(trials)),
        retries: setting.no_hidden_retries.clone().map(Applicable::NotApplicable),
        topologies: Some(match setting.any_size {
            true => {
                let sizes: BTreeSet<usize> = trials.iter().map(|t| t.spec.system.nodes).collect();
                Applicable::Measured(Topologies { run: sizes.len() as u64 })
            }
            false => Applicable::NotApplicable("no claim here speaks of any cluster size".into()),
        }),
        surfaces: Some(match setting.categories.iter().any(|category| category.has_surfaces()) {
            true => Applicable::Measured(Surfaces { declared: 1, exercised: 1 }),
            false => Applicable::NotApplicable("no claim here is about several surfaces".into()),
        }),
        controls: controls(setting),
        groups: groups(trials, setting),
    }
}

/// Not applicable for this reason, unless the question arises: then nothing has measured it.
fn unless<T>(arises: bool, reason: &str) -> Option<Applicable<T>> {
    (!arises).then(|| Applicable::NotApplicable(reason.to_string()))
}

/// No generator tries what is forbidden, so nobody has counted how often it was denied.
fn controls(setting: &Setting<'_>) -> Option<Applicable<Controls>> {
    unless(setting.is_about(Category::Boundary), "no claim here is about a boundary")
}

/// The groups that were told apart in every trial, by a checker that compares them.
fn groups(trials: &[&TrialRecord], setting: &Setting<'_>) -> Option<Applicable<Groups>> {
    if !setting.is_about(Category::Fairness) {
        return unless(false, "no claim here is about fairness");
    }
    let told_apart = trials.iter().map(|trial| trial.judged.groups);
    let broken_down = told_apart.collect::<Option<Vec<u64>>>()?.into_iter().min()?;
    Some(Applicable::Measured(Groups { broken_down }))
}

/// Planned and achieved rate. A closed loop has no rate of its own: every client has to send at
/// least once in each timeout, or it was not working.
fn rates(trials: &[&TrialRecord]) -> (Option<u64>, Option<u64>) {
    let one = |trial: &&TrialRecord| {
        let spec = &trial.spec;
        let clients = spec.workload.clients as f64;
        let least = clients * 1_000.0 / spec.workload.timeout_ms.max(1) as f64;
        let planned = spec.workload.rate.unwrap_or(least).ceil() as u64;
        let achieved = trial.operations.sent_in_time * 1_000 / spec.duration_ms.max(1);
        (planned, achieved)
    };
    // The trial that fell short the most speaks for all.
    let worst = trials.iter().map(one).min_by(|a, b| (a.1 * b.0).cmp(&(b.1 * a.0)));
    worst.map_or((None, None), |(planned, achieved)| (Some(planned), Some(achieved)))
}

/// The longest silence of a client that works in a closed loop, where there is one: a client that
/// gets no answers does something at least once in all tries of an operation.
fn silence(trials: &[&TrialRecord]) -> Option<Silence> {
    let one = |trial: &&TrialRecord| {
        let workload = &trial.spec.workload;
        let tries = crate::trial::workload(&trial.spec).map_or(1, |w| 1 + u64::from(w.retries()));
        let ms_max = workload.timeout_ms.saturating_mul(SILENT_TIMEOUTS_MAX * tries);
        Some(Silence { ms: trial.silent_ms?, ms_max })
    };
    trials.iter().filter_map(one).max_by_key(|silence| silence.ms)
}

/// Faults that were not shown to be healed, by seed and name, and nodes that did not run when all
/// of them were: one may end just after it was looked at, and everything that was read since was
/// read from the others.
fn unhealed(trials: &[&TrialRecord]) -> Vec<String> {
    let of = |trial: &&TrialRecord| {
        let seed = trial.spec.seed;
        let windows = trial.windows.iter().filter_map(|w| Some((&w.id, w.unhealed.as_ref()?)));
        let windows = windows.map(|(id, why)| format!("seed {seed}: {id}: {why}"));
        let down = trial.down.iter();
        let down = down.map(|node| format!("seed {seed}: {node} does not run at the end"));
        windows.chain(down).collect::<Vec<_>>()
    };
    trials.iter().flat_map(of).collect()
}

fn health(trials: &[&TrialRecord]) -> Option<Health> {
    let all = trials.iter().map(|trial| trial.health).collect::<Option<Vec<_>>>()?;
    let worst =
        all.into_iter().min_by(|a, b| (a.after * b.baseline).cmp(&(b.after * a.baseline)))?;
    Some(Health {
        what: "answers a second".to_string(),
        baseline: worst.baseline,
        after: worst.after,
        percent_min: RECOVERED_PERCENT_MIN,
    })
}

fn failovers(trials: &[&TrialRecord], first: Option<&TrialSpec>) -> Applicable<u64> {
    // A fault that is proven by an election is meant to bring one about; others may, and need not.
    let is_meant = first
        .is_some_and(|spec| spec.windows.iter().any(|window| window.victim.contains("elections")));
    if !is_meant {
        return Applicable::NotApplicable("no fault is meant to change the leader".to_string());
    }
    Applicable::Measured(trials.iter().filter_map(|trial| trial.elections).sum())
}

fn partitions(trials: &[&TrialRecord]) -> Applicable<Partitions> {
    let count = |cutting: Cutting| {
        let windows = trials.iter().flat_map(|trial| &trial.windows);
        windows.filter(|window| window.cutting == cutting && window.start_ns.is_some()).count()
    };
    let (symmetric, asymmetric) =
        (count(Cutting::Symmetric) as u64, count(Cutting::Asymmetric) as u64);
    if symmetric + asymmetric == 0 {
        return Applicable::NotApplicable("no partition is part of this scenario".to_string());
    }
    Applicable::Measured(Partitions { symmetric, asymmetric })
}

#[cfg(test)]
mod tests;
