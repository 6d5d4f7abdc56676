//! Results about transactions: for people, for programs, and as a page.

use super::human::seconds;
use super::{grouped, page_of};
use crate::exit::Exit;
use anstream::println;
use assay_history::Txns;
use assay_judge::picture;
use assay_report::{Fact, Ring, Table};
use assay_txn::{Anomaly, CalibrationRow, Evidence, Level, Model, Report, SearchResult, Story};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Everything there is to say about one checked file.
pub struct Isolation {
    /// The file.
    pub path: PathBuf,
    /// The command that gives this result again.
    pub command: String,
    /// How it ended.
    pub exit: Exit,
    /// The isolation that was claimed.
    pub claim: Model,
    /// The history.
    pub txns: Txns,
    /// What the checker found.
    pub report: Report,
    /// The anomalies that are shown.
    pub shown: Vec<Shown>,
    /// How sharp the check is on this history.
    pub calibration: Option<Vec<CalibrationRow>>,
    /// How long reading took.
    pub read_time: Duration,
    /// How long checking took.
    pub check_time: Duration,
}

/// An anomaly, told and re-checked.
pub struct Shown {
    /// The anomaly.
    pub anomaly: Anomaly,
    /// What happened.
    pub story: Story,
    /// What the verifier says.
    pub verified: Result<(), String>,
}

impl Isolation {
    /// One sentence: the answer.
    pub fn headline(&self) -> String {
        let (claim, report) = (self.claim.name(), &self.report);
        let committed = grouped(report.committed as u64);
        match self.exit {
            Exit::Upheld => match report.searched {
                Some(_) => format!("{claim}: an order of all {committed} transactions was found"),
                None => {
                    format!("{claim}: {committed} committed transactions, no anomaly against it")
                }
            },
            Exit::Undecided => {
                let why = match report.searched.as_ref().map(|searched| &searched.result) {
                    Some(SearchResult::GaveUp) => "no order was found within the budget",
                    _ => "it could not be looked at in full",
                };
                format!("{claim}: {why}, and nothing against it; {committed} transactions")
            }
            Exit::NothingChecked => {
                "no committed transaction: nothing could be refuted".to_string()
            }
            _ => {
                let kinds: Vec<&str> = report.counts.iter().map(|(kind, _)| kind.name()).collect();
                format!("not {claim}: {} in {committed} committed transactions", kinds.join(", "))
            }
        }
    }

    fn still_possible(&self) -> String {
        names(&self.report.strongest.0)
    }
}

fn names(models: &[Model]) -> String {
    let names: Vec<&str> = models.iter().map(|model| model.name()).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// Prints a result.
pub fn human(one: &Isolation) {
    let word = one.exit.word();
    let word = match one.exit {
        Exit::Upheld => word.green().bold().to_string(),
        Exit::Refuted | Exit::Bug => word.red().bold().to_string(),
        _ => word.yellow().bold().to_string(),
    };
    println!("{word}  {}: {}", one.path.display(), one.headline());
    let report = &one.report;
    if !report.counts.is_empty() {
        println!("still possible at most: {}", one.still_possible());
        println!("ruled out, and all that imply them: {}", names(&report.ruled_out.weakest()));
    }
    for shown in &one.shown {
        tell(one, shown);
    }
    let hidden: usize =
        report.counts.iter().map(|(_, count)| count).sum::<usize>() - one.shown.len();
    if hidden > 0 {
        println!("\n{} more anomalies are not shown (--witnesses).", grouped(hidden as u64));
    }
    println!();
    for (kind, count) in &report.counts {
        println!("{:>10}  {:<24} {}", grouped(*count as u64), kind.name(), kind.meaning());
    }
    for row in one.calibration.iter().flatten() {
        let (kind, planted, caught) = (row.kind.name(), row.planted, row.caught);
        println!("calibration: {kind:<14} {planted} planted, {caught} caught");
    }
    for note in &report.not_covered {
        println!("not covered: {note}");
    }
    if let Some(searched) = searched(report) {
        println!("search: {searched}");
    }
    println!("evidence: {}", evidence(one));
    match one.exit {
        Exit::Refuted => println!("next: see it: {} --html report.html", one.command),
        Exit::NothingChecked => println!("next: assay history stats {}", one.path.display()),
        Exit::Upheld if one.calibration.is_none() => {
            println!("next: how sharp was this check? {} --calibrate 20", one.command);
        }
        _ => {}
    }
}

fn tell(one: &Isolation, shown: &Shown) {
    println!("\n{}: {}", shown.anomaly.kind.name().bold(), shown.anomaly.kind.meaning());
    for txn in &shown.story.txns {
        println!("  {} ({}): {}", txn.name, whose(&one.txns, txn.txn), txn.text);
    }
    for sentence in &shown.story.sentences {
        println!("  - {sentence}");
    }
    if let Evidence::Cycle { cycle, .. } = &shown.anomaly.evidence
        && !cycle.shortest
    {
        println!(
            "  (there may be a shorter cycle of this kind among its {} transactions)",
            cycle.component
        );
    }
    match &shown.verified {
        Ok(()) => println!("  re-checked by the verifier"),
        Err(why) => println!("  not re-checked: {why}"),
    }
}

/// What came of looking for an order.
fn searched(report: &Report) -> Option<String> {
    let searched = report.searched.as_ref()?;
    let steps = grouped(searched.steps);
    Some(match &searched.result {
        SearchResult::Order(level, _) => {
            let keeping = match level {
                Level::Plain => "",
                Level::Process => " that keeps the order of each process",
                Level::Realtime => " that keeps real time",
            };
            format!("an order{keeping} explains every read; it was replayed ({steps} steps tried)")
        }
        SearchResult::None(..) => format!("no order explains every read ({steps} steps tried)"),
        SearchResult::GaveUp => {
            format!("gave up after {steps} steps: give it more --budget, --memory or --states")
        }
    })
}

fn whose(txns: &Txns, txn: assay_history::TxnIndex) -> String {
    let process = txns.values.show(txns.process(txns.txn(txn).process)).to_string();
    match txns.lines(txn) {
        (first, Some(last)) => format!("process {process}, lines {first} and {last}"),
        (first, None) => format!("process {process}, line {first}"),
    }
}

fn evidence(one: &Isolation) -> String {
    let report = &one.report;
    format!(
        "{} transactions ({} committed, {} aborted, {} unknown), {} micro-operations, {} \
         dependencies, {} cyclic parts; read in {}, checked in {}",
        grouped(report.txns_in as u64),
        grouped(report.committed as u64),
        grouped(report.aborted as u64),
        grouped(report.unknown as u64),
        grouped(report.mops as u64),
        grouped(report.edges as u64),
        grouped(report.cyclic_components as u64),
        seconds(one.read_time),
        seconds(one.check_time)
    )
}

/// A result as one JSON object.
pub fn json(one: &Isolation) -> Value {
    let report = &one.report;
    let models = |models: &[Model]| models.iter().map(|m| m.name()).collect::<Vec<_>>();
    let anomalies: Vec<Value> = one.shown.iter().map(|shown| shown_json(one, shown)).collect();
    let counts: Vec<Value> = report
        .counts
        .iter()
        .map(
            |(kind, count)| json!({"kind": kind.name(), "count": count, "meaning": kind.meaning()}),
        )
        .collect();
    json!({
        "file": one.path.display().to_string(),
        "verdict": one.exit.word().to_lowercase(),
        "exit_code": one.exit as u8,
        "headline": one.headline(),
        "model": report.style.name(),
        "consistency_model": one.claim.name(),
        "assume": report.assume,
        "ops_in": report.txns_in,
        "ops_checked": report.committed + report.unknown,
        "committed": report.committed,
        "aborted": report.aborted,
        "unknown": report.unknown,
        "micro_ops": report.mops,
        "dependencies": report.edges,
        "cyclic_components": report.cyclic_components,
        "anomaly_counts": counts,
        "anomalies": anomalies,
        "strongest_possible": models(&report.strongest.0),
        "weakest_ruled_out": models(&report.ruled_out.weakest()),
        "ruled_out": models(&report.ruled_out.iter().collect::<Vec<_>>()),
        "search": report.searched.as_ref().map(|searched| json!({
            "result": match searched.result {
                SearchResult::Order(..) => "order",
                SearchResult::None(..) => "no-order",
                SearchResult::GaveUp => "gave-up",
            },
            "steps": searched.steps,
        })),
        "scope_not_covered": report.not_covered,
        "calibration": one.calibration,
        "read_seconds": one.read_time.as_secs_f64(),
        "check_seconds": one.check_time.as_secs_f64(),
        "reproduce": one.command,
    })
}

fn shown_json(one: &Isolation, shown: &Shown) -> Value {
    let story = &shown.story;
    let txns: Vec<Value> = story
        .txns
        .iter()
        .map(|txn| {
            let (first, last) = one.txns.lines(txn.txn);
            json!({"name": txn.name, "line": first, "complete_line": last, "text": txn.text})
        })
        .collect();
    let steps: Vec<Value> = story
        .steps
        .iter()
        .map(|step| {
            json!({
                "from": story.txns[step.from].name,
                "to": story.txns[step.to].name,
                "label": step.label.name(),
                "because": step.sentence,
            })
        })
        .collect();
    json!({
        "kind": shown.anomaly.kind.name(),
        "transactions": txns,
        "cycle": steps,
        "explanation": story.sentences,
        "verified": match &shown.verified {
            Ok(()) => json!({"ok": true}),
            Err(why) => json!({"ok": false, "reason": why}),
        },
    })
}

/// An anomaly as a picture: a cycle, or the transactions it is about.
pub fn ring(shown: &Shown) -> Ring {
    picture::ring(shown.anomaly.kind.name(), &shown.story)
}

/// The page about all checked files.
pub fn page(checked: &[Isolation]) -> String {
    let results: Vec<_> =
        checked.iter().map(|one| (one.path.as_path(), one.exit, one.headline())).collect();
    let mut page = page_of(&results);
    for one in checked {
        page.stories.extend(one.shown.iter().map(|shown| assay_report::Story {
            ring: ring(shown),
            lines: shown.story.sentences.clone(),
        }));
        page.facts.extend(facts(one));
        page.tables.push(counts(one));
        page.notes.extend(one.report.not_covered.iter().map(|note| format!("not covered: {note}")));
        page.reproduce.push(one.command.clone());
    }
    assay_report::html(&page)
}

fn facts(one: &Isolation) -> Vec<Fact> {
    vec![
        Fact::new("history", one.path.display().to_string()),
        Fact::new("claim", one.claim.name()),
        Fact::new("still possible at most", one.still_possible()),
        Fact::new("ruled out at least", names(&one.report.ruled_out.weakest())),
        Fact::new("evidence", evidence(one)),
    ]
}

fn counts(one: &Isolation) -> Table {
    let row = |(kind, count): &(assay_txn::Kind, usize)| {
        vec![kind.name().to_string(), grouped(*count as u64), kind.meaning().to_string()]
    };
    Table {
        title: "Anomalies".to_string(),
        head: ["kind", "count", "meaning"].map(str::to_string).to_vec(),
        rows: one.report.counts.iter().map(row).collect(),
    }
}
