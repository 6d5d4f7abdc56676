//! The four kinds of records, and what is asked of each.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// What was decided, and why.
    Adr,
    /// What was learned to be missing, and is not decided yet.
    Gap,
    /// Where the code knowingly is not what a decision says.
    Deviation,
    /// What changes often about a decision: phases, what is done.
    Supplement,
}

/// A step of a lifecycle: a status, and those that may come right after it.
pub type Step = (&'static str, &'static [&'static str]);

/// What a kind of record has to have.
#[derive(Debug)]
pub struct Shape {
    /// How titles and ids begin: `ADR-`.
    pub prefix: &'static str,
    /// The first column of its table in the index, and the heading above it.
    pub column: &'static str,
    /// The heading above that table.
    pub heading: &'static str,
    /// Its lifecycle; the first status is that of a new record.
    pub lifecycle: &'static [Step],
    /// Fields before the first section, in the order of a new record.
    pub fields: &'static [&'static str],
    /// The field with the day it was written.
    pub dated: &'static str,
    /// Sections, in their order.
    pub sections: &'static [&'static str],
}

const ADR: Shape = Shape {
    prefix: "ADR-",
    column: "ADR",
    heading: "Decisions",
    lifecycle: &[
        ("Proposed", &["Accepted", "Deprecated", "Superseded"]),
        ("Accepted", &["Deprecated", "Superseded"]),
        ("Deprecated", &["Superseded"]),
        ("Superseded", &[]),
    ],
    fields: &["Status", "Date"],
    dated: "Date",
    sections: &[
        "Context",
        "Decision",
        "Consequences",
        "Decision Log",
        "Implementation Status",
        "References",
    ],
};

const GAP: Shape = Shape {
    prefix: "GAP-",
    column: "Gap",
    heading: "Gaps",
    lifecycle: &[
        ("Open", &["Investigating"]),
        ("Investigating", &["ADR-Drafted", "Closed"]),
        ("ADR-Drafted", &["Closed"]),
        ("Closed", &[]),
    ],
    fields: &["Status", "Discovered", "Owner"],
    dated: "Discovered",
    sections: &[
        "Problem",
        "Evidence",
        "State of the Art",
        "Potential Solutions",
        "Impact",
        "Next Steps",
        "References",
    ],
};

const DEVIATION: Shape = Shape {
    prefix: "DEV-",
    column: "Deviation",
    heading: "Deviations",
    lifecycle: &[
        ("Identified", &["Documented"]),
        ("Documented", &["Accepted"]),
        ("Accepted", &["Resolved", "Permanent"]),
        ("Permanent", &["Resolved"]),
        ("Resolved", &[]),
    ],
    fields: &["Status", "Date", "Owner"],
    dated: "Date",
    sections: &[
        "Summary",
        "Related ADR",
        "ADR States",
        "Current Implementation",
        "Impact",
        "Why This Exists",
        "Priority Assessment",
        "Work Required to Match ADR",
        "Recommendation",
        "Exit Criteria",
        "References",
    ],
};

const SUPPLEMENT: Shape = Shape {
    prefix: "SUP-",
    column: "Supplement",
    heading: "Supplements",
    lifecycle: &[("Planned", &["In Progress"]), ("In Progress", &["Done"]), ("Done", &[])],
    fields: &["Status", "Parent", "Last Updated"],
    dated: "Last Updated",
    sections: &["Status Table", "Phases", "Key Files"],
};

impl Kind {
    /// All of them, in the order of the index.
    pub const ALL: [Kind; 4] = [Kind::Adr, Kind::Gap, Kind::Deviation, Kind::Supplement];

    /// Its name on the command line and in `assay.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Adr => "adr",
            Kind::Gap => "gap",
            Kind::Deviation => "deviation",
            Kind::Supplement => "supplement",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What is asked of it.
    pub fn shape(self) -> &'static Shape {
        match self {
            Kind::Adr => &ADR,
            Kind::Gap => &GAP,
            Kind::Deviation => &DEVIATION,
            Kind::Supplement => &SUPPLEMENT,
        }
    }

    /// How its titles begin, up to the number. A deviation is called by its whole word.
    pub fn title_prefix(self) -> &'static str {
        match self {
            Kind::Deviation => "Deviation ",
            Kind::Supplement => "Supplement ",
            _ => self.shape().prefix,
        }
    }

    /// Whether a status may follow another, at once or over others: a base may lie many commits
    /// back, so steps in between need not be seen.
    pub fn may_become(self, old: &str, new: &str) -> bool {
        let lifecycle = self.shape().lifecycle;
        let mut reached = vec![old];
        let mut at = 0;
        while let Some(status) = reached.get(at).copied() {
            if status.eq_ignore_ascii_case(new) {
                return true;
            }
            let step = lifecycle.iter().find(|(name, _)| name.eq_ignore_ascii_case(status));
            for next in step.map_or(&[][..], |(_, next)| *next) {
                if !reached.contains(next) {
                    reached.push(next);
                }
            }
            at += 1;
        }
        false
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_goes_forward_along_its_lifecycle_and_never_back() {
        let cases = [
            (Kind::Adr, "Proposed", "Accepted", true),
            (Kind::Adr, "accepted", "Superseded", true),
            (Kind::Adr, "Accepted", "Proposed", false),
            (Kind::Adr, "Superseded", "Accepted", false),
            (Kind::Gap, "Open", "Closed", true),
            (Kind::Gap, "Closed", "Open", false),
            (Kind::Gap, "ADR-Drafted", "Investigating", false),
            (Kind::Deviation, "Accepted", "Permanent", true),
            (Kind::Deviation, "Resolved", "Permanent", false),
            (Kind::Supplement, "Done", "In Progress", false),
            (Kind::Supplement, "Done", "Done", true),
        ];
        for (kind, old, new, expected) in cases {
            assert_eq!(kind.may_become(old, new), expected, "{kind}: {old} -> {new}");
        }
    }

    #[test]
    fn every_status_of_a_lifecycle_is_one_and_is_reached_from_the_first() {
        for kind in Kind::ALL {
            let lifecycle = kind.shape().lifecycle;
            for (status, next) in lifecycle {
                assert!(kind.may_become(lifecycle[0].0, status), "{kind}: {status}");
                for next in *next {
                    assert!(lifecycle.iter().any(|(name, _)| name == next), "{kind}: {next}");
                }
            }
        }
    }
}
