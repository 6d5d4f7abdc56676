//! Values with places left open: `Some(_)`, `Closed { .. }`, `[{ id: expect.any(Number) }]`.
//!
//! Front ends write an open place as the name [`ANYTHING`], a value of a type as [`OF_TYPE`] and
//! a part of a value as [`CONTAINING`]. A pattern covers a value if whatever equals the value fits
//! the pattern, too; so an assertion with a pattern in the place of a value asks for less.

use super::Term;

/// Fits whatever there is.
pub const ANYTHING: &str = "_";

/// Fits what is of a type: `any of(Number)`.
pub const OF_TYPE: &str = "any of";

/// Fits what has these elements, fields or characters: `containing(list(1, 2))`.
pub const CONTAINING: &str = "containing";

/// The field that stands for all that are not named.
pub const REST: &str = "...";

/// How deep patterns are looked into.
const DEPTH_MAX: usize = 100;

/// Whether what equals `value` fits `pattern`.
pub fn covers(pattern: &Term, value: &Term) -> bool {
    part(pattern, value, 0)
}

/// Whether what fits one pattern fits another, which may have alternatives: `Some(_) | None`.
pub fn admits(pattern: &Term, narrower: &Term) -> bool {
    match pattern {
        Term::Apply(operator, options) if operator == "|" => {
            covers(pattern, narrower) || options.iter().any(|option| admits(option, narrower))
        }
        _ => covers(pattern, narrower),
    }
}

fn part(pattern: &Term, value: &Term, depth: usize) -> bool {
    if pattern == value {
        return true;
    }
    if depth > DEPTH_MAX {
        return false;
    }
    let all = |patterns: &[Term], values: &[Term]| {
        patterns.len() == values.len()
            && patterns.iter().zip(values).all(|(p, v)| part(p, v, depth + 1))
    };
    match (pattern, value) {
        (Term::Name(name), _) => name == ANYTHING,
        (Term::Apply(operator, kinds), _) if operator == OF_TYPE => {
            is_literal(value)
                || matches!(value, Term::Apply(o, own) if o == OF_TYPE && own == kinds)
        }
        (Term::Apply(operator, inner), _) if operator == CONTAINING => {
            inner.first().is_some_and(|inner| contained(inner, value, depth + 1))
        }
        (Term::Apply(p, patterns), Term::Apply(v, values)) if p == v => {
            match p == "record_literal" && patterns.iter().any(is_rest) {
                true => patterns.iter().all(|one| is_rest(one) || fits_one(one, values, depth)),
                false => all(patterns, values),
            }
        }
        _ => false,
    }
}

/// `..` in the place of fields.
fn is_rest(term: &Term) -> bool {
    let anything = |args: &[Term]| matches!(args, [Term::Name(name)] if name == ANYTHING);
    matches!(term, Term::Apply(name, args) if name == REST && anything(args))
}

fn fits_one(pattern: &Term, values: &[Term], depth: usize) -> bool {
    values.iter().any(|value| part(pattern, value, depth + 1))
}

/// Whether everything of `inner` is in `value`: elements, fields, or a part of a text.
fn contained(inner: &Term, value: &Term, depth: usize) -> bool {
    match (inner, value) {
        (Term::Apply(p, patterns), Term::Apply(v, values))
            if p == v && matches!(p.as_str(), "list" | "set" | "record_literal") =>
        {
            patterns.iter().all(|pattern| fits_one(pattern, values, depth))
        }
        _ => says(value, inner) || part(inner, value, depth),
    }
}

/// Whether one literal text says all that another says: `"is empty"` says `"empty"`.
pub fn says(long: &Term, short: &Term) -> bool {
    let text = |term: &Term| match term {
        Term::Name(name) => {
            name.strip_prefix('"').and_then(|n| n.strip_suffix('"')).map(str::to_string)
        }
        _ => None,
    };
    match (text(long), text(short)) {
        // What matters to a pattern of text would make one of part of another.
        (Some(long), Some(short)) => {
            !short.contains(['*', '+', '?', '[', '(', '{', '|', '^', '$', '\\'])
                && long.contains(&short)
        }
        _ => false,
    }
}

fn is_literal(value: &Term) -> bool {
    match value {
        Term::Number(_) => true,
        Term::Name(name) => name.starts_with('"') || matches!(name.as_str(), "TRUE" | "FALSE"),
        Term::Apply(operator, _) => matches!(operator.as_str(), "list" | "record_literal"),
        Term::Logic(_) => false,
    }
}
