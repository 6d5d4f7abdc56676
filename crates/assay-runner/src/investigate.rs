//! After a violation: does it come back, what is needed to see it, whose fault is it?

use crate::blame::Tells;
use crate::event::{Events, Purpose, RunEvent};
use crate::reduce::reduce;
use crate::spec::{Opening, TrialSpec, WindowSpec};
use crate::trial::{TrialError, TrialRecord};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How often the same seed is tried again before a violation counts as not reproduced.
pub const RERUNS_TO_REPRODUCE: usize = 3;
/// Clients go on for so long after the last operation of the witness.
const AFTER_WITNESS_MS: u64 = 1_000;
/// What is added to the seed for a generator that does everything else differently.
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

/// How much an investigation may cost.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// Trials to make it smaller.
    pub reruns: u64,
    /// Milliseconds for that.
    pub time_ms: u64,
}

struct Inquiry<'i, 'r> {
    events: &'i Events<'i>,
    run: &'i mut Runner<'r>,
    allowance: Allowance,
    begun: Instant,
    reductions: u64,
}

/// Looks into a violation.
pub fn investigate(
    first: &TrialRecord,
    allowance: Allowance,
    events: &Events<'_>,
    run: &mut Runner<'_>,
) -> Result<Investigation, TrialError> {
    let mut inquiry = Inquiry { events, run, allowance, begun: Instant::now(), reductions: 0 };
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
        tells: Tells::default(),
    };
    match again {
        Some(again) => {
            let (smallest, minimal, last) = inquiry.reduce(first, again)?;
            found.events[1] = smallest.windows.len() as u64 + witness_ops(&last);
            (found.smallest, found.minimal) = (smallest, minimal);
        }
        None => {
            let tried = reruns[0];
            found.not_reduced =
                Some(format!("the same seed did not show it again in {tried} reruns"));
        }
    }
    found.reductions = inquiry.reductions;
    found.tells = inquiry.tells(first, &found)?;
    Ok(found)
}

fn witness_ops(record: &TrialRecord) -> u64 {
    record.judged.anomalies.first().map_or(0, |anomaly| anomaly.ops.len() as u64)
}

impl Inquiry<'_, '_> {
    fn reproduce(
        &mut self,
        first: &TrialRecord,
    ) -> Result<([u64; 2], Option<TrialRecord>), TrialError> {
        for number in 1..=RERUNS_TO_REPRODUCE {
            let name = format!("reproduce-{number}");
            let record = (self.run)(&name, &first.spec, Purpose::Reproduce)?;
            if record.is_violation() {
                return Ok(([number as u64, 1], Some(record)));
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
        let record = (self.run)(&format!("reduce-{}", self.reductions), spec, Purpose::Reduce)?;
        let still_fails = Some(record.is_violation());
        self.events.emit(&RunEvent::Reducing { what: what.to_string(), still_fails });
        Ok(record.is_violation().then_some(record))
    }

    /// First shorter, then with fewer faults, then with fewer clients: each step makes the next
    /// one cheaper.
    fn reduce(
        &mut self,
        first: &TrialRecord,
        again: TrialRecord,
    ) -> Result<(TrialSpec, bool, TrialRecord), TrialError> {
        let (mut spec, mut last) = (first.spec.clone(), again);
        if let Some(shorter) = shortened(&spec, [first, &last]) {
            let what = format!("only the first {} ms", shorter.duration_ms);
            if let Some(record) = self.still_fails(&what, &shorter)? {
                (spec, last) = (shorter, record);
            }
        }
        let all = spec.windows.clone();
        let mut trouble = None;
        let allowed = usize::try_from(self.allowance.reruns).unwrap_or(usize::MAX);
        let mut best = None;
        let reduced = reduce(&all, allowed, |part: &[WindowSpec]| {
            let smaller = TrialSpec { windows: part.to_vec(), ..spec.clone() };
            let what = format!("{} of {} faults", part.len(), all.len());
            match self.still_fails(&what, &smaller) {
                Ok(Some(record)) => {
                    best = Some(record);
                    true
                }
                Ok(None) => false,
                Err(error) => {
                    trouble.get_or_insert(error);
                    false
                }
            }
        });
        if let Some(error) = trouble {
            return Err(error);
        }
        let minimal = reduced.minimal && self.may_go_on();
        spec.windows = reduced.kept;
        last = best.unwrap_or(last);
        while spec.workload.clients > 2 {
            let mut fewer = spec.clone();
            fewer.workload.clients /= 2;
            let what = format!("{} clients", fewer.workload.clients);
            match self.still_fails(&what, &fewer)? {
                Some(record) => (spec, last) = (fewer, record),
                None => break,
            }
        }
        Ok((spec, minimal, last))
    }

    fn tells(&mut self, first: &TrialRecord, found: &Investigation) -> Result<Tells, TrialError> {
        let anomalies = &first.judged.anomalies;
        let mut tells = Tells {
            certificate_verified: anomalies.first().map(|anomaly| anomaly.verified),
            // A panel is not put together before each of its checkers has passed one history
            // that is known to be good and refuted one that is known to be bad.
            known_good_passes: Some(true),
            host_was_unsteady: Some(first.clock_jumps > 0),
            ..Tells::default()
        };
        tells.lines.push("the checker passes a known-good and refutes a known-bad history".into());
        let word = match tells.certificate_verified {
            Some(true) => "holds",
            Some(false) => "was not confirmed",
            None => "is missing",
        };
        tells
            .lines
            .push(format!("the certificate of the refutation {word} in a separate verifier"));
        let other = other_generator(&found.smallest);
        let record = (self.run)("blame-other-generator", &other, Purpose::Blame)?;
        tells.other_generator_shows_it = Some(record.is_violation());
        tells.lines.push(format!(
            "with another generator (seed {}, {}): {}",
            other.seed,
            if other.workload.rate.is_some() { "open loop" } else { "closed loop" },
            shows(record.is_violation())
        ));
        if !found.smallest.windows.is_empty() {
            let calm = TrialSpec { windows: Vec::new(), ..found.smallest.clone() };
            let record = (self.run)("blame-without-faults", &calm, Purpose::Blame)?;
            tells.shows_without_fault = Some(record.is_violation());
            tells.lines.push(format!("without any fault: {}", shows(record.is_violation())));
        }
        Ok(tells)
    }
}

fn shows(violation: bool) -> &'static str {
    if violation { "the violation shows" } else { "the violation does not show" }
}

/// The same trial up to a second after the witness, if that is shorter.
fn shortened(spec: &TrialSpec, records: [&TrialRecord; 2]) -> Option<TrialSpec> {
    let ends = records.iter().map(|record| record.violation_ms());
    let until = ends.collect::<Option<Vec<u64>>>()?.into_iter().max()? + AFTER_WITNESS_MS;
    if until >= spec.duration_ms {
        return None;
    }
    let inside = |window: &&WindowSpec| match window.opens {
        Opening::AtMs(at) => at < until,
        Opening::On { .. } => true,
    };
    let windows = spec.windows.iter().filter(inside).cloned().collect();
    Some(TrialSpec { duration_ms: until, windows, ..spec.clone() })
}

/// Other values, other times, other order: the same system and the same faults.
fn other_generator(spec: &TrialSpec) -> TrialSpec {
    let mut other = spec.clone();
    other.seed = spec.seed.wrapping_add(OTHER_SEED);
    other.workload.rate = match spec.workload.rate {
        // A closed loop of many clients could overwhelm a small machine: so it is paced.
        Some(rate) => Some(rate * 1.5),
        None => Some(100.0),
    };
    other.workload.zipf = !spec.workload.zipf;
    other
}
