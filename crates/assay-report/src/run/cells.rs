//! Facts as short texts, for cells of tables.

use super::judged::{Judged, JudgedArm, JudgedScenario};
use super::record::{Arm, Planted};
use assay_verdict::{
    Calibration, Checker, Facts, Fault, Landing, LandingState, RunFacts, Verdict, Violation,
};

/// The landing evidence; `None` if there is nothing to show.
pub(super) fn landing(facts: &Facts) -> Option<String> {
    let Facts::Ran(run) = facts else { return None };
    let Fault::Planned { landings, .. } = &run.fault else { return None };
    let named = |landing: &&Landing| {
        let words = [&landing.fault, &landing.injector.what, &landing.victim.what];
        words.iter().all(|text| !text.trim().is_empty())
    };
    let all: Vec<String> = landings.iter().filter(named).map(Landing::evidence).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Landings that are shown in a cell of a table; the rest are counted.
const LANDINGS_SHOWN: usize = 2;

/// The landing evidence for a table, in which there is no room for dozens of windows.
pub(super) fn landing_summary(facts: &Facts) -> String {
    let Facts::Ran(run) = facts else { return landing_cell(facts) };
    let Fault::Planned { landings, .. } = &run.fault else { return landing_cell(facts) };
    if landings.len() <= LANDINGS_SHOWN {
        return landing_cell(facts);
    }
    let has_landed = |landing: &&Landing| landing.state() == LandingState::Landed;
    let landed = landings.iter().filter(has_landed).count();
    // What did not land stands first: it decides.
    let mut order: Vec<&Landing> = landings.iter().collect();
    order.sort_by_key(|landing| has_landed(landing));
    let shown: Vec<String> =
        order.iter().take(LANDINGS_SHOWN).map(|landing| landing.evidence()).collect();
    let rest = landings.len() - LANDINGS_SHOWN;
    format!("{landed} of {} landed: {}; and {rest} more", landings.len(), shown.join("; "))
}

/// The landing evidence, or why there is none.
pub(super) fn landing_cell(facts: &Facts) -> String {
    match facts {
        Facts::Ran(run) if run.fault == Fault::NotPlanned => "n/a: no fault planned".to_string(),
        Facts::Ran(_) => landing(facts).unwrap_or_else(|| "none: nothing was read".to_string()),
        _ => "none: did not run".to_string(),
    }
}

/// What shows that the oracle ran.
pub(super) fn oracle_cell(facts: &Facts) -> String {
    let Facts::Ran(run) = facts else { return "none: did not run".to_string() };
    let number = |n: Option<u64>| n.map_or("?".to_string(), |n| n.to_string());
    let ops = &run.operations;
    let mut text = match run.checker {
        Checker::NotRun => "did not run".to_string(),
        Checker::Undecided(why) => format!("no answer ({why})"),
        Checker::Completed => format!(
            "consumed {} of {} operations, {}",
            number(ops.consumed),
            number(ops.sent),
            anomalies(run)
        ),
    };
    match run.calibration {
        Calibration::NotDone => text += "; not calibrated",
        Calibration::Done { planted, caught } => {
            text += &format!("; caught {caught} of {planted} planted anomalies");
        }
    }
    text
}

/// The columns of [`planted`].
pub(super) const PLANTED_COLUMNS: &[&str] = &[
    "Checker",
    "Planted anomaly",
    "Planted",
    "Caught",
    "Anomalous by construction",
    "Of these caught",
];

/// What was planted for each checker and what it caught, kind by kind. The last two columns add up
/// to what the verdict counts.
pub(super) fn planted(arm: &Arm) -> Vec<Vec<String>> {
    let row = |row: &Planted| {
        let counts = [row.planted, row.caught, row.certain, row.certain_caught];
        let names = [row.checker.clone(), row.kind.clone()];
        names.into_iter().chain(counts.map(|count| count.to_string())).collect()
    };
    arm.planted.iter().map(row).collect()
}

/// Said before what is not in it.
pub(super) const PLANTED_LESS: &str = "Left out";

/// Said where there is no such row.
pub(super) const PLANTED_NOTHING: &str = "Nothing was planted.";

fn anomalies(run: &RunFacts) -> &'static str {
    match run.violation {
        Violation::None => "no anomaly",
        Violation::NotRerun => "a violation, seed not run again",
        Violation::NotReproduced => "a violation that did not come back",
        Violation::Reproduced => "a violation that came back",
    }
}

/// The tier that was met.
pub(super) fn tier(facts: &Facts) -> String {
    match facts {
        Facts::Ran(run) => run.tier.name().to_string(),
        _ => "none (did not run)".to_string(),
    }
}

/// The reason of a verdict, with its annotations.
pub(super) fn reason(arm: &JudgedArm) -> String {
    let judgement = &arm.judgement;
    let mut text = without_name(&judgement.sentence, judgement.verdict).to_string();
    if !judgement.annotations.is_empty() {
        let notes: Vec<&str> = judgement.annotations.iter().map(|note| note.name()).collect();
        text += &format!(" ({})", notes.join(", "));
    }
    text
}

/// A sentence without the verdict it begins with, for tables that name the verdict beside it.
pub(super) fn without_name(sentence: &str, verdict: Verdict) -> &str {
    let rest = sentence.strip_prefix(verdict.name()).and_then(|rest| rest.strip_prefix(": "));
    rest.unwrap_or(sentence)
}

/// How many canaries there are, and how many were caught; nothing if there are none.
pub(super) fn canaries(judged: &Judged) -> Option<String> {
    let all = judged.scenarios.iter().filter(|scenario| scenario.is_canary());
    let caught = all.clone().filter(|scenario| scenario.as_expected()).count();
    let all = all.count();
    (all > 0).then(|| format!("{caught} of {all} canaries caught"))
}

/// What is to be said about a scenario in which a defect is planted; else nothing.
pub(super) fn canary(scenario: &JudgedScenario) -> &'static str {
    match (scenario.is_canary(), scenario.as_expected()) {
        (false, _) => "",
        (true, true) => " A canary: the planted defect was found, as it has to be.",
        (true, false) => {
            " A canary: its planted defect was NOT found, so the passes beside it are worth less."
        }
    }
}

/// Several texts, or that there are none.
pub(super) fn list(texts: &[String]) -> String {
    if texts.is_empty() { "none".to_string() } else { texts.join(", ") }
}

/// `S1`, or `S1/api` for one of several arms.
pub(super) fn place(scenario: &str, arm: &str) -> String {
    if scenario == arm { scenario.to_string() } else { format!("{scenario}/{arm}") }
}
