//! Checkers put together: everything that can be wrong is wrong here, not in the middle of a run.

use crate::ask::{self, Ask, PanelError};
use crate::judgement::{CheckerReport, Judgement, Limits};
use crate::oracles::is_whole;
use crate::seat::{DUMPS, Kind, Part, Seat, Settings};
use crate::sharpness::{self, Sharpness};
use crate::{groups, objects, oracles, transactions};
use assay_history::{Finding, History, Severity, ValidateOptions, validate};
use assay_oracle::Oracle;
use assay_verdict::audit::OracleKind;
use assay_verdict::{HistoryFields, Outcome, Undecided};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Checkers with their settings, each of which has shown that it can pass and fail.
pub struct Panel {
    pub(crate) seats: Vec<Seat>,
    pub(crate) settings: Settings,
    /// Whether it says yes to everything, see [`Panel::blinded`].
    is_blind: bool,
}

impl std::fmt::Debug for Panel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Panel").field(&self.names()).finish()
    }
}

impl Panel {
    /// Puts together what is asked for.
    ///
    /// # Errors
    /// [`PanelError`]: a name or option that does not exist, an option of the wrong kind or one
    /// that is missing, a checker that fails its own test.
    pub fn new(ask: &Ask<'_>) -> Result<Panel, PanelError> {
        let seats = ask::seats(ask)?;
        let settings = ask::settings(ask, &seats)?;
        for seat in &seats {
            ready(seat, &settings)?;
        }
        Ok(Panel { seats, settings, is_blind: false })
    }

    /// Adds a checker that no plan can name.
    ///
    /// # Errors
    /// As [`Panel::new`].
    pub fn add(&mut self, oracle: &'static dyn Oracle) -> Result<(), PanelError> {
        let seat = Seat { name: oracle.info().name.to_string(), kind: Kind::Oracle(oracle) };
        ready(&seat, &self.settings)?;
        self.seats.push(seat);
        Ok(())
    }

    /// A panel that upholds whatever its checkers refute: a mistake that is made on purpose, to see
    /// that calibration notices it. Judging and calibration both hear the checkers through it.
    #[must_use]
    pub fn blinded(self) -> Panel {
        Panel { is_blind: true, ..self }
    }

    /// What the panel makes of the answer of one of its checkers.
    pub(crate) fn hears(&self, said: Outcome) -> Outcome {
        match said {
            Outcome::Refuted if self.is_blind => Outcome::Upheld,
            said => said,
        }
    }

    /// The names of its checkers.
    pub fn names(&self) -> Vec<&str> {
        self.seats.iter().map(|seat| seat.name.as_str()).collect()
    }

    /// Whether one of them reads dumps of the final state. Others do not know what a dump is.
    pub fn reads_dumps(&self) -> bool {
        self.seats.iter().any(Seat::reads_dumps)
    }

    /// Its checkers whose answer counts only for a system that has come to rest.
    pub fn needing_rest(&self) -> Vec<&str> {
        let seats = self.seats.iter().filter(|seat| seat.needs_rest());
        seats.map(|seat| seat.name.as_str()).collect()
    }

    /// Between how many groups it compares; `None` if none of its checkers is about fairness.
    pub fn groups(&self, history: &History) -> Option<u64> {
        let is_about = self.seats.iter().any(|seat| seat.name == "fairness");
        is_about.then(|| groups::count(history, &self.settings))
    }

    /// What its checkers look at, each kind once.
    pub fn oracle_kinds(&self) -> Vec<OracleKind> {
        let mut kinds = Vec::new();
        for kind in self.seats.iter().map(Seat::looks_at) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Judges a history.
    pub fn judge(&self, history: &History, limits: &Limits) -> Judgement {
        let begun = Instant::now();
        let findings = self.findings(history);
        if findings.iter().any(|finding| finding.severity == Severity::Unsound) {
            return unsound(history, findings);
        }
        let parts: Vec<(Part, f64)> = self
            .seats
            .iter()
            .map(|seat| {
                let started = Instant::now();
                let left = limits.time.saturating_sub(begun.elapsed());
                let part = self.run(seat, history, limits, left);
                (part, started.elapsed().as_secs_f64())
            })
            .collect();
        self.merge(history, findings, parts)
    }

    /// Plants `count` anomalies of each kind a checker knows into copies of a history and asks
    /// whether it sees them. Stops, and says so, once the time is up.
    pub fn calibrate(
        &self,
        history: &History,
        count: u32,
        seed: u64,
        limits: &Limits,
    ) -> Sharpness {
        sharpness::calibrate(self, history, count, seed, limits)
    }

    /// What is wrong with a history, in the eyes of these checkers.
    pub(crate) fn findings(&self, history: &History) -> Vec<Finding> {
        let verbs = |seat: &Seat| match seat.kind {
            Kind::Objects(model) => Some(model.info().verbs.iter().map(|&(verb, _)| verb)),
            Kind::Transactions(_) | Kind::Oracle(_) => None,
        };
        // Beside other checkers, a type that one model does not know may belong to another: then
        // the model itself says what does not fit.
        let of_models: Option<Vec<_>> = self.seats.iter().map(verbs).collect();
        let mut allowed: Vec<&str> = of_models.into_iter().flatten().flatten().collect();
        if !allowed.is_empty() {
            allowed.extend(DUMPS);
        }
        let nodes_needed = self.seats.iter().any(Seat::needs_nodes);
        let rules = ValidateOptions { allowed_types: &allowed, nodes_needed, consumed: None };
        validate(history, &rules)
    }

    /// Runs one checker; whatever happens in it stays in it.
    fn run(&self, seat: &Seat, history: &History, limits: &Limits, time: Duration) -> Part {
        if time.is_zero() {
            let why = "the time was up before it began";
            return Part::undecided(history.len(), Undecided::BudgetExhausted, why);
        }
        let settings = &self.settings;
        let caught = catch_unwind(AssertUnwindSafe(|| match seat.kind {
            Kind::Objects(model) => objects::judge(history, model, settings, limits, time),
            Kind::Transactions(style) => {
                transactions::judge(history, style, settings, limits, time)
            }
            Kind::Oracle(oracle) => oracles::judge(history, oracle, seat.looks_at(), settings),
        }));
        let mut part = caught.unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<&str>().map(ToString::to_string);
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
            let why = format!(
                "it panicked ({}). This is a bug in Assay: please report it with this history",
                said.unwrap_or_else(|| "without a message".to_string())
            );
            Part::undecided(history.len(), Undecided::Crashed, why)
        });
        let heard = self.hears(part.outcome);
        if heard != part.outcome {
            part.outcome = heard;
            part.anomalies.clear();
            part.anomalies_total = 0;
        }
        cut_short(history, part)
    }

    fn merge(
        &self,
        history: &History,
        findings: Vec<Finding>,
        parts: Vec<(Part, f64)>,
    ) -> Judgement {
        let outcome = Outcome::merge_all(parts.iter().map(|(part, _)| part.outcome));
        let mut lacks: Vec<String> = lacks(&findings, Severity::Weak);
        let mut consumed = vec![false; history.len()];
        let mut whole = empty(history, outcome);
        for (seat, (part, seconds)) in self.seats.iter().zip(parts) {
            let said = |line: &String| format!("{}: {line}", seat.name);
            consumed.iter_mut().zip(&part.consumed).for_each(|(all, one)| *all |= one);
            lacks.extend(part.lacks.iter().map(said));
            whole.scope_not_covered.extend(part.scope_not_covered.iter().map(said));
            whole.undecided_because.extend(part.undecided_because.iter().map(said));
            if part.outcome == Outcome::NothingChecked {
                let why = "no operation had anything to say about it".to_string();
                whole.undecided_because.push(said(&why));
            }
            whole.evidence.extend(part.evidence.iter().map(said));
            whole.anomalies_total += part.anomalies_total;
            whole.anomalies.extend(part.anomalies);
            whole.reports.push(CheckerReport {
                name: seat.name.clone(),
                outcome: part.outcome,
                undecided: part.undecided,
                ops_checked: part.consumed.iter().filter(|&&one| one).count() as u64,
                ops_judged: part.ops_judged,
                seconds,
            });
        }
        whole.ops_checked = consumed.iter().filter(|&&one| one).count() as u64;
        if !lacks.is_empty() {
            whole.history = HistoryFields::Lacks(lacks);
        }
        if outcome == Outcome::Undecided {
            let reasons = whole.reports.iter().filter_map(|report| report.undecided);
            // A part that found nothing to judge is no checker for this history.
            whole.undecided =
                reasons.max_by_key(|&why| weight(why)).or(Some(Undecided::WrongChecker));
        }
        whole.findings = findings;
        whole
    }
}

fn ready(seat: &Seat, settings: &Settings) -> Result<(), PanelError> {
    let failed = |why| PanelError::SelfTest { checker: seat.name.clone(), why };
    seat.self_test().map_err(failed)?;
    ask::usable(seat, settings)
}

/// Which of several reasons is told first: what has to be repaired before anything else.
fn weight(why: Undecided) -> u8 {
    match why {
        Undecided::Crashed => 3,
        Undecided::HistoryCutShort => 2,
        Undecided::BudgetExhausted => 1,
        Undecided::WrongChecker => 0,
    }
}

/// What ends before its run does cannot be upheld: the rest may hold the anomaly.
fn cut_short(history: &History, mut part: Part) -> Part {
    if part.outcome == Outcome::Upheld && !is_whole(history) {
        part.outcome = Outcome::Undecided;
        part.undecided = Some(Undecided::HistoryCutShort);
        part.undecided_because.push("the last record of the history is cut off".to_string());
    }
    part.settled()
}

fn lacks(findings: &[Finding], at_least: Severity) -> Vec<String> {
    let bad = findings.iter().filter(|finding| finding.severity >= at_least);
    bad.map(|finding| format!("{}: {}", finding.rule, finding.what)).collect()
}

fn empty(history: &History, outcome: Outcome) -> Judgement {
    Judgement {
        outcome,
        undecided: None,
        ops_in: history.len() as u64,
        ops_checked: 0,
        findings: Vec::new(),
        history: HistoryFields::Complete,
        scope_not_covered: Vec::new(),
        undecided_because: Vec::new(),
        evidence: Vec::new(),
        anomalies: Vec::new(),
        anomalies_total: 0,
        reports: Vec::new(),
    }
}

/// No checker is run on a history that cannot carry a verdict.
fn unsound(history: &History, findings: Vec<Finding>) -> Judgement {
    let whole = is_whole(history);
    let lacks = lacks(&findings, Severity::Unsound);
    let why = findings.iter().filter(|finding| finding.severity == Severity::Unsound);
    Judgement {
        undecided: (!whole).then_some(Undecided::HistoryCutShort),
        history: HistoryFields::Lacks(lacks),
        undecided_because: why.map(|finding| finding.consequence.clone()).collect(),
        findings: findings.clone(),
        ..empty(history, if whole { Outcome::NothingChecked } else { Outcome::Undecided })
    }
}
