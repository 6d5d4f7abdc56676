//! Parts of values that are written out, and what only some elements of something are.
//!
//! Who says what all of a record is has said what each of its fields is, what it contains, and how
//! much it is.

use super::relation::decided;
use super::{Rel, Term};

/// How deep values are looked into.
const DEPTH_MAX: usize = 20;

/// Whether from `x = value` follows a relation about parts of `x`.
pub fn follows((a, b): (&Term, &Term), (rel, c, d): (Rel, &Term, &Term)) -> bool {
    [(a, b), (b, a)].into_iter().any(|(subject, value)| {
        let known = |term: &Term| part(subject, value, term, 0);
        let left = known(c);
        let right = known(d);
        if left.is_none() && right.is_none() {
            return false;
        }
        let (x, y) = (left.as_ref().unwrap_or(c), right.as_ref().unwrap_or(d));
        match rel {
            Rel::In => held(x, y),
            Rel::Unordered => keys(x).is_some_and(|own| same_elements(&own, y)),
            Rel::Ne => literals(x, y) && x != y,
            _ => decided(rel, x, y) == Some(true),
        }
    })
}

/// Whether from `x = value` follows that something is, which stands alone: `x`, or a part of it.
pub fn makes_true((a, b): (&Term, &Term), term: &Term) -> bool {
    [(a, b), (b, a)].into_iter().any(|(subject, value)| {
        (subject == term && is_something(value))
            || part(subject, value, term, 0).is_some_and(|found| is_something(&found))
    })
}

/// Whether a value that is written out counts as true where it stands alone.
fn is_something(value: &Term) -> bool {
    match value {
        Term::Number(number) => number.0 != 0.0,
        Term::Name(name) => name.starts_with('"') && name.len() > 2,
        Term::Apply(kind, parts) => {
            matches!(kind.as_str(), "list" | "record_literal") && !parts.is_empty()
        }
        Term::Logic(_) => false,
    }
}

/// What a term about `subject` is, if `subject` is `value`.
fn part(subject: &Term, value: &Term, term: &Term, depth: usize) -> Option<Term> {
    if depth > DEPTH_MAX {
        return None;
    }
    if term == subject {
        // The whole is what the relation itself says.
        return matches!(value, Term::Apply(..)).then(|| value.clone());
    }
    let Term::Apply(operator, args) = term else { return None };
    let of = part(subject, value, args.first()?, depth + 1)?;
    let Term::Apply(kind, parts) = &of else { return None };
    match (operator.as_str(), &args[1..]) {
        ("len", []) if matches!(kind.as_str(), "list" | "record_literal") =>
        {
            #[allow(clippy::cast_precision_loss)]
            Some(Term::number(parts.len() as f64))
        }
        ("at", [Term::Number(at)]) if kind == "list" =>
        {
            #[allow(clippy::cast_precision_loss)]
            parts.iter().enumerate().find(|(i, _)| *i as f64 == at.0).map(|(_, p)| p.clone())
        }
        ("at", [Term::Name(key)]) => field(kind, parts, key.trim_matches('"')),
        (name, []) => field(kind, parts, name.strip_prefix('.')?),
        _ => None,
    }
}

/// A field of a record, or of what is made of named values: `Point(x=1)`, `Point { x: 1 }`.
fn field(kind: &str, parts: &[Term], name: &str) -> Option<Term> {
    let named = |part: &Term| match part {
        Term::Apply(own, value) if value.len() == 1 => {
            let plain = own.strip_prefix('.').or(own.strip_suffix('='));
            (plain == Some(name)).then(|| value[0].clone())
        }
        _ => None,
    };
    match (kind, parts) {
        ("record_literal", _) => parts.iter().find_map(named),
        (_, [Term::Apply(inner, fields)]) if inner == "record_literal" => {
            fields.iter().find_map(named)
        }
        (made, _) if made.starts_with("call ") => parts.iter().find_map(named),
        _ => None,
    }
}

fn held(item: &Term, whole: &Term) -> bool {
    match whole {
        Term::Apply(kind, items) if kind == "list" => items.contains(item),
        _ => keys(whole).is_some_and(|own| own.contains(item)),
    }
}

/// The names of the fields of a record.
fn keys(value: &Term) -> Option<Vec<Term>> {
    let Term::Apply(kind, fields) = value else { return None };
    let name = |field: &Term| match field {
        Term::Apply(own, _) => own.strip_prefix('.').map(|n| Term::name(format!("{n:?}"))),
        _ => None,
    };
    if kind == "record_literal" { fields.iter().map(name).collect() } else { None }
}

fn same_elements(own: &[Term], list: &Term) -> bool {
    let Term::Apply(kind, items) = list else { return false };
    kind == "list" && own.len() == items.len() && own.iter().all(|key| items.contains(key))
}

fn literals(a: &Term, b: &Term) -> bool {
    let literal = |term: &Term| match term {
        Term::Number(_) => true,
        Term::Name(name) => name.starts_with('"'),
        _ => false,
    };
    literal(a) && literal(b)
}

/// Whether a term is `whole[key]`.
pub fn is_at(term: &Term, whole: &Term, key: &Term) -> bool {
    match term {
        Term::Apply(at, args) if at == "at" => {
            args.len() == 2 && args[0] == *whole && args[1] == *key
        }
        _ => false,
    }
}

/// What some elements were picked from: `xs[1:]`, `xs.take(3)`, `xs.iter().filter(…)`.
pub fn picked(some: &Term) -> Option<&Term> {
    let Term::Apply(operator, args) = some else { return None };
    let of = args.first()?;
    match operator.strip_prefix("call .") {
        Some(method) => {
            let picks = ["take", "skip", "step_by", "filter", "slice", "limit", "subList"];
            let others = ["take_while", "skip_while", "takeWhile", "dropWhile", "drop"];
            (picks.contains(&method) || others.contains(&method)).then_some(of)
        }
        None if operator.starts_with("slice_expression") => Some(of),
        None if operator == "at" => match args.get(1)? {
            Term::Apply(at, _) if at.starts_with("slice") || at.starts_with("..") => Some(of),
            _ => None,
        },
        None => None,
    }
}
