//! A small language for invariants over a final state.
//!
//! ```text
//! sum(accounts.*.balance) == 1000 and min(accounts.*.balance) >= 0
//! unique(members.*.id) and refs(orders.*.customer, customers.*.id)
//! not (count(jobs.*) > 10 or status == "stuck")
//! ```
//!
//! - Numbers, strings (`"..."`, no escapes), `true`, `false`; `+ - *`; `== != < <= > >=`;
//!   `and`, `or`, `not`; parentheses.
//! - A path names a value of the state: field names and list places joined by dots; `*` is every
//!   entry. A path outside a function must lead to exactly one value.
//! - `sum(path)`, `count(path)`, `min(path)`, `max(path)` are numbers (`min` and `max` of nothing
//!   are an error); `unique(path)` is true if no value repeats; `refs(a, b)` is true if every value
//!   at `a` occurs at `b`.
//!
//! Whole numbers are exact; other numbers are 64-bit floats, compared as such. `and` and `or` take
//! truth values, `+` takes numbers: nothing is converted.

mod parser;

pub use parser::parse;

/// The longest expression.
pub const CHARS_MAX: usize = 10_000;
/// The deepest nesting.
pub const DEPTH_MAX: usize = 64;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A number as it was written.
    Number(String),
    /// A string.
    Text(String),
    /// A truth value.
    Truth(bool),
    /// One value of the state.
    Path(String),
    /// `sum`, `count`, `min`, `max` or `unique` of a path, `refs` of two.
    Call(Function, Vec<String>),
    /// `not`.
    Not(Box<Expr>),
    /// A minus sign before a number.
    Minus(Box<Expr>),
    /// Two sides and what stands between them.
    Two(Box<Expr>, Operator, Box<Expr>),
}

impl Expr {
    /// Whether any part of it depends on the state.
    pub fn mentions_state(&self) -> bool {
        match self {
            Expr::Path(_) | Expr::Call(..) => true,
            Expr::Not(inner) | Expr::Minus(inner) => inner.mentions_state(),
            Expr::Two(left, _, right) => left.mentions_state() || right.mentions_state(),
            Expr::Number(_) | Expr::Text(_) | Expr::Truth(_) => false,
        }
    }
}

/// A function over paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// The sum of numbers.
    Sum,
    /// How many there are.
    Count,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Whether all differ.
    Unique,
    /// Whether all of the first occur in the second.
    Refs,
}

impl Function {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Function::Sum => "sum",
            Function::Count => "count",
            Function::Min => "min",
            Function::Max => "max",
            Function::Unique => "unique",
            Function::Refs => "refs",
        }
    }

    const ALL: [Function; 6] = [
        Function::Sum,
        Function::Count,
        Function::Min,
        Function::Max,
        Function::Unique,
        Function::Refs,
    ];
}

/// What stands between two expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// Either.
    Or,
    /// Both.
    And,
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterEqual,
    /// Plus.
    Add,
    /// Minus.
    Subtract,
    /// Times.
    Multiply,
}
