//! Questions about a module that show whether its properties say anything.
//!
//! `A => B` holds wherever `A` never does. So every condition becomes a question: is there a state
//! (or a step) in which it holds? And every kind of step: is it ever taken? The questions are
//! formulas of the module; whoever explores it evaluates them.

mod antecedents;
mod formula;
mod steps;

use super::cfg::Cfg;
use super::mutants::scope::Scope;
use serde::Serialize;

/// What a question is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// A condition that should hold in some state.
    State,
    /// A condition that should hold in some step.
    Step,
}

/// A question: `formula` should be true of some reachable state or step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Probe {
    /// The property or action it belongs to.
    pub name: String,
    /// What should hold somewhere, in one line.
    pub text: String,
    /// The line, from one.
    pub line: usize,
    /// A state, or a step.
    pub about: About,
    /// The same as a formula of the module, in the columns it had there.
    #[serde(skip)]
    pub formula: String,
}

/// What the properties and steps of a module ask for.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    /// Conditions of properties, and sets that their quantifiers range over.
    pub antecedents: Vec<Probe>,
    /// Kinds of steps.
    pub steps: Vec<Probe>,
    /// What could not be asked, and why.
    pub notes: Vec<String>,
}

/// How a checked name is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A formula of states: holds in each.
    State,
    /// `[][A]_v`: `A` holds of each step that changes `v`.
    Step {
        /// `A`.
        action: String,
        /// `v`.
        variables: String,
    },
    /// Anything else of behaviours.
    Temporal,
}

/// The questions of a module under a configuration.
pub fn probes(source: &str, cfg: &Cfg) -> Probes {
    let Some(tree) = crate::syntax::parse(&tree_sitter_tlaplus::LANGUAGE.into(), source) else {
        return Probes::default();
    };
    let scope = Scope::of(&tree, source, cfg);
    let mut found = Probes::default();
    for name in &scope.checked {
        antecedents::of(&scope, name, &mut found);
    }
    steps::of(&scope, &mut found);
    found
}

/// How the names under `PROPERTY` are meant.
pub fn shape(source: &str, cfg: &Cfg, name: &str) -> Shape {
    let tree = crate::syntax::parse(&tree_sitter_tlaplus::LANGUAGE.into(), source);
    let Some(tree) = tree else { return Shape::Temporal };
    antecedents::shape(&Scope::of(&tree, source, cfg), name)
}

/// The variables as they stand under `[Next]_vars`, or all of them.
pub fn variables(source: &str, cfg: &Cfg) -> String {
    let tree = crate::syntax::parse(&tree_sitter_tlaplus::LANGUAGE.into(), source);
    let Some(tree) = tree else { return "<<>>".to_string() };
    let scope = Scope::of(&tree, source, cfg);
    let named = scope.next().and_then(|(_, variables)| variables);
    named.map_or_else(
        || {
            let names: Vec<&str> = scope.variables.iter().map(String::as_str).collect();
            format!("<<{}>>", names.join(", "))
        },
        |node| crate::syntax::text(node, source).to_string(),
    )
}
