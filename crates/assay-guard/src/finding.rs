//! What was found: which rule, about which object, in which direction, and where.

use crate::rules::RuleId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// In which direction a change goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Less is asked for than before.
    Weaker,
    /// Something that usually makes checks easier to pass; a person has to look.
    Suspect,
    /// Different, and no order could be shown.
    Changed,
    /// More is asked for. Never in the way.
    Stronger,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Weaker => "weaker",
            Verdict::Suspect => "suspect",
            Verdict::Changed => "changed",
            Verdict::Stronger => "stronger",
        })
    }
}

/// A place in one of the two trees, with what stands there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Place {
    /// The path of the file, with slashes.
    pub file: String,
    /// The line, from one.
    pub line: usize,
    /// What stands there, shortened.
    pub snippet: String,
}

/// The longest snippet, in characters.
const SNIPPET_CHARS_MAX: usize = 240;

impl Place {
    /// A place; the text is shortened and brought to one line where it is long.
    pub fn new(file: &str, line: usize, text: &str) -> Place {
        let mut snippet: String = text.trim().chars().take(SNIPPET_CHARS_MAX).collect();
        if text.trim().chars().count() > SNIPPET_CHARS_MAX {
            snippet.push('…');
        }
        Place { file: file.to_string(), line, snippet }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: RuleId,
    /// What it is about: `Bank!BK1_NonNegative`, `tests/a.py::test_b`, `AC-2`.
    pub object: String,
    /// In which direction.
    pub verdict: Verdict,
    /// Where it was, if it was.
    pub old: Option<Place>,
    /// Where it is, if it is.
    pub new: Option<Place>,
    /// Why, in one sentence.
    pub reason: String,
    /// The hash of the old text; of nothing if there was none.
    pub old_hash: String,
    /// The hash of the new text.
    pub new_hash: String,
}

impl Finding {
    /// A short name that stays the same as long as rule, object and both texts do.
    pub fn key(&self) -> String {
        let both = format!("{}\n{}\n{}\n{}", self.rule, self.object, self.old_hash, self.new_hash);
        format!("{}-{}", self.rule, &hash(&both)[..8])
    }

    /// The place to show: where it is, else where it was.
    pub fn place(&self) -> Option<&Place> {
        self.new.as_ref().or(self.old.as_ref())
    }
}

/// One side of a finding: a place and the whole text it is about.
#[derive(Clone, Copy, Debug)]
pub struct Side<'t> {
    /// The file.
    pub file: &'t str,
    /// The line, from one.
    pub line: usize,
    /// The whole text, as it is hashed.
    pub text: &'t str,
}

/// A finding in the making.
pub fn finding(
    rule: RuleId,
    object: impl Into<String>,
    verdict: Verdict,
    (old, new): (Option<Side<'_>>, Option<Side<'_>>),
    reason: impl Into<String>,
) -> Finding {
    let place = |side: Option<Side<'_>>| side.map(|s| Place::new(s.file, s.line, s.text));
    Finding {
        rule,
        object: object.into(),
        verdict,
        old: place(old),
        new: place(new),
        reason: reason.into(),
        old_hash: hash(old.map_or("", |side| side.text)),
        new_hash: hash(new.map_or("", |side| side.text)),
    }
}

/// A hash of a text that does not see how it is broken into lines or indented.
pub fn hash(text: &str) -> String {
    let mut digest = Sha256::new();
    for (at, word) in text.split_whitespace().enumerate() {
        if at > 0 {
            digest.update(b" ");
        }
        digest.update(word.as_bytes());
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
