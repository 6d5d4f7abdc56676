//! Programs of any language, as far as tests and checks are concerned.
//!
//! A front end per parser fills these types; what is a test, an assertion or a skip is decided
//! once, from here on.

/// The kind of an expression that is run beside what follows: `go f()`.
pub const BESIDE: &str = "go";

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// Its line, from one.
    pub line: usize,
    /// What it is.
    pub kind: ExprKind,
}

/// Kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// An identifier or path.
    Name(String),
    /// A number.
    Number(f64),
    /// The content of a string.
    Text(String),
    /// `true` or `false`.
    Bool(bool),
    /// `None`, `nil`, `null`, `undefined`.
    Null,
    /// A call of a function, method, macro or constructor.
    Call(Box<Expr>, Vec<Arg>),
    /// `of.name`.
    Member(Box<Expr>, String),
    /// `of[at]`.
    Index(Box<Expr>, Box<Expr>),
    /// An operator between two.
    Binary(String, Box<Expr>, Box<Expr>),
    /// An operator before one.
    Unary(String, Box<Expr>),
    /// A list, tuple, array or set that is written out.
    List(Vec<Expr>),
    /// Named values: an object, a map, a struct.
    Fields(Vec<(String, Expr)>),
    /// A function without a name.
    Lambda(Vec<String>, Vec<Stmt>),
    /// A comprehension: variable, source, condition, element.
    Each(String, Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// `a if c else b`: condition and the two.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Anything else, with its parts.
    Other(String, Vec<Expr>),
}

/// An argument of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Arg {
    /// Its name, if it is given by name.
    pub name: Option<String>,
    /// Its value.
    pub value: Expr,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// Its line, from one.
    pub line: usize,
    /// Where it is in the source, in bytes.
    pub span: (usize, usize),
    /// Conditions of the build it stands under.
    pub config: Vec<String>,
    /// What it is.
    pub kind: StmtKind,
}

/// Kinds of statements.
#[derive(Clone, PartialEq, Debug)]
pub enum StmtKind {
    /// An expression.
    Expr(Expr),
    /// A variable and its value.
    Let(String, Expr),
    /// A value that is thrown away on purpose.
    Discard(Expr),
    /// A condition with both branches.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// A loop: its variables, how often, over what, and its body.
    Loop(Vec<String>, Option<f64>, Option<Expr>, Vec<Stmt>),
    /// A body with handlers: the types each catches, and what it does.
    Try(Vec<Stmt>, Vec<(Vec<String>, Vec<Stmt>)>),
    /// Something that is entered and left around a body.
    With(Vec<Expr>, Vec<Stmt>),
    /// The end of this round of a loop, or of the loop.
    Continue,
    /// The end of the function.
    Return(Option<Expr>),
    /// An exception.
    Throw(Expr),
    /// The language's own assertion.
    Assert(Expr),
    /// Statements in braces, or the arms of a match.
    Block(Vec<Stmt>),
    /// A function within a function.
    Function(Box<Item>),
}

/// A function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Item {
    /// Its name, with those of what it stands in before it.
    pub name: Vec<String>,
    /// Annotations, decorators and attributes; those of its surroundings, too.
    pub annotations: Vec<Expr>,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Whether it is said to return a truth value.
    pub boolean: bool,
    /// What it does.
    pub body: Vec<Stmt>,
    /// The line it starts on.
    pub line: usize,
    /// Where it is in the source, in bytes.
    pub span: (usize, usize),
}

/// A file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Its functions.
    pub items: Vec<Item>,
    /// What it does outside of functions.
    pub top: Vec<Stmt>,
    /// Names that stand for invariants: variants of an enum `InvariantId` and the like, with lines.
    pub ids: Vec<(String, usize)>,
    /// The line of the first place that is not of the language.
    pub error: Option<usize>,
}

impl Expr {
    /// An expression on a line.
    pub fn new(line: usize, kind: ExprKind) -> Expr {
        Expr { line, kind }
    }

    /// A name on a line.
    pub fn name(line: usize, name: impl Into<String>) -> Expr {
        Expr::new(line, ExprKind::Name(name.into()))
    }

    /// The last part of a path or member: `pytest.mark.skip` is `skip`.
    pub fn last_name(&self) -> &str {
        match &self.kind {
            ExprKind::Name(name) => name.rsplit("::").next().unwrap_or(name),
            ExprKind::Member(_, name) => name,
            ExprKind::Call(callee, _) => callee.last_name(),
            ExprKind::Index(of, _) => of.last_name(),
            _ => "",
        }
    }

    /// The whole path with dots, as far as it is one.
    pub fn path(&self) -> String {
        match &self.kind {
            ExprKind::Name(name) => name.replace("::", "."),
            ExprKind::Member(of, name) => format!("{}.{name}", of.path()),
            ExprKind::Call(callee, _) => callee.path(),
            _ => String::new(),
        }
    }

    /// The arguments, of a call.
    pub fn args(&self) -> &[Arg] {
        match &self.kind {
            ExprKind::Call(_, args) => args,
            _ => &[],
        }
    }

    /// The number it is, if it is one.
    pub fn number(&self) -> Option<f64> {
        match &self.kind {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Unary(operator, inner) if operator == "-" => inner.number().map(|n| -n),
            ExprKind::Binary(operator, a, b) => {
                let (a, b) = (a.number()?, b.number()?);
                let value = match operator.as_str() {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "**" => a.powf(b),
                    "<<" => a * 2f64.powf(b),
                    _ => return None,
                };
                value.is_finite().then_some(value)
            }
            _ => None,
        }
    }

    /// The parts of it, for a walk.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Call(callee, args) => {
                std::iter::once(&**callee).chain(args.iter().map(|arg| &arg.value)).collect()
            }
            ExprKind::Member(of, _) => vec![of],
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => vec![a, b],
            ExprKind::Unary(_, a) => vec![a],
            ExprKind::List(items) | ExprKind::Other(_, items) => items.iter().collect(),
            ExprKind::Fields(fields) => fields.iter().map(|(_, value)| value).collect(),
            ExprKind::Each(_, of, condition, body) => {
                let mut all = vec![&**of, &**body];
                all.extend(condition.as_deref());
                all
            }
            ExprKind::Choice(a, b, c) => vec![a, b, c],
            _ => Vec::new(),
        }
    }
}
