//! Variables of loops and closures: what is asked for of each element of something.
//!
//! `for x in xs { assert!(f(x)) }` and `assert!(xs.iter().all(|x| f(x)))` ask for the same,
//! whatever the variable is called; and who goes through fewer elements asks for less.

use super::ast::{Expr, ExprKind};
use super::logic::term;
use super::model::{Function, Kind};
use crate::formula::{Definition, Formula, Term};

/// Variables that stand for each element of something, if it is known of what.
pub struct Binder {
    /// Their names.
    names: Vec<String>,
    /// What they are elements of.
    domain: Option<Term>,
}

impl Binder {
    /// The variables of a loop over something, or the parameters of a closure.
    pub fn new(names: &[String], over: Option<&Expr>, function: &Function) -> Binder {
        let listed = |known: &Definition| {
            matches!(&known.body, Term::Apply(kind, _)
                if matches!(kind.as_str(), "list" | "record_literal"))
        };
        let written = |over: &Expr| match &over.kind {
            ExprKind::List(_) | ExprKind::Fields(_) => true,
            ExprKind::Name(name) => {
                let given = function.kind != Kind::Test && function.parameters.contains(name);
                given || function.variables.get(name).is_some_and(listed)
            }
            _ => false,
        };
        // Cases that are written out are compared as a list, one by one.
        let domain = over.map(|over| match written(over) {
            true => Term::name("cases"),
            false => term(over),
        });
        Binder { names: names.iter().map(|name| plain_name(name)).collect(), domain }
    }
}

/// What is asked for within loops and closures is asked for of each element.
pub fn for_each(binders: &[Binder], asks: Formula) -> Formula {
    binders.iter().rev().fold(asks, |inner, binder| {
        let one = |body: Formula, name: &String| match body {
            Formula::True => Formula::True,
            body if binder.domain.is_none() && !body.mentions(name) => body,
            body => Formula::Quant {
                all: true,
                variable: name.clone(),
                domain: binder.domain.clone(),
                body: Box::new(body),
            },
        };
        let named: Vec<String> =
            binder.names.iter().filter(|name| inner.mentions(name)).cloned().collect();
        match (named.is_empty(), &binder.domain) {
            (true, Some(_)) => one(inner, &"_".to_string()),
            _ => named.iter().rev().fold(inner, one),
        }
    })
}

/// A parameter without what stands before it.
fn plain_name(name: &str) -> String {
    let name = name.split([':', '=']).next().unwrap_or_default();
    name.trim_start_matches(['&', '*', ' ', '(']).trim_start_matches("mut ").trim().to_string()
}

/// What a closure is called for, each element of it: `xs.forEach(x => …)`.
pub fn gone_through<'e>(whole: &'e Expr, closure: &Expr) -> Option<&'e Expr> {
    let ExprKind::Call(callee, args) = &whole.kind else { return None };
    let ExprKind::Member(of, name) = &callee.kind else { return None };
    let each = matches!(name.as_str(), "forEach" | "for_each" | "forEachOrdered");
    let given = matches!(&args[..], [only] if std::ptr::eq(&only.value, closure));
    (each && given).then_some(of)
}
