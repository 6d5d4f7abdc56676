//! How a run looks in a terminal: one line that lives while it runs, then the answer.

use crate::args::OutputFormat;
use crate::exit::Exit;
use assay_report::run::{Judged, JudgedScenario};
use assay_runner::event::RunEvent;
use assay_runner::run::Finished;
use assay_verdict::Family;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use owo_colors::{AnsiColors, OwoColorize};
use serde_json::json;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What is shown while a run goes on, on standard error.
pub struct Screen {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    heartbeat: Heartbeat,
}

/// Where there is no living line, one of these is said each minute: a log that stands still looks
/// like a run that does.
struct Heartbeat {
    last: Mutex<Instant>,
}

/// From one sign of life to the next.
const HEARTBEAT_STEP: Duration = Duration::from_secs(60);

impl Heartbeat {
    fn new(now: Instant) -> Heartbeat {
        Heartbeat { last: Mutex::new(now) }
    }

    /// Whether nothing was said for long enough; then something is said now.
    fn is_due(&self, now: Instant) -> bool {
        let mut last = self.last.lock().expect("nothing panics while it holds the time");
        let is_due = now.saturating_duration_since(*last) >= HEARTBEAT_STEP;
        if is_due {
            *last = now;
        }
        is_due
    }

    /// Something else was said.
    fn said(&self, now: Instant) {
        *self.last.lock().expect("nothing panics while it holds the time") = now;
    }
}

impl Screen {
    /// A line that lives on terminals; plain lines elsewhere; nothing where a program listens.
    pub fn new(format: OutputFormat) -> Screen {
        let is_quiet = format == OutputFormat::Json;
        let lives = std::io::stderr().is_terminal() && !is_quiet;
        let bar = lives.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(style.expect("the template is a constant"));
            bar
        });
        Screen { bar, is_quiet, heartbeat: Heartbeat::new(Instant::now()) }
    }

    /// Takes the living line away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Something happened.
    pub fn tell(&self, event: &RunEvent) {
        if self.is_quiet {
            return;
        }
        if let RunEvent::Progress { .. } = event {
            match &self.bar {
                Some(bar) => {
                    bar.set_message(progress(event));
                    bar.tick();
                }
                None if self.heartbeat.is_due(Instant::now()) => {
                    anstream::eprintln!("    {}", progress(event));
                }
                None => {}
            }
            return;
        }
        let Some(line) = line(event) else { return };
        self.heartbeat.said(Instant::now());
        match &self.bar {
            Some(bar) => bar.suspend(|| anstream::eprintln!("{line}")),
            None => anstream::eprintln!("{line}"),
        }
    }
}

fn progress(event: &RunEvent) -> String {
    let RunEvent::Progress { elapsed_ms, total_ms, rate, ok, fail, unknown, faults } = event else {
        return String::new();
    };
    let left = total_ms.saturating_sub(*elapsed_ms) / 1_000;
    let faults = if faults.is_empty() { "no fault".to_string() } else { faults.join(", ") };
    format!(
        "{}s, {left}s left | {rate}/s | ok {ok}, fail {fail}, unknown {unknown} | {faults}",
        elapsed_ms / 1_000
    )
}

/// An event as a line, if it is worth one.
fn line(event: &RunEvent) -> Option<String> {
    Some(match event {
        RunEvent::RunStarted { plan, directory, trials_planned, resumed } => {
            let verb = if *resumed { "resuming" } else { "running" };
            format!("{verb} {plan}: {}\nwriting to {directory}", trials_planned.join(", "))
        }
        RunEvent::Healed { what } => format!("healed: {what}"),
        RunEvent::Noticed { what } => format!("note: {what}"),
        RunEvent::EnvironmentProbed { missing } if !missing.is_empty() => {
            format!("missing here: {}", missing.join("; "))
        }
        RunEvent::ScenarioStarted { scenario, name } => format!("\n{scenario} {name}"),
        RunEvent::TrialStarted { purpose, seed, expected_ms, .. } => {
            format!("  {} seed {seed}, {} s", purpose.name(), expected_ms.div_ceil(1_000))
        }
        RunEvent::FaultClosed { id, target, landing, evidence } => {
            format!("    {id} of {target}: {landing} ({})", shorter(evidence))
        }
        RunEvent::Reducing { what, still_fails: Some(still) } => {
            format!("    smaller: {what}: {}", if *still { "still fails" } else { "passes" })
        }
        RunEvent::TrialEnded { result, reused, .. } => {
            format!("    {}{}", shorter(result), if *reused { " (kept)" } else { "" })
        }
        RunEvent::ScenarioEnded { scenario, sentence, .. } => {
            format!("  {scenario}: {sentence}")
        }
        _ => return None,
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_says_nothing_for_a_minute_says_that_it_lives() {
        let start = Instant::now();
        let heartbeat = Heartbeat::new(start);
        let after = |seconds| start + Duration::from_secs(seconds);
        let said: Vec<u64> = (1..=200).filter(|&s| heartbeat.is_due(after(s))).collect();
        assert_eq!(said, [60, 120, 180]);
        heartbeat.said(after(230));
        assert!(!heartbeat.is_due(after(289)) && heartbeat.is_due(after(290)));
    }
}
