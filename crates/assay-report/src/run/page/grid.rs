//! Tables, badges and other small pieces, with their texts made fit for a page.
//!
//! The templates escape markup. Here texts lose what no escaping helps against: control characters,
//! turned reading directions, and length.

use crate::clean;
use assay_verdict::{Check, Family, LandingState, RunVerdict, Verdict};

/// Longer paragraphs and cells are cut: the record has them whole.
const TEXT_CHARS_MAX: usize = 10_000;
/// Longer names are cut.
const NAME_CELLS_MAX: usize = 200;
/// More rows of a table are left out.
const ROWS_MAX: usize = 2_000;

/// Text of several lines.
pub(super) fn text(text: &str) -> String {
    let (shown, cut) = clean::block(text.trim(), TEXT_CHARS_MAX);
    if cut { shown + "…" } else { shown }
}

/// A name, on one line.
pub(super) fn name(text: &str) -> String {
    clean::line(text, NAME_CELLS_MAX)
}

/// A word with a colour and a shape, so that it can be told apart without either.
#[derive(Clone)]
pub(super) struct Badge {
    pub word: &'static str,
    pub tone: &'static str,
    pub sign: &'static str,
}

/// The badge of a scenario's verdict.
pub(super) fn badge(verdict: Verdict) -> Badge {
    let (tone, sign) = match verdict.family() {
        Family::Pass if verdict == Verdict::PassHardening => ("pass", "●"),
        Family::Pass => ("smoke", "○"),
        Family::Fail => ("broken", "✕"),
        Family::Partial => ("open", "◐"),
        Family::Inconclusive => ("open", "?"),
        Family::NotRun => ("none", "–"),
    };
    Badge { word: verdict.name(), tone, sign }
}

/// The badge of the run's verdict.
pub(super) fn run_badge(verdict: RunVerdict) -> Badge {
    let (tone, sign) = match verdict {
        RunVerdict::Done => ("pass", "●"),
        RunVerdict::Fail => ("broken", "✕"),
        RunVerdict::DoneWithConcerns => ("open", "◐"),
        RunVerdict::Inconclusive => ("open", "?"),
        RunVerdict::Blocked => ("none", "–"),
    };
    Badge { word: verdict.name(), tone, sign }
}

/// A cell of a table. With a sign its text stands beside a shape in the colour of its tone.
pub(super) struct Cell {
    pub text: String,
    pub tone: &'static str,
    pub sign: &'static str,
}

impl Cell {
    pub fn of(shown: &str) -> Cell {
        Cell { text: text(shown), tone: "", sign: "" }
    }

    pub fn signed(shown: &str, tone: &'static str, sign: &'static str) -> Cell {
        Cell { tone, sign, ..Cell::of(shown) }
    }

    /// The answer to a question: its word.
    pub fn answer(check: &Check) -> Cell {
        match check {
            Check::Clean(_) => Cell::signed("clean", "pass", "●"),
            Check::Raised(_) => Cell::signed("raised", "broken", "✕"),
            Check::Unknown(_) => Cell::signed("unknown", "open", "?"),
            Check::NotApplicable(_) => Cell::signed("not applicable", "none", "–"),
        }
    }

    /// Whether a fault took hold.
    pub fn landing(state: LandingState) -> Cell {
        let (tone, sign) = match state {
            LandingState::Landed => ("pass", "●"),
            LandingState::Unknown => ("open", "?"),
            LandingState::Missed => ("broken", "✕"),
        };
        Cell::signed(state.name(), tone, sign)
    }
}

/// A table, or the sentence that says why there is none.
pub(super) struct Grid {
    pub head: &'static [&'static str],
    pub rows: Vec<Vec<Cell>>,
    pub empty: &'static str,
    /// Rows that did not fit.
    pub hidden: usize,
}

impl Grid {
    pub fn new(
        head: &'static [&'static str],
        rows: impl IntoIterator<Item = Vec<Cell>>,
        empty: &'static str,
    ) -> Grid {
        let mut rows: Vec<Vec<Cell>> = rows.into_iter().collect();
        let hidden = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        Grid { head, rows, empty, hidden }
    }

    /// Rows with the names of their columns, for screens too narrow for a table.
    pub fn labelled(&self) -> impl Iterator<Item = Vec<(&'static str, &Cell)>> {
        self.rows.iter().map(|row| self.head.iter().copied().zip(row).collect())
    }
}

/// A name and a value.
pub(super) struct Line {
    pub name: &'static str,
    pub value: String,
}

pub(super) fn line(name: &'static str, value: &str) -> Line {
    Line { name, value: text(value) }
}

/// A count with thousands apart: `1,204,118`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped() {
        for (n, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_204_118, "1,204,118")] {
            assert_eq!(grouped(n), shown);
        }
    }

    #[test]
    fn every_verdict_has_its_word_and_only_fails_look_broken() {
        for verdict in Verdict::ALL {
            let badge = badge(*verdict);
            assert_eq!(badge.word, verdict.name());
            assert_eq!(badge.tone == "broken", verdict.family() == Family::Fail);
            let passes = badge.tone == "pass" || badge.tone == "smoke";
            assert_eq!(passes, verdict.family() == Family::Pass);
        }
    }
}
