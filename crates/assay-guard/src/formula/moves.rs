//! Where two formulas differ: to call a weakening by its name.

use super::{Formula, normal_keeping_domains};

/// A kind of difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Move {
    /// The new formula always holds.
    Constant,
    /// "For all" against "for some".
    Quantifier,
    /// A temporal operator.
    Temporal,
    /// The domain of a quantifier.
    Domain,
    /// A relation or its bound.
    Relation,
    /// A conjunct or disjunct.
    Junct,
    /// Something else.
    Other,
}

/// The kinds of differences between two formulas, the most telling first.
pub fn moves(old: &Formula, new: &Formula) -> Vec<Move> {
    let mut found = Vec::new();
    walk(&normal_keeping_domains(old), &normal_keeping_domains(new), 0, &mut found);
    found.sort();
    found.dedup();
    found
}

fn parts(formula: &Formula, and: bool) -> Vec<&Formula> {
    match formula {
        Formula::And(parts) if and => parts.iter().collect(),
        Formula::Or(parts) if !and => parts.iter().collect(),
        other => vec![other],
    }
}

fn walk(old: &Formula, new: &Formula, depth: u32, found: &mut Vec<Move>) {
    if old == new || depth > 100 {
        return;
    }
    match (old, new) {
        (_, Formula::True) => found.push(Move::Constant),
        (Formula::And(_), _) | (_, Formula::And(_)) => lists(old, new, true, depth, found),
        (Formula::Or(_), _) | (_, Formula::Or(_)) => lists(old, new, false, depth, found),
        (
            Formula::Quant { all, domain, body, .. },
            Formula::Quant { all: new_all, domain: new_domain, body: new_body, .. },
        ) => {
            if all != new_all {
                found.push(Move::Quantifier);
            }
            if domain != new_domain {
                found.push(Move::Domain);
            }
            walk(body, new_body, depth + 1, found);
        }
        (Formula::Always(a), Formula::Always(b))
        | (Formula::Eventually(a), Formula::Eventually(b)) => walk(a, b, depth + 1, found),
        (Formula::Always(_) | Formula::Eventually(_), _)
        | (_, Formula::Always(_) | Formula::Eventually(_)) => found.push(Move::Temporal),
        (Formula::Rel(..), Formula::Rel(..)) => found.push(Move::Relation),
        _ => found.push(Move::Other),
    }
}

fn lists(old: &Formula, new: &Formula, and: bool, depth: u32, found: &mut Vec<Move>) {
    let (old, new) = (parts(old, and), parts(new, and));
    let gone: Vec<&Formula> = old.iter().filter(|part| !new.contains(part)).copied().collect();
    let come: Vec<&Formula> = new.iter().filter(|part| !old.contains(part)).copied().collect();
    match (gone.as_slice(), come.as_slice()) {
        ([a], [b]) if old.len() > 1 || new.len() > 1 || depth == 0 => {
            match old.len() == new.len() {
                true => walk(a, b, depth + 1, found),
                false => found.push(Move::Junct),
            }
        }
        _ => found.push(Move::Junct),
    }
}
