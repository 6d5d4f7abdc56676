//! Expressions.

use super::statements;
use super::{line_of, path_text};
use crate::code::ast::{Arg, Expr, ExprKind};
use crate::formula::ANYTHING;
use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::parse::Parser as _;

/// How deep expressions may be nested; deeper ones are kept as text.
const DEPTH_MAX: usize = 100;

/// An expression.
pub fn expr(expression: &syn::Expr, depth: usize) -> Expr {
    let line = line_of(expression);
    if depth > DEPTH_MAX {
        return Expr::name(line, expression.to_token_stream().to_string());
    }
    Expr::new(line, kind(expression, depth + 1))
}

fn boxed(expression: &syn::Expr, depth: usize) -> Box<Expr> {
    Box::new(expr(expression, depth))
}

fn kind(expression: &syn::Expr, depth: usize) -> ExprKind {
    let all = |list: &mut dyn Iterator<Item = &syn::Expr>| list.map(|e| expr(e, depth)).collect();
    match expression {
        syn::Expr::Lit(literal) => self::literal(&literal.lit),
        syn::Expr::Path(path) => match path_text(&path.path).as_str() {
            "None" => ExprKind::Null,
            name => ExprKind::Name(name.to_string()),
        },
        syn::Expr::Paren(inner) => expr(&inner.expr, depth).kind,
        syn::Expr::Group(inner) => expr(&inner.expr, depth).kind,
        syn::Expr::Await(inner) => expr(&inner.base, depth).kind,
        syn::Expr::Cast(inner) => expr(&inner.expr, depth).kind,
        // Who is given `&mut x` may change it.
        syn::Expr::Reference(inner) if inner.mutability.is_some() => {
            ExprKind::Unary("&mut".to_string(), boxed(&inner.expr, depth))
        }
        syn::Expr::Reference(inner) => expr(&inner.expr, depth).kind,
        syn::Expr::Call(call) => {
            let args = call.args.iter().map(|a| Arg { name: None, value: expr(a, depth) });
            ExprKind::Call(boxed(&call.func, depth), args.collect())
        }
        syn::Expr::MethodCall(call) => {
            let of = boxed(&call.receiver, depth);
            let callee = Expr::new(line_of(call), ExprKind::Member(of, call.method.to_string()));
            let args = call.args.iter().map(|a| Arg { name: None, value: expr(a, depth) });
            let whole = Expr::new(line_of(call), ExprKind::Call(Box::new(callee), args.collect()));
            let kind = call.turbofish.as_ref().filter(|_| call.method == "collect");
            collected(&kind, whole).kind
        }
        syn::Expr::Field(access) => {
            let name = access.member.to_token_stream().to_string();
            ExprKind::Member(boxed(&access.base, depth), name)
        }
        syn::Expr::Index(access) => {
            ExprKind::Index(boxed(&access.expr, depth), boxed(&access.index, depth))
        }
        syn::Expr::Binary(pair) => {
            let operator = pair.op.to_token_stream().to_string();
            ExprKind::Binary(operator, boxed(&pair.left, depth), boxed(&pair.right, depth))
        }
        syn::Expr::Unary(one) => match one.op {
            syn::UnOp::Deref(_) => expr(&one.expr, depth).kind,
            _ => ExprKind::Unary(one.op.to_token_stream().to_string(), boxed(&one.expr, depth)),
        },
        syn::Expr::Try(inner) => ExprKind::Other("?".to_string(), vec![expr(&inner.expr, depth)]),
        syn::Expr::Array(list) => ExprKind::List(all(&mut list.elems.iter())),
        syn::Expr::Tuple(list) => ExprKind::List(all(&mut list.elems.iter())),
        syn::Expr::Range(range) => {
            let ends = [&range.start, &range.end];
            let ends = ends.into_iter().flatten().map(|e| expr(e, depth)).collect();
            ExprKind::Other(range.limits.to_token_stream().to_string(), ends)
        }
        syn::Expr::Struct(literal) => structure(literal, depth),
        syn::Expr::Closure(closure) => {
            let names = closure.inputs.iter().map(|input| match input {
                syn::Pat::Type(typed) => typed.pat.to_token_stream().to_string(),
                other => other.to_token_stream().to_string(),
            });
            ExprKind::Lambda(names.collect(), statements::body(&closure.body, depth))
        }
        syn::Expr::Macro(called) => macro_call(&called.mac, depth),
        syn::Expr::Let(fits) => fitting(fits, depth),
        syn::Expr::If(branch) => choice(branch, depth).unwrap_or_else(|| opaque(expression)),
        syn::Expr::Block(_) | syn::Expr::Async(_) | syn::Expr::Unsafe(_) | syn::Expr::Match(_) => {
            ExprKind::Lambda(Vec::new(), statements::body(expression, depth))
        }
        _ => opaque(expression),
    }
}

/// `let Some(x) = f()` as a condition: the value is of this form.
fn fitting(fits: &syn::ExprLet, depth: usize) -> ExprKind {
    let pattern = Expr::name(line_of(&fits.pat), fits.pat.to_token_stream().to_string());
    ExprKind::Binary("instanceof".to_string(), boxed(&fits.expr, depth), Box::new(pattern))
}

/// What is collected into a set has no order: the type is all that tells.
pub(super) fn collected(kind: &impl ToTokens, value: Expr) -> Expr {
    let text = kind.to_token_stream().to_string();
    let outermost = text.trim_start_matches([':', '<', ' ']).split('<').next().unwrap_or_default();
    if !outermost.trim_end().ends_with("Set") {
        return value;
    }
    let line = value.line;
    let callee = Box::new(Expr::name(line, "HashSet::from_iter"));
    Expr::new(line, ExprKind::Call(callee, vec![Arg { name: None, value }]))
}

/// `Closed { at: 1 }`: a call of its name with its fields, as a value or as a pattern.
fn structure(literal: &syn::ExprStruct, depth: usize) -> ExprKind {
    let line = line_of(literal);
    let own = literal.fields.iter();
    let mut fields: Vec<(String, Expr)> = own
        .map(|field| (field.member.to_token_stream().to_string(), expr(&field.expr, depth)))
        .collect();
    fields.extend(literal.rest.as_ref().map(|rest| ("..".into(), expr(rest, depth))));
    // `Closed { .. }` as a pattern: the others may be anything.
    if literal.rest.is_none() && literal.dot2_token.is_some() {
        fields.push(("..".to_string(), Expr::name(line, ANYTHING)));
    }
    let value = Expr::new(line, ExprKind::Fields(fields));
    let callee = Box::new(Expr::name(line, path_text(&literal.path)));
    ExprKind::Call(callee, vec![Arg { name: None, value }])
}

/// A condition whose branches are values.
fn choice(branch: &syn::ExprIf, depth: usize) -> Option<ExprKind> {
    let value = |list: &[syn::Stmt]| match list {
        [syn::Stmt::Expr(only, None)] => Some(boxed(only, depth)),
        _ => None,
    };
    let then = value(&branch.then_branch.stmts)?;
    let (_, other) = branch.else_branch.as_ref()?;
    let otherwise = match &**other {
        syn::Expr::Block(block) => value(&block.block.stmts)?,
        other => boxed(other, depth),
    };
    Some(ExprKind::Choice(boxed(&branch.cond, depth), then, otherwise))
}

fn opaque(expression: &syn::Expr) -> ExprKind {
    ExprKind::Name(expression.to_token_stream().to_string())
}

fn literal(literal: &syn::Lit) -> ExprKind {
    match literal {
        syn::Lit::Str(text) => ExprKind::Text(text.value()),
        syn::Lit::Bool(value) => ExprKind::Bool(value.value),
        syn::Lit::Int(number) => number
            .base10_digits()
            .parse()
            .map_or_else(|_| ExprKind::Name(number.to_string()), ExprKind::Number),
        syn::Lit::Float(number) => number
            .base10_digits()
            .parse()
            .map_or_else(|_| ExprKind::Name(number.to_string()), ExprKind::Number),
        other => ExprKind::Name(other.to_token_stream().to_string()),
    }
}

/// A macro as a call of `name!`; what are no expressions is kept as text.
pub fn macro_call(called: &syn::Macro, depth: usize) -> ExprKind {
    let line = line_of(called);
    let name = called.path.segments.last().map_or(String::new(), |s| s.ident.to_string());
    let callee = Box::new(Expr::name(line, format!("{name}!")));
    if let ("matches", Some((pattern, guard))) = (name.as_str(), guarded(&called.tokens)) {
        let fits = Expr::new(line, ExprKind::Call(callee, loose(&pattern, depth)));
        let guard = Expr::new(line, kind(&guard, depth));
        return ExprKind::Binary("&&".to_string(), Box::new(fits), Box::new(guard));
    }
    let parsed = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated
        .parse2(called.tokens.clone());
    let args: Vec<Arg> = match parsed {
        Ok(list) => list
            .iter()
            .map(|argument| match argument {
                syn::Expr::Assign(pair) => Arg {
                    name: Some(pair.left.to_token_stream().to_string()),
                    value: expr(&pair.right, depth),
                },
                other => Arg { name: None, value: expr(other, depth) },
            })
            .collect(),
        Err(_) => loose(&called.tokens, depth),
    };
    if name == "vec" && args.iter().all(|arg| arg.name.is_none()) && !repeated(&called.tokens) {
        return ExprKind::List(args.into_iter().map(|arg| arg.value).collect());
    }
    ExprKind::Call(callee, args)
}

/// `x, Some(y) if y > 3` as what is matched and what is asked besides.
fn guarded(tokens: &proc_macro2::TokenStream) -> Option<(proc_macro2::TokenStream, syn::Expr)> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_if = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "if");
    let at = trees.iter().position(is_if)?;
    let guard = syn::parse2(trees[at + 1..].iter().cloned().collect()).ok()?;
    Some((trees[..at].iter().cloned().collect(), guard))
}

/// `vec![0; n]` says an element and a length.
fn repeated(tokens: &proc_macro2::TokenStream) -> bool {
    let is_semicolon = |tree: TokenTree| matches!(tree, TokenTree::Punct(p) if p.as_char() == ';');
    tokens.clone().into_iter().any(is_semicolon)
}

/// The parts between commas; those that are expressions as such: `matches!(x, Some(_) | None)`.
fn loose(tokens: &proc_macro2::TokenStream, depth: usize) -> Vec<Arg> {
    let mut parts: Vec<proc_macro2::TokenStream> = vec![proc_macro2::TokenStream::new()];
    for tree in tokens.clone() {
        match &tree {
            TokenTree::Punct(p) if p.as_char() == ',' => {
                parts.push(proc_macro2::TokenStream::new());
            }
            _ => {
                if let Some(last) = parts.last_mut() {
                    last.extend(std::iter::once(tree));
                }
            }
        }
    }
    parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| {
            let value = match syn::parse2::<syn::Expr>(part.clone()) {
                Ok(parsed) => expr(&parsed, depth),
                Err(_) => Expr::name(line_of(&part), part.to_string()),
            };
            Arg { name: None, value }
        })
        .collect()
}
