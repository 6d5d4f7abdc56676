//! How the gallery looks in a terminal: a table of twins, the answer first.
//!
//! [`twin`] says whether a twin ended as it was published, [`figures`] what its faults counted.

mod figures;
mod twin;

pub use twin::{Round, Twin};

use crate::args::OutputFormat;
use crate::exit::Exit;
use crate::gallery::TWIN_SECONDS_MAX;
use owo_colors::{AnsiColors, OwoColorize};
use serde_json::{Value, json};

/// How one twin of one entry ended over all its runs.
struct Tally {
    entry: &'static str,
    colour: &'static str,
    runs: usize,
    refuted: usize,
    as_expected: usize,
}

fn tallies(twins: &[Twin]) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = Vec::new();
    for twin in twins {
        let (entry, colour) = (twin.entry, twin.colour());
        let known = tallies.iter().position(|one| (one.entry, one.colour) == (entry, colour));
        let at = known.unwrap_or_else(|| {
            tallies.push(Tally { entry, colour, runs: 0, refuted: 0, as_expected: 0 });
            tallies.len() - 1
        });
        let tally = &mut tallies[at];
        tally.runs += 1;
        tally.refuted += usize::from(twin.is_refuted());
        tally.as_expected += usize::from(twin.as_expected());
    }
    tallies
}

impl Tally {
    fn json(&self) -> Value {
        json!({
            "entry": self.entry, "twin": self.colour, "runs": self.runs,
            "refuted": self.refuted, "as_expected": self.as_expected,
        })
    }
}

impl Twin {
    fn lines(&self) -> Vec<String> {
        let mark = if self.as_expected() { "as expected" } else { "NOT AS EXPECTED" };
        let over = if self.is_over_budget() {
            format!(", OVER the {TWIN_SECONDS_MAX} s of a twin")
        } else {
            String::new()
        };
        let seconds = self.seconds.map_or("?".to_string(), |seconds| format!("{seconds:.0}"));
        let colour = if self.is_red { AnsiColors::Red } else { AnsiColors::Green };
        let mut lines = vec![format!(
            "  {:<26} {:<6} {:<30} {mark}; {} operations, {seconds} s{over}",
            self.entry,
            self.colour().color(colour),
            self.verdict.name(),
            self.operations,
        )];
        let mut more = |text: String| lines.push(format!("  {:<26}        {text}", ""));
        self.figures.iter().for_each(|figures| more(figures.words()));
        if let Some(anomaly) = &self.anomaly {
            more(format!("{}: {}", self.classes.join(", "), shortened(anomaly)));
        }
        self.because.iter().for_each(|why| more(format!("because: {why}")));
        lines
    }
}

fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 140;
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

/// The code that these twins end with.
fn exit(twins: &[Twin]) -> Exit {
    let all = twins.iter().all(Twin::as_expected);
    match (all, twins.iter().any(Twin::is_broken)) {
        (true, _) => Exit::Upheld,
        (false, true) => Exit::Refuted,
        (false, false) => Exit::Undecided,
    }
}

/// The whole table for programs.
pub fn table(twins: &[Twin]) -> Value {
    let rows: Vec<Value> = twins.iter().map(Twin::json).collect();
    let tally: Vec<Value> = tallies(twins).iter().map(Tally::json).collect();
    json!({ "exit": exit(twins).code(), "tally": tally, "twins": rows })
}

/// The rows of an entry that has just ended, while others go on.
pub fn show_rows(twins: &[Twin], format: OutputFormat) {
    if format == OutputFormat::Human {
        twins.iter().flat_map(Twin::lines).for_each(|line| anstream::eprintln!("{line}"));
    }
}

/// Shows all twins and says how it ended.
pub fn show(twins: &[Twin], format: OutputFormat) -> Exit {
    let exit = exit(twins);
    if format == OutputFormat::Json {
        anstream::println!("{}", table(twins));
        return exit;
    }
    let expected = twins.iter().filter(|twin| twin.as_expected()).count();
    let word = if exit == Exit::Upheld { "SHOWN" } else { "NOT SHOWN" };
    anstream::println!("\n{word}  {expected} of {} twins ended as expected\n", twins.len());
    twins.iter().flat_map(Twin::lines).for_each(|line| anstream::println!("{line}"));
    let tallies = tallies(twins);
    if tallies.iter().any(|tally| tally.runs > 1) {
        anstream::println!("");
        for Tally { entry, colour, runs, refuted, .. } in &tallies {
            anstream::println!("  {entry:<26} {colour:<6} refuted {refuted} of {runs}");
        }
    }
    if let Some(report) = twins.iter().rev().find_map(|twin| twin.report.as_ref()) {
        anstream::println!("\nreport of the last: {report}");
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::GALLERY;

    #[test]
    fn every_twin_has_a_tally_over_all_its_rounds() {
        let round = |number| Round { entry: &GALLERY[0], number, seed: u64::from(number) };
        let twins: Vec<Twin> = (1..=3).flat_map(|n| Twin::missing(round(n), "no")).collect();
        let table = table(&twins);
        let row = |colour| {
            json!({
                "entry": GALLERY[0].name, "twin": colour, "runs": 3, "refuted": 0,
                "as_expected": 0,
            })
        };
        assert_eq!(table["tally"], json!([row("green"), row("red")]));
        assert_eq!(table["exit"], Exit::Undecided.code());
    }
}
