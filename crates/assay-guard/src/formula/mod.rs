//! Formulas, and which of two asks for less.
//!
//! Invariants in TLA+ and assertions in tests are brought into one small language, in which
//! weakening has a meaning: the old formula implies the new one, and not the other way round. So
//! polarity needs no bookkeeping of its own; a conjunct lost under a negation comes out as what
//! it is.
//!
//! ```
//! use assay_guard::formula::{compare, Formula, Order, Rel, Term};
//!
//! let below = |limit: f64| Formula::Rel(Rel::Lt, Term::name("x"), Term::number(limit));
//! assert_eq!(compare(&below(5.0), &below(10.0)), Order::Weaker);
//! let not = |f: Formula| Formula::Not(Box::new(f));
//! assert_eq!(compare(&not(below(5.0)), &not(below(10.0))), Order::Stronger);
//! ```
//!
//! The proof is syntactic and bounded: what it cannot show is `Changed`, never `Same`.

mod moves;
mod normal;
mod parts;
mod patterns;
mod prove;
mod relation;
mod rename;

pub use moves::{Move, moves};
pub use normal::{normal, normal_keeping_domains};
pub use patterns::{ANYTHING, CONTAINING, OF_TYPE, REST};
pub use prove::implies;
pub use relation::within;
pub use rename::{Definition, Definitions, canonical, expanded};

use std::fmt;

/// A number in a formula; compared by value.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What formulas speak about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Term {
    /// An identifier, or text that is not looked into.
    Name(String),
    /// A number.
    Number(Number),
    /// An operator or function with its arguments: `set`, `..`, `filter`, `+`, `call f`.
    Apply(String, Vec<Term>),
    /// A formula used as a value.
    Logic(Box<Formula>),
}

impl Term {
    /// A name.
    pub fn name(text: impl Into<String>) -> Term {
        Term::Name(text.into())
    }

    /// A number.
    pub fn number(value: f64) -> Term {
        // Zero has one sign here, so that equal numbers are equal terms.
        Term::Number(Number(if value == 0.0 { 0.0 } else { value }))
    }

    /// An operator with its arguments.
    pub fn apply(operator: impl Into<String>, arguments: Vec<Term>) -> Term {
        Term::Apply(operator.into(), arguments)
    }

    /// The number it is, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Term::Number(number) => Some(number.0),
            _ => None,
        }
    }

    /// Whether `name` occurs in it.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Term::Name(own) => own == name,
            Term::Number(_) => false,
            Term::Apply(operator, arguments) => {
                operator.strip_prefix("call ") == Some(name)
                    || arguments.iter().any(|argument| argument.mentions(name))
            }
            Term::Logic(formula) => formula.mentions(name),
        }
    }
}

/// How two terms are related.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rel {
    /// The same object.
    Same,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// An element of; of texts and maps: contained in.
    In,
    /// Not an element of.
    NotIn,
    /// A proper subset.
    Subset,
    /// A subset or equal.
    SubsetEq,
    /// Equal but for a tolerance.
    Near(Number),
    /// The same elements in any order.
    Unordered,
    /// Of a type, or matching a pattern.
    Fits,
}

/// A formula.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Formula {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// Something that holds or not and is not looked into.
    Atom(Term),
    /// A relation of two terms.
    Rel(Rel, Term, Term),
    /// Negation.
    Not(Box<Formula>),
    /// All of them.
    And(Vec<Formula>),
    /// One of them.
    Or(Vec<Formula>),
    /// `a => b`.
    Implies(Box<Formula>, Box<Formula>),
    /// `a <=> b`.
    Iff(Box<Formula>, Box<Formula>),
    /// For all, or for some, element of a domain; the variable has a name made of its depth.
    Quant {
        /// For all, as opposed to for some.
        all: bool,
        /// The name of the variable.
        variable: String,
        /// Where it ranges, if that is said.
        domain: Option<Term>,
        /// What holds of it.
        body: Box<Formula>,
    },
    /// `[]P`.
    Always(Box<Formula>),
    /// `<>P`.
    Eventually(Box<Formula>),
    /// `P ~> Q`.
    LeadsTo(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// `if c then a else b`.
    pub fn either(condition: Formula, then: Formula, otherwise: Formula) -> Formula {
        let yes = Formula::Implies(Box::new(condition.clone()), Box::new(then));
        Formula::And(vec![yes, Formula::Or(vec![condition, otherwise])])
    }

    /// Whether `name` occurs in it.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Formula::True | Formula::False => false,
            Formula::Atom(term) => term.mentions(name),
            Formula::Rel(_, a, b) => a.mentions(name) || b.mentions(name),
            Formula::Not(f) | Formula::Always(f) | Formula::Eventually(f) => f.mentions(name),
            Formula::And(fs) | Formula::Or(fs) => fs.iter().any(|f| f.mentions(name)),
            Formula::Implies(a, b) | Formula::Iff(a, b) | Formula::LeadsTo(a, b) => {
                a.mentions(name) || b.mentions(name)
            }
            Formula::Quant { domain, body, .. } => {
                domain.as_ref().is_some_and(|d| d.mentions(name)) || body.mentions(name)
            }
        }
    }
}

/// How a new formula stands to an old one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// They say the same.
    Same,
    /// The new one asks for less.
    Weaker,
    /// The new one asks for more.
    Stronger,
    /// Neither could be shown.
    Changed,
}

/// How `new` stands to `old`.
pub fn compare(old: &Formula, new: &Formula) -> Order {
    let by_depth = |formula: &Formula| match canonical(&Term::Logic(Box::new(formula.clone()))) {
        Term::Logic(inner) => normal(&inner),
        other => normal(&Formula::Atom(other)),
    };
    let (old, new) = (by_depth(old), by_depth(new));
    if old == new {
        return Order::Same;
    }
    match (implies(&old, &new), implies(&new, &old)) {
        (true, true) => Order::Same,
        (true, false) => Order::Weaker,
        (false, true) => Order::Stronger,
        (false, false) => Order::Changed,
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Name(name) => f.write_str(name),
            Term::Number(number) => write!(f, "{}", number.0),
            Term::Apply(operator, arguments) => {
                write!(f, "{operator}(")?;
                for (at, argument) in arguments.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{argument}")?;
                }
                f.write_str(")")
            }
            Term::Logic(formula) => write!(f, "{formula:?}"),
        }
    }
}
