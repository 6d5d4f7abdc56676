//! What a program can tell about a sentence: is there a checker in it, a limit, an observation, a
//! promise? Lists of words, kept in one place, so that a false alarm is mended by a line.

use crate::models::checker_names;
use std::sync::LazyLock;

/// Words that stand for a checker or a comparison that a machine can make.
#[rustfmt::skip]
const CHECKS: [&str; 32] = [
    "linearizab", "serializab", "elle", "porcupine", "knossos", "isolation anomal", "invariant",
    "replay equivalence", "replay-equivalence", "no-lost-ack", "no lost ack", "exactly-once",
    "exactly once", "at-least-once", "at-most-once", "monotonic", "read-your-writes",
    "session consistency", "session-consistency", "prefix", "reconcil", "pairwise", "byte for byte",
    "identical", "equals", "equal to", "checksum", "differential", "exclusion", "assert",
    "bootstrap", "fairness checker",
];

/// Words that stand for somebody looking at something.
#[rustfmt::skip]
const VAGUE: [&str; 22] = [
    "look fine", "looks fine", "look good", "looks good", "look ok", "looks ok", "look clean",
    "as expected", "no error", "no leak", "no unauthori", "works", "healthy", "seems", "no issue",
    "nothing unusual", "stable", "manual", "eyeball", "inspect", "no problem", "recovers",
];

/// The injector's word.
#[rustfmt::skip]
const INJECTOR_WORD: [&str; 16] = [
    "returned 0", "returns 0", "exit 0", "exit code 0", "exits 0", "exited 0", "succeed",
    "success", "injector says", "injector ok", "enabled", "applied", "no error", "was injected",
    "command ran", "accepted",
];

/// Things that can be observed of a fault.
#[rustfmt::skip]
const OBSERVABLE: [&str; 30] = [
    "counter", "timeout", "timed out", "log line", "log marker", "log shows", "lines in", "metric",
    "gap", "latency", "histogram", "dropped", "drops", "election", "elected", "leader change",
    "packets", "bytes", "process id", "pid", "refused", "reset", "throughput", "checksum fail",
    "restart", "state t", "rate jump", "error rate", "rises", "heartbeat",
];

fn has_any<'w>(text: &str, words: &[&'w str]) -> Option<&'w str> {
    words.iter().find(|word| text.contains(**word)).copied()
}

/// Whether a machine could decide what an oracle says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strength {
    /// It names a checker, a comparison or a limit.
    Checkable,
    /// It names nothing of the kind; the phrase that gives it away, if there is one.
    Vague(Option<&'static str>),
}

/// How strong the sentence of an oracle is.
pub fn oracle(text: &str) -> Strength {
    let lower = text.to_lowercase();
    let named = !checkers_in(&lower).is_empty() || has_any(&lower, &CHECKS).is_some();
    if named || has_limit(&lower) {
        return Strength::Checkable;
    }
    Strength::Vague(has_any(&lower, &VAGUE))
}

/// A number with a limit: `<= 5`, `at most 3`, `0 anomalies`, `within 10 s`.
pub fn has_limit(lower: &str) -> bool {
    let digit_after = |mark: &str| {
        lower.match_indices(mark).any(|(at, _)| {
            let rest = lower[at + mark.len()..].trim_start();
            rest.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let marks = ["<", ">", "<=", ">=", "=", "==", "≤", "≥", "at most", "at least", "no more than"];
    let more = ["within", "below", "under", "above", "less than", "more than", "exactly"];
    let counted = ["0 ", "zero "].iter().any(|zero| {
        lower.match_indices(zero).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '.')
                && lower[at + zero.len()..].starts_with(|c: char| c.is_alphabetic())
        })
    });
    marks.iter().chain(&more).any(|mark| digit_after(mark)) || counted
}

/// Why landing evidence is none, or nothing if it is.
pub fn landing_fault(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    // What stands before the first separator names the fault, not its evidence.
    let cut = [";", "—", "–", ":", ", "].iter().filter_map(|mark| Some((lower.find(mark)?, mark)));
    let lower = cut.min().map_or(lower.as_str(), |(at, mark)| &lower[at + mark.len()..]);
    if has_any(lower, &OBSERVABLE).is_some() {
        return None;
    }
    Some(match has_any(lower, &INJECTOR_WORD) {
        Some(word) => format!("`{word}` is what the injector says about itself"),
        None => "no signal is named that somebody could observe".to_string(),
    })
}

/// Checkers that are named as words of their own.
pub fn checkers_in(lower: &str) -> Vec<&'static str> {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(checker_names);
    // These are also plain English: they count only with their full name in a block.
    const ENGLISH: [&str; 9] =
        ["order", "set", "queue", "log", "bank", "lock", "lease", "ledger", "property"];
    let inside = |c: char| c.is_alphanumeric() || c == '-' || c == ':' || c == '_';
    let is_word = |name: &str| {
        lower.match_indices(name).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let after = lower[at + name.len()..].chars().next();
            !before.is_some_and(inside) && !after.is_some_and(inside)
        })
    };
    NAMES
        .iter()
        .map(String::as_str)
        .filter(|name| !ENGLISH.contains(name) && is_word(name))
        .collect()
}

/// A number and the words after it, up to the next number or separator.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// The number.
    pub number: f64,
    /// What it counts, in lower case.
    pub words: Vec<String>,
}

/// All quantities of a sentence: `8 clients`, `60s`, `5 nemesis windows`.
pub fn quantities(text: &str) -> Vec<Quantity> {
    let mut found: Vec<Quantity> = Vec::new();
    let mut open = false;
    for word in text.split(|c: char| c.is_whitespace() || c == '×' || c == ';') {
        let ends = word.ends_with([',', '.', ')']);
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%' && c != '/');
        let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
        let (number, rest) = word.split_at(digits.unwrap_or(word.len()));
        let number = number.trim_matches([',', '.']).replace(',', "").parse::<f64>();
        match number {
            Ok(number) => {
                let unit = rest.trim_start_matches('-').to_lowercase();
                let words = if unit.is_empty() { vec![] } else { vec![unit] };
                found.push(Quantity { number, words });
                open = true;
            }
            Err(_) if word.is_empty() || word.eq_ignore_ascii_case("x") => open = false,
            Err(_) => {
                if let (true, Some(last)) = (open, found.last_mut()) {
                    last.words.push(word.to_lowercase());
                }
            }
        }
        open &= !ends;
    }
    found
}

/// Promises that tests cannot make, with the byte where they stand.
pub fn absolutes(text: &str) -> Vec<(usize, &'static str)> {
    const WORDS: [&str; 14] = [
        "cannot",
        "can not",
        "can't",
        "can never",
        "never",
        "impossible",
        "guarantee",
        "will not",
        "won't",
        "always",
        "proves that",
        "proven",
        "bug-free",
        "no way",
    ];
    const ABOUT_KNOWING: [&str; 10] = [
        "conclude",
        "infer",
        "tell",
        "say",
        "see",
        "rule out",
        "be read",
        "be taken",
        "know",
        "be concluded",
    ];
    let lower = text.to_lowercase();
    let inside = |c: char| c.is_alphanumeric();
    let mut found: Vec<(usize, &'static str)> = Vec::new();
    for word in WORDS {
        for (at, _) in lower.match_indices(word) {
            let starts = !lower[..at].chars().next_back().is_some_and(inside);
            let rest = &lower[at + word.len()..];
            let ends = word == "guarantee" || !rest.starts_with(inside);
            let rest = rest.trim_start();
            if starts && ends && !ABOUT_KNOWING.iter().any(|verb| rest.starts_with(verb)) {
                found.push((at, word));
            }
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(at, _)| *at);
    found
}

/// How many sentences there are.
pub fn sentences(text: &str) -> usize {
    let words: Vec<&str> = text.split_whitespace().collect();
    let ends = |word: &&&str| {
        let bare = word.trim_end_matches(['"', '\'', ')', '*', '`', '”']);
        let short = ["e.g.", "i.e.", "etc.", "vs.", "cf.", "approx."].contains(&bare);
        bare.ends_with(['.', '!', '?']) && !short
    };
    let count = words.iter().filter(ends).count();
    let open = words.last().is_some_and(|last| !ends(&last));
    count + usize::from(open)
}

#[cfg(test)]
mod tests {
    use super::{Strength, absolutes, landing_fault, oracle, quantities, sentences};

    #[test]
    fn oracles_are_checkable_or_vague() {
        for (text, checkable) in [
            ("logs look fine", false),
            ("no leaks", false),
            ("the system behaves", false),
            ("linearizability:register over all keys", true),
            ("Elle finds no anomaly", true),
            ("p99 <= 200 ms in every 10 s window", true),
            ("0 rows of other tenants", true),
            ("version 1.0 works", false),
            ("both dumps are identical", true),
        ] {
            assert_eq!(oracle(text) == Strength::Checkable, checkable, "{text}");
        }
        assert_eq!(oracle("Logs look fine"), Strength::Vague(Some("look fine")));
    }

    #[test]
    fn landing_evidence_is_an_observation() {
        assert!(landing_fault("injector returned 0").is_some_and(|why| why.contains("returned 0")));
        assert!(landing_fault("the partition happens").is_some());
        assert_eq!(landing_fault("drop counter rises and a leader-lost log line within 2 s"), None);
    }

    #[test]
    fn quantities_are_numbers_with_their_words() {
        let found = quantities("8 clients at 1,000 ops/s for 60s x 5 nemesis windows");
        let shown: Vec<String> =
            found.iter().map(|q| format!("{} {}", q.number, q.words.join(" "))).collect();
        assert_eq!(shown, ["8 clients at", "1000 ops/s for", "60 s", "5 nemesis windows"]);
    }

    #[test]
    fn promises_are_found_and_warnings_to_the_reader_are_not() {
        assert_eq!(absolutes("It cannot lose data.").len(), 1);
        assert_eq!(absolutes("You cannot conclude that it scales."), []);
        assert_eq!(absolutes("Nevertheless it works whenever asked"), []);
        assert_eq!(absolutes("It is impossible and can never happen").len(), 3);
    }

    #[test]
    fn sentences_are_counted() {
        for (text, count) in
            [("", 0), ("One.", 1), ("One, e.g. this. Two! \"Three.\" p99 is 0.5 s", 4)]
        {
            assert_eq!(sentences(text), count, "{text}");
        }
    }
}
