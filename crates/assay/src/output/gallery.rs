//! How the gallery looks in a terminal: a table of twins, the answer first.

use crate::args::OutputFormat;
use crate::exit::Exit;
use assay_report::run::JudgedScenario;
use assay_runner::run::Finished;
use assay_verdict::{Facts, Fault, LandingState, Verdict};
use owo_colors::{AnsiColors, OwoColorize};
use serde_json::{Value, json};

/// What came of one twin of one entry.
pub struct Twin {
    entry: String,
    round: u32,
    scenario: String,
    is_red: bool,
    verdict: Verdict,
    as_expected: bool,
    /// Whether something that must hold was refuted: worse than anything inconclusive.
    is_broken: bool,
    sentence: String,
    anomaly: Option<String>,
    operations: u64,
    landed: (usize, usize),
    seconds: Option<f64>,
    report: String,
}

impl Twin {
    /// From the record of a run.
    pub fn of(
        entry: &str,
        round: u32,
        finished: &Finished,
        judged: &JudgedScenario<'_>,
        seconds: &dyn Fn(&str) -> Option<f64>,
    ) -> Twin {
        let id = &judged.scenario.id;
        let findings = &finished.record.findings;
        let finding = findings.iter().find(|finding| finding.scenario == *id);
        let (mut operations, mut landed, mut planned) = (0, 0, 0);
        for arm in &judged.scenario.arms {
            let Facts::Ran(run) = &arm.facts else { continue };
            operations += run.operations.consumed.unwrap_or(0);
            if let Fault::Planned { landings, .. } = &run.fault {
                planned += landings.len();
                let has = |l: &&assay_verdict::Landing| l.state() == LandingState::Landed;
                landed += landings.iter().filter(has).count();
            }
        }
        let as_expected = judged.as_expected();
        Twin {
            entry: entry.to_string(),
            round,
            scenario: judged.scenario.name.clone(),
            is_red: judged.is_canary(),
            verdict: judged.verdict,
            as_expected,
            is_broken: !as_expected && judged.verdict.family() == assay_verdict::Family::Fail,
            sentence: judged.sentence.clone(),
            anomaly: finding.map(|finding| assay_report::run::one_line(&finding.what_happened)),
            operations,
            landed: (landed, planned),
            seconds: seconds(id),
            report: finished.directory.join("report.html").display().to_string(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "entry": self.entry, "round": self.round, "twin": self.colour(),
            "scenario": self.scenario, "verdict": self.verdict, "as_expected": self.as_expected,
            "sentence": self.sentence, "anomaly": self.anomaly, "operations": self.operations,
            "faults_landed": self.landed.0, "faults_planned": self.landed.1,
            "seconds": self.seconds, "report": self.report,
        })
    }

    fn colour(&self) -> &'static str {
        if self.is_red { "red" } else { "green" }
    }

    fn human(&self) {
        let colour = if self.is_red { AnsiColors::Red } else { AnsiColors::Green };
        let mark = if self.as_expected { "as expected" } else { "NOT AS EXPECTED" };
        anstream::println!(
            "  {:<24} {:<6} {:<30} {mark}; {} operations, {} of {} faults landed, {} s",
            self.entry,
            self.colour().color(colour),
            self.verdict.name(),
            self.operations,
            self.landed.0,
            self.landed.1,
            self.seconds.map_or("?".to_string(), |seconds| format!("{seconds:.0}")),
        );
        match &self.anomaly {
            Some(anomaly) => anstream::println!("  {:<24}        {}", "", shortened(anomaly)),
            None if !self.as_expected => {
                anstream::println!("  {:<24}        {}", "", self.sentence);
            }
            None => {}
        }
    }
}

fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 140;
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// Shows all twins and says how it ended.
pub fn show(twins: &[Twin], format: OutputFormat) -> Exit {
    let expected = twins.iter().filter(|twin| twin.as_expected).count();
    let exit = match (expected == twins.len(), twins.iter().any(|twin| twin.is_broken)) {
        (true, _) => Exit::Upheld,
        (false, true) => Exit::Refuted,
        (false, false) => Exit::Undecided,
    };
    if format == OutputFormat::Json {
        let twins: Vec<Value> = twins.iter().map(Twin::json).collect();
        anstream::println!("{}", json!({ "exit": exit.code(), "twins": twins }));
        return exit;
    }
    let word = if exit == Exit::Upheld { "SHOWN" } else { "NOT SHOWN" };
    anstream::println!("\n{word}  {expected} of {} twins ended as expected\n", twins.len());
    twins.iter().for_each(Twin::human);
    if let Some(last) = twins.last() {
        anstream::println!("\nreport of the last: {}", last.report);
    }
    exit
}
