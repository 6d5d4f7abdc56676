//! A second reading of invariants, by precedence climbing over characters, so that a mistake in the
//! first one is not confirmed by itself.

use std::cmp::Ordering;

#[derive(Clone, Debug)]
enum Value {
    Whole(i128),
    Real(f64),
    Text(String),
    Truth(bool),
}
use Value::{Real, Text, Truth, Whole};

/// Symbols by how strongly they bind, longer ones first.
const SYMBOLS: [&[&str]; 5] =
    [&["or"], &["and"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*"]];
const FUNCTIONS: [&str; 6] = ["sum", "count", "min", "max", "unique", "refs"];

/// What a function (or `path`) of paths comes to in a state, as JSON text.
pub(super) type Term<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// Whether an invariant comes to false; `None` if it does not come to a truth value.
pub(super) fn is_false(text: &str, term: Term<'_>) -> Option<bool> {
    let mut rest = text;
    match (climb(&mut rest, 0, term)?, rest.trim()) {
        (Truth(truth), "") => Some(!truth),
        _ => None,
    }
}

fn climb(rest: &mut &str, level: usize, term: Term<'_>) -> Option<Value> {
    let mut left = if level <= 2 && symbol(rest, &["not"]).is_some() {
        match climb(rest, 2, term)? {
            Truth(truth) => Truth(!truth),
            _ => return None,
        }
    } else {
        atom(rest, term)?
    };
    let mut strongest = SYMBOLS.len();
    loop {
        let levels = (level..SYMBOLS.len()).rev().filter(|&at| at <= strongest);
        let Some((at, found)) =
            levels.into_iter().find_map(|at| symbol(rest, SYMBOLS[at]).map(|found| (at, found)))
        else {
            return Some(left);
        };
        let right = climb(rest, at + 1, term)?;
        left = apply(left, found, right)?;
        strongest = at;
    }
}

/// Takes one of some symbols off the front; words must end there.
fn symbol(rest: &mut &str, symbols: &[&'static str]) -> Option<&'static str> {
    let text = rest.trim_start();
    let found = symbols.iter().find(|symbol| {
        let after = text.strip_prefix(**symbol);
        let word = symbol.starts_with(char::is_alphabetic);
        after.is_some_and(|after| !word || !after.starts_with(is_name))
    })?;
    *rest = &text[found.len()..];
    Some(found)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_$@/.".contains(c)
}

fn atom(rest: &mut &str, term: Term<'_>) -> Option<Value> {
    if symbol(rest, &["("]).is_some() {
        let inner = climb(rest, 0, term)?;
        return symbol(rest, &[")"]).map(|_| inner);
    }
    if symbol(rest, &["-"]).is_some() {
        return apply(Whole(0), "-", atom(rest, term)?);
    }
    let text = rest.trim_start();
    if let Some(quoted) = text.strip_prefix('"') {
        let (inside, after) = quoted.split_once('"')?;
        *rest = after;
        return Some(Text(inside.to_string()));
    }
    let mut end = 0;
    for (i, c) in text.char_indices() {
        // A star belongs to a path only right after a dot.
        let star = c == '*' && text[..i].ends_with('.');
        if !is_name(c) && !star {
            break;
        }
        end = i + c.len_utf8();
    }
    let (word, after) = text.split_at(end);
    if FUNCTIONS.contains(&word) && after.trim_start().starts_with('(') {
        let (paths, after) = after.trim_start()[1..].split_once(')')?;
        *rest = after;
        return value(&term(word, &paths.split_whitespace().collect::<String>())?);
    }
    *rest = after;
    match word.starts_with(|c: char| c.is_ascii_digit()) || ["true", "false"].contains(&word) {
        true => value(word).or_else(|| value(&term("path", word)?)),
        false => value(&term("path", word)?),
    }
}

fn value(json: &str) -> Option<Value> {
    match json {
        "true" | "false" => Some(Truth(json == "true")),
        _ if json.starts_with('"') => Some(Text(json.trim_matches('"').to_string())),
        _ => json.parse().map(Whole).or_else(|_| json.parse().map(Real)).ok(),
    }
}

fn apply(left: Value, symbol: &str, right: Value) -> Option<Value> {
    let real = |value: &Value| match value {
        Whole(whole) => Some(*whole as f64),
        Real(real) => Some(*real),
        _ => None,
    };
    let order = match (&left, &right) {
        (Truth(a), Truth(b)) if symbol == "and" => return Some(Truth(*a && *b)),
        (Truth(a), Truth(b)) if symbol == "or" => return Some(Truth(*a || *b)),
        (Whole(a), Whole(b)) if symbol == "+" => return a.checked_add(*b).map(Whole),
        (Whole(a), Whole(b)) if symbol == "-" => return a.checked_sub(*b).map(Whole),
        (Whole(a), Whole(b)) if symbol == "*" => return a.checked_mul(*b).map(Whole),
        (a, b) if symbol == "+" => return Some(Real(real(a)? + real(b)?)),
        (a, b) if symbol == "-" => return Some(Real(real(a)? - real(b)?)),
        (a, b) if symbol == "*" => return Some(Real(real(a)? * real(b)?)),
        (Whole(a), Whole(b)) => a.cmp(b),
        (Text(a), Text(b)) => a.cmp(b),
        (Truth(a), Truth(b)) => a.cmp(b),
        (a, b) => real(a)?.partial_cmp(&real(b)?)?,
    };
    Some(Truth(match symbol {
        "==" => order == Ordering::Equal,
        "!=" => order != Ordering::Equal,
        "<=" => order != Ordering::Greater,
        ">=" => order != Ordering::Less,
        "<" => order == Ordering::Less,
        ">" => order == Ordering::Greater,
        _ => return None,
    }))
}
