//! Rust, from the trees of `syn`.

mod expressions;
mod statements;

use super::ast::{Arg, Expr, ExprKind, Item, Program};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser as _;
use syn::spanned::Spanned;

/// How deep brackets may be nested; a file with more is not looked into.
const NESTING_MAX: usize = 200;

/// How many tokens may depend on each other, through brackets and beside each other; a file with
/// more is not looked into. People do not write hundreds.
const DEPTH_MAX: usize = 4_000;

/// Reads a program; one that is not Rust has its error and nothing else.
pub fn parse(source: &str) -> Program {
    let mut program = Program::default();
    match read(source) {
        None => program.error = Some(1),
        Some(Ok(file)) => {
            let owner = Owner { names: Vec::new(), annotations: annotations(&file.attrs) };
            items(&file.items, &owner, &mut program);
        }
        Some(Err(error)) => program.error = Some(error.span().start().line.max(1)),
    }
    program
}

/// A file as syntax; none if it is so deep that a parser is not let into it. The parser needs a
/// stack that is [large](crate::compare::on_a_large_stack) for what it is let into.
pub(crate) fn read(source: &str) -> Option<syn::Result<syn::File>> {
    if nesting(source) > NESTING_MAX {
        return None;
    }
    // As `syn::parse_file` does it, but the tokens are looked at first.
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let is_script = text.starts_with("#!") && !text[2..].trim_start().starts_with('[');
    let text = if is_script { &text[text.find('\n').unwrap_or(text.len())..] } else { text };
    let tokens: TokenStream = match text.parse() {
        Ok(tokens) => tokens,
        Err(error) => return Some(Err(syn::Error::from(error))),
    };
    if depth(tokens.clone(), 0) > DEPTH_MAX {
        return None;
    }
    Some(syn::parse2(tokens))
}

/// The tokens of a file, each with its place; none if it has no tokens of Rust, or is nested too
/// deeply.
pub(crate) fn tokens(source: &str) -> Option<TokenStream> {
    // What is left out before them would move their places.
    if nesting(source) > NESTING_MAX || source.starts_with('\u{feff}') {
        return None;
    }
    source.parse().ok()
}

/// How deep the syntax of tokens can be at most. Each token may be one level more: an operator
/// before its operand, a call behind a call, an `else if` after another. What ends an item, a
/// statement or an argument ends that.
fn depth(tokens: TokenStream, around: usize) -> usize {
    let (mut here, mut most, mut after_block) = (around, around, false);
    for token in tokens {
        let begins = match &token {
            TokenTree::Punct(punct) => matches!(punct.as_char(), ';' | ',' | '#'),
            TokenTree::Ident(word) => after_block && word != "else" && word != "as",
            TokenTree::Literal(_) => after_block,
            TokenTree::Group(_) => false,
        };
        here = if begins { around } else { here + 1 };
        most = most.max(here);
        after_block = false;
        if let TokenTree::Group(group) = token {
            after_block = group.delimiter() == Delimiter::Brace;
            most = most.max(depth(group.stream(), here));
        }
    }
    most
}

/// The deepest nesting of brackets, whatever they belong to.
fn nesting(source: &str) -> usize {
    let (mut depth, mut most) = (0usize, 0);
    for byte in source.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

#[derive(Clone)]
struct Owner {
    names: Vec<String>,
    annotations: Vec<Expr>,
}

impl Owner {
    fn within(&self, name: &str, attributes: &[syn::Attribute]) -> Owner {
        let mut inner = self.clone();
        inner.names.push(name.to_string());
        inner.annotations.extend(annotations(attributes));
        inner
    }
}

pub(super) fn line_of(node: &impl Spanned) -> usize {
    node.span().start().line.max(1)
}

pub(super) fn span_of(node: &impl Spanned) -> (usize, usize) {
    let range = node.span().byte_range();
    (range.start, range.end)
}

fn items(list: &[syn::Item], owner: &Owner, program: &mut Program) {
    for item in list {
        match item {
            syn::Item::Fn(function) => {
                let span = span_of(function);
                let line = line_of(function);
                program.items.push(self::function(
                    &function.sig,
                    &function.attrs,
                    &function.block,
                    owner,
                    (line, span),
                ));
            }
            syn::Item::Mod(module) => {
                if let Some((_, inner)) = &module.content {
                    let name = module.ident.to_string();
                    items(inner, &owner.within(&name, &module.attrs), program);
                }
            }
            syn::Item::Impl(block) => implementation(block, owner, program),
            syn::Item::Enum(list) if super::is_registry(&list.ident.to_string()) => {
                let ids = list.variants.iter().map(|v| (v.ident.to_string(), line_of(v)));
                program.ids.extend(ids);
            }
            syn::Item::Const(constant) => {
                let name = constant.ident.to_string();
                program.top.push(statements::binding(name, &constant.expr, line_of(constant)));
            }
            syn::Item::Static(constant) => {
                let name = constant.ident.to_string();
                program.top.push(statements::binding(name, &constant.expr, line_of(constant)));
            }
            syn::Item::Macro(called) => {
                functions_in(&called.mac.tokens, owner, program, 0);
            }
            _ => {}
        }
    }
}

fn implementation(block: &syn::ItemImpl, owner: &Owner, program: &mut Program) {
    let name = block.self_ty.to_token_stream().to_string().replace(' ', "");
    let inner = owner.within(&name, &block.attrs);
    for item in &block.items {
        if let syn::ImplItem::Fn(method) = item {
            let place = (line_of(method), span_of(method));
            let item = function(&method.sig, &method.attrs, &method.block, &inner, place);
            program.items.push(item);
        }
    }
}

fn function(
    signature: &syn::Signature,
    attributes: &[syn::Attribute],
    block: &syn::Block,
    owner: &Owner,
    (line, span): (usize, (usize, usize)),
) -> Item {
    let mut name = owner.names.clone();
    name.push(signature.ident.to_string());
    let mut all = owner.annotations.clone();
    all.extend(annotations(attributes));
    let parameters = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(typed.pat.to_token_stream().to_string()),
        _ => None,
    });
    let boolean = matches!(&signature.output, syn::ReturnType::Type(_, kind)
        if kind.to_token_stream().to_string() == "bool");
    Item {
        name,
        annotations: all,
        parameters: parameters.collect(),
        boolean,
        body: statements::block(block, 0),
        line,
        span,
    }
}

/// Attributes as calls: `#[ignore]`, `#[should_panic(expected = "x")]`, `#[cfg(test)]`.
pub(super) fn annotations(attributes: &[syn::Attribute]) -> Vec<Expr> {
    attributes
        .iter()
        .filter(|attribute| !attribute.path().is_ident("doc"))
        .map(|attribute| {
            let line = line_of(attribute);
            let name = path_text(attribute.path());
            let args = match &attribute.meta {
                syn::Meta::List(list) => meta_arguments(&list.tokens, line),
                _ => Vec::new(),
            };
            Expr::new(line, ExprKind::Call(Box::new(Expr::name(line, name)), args))
        })
        .collect()
}

fn meta_arguments(tokens: &TokenStream, line: usize) -> Vec<Arg> {
    let metas = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated
        .parse2(tokens.clone());
    match metas {
        Ok(list) => list
            .iter()
            .map(|expression| match expression {
                syn::Expr::Assign(pair) => {
                    let name = pair.left.to_token_stream().to_string();
                    Arg { name: Some(name), value: expressions::expr(&pair.right, 0) }
                }
                other => Arg { name: None, value: expressions::expr(other, 0) },
            })
            .collect(),
        Err(_) => vec![Arg { name: None, value: Expr::name(line, tokens.to_string()) }],
    }
}

pub(super) fn path_text(path: &syn::Path) -> String {
    let parts: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    parts.join("::")
}

/// Functions in the tokens of a macro, as those of `proptest!`.
fn functions_in(tokens: &TokenStream, owner: &Owner, program: &mut Program, depth: usize) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut annotations: Vec<Expr> = Vec::new();
    let mut at = 0;
    while at < trees.len() {
        match (&trees[at], trees.get(at + 1)) {
            (TokenTree::Punct(hash), _) if hash.as_char() == '#' => {
                at += 1;
                let inner =
                    matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == '!');
                at += usize::from(inner);
                if let Some(TokenTree::Group(group)) = trees.get(at) {
                    annotations.extend(attribute_in(&group.stream()));
                }
            }
            (TokenTree::Ident(word), Some(TokenTree::Ident(name))) if word == "fn" => {
                let place = (word.span().start().line.max(1), word.span().byte_range().start);
                let (item, after) = function_at(&trees, at, name.to_string(), owner, place);
                if let Some(mut item) = item {
                    // What configures the whole macro stays for the functions that follow.
                    item.annotations.extend(annotations.iter().cloned());
                    annotations.retain(|a| a.last_name().contains("config"));
                    program.items.push(item);
                }
                at = after;
            }
            (TokenTree::Group(group), _) if depth < 4 => {
                functions_in(&group.stream(), owner, program, depth + 1);
            }
            _ => {}
        }
        at += 1;
    }
}

fn attribute_in(tokens: &TokenStream) -> Option<Expr> {
    let meta: syn::Meta = syn::parse2(tokens.clone()).ok()?;
    let line = line_of(&meta);
    let args = match &meta {
        syn::Meta::List(list) => meta_arguments(&list.tokens, line),
        _ => Vec::new(),
    };
    let callee = Box::new(Expr::name(line, path_text(meta.path())));
    Some(Expr::new(line, ExprKind::Call(callee, args)))
}

/// `fn name(x in 0..10, y in any::<u8>()) { body }`.
fn function_at(
    trees: &[TokenTree],
    at: usize,
    name: String,
    owner: &Owner,
    (line, start): (usize, usize),
) -> (Option<Item>, usize) {
    let mut names = owner.names.clone();
    names.push(name);
    let mut item = Item { name: names, line, ..Item::default() };
    item.annotations.clone_from(&owner.annotations);
    for (index, tree) in trees.iter().enumerate().skip(at + 2) {
        let TokenTree::Group(group) = tree else { continue };
        match group.delimiter() {
            Delimiter::Parenthesis => {
                for (parameter, strategy) in strategies(&group.stream()) {
                    item.parameters.push(parameter);
                    item.annotations.extend(strategy);
                }
            }
            Delimiter::Brace => {
                let body = syn::Block::parse_within.parse2(group.stream());
                item.span = (start, group.span().byte_range().end);
                item.body = body.map_or(Vec::new(), |list| statements::list(&list, 0));
                return (Some(item), index);
            }
            _ => {}
        }
    }
    (None, at)
}

/// `x in 0..10` as a parameter and a call `strategy(0..10)`.
fn strategies(tokens: &TokenStream) -> Vec<(String, Option<Expr>)> {
    let mut found = Vec::new();
    let mut current: Vec<TokenTree> = Vec::new();
    let trees = tokens.clone().into_iter().map(Some).chain(std::iter::once(None));
    for tree in trees {
        let ends = match &tree {
            None => true,
            Some(TokenTree::Punct(p)) => p.as_char() == ',',
            _ => false,
        };
        if !ends {
            current.extend(tree);
            continue;
        }
        let word = current.iter().position(|t| matches!(t, TokenTree::Ident(i) if i == "in"));
        let split = word.unwrap_or(current.len());
        let name: TokenStream = current[..split].iter().cloned().collect();
        let strategy: TokenStream = current.iter().skip(split + 1).cloned().collect();
        let strategy = syn::parse2::<syn::Expr>(strategy).ok().map(|parsed| {
            let value = expressions::expr(&parsed, 0);
            let line = value.line;
            let callee = Box::new(Expr::name(line, "strategy"));
            Expr::new(line, ExprKind::Call(callee, vec![Arg { name: None, value }]))
        });
        if !name.is_empty() {
            found.push((name.to_string(), strategy));
        }
        current.clear();
    }
    found
}
