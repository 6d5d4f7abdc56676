//! Who hears of a failure: closures that nobody calls, and work that nobody waits for.
//!
//! An assertion in `setTimeout(() => …)`, in a promise that is dropped or in a goroutine that is
//! not joined fails after its test has passed, if at all.

use super::ast::{Expr, ExprKind, Stmt, StmtKind};
use std::collections::BTreeSet;

/// Functions that run what they are given when the caller has gone on.
const LATER: [&str; 8] = [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "queueMicrotask",
    "process.nextTick",
    "waitFor",
    "vi.waitFor",
    "jest.waitFor",
];

/// Methods of promises that take what is done with their outcome.
const OUTCOMES: [&str; 3] = ["then", "catch", "finally"];

/// Signs that a test waits, in its own text: joined goroutines, channels, clocks it turns itself.
const WAITS: [&str; 4] = [".Wait(", "<-", "Timers", ".tick("];

/// Whether an expression that is a statement goes on beside the test and is not waited for.
/// `callbacks` are what the test was given to tell that it has ended.
pub fn left_alone(value: &Expr, callbacks: &[String], text: &str) -> bool {
    let waits = WAITS.iter().any(|sign| text.contains(sign));
    let later = match &value.kind {
        ExprKind::Other(kind, _) if kind == super::ast::BESIDE => return !waits,
        ExprKind::Call(callee, _) => match &callee.kind {
            ExprKind::Member(_, name) if OUTCOMES.contains(&name.as_str()) => true,
            _ => LATER.contains(&callee.path().as_str()),
        },
        _ => false,
    };
    later && !waits && !calls_one_of(value, callbacks)
}

fn calls_one_of(value: &Expr, names: &[String]) -> bool {
    let mut found = false;
    walk(value, &mut |next| {
        // `done`, also if it is only passed on: `.then(check, done)`.
        found |= matches!(&next.kind, ExprKind::Name(name) if names.contains(name));
    });
    found
}

/// Closures that a body keeps in a variable and mentions nowhere else.
pub fn idle(body: &[Stmt]) -> BTreeSet<String> {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut mentioned: BTreeSet<String> = BTreeSet::new();
    each(body, &mut |statement| {
        if let StmtKind::Let(name, Expr { kind: ExprKind::Lambda(..), .. }) = &statement.kind {
            kept.insert(name.clone());
        }
        for value in values(statement) {
            walk(value, &mut |next| {
                if let ExprKind::Name(name) = &next.kind {
                    mentioned.insert(name.clone());
                }
            });
        }
    });
    // A macro that formats may name it in a text only; `&name` and `name()` are names, too.
    kept.retain(|name| !mentioned.contains(name));
    kept
}

/// The expressions of a statement itself.
fn values(statement: &Stmt) -> Vec<&Expr> {
    match &statement.kind {
        StmtKind::Expr(value)
        | StmtKind::Let(_, value)
        | StmtKind::Discard(value)
        | StmtKind::If(value, _, _)
        | StmtKind::Throw(value)
        | StmtKind::Assert(value)
        | StmtKind::Return(Some(value))
        | StmtKind::Loop(_, Some(value), _) => vec![value],
        StmtKind::With(values, _) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// Every statement of a body, those within others included.
fn each<'b>(body: &'b [Stmt], visit: &mut dyn FnMut(&'b Stmt)) {
    let mut open: Vec<&[Stmt]> = vec![body];
    while let Some(list) = open.pop() {
        for statement in list {
            visit(statement);
            match &statement.kind {
                StmtKind::If(_, a, b) => open.extend([a.as_slice(), b.as_slice()]),
                StmtKind::Block(inner) | StmtKind::Loop(_, _, inner) | StmtKind::With(_, inner) => {
                    open.push(inner);
                }
                StmtKind::Try(inner, handlers) => {
                    open.push(inner);
                    open.extend(handlers.iter().map(|(_, handler)| handler.as_slice()));
                }
                StmtKind::Function(item) => open.push(&item.body),
                _ => {}
            }
        }
    }
}

/// Every expression in a value, those in the bodies of closures included.
fn walk<'e>(value: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        visit(next);
        open.extend(next.parts());
        if let ExprKind::Lambda(_, body) = &next.kind {
            each(body, &mut |statement| open.extend(values(statement)));
        }
    }
}
