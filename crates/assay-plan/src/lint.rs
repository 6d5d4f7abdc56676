//! The lint: every rule of the method that a program can hold, in one pass over the plan.
//!
//! ```
//! let plan = assay_plan::parse("# Test Plan: plan-1\n");
//! let found = assay_plan::lint(&plan);
//! assert!(found.iter().any(|d| d.code.to_string() == "P003"), "the slug says nothing");
//! assert!(found.iter().any(|d| d.code.to_string() == "P006"), "sections are missing");
//! ```
//!
//! Costs time linear in the document: ids are looked up in maps, texts are looked through once.

mod argument;
mod claims;
mod document;
mod machine;
mod matrix;
mod scenarios;
mod serious;
mod surfaces;
mod twice;

pub use matrix::SPLIT_AT;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::ids::{Id, Reference};
use crate::place::Span;
use crate::plan::{Claim, Plan, Scenario};
use crate::rules::codes;
use crate::words::Category;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that is wrong with a plan, from top to bottom.
pub fn lint(plan: &Plan) -> Vec<Diagnostic> {
    let mut lint = Lint::new(plan);
    lint.found.extend(plan.problems.iter().cloned());
    if plan.problems.iter().any(|problem| problem.code == codes::TOO_LARGE) {
        return lint.found;
    }
    document::check(&mut lint);
    claims::check(&mut lint);
    matrix::check(&mut lint);
    scenarios::check(&mut lint);
    surfaces::check(&mut lint);
    argument::check(&mut lint);
    let mut found = lint.found;
    found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.code));
    found
}

/// Reads a plan that is to be run. Warnings are fine; with any error there is nothing to run, and
/// the plan goes back to its author.
///
/// # Errors
/// Everything the lint found, if there is an error among it.
pub fn load(source: &str) -> Result<Plan, Vec<Diagnostic>> {
    let plan = crate::parse(source);
    let found = lint(&plan);
    if count(&found).0 > 0 { Err(found) } else { Ok(plan) }
}

/// Errors and warnings.
pub fn count(found: &[Diagnostic]) -> (usize, usize) {
    let errors = found.iter().filter(|d| d.severity() == Severity::Error).count();
    (errors, found.len() - errors)
}

pub(crate) struct Lint<'p> {
    plan: &'p Plan,
    found: Vec<Diagnostic>,
    claims: BTreeMap<u32, &'p Claim>,
    hypotheses: BTreeSet<u32>,
    scenarios: BTreeSet<Id>,
}

impl<'p> Lint<'p> {
    fn new(plan: &'p Plan) -> Lint<'p> {
        let arms = plan.scenarios.iter().flat_map(|scenario| &scenario.arms);
        Lint {
            plan,
            found: Vec::new(),
            claims: plan.claims.iter().map(|claim| (claim.id.number, claim)).collect(),
            hypotheses: plan.hypotheses.iter().map(|h| h.id.number).collect(),
            scenarios: plan.scenarios.iter().chain(arms).map(|s| s.id.clone()).collect(),
        }
    }

    fn add(&mut self, code: Code, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.found.push(Diagnostic::new(code, span, message));
        self.found.last_mut().expect("one was just pushed")
    }

    /// Complains about references that lead nowhere.
    fn resolve(&mut self, references: &[Reference]) {
        for reference in references {
            let (id, number) = (&reference.id, reference.id.number);
            let known = match id.letter {
                'C' => self.claims.contains_key(&number),
                'H' => self.hypotheses.contains(&number),
                _ => self.scenarios.contains(id),
            };
            if known {
                continue;
            }
            let near = self.nearest(id);
            let what = match id.letter {
                'C' => "claim",
                'H' => "hypothesis",
                _ => "scenario",
            };
            let message = format!("there is no {what} {id}");
            let found = Diagnostic::new(codes::UNKNOWN_ID, reference.span, message);
            self.found.push(found.mean(near));
        }
    }

    /// The id of the same letter with the nearest number.
    fn nearest(&self, id: &Id) -> Option<Id> {
        let by_distance = |known: u32| (known.abs_diff(id.number), known);
        let number = match id.letter {
            'C' => self.claims.keys().copied().min_by_key(|n| by_distance(*n)),
            'H' => self.hypotheses.iter().copied().min_by_key(|n| by_distance(*n)),
            _ => {
                let of_same = self.scenarios.iter().filter(|s| s.number == id.number);
                let arm = of_same.max_by_key(|s| s.arm.is_some()).cloned();
                let other = self.scenarios.iter().min_by_key(|s| by_distance(s.number));
                return arm.or_else(|| other.map(Id::whole));
            }
        };
        number.map(|number| Id::new(id.letter, number))
    }

    /// The categories of the claims a scenario falsifies.
    fn categories(&self, scenario: &Scenario) -> BTreeSet<Category> {
        let claims = scenario.falsifies.iter().filter_map(|r| self.claims.get(&r.id.number));
        claims.filter_map(|claim| claim.category.value).collect()
    }
}

/// Names in a list, with `and` before the last.
pub(crate) fn listed(names: &[impl AsRef<str>]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}
