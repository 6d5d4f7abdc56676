//! Results of checkers for other promises: for people, for programs, and as a page.

use super::human::seconds;
use super::{finding_text, grouped, page_of, place};
use crate::exit::Exit;
use anstream::println;
use assay_history::{Finding, History, OpIndex};
use assay_oracle::{Anomaly, Answer, CalibrationRow, CheckReport};
use assay_report::{Fact, Table};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Everything there is to say about one checked file.
pub struct Judged {
    /// The file.
    pub path: PathBuf,
    /// The command that gives this result again.
    pub command: String,
    /// How it ended.
    pub exit: Exit,
    /// The history.
    pub history: History,
    /// One per checker.
    pub judgements: Vec<Judgement>,
    /// What is wrong with the history; nothing unsound.
    pub findings: Vec<Finding>,
    /// How long reading took.
    pub read_time: Duration,
}

/// What one checker said.
pub struct Judgement {
    /// Its report.
    pub report: CheckReport,
    /// What the verifier says to each anomaly.
    pub verified: Vec<Result<(), String>>,
    /// How sharp the checker is on this history.
    pub calibration: Option<Vec<CalibrationRow>>,
}

fn headline(report: &CheckReport) -> String {
    let (name, ops) = (&report.checker, grouped(report.ops_checked as u64));
    match report.answer {
        Answer::Upheld => format!("{name}: {ops} operations, no anomaly"),
        Answer::Refuted => {
            let count = grouped(report.anomaly_count() as u64);
            format!("{name}: {count} anomalies in {ops} operations")
        }
        Answer::Undecided => format!("{name}: {}", report.undecided_because.join("; ")),
        Answer::NothingChecked => format!("{name}: no operation had anything to say about it"),
    }
}

/// Prints a result.
pub fn human(one: &Judged) {
    let word = one.exit.word();
    let word = match one.exit {
        Exit::Upheld => word.green().bold().to_string(),
        Exit::Refuted | Exit::Bug => word.red().bold().to_string(),
        _ => word.yellow().bold().to_string(),
    };
    let lines: Vec<String> = one.judgements.iter().map(|j| headline(&j.report)).collect();
    println!("{word}  {}: {}", one.path.display(), lines.join("; "));
    for judgement in &one.judgements {
        tell(one, judgement);
    }
    for finding in &one.findings {
        println!("{}: {}", place(&one.path, finding.line), finding_text(finding));
    }
    let checked = one.judgements.iter().filter_map(|j| j.report.seconds).sum();
    println!(
        "evidence: {} operations read in {}, checked in {}; every checker first refuted a planted \
         anomaly",
        grouped(one.history.len() as u64),
        seconds(one.read_time),
        seconds(Duration::from_secs_f64(checked))
    );
    match one.exit {
        Exit::Upheld if one.judgements.iter().all(|j| j.calibration.is_none()) => {
            println!("next: how sharp was this check? {} --calibrate 20", one.command);
        }
        Exit::NothingChecked => {
            let names = one.judgements.iter().map(|j| j.report.checker.to_string());
            println!("next: assay explain {}", names.collect::<Vec<_>>().join(", assay explain "));
        }
        _ => {}
    }
}

fn tell(one: &Judged, judgement: &Judgement) {
    let report = &judgement.report;
    for (anomaly, verified) in report.anomalies.iter().zip(&judgement.verified) {
        println!("\n{}: {}", anomaly.kind.bold(), anomaly.explanation);
        let lines = lines(&one.history, &anomaly.ops);
        let checked = if verified.is_ok() { "; re-checked by the verifier" } else { "" };
        println!("  lines {}{checked}", lines.join(", "));
    }
    if report.anomalies_not_shown > 0 {
        let hidden = grouped(report.anomalies_not_shown as u64);
        println!("\n{hidden} more anomalies are not shown (--witnesses).");
    }
    for line in &report.evidence {
        println!("{}: {line}", report.checker);
    }
    for line in &report.scope_not_covered {
        println!("not covered by {}: {line}", report.checker);
    }
    for row in judgement.calibration.iter().flatten() {
        println!("calibration: {:<28} {} planted, {} caught", row.kind, row.planted, row.caught);
    }
}

fn lines(history: &History, ops: &[OpIndex]) -> Vec<String> {
    const SHOWN_MAX: usize = 8;
    let line = |&op: &OpIndex| history.line(history.op(op).invoke_at).to_string();
    let mut lines: Vec<String> = ops.iter().take(SHOWN_MAX).map(line).collect();
    if ops.len() > SHOWN_MAX {
        lines.push(format!("and {} more", ops.len() - SHOWN_MAX));
    }
    lines
}

/// A result as one JSON object.
pub fn json(one: &Judged) -> Value {
    let checkers: Vec<Value> = one.judgements.iter().map(|j| judgement_json(one, j)).collect();
    json!({
        "file": one.path.display().to_string(),
        "verdict": one.exit.word().to_lowercase(),
        "exit_code": one.exit as u8,
        "ops_in": one.history.len(),
        "checkers": checkers,
        "findings": one.findings,
        "read_seconds": one.read_time.as_secs_f64(),
        "reproduce": one.command,
    })
}

fn judgement_json(one: &Judged, judgement: &Judgement) -> Value {
    let anomaly = |(anomaly, verified): (&Anomaly, &Result<(), String>)| {
        let lines: Vec<u64> =
            anomaly.ops.iter().map(|&op| one.history.line(one.history.op(op).invoke_at)).collect();
        json!({
            "kind": anomaly.kind,
            "explanation": anomaly.explanation,
            "lines": lines,
            "certificate": anomaly.certificate,
            "verified": match verified {
                Ok(()) => json!({"ok": true}),
                Err(why) => json!({"ok": false, "reason": why}),
            },
        })
    };
    let report = &judgement.report;
    let anomalies: Vec<Value> =
        report.anomalies.iter().zip(&judgement.verified).map(anomaly).collect();
    json!({
        "checker": report.checker,
        "answer": report.answer,
        "headline": headline(report),
        "ops_in": report.ops_in,
        "ops_checked": report.ops_checked,
        "anomalies": anomalies,
        "anomalies_not_shown": report.anomalies_not_shown,
        "undecided_because": report.undecided_because,
        "scope_not_covered": report.scope_not_covered,
        "evidence": report.evidence,
        "budget_used": report.budget_used,
        "seconds": report.seconds,
        "calibration": judgement.calibration,
    })
}

/// The page about all checked files.
pub fn page(checked: &[Judged]) -> String {
    let headlines = |one: &Judged| {
        one.judgements.iter().map(|j| headline(&j.report)).collect::<Vec<_>>().join("; ")
    };
    let results: Vec<_> =
        checked.iter().map(|one| (one.path.as_path(), one.exit, headlines(one))).collect();
    let mut page = page_of(&results);
    for one in checked {
        page.facts.push(Fact::new("history", one.path.display().to_string()));
        page.reproduce.push(one.command.clone());
        for judgement in &one.judgements {
            let report = &judgement.report;
            page.facts.push(Fact::new(report.checker.to_string(), headline(report)));
            page.explanation.extend(report.anomalies.iter().map(|a| a.explanation.clone()));
            page.notes.extend(report.evidence.iter().cloned());
            let uncovered = report.scope_not_covered.iter();
            page.notes.extend(uncovered.map(|line| format!("not covered: {line}")));
            page.tables.extend(judgement.calibration.as_deref().map(calibration));
        }
    }
    assay_report::html(&page)
}

fn calibration(rows: &[CalibrationRow]) -> Table {
    let row = |row: &CalibrationRow| {
        vec![row.kind.to_string(), row.planted.to_string(), row.caught.to_string()]
    };
    Table {
        title: "Calibration: planted anomalies".to_string(),
        head: ["kind", "planted", "caught"].map(str::to_string).to_vec(),
        rows: rows.iter().map(row).collect(),
    }
}
