//! A comparison with its approvals, and how it is shown.

mod formats;

pub use formats::{github, markdown, sarif, text};

use crate::approval::Approval;
use crate::config::Config;
use crate::finding::{Finding, Verdict};
use crate::repository::Pair;
use crate::rules::Level;
use serde::Serialize;

/// How a finding stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum Status {
    /// Nobody has approved it.
    Open,
    /// Approved.
    Approved {
        /// By whom.
        by: String,
        /// In which record.
        record: String,
    },
    /// There is a record, and it does not count.
    Refused {
        /// Which.
        record: String,
        /// Why not.
        why: String,
    },
}

/// A finding with how it stands.
#[derive(Clone, Debug, Serialize)]
pub struct Reported {
    /// A short name for it, to approve it by.
    pub key: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Whether the rule is taken as an error or as a warning.
    pub level: Level,
    /// How it stands.
    #[serde(flatten)]
    pub status: Status,
}

/// A record that approves nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Unused {
    /// The file.
    pub record: String,
    /// Why it approves nothing.
    pub why: String,
}

/// All of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this format.
    pub version: u32,
    /// The commit of the older.
    pub base: String,
    /// The commit of the newer, or `worktree`.
    pub head: String,
    /// Files that were compared.
    pub files: usize,
    /// What was found.
    pub findings: Vec<Reported>,
    /// Records that approve nothing.
    pub records: Vec<Unused>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// How a comparison ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// Nothing, or nothing that is not approved.
    Clean,
    /// Something a person should look at.
    Unclear,
    /// Something got weaker.
    Weakened,
}

impl Report {
    /// Compares what was read, and looks for approvals.
    pub fn of(pair: &Pair, config: &Config) -> Report {
        let findings = crate::compare(&pair.before, &pair.after, config);
        let plans: Vec<(String, String)> = pair
            .after
            .iter()
            .filter(|(path, _)| path.to_lowercase().contains("plan"))
            .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).to_string()))
            .collect();
        let mut records = Vec::new();
        let mut usable: Vec<(String, Approval, Option<String>)> = Vec::new();
        for (file, text) in &pair.approvals {
            match Approval::parse(text) {
                Ok(approval) => {
                    let refusal = approval.refusal(&pair.authors, &plans, config);
                    usable.push((file.clone(), approval, refusal.map(|r| r.to_string())));
                }
                Err(refusal) => {
                    records.push(Unused { record: file.clone(), why: refusal.to_string() });
                }
            }
        }
        let mut files: Vec<&String> = pair.before.keys().chain(pair.after.keys()).collect();
        files.sort_unstable();
        files.dedup();
        let findings: Vec<Reported> = findings
            .into_iter()
            .map(|finding| {
                let status = status(&finding, &usable);
                let level = crate::compare::level(&finding, config);
                Reported { key: finding.key(), finding, level, status }
            })
            .collect();
        // A record about something that this change does touch, but with other texts.
        for (file, approval, _) in &usable {
            let covers = |r: &Reported| approval.covers(&r.finding);
            let about = |r: &Reported| {
                let open = !matches!(r.status, Status::Approved { .. });
                open && r.finding.object == approval.object
            };
            if !findings.iter().any(covers) && findings.iter().any(about) {
                let refusal = crate::approval::Refusal::Stale(approval.object.clone());
                records.push(Unused { record: file.clone(), why: refusal.to_string() });
            }
        }
        Report {
            version: 1,
            base: pair.base.clone(),
            head: pair.head.clone(),
            files: files.len(),
            findings,
            records,
            notes: pair.notes.clone(),
        }
    }

    /// How it ends.
    pub fn outcome(&self) -> Outcome {
        let one = |reported: &Reported| {
            if matches!(reported.status, Status::Approved { .. }) {
                return Outcome::Clean;
            }
            match (reported.finding.verdict, reported.level) {
                (Verdict::Stronger, _) | (_, Level::Off) => Outcome::Clean,
                (Verdict::Weaker, Level::Error) => Outcome::Weakened,
                _ => Outcome::Unclear,
            }
        };
        self.findings.iter().map(one).max().unwrap_or(Outcome::Clean)
    }

    /// Findings that nobody has approved, without those that ask for more.
    pub fn open(&self) -> impl Iterator<Item = &Reported> {
        self.findings.iter().filter(|reported| {
            reported.finding.verdict != Verdict::Stronger
                && !matches!(reported.status, Status::Approved { .. })
        })
    }

    /// How many findings have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings.iter().filter(|reported| reported.finding.verdict == verdict).count()
    }
}

fn status(finding: &Finding, records: &[(String, Approval, Option<String>)]) -> Status {
    let about = records.iter().filter(|(_, approval, _)| approval.covers(finding));
    let mut refused = Status::Open;
    for (file, approval, refusal) in about {
        match refusal {
            None => {
                return Status::Approved { by: approval.by.clone(), record: file.clone() };
            }
            Some(why) => {
                refused = Status::Refused { record: file.clone(), why: why.clone() };
            }
        }
    }
    refused
}
