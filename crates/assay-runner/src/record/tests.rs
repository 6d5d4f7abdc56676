//! Records of whole runs: what is written down once must be what is computed again.

use super::*;
use crate::arm::Depth;
use crate::directory::ASKED_FORMAT;
use crate::facts::{self, Setting};
use crate::samples::{clean, machine, spec};
use assay_verdict::audit::OracleKind;
use assay_verdict::{Rigour, Violation};

const DEMO: &str = include_str!("../../../../examples/plans/demo.md");

fn asked(operator: &str) -> Asked {
    Asked {
        format: ASKED_FORMAT.to_string(),
        plan: "demo.md".to_string(),
        project: "/".into(),
        started: "2026-01-01T00:00:00Z".to_string(),
        operator: operator.to_string(),
        depth: Depth::Hardening,
        only: Vec::new(),
        seed: None,
        have: Vec::new(),
        plants: 1,
        sabotage: None,
        commit: "none".to_string(),
    }
}

/// An arm in which everything went well.
fn ran(machine: &Machine) -> ArmEnd {
    let all = (1..=3).map(|seed| spec(machine, Depth::Hardening, seed));
    let trials: Vec<(String, TrialRecord)> =
        all.map(|spec| (format!("hardening-seed-{}", spec.seed), clean(&spec))).collect();
    let setting = Setting {
        machine,
        rigour: Rigour::Serious,
        depth: Depth::Hardening,
        any_size: false,
        oracles: vec![OracleKind::ClientHistory],
        no_hidden_retries: Some("every operation is sent once".to_string()),
        categories: &[Category::Safety],
        not_done: &[],
    };
    let counting: Vec<&TrialRecord> = trials.iter().map(|(_, trial)| trial).collect();
    let mut facts = facts::of(&counting, Violation::None, &setting);
    facts.set_surfaces(2, 2);
    ArmEnd::Ran(Box::new(ArmRun { facts, trials, investigation: None, not_done: Vec::new() }))
}

fn timeline(at: &str) -> Vec<TimelineEntry> {
    let scenario = Some("S1".to_string());
    let (event, notes) = ("smoke-seed-1 started".to_string(), String::new());
    vec![TimelineEntry { at: utc(at), scenario, event, notes }]
}

/// The record of a run of two arms, of which the second has so many clients in all tiers.
fn two_arms(clients: u64, operator: &str, started: &str) -> RunRecord {
    let plan = assay_plan::load(DEMO).expect("a plan");
    let first = machine("linearizability:register");
    let mut second = first.clone();
    let budget = second.budget.as_mut().expect("a budget");
    budget.smoke.as_mut().expect("a tier").clients = Some(clients / 2);
    budget.hardening.as_mut().expect("a tier").clients = Some(clients);
    let arms = [("S1/api", &first), ("S1/bulk", &second)];
    let arms = arms.map(|(id, machine)| (id.to_string(), machine.clone(), ran(machine)));
    let nobody = ("S2".to_string(), Machine::default(), ArmEnd::NotAttempted("no".to_string()));
    let toolbox = Toolbox { discovered_at: Some(utc("2026-01-01T10:00:00Z")), tools: Vec::new() };
    let mut timeline = timeline(started);
    never_before(&toolbox, &mut timeline);
    of(&Material {
        plan: &plan,
        asked: &asked(operator),
        directory: "/run".to_string(),
        toolbox,
        environment: Vec::new(),
        timeline,
        scenarios: vec![
            ScenarioEnd { id: "S1".to_string(), arms: arms.into() },
            ScenarioEnd { id: "S2".to_string(), arms: vec![nobody] },
        ],
    })
}

const LATER: &str = "2026-01-01T10:00:01Z";

#[test]
fn every_arm_is_compared_with_its_own_budgets() {
    for clients in [6, 8, 80] {
        let record = two_arms(clients, "somebody", LATER);
        let refused = assay_report::run::render(&record).err().map(|found| found.to_string());
        assert_eq!(refused, None, "{clients} clients");
        let [one, two] = &record.scenarios[0].arms[..] else { panic!("two arms") };
        assert_eq!(one.verdict, Verdict::PassHardening, "{:?}", one.facts);
        assert_eq!(two.verdict, one.verdict, "{clients}: {:?}", two.facts);
        assert_eq!(one.budgets, None, "its budgets are those of the scenario");
        assert_eq!(two.budgets.is_some(), clients != 8, "{clients}");
        // What is written is read again, and comes out the same.
        let text = serde_json::to_string(&record).expect("JSON");
        assert_eq!(assay_report::run::read(&text).expect("a record"), record);
    }
}

#[test]
fn an_operator_without_a_name_is_not_named() {
    for operator in ["", "  "] {
        let record = two_arms(8, operator, LATER);
        assert_eq!(record.operator, "not named");
        assert!(assay_report::run::render(&record).is_ok());
    }
}

#[test]
fn a_clock_that_was_set_back_is_noted_and_keeps_no_report_from_being_made() {
    let record = two_arms(8, "somebody", "2026-01-01T09:00:00Z");
    let refused = assay_report::run::render(&record).err().map(|found| found.to_string());
    assert_eq!(refused, None);
    let entry = &record.timeline[0];
    assert_eq!(entry.at, utc("2026-01-01T10:00:00Z"));
    assert!(entry.notes.contains("set back, and said 2026-01-01T09:00:00Z"), "{}", entry.notes);
}
