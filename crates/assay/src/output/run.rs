//! How a run looks in a terminal: one line that lives while it runs, then the answer.

mod live;
mod screen;

pub use screen::Screen;

use crate::args::OutputFormat;
use crate::exit::Exit;
use assay_report::run::{Judged, JudgedScenario};
use assay_runner::run::Finished;
use assay_verdict::Family;
use owo_colors::{AnsiColors, OwoColorize};
use serde_json::json;

fn shorter(text: &str) -> String {
    const CHARS_MAX: usize = 160;
    let line = assay_report::run::one_line(text);
    match line.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// The answer first, then a table, then where to look.
pub fn show_finished(finished: &Finished, format: OutputFormat) -> Exit {
    let judged = Judged::of(&finished.record);
    let exit = judged.verdict.exit();
    if format == OutputFormat::Json {
        anstream::println!("{}", as_json(finished, &judged));
        return exit;
    }
    let colour = match exit {
        Exit::Upheld => AnsiColors::Green,
        Exit::Refuted => AnsiColors::Red,
        _ => AnsiColors::Yellow,
    };
    let expected = judged.scenarios.iter().filter(|scenario| scenario.as_expected()).count();
    anstream::println!(
        "\n{}  {expected} of {} scenarios ended as they should; {}",
        judged.verdict.name().color(colour).bold(),
        judged.scenarios.len(),
        judged.verdict.meaning()
    );
    anstream::println!();
    judged.scenarios.iter().for_each(row);
    for finding in &finished.record.findings {
        let blame = finding.blame.map_or("", |blame| blame.name());
        anstream::println!("\n{} in {} (blame: {blame})", finding.id, finding.scenario);
        anstream::println!("  {}", shorter(&finding.what_happened));
        if let assay_report::run::Reproducer::Minimised {
            events_before,
            events_after,
            reruns,
            ..
        } = &finding.reproducer
        {
            anstream::println!(
                "  {events_before} events reduced to {events_after} in {reruns} trials"
            );
        }
        let file = finished.directory.join(format!("findings/{}.repro.json", finding.id));
        anstream::println!("  again: assay reproduce {}", file.display());
    }
    anstream::println!("\nreport: {}", finished.directory.join("report.html").display());
    exit
}

fn row(scenario: &JudgedScenario<'_>) {
    let verdict = scenario.verdict.name();
    let colour = match scenario.verdict.family() {
        Family::Pass => AnsiColors::Green,
        Family::Fail => AnsiColors::Red,
        _ => AnsiColors::Yellow,
    };
    let (id, name) = (&scenario.scenario.id, &scenario.scenario.name);
    let canary = match (scenario.is_canary(), scenario.as_expected()) {
        (false, _) => "",
        (true, true) => "  (a planted defect, found)",
        (true, false) => "  (a planted defect, NOT found)",
    };
    anstream::println!("  {id:<4} {:<32} {name}{canary}", verdict.color(colour));
}

fn as_json(finished: &Finished, judged: &Judged<'_>) -> serde_json::Value {
    let scenarios: Vec<_> = judged
        .scenarios
        .iter()
        .map(|scenario| {
            json!({
                "id": scenario.scenario.id,
                "name": scenario.scenario.name,
                "verdict": scenario.verdict,
                "sentence": scenario.sentence,
                "expected": scenario.scenario.expect,
                "as_expected": scenario.as_expected(),
            })
        })
        .collect();
    json!({
        "verdict": judged.verdict,
        "exit": judged.verdict.exit().code(),
        "directory": finished.directory,
        "report": finished.directory.join("report.html"),
        "results": finished.directory.join("results.json"),
        "scenarios": scenarios,
        "findings": finished.record.findings,
    })
}
