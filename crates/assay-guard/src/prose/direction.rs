//! Which way of a number is permissive.

use super::words::{Quantity, contains};

/// Words before a number that are looked at.
const BEFORE_MAX: usize = 4;

/// Words before a comparison in which a negation turns it around.
const NEGATION_MAX: usize = 7;

/// What a number is compared with, right before it, and whether more of it is permissive.
const COMPARED: &[(&str, bool)] = &[
    ("more than", false),
    ("greater than", false),
    ("larger than", false),
    ("bigger than", false),
    ("longer than", false),
    ("older than", false),
    ("higher than", false),
    ("above", false),
    ("over", false),
    ("at least", false),
    ("no less than", false),
    ("no fewer than", false),
    ("not less than", false),
    ("not fewer than", false),
    ("minimum of", false),
    ("less than", true),
    ("fewer than", true),
    ("smaller than", true),
    ("shorter than", true),
    ("lower than", true),
    ("below", true),
    ("under", true),
    ("within", true),
    ("at most", true),
    ("no more than", true),
    ("not more than", true),
    ("no longer than", true),
    ("no larger than", true),
    ("no greater than", true),
    ("maximum of", true),
    ("up to", true),
];

/// Words beside a number that is to be small.
const MORE: &[&str] = &[
    "within",
    "at most",
    "no more than",
    "not more than",
    "under",
    "less than",
    "below",
    "up to",
    "maximum",
    "max",
    "timeout",
    "latency",
    "fewer than",
    "lose",
    "loss",
    "downtime",
    "retries",
    "retry",
    "delay",
    "lag",
    "staleness",
    "before",
    "error rate",
    "p99",
    "p95",
    "exceed",
    "faster than",
    "not exceed",
    "drop",
    "drops",
    "tolerance",
    "in",
    "takes",
    "respond",
    "responds",
    "recovers",
    "failures",
    "errors",
    "warnings",
    "requests",
];

/// Words beside a number that is to be large.
const LESS: &[&str] = &[
    "at least",
    "no fewer than",
    "no less than",
    "minimum",
    "min",
    "keep",
    "keeps",
    "retain",
    "retains",
    "retained",
    "retention",
    "kept",
    "availability",
    "available",
    "coverage",
    "more than",
    "over",
    "survive",
    "survives",
    "tolerate",
    "tolerates",
    "throughput",
    "replicas",
    "copies",
    "uptime",
    "sustain",
    "sustains",
    "greater than",
    "above",
    "every",
    "support",
    "supports",
    "handle",
    "handles",
    "stored",
    "backups",
];

/// Which way of a number is permissive: more, less, or unknown.
pub fn permissive(words: &[String], quantity: &Quantity) -> Option<bool> {
    let text = &quantity.text;
    if text.starts_with(['<', '≤']) {
        return Some(true);
    }
    if text.starts_with(['>', '≥']) {
        return Some(false);
    }
    // The higher the percentile, the more of what is measured it speaks of.
    if quantity.kind == "percentile" {
        return Some(false);
    }
    let before = &words[quantity.at.saturating_sub(BEFORE_MAX)..quantity.at];
    let said = |list: &[String], any: &[&str]| any.iter().any(|word| contains(list, word));
    if said(before, &["tolerate", "tolerates", "survive", "survives", "withstand", "withstands"]) {
        return Some(false);
    }
    let after = &words[quantity.at..(quantity.at + 5).min(words.len())];
    // A load that is to be carried, unless it is a limit.
    let limit = ["at most", "no more than", "not more than", "limit", "exceed", "up to"];
    let load = ["per", "concurrent", "rps", "qps", "ops", "simultaneous"];
    if quantity.kind.is_empty() && said(after, &load) && !said(before, &limit) {
        return Some(false);
    }
    // How often: `every 30 days`.
    if before.last().is_some_and(|word| word == "every") {
        return Some(true);
    }
    if is_scope(&words[..quantity.at]) {
        return Some(false);
    }
    if let Some(up) = compared(&words[..quantity.at]) {
        return Some(up != is_condition(words, quantity.at));
    }
    // A share of all there is: `in 99 % of cases`.
    let bad =
        ["lose", "loses", "lost", "loss", "fail", "fails", "error", "errors", "drop", "drops"];
    if quantity.kind == "%" && said(after, &["of"]) && !said(words, &bad) {
        return Some(false);
    }
    let nearest = |list: &[&str]| list.iter().any(|word| contains(before, word));
    match (nearest(MORE), nearest(LESS)) {
        (true, false) => return Some(true),
        (false, true) => return Some(false),
        _ => {}
    }
    let anywhere = |list: &[&str]| list.iter().filter(|word| contains(words, word)).count();
    match (anywhere(MORE), anywhere(LESS)) {
        (0, 0) => None,
        (more, less) if more > less => Some(true),
        (more, less) if less > more => Some(false),
        _ => None,
    }
}

/// What is done to that which is too much: the more it takes, the less it is done.
const REFUSES: &[&str] = &[
    "reject", "rejects", "refuse", "refuses", "deny", "denies", "block", "blocks", "drop", "drops",
    "discard", "discards",
];

/// Words that open the condition under which something is asked for.
const OPENERS: &[&str] =
    &["if", "when", "whenever", "once", "that", "which", "who", "whose", "where"];

/// Whether a number says when something is due, and not what: `who waits more than 5 s must be
/// told`. The more it takes, the less often anything is asked for.
fn is_condition(words: &[String], at: usize) -> bool {
    let binding = |word: &String| {
        matches!(word.as_str(), "must" | "shall" | "should" | "may" | "will" | "cannot" | "never")
    };
    let opened = words[..at].iter().any(|word| OPENERS.contains(&word.as_str()));
    // `at most` and the like say what is asked for, wherever they stand.
    let compares = words[..at]
        .last()
        .is_some_and(|word| matches!(word.as_str(), "than" | "above" | "over" | "below" | "under"));
    // `must stop when it waits more than 5 s`: the condition follows what is asked for.
    let late = words[..at].iter().rposition(binding).is_some_and(|modal| {
        let between = &words[modal..at];
        let refuses = |word: &String| REFUSES.contains(&word.as_str());
        let near = &words[at.saturating_sub(NEGATION_MAX + 2)..at];
        between.iter().any(|w| matches!(w.as_str(), "if" | "when" | "whenever" | "once"))
            && !near.iter().any(refuses)
    });
    if late && compares {
        return true;
    }
    // A word at the end, as in the last cell of a row, binds nothing that follows.
    let bound = words[at..].windows(2).any(|pair| binding(&pair[0]));
    opened && compares && !words[..at].iter().any(binding) && bound
}

/// `of uploads up to 10 MiB`: how far a promise reaches; the more, the more is promised.
fn is_scope(before: &[String]) -> bool {
    let [.., of, _, up, to] = before else { return false };
    matches!(of.as_str(), "of" | "for") && up == "up" && to == "to"
}

/// What the words right before a number compare with: `no more than`, `must not be larger than`.
/// Nothing if they compare with nothing.
fn compared(before: &[String]) -> Option<bool> {
    let ends = |phrase: &&(&str, bool)| {
        let parts: Vec<&str> = phrase.0.split(' ').collect();
        let start = before.len().checked_sub(parts.len());
        start.is_some_and(|start| before[start..].iter().zip(&parts).all(|(a, b)| a == b))
    };
    let (phrase, up) = COMPARED.iter().filter(ends).max_by_key(|(phrase, _)| phrase.len())?;
    let start = before.len() - phrase.split(' ').count();
    let near = &before[start.saturating_sub(NEGATION_MAX)..start];
    let negated = near.iter().any(|word| {
        matches!(word.as_str(), "not" | "never" | "no" | "cannot" | "nor")
            || word.ends_with("n't")
            || REFUSES.contains(&word.as_str())
    });
    Some(*up != negated)
}
