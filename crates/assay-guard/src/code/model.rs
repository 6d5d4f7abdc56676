//! Tests and checks of any language, as the rules see them.

use crate::formula::{Definition, Definitions, Formula, Term};

/// What a file checks.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// Functions that check something or are tests.
    pub functions: Vec<Function>,
    /// Numbers outside of functions that say how much is tried.
    pub knobs: Vec<Knob>,
    /// Lists outside of functions that say what is tried.
    pub lists: Vec<Listed>,
    /// Names outside of functions that stand for a value that is written out.
    pub constants: Definitions,
    /// Ids of invariants, with lines.
    pub ids: Vec<(String, usize)>,
    /// Installations of recorders and observers: name and line.
    pub recorders: Vec<(String, usize)>,
    /// The line of the first place that is not of the language.
    pub error: Option<usize>,
}

/// What a function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A test.
    Test,
    /// A function that says whether something holds.
    Predicate,
    /// Any other function with checks in it.
    Other,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, with those of what it stands in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The line it starts on.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// What it does, in a form that layout and comments do not change.
    pub shape: String,
    /// What it checks.
    pub checks: Vec<Check>,
    /// Why it is not run, or only sometimes.
    pub skips: Vec<Skip>,
    /// What is swallowed: line and text.
    pub swallowed: Vec<(usize, String)>,
    /// Lenient defaults: line and text.
    pub lenient: Vec<(usize, String)>,
    /// A `return` with statements after it, on the outermost level.
    pub returns_early: Option<usize>,
    /// Numbers that say how much is tried.
    pub knobs: Vec<Knob>,
    /// Lists that say what is tried: cases, seeds, faults.
    pub lists: Vec<Listed>,
    /// What values are drawn from.
    pub generators: Vec<Generator>,
    /// Marked so that nothing else of its file is run.
    pub only: bool,
    /// Expected to panic: line.
    pub should_panic: Option<usize>,
    /// The variables that are assigned once, with their values.
    pub variables: Definitions,
    /// Its parameters.
    pub parameters: Vec<String>,
    /// Methods that it replaces.
    pub stubs: Vec<Stub>,
    /// What it stands for, if all it does is to yield a value.
    pub yields: Option<Definition>,
    /// The functions it calls, with their arguments.
    pub calls: Vec<(String, Vec<Term>)>,
    /// What it does besides asking: the calls of statements that assert nothing, with their lines.
    pub does: Vec<(usize, Term)>,
}

/// A check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its line.
    pub line: usize,
    /// Its text.
    pub text: String,
    /// What it asks for.
    pub asks: Formula,
    /// The id it names, if it names one.
    pub id: Option<String>,
    /// How strictly a model checker takes it: `always`, `eventually`, `sometimes`.
    pub modality: Option<String>,
    /// Conditions of the build.
    pub config: Vec<String>,
}

/// A method that a test replaces.
#[derive(Clone, PartialEq, Debug)]
pub struct Stub {
    /// The object or class it is of.
    pub object: Term,
    /// Its name.
    pub method: String,
    /// The line where it is replaced.
    pub line: usize,
}

/// Why a test is not run.
#[derive(Clone, PartialEq, Debug)]
pub struct Skip {
    /// The line.
    pub line: usize,
    /// As it is written.
    pub text: String,
    /// Only under a condition.
    pub conditional: bool,
}

/// Which way of a number is stricter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stricter {
    /// More of it.
    More,
    /// Less of it.
    Less,
}

/// A number that says how much is tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Knob {
    /// The rule that watches it.
    pub rule: &'static str,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Which way is stricter.
    pub stricter: Stricter,
    /// Its line.
    pub line: usize,
}

/// What values of a property are drawn from.
#[derive(Clone, PartialEq, Debug)]
pub struct Generator {
    /// How they are drawn.
    pub draws: Term,
    /// Its line.
    pub line: usize,
}

/// A list that says what is tried.
#[derive(Clone, PartialEq, Debug)]
pub struct Listed {
    /// The rule that watches it.
    pub rule: &'static str,
    /// Its name.
    pub name: String,
    /// What is on it.
    pub items: Vec<String>,
    /// Its line.
    pub line: usize,
}
