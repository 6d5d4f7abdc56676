//! What the run says about the plan: coverage, adequacy, confidence, and what stays open.

use super::super::judged::Judged;
use super::super::record::{Coverage, Delta, Omission, Presence, Residual};
use super::grid::{Cell, Grid, name, text};
use assay_verdict::{Facts, Family, Release, Scope};

pub(super) struct PlanPart {
    pub coverage: Grid,
    pub adequacy: Grid,
    pub confidence: Grid,
    pub disclosures: Grid,
    pub unverified: Vec<String>,
}

pub(super) fn part(judged: &Judged) -> PlanPart {
    PlanPart {
        coverage: coverage(judged),
        adequacy: adequacy(judged),
        confidence: confidence(judged),
        disclosures: disclosures(judged),
        unverified: unverified(judged),
    }
}

fn omission(row: Option<&Coverage>) -> Option<String> {
    let why = row?.not_exercised.as_ref()?;
    let kind = match why.kind {
        Omission::OutOfScope => "out of scope",
        Omission::MissingTooling => "missing tooling",
        Omission::Deferred => "deferred",
    };
    Some(format!("{kind}: {}", text(&why.reason)))
}

fn coverage(judged: &Judged) -> Grid {
    let rows = judged.record.hypotheses.iter().map(|hypothesis| {
        let row = judged.record.coverage.iter().find(|row| row.hypothesis == hypothesis.id);
        let ids = row.map_or(&[][..], |row| &row.exercised_by[..]);
        let by: Vec<String> = ids
            .iter()
            .map(|id| {
                let found = judged.scenarios.iter().find(|judged| judged.scenario.id == *id);
                found.map_or(id.clone(), |judged| format!("{id} ({})", judged.verdict))
            })
            .collect();
        let remark = match omission(row) {
            Some(why) => Cell::signed(&why, "open", "?"),
            None => Cell::signed("exercised", "pass", "●"),
        };
        let by = if by.is_empty() { "nobody".to_string() } else { by.join(", ") };
        vec![Cell::of(&hypothesis.id), Cell::of(&hypothesis.text), Cell::of(&by), remark]
    });
    let head = &["Hypothesis", "Idea", "Exercised by", "Remark"];
    Grid::new(head, rows, "The plan has no hypotheses.")
}

fn adequacy(judged: &Judged) -> Grid {
    let rows = judged.record.claims.iter().map(|claim| {
        let tried: Vec<String> = judged
            .trying(&claim.id)
            .map(|tried| format!("{} {}", tried.scenario.id, tried.verdict))
            .collect();
        let tried = if tried.is_empty() { "nothing".to_string() } else { tried.join("; ") };
        let argued = claim.adequacy.as_ref();
        vec![
            Cell::of(&format!("{}: {}", claim.id, claim.text)),
            Cell::of(argued.map_or("none", |row| &row.argument)),
            Cell::of(&tried),
            Cell::of(argued.map_or("none", |row| &row.after)),
        ]
    });
    let head = &["Claim", "The plan's argument", "What ran", "After this run"];
    Grid::new(head, rows, "The plan makes no claims.")
}

fn confidence(judged: &Judged) -> Grid {
    let rows = judged.record.confidence.iter().map(|row| {
        let delta = match row.delta {
            Delta::More => Cell::signed("More", "pass", "▲"),
            Delta::Unchanged => Cell::signed("Unchanged", "none", "="),
            Delta::Less => Cell::signed("Less", "open", "▼"),
        };
        vec![Cell::of(&row.claim), delta, Cell::of(&row.reason)]
    });
    Grid::new(&["Claim", "Confidence", "Reason"], rows, "The plan makes no claims.")
}

fn disclosures(judged: &Judged) -> Grid {
    let all = judged.scenarios.iter().flat_map(|judged| judged.scenario.releases());
    let rows = all.filter_map(|(place, release)| match release {
        Release::NotProvided { reason, revisit_when } => {
            Some(vec![Cell::of(&place), Cell::of(reason), Cell::of(revisit_when)])
        }
        Release::Budget(_) => None,
    });
    let head = &["Scenario", "No release budget, because", "Revisit when"];
    Grid::new(head, rows, "Every scenario has a release budget.")
}

/// Everything this run leaves open, one sentence each.
fn unverified(judged: &Judged) -> Vec<String> {
    let record = judged.record;
    let mut open = Vec::new();
    for claim in &record.claims {
        let tried: Vec<_> = judged.trying(&claim.id).filter(|of| !of.is_canary()).collect();
        let any = |family: Family| tried.iter().any(|tried| tried.verdict.family() == family);
        // A claim that was broken is not open: it is false.
        if tried.is_empty() {
            open.push(format!("{}: no scenario tries it.", claim.id));
        } else if !any(Family::Pass) && !any(Family::Fail) {
            open.push(format!("{}: no scenario that tries it passed.", claim.id));
        }
    }
    for hypothesis in &record.hypotheses {
        let row = record.coverage.iter().find(|row| row.hypothesis == hypothesis.id);
        if let Some(why) = omission(row) {
            open.push(format!("{} ({}): {why}.", hypothesis.id, name(&hypothesis.text)));
        }
    }
    for judged in &judged.scenarios {
        let id = &judged.scenario.id;
        match judged.verdict.family() {
            _ if judged.is_canary() && !judged.as_expected() => {
                open.push(format!("{id}: its planted defect was not found."));
            }
            Family::Pass | Family::Fail => {}
            _ => open.push(format!("{id}: {}", text(&judged.sentence))),
        }
        for arm in &judged.arms {
            let place = super::super::cells::place(id, &arm.arm.id);
            if let Facts::Ran(run) = &arm.facts
                && let Scope::Part(parts) = &run.scope
            {
                open.push(format!("{place}: the checker left out {}.", name(&parts.join(", "))));
            }
        }
    }
    for need in record.environment.iter().filter(|need| need.presence == Presence::Missing) {
        open.push(format!("Whatever needs {}, which is missing.", name(&need.requirement)));
    }
    open.extend(left_open(record.residual.as_deref()));
    open
}

/// What the plan leaves open by itself: no verdict of its scenarios says anything about it.
fn left_open(residual: Option<&[Residual]>) -> Vec<String> {
    let Some(rows) = residual else {
        return vec!["What the plan itself leaves open: this record does not say.".to_string()];
    };
    let sentence = |row: &Residual| {
        format!(
            "{}. The plan leaves it open: {}. Acceptable today: {}. To be looked at again: {}.",
            name(&row.uncertainty),
            name(&row.why_uncovered),
            name(&row.why_acceptable),
            name(&row.revisit_when)
        )
    };
    rows.iter().map(sentence).collect()
}
