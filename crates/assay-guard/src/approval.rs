//! Approvals: a person's decision as a record, bound to both texts.
//!
//! A record approves one finding. It names the hashes of the old and of the new text, so any later
//! edit of either makes it worthless; and it quotes a person, so a plan that was waved through is
//! not a decision.

use crate::config::Config;
use crate::finding::{Finding, hash};
use serde::{Deserialize, Serialize};

/// Why a property was weakened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The old text was wrong.
    Bug,
    /// It asked for more than the design keeps.
    OverStrong,
    /// Nobody knows: no reason to approve.
    Unknown,
}

/// A record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Approval {
    /// The rule.
    pub rule: String,
    /// What it is about.
    pub object: String,
    /// The hash of the old text.
    pub old_hash: String,
    /// The hash of the new text.
    pub new_hash: String,
    /// The old text, for who reviews the record.
    #[serde(default)]
    pub old_text: String,
    /// The new text.
    #[serde(default)]
    pub new_text: String,
    /// Why it was weakened.
    pub cause: Cause,
    /// Why that is right.
    pub because: String,
    /// What the old text was meant to claim.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meant: String,
    /// A trace or run that shows it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trace: String,
    /// What takes its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced_by: Vec<String>,
    /// Who decided.
    pub by: String,
    /// When, as a date.
    pub date: String,
    /// What that person said, word for word.
    pub quote: String,
    /// Where it was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Why a record does not count.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// Not a record.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// No finding has these hashes any more.
    #[error(
        "is stale: {0} is not weakened from this old to this new text (any more); approve \
             what is there now, or delete the record"
    )]
    Stale(String),
    /// A program is no approver.
    #[error("is by {0}, which is an agent: a person has to decide")]
    Agent(String),
    /// The author approves the own change.
    #[error("is by {0}, an agent that made the change itself: somebody else has to decide")]
    Author(String),
    /// A plan is no person.
    #[error("quotes a plan ({0}) instead of a person: quote what somebody said, and where")]
    Plan(String),
    /// Nothing was said.
    #[error("has no {0}: say it")]
    Missing(&'static str),
    /// The cause is not known.
    #[error("says that the cause is unknown: find out first, an approval is not a shrug")]
    Unknown,
}

impl Approval {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Approval, Refusal> {
        toml_edit::de::from_str(text)
            .map_err(|error| Refusal::Unreadable(error.to_string().trim().replace('\n', " ")))
    }

    /// The record as it is written.
    pub fn to_toml(&self) -> String {
        let head = "# A decision: the guard accepts exactly this change, and no other.\n";
        format!("{head}{}", toml_edit::ser::to_string_pretty(self).unwrap_or_default())
    }

    /// Whether it is about a finding.
    pub fn covers(&self, finding: &Finding) -> bool {
        self.rule == finding.rule.0
            && self.object == finding.object
            && self.old_hash == finding.old_hash
            && self.new_hash == finding.new_hash
    }

    /// Why it does not count, whatever it is about.
    pub fn refusal(
        &self,
        authors: &[String],
        plans: &[(String, String)],
        config: &Config,
    ) -> Option<Refusal> {
        for (said, name) in
            [(&self.by, "approver"), (&self.because, "reason"), (&self.quote, "quote")]
        {
            if said.trim().is_empty() {
                return Some(Refusal::Missing(name));
            }
        }
        if self.cause == Cause::Unknown {
            return Some(Refusal::Unknown);
        }
        if is_agent(&self.by, config) {
            return Some(Refusal::Agent(self.by.clone()));
        }
        let own = authors.iter().find(|author| same_person(&self.by, author));
        if let Some(author) = own
            && is_agent(author, config)
        {
            return Some(Refusal::Author(self.by.clone()));
        }
        let source = self.source.to_lowercase();
        if source.contains("plan") || source.ends_with(".tla") {
            return Some(Refusal::Plan(self.source.clone()));
        }
        let quoted = hashable(&self.quote);
        let found = plans.iter().find(|(_, text)| hashable(text).contains(&quoted));
        found.map(|(path, _)| Refusal::Plan(path.clone()))
    }
}

fn hashable(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a name or address is that of a program.
pub fn is_agent(identity: &str, config: &Config) -> bool {
    let lower = identity.to_lowercase();
    config.agents.iter().any(|sign| {
        let sign = sign.to_lowercase();
        match sign.chars().all(char::is_alphanumeric) {
            // A word, not a part of one: Agenta is a person.
            true => lower
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| word == sign || word.strip_prefix(&*sign) == Some("ai")),
            false => lower.contains(&sign),
        }
    })
}

fn same_person(name: &str, author: &str) -> bool {
    let (name, author) = (name.to_lowercase(), author.to_lowercase());
    let address = author.split('<').nth(1).map(|rest| rest.trim_end_matches('>'));
    author == name
        || author.split('<').next().is_some_and(|own| own.trim() == name)
        || address.is_some_and(|address| name.contains(address) && !address.is_empty())
}

/// The name of the file of a record.
pub fn file_name(finding: &Finding) -> String {
    let object: String = finding
        .object
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let short: String = object.trim_matches('-').chars().rev().take(40).collect();
    let short: String = short.chars().rev().collect();
    let both = hash(&format!("{}{}", finding.old_hash, finding.new_hash));
    format!("{}-{}-{}.toml", finding.rule, short.trim_matches('-'), &both[..8])
}
