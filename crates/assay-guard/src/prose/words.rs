//! Words that make a sentence stronger or weaker.

/// Hedges, and openings for exceptions.
pub const HEDGES: &[&str] = &[
    "typically",
    "usually",
    "generally",
    "in general",
    "best effort",
    "best-effort",
    "where possible",
    "if possible",
    "when possible",
    "where feasible",
    "in most cases",
    "most of the time",
    "normally",
    "for now",
    "initially",
    "approximately",
    "roughly",
    "about",
    "rarely",
    "ideally",
    "as far as possible",
    "where practical",
    "practicable",
    "attempts to",
    "attempt to",
    "tries to",
    "try to",
    "aims to",
    "aim to",
    "strives to",
    "intends to",
    "often",
    "mostly",
    "almost",
    "nearly",
    "largely",
    "reasonable",
    "reasonably",
    "should be able to",
    "under normal conditions",
    "under normal circumstances",
    "in the common case",
    "eventually",
    "unless",
    "except",
    "other than",
    "apart from",
    "at the discretion",
    "as appropriate",
    "where appropriate",
    "when convenient",
    "may occasionally",
    "sometimes",
    "occasionally",
    "in practice",
    "subject to",
    "with high probability",
    "shortly",
    "soon",
    "minimal",
    "if needed",
    "as needed",
];

/// Absolutes, in groups of words that say the same.
pub const ABSOLUTES: &[&[&str]] = &[
    &[
        "never",
        "no",
        "none",
        "not any",
        "must not",
        "shall not",
        "cannot",
        "without any",
        "zero",
        "under no circumstances",
        "at no time",
        "nothing",
    ],
    &[
        "always",
        "every",
        "all",
        "each",
        "any",
        "entire",
        "whole",
        "at all times",
        "100%",
        "without exception",
        "around the clock",
        "24/7",
    ],
    &["majority", "quorum"],
    &["in order", "ordered", "in sequence", "same order"],
    &["exactly", "precisely", "exact"],
    &["only", "solely", "exclusively"],
    &["at most", "no more than", "not more than", "up to", "maximum"],
    &["at least", "no fewer than", "no less than", "minimum"],
    &["byte-identical", "byte-for-byte", "bit-identical"],
    &["atomic", "atomically", "all-or-nothing"],
    &["deterministic", "deterministically", "reproducible"],
    &["bounded", "finite"],
    &["immediately", "synchronously", "before acknowledging", "instantly"],
    &["durable", "durably", "persistent", "persistently"],
    &["linearizable", "linearizability", "strictly serializable", "serializable"],
    &["exactly once", "exactly-once", "idempotent"],
    &["guarantees", "guarantee", "guaranteed", "ensures", "ensure"],
    &["strictly", "strict"],
];

/// Words that say the opposite of each other.
pub const OPPOSITES: &[(&str, &str)] = &[
    ("before", "after"),
    ("increase", "decrease"),
    ("increases", "decreases"),
    ("enabled", "disabled"),
    ("allow", "deny"),
    ("allowed", "denied"),
    ("ascending", "descending"),
    ("with", "without"),
    ("first", "last"),
    ("inside", "outside"),
    ("include", "exclude"),
    ("includes", "excludes"),
];

/// Words that put something off.
pub const SCOPE: &[&str] = &[
    "out of scope",
    "out-of-scope",
    "follow-up",
    "follow up",
    "followup",
    "future work",
    "phase 2",
    "phase two",
    "later pr",
    "later release",
    "todo",
    "non-goal",
    "non-goals",
    "nongoal",
    "deferred",
    "postponed",
    "not in scope",
    "future release",
    "future version",
    "next release",
    "won't do",
    "backlog",
    "nice to have",
    "nice-to-have",
    "stretch goal",
    "not planned",
    "in a later",
    "in a future",
    "separate pr",
    "at a later",
    "tbd",
    "descoped",
];

/// How binding a sentence is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Modal {
    /// 3 must, 2 should, 1 may, 0 nothing.
    pub rank: u8,
    /// Whether it forbids.
    pub negative: bool,
}

/// Lower-case words of a text, without punctuation at their ends.
pub fn words(text: &str) -> Vec<String> {
    let text = with_whole_numbers(text);
    text.split(|c: char| c.is_whitespace() || matches!(c, '|' | ';' | '(' | ')' | ','))
        .map(|word| {
            let trimmed = word.trim_matches(|c: char| {
                matches!(c, '.' | ':' | '!' | '?' | '"' | '\'' | '“' | '”' | '’' | '–' | '—')
            });
            trimmed.to_lowercase()
        })
        .filter(|word| !word.is_empty() && word != "-")
        .collect()
}

/// `10,000` and `10 000` as `10000`.
fn with_whole_numbers(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut found = String::with_capacity(text.len());
    for (at, c) in chars.iter().enumerate() {
        let three = (1..=3).all(|next| digit(at + next)) && !digit(at + 4);
        let group = at > 0 && digit(at - 1) && three;
        // Blanks separate thousands only after a group that is not longer than one.
        let short = at < 4 || !(1..=4).all(|back| digit(at - back));
        let separates = match c {
            ',' | '\u{202f}' | '\u{a0}' => group,
            ' ' => group && short,
            _ => false,
        };
        if !separates {
            found.push(*c);
        }
    }
    found
}

/// Whether a phrase occurs in words, in order and together.
pub fn contains(words: &[String], phrase: &str) -> bool {
    count(words, phrase) > 0
}

/// How often a phrase occurs.
pub fn count(words: &[String], phrase: &str) -> usize {
    let parts: Vec<&str> = phrase.split(' ').collect();
    words
        .windows(parts.len())
        .filter(|window| window.iter().zip(&parts).all(|(word, part)| word == part))
        .count()
}

/// The most binding word of a sentence.
pub fn modal(words: &[String]) -> Modal {
    let mut best = Modal { rank: 0, negative: false };
    for (at, word) in words.iter().enumerate() {
        let rank = match word.as_str() {
            "must" | "shall" | "required" | "requires" | "mandatory" | "mustn't" | "has" => 3,
            "should" | "recommended" | "ought" | "shouldn't" | "preferably" => 2,
            "may" | "optional" | "optionally" | "can" | "could" | "might" => 1,
            _ => continue,
        };
        // "has to", and nothing else of "has".
        if word == "has" && words.get(at + 1).is_none_or(|next| next != "to") {
            continue;
        }
        let next = words.get(at + 1).map_or("", String::as_str);
        let negative = matches!(next, "not" | "never") || word.ends_with("n't");
        if rank > best.rank {
            best = Modal { rank, negative };
        }
    }
    let absolute = |word: &&str| contains(words, word);
    if best.rank == 0 {
        if ["never", "cannot", "under no circumstances"].iter().find(|w| absolute(w)).is_some() {
            return Modal { rank: 3, negative: true };
        }
        if ["always", "guarantees", "guaranteed"].iter().find(|w| absolute(w)).is_some() {
            return Modal { rank: 3, negative: false };
        }
        if contains(words, "will") {
            return Modal { rank: 3, negative: contains(words, "will not") };
        }
    }
    best
}

/// A number with its unit, in the base unit of its kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Quantity {
    /// The value in the base unit.
    pub value: f64,
    /// The kind of unit: `time`, `bytes`, `%`, `percentile`, or nothing.
    pub kind: &'static str,
    /// Where it is among the words.
    pub at: usize,
    /// As written.
    pub text: String,
}

fn unit(word: &str) -> Option<(f64, &'static str)> {
    Some(match word.trim_end_matches('.') {
        "ns" | "nanoseconds" | "nanosecond" => (1e-9, "time"),
        "us" | "µs" | "microseconds" => (1e-6, "time"),
        "ms" | "millisecond" | "milliseconds" | "msec" => (1e-3, "time"),
        "s" | "sec" | "secs" | "second" | "seconds" => (1.0, "time"),
        "min" | "mins" | "minute" | "minutes" => (60.0, "time"),
        "h" | "hr" | "hrs" | "hour" | "hours" => (3600.0, "time"),
        "d" | "day" | "days" => (86_400.0, "time"),
        "week" | "weeks" => (604_800.0, "time"),
        "month" | "months" => (2_592_000.0, "time"),
        "year" | "years" => (31_536_000.0, "time"),
        "b" | "byte" | "bytes" => (1.0, "bytes"),
        "kb" | "kib" => (1024.0, "bytes"),
        "mb" | "mib" => (1_048_576.0, "bytes"),
        "gb" | "gib" => (1_073_741_824.0, "bytes"),
        "tb" | "tib" => (1_099_511_627_776.0, "bytes"),
        "%" | "percent" => (1.0, "%"),
        _ => return None,
    })
}

const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// The words with numbers in one unit of their kind: `5 s` and `5000 ms` are the same.
pub fn in_one_unit(words: &[String]) -> Vec<String> {
    let quantities = quantities(words);
    let mut found = Vec::with_capacity(words.len());
    let mut skip = None;
    for (at, word) in words.iter().enumerate() {
        if skip == Some(at) {
            continue;
        }
        match quantities.iter().find(|quantity| quantity.at == at && !quantity.kind.is_empty()) {
            Some(quantity) => {
                let sign = word.chars().take_while(|c| !c.is_ascii_alphanumeric());
                let value = format!("{:e} {}", quantity.value, quantity.kind);
                found.push(sign.chain(value.chars()).collect());
                // The unit that stands alone after it is part of it.
                let alone = word.ends_with(|c: char| c.is_ascii_digit()) || unit(word).is_none();
                let next = words.get(at + 1).and_then(|next| unit(next));
                skip = (alone && next.is_some_and(|(_, kind)| kind == quantity.kind))
                    .then_some(at + 1);
            }
            None => match NUMBERS.iter().position(|name| name == word).filter(|n| *n > 1) {
                Some(value) => found.push(value.to_string()),
                None => found.push(word.clone()),
            },
        }
    }
    found
}

/// The percentile a word names: `p99`, `p99.9`.
fn percentile(word: &str, next: &str) -> Option<f64> {
    let spelled = word
        .strip_prefix('p')
        .or_else(|| word.strip_suffix("th").filter(|_| next.starts_with("percentile")));
    spelled?.parse().ok().filter(|value: &f64| (0.0..=100.0).contains(value))
}

/// The numbers in words.
pub fn quantities(words: &[String]) -> Vec<Quantity> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let following = words.get(at + 1).map_or("", String::as_str);
        if let Some(value) = percentile(word, following) {
            found.push(Quantity { value, kind: "percentile", at, text: word.clone() });
            continue;
        }
        let bare = word.trim_start_matches(['<', '>', '=', '≤', '≥', '~', '$', '±']);
        let digits = bare
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '_')))
            .unwrap_or(bare.len());
        let (number, suffix) = bare.split_at(digits);
        let number: String = number.chars().filter(|c| !matches!(c, ',' | '_')).collect();
        let spelled = NUMBERS.iter().position(|name| *name == bare);
        #[allow(clippy::cast_precision_loss)]
        let parsed = number.trim_end_matches('.').parse().ok().or(spelled.map(|n| n as f64));
        let Some(value): Option<f64> = parsed else { continue };
        let next = words.get(at + 1).map_or("", String::as_str);
        let (factor, kind) = match suffix {
            "" => unit(next).unwrap_or((1.0, "")),
            "k" => (1e3, ""),
            "m" if next.is_empty() => (1e6, ""),
            "x" | "nd" | "st" | "th" | "rd" => (1.0, ""),
            other if spelled.is_none() => match unit(other) {
                Some(unit) => unit,
                None => continue,
            },
            _ => unit(next).unwrap_or((1.0, "")),
        };
        // "one of", "one node": small words that count nothing.
        if spelled == Some(1) && kind.is_empty() && !is_counted(next) {
            continue;
        }
        found.push(Quantity { value: value * factor, kind, at, text: word.clone() });
    }
    found
}

fn is_counted(next: &str) -> bool {
    matches!(
        next,
        "request"
            | "requests"
            | "retry"
            | "retries"
            | "attempt"
            | "copy"
            | "replica"
            | "node"
            | "time"
            | "failure"
            | "message"
            | "event"
    )
}
