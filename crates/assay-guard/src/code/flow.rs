//! What the order of statements tells: where a body is left, and which variables keep their value.

use super::ast::{Expr, ExprKind, Item, Stmt, StmtKind};
use super::heard::{values, walk};
use super::inlining::is_literal;
use super::logic::term;
use super::model::Kind;
use crate::formula::{Definition, Definitions, Formula, Rel, Term};
use std::collections::{BTreeMap, BTreeSet};

/// Methods that change what they are called on.
const CHANGES: &[&str] = &[
    "sort",
    "sort_by",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "reverse",
    "push",
    "push_str",
    "push_back",
    "push_front",
    "insert",
    "remove",
    "append",
    "extend",
    "pop",
    "clear",
    "retain",
    "dedup",
    "truncate",
    "add",
    "addAll",
    "put",
    "shuffle",
    "splice",
    "shift",
    "unshift",
    "fill",
    "update",
    "discard",
    "swap",
    "set",
    "delete",
];

/// The variable that a statement changes in place: `xs.sort()`, `sort.Strings(xs)`, `x[0] = 1`.
fn mutated(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Other(kind, parts) if kind == "assign" => parts.first().and_then(base),
        ExprKind::Call(callee, args) => match &callee.kind {
            ExprKind::Member(of, _)
                if matches!(of.last_name(), "sort" | "slices" | "random" | "Collections") =>
            {
                args.first().and_then(|arg| base(&arg.value))
            }
            ExprKind::Member(of, method) if CHANGES.contains(&method.as_str()) => match &of.kind {
                ExprKind::Name(name) => Some(name),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// The variable that an expression gives another value, wherever it stands: `x += 1`, `x++`, and
/// `&mut x` for somebody else to do so.
fn assigned(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Unary(operator, inner) if operator == "&mut" => base(inner),
        ExprKind::Binary(operator, left, _) => {
            let compares = matches!(operator.as_str(), "==" | "===" | "!=" | "!==" | "<=" | ">=");
            base(left).filter(|_| operator.ends_with('=') && !compares)
        }
        ExprKind::Other(kind, parts) => {
            let kinds = ["assign", "augmented_assignment", "update_expression", "inc_", "dec_"];
            let changes = kinds.iter().any(|start| kind.starts_with(start));
            parts.first().and_then(base).filter(|_| changes)
        }
        _ => None,
    }
}

/// The variable that a statement calls something on, without a look at the result.
fn called_on(value: &Expr) -> Option<&str> {
    let ExprKind::Call(callee, _) = &value.kind else { return None };
    match &callee.kind {
        ExprKind::Member(of, _) => base(of),
        _ => None,
    }
}

/// `x` of `x.y[0]`.
fn base(mut at: &Expr) -> Option<&str> {
    loop {
        match &at.kind {
            ExprKind::Name(name) => return Some(name),
            ExprKind::Member(of, _) | ExprKind::Index(of, _) => at = of,
            _ => return None,
        }
    }
}

/// The condition under which a test is left without a word: `if slow { return }`; within a loop
/// also `if slow { continue }`.
pub fn leaves(statement: &Stmt) -> Option<&Expr> {
    let StmtKind::If(condition, then, otherwise) = &statement.kind else { return None };
    let silent = match &then.last()?.kind {
        StmtKind::Return(None) | StmtKind::Continue => true,
        StmtKind::Return(Some(value)) => match &value.kind {
            ExprKind::Null => true,
            ExprKind::Call(callee, _) => callee.last_name() == "Ok",
            _ => false,
        },
        _ => false,
    };
    // Who tells something before it leaves is heard.
    (silent && otherwise.is_empty() && then.len() == 1).then_some(condition)
}

/// What the rest of a body takes for granted: `prop_assume!(c)`, `assume(c)`, `fc.pre(c)`.
pub fn assumed(statement: &Stmt) -> Option<&Expr> {
    let StmtKind::Expr(value) = &statement.kind else { return None };
    let assumes = matches!(
        value.path().as_str(),
        "prop_assume!" | "assume" | "hypothesis.assume" | "fc.pre" | "kani.assume"
    );
    value.args().first().filter(|_| assumes).map(|arg| &arg.value)
}

/// The variable that a statement sorts in place: `xs.sort()`, `sort.Strings(xs)`.
pub fn sorted(statement: &Stmt) -> Option<&str> {
    let StmtKind::Expr(value) = &statement.kind else { return None };
    let ExprKind::Call(callee, _) = &value.kind else { return None };
    let ExprKind::Member(of, method) = &callee.kind else { return None };
    let sorts = method.to_lowercase().starts_with("sort") || of.last_name() == "sort";
    mutated(value).filter(|_| sorts)
}

/// A `return` with statements after it.
pub fn early(body: &[Stmt]) -> Option<usize> {
    let at = body.iter().position(|s| matches!(s.kind, StmtKind::Return(None)))?;
    (at + 1 < body.len()).then(|| body[at].line)
}

/// Variables that are assigned once and not changed afterwards.
pub fn variables(body: &[Stmt]) -> BTreeMap<String, Definition> {
    let mut found: BTreeMap<String, Option<Definition>> = BTreeMap::new();
    let mut changed: BTreeSet<String> = BTreeSet::new();
    let mut called: BTreeSet<String> = BTreeSet::new();
    let mut aliases: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Vec<&[Stmt]> = vec![body];
    let mut closures: BTreeSet<*const Stmt> = BTreeSet::new();
    while let Some(list) = open.pop() {
        for statement in list {
            for value in values(statement) {
                walk(value, &mut |next| match &next.kind {
                    ExprKind::Lambda(_, inner) if closures.insert(inner.as_ptr()) => {
                        open.push(inner);
                    }
                    _ => changed.extend(assigned(next).map(str::to_string)),
                });
            }
            match &statement.kind {
                StmtKind::Let(name, value) => {
                    if let ExprKind::Name(of) = &value.kind {
                        aliases.insert(name.clone(), of.clone());
                    }
                    let definition = Definition { parameters: Vec::new(), body: term(value) };
                    let twice = found.contains_key(name);
                    found.insert(name.clone(), if twice { None } else { Some(definition) });
                }
                StmtKind::Expr(value) => {
                    changed.extend(mutated(value).map(str::to_string));
                    called.extend(called_on(value).map(str::to_string));
                }
                StmtKind::If(_, a, b) => open.extend([a.as_slice(), b.as_slice()]),
                StmtKind::Block(inner)
                | StmtKind::Loop(.., inner)
                | StmtKind::With(_, inner)
                | StmtKind::Try(inner, _) => open.push(inner),
                _ => {}
            }
        }
    }
    // Another name for a thing stays one, whatever is done to the thing; a copy does not.
    let of: Vec<String> = changed.iter().filter_map(|name| aliases.get(name)).cloned().collect();
    changed.extend(of);
    found.retain(|name, _| !changed.contains(name) || aliases.contains_key(name));
    // Whatever is called on a list for its own sake may fill it.
    let written = |value: &Option<Definition>| {
        value.as_ref().is_some_and(|v| is_literal(&v.body) && matches!(v.body, Term::Apply(..)))
    };
    found.retain(|name, value| !called.contains(name) || !written(value));
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// What a function stands for that does nothing but to yield a value.
pub fn yields(item: &Item, kind: Kind) -> Option<Definition> {
    match &item.body[..] {
        [Stmt { kind: StmtKind::Return(Some(value)), .. }] if kind == Kind::Other => {
            Some(Definition { parameters: item.parameters.clone(), body: term(value) })
        }
        _ => None,
    }
}

/// A comparison of what was sorted before does not see the order.
pub fn in_any_order(asks: Formula, sorted: &[String], variables: &Definitions) -> Formula {
    let known = |side: &Term| matches!(side, Term::Name(name) if sorted.contains(name));
    // Who compares a list with a copy that was sorted asks for its order.
    let written = |name: &String| variables.get(name).is_some_and(|v| is_literal(&v.body));
    let fixed = |side: &Term| match side {
        Term::Name(name) => known(side) || written(name),
        _ => true,
    };
    let deeper = |inner: Formula| in_any_order(inner, sorted, variables);
    match asks {
        _ if sorted.is_empty() => asks,
        Formula::Not(inner) => Formula::Not(Box::new(deeper(*inner))),
        Formula::And(parts) => Formula::And(parts.into_iter().map(deeper).collect()),
        Formula::Or(parts) => Formula::Or(parts.into_iter().map(deeper).collect()),
        Formula::Implies(a, b) => Formula::Implies(Box::new(deeper(*a)), Box::new(deeper(*b))),
        Formula::Rel(Rel::Eq | Rel::Same, a, b)
            if (known(&a) || known(&b)) && fixed(&a) && fixed(&b) =>
        {
            Formula::Rel(Rel::Unordered, a, b)
        }
        Formula::Rel(Rel::Ne, a, b) if (known(&a) || known(&b)) && fixed(&a) && fixed(&b) => {
            Formula::Not(Box::new(Formula::Rel(Rel::Unordered, a, b)))
        }
        other => other,
    }
}
