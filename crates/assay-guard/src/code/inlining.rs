//! What assertions say with values in the place of names.
//!
//! A limit in a variable is a limit: values that are written out are put in the place of their
//! names before anything is compared. Whatever is computed is put there, too, but only for a
//! second look, since a call may yield something else the second time.

use super::ast::{Program, StmtKind};
use super::logic::{relation, term};
use super::model::Function;
use crate::formula::{self, Definition, Definitions, Formula, Term};

/// Whether a value is written out, with nothing in it to be computed.
pub fn is_literal(value: &Term) -> bool {
    match value {
        Term::Number(_) => true,
        Term::Name(name) => name.starts_with('"') || matches!(name.as_str(), "TRUE" | "FALSE"),
        Term::Apply(kind, parts) => {
            let holds = matches!(kind.as_str(), "list" | "record_literal" | "call set" | "*" | "-")
                || kind.starts_with('.');
            holds && parts.iter().all(is_literal)
        }
        Term::Logic(_) => false,
    }
}

/// The values that have a name outside of functions, those that are given once.
pub fn constants(program: &Program) -> Definitions {
    let mut found = Definitions::new();
    let mut twice = Vec::new();
    for statement in &program.top {
        if let StmtKind::Let(name, value) = &statement.kind {
            let body = term(value);
            let definition = Definition { parameters: Vec::new(), body };
            if found.insert(name.clone(), definition).is_some() {
                twice.push(name.clone());
            }
        }
    }
    found.retain(|name, value| is_literal(&value.body) && !twice.contains(name));
    found
}

/// Of what names stand for, the values that are written out and that a function only asks for: an
/// input of what it does is no part of what it asserts.
pub fn asked(known: &Definitions, function: &Function) -> Definitions {
    let given = |name: &str| function.does.iter().any(|(_, call)| call.mentions(name));
    let own = known.iter().filter(|(name, value)| is_literal(&value.body) && !given(name));
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A formula with definitions in the place of names, in normal form.
pub fn inlined(asks: &Formula, definitions: &Definitions) -> Formula {
    let whole = Term::Logic(Box::new(asks.clone()));
    let found = match formula::expanded(&whole, definitions) {
        Term::Logic(inner) => *inner,
        other => Formula::Atom(other),
    };
    formula::normal(&related(&found))
}

/// The same formula with its relations told from what now stands in them: `x == sorted(y)`.
fn related(asks: &Formula) -> Formula {
    let boxed = |inner: &Formula| Box::new(related(inner));
    let all = |parts: &[Formula]| parts.iter().map(related).collect();
    match asks {
        Formula::Rel(rel, a, b) => relation(*rel, a.clone(), b.clone()),
        Formula::Not(inner) => Formula::Not(boxed(inner)),
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::Implies(a, b) => Formula::Implies(boxed(a), boxed(b)),
        Formula::Iff(a, b) => Formula::Iff(boxed(a), boxed(b)),
        Formula::Quant { all, variable, domain, body } => Formula::Quant {
            all: *all,
            variable: variable.clone(),
            domain: domain.clone(),
            body: boxed(body),
        },
        other => other.clone(),
    }
}
