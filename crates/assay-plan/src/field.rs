//! The labelled lines of a scenario: `- **Oracle:** …`.

use serde::Serialize;

/// A field of a scenario, of its 7.M block or of its 7.M.S block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the table below has their labels")]
pub enum Field {
    Falsifies,
    Closes,
    Technique,
    Workload,
    Faults,
    Oracle,
    Observability,
    ExitCriteria,
    Smoke,
    Hardening,
    Release,
    Target,
    Language,
    Skeleton,
    Model,
    History,
    Checker,
    Nemesis,
    Ambiguous,
    Reduction,
    Surfaces,
    Operations,
    Adversarial,
    Positive,
    Negative,
    Delayed,
    ObservabilityPaths,
    Arms,
}

/// Labels as they are written; the first is the method's, further ones are accepted.
pub const FIELDS: [(Field, &[&str]); 28] = [
    (Field::Falsifies, &["Falsifies if it FAILs", "Falsifies"]),
    (Field::Closes, &["Closes"]),
    (Field::Technique, &["Technique"]),
    (Field::Workload, &["Workload"]),
    (Field::Faults, &["Faults"]),
    (Field::Oracle, &["Oracle"]),
    (Field::Observability, &["Observability required"]),
    (Field::ExitCriteria, &["Exit criteria"]),
    (Field::Smoke, &["Smoke budget"]),
    (Field::Hardening, &["Hardening budget"]),
    (Field::Release, &["Release budget"]),
    (Field::Target, &["Target test file"]),
    (Field::Language, &["Skeleton language"]),
    (Field::Skeleton, &["Skeleton"]),
    (Field::Model, &["Model under test"]),
    (Field::History, &["Operation history"]),
    (Field::Checker, &["Checker"]),
    (Field::Nemesis, &["Nemesis + landing evidence", "Nemesis"]),
    (Field::Ambiguous, &["Ambiguous outcomes"]),
    (Field::Reduction, &["Reduction plan"]),
    (Field::Surfaces, &["Surfaces"]),
    (Field::Operations, &["Operations"]),
    (Field::Adversarial, &["Adversarial inputs"]),
    (Field::Positive, &["Positive controls"]),
    (Field::Negative, &["Negative controls"]),
    (Field::Delayed, &["Delayed / async paths", "Delayed/async paths"]),
    (Field::ObservabilityPaths, &["Observability paths"]),
    (Field::Arms, &["Scenario arms"]),
];

/// The six fields of 7.M.
pub const SEVEN_M: [Field; 6] = [
    Field::Model,
    Field::History,
    Field::Checker,
    Field::Nemesis,
    Field::Ambiguous,
    Field::Reduction,
];

/// The eight fields of 7.M.S.
pub const SURFACE_FIELDS: [Field; 8] = [
    Field::Surfaces,
    Field::Operations,
    Field::Adversarial,
    Field::Positive,
    Field::Negative,
    Field::Delayed,
    Field::ObservabilityPaths,
    Field::Arms,
];

impl Field {
    /// How it is written.
    pub fn label(self) -> &'static str {
        FIELDS[self as usize].1[0]
    }

    /// The part of the machine block that says the same.
    pub fn block_key(self) -> Option<&'static str> {
        Some(match self {
            Field::Workload => "workload",
            Field::Faults | Field::Nemesis => "nemesis",
            Field::Smoke => "budget.smoke",
            Field::Hardening => "budget.hardening",
            Field::Release => "budget.release",
            Field::Model => "model",
            Field::History => "history",
            Field::Checker => "checker",
            Field::Ambiguous => "ambiguity",
            Field::Reduction => "reduction",
            _ => return None,
        })
    }

    /// The field a line is about, and what the line says.
    pub fn of_line(line: &str) -> Option<(Field, &str)> {
        let labels = FIELDS.iter().flat_map(|(field, labels)| labels.iter().map(|l| (*field, *l)));
        labels
            .filter_map(|(field, label)| {
                // A bare label is fine where items below it, or code, are what it says.
                let bare = line.trim().eq_ignore_ascii_case(label).then_some("");
                Some((field, label.len(), value_after(line, label).or(bare)?))
            })
            .max_by_key(|(_, length, _)| *length)
            .map(|(field, _, value)| (field, value))
    }
}

/// What follows a label, a colon or dash, and spaces.
pub fn value_after<'l>(line: &'l str, label: &str) -> Option<&'l str> {
    let line = line.trim_start();
    let head = line.get(..label.len())?;
    if !head.eq_ignore_ascii_case(label) {
        return None;
    }
    let rest = line[label.len()..].trim_start();
    let value = rest.trim_start_matches([':', '—', '–']).trim_start_matches("- ");
    (value.len() < rest.len()).then(|| value.trim())
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, Field};

    #[test]
    fn rows_stand_where_their_kind_says() {
        for (i, (field, _)) in FIELDS.iter().enumerate() {
            assert_eq!(*field as usize, i);
        }
    }

    #[test]
    fn a_line_is_about_the_field_with_the_longest_label() {
        for (line, expected) in [
            ("Oracle: linearizable", Some((Field::Oracle, "linearizable"))),
            ("Falsifies if it FAILs — C1", Some((Field::Falsifies, "C1"))),
            ("Skeleton language: rust", Some((Field::Language, "rust"))),
            ("Skeleton:", Some((Field::Skeleton, ""))),
            ("Surfaces", Some((Field::Surfaces, ""))),
            ("observability paths: x", Some((Field::ObservabilityPaths, "x"))),
            ("Nemesis + landing evidence: pause", Some((Field::Nemesis, "pause"))),
            ("Oracles are hard", None),
            ("Workload of clients", None),
        ] {
            assert_eq!(Field::of_line(line), expected, "{line}");
        }
    }
}
