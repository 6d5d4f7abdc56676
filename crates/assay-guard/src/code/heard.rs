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

/// Methods that take who is called when something happens, if it happens.
const EVENTS: [&str; 5] = ["on", "once", "addListener", "addEventListener", "subscribe"];

/// Functions that begin work beside the caller and yield a handle to wait with.
const BEGINS: [&str; 10] = [
    "spawn",
    "spawn_blocking",
    "spawn_local",
    "runAsync",
    "supplyAsync",
    "create_task",
    "ensure_future",
    "startVirtualThread",
    "submit",
    "execute",
];

/// Calls by which a body waits for others, or turns the clock of those that wait for it.
const WAITS: [&str; 15] = [
    "Wait",
    "wait",
    "join",
    "joinAll",
    "join_all",
    "join_next",
    "scope",
    "get",
    "result",
    "gather",
    "invokeAll",
    "awaitTermination",
    "await",
    "tick",
    "allOf",
];

/// Whether a body waits for what goes on beside it: it joins, receives, or turns a clock.
pub fn waits(body: &[Stmt]) -> bool {
    let mut found = false;
    each(body, &mut |statement| {
        for value in values(statement) {
            walk(value, &mut |next| {
                found |= match &next.kind {
                    ExprKind::Unary(operator, _) => operator == "<-",
                    ExprKind::Call(callee, _) => {
                        let name = callee.last_name();
                        WAITS.contains(&name) || name.contains("Timers")
                    }
                    _ => false,
                };
            });
        }
    });
    found
}

/// Whether an expression that is a statement goes on beside the test and is not waited for.
/// `callbacks` are what the test was given to tell that it has ended.
pub fn left_alone(value: &Expr, callbacks: &[String], waits: bool) -> bool {
    let later = match &value.kind {
        ExprKind::Other(kind, _) if kind == super::ast::BESIDE => return !waits,
        ExprKind::Call(callee, _) => match &callee.kind {
            ExprKind::Member(_, name) if OUTCOMES.contains(&name.as_str()) => true,
            _ => LATER.contains(&callee.path().as_str()) || begins(value),
        },
        _ => false,
    };
    later && !waits && !calls_one_of(value, callbacks)
}

/// Whether a call begins work beside the caller.
fn begins(value: &Expr) -> bool {
    let ExprKind::Call(callee, _) = &value.kind else { return false };
    let thread = matches!(callee.path().as_str(), "new Thread.start" | "Thread.ofVirtual.start");
    thread || BEGINS.contains(&callee.last_name())
}

/// Whether a statement only says who is told of an event: nobody waits for the event itself,
/// unless the one who is told ends the test.
pub fn is_told(value: &Expr, callbacks: &[String]) -> bool {
    let ExprKind::Call(callee, args) = &value.kind else { return false };
    let named = matches!(args.first().map(|arg| &arg.value.kind), Some(ExprKind::Text(_)));
    let told = args.last().is_some_and(|arg| matches!(arg.value.kind, ExprKind::Lambda(..)));
    let of_events = matches!(&callee.kind, ExprKind::Member(_, name)
        if EVENTS.contains(&name.as_str()));
    of_events && named && told && !calls_one_of(value, callbacks)
}

/// `await asyncio.gather(f(), g(), return_exceptions=True)`: errors are results nobody looks at.
pub fn drops_errors(value: &Expr) -> bool {
    let value = match &value.kind {
        ExprKind::Unary(operator, inner) if operator == "await" => inner,
        _ => value,
    };
    value.args().iter().any(|arg| {
        arg.name.as_deref() == Some("return_exceptions")
            && matches!(arg.value.kind, ExprKind::Bool(true))
    })
}

fn calls_one_of(value: &Expr, names: &[String]) -> bool {
    let mut found = false;
    walk(value, &mut |next| {
        // `done`, also if it is only passed on: `.then(check, done)`.
        found |= matches!(&next.kind, ExprKind::Name(name) if names.contains(name));
    });
    found
}

/// Closures that a body keeps in a variable and mentions nowhere else, and work it began and
/// then let go: dropped, or waited for without a look at how it ended.
pub fn idle(body: &[Stmt]) -> BTreeSet<String> {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut begun: BTreeSet<String> = BTreeSet::new();
    let mut mentioned: BTreeSet<String> = BTreeSet::new();
    let mut dropped: BTreeSet<String> = BTreeSet::new();
    each(body, &mut |statement| {
        if let StmtKind::Let(name, value) = &statement.kind {
            if matches!(value.kind, ExprKind::Lambda(..)) {
                kept.insert(name.clone());
            }
            if begins(value) {
                begun.insert(name.clone());
            }
        }
        let lets_go = match &statement.kind {
            StmtKind::Discard(_) => true,
            StmtKind::Expr(value) => value.last_name() == "drop",
            _ => false,
        };
        for value in values(statement) {
            walk(value, &mut |next| {
                if let ExprKind::Name(name) = &next.kind {
                    let list = if lets_go { &mut dropped } else { &mut mentioned };
                    list.insert(name.clone());
                }
            });
        }
    });
    // A macro that formats may name it in a text only; `&name` and `name()` are names, too.
    kept.retain(|name| !mentioned.contains(name) && !dropped.contains(name));
    kept.extend(begun.into_iter().filter(|name| !mentioned.contains(name)));
    kept
}

/// The expressions of a statement itself.
pub fn values(statement: &Stmt) -> Vec<&Expr> {
    match &statement.kind {
        StmtKind::Expr(value)
        | StmtKind::Let(_, value)
        | StmtKind::Discard(value)
        | StmtKind::If(value, _, _)
        | StmtKind::Throw(value)
        | StmtKind::Assert(value)
        | StmtKind::Return(Some(value))
        | StmtKind::Loop(_, _, Some(value), _) => vec![value],
        StmtKind::With(values, _) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// Every statement of a body, those within others included.
pub fn each<'b>(body: &'b [Stmt], visit: &mut dyn FnMut(&'b Stmt)) {
    let mut open: Vec<&[Stmt]> = vec![body];
    while let Some(list) = open.pop() {
        for statement in list {
            visit(statement);
            match &statement.kind {
                StmtKind::If(_, a, b) => open.extend([a.as_slice(), b.as_slice()]),
                StmtKind::Block(inner) | StmtKind::Loop(.., inner) | StmtKind::With(_, inner) => {
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
pub fn walk<'e>(value: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    let mut open = vec![value];
    while let Some(next) = open.pop() {
        visit(next);
        open.extend(next.parts());
        if let ExprKind::Lambda(_, body) = &next.kind {
            each(body, &mut |statement| open.extend(values(statement)));
        }
    }
}
