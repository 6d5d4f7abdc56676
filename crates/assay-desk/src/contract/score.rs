//! The law against ambiguity (IL-2): what a criterion's words can earn at most.
//!
//! Six dimensions, each 0 to 2. A program cannot tell that a sentence is good, but it can tell
//! that it is not: no number, a vague word, a name of a function. So every dimension has a cap, and
//! a score from elsewhere ([`lower`]) can only take away. Below 6 a criterion is refused, from 6
//! to 9 it is a warning.

use super::types::{Contract, Criterion};
use super::words::{ACTORS, SQL, STACK, VAGUE};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The six dimensions, in the order of a score.
pub const DIMENSIONS: [&str; 6] =
    ["single", "domain", "stakeholder", "portable", "concrete", "independent"];
/// The most that a criterion gets in one dimension.
pub const POINTS_MAX: u8 = 2;
const REJECT_BELOW: u8 = 6;
const WARN_BELOW: u8 = 10;

/// A criterion's score and why points are missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Score {
    /// `US-001/AC-1`.
    pub criterion: String,
    /// One number for each of [`DIMENSIONS`].
    pub points: [u8; 6],
    /// Why points are missing, one sentence for each cap that bit.
    pub why: Vec<String>,
    /// The line of the criterion.
    pub line: usize,
}

/// What a score means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Band {
    /// Below 6: not to be run.
    Reject,
    /// 6 to 9: runs, but should be sharpened.
    Warn,
    /// 10 to 12.
    Pass,
}

impl Score {
    /// The sum, at most 12.
    pub fn total(&self) -> u8 {
        self.points.iter().sum()
    }

    /// What it means.
    pub fn band(&self) -> Band {
        match self.total() {
            total if total < REJECT_BELOW => Band::Reject,
            total if total < WARN_BELOW => Band::Warn,
            _ => Band::Pass,
        }
    }
}

/// The caps of every criterion.
pub fn scores(contract: &Contract) -> Vec<Score> {
    let mut all = Vec::new();
    for story in &contract.stories {
        for criterion in &story.criteria {
            all.push(score(&story.id, criterion));
        }
    }
    all
}

/// Takes the smaller of two numbers wherever somebody else gave one.
pub fn lower(scores: &mut [Score], given: &BTreeMap<String, [u8; 6]>) {
    for score in scores {
        let Some(points) = given.get(&score.criterion) else {
            continue;
        };
        for (i, point) in points.iter().enumerate() {
            if *point < score.points[i] {
                score.points[i] = *point;
                score.why.push(format!("{}: {point} was given by a reader", DIMENSIONS[i]));
            }
        }
    }
}

/// Keeps what readers took away before, of criteria whose words are the same.
pub fn keep(scores: &mut [Score], before: &[Score], same: impl Fn(&str) -> bool) {
    for score in scores {
        let old = before.iter().find(|old| old.criterion == score.criterion);
        let Some(old) = old.filter(|old| same(&old.criterion)) else {
            continue;
        };
        for (i, point) in old.points.iter().enumerate() {
            if *point < score.points[i] {
                score.points[i] = *point;
                let why = format!("{}: {point} was given by a reader before", DIMENSIONS[i]);
                score.why.push(why);
            }
        }
    }
}

/// Why scores cannot be those of a contract: one is missing, or says more than its words can earn.
pub fn beyond(contract: &Contract, recorded: &[Score]) -> Option<String> {
    for cap in scores(contract) {
        let Some(own) = recorded.iter().find(|score| score.criterion == cap.criterion) else {
            return Some(format!("{} has no points", cap.criterion));
        };
        if own.points.iter().zip(cap.points).any(|(point, cap)| *point > cap) {
            return Some(format!("{} has more points than its words can earn", cap.criterion));
        }
    }
    None
}

fn score(story: &str, criterion: &Criterion) -> Score {
    let text = criterion.text();
    let words = words(&text);
    let has = |list: &'static [&'static str]| {
        list.iter().find(|word| contains(&text, &words, word)).copied()
    };
    let then = criterion.then.join(" ");
    let mut caps = Caps { points: [POINTS_MAX; 6], why: Vec::new() };
    if criterion.when.len() > 1 || criterion.then.len() > 1 {
        caps.at_most(0, 1, "more than one When or Then".to_string());
    } else if then.contains(" and ") || criterion.when.join(" ").contains(" and ") {
        caps.at_most(0, 1, "`and` joins two behaviours".to_string());
    }
    if criterion.when.is_empty() || criterion.then.is_empty() {
        caps.at_most(0, 0, "no When or no Then".to_string());
    }
    if let Some(name) = code_word(&text) {
        caps.at_most(1, 1, format!("`{name}` is a name from code"));
        caps.at_most(3, 1, format!("`{name}` ties it to one program"));
    }
    if let Some(word) = has(&SQL) {
        caps.at_most(1, 1, format!("`{word}` is a word of a query language"));
    }
    if let Some(word) = has(&STACK) {
        caps.at_most(1, 1, format!("`{word}` is a technical word"));
        caps.at_most(3, 1, format!("`{word}` ties it to a stack"));
    }
    if has(&ACTORS).is_none() {
        caps.at_most(2, 1, "nobody is named who gains by it".to_string());
    }
    if !then.chars().any(|c| c.is_ascii_digit()) && !then.contains(['"', '`', '“']) {
        caps.at_most(4, 1, "no number and no quoted value in Then".to_string());
    }
    if let Some(word) = has(&VAGUE) {
        caps.at_most(4, 0, format!("`{word}` cannot be measured"));
    }
    if text.contains("AC-") || text.contains("US-") {
        caps.at_most(5, 0, "it refers to another criterion or story".to_string());
    }
    let criterion_id = format!("{story}/{}", criterion.id);
    Score { criterion: criterion_id, points: caps.points, why: caps.why, line: criterion.line }
}

struct Caps {
    points: [u8; 6],
    why: Vec<String>,
}

impl Caps {
    fn at_most(&mut self, dimension: usize, cap: u8, why: String) {
        if self.points[dimension] > cap {
            self.points[dimension] = cap;
            self.why.push(format!("{} at most {cap}: {why}", DIMENSIONS[dimension]));
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric() && c != '-');
    split.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn contains(text: &str, words: &[String], word: &str) -> bool {
    if word.contains(' ') {
        return text.to_lowercase().contains(word);
    }
    // Plural and singular are the same person, and the same technique.
    words.iter().any(|w| w == word || w.strip_suffix('s') == Some(word))
}

/// A word that only code has: `snake_case`, `camelCase`, `call()`, `a::b` or a path.
fn code_word(text: &str) -> Option<&str> {
    text.split_whitespace().map(|word| word.trim_matches(['.', ',', '`', ';', ':'])).find(|word| {
        let inner = word.trim_matches('_');
        let snake = inner.contains('_') && !inner.contains(char::is_whitespace);
        let mut pairs = inner.chars().zip(inner.chars().skip(1));
        let camel = pairs.any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
        let path = inner.contains('/') && inner.chars().any(char::is_alphabetic);
        snake || camel || path || inner.contains("()") || inner.contains("::")
    })
}

#[cfg(test)]
mod tests {
    use super::{Band, score};
    use crate::contract::Criterion;

    fn check(given: &str, when: &str, then: &str, points: [u8; 6], band: Band) {
        let criterion = Criterion {
            id: "AC-1".into(),
            given: vec![given.into()],
            when: vec![when.into()],
            then: vec![then.into()],
            line: 1,
        };
        let score = score("US-001", &criterion);
        assert_eq!(score.points, points, "{score:?}");
        assert_eq!(score.band(), band, "{score:?}");
    }

    #[test]
    fn words_cap_what_a_criterion_can_earn() {
        let basket = "a basket with two pears at 1.50";
        check(basket, "a shopper asks", "the total is 3.00", [2; 6], Band::Pass);
        check("a user", "it logs in", "it works correctly", [2, 2, 2, 2, 0, 2], Band::Pass);
        check("", "it runs", "it works", [2, 2, 1, 2, 0, 2], Band::Warn);
        check(
            "the result of AC-2",
            "total_of(basket) is called and the table is read",
            "everything works properly",
            [1, 1, 1, 1, 0, 0],
            Band::Reject,
        );
        check(basket, "a shopper calls totalOf", "it is 3", [2, 1, 2, 1, 2, 2], Band::Pass);
    }
}
