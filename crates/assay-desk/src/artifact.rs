//! What agents hand in: a Worker's signal, a Verifier's verdict. Schemas, and nothing believed.
//!
//! Every dispatch has a nonce and a drop box of its own. What lies in the box must say the nonce,
//! name the story it was sent for, and have exactly the fields below: an unknown field, a missing
//! one or half a file is a rejected artifact, never a guess. A verdict has no word for "pass":
//! whether it is one is computed from its criteria, its issues and its evidence.

use crate::contract::MappedTest;
use crate::gate::{Finding, Severity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Larger artifacts are refused, in bytes. An event holds one, spelled out, beside other things,
/// and has at most 1 MiB.
pub const ARTIFACT_BYTES_MAX: usize = 256 << 10;
/// Tests that one signal may map to criteria.
pub const MAPPED_TESTS_MAX: usize = 500;
/// Notes for the next Worker are cut to this.
pub const NOTES_BYTES_MAX: usize = 8 << 10;

/// What a Worker says at its end: `signal.json` in its drop box.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// The nonce of the dispatch.
    pub nonce: String,
    /// The story of the dispatch.
    pub story: String,
    /// What comes next.
    pub status: Status,
    /// The commit that is claimed; for `verify` it must be there.
    #[serde(default)]
    pub commit: Option<String>,
    /// Issues of the fix contract that are resolved.
    #[serde(default)]
    pub resolves: Vec<String>,
    /// Tests that speak for criteria, besides those of the contract.
    #[serde(default)]
    pub tests: Vec<MappedTest>,
    /// For `blocked`: what is in the way.
    #[serde(default)]
    pub reason: Option<String>,
    /// For the next Worker; nobody else reads it.
    #[serde(default)]
    pub notes: Option<String>,
}

/// What a Worker wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// To go on with the same story.
    Continue,
    /// To be checked.
    Verify,
    /// To stop: something is in the way.
    Blocked,
}

/// What a Verifier says: `verdict.json` in its drop box.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The nonce of the dispatch.
    pub nonce: String,
    /// The story of the dispatch, or `ALL`.
    pub story: String,
    /// Every criterion of the dispatch, each once.
    pub criteria: Vec<CriterionVerdict>,
    /// What is wrong.
    #[serde(default)]
    pub issues: Vec<ReportedIssue>,
    /// What a person must answer first.
    #[serde(default)]
    pub question: Option<String>,
}

/// One criterion of a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CriterionVerdict {
    /// `US-001/AC-1`.
    pub criterion: String,
    /// Whether it is met.
    pub met: bool,
    /// The commands that show it.
    pub evidence: Vec<Citation>,
}

/// A command that a Verifier says it ran, and what came of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// Program and arguments.
    pub command: Vec<String>,
    /// The exit code it had.
    pub exit_code: i32,
    /// How many tests passed, if it runs tests.
    #[serde(default)]
    pub passed: Option<u64>,
    /// How many failed.
    #[serde(default)]
    pub failed: Option<u64>,
}

/// A problem a Verifier found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedIssue {
    /// `US-001/AC-1`.
    pub criterion: String,
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub text: String,
    /// Advice that binds nobody.
    #[serde(default)]
    pub hint: Option<String>,
}

/// What was in a drop box.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "artifact", content = "content", rename_all = "kebab-case")]
pub enum Artifact {
    /// A signal that fits its dispatch.
    Signal(Signal),
    /// A verdict that fits its dispatch.
    Verdict(Verdict),
    /// Nothing.
    Missing,
    /// Something that does not fit, and why.
    Rejected(String),
}

/// Reads a Worker's signal; `issues` are those of the fix contract it was given.
pub fn signal(bytes: Option<&[u8]>, nonce: &str, story: &str, issues: &[String]) -> Artifact {
    let signal: Signal = match parse(bytes, "signal.json") {
        Ok(signal) => signal,
        Err(unread) => return unread.into(),
    };
    let wrong = addressed(&signal.nonce, nonce, &signal.story, story).or_else(|| {
        let unknown = signal.resolves.iter().find(|id| !issues.contains(id));
        let unknown =
            unknown.map(|id| format!("it resolves {}, which is no open issue", clipped(id)));
        let mapped = signal.tests.len();
        let many = (mapped > MAPPED_TESTS_MAX)
            .then(|| format!("it maps {mapped} tests, and at most {MAPPED_TESTS_MAX} can be"));
        let blocked = signal.status == Status::Blocked
            && signal.reason.as_deref().unwrap_or("").trim().is_empty();
        let commit = signal.status == Status::Verify && signal.commit.is_none();
        let hash = signal.commit.as_deref().filter(|commit| !is_commit(commit));
        unknown
            .or(many)
            .or(blocked.then(|| "it is blocked and gives no reason".to_string()))
            .or(commit.then(|| "it wants to be verified and names no commit".to_string()))
            .or(hash.map(|commit| format!("`{}` is no commit hash", clipped(commit))))
    });
    wrong.map_or(Artifact::Signal(signal), Artifact::Rejected)
}

/// Reads a Verifier's verdict about the given criteria.
pub fn verdict(bytes: Option<&[u8]>, nonce: &str, story: &str, criteria: &[String]) -> Artifact {
    let verdict: Verdict = match parse(bytes, "verdict.json") {
        Ok(verdict) => verdict,
        Err(unread) => return unread.into(),
    };
    let wrong = addressed(&verdict.nonce, nonce, &verdict.story, story).or_else(|| {
        let given: BTreeSet<&str> = verdict.criteria.iter().map(|c| c.criterion.as_str()).collect();
        let wanted: BTreeSet<&str> = criteria.iter().map(String::as_str).collect();
        let missing = wanted.difference(&given).next();
        let foreign = given.difference(&wanted).next();
        let twice = given.len() != verdict.criteria.len();
        missing
            .map(|id| format!("it says nothing about {id}"))
            .or(foreign.map(|id| format!("{} was not asked for", clipped(id))))
            .or(twice.then(|| "it names a criterion twice".to_string()))
    });
    wrong.map_or(Artifact::Verdict(verdict), Artifact::Rejected)
}

/// Why a file is no artifact.
enum Unread {
    Missing,
    Wrong(String),
}

impl From<Unread> for Artifact {
    fn from(unread: Unread) -> Artifact {
        match unread {
            Unread::Missing => Artifact::Missing,
            Unread::Wrong(why) => Artifact::Rejected(why),
        }
    }
}

fn parse<T: serde::de::DeserializeOwned>(bytes: Option<&[u8]>, name: &str) -> Result<T, Unread> {
    let bytes = bytes.ok_or(Unread::Missing)?;
    if bytes.len() > ARTIFACT_BYTES_MAX {
        return Err(Unread::Wrong(format!("{name} is larger than {ARTIFACT_BYTES_MAX} bytes")));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Unread::Wrong(format!("{name}: {}", clipped(&error.to_string()))))
}

fn addressed(nonce: &str, own_nonce: &str, story: &str, own_story: &str) -> Option<String> {
    if nonce != own_nonce {
        return Some("its nonce is not that of this dispatch".to_string());
    }
    (story != own_story).then(|| format!("it is about {}, not {own_story}", clipped(story)))
}

fn is_commit(text: &str) -> bool {
    (text.len() == 40 || text.len() == 64) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn clipped(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// What a verdict says, before anything it cites was run again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// Everything is met; this is to be run again.
    Met(BTreeSet<Citation>),
    /// Something is not.
    Unmet(Vec<Finding>),
    /// It says that something is met and shows nothing for it.
    Unsupported(String),
    /// It asks.
    Question(String),
}

/// What a verdict says. Unmet criteria and serious issues count whatever else it says.
pub fn said(verdict: &Verdict) -> Said {
    let mut findings: Vec<Finding> = Vec::new();
    for issue in &verdict.issues {
        let mut finding = Finding::new(&issue.criterion, issue.severity, clipped(&issue.text));
        finding.hint = issue.hint.as_deref().map(clipped);
        findings.push(finding);
    }
    for criterion in verdict.criteria.iter().filter(|criterion| !criterion.met) {
        if !findings.iter().any(|f| f.about == criterion.criterion && f.blocks()) {
            let text = "the Verifier says that it is not met";
            findings.push(Finding::new(&criterion.criterion, Severity::Major, text));
        }
    }
    if findings.iter().any(Finding::blocks) {
        return Said::Unmet(findings);
    }
    if let Some(question) = verdict.question.as_deref().filter(|q| !q.trim().is_empty()) {
        return Said::Question(clipped(question));
    }
    match verdict.criteria.iter().find(|criterion| criterion.evidence.is_empty()) {
        Some(empty) => Said::Unsupported(format!("IL-1: no evidence for {}", empty.criterion)),
        None => {
            let all = verdict.criteria.iter().flat_map(|criterion| criterion.evidence.clone());
            Said::Met(all.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"nonce":"n","story":"US-001","criteria":[{"criterion":"US-001/AC-1",
        "met":true,"evidence":[{"command":["true"],"exit_code":0}]}]}"#;

    #[test]
    fn verdicts_that_do_not_fit_their_dispatch_are_rejected() {
        let read = |text: &str| {
            verdict(Some(text.as_bytes()), "n", "US-001", &["US-001/AC-1".to_string()])
        };
        assert!(matches!(read(GOOD), Artifact::Verdict(_)), "{:?}", read(GOOD));
        for (from, to, why) in [
            (r#""nonce":"n""#, r#""nonce":"m""#, "nonce"),
            (r#""story":"US-001""#, r#""story":"US-002""#, "it is about US-002"),
            (r#"US-001/AC-1"#, r#"US-001/AC-2"#, "nothing about US-001/AC-1"),
            (r#""met":true,"#, "", "missing field `met`"),
            (r#""met":true"#, r#""met":true,"verdict":"pass""#, "unknown field"),
            ("]}]}", "", "EOF"),
            (GOOD, "{}", "missing field"),
        ] {
            match read(&GOOD.replacen(from, to, 1)) {
                Artifact::Rejected(reason) => assert!(reason.contains(why), "{reason}"),
                other => panic!("{to}: {other:?}"),
            }
        }
        assert_eq!(verdict(None, "n", "US-001", &[]), Artifact::Missing);
    }

    #[test]
    fn a_verdict_passes_only_with_everything_met_and_shown() {
        let parse = |text: &str| serde_json::from_str::<Verdict>(text).expect("a verdict");
        assert!(matches!(said(&parse(GOOD)), Said::Met(cited) if cited.len() == 1));
        let unmet = GOOD.replace("true,", "false,");
        assert!(matches!(said(&parse(&unmet)), Said::Unmet(_)));
        let bare = GOOD.replace(r#"{"command":["true"],"exit_code":0}"#, "");
        assert!(matches!(said(&parse(&bare)), Said::Unsupported(_)));
        let issue = r#""issues":[{"criterion":"US-001/AC-1","severity":"critical","text":"no"}]}"#;
        let serious = format!("{},{issue}", &GOOD[..GOOD.len() - 1]);
        assert!(matches!(said(&parse(&serious)), Said::Unmet(_)));
    }

    #[test]
    fn signals_that_do_not_fit_their_dispatch_are_rejected() {
        let commit = "a".repeat(40);
        let good = format!(
            r#"{{"nonce":"n","story":"US-001","resolves":[],"commit":"{commit}",
                "status":"verify"}}"#
        );
        let read = |text: &str| signal(Some(text.as_bytes()), "n", "US-001", &["I1.1".into()]);
        assert!(matches!(read(&good), Artifact::Signal(_)));
        for (from, to, why) in [
            ("\"n\"", "\"\"", "nonce"),
            ("US-001", "ALL", "it is about ALL"),
            ("[]", "[\"I9.9\"]", "I9.9"),
            (commit.as_str(), "HEAD", "no commit hash"),
            ("\"verify\"", "\"COMPLETE\"", "unknown variant"),
            ("\"verify\"", "\"blocked\"", "no reason"),
        ] {
            match read(&good.replacen(from, to, 1)) {
                Artifact::Rejected(reason) => assert!(reason.contains(why), "{reason}"),
                other => panic!("{to}: {other:?}"),
            }
        }
    }
}
