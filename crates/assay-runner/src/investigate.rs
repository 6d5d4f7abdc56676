//! After a violation: does it come back, what is needed to see it, whose fault is it?
//!
//! Every question is a trial of its own, asked of whoever can run one ([`Runner`]). First the same
//! seed again; then smaller trials, as long as they still fail (`smaller`); then trials that
//! differ in one respect, each of which clears or accuses somebody ([`crate::blame`]).

mod smaller;
#[cfg(test)]
mod tests;

use crate::blame::Tells;
use crate::event::{Events, Purpose, RunEvent};
use crate::facts::ABOUT_TIME;
use crate::spec::TrialSpec;
use crate::trial::{self, AnomalyRecord, TrialError, TrialRecord};
use assay_workload::{GENERATORS, GeneratorInfo};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How often the same seed is tried again before a violation counts as not reproduced.
pub const RERUNS_TO_REPRODUCE: usize = 3;
/// What is added to the seed where everything is to be drawn differently.
const OTHER_SEED: u64 = 7_919;

/// What was found out about a violation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Investigation {
    /// The trial in which it was seen first.
    pub first: TrialRecord,
    /// How often the same seed was tried again, and how often it showed.
    pub reruns: [u64; 2],
    /// The smallest trial that shows it.
    pub smallest: TrialSpec,
    /// Events (faults and operations) before and after the reduction.
    pub events: [u64; 2],
    /// Trials the reduction took.
    pub reductions: u64,
    /// Whether each fault window that is left is known to be needed.
    pub minimal: bool,
    /// Why it was not reduced, if it was not.
    pub not_reduced: Option<String>,
    /// Reruns that could not be done, and why: they count as not showing it.
    #[serde(default)]
    pub not_done: Vec<String>,
    /// Reruns that broke another promise than the first trial: they do not show it either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// What speaks for whom.
    pub tells: Tells,
}

impl Investigation {
    /// Whether the same seed showed it again.
    pub fn reproduced(&self) -> bool {
        self.reruns[1] > 0
    }
}

/// Runs a trial, under a name that is unique in the arm.
pub type Runner<'r> = dyn FnMut(&str, &TrialSpec, Purpose) -> Result<TrialRecord, TrialError> + 'r;

/// How much an investigation may cost, and how small it may get.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Trials to make it smaller.
    pub reruns: u64,
    /// Milliseconds for that.
    pub time_ms: u64,
    /// The smallest cluster that may be tried; `None`: only the one it was seen on.
    pub nodes_min: Option<usize>,
}

struct Inquiry<'i, 'r> {
    /// What is looked for: the first violation.
    first: &'i TrialRecord,
    events: &'i Events<'i>,
    run: &'i mut Runner<'r>,
    allowance: Allowance,
    begun: Instant,
    reductions: u64,
    not_done: Vec<String>,
    others: Vec<String>,
}

/// Whether a trial shows the violation that the first has shown: a checker that broke there breaks
/// here. The kind of anomaly may be another one: a bug of isolation is G-single in one schedule and
/// G2 in the next, and which objects it hits is chance. What another checker finds is another
/// violation, and no proof that the first comes back.
fn shows(first: &TrialRecord, record: &TrialRecord) -> bool {
    let found = &record.judged.anomalies;
    let again = |wanted: &AnomalyRecord| found.iter().any(|one| one.checker == wanted.checker);
    record.is_violation() && first.judged.anomalies.first().is_none_or(again)
}

/// Looks into a violation. A rerun that cannot be done, because a node is not ready in time, say,
/// shows nothing; that is no reason to give up what was found before it.
pub fn investigate(
    first: &TrialRecord,
    allowance: Allowance,
    events: &Events<'_>,
    run: &mut Runner<'_>,
) -> Result<Investigation, TrialError> {
    let begun = Instant::now();
    let (not_done, others) = (Vec::new(), Vec::new());
    let mut inquiry =
        Inquiry { first, events, run, allowance, begun, reductions: 0, not_done, others };
    let (reruns, again) = inquiry.reproduce(first)?;
    let events_before = first.windows.len() as u64 + first.operations.recorded;
    let mut found = Investigation {
        first: first.clone(),
        reruns,
        smallest: first.spec.clone(),
        events: [events_before, events_before],
        reductions: 0,
        minimal: false,
        not_reduced: None,
        not_done: Vec::new(),
        others: Vec::new(),
        tells: Tells::default(),
    };
    match again {
        Some(again) => {
            let (smallest, minimal, last) = inquiry.reduce(first, again)?;
            found.events[1] = smallest.windows.len() as u64 + witness_ops(&last);
            (found.smallest, found.minimal) = (smallest, minimal);
        }
        None => {
            let why = format!("the same seed did not show it again in {} reruns", reruns[0]);
            found.not_reduced = Some(match inquiry.not_done.len() {
                0 => why,
                not_done => format!("{why}, of which {not_done} could not be done"),
            });
        }
    }
    (found.reductions, found.not_done) = (inquiry.reductions, inquiry.not_done.clone());
    found.tells = inquiry.tells(first, &found)?;
    found.others = inquiry.others;
    Ok(found)
}

fn witness_ops(record: &TrialRecord) -> u64 {
    record.judged.anomalies.first().map_or(0, |anomaly| anomaly.ops.len() as u64)
}

impl Inquiry<'_, '_> {
    /// Runs a trial; the reason if it could not be done. Only what ends the whole run, and evidence
    /// that was tampered with, are errors.
    fn rerun(
        &mut self,
        name: &str,
        spec: &TrialSpec,
        purpose: Purpose,
    ) -> Result<Result<TrialRecord, String>, TrialError> {
        match (self.run)(name, spec, purpose) {
            Ok(record) => {
                self.note_other(name, &record);
                Ok(Ok(record))
            }
            Err(TrialError::Missing(what)) => Ok(Err(what.join("; "))),
            Err(TrialError::Trouble(why)) => Ok(Err(why)),
            Err(error @ TrialError::NotStarted(_)) => Ok(Err(error.to_string())),
            Err(error @ (TrialError::Interrupted | TrialError::Broken(..))) => Err(error),
        }
    }

    /// A rerun that breaks something else is told, and counts for nothing here.
    fn note_other(&mut self, name: &str, record: &TrialRecord) {
        if !record.is_violation() || shows(self.first, record) {
            return;
        }
        let found = record.judged.anomalies.first();
        let found = found.map_or(String::new(), |a| format!("{}: {}", a.checker, a.title));
        let what = format!("{name} broke another promise than the first trial: {found}");
        self.events.emit(&RunEvent::Noticed { what: what.clone() });
        self.others.push(what);
    }

    /// Runs a trial that is to show the violation; `None` if it does not, or could not be done.
    fn shown_by(
        &mut self,
        name: &str,
        spec: &TrialSpec,
        purpose: Purpose,
    ) -> Result<Option<TrialRecord>, TrialError> {
        match self.rerun(name, spec, purpose)? {
            Ok(record) => Ok(shows(self.first, &record).then_some(record)),
            Err(why) => {
                let what = format!("{name} could not be done: {why}");
                self.events.emit(&RunEvent::Noticed { what: what.clone() });
                self.not_done.push(what);
                Ok(None)
            }
        }
    }

    fn reproduce(
        &mut self,
        first: &TrialRecord,
    ) -> Result<([u64; 2], Option<TrialRecord>), TrialError> {
        for number in 1..=RERUNS_TO_REPRODUCE {
            let name = format!("reproduce-{number}");
            if let Some(again) = self.shown_by(&name, &first.spec, Purpose::Reproduce)? {
                return Ok(([number as u64, 1], Some(again)));
            }
        }
        Ok(([RERUNS_TO_REPRODUCE as u64, 0], None))
    }

    fn may_go_on(&self) -> bool {
        let took = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.reductions < self.allowance.reruns && took < self.allowance.time_ms
    }

    /// Tries a smaller trial; `None` if it does not show the violation, or there is no time.
    fn still_fails(
        &mut self,
        what: &str,
        spec: &TrialSpec,
    ) -> Result<Option<TrialRecord>, TrialError> {
        if !self.may_go_on() {
            return Ok(None);
        }
        self.reductions += 1;
        self.events.emit(&RunEvent::Reducing { what: what.to_string(), still_fails: None });
        let name = format!("reduce-{}", self.reductions);
        let record = self.shown_by(&name, spec, Purpose::Reduce)?;
        let still_fails = Some(record.is_some());
        self.events.emit(&RunEvent::Reducing { what: what.to_string(), still_fails });
        Ok(record)
    }

    fn tells(&mut self, first: &TrialRecord, found: &Investigation) -> Result<Tells, TrialError> {
        let anomalies = &first.judged.anomalies;
        let mut tells = Tells {
            certificate_verified: anomalies.first().and_then(|anomaly| anomaly.verified),
            ..Tells::default()
        };
        match trial::self_test(&first.spec.check) {
            Ok(passed) => {
                tells.known_good_passes = Some(passed.is_ok());
                tells.lines.push(match passed {
                    Ok(()) => "the checker passes a known-good and refutes a known-bad history"
                        .to_string(),
                    Err(why) => format!("the checker fails its own test: {why}"),
                });
            }
            Err(why) => tells.lines.push(format!("the checker could not be tested: {why}")),
        }
        let word = match (tells.certificate_verified, anomalies.is_empty()) {
            (Some(true), _) => "holds in a separate verifier",
            (Some(false), _) => "does not hold in a separate verifier",
            (None, false) => "is too large for the separate verifier",
            (None, true) => "is missing",
        };
        tells.lines.push(format!("the certificate of the refutation {word}"));
        self.try_other_workloads(&found.smallest, &mut tells)?;
        if !found.smallest.windows.is_empty() {
            let calm = TrialSpec { windows: Vec::new(), ..found.smallest.clone() };
            let line = "without any fault: ".to_string();
            tells.shows_without_fault =
                self.told("blame-without-faults", &calm, line, &mut tells.lines)?;
        }
        Ok(tells)
    }

    /// Runs a trial that speaks for or against somebody, and writes a line about it: whether it
    /// shows the violation; `None` if it could not be done, so that it says nothing.
    fn told(
        &mut self,
        name: &str,
        spec: &TrialSpec,
        line: String,
        lines: &mut Vec<String>,
    ) -> Result<Option<bool>, TrialError> {
        let (shown, words) = match self.rerun(name, spec, Purpose::Blame)? {
            Ok(record) if shows(self.first, &record) => {
                (Some(true), "the violation shows".to_string())
            }
            Ok(record) if record.is_violation() => {
                (Some(false), "the violation does not show, but another one".to_string())
            }
            Ok(_) => (Some(false), "the violation does not show".to_string()),
            Err(why) => (None, format!("not tried: {why}")),
        };
        lines.push(line + &words);
        Ok(shown)
    }

    /// Another generator of the same model, where there is one; and where it does not show the
    /// violation, or there is none, the same generator with everything else drawn differently.
    fn try_other_workloads(
        &mut self,
        smallest: &TrialSpec,
        tells: &mut Tells,
    ) -> Result<(), TrialError> {
        let otherwise = other_draws(smallest);
        if let Some(other) = other_generator(&otherwise) {
            let name = &other.workload.generator;
            let line = format!("with another generator ({name}, seed {}): ", other.seed);
            // Not every client can do what every generator asks for.
            let shown = self.told("blame-other-generator", &other, line, &mut tells.lines)?;
            tells.other_generator = shown.map(|_| name.clone());
            tells.other_generator_shows_it = shown;
            if shown == Some(true) {
                return Ok(());
            }
        }
        let how = match is_about_time(smallest) {
            true => "at the same pace",
            false => "another pace and choice of keys",
        };
        let seed = otherwise.seed;
        let line = format!("with the same generator, other draws (seed {seed}, {how}): ");
        tells.other_draws_show_it =
            self.told("blame-other-draws", &otherwise, line, &mut tells.lines)?;
        Ok(())
    }
}

fn is_about_time(spec: &TrialSpec) -> bool {
    spec.check.names.iter().any(|name| ABOUT_TIME.contains(&name.as_str()))
}

/// Other values, other times, other order: the same system and the same faults. Where a checker
/// asks how long something takes, the pace and the load on each key are the plan's: nothing was
/// promised of another.
fn other_draws(spec: &TrialSpec) -> TrialSpec {
    let mut other = spec.clone();
    other.seed = spec.seed.wrapping_add(OTHER_SEED);
    if is_about_time(spec) {
        return other;
    }
    other.workload.rate = match spec.workload.rate {
        // A closed loop of many clients could overwhelm a small machine: so it is paced.
        Some(rate) => Some(rate * 1.5),
        None => Some(100.0),
    };
    other.workload.zipf = !spec.workload.zipf;
    other
}

/// The same with another generator: one whose histories the same checkers judge, and that asks the
/// system for nothing the first one does not. `None` if there is no such generator.
fn other_generator(spec: &TrialSpec) -> Option<TrialSpec> {
    let own = assay_workload::generator(&spec.workload.generator)?;
    let knows = |info: &GeneratorInfo, op: &str| info.ops.iter().any(|known| known.name == op);
    let fits = |info: &&GeneratorInfo| {
        info.name != own.name
            && spec.check.names.iter().all(|name| info.checkers.contains(&name.as_str()))
            && info.ops.iter().all(|op| knows(own, op.name))
    };
    let info = GENERATORS.iter().find(fits)?;
    let mut other = spec.clone();
    let workload = &mut other.workload;
    workload.generator = info.name.to_string();
    workload.mix.retain(|op, _| knows(info, op));
    if workload.mix.values().all(|share| *share == 0) {
        workload.mix.clear();
    }
    let knows_option = |name: &String| info.options.iter().any(|option| option.name == name);
    workload.options.retain(|name, _| knows_option(name) || name == "skew");
    Some(other)
}
