//! The sections of a plan, in their order.

use crate::words::Mode;
use serde::Serialize;

/// A section of the method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the table below has their titles")]
pub enum SectionKind {
    Architecture,
    Scope,
    Claims,
    Missing,
    SutModel,
    Inventory,
    Hypotheses,
    Matrix,
    Techniques,
    Environment,
    Scenarios,
    Adequacy,
    Residual,
    Confidence,
    NotCovered,
    Questions,
}

use SectionKind::{
    Adequacy, Architecture, Claims, Confidence, Environment, Hypotheses, Inventory, Matrix,
    Missing, NotCovered, Questions, Residual, Scenarios, Scope, SutModel, Techniques,
};

/// Number, title, and what belongs there, in order.
pub const SECTIONS: [(SectionKind, &str, &str); 16] = [
    (Architecture, "0", "Architectural summary"),
    (Scope, "1", "Scope"),
    (Claims, "1b", "Claims under test"),
    (Missing, "1c", "Missing claims discovered"),
    (SutModel, "2", "SUT model"),
    (Inventory, "3", "Existing test inventory"),
    (Hypotheses, "4", "Failure-mode hypotheses"),
    (Matrix, "5", "Coverage matrix"),
    (Techniques, "6", "Technique selection"),
    (Environment, "6b", "Environment requirements"),
    (Scenarios, "7", "Scenarios"),
    (Adequacy, "7b", "Coverage adequacy argument"),
    (Residual, "7c", "Residual uncertainty"),
    (Confidence, "7d", "Confidence statement"),
    (NotCovered, "8", "What this plan does NOT cover"),
    (Questions, "9", "Open questions / followups"),
];

impl SectionKind {
    fn row(self) -> &'static (SectionKind, &'static str, &'static str) {
        &SECTIONS[self as usize]
    }

    /// `7b`.
    pub fn number(self) -> &'static str {
        self.row().1
    }

    /// `Coverage adequacy argument`.
    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// `## 7b. Coverage adequacy argument`.
    pub fn heading(self) -> String {
        format!("## {}. {}", self.number(), self.title())
    }

    /// Whether a plan of this mode must have it.
    pub fn is_required(self, mode: Mode) -> bool {
        mode == Mode::ProjectWide || !matches!(self, Inventory | Matrix)
    }

    /// The section a heading means: by its number, or else by its title.
    pub fn of_heading(text: &str) -> Option<SectionKind> {
        let text = text.trim().trim_start_matches('§');
        let (number, rest) = text.split_once(['.', ')', ' ']).unwrap_or((text, ""));
        let by_number = SECTIONS.iter().find(|row| row.1.eq_ignore_ascii_case(number));
        let title = rest.trim_start_matches(['.', ')', ' ', '—', '-']).trim();
        let by_title =
            |wanted: &str| SECTIONS.iter().find(|row| row.2.eq_ignore_ascii_case(wanted.trim()));
        by_number.or_else(|| by_title(text)).or_else(|| by_title(title)).map(|row| row.0)
    }
}

/// A table with its columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the table below has their columns")]
pub enum TableKind {
    Claims,
    Missing,
    Inventory,
    Pitfalls,
    Rollup,
    Matrix,
    Environment,
    Adequacy,
    Residual,
    Aspects,
}

/// Where a table stands, and its columns.
pub const TABLES: [(TableKind, SectionKind, &[&str]); 10] = [
    (TableKind::Claims, Claims, &["ID", "Claim", "Category", "Source", "Inferred?"]),
    (
        TableKind::Missing,
        Missing,
        &["ID", "Behavior the code relies on", "Source / evidence", "Suggested action"],
    ),
    (
        TableKind::Inventory,
        Inventory,
        &["Test / harness", "Subsystem", "Invariant pinned", "Failure modes it catches"],
    ),
    (TableKind::Pitfalls, Hypotheses, &["#", "Pitfall", "Answer", "Hypothesis or reason"]),
    (TableKind::Rollup, Matrix, &["Claim", "Rolled verdict", "Hypotheses not covered"]),
    (
        TableKind::Matrix,
        Matrix,
        &["Claim", "Hypothesis", "Existing tests", "Verdict", "Gap kind", "Recommended scenario"],
    ),
    (
        TableKind::Environment,
        Environment,
        &["Requirement", "Version floor", "Used by scenarios", "Install hint"],
    ),
    (
        TableKind::Adequacy,
        Adequacy,
        &[
            "Claim",
            "Threat model (how it could fail)",
            "Scenarios that exercise the threats",
            "Why these are sufficient",
        ],
    ),
    (
        TableKind::Residual,
        Residual,
        &["Uncertainty", "Why uncovered", "Why acceptable today", "When to revisit"],
    ),
    (TableKind::Aspects, Confidence, &["Claim", "Aspect", "Confidence", "Reason"]),
];

impl TableKind {
    /// Its columns.
    pub fn columns(self) -> &'static [&'static str] {
        TABLES[self as usize].2
    }

    /// The section it belongs to.
    pub fn section(self) -> SectionKind {
        TABLES[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::{SECTIONS, SectionKind, TABLES};

    #[test]
    fn rows_stand_where_their_kind_says() {
        for (i, (kind, ..)) in SECTIONS.iter().enumerate() {
            assert_eq!(*kind as usize, i);
        }
        for (i, (kind, ..)) in TABLES.iter().enumerate() {
            assert_eq!(*kind as usize, i);
        }
    }

    #[test]
    fn headings_are_known_by_number_or_title() {
        for (text, expected) in [
            ("7b. Coverage adequacy argument", Some(SectionKind::Adequacy)),
            ("§7b Adequacy", Some(SectionKind::Adequacy)),
            ("Scope", Some(SectionKind::Scope)),
            ("1) scope", Some(SectionKind::Scope)),
            ("12. More", None),
            ("", None),
        ] {
            assert_eq!(SectionKind::of_heading(text), expected, "{text}");
        }
    }
}
