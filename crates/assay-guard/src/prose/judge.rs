//! Two wordings of one requirement.

use super::direction::permissive;
use super::words::{
    ABSOLUTES, HEDGES, Modal, OPPOSITES, SCOPE, contains, count, in_one_unit, modal, quantities,
    words,
};
use crate::config::Config;
use crate::finding::Verdict;
use std::collections::BTreeSet;

/// What can be said about a new wording: the rule, the direction, the reason.
pub type Judged = (&'static str, Verdict, String);

/// Compares two wordings; nothing if they say the same.
pub fn judge(old: &str, new: &str, config: &Config) -> Vec<Judged> {
    let (a, b) = (words(old), words(new));
    if essence(&in_one_unit(&a)) == essence(&in_one_unit(&b)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    modals(&a, &b, &mut found);
    hedges(&a, &b, &mut found);
    absolutes(&a, &b, &mut found);
    lattices(&a, &b, config, &mut found);
    numbers(&a, &b, &mut found);
    scope(&a, &b, &mut found);
    opposites(&a, &b, &mut found);
    shortened((old, &a), &b, &mut found);
    conditioned(&a, &b, &mut found);
    if found.is_empty() {
        found.push((
            "Q09",
            Verdict::Changed,
            "reworded: whether it asks for the same, a person has \
            to say"
                .to_string(),
        ));
    }
    found
}

/// A wording without what does not matter: articles, plural, synonyms of must.
pub fn essence(words: &[String]) -> Vec<String> {
    words
        .iter()
        .filter(|word| !matches!(word.as_str(), "the" | "a" | "an" | "of" | "that" | "which"))
        .map(|word| match word.as_str() {
            "shall" | "must" => "must".to_string(),
            "can't" => "cannot".to_string(),
            "each" | "every" | "all" => "every".to_string(),
            other if other.len() > 3 && other.ends_with('s') && !other.ends_with("ss") => {
                other[..other.len() - 1].to_string()
            }
            other => other.to_string(),
        })
        .collect()
}

fn modals(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    let (old, new) = (modal(a), modal(b));
    let shown = |m: Modal| match (m.rank, m.negative) {
        (3, false) => "MUST",
        (3, true) => "MUST NOT",
        (2, false) => "SHOULD",
        (2, true) => "SHOULD NOT",
        (1, _) => "MAY",
        _ => "nothing binding",
    };
    if old.rank > new.rank && old.rank > 1 {
        let reason = format!("{} became {}", shown(old), shown(new));
        found.push(("Q01", Verdict::Weaker, reason));
    } else if old.rank < new.rank && new.rank > 1 {
        let reason = format!("{} became {}", shown(old), shown(new));
        found.push(("Q01", Verdict::Stronger, reason));
    } else if old.rank == new.rank && old.rank > 1 && old.negative != new.negative {
        let never = |w: &[String]| contains(w, "never") || contains(w, "no");
        if never(a) == never(b) {
            let reason = format!("{} became {}", shown(old), shown(new));
            found.push(("Q01", Verdict::Changed, reason));
        }
    }
}

fn hedges(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    let added: Vec<&str> =
        HEDGES.iter().filter(|hedge| count(b, hedge) > count(a, hedge)).copied().collect();
    let removed: Vec<&str> =
        HEDGES.iter().filter(|hedge| count(b, hedge) < count(a, hedge)).copied().collect();
    if !added.is_empty() && removed.is_empty() {
        let reason = format!("a hedge was added: {}", added.join(", "));
        found.push(("Q02", Verdict::Weaker, reason));
    } else if added.is_empty() && !removed.is_empty() {
        let reason = format!("a hedge is gone: {}", removed.join(", "));
        found.push(("Q02", Verdict::Stronger, reason));
    }
}

/// Words that allow more than one number.
const BOUNDS: &[&str] = &[
    "at most",
    "at least",
    "up to",
    "no more than",
    "no fewer than",
    "no less than",
    "not more than",
    "minimum",
    "maximum",
];

fn absolutes(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    let often = |words: &[String], group: &[&str]| -> usize {
        group.iter().map(|word| count(words, word)).sum()
    };
    let first = |words: &[String], other: &[String], group: &'static [&'static str]| {
        let fewer = group.iter().find(|word| count(words, word) > count(other, word));
        fewer.copied().unwrap_or_default()
    };
    let lost: Vec<&str> = ABSOLUTES
        .iter()
        .filter(|group| often(a, group) > often(b, group))
        .map(|group| first(a, b, group))
        .collect();
    let gained: Vec<&str> = ABSOLUTES
        .iter()
        .filter(|group| often(a, group) < often(b, group))
        .map(|group| first(b, a, group))
        .collect();
    if !lost.is_empty() && gained.is_empty() {
        found.push(("Q03", Verdict::Weaker, format!("no longer says {}", lost.join(", "))));
    } else if lost.is_empty() && !gained.is_empty() {
        found.push(("Q03", Verdict::Stronger, format!("now says {}", gained.join(", "))));
    } else if lost.iter().all(|word| word.starts_with("exact"))
        && gained.iter().all(|word| BOUNDS.contains(word))
        && !lost.is_empty()
    {
        let (lost, gained) = (lost.join(", "), gained.join(", "));
        found.push(("Q03", Verdict::Weaker, format!("says {gained} instead of {lost}")));
    } else if !lost.is_empty() {
        let (lost, gained) = (lost.join(", "), gained.join(", "));
        let reason = format!("says {gained} instead of {lost}");
        found.push(("Q03", Verdict::Changed, reason));
    }
}

/// Which phrases of a list a text has; of those within one another the longest.
fn rungs(words: &[String], list: &[String]) -> BTreeSet<usize> {
    let singular: Vec<String> = words
        .iter()
        .map(|word| match word.strip_suffix('s') {
            Some(short) if short.len() > 2 && !short.ends_with('s') => short.to_string(),
            _ => word.clone(),
        })
        .collect();
    let hyphened = |phrase: &str| phrase.replace('-', " ");
    let spaced: Vec<String> = words.iter().flat_map(|w| w.split('-')).map(str::to_string).collect();
    let present: BTreeSet<usize> = (0..list.len())
        .filter(|at| {
            let phrase = &list[*at];
            contains(words, phrase)
                || contains(&singular, phrase)
                || contains(&spaced, &hyphened(phrase))
        })
        .collect();
    // "logically equivalent" contains "equivalent", too.
    let inner = |at: usize| {
        present.iter().any(|other| *other != at && list[*other].contains(list[at].as_str()))
    };
    present.iter().copied().filter(|at| !inner(*at)).collect()
}

/// How often, from often to seldom.
const OFTEN: [&str; 6] = ["hourly", "daily", "weekly", "monthly", "quarterly", "yearly"];

fn lattices(a: &[String], b: &[String], config: &Config, found: &mut Vec<Judged>) {
    let often = vec![OFTEN.iter().map(ToString::to_string).collect()];
    let all = [("Q04", &config.granularity), ("Q04", &often), ("Q05", &config.equality)];
    for (rule, lists) in all {
        for list in lists {
            let (old, new) = (rungs(a, list), rungs(b, list));
            // What both mention did not step.
            let (was, is) = (old.difference(&new).next(), new.difference(&old).next());
            let (Some(&old), Some(&new)) = (was, is) else { continue };
            // A time after a number is a quantity, not a unit of what is promised.
            let timed = list.iter().any(|word| word == "second");
            if timed && !(quantities(a).is_empty() && quantities(b).is_empty()) {
                continue;
            }
            let (was, is) = (&list[old], &list[new]);
            match new > old {
                true => found.push((rule, Verdict::Weaker, format!("{is} instead of {was}"))),
                false => found.push((rule, Verdict::Stronger, format!("{is} instead of {was}"))),
            }
        }
    }
}

fn numbers(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    let (old, new) = (quantities(a), quantities(b));
    if old.len() != new.len() {
        if new.len() < old.len() {
            let shown: Vec<&str> = old.iter().map(|q| q.text.as_str()).collect();
            let reason = format!("a number is gone; there were {}", shown.join(", "));
            found.push(("Q06", Verdict::Weaker, reason));
        }
        return;
    }
    for (x, y) in old.iter().zip(&new) {
        if x.value == y.value || x.kind != y.kind {
            continue;
        }
        let more = y.value > x.value;
        let (verdict, how) = match permissive(a, x).or_else(|| permissive(b, y)) {
            Some(up) if up == more => (Verdict::Weaker, "the permissive way"),
            Some(_) => (Verdict::Stronger, "the strict way"),
            None => (Verdict::Changed, "and which way is stricter is not said"),
        };
        let reason = format!("{} became {}, {how}", x.text, y.text);
        found.push(("Q06", verdict, reason));
    }
}

fn scope(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    let added = SCOPE.iter().find(|phrase| contains(b, phrase) && !contains(a, phrase));
    if let Some(phrase) = added {
        found.push(("Q07", Verdict::Weaker, format!("put off: {phrase}")));
    }
}

/// `before` where it said `after`: another promise, and no order between the two.
fn opposites(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    for (one, other) in OPPOSITES.iter().flat_map(|(x, y)| [(x, y), (y, x)]) {
        let lost = count(a, one) > count(b, one);
        if lost && count(a, other) < count(b, other) {
            found.push(("Q03", Verdict::Changed, format!("says {other} instead of {one}")));
        }
    }
}

/// Words that open a condition: without it, more is asked for.
const CONDITIONS: &[&str] = &[
    "if", "when", "unless", "while", "except", "for", "with", "without", "after", "before",
    "until", "where", "only", "not", "no", "never", "but", "than",
];

/// The same words without a part of what was asked for: `the file and line` became `the file`.
fn shortened((old, a): (&str, &[String]), b: &[String], found: &mut Vec<Judged>) {
    if !found.is_empty() || b.len() >= a.len() {
        return;
    }
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let tail = b.len() - head;
    if a[a.len() - tail..] != b[head..] {
        return;
    }
    let lost = &a[head..a.len() - tail];
    if is_part(a, lost, (head, tail), old) {
        found.push(("Q09", Verdict::Weaker, format!("no longer says: {}", lost.join(" "))));
    }
}

/// Whether what is lost was asked for besides the rest, and not what the rest is limited to.
fn is_part(a: &[String], lost: &[String], (head, tail): (usize, usize), old: &str) -> bool {
    let joins = |word: &String| matches!(word.as_str(), "and" | "or" | "nor");
    let binds = |word: &String| matches!(word.as_str(), "must" | "shall" | "should");
    let (Some(first), Some(last)) = (lost.first(), lost.last()) else { return false };
    // A clause of its own has conditions of its own.
    if first == "and" && lost.get(1).is_some_and(binds) {
        return true;
    }
    let limits = |word: &String| CONDITIONS.contains(&word.as_str()) && word != "with";
    if lost.iter().any(limits) {
        return false;
    }
    if first == "and" && !lost.contains(&"with".to_string()) {
        return true;
    }
    // Before the word that binds stands what is spoken of: less of that is more.
    if !a[..head].iter().any(binds) {
        return false;
    }
    let negative = modal(a).negative;
    let listed = joins(first) || joins(last) || lost.iter().any(joins);
    let between = old.to_lowercase().contains(&format!("{}, {}", a[head - 1], first))
        && a.get(a.len() - tail).is_some_and(joins);
    // `every failed request` without `failed` is more.
    let near = &a[head.saturating_sub(3)..head];
    let every = near.iter().any(|w| matches!(w.as_str(), "every" | "all" | "each" | "any"));
    listed && !every || between || (tail == 0 && !negative && !every)
}

/// The same words under a condition that was not there: `in regions with two sites, …`.
fn conditioned(a: &[String], b: &[String], found: &mut Vec<Judged>) {
    if !found.is_empty() || b.len() <= a.len() {
        return;
    }
    let more = b.len() - a.len();
    let (before, after) =
        (b.ends_with(a).then(|| &b[..more]), b.starts_with(a).then(|| &b[a.len()..]));
    let openers: &[&str] = match before {
        Some(_) => {
            &["if", "when", "while", "where", "with", "for", "in", "on", "during", "under", "as"]
        }
        None => &["if", "when", "while", "where", "provided", "as", "during", "for"],
    };
    let Some(added) = before.or(after) else { return };
    // `In addition, …` adds no condition.
    let aside = ["addition", "particular", "example", "other", "short", "before", "fact"];
    let transition = added.get(1).is_some_and(|word| aside.contains(&word.as_str()));
    if !transition && added.first().is_some_and(|word| openers.contains(&word.as_str())) {
        found.push((
            "Q02",
            Verdict::Weaker,
            format!("only under a condition: {}", added.join(" ")),
        ));
    }
}

/// Whether a heading says that what follows is not for now.
pub fn out_of_scope(headings: &[String]) -> bool {
    headings.iter().any(|heading| {
        let words = words(heading);
        SCOPE.iter().any(|phrase| contains(&words, phrase)) || contains(&words, "non goals")
    })
}

/// How binding the headings are: 3 must, 2 should, 1 may, 0 nothing said.
pub fn binding(headings: &[String]) -> u8 {
    headings
        .iter()
        .rev()
        .map(|heading| modal(&words(heading)).rank)
        .find(|rank| *rank > 0)
        .unwrap_or(0)
}
