//! Statements.

use super::expressions::{expr, macro_call};
use super::{annotations, line_of, span_of};
use crate::code::ast::{Expr, ExprKind, Item, Stmt, StmtKind};
use quote::ToTokens;
use syn::spanned::Spanned;

/// How deep blocks may be nested; deeper ones are not looked into.
const DEPTH_MAX: usize = 100;

fn stmt(node: &impl Spanned, kind: StmtKind) -> Stmt {
    Stmt { line: line_of(node), span: span_of(node), config: Vec::new(), kind }
}

/// A constant.
pub fn binding(name: String, value: &syn::Expr, line: usize) -> Stmt {
    let kind = StmtKind::Let(name, expr(value, 0));
    Stmt { line, span: span_of(value), config: Vec::new(), kind }
}

/// The statements of a block.
pub fn block(block: &syn::Block, depth: usize) -> Vec<Stmt> {
    list(&block.stmts, depth)
}

/// Statements; the last one without a semicolon is what is returned.
pub fn list(statements: &[syn::Stmt], depth: usize) -> Vec<Stmt> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let mut found = Vec::new();
    for statement in statements {
        let (attributes, made) = one(statement, depth + 1);
        let config: Vec<String> = annotations(attributes)
            .iter()
            .filter(|a| a.last_name() == "cfg")
            .map(|a| format!("{:?}", a.args().first().map(|arg| &arg.value.kind)))
            .collect();
        found.extend(made.into_iter().map(|mut stmt| {
            stmt.config.extend(config.iter().cloned());
            stmt
        }));
    }
    found
}

fn one(statement: &syn::Stmt, depth: usize) -> (&[syn::Attribute], Vec<Stmt>) {
    match statement {
        syn::Stmt::Local(local) => {
            let Some(init) = &local.init else { return (&local.attrs, Vec::new()) };
            let mut name = local.pat.to_token_stream().to_string();
            if let syn::Pat::Type(typed) = &local.pat {
                name = typed.pat.to_token_stream().to_string();
            }
            let name = name.trim_start_matches("mut ").to_string();
            let mut value = expr(&init.expr, depth);
            if let syn::Pat::Type(typed) = &local.pat {
                value = super::expressions::collected(&*typed.ty, value);
            }
            let mut made = Vec::new();
            if let Some((_, otherwise)) = &init.diverge {
                made.push(unless(local, &value, otherwise, depth));
            }
            let kind = match name.as_str() {
                "_" => StmtKind::Discard(value),
                _ => StmtKind::Let(name, value),
            };
            made.insert(0, stmt(local, kind));
            (&local.attrs, made)
        }
        syn::Stmt::Expr(expression, semicolon) => {
            let made = effect(expression, semicolon.is_some(), depth);
            (attributes(expression), made)
        }
        syn::Stmt::Macro(called) => {
            let value = Expr::new(line_of(called), macro_call(&called.mac, depth));
            (&called.attrs, vec![stmt(called, StmtKind::Expr(value))])
        }
        syn::Stmt::Item(syn::Item::Fn(inner)) => {
            let item = Item {
                name: vec![inner.sig.ident.to_string()],
                annotations: annotations(&inner.attrs),
                body: block(&inner.block, depth),
                line: line_of(inner),
                span: span_of(inner),
                ..Item::default()
            };
            (&inner.attrs, vec![stmt(inner, StmtKind::Function(Box::new(item)))])
        }
        syn::Stmt::Item(syn::Item::Const(constant)) => {
            let name = constant.ident.to_string();
            let value = expr(&constant.expr, depth);
            (&constant.attrs, vec![stmt(constant, StmtKind::Let(name, value))])
        }
        syn::Stmt::Item(_) => (&[], Vec::new()),
    }
}

/// `let Some(x) = f() else { … }`: what is done if it does not fit.
fn unless(local: &syn::Local, value: &Expr, otherwise: &syn::Expr, depth: usize) -> Stmt {
    let pattern = Expr::name(line_of(&local.pat), local.pat.to_token_stream().to_string());
    let (left, right) = (Box::new(value.clone()), Box::new(pattern));
    let fits = Expr::new(line_of(local), ExprKind::Binary("instanceof".into(), left, right));
    let not = Expr::new(line_of(local), ExprKind::Unary("!".into(), Box::new(fits)));
    stmt(local, StmtKind::If(not, body(otherwise, depth + 1), Vec::new()))
}

fn attributes(expression: &syn::Expr) -> &[syn::Attribute] {
    match expression {
        syn::Expr::Block(inner) => &inner.attrs,
        syn::Expr::If(inner) => &inner.attrs,
        syn::Expr::Macro(inner) => &inner.attrs,
        syn::Expr::Call(inner) => &inner.attrs,
        syn::Expr::MethodCall(inner) => &inner.attrs,
        _ => &[],
    }
}

/// The body of a closure, or a block used as a value.
pub fn body(expression: &syn::Expr, depth: usize) -> Vec<Stmt> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    match expression {
        syn::Expr::Block(inner) => block(&inner.block, depth + 1),
        syn::Expr::Async(inner) => block(&inner.block, depth + 1),
        syn::Expr::Unsafe(inner) => block(&inner.block, depth + 1),
        other => effect(other, false, depth + 1),
    }
}

fn effect(expression: &syn::Expr, closed: bool, depth: usize) -> Vec<Stmt> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let kind = match expression {
        syn::Expr::If(branch) => {
            let otherwise = match &branch.else_branch {
                Some((_, other)) => body(other, depth + 1),
                None => Vec::new(),
            };
            let then = block(&branch.then_branch, depth + 1);
            StmtKind::If(expr(&branch.cond, depth), then, otherwise)
        }
        syn::Expr::ForLoop(inner) => {
            let over = expr(&inner.expr, depth);
            let count = ranged(&over);
            let names = bound_in(&inner.pat.to_token_stream().to_string());
            StmtKind::Loop(names, count, Some(over), block(&inner.body, depth + 1))
        }
        syn::Expr::While(inner) => endless(Some(&inner.cond), &inner.body, depth),
        syn::Expr::Loop(inner) => endless(None, &inner.body, depth),
        syn::Expr::Block(_) | syn::Expr::Async(_) | syn::Expr::Unsafe(_) => {
            StmtKind::Block(body(expression, depth + 1))
        }
        syn::Expr::Match(branches) => {
            let subject = expr(&branches.expr, depth);
            let mut before: Vec<Expr> = Vec::new();
            let mut arms = Vec::new();
            for arm in &branches.arms {
                arms.push(arm_of(arm, &subject, &mut before, depth));
            }
            StmtKind::Block(arms)
        }
        syn::Expr::Continue(_) | syn::Expr::Break(_) => StmtKind::Continue,
        syn::Expr::Return(inner) => {
            StmtKind::Return(inner.expr.as_ref().map(|value| expr(value, depth)))
        }
        syn::Expr::Assign(pair) => match &*pair.left {
            syn::Expr::Infer(_) => StmtKind::Discard(expr(&pair.right, depth)),
            left => {
                let parts = vec![expr(left, depth), expr(&pair.right, depth)];
                let whole = ExprKind::Other("assign".to_string(), parts);
                StmtKind::Expr(Expr::new(line_of(expression), whole))
            }
        },
        syn::Expr::Macro(_) => StmtKind::Expr(expr(expression, depth)),
        other if closed => StmtKind::Expr(expr(other, depth)),
        other => StmtKind::Return(Some(expr(other, depth))),
    };
    vec![stmt(expression, kind)]
}

/// A loop of which nobody knows over what it goes.
fn endless(condition: Option<&syn::Expr>, body: &syn::Block, depth: usize) -> StmtKind {
    // What is asked in the head of a loop is done in each round.
    let head = condition.map(|value| stmt(value, StmtKind::Expr(expr(value, depth))));
    let body = head.into_iter().chain(block(body, depth + 1)).collect();
    StmtKind::Loop(Vec::new(), None, None, body)
}

/// The names that a pattern binds: those in lower case; others are of types and constants.
fn bound_in(pattern: &str) -> Vec<String> {
    let words = pattern.split(|c: char| !c.is_alphanumeric() && c != '_');
    let names = words.filter(|word| {
        word.starts_with(char::is_lowercase) && !matches!(*word, "mut" | "ref" | "box")
    });
    names.map(str::to_string).collect()
}

/// An arm happens if the subject fits the pattern; one that takes all, if it fits none before.
fn arm_of(arm: &syn::Arm, subject: &Expr, before: &mut Vec<Expr>, depth: usize) -> Stmt {
    let pattern = Expr::name(line_of(&arm.pat), arm.pat.to_token_stream().to_string());
    let (left, right) = (Box::new(subject.clone()), Box::new(pattern));
    let fits = Expr::new(line_of(arm), ExprKind::Binary("instanceof".into(), left, right));
    let line = line_of(arm);
    let takes_all = match &arm.pat {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(name) => {
            name.subpat.is_none() && name.ident.to_string().starts_with(char::is_lowercase)
        }
        _ => false,
    };
    let condition = match (takes_all, before.is_empty()) {
        (true, false) => {
            let earlier = before.drain(..).reduce(|a, b| {
                Expr::new(line, ExprKind::Binary("||".into(), Box::new(a), Box::new(b)))
            });
            let earlier = earlier.unwrap_or_else(|| fits.clone());
            Expr::new(line, ExprKind::Unary("!".into(), Box::new(earlier)))
        }
        _ => {
            before.push(fits.clone());
            fits
        }
    };
    let then = body(&arm.body, depth + 1);
    stmt(arm, StmtKind::If(condition, then, Vec::new()))
}

/// `0..100` is a hundred times.
fn ranged(over: &Expr) -> Option<f64> {
    match &over.kind {
        ExprKind::Other(limits, ends) if limits.starts_with("..") && ends.len() == 2 => {
            let extra = if limits == "..=" { 1.0 } else { 0.0 };
            Some(ends[1].number()? - ends[0].number()? + extra)
        }
        _ => None,
    }
}
