//! A scenario with its arms, its faults, its audits, and the timelines of its trials.

use super::super::cells;
use super::super::judged::{Judged, JudgedArm, JudgedScenario};
use super::super::record::Arm;
use super::super::view::{RunView, TrialView, WindowView};
use super::grid::{Badge, Cell, Grid, Line, badge, grouped, line, name, text};
use super::trials::Tab;
use assay_verdict::{
    Check, Effect, Facts, Fault, RedFlag, RunFacts, Signal, WeakOracle, readable_ms,
};

pub(super) struct ScenarioPart {
    pub id: String,
    pub name: String,
    pub badge: Badge,
    pub sentence: String,
    pub advice: &'static str,
    pub claims: Vec<String>,
    pub findings: Vec<String>,
    pub tabs: Vec<Tab>,
    pub split: bool,
    pub arms: Vec<ArmPart>,
}

pub(super) struct ArmPart {
    pub place: String,
    pub badge: Badge,
    pub reason: String,
    pub lines: Vec<Line>,
    pub landings: Grid,
    pub windows: Grid,
    pub quiescence: Grid,
    pub planted: Grid,
    pub planted_less: Vec<String>,
    pub path: Vec<(&'static str, bool)>,
    pub audits: Option<AuditPart>,
}

pub(super) struct AuditPart {
    pub open: String,
    pub open_count: usize,
    pub red: Grid,
    pub weak: Grid,
}

pub(super) fn part(judged: &Judged, of: &JudgedScenario, view: &RunView) -> ScenarioPart {
    let scenario = of.scenario;
    let claim = |id: &String| {
        let known = judged.record.claims.iter().find(|claim| claim.id == *id);
        known.map_or(id.clone(), |claim| format!("{id}: {}", name(&claim.text)))
    };
    let findings = judged.record.findings.iter().filter(|f| f.scenario == scenario.id);
    ScenarioPart {
        id: scenario.id.clone(),
        name: name(&scenario.name),
        badge: badge(of.verdict),
        sentence: text(&format!(
            "{}{}",
            cells::without_name(&of.sentence, of.verdict),
            cells::canary(of)
        )),
        advice: of.verdict.advice(),
        claims: scenario.claims.iter().map(claim).collect(),
        findings: findings.map(|finding| finding.id.clone()).collect(),
        tabs: Vec::new(),
        split: of.arms.len() > 1,
        arms: of.arms.iter().map(|one| arm(of, one, view)).collect(),
    }
}

fn arm(of: &JudgedScenario, judged: &JudgedArm, view: &RunView) -> ArmPart {
    let id = &of.scenario.id;
    let trials: Vec<&TrialView> = view
        .trials
        .iter()
        .filter(|trial| trial.scenario == *id && trial.arm == judged.arm.id)
        .collect();
    let path = judged.judgement.path.iter().map(|step| (step.when, step.decided));
    ArmPart {
        place: cells::place(id, &judged.arm.id),
        badge: badge(judged.judgement.verdict),
        reason: text(&cells::reason(judged)),
        lines: lines(judged),
        landings: landings(&judged.facts),
        windows: windows(&trials),
        quiescence: quiescence(&trials),
        planted: planted(judged.arm),
        planted_less: judged.arm.planted_less.iter().map(|what| text(what)).collect(),
        path: path.collect(),
        audits: match &judged.facts {
            Facts::Ran(run) => Some(audits(run)),
            _ => None,
        },
    }
}

fn lines(judged: &JudgedArm) -> Vec<Line> {
    let arm = judged.arm;
    let size = &arm.size;
    let time = |at: &Option<super::super::record::Utc>| {
        at.as_ref().map_or("not recorded".to_string(), |at| at.as_str().to_string())
    };
    let seeds: Vec<String> = arm.seeds.iter().map(u64::to_string).collect();
    let duration = readable_ms(size.duration_ms);
    let (config, faults) = (grouped(size.config_size), grouped(size.faults));
    let mut lines = vec![
        line("Oracle", &arm.oracle),
        line("Oracle evidence", &cells::oracle_cell(&judged.facts)),
        line("Landing evidence", &cells::landing_cell(&judged.facts)),
        line("Budget tier met", &cells::tier(&judged.facts)),
        line("Size", &format!("config {config}, {duration}, {faults} faults")),
        line("Seeds", &cells::list(&seeds)),
        line("Started", &time(&arm.started)),
        line("Ended", &time(&arm.ended)),
    ];
    if let Some(surface) = &arm.surface {
        lines.push(line("Surface", surface));
    }
    if let Facts::Ran(run) = &judged.facts
        && let Fault::Planned { ops_during_fault: Some(ops), .. } = run.fault
    {
        lines.push(line("Operations under fault", &grouped(ops)));
    }
    lines.push(line("Artifacts", &cells::list(&arm.artifacts)));
    if !arm.notes.trim().is_empty() {
        lines.push(line("Notes", &arm.notes));
    }
    lines
}

/// One number of a signal, read or not.
fn read(value: Option<u64>) -> String {
    value.map_or("not read".to_string(), grouped)
}

/// A signal before, during and after.
fn signal(signal: &Signal) -> Cell {
    let (before, during, after) = (read(signal.before), read(signal.during), read(signal.after));
    Cell::of(&format!("{}: {before} → {during} → {after}", name(&signal.what)))
}

fn landings(facts: &Facts) -> Grid {
    let landings = match facts {
        Facts::Ran(run) => match &run.fault {
            Fault::Planned { landings, .. } => &landings[..],
            Fault::NotPlanned => &[],
        },
        _ => &[],
    };
    let rows = landings.iter().map(|landing| {
        let state = Cell::landing(landing.state());
        vec![Cell::of(&landing.fault), state, signal(&landing.injector), signal(&landing.victim)]
    });
    let empty = match facts {
        Facts::Ran(run) if run.fault == Fault::NotPlanned => "No fault was planned.",
        Facts::Ran(_) => "A fault was planned, and nothing was read that proves it.",
        _ => "It did not run, so no fault was injected.",
    };
    let head = &[
        "Fault",
        "Landed",
        "Injector: before → during → after",
        "Victim: before → during → after",
    ];
    Grid::new(head, rows, empty)
}

fn windows(trials: &[&TrialView]) -> Grid {
    let row = |trial: &TrialView, window: &WindowView| {
        let from = super::trials::seconds(window.start_ns);
        let to = window.end_ns.map_or("the end, not healed".to_string(), super::trials::seconds);
        let healed = Cell::answer(&window.healed);
        let word = match window.healed {
            Check::Clean(_) => "healed",
            Check::Raised(_) => "not healed",
            Check::Unknown(_) => "not known",
            Check::NotApplicable(_) => "nothing to heal",
        };
        let proof = format!("{word}: {}", window.healed.text());
        vec![
            Cell::of(&format!("seed {}, {}", trial.seed, name(&trial.purpose))),
            Cell::of(&window.label),
            Cell::of(&format!("{from} to {to}")),
            Cell::landing(window.landed()),
            signal(&window.injector),
            signal(&window.victim),
            Cell::signed(&proof, healed.tone, healed.sign),
        ]
    };
    let rows = trials.iter().flat_map(|trial| trial.windows.iter().map(|w| row(trial, w)));
    let head = &[
        "Trial",
        "Fault",
        "When",
        "Landed",
        "Injector: before → during → after",
        "Victim: before → during → after",
        "Healed, and the proof",
    ];
    Grid::new(head, rows, "")
}

fn quiescence(trials: &[&TrialView]) -> Grid {
    let said = |check: &Check| {
        let answer = Cell::answer(check);
        Cell::signed(&format!("{}: {}", check.word(), check.text()), answer.tone, answer.sign)
    };
    let rows = trials.iter().map(|trial| {
        let rest = &trial.quiescence;
        vec![
            Cell::of(&format!("seed {}, {}", trial.seed, name(&trial.purpose))),
            said(&rest.none_in_flight),
            said(&rest.nothing_pending),
            said(&rest.replicas_converged),
        ]
    });
    let head = &["Trial", "No operation in flight", "Nothing pending", "Replicas converged"];
    Grid::new(head, rows, "No trial says whether the system had come to rest.")
}

fn planted(arm: &Arm) -> Grid {
    let rows = arm.planted.iter().zip(cells::planted(arm)).map(|(row, cells)| {
        let missed = row.certain - row.certain_caught.min(row.certain);
        let mut cells: Vec<Cell> = cells.iter().map(|cell| Cell::of(cell)).collect();
        if let (Some(last), true) = (cells.last_mut(), missed > 0) {
            *last = Cell::signed(&format!("{} ({missed} missed)", last.text), "broken", "✕");
        }
        cells
    });
    Grid::new(cells::PLANTED_COLUMNS, rows, cells::PLANTED_NOTHING)
}

fn audits(run: &RunFacts) -> AuditPart {
    let mut open = Vec::new();
    for effect in Effect::ALL {
        let red = run.audits.open_red_flags(*effect, &run.fault);
        open.extend(red.map(|item| format!("red flag {}", item.number())));
        let weak = run.audits.open_weak_oracles(*effect, &run.fault);
        open.extend(weak.map(|item| format!("weak oracle {}", item.number())));
    }
    let row = |number: usize, question: &str, check: &Check| {
        let number = Cell::of(&number.to_string());
        vec![number, Cell::of(question), Cell::answer(check), Cell::of(check.text())]
    };
    let red = RedFlag::ALL
        .iter()
        .map(|item| row(item.number(), item.question(), run.audits.red_flag(*item)));
    let weak = WeakOracle::ALL
        .iter()
        .map(|item| row(item.number(), item.question(), run.audits.weak_oracle(*item)));
    const HEAD: &[&str] = &["#", "Has to be shown", "State", "Evidence"];
    AuditPart {
        open: cells::list(&open),
        open_count: open.len(),
        red: Grid::new(HEAD, red, ""),
        weak: Grid::new(HEAD, weak, ""),
    }
}
