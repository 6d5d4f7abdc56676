//! Results for people: the answer first, then the evidence, then what to do next.

use super::Checked;
use super::page::timeline;
use crate::exit::Exit;
use anstream::println;
use assay_check::{Algorithm, PartialOrder};
use assay_history::{Finding, Severity};
use owo_colors::OwoColorize;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

/// Prints a result.
pub fn human(checked: &Checked) {
    let word = checked.exit.word();
    let word = match checked.exit {
        Exit::Upheld => word.green().bold().to_string(),
        Exit::Refuted | Exit::Bug => word.red().bold().to_string(),
        _ => word.yellow().bold().to_string(),
    };
    println!("{word}  {}: {}", checked.path.display(), checked.headline());
    for index in 0..checked.report.refutations.len() {
        refutation(checked, index);
    }
    if checked.report.refuted_not_shown > 0 {
        println!(
            "\n{} more refuted objects are not shown (--witnesses {}).",
            grouped(checked.report.refuted_not_shown as u64),
            checked.report.refuted_not_shown + checked.report.refutations.len()
        );
    }
    if checked.report.parts_skipped > 0 {
        println!(
            "\nstopped at the first refuted object: {} others were not looked at (--fail-fast).",
            grouped(checked.report.parts_skipped as u64)
        );
    }
    undecided(checked);
    calibration(checked);
    for finding in &checked.findings {
        println!("{}: {}", place(&checked.path, finding.line), finding_text(finding));
    }
    println!("evidence: {}", evidence(checked));
    next_step(checked);
}

fn refutation(checked: &Checked, index: usize) {
    let refutation = &checked.report.refutations[index];
    let object = checked.object(&refutation.part);
    println!();
    if !object.is_empty() {
        println!("{object}:");
    }
    for (i, line) in refutation.explanation.iter().enumerate() {
        println!("{}{line}", if i == 0 { "" } else { "  - " });
    }
    println!();
    let width = terminal_width();
    // The reason stands above already, and the terminal needs no title.
    let picture = assay_report::Timeline {
        title: String::new(),
        subtitle: String::new(),
        ..timeline(checked, refutation)
    };
    println!("{}", assay_report::text(&picture, width, glyphs()).trim_start_matches('\n'));
    for order in &refutation.orders {
        println!("tried: {}", tried(checked, order));
    }
    match &checked.verified[index] {
        Ok(verified) => println!(
            "certificate: {} operations, re-checked by the verifier ({} configurations, none \
             explains them){}",
            verified.core,
            grouped(verified.configurations),
            if refutation.minimal {
                "; smallest: forget any one outcome and an order exists"
            } else {
                "; not reduced to the end within the budget"
            }
        ),
        Err(why) => println!("certificate: {why}"),
    }
}

/// An order that cannot be finished, in one line.
fn tried(checked: &Checked, order: &PartialOrder) -> String {
    const SHOWN_MAX: usize = 6;
    let phrase = |op| assay_check::phrase(&checked.history, checked.report.model, op);
    let skipped = order.placed.len().saturating_sub(SHOWN_MAX);
    let mut placed: Vec<String> = order.placed[skipped..].iter().map(|&op| phrase(op)).collect();
    if skipped > 0 {
        placed.insert(0, format!("({skipped} others)"));
    }
    let stuck: Vec<String> = order.stuck.iter().map(|&op| phrase(op)).collect();
    let so_far = if placed.is_empty() { "nothing".to_string() } else { placed.join(" → ") };
    format!("{so_far}; then {} cannot follow", stuck.join(", "))
}

fn undecided(checked: &Checked) {
    for part in &checked.report.unfinished {
        let object = checked.object(&part.part);
        println!(
            "undecided{}{object}: {} of {} operations can be explained, up to t={}; {} were open \
             there",
            if object.is_empty() { "" } else { " " },
            grouped(part.prefix_ops as u64),
            grouped(part.part.ops as u64),
            part.prefix_end,
            part.window_ops
        );
    }
}

fn calibration(checked: &Checked) {
    let Some(calibration) = &checked.calibration else { return };
    println!(
        "\ncalibration (seed {}): anomalies planted into copies of this history",
        calibration.seed
    );
    println!(
        "  {:<18} {:>8} {:>8} {:>8} {:>10}",
        "kind", "planted", "caught", "unseen", "undecided"
    );
    for row in &calibration.rows {
        let name = assay_check::Anomaly::ALL.iter().find(|(kind, _)| *kind == row.anomaly);
        println!(
            "  {:<18} {:>8} {:>8} {:>8} {:>10}{}",
            name.map_or("", |&(_, name)| name),
            row.planted,
            row.caught,
            row.unseen,
            row.undecided,
            match row.planted < calibration.asked {
                true if calibration.cut => "  (the budget was spent)",
                true => "  (no more places for it)",
                false => "",
            }
        );
    }
    if calibration.rows.iter().any(|row| row.unseen > 0) {
        println!("  unseen: a valid order still exists; at this concurrency nobody could tell");
    }
}

fn evidence(checked: &Checked) -> String {
    let report = &checked.report;
    let how = match (report.parts_special, report.parts_search) {
        (_, 0) => "no search needed".to_string(),
        (special, search) => format!(
            "{special} objects without search, {search} by search ({} configurations, {} MiB)",
            grouped(report.configurations),
            report.memory_bytes_peak >> 20
        ),
    };
    format!(
        "{} of {} operations consumed; {how}; read in {}, decided in {}{}",
        grouped(report.ops_checked as u64),
        grouped(report.ops_in as u64),
        seconds(checked.read_time),
        seconds(checked.decide_time),
        if report.refutations.is_empty() {
            String::new()
        } else {
            format!(", explained in {}", seconds(checked.witness_time))
        }
    )
}

fn next_step(checked: &Checked) {
    let command = &checked.command;
    match checked.exit {
        Exit::Upheld if checked.calibration.is_none() => {
            println!("next: how sharp was this check? {command} --calibrate 20");
        }
        Exit::Refuted => println!("next: see it: {command} --html report.html"),
        Exit::Undecided => {
            let searched = checked
                .report
                .unfinished
                .iter()
                .any(|part| part.part.algorithm == Algorithm::Search);
            let why = if searched { "the search was cut short" } else { "it was stopped" };
            println!(
                "next: {why} at {} and {} MiB; try {command} --budget 5m --memory 8GiB",
                seconds(checked.budget),
                checked.memory >> 20
            );
        }
        Exit::NothingChecked => println!("next: assay history stats {}", checked.path.display()),
        _ => {}
    }
}

/// `file:line`, or the file alone.
pub fn place(path: &Path, line: Option<u64>) -> String {
    match line {
        Some(line) if line > 0 => format!("{}:{line}", path.display()),
        _ => path.display().to_string(),
    }
}

/// A finding in one line.
pub fn finding_text(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Unsound => "unsound",
        Severity::Weak => "weak",
        Severity::Note => "note",
    };
    let more = match finding.more {
        0 => String::new(),
        more => format!(" (and {} more)", grouped(more)),
    };
    format!("{severity} {:?}: {}{more}; {}", finding.rule, finding.what, finding.consequence)
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 0.001 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn terminal_width() -> usize {
    const NARROWEST: usize = 60;
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns.unwrap_or(100).max(NARROWEST)
}

/// Box characters for terminals and UTF-8 locales, plain ones for anything else.
fn glyphs() -> assay_report::Glyphs {
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .is_none_or(|locale| locale.to_uppercase().contains("UTF"));
    if utf8 || std::io::stdout().is_terminal() {
        assay_report::Glyphs::Unicode
    } else {
        assay_report::Glyphs::Ascii
    }
}
