//! What values of a property are drawn from, and which of two generators draws from less.
//!
//! A generator is a term; one that filters, that has a bound more, or that always yields the same
//! draws from less than before, and a property is tried on less.

use super::ast::{Expr, ExprKind};
use super::logic::term;
use super::model::{Function, Generator};
use crate::formula::{Term, within};

/// How a new generator stands to an old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drawn {
    /// From the same.
    Same,
    /// From less.
    Less,
    /// From more.
    More,
    /// A bound that had a name is a number now.
    Spelled,
    /// Nobody can say.
    Unknown,
}

/// Methods that leave values out.
const FILTERS: [&str; 4] = ["call .filter", "call .prop_filter", "call .filter_map", "call .where"];

/// Functions by which libraries make generators.
const MAKERS: &[&str] = &[
    "any",
    "Just",
    "vec",
    "prop_map",
    "prop_filter",
    "prop_flat_map",
    "integers",
    "floats",
    "text",
    "binary",
    "lists",
    "dictionaries",
    "just",
    "sampled_from",
    "integer",
    "array",
    "string",
    "constant",
    "nat",
    "record",
    "tuple",
    "filter",
    "map",
];

/// The generators of a test: of its parameters, or of a property within it.
pub fn given(args: &[Expr], function: &mut Function) {
    let plain = args.iter().filter(|arg| !matches!(arg.kind, ExprKind::Lambda(..)));
    function.generators.extend(plain.map(|arg| Generator { draws: term(arg), line: arg.line }));
}

/// What a function yields, if it is a generator.
pub fn made(value: &Expr, function: &mut Function) {
    let own = match &value.kind {
        ExprKind::Call(callee, _) => MAKERS.contains(&callee.last_name()),
        _ => false,
    };
    if own {
        function.generators.push(Generator { draws: term(value), line: value.line });
    }
}

/// How two generators stand to each other.
pub fn drawn(old: &Term, new: &Term) -> Drawn {
    if old == new {
        return Drawn::Same;
    }
    match (within(new, old), within(old, new)) {
        (true, false) => return Drawn::Less,
        (false, true) => return Drawn::More,
        _ => {}
    }
    if let Some(of) = filtered(new)
        && matches!(drawn(old, of), Drawn::Same | Drawn::Less)
    {
        return Drawn::Less;
    }
    if let Some(of) = filtered(old)
        && matches!(drawn(of, new), Drawn::Same | Drawn::More)
    {
        return Drawn::More;
    }
    match (is_constant(old), is_constant(new)) {
        (false, true) => return Drawn::Less,
        (true, false) => return Drawn::More,
        _ => {}
    }
    match (is_free(old), is_free(new)) {
        (true, false) if is_range(new) => return Drawn::Less,
        (false, true) if is_range(old) => return Drawn::More,
        _ => {}
    }
    match (old, new) {
        (Term::Apply(p, a), Term::Apply(q, b)) if p == ".." && p == q => ranges(old, new, (a, b)),
        (Term::Apply(p, a), Term::Apply(q, b)) if p == q => parts(p, a, b),
        _ => Drawn::Unknown,
    }
}

fn ranges(old: &Term, new: &Term, (a, b): (&[Term], &[Term])) -> Drawn {
    let named = |end: Option<&Term>| end.is_some_and(|end| end.as_number().is_none());
    match (within(new, old), within(old, new)) {
        (true, _) => Drawn::Less,
        (_, true) => Drawn::More,
        _ if a.first() == b.first() && named(a.last()) && !named(b.last()) => Drawn::Spelled,
        _ => Drawn::Unknown,
    }
}

/// Parts by their place; those with a name by their name.
fn parts(operator: &str, a: &[Term], b: &[Term]) -> Drawn {
    let name = |term: &Term| match term {
        Term::Apply(own, value) if value.len() == 1 => {
            let named = own.ends_with('=') || operator == "record_literal" && own.starts_with('.');
            named.then(|| own.trim_matches(['.', '=']).to_string())
        }
        _ => None,
    };
    let split = |list: &[Term]| -> (Vec<Term>, Vec<(String, Term)>) {
        let plain = list.iter().filter(|t| name(t).is_none()).cloned().collect();
        let named = list.iter().filter_map(|t| match t {
            Term::Apply(_, value) => Some((name(t)?, value[0].clone())),
            _ => None,
        });
        (plain, named.collect())
    };
    let ((x, xs), (y, ys)) = (split(a), split(b));
    if x.len() != y.len() {
        // `integers()` became `integers(0, 9)`.
        return if x.is_empty() && xs.is_empty() { Drawn::Less } else { Drawn::Unknown };
    }
    let mut all: Vec<Drawn> = x.iter().zip(&y).map(|(old, new)| drawn(old, new)).collect();
    for (key, old) in &xs {
        all.push(match ys.iter().find(|(other, _)| other == key) {
            Some((_, new)) => bound(key, old, new),
            None => Drawn::More,
        });
    }
    let added = ys.iter().filter(|(key, _)| !xs.iter().any(|(other, _)| other == key));
    all.extend(added.map(|_| Drawn::Less));
    together(&all)
}

/// A bound by its name: `max_size=10`, `{ minLength: 1 }`.
fn bound(key: &str, old: &Term, new: &Term) -> Drawn {
    let lower = key.to_ascii_lowercase();
    match (old.as_number(), new.as_number()) {
        _ if old == new => Drawn::Same,
        (Some(a), Some(b)) if lower.contains("max") || lower.contains("min") => {
            match (b < a) == lower.contains("max") {
                true => Drawn::Less,
                false => Drawn::More,
            }
        }
        _ => drawn(old, new),
    }
}

fn together(all: &[Drawn]) -> Drawn {
    let has = |kind: Drawn| all.contains(&kind);
    match (has(Drawn::Unknown), has(Drawn::Less), has(Drawn::More)) {
        (true, ..) | (_, true, true) => Drawn::Unknown,
        (_, true, _) => Drawn::Less,
        (_, _, true) => Drawn::More,
        _ if has(Drawn::Spelled) => Drawn::Spelled,
        _ => Drawn::Same,
    }
}

fn filtered(term: &Term) -> Option<&Term> {
    match term {
        Term::Apply(method, args) if FILTERS.contains(&method.as_str()) => args.first(),
        _ => None,
    }
}

fn is_constant(term: &Term) -> bool {
    matches!(term, Term::Apply(made, _)
        if matches!(made.as_str(), "call Just" | "call .constant" | "call .just" | "call just"))
}

fn is_free(term: &Term) -> bool {
    matches!(term, Term::Apply(made, args) if made == "call any" && args.is_empty())
        || matches!(term, Term::Name(name) if name == crate::formula::ANYTHING)
}

fn is_range(term: &Term) -> bool {
    matches!(term, Term::Apply(made, _) if made == "..")
}
