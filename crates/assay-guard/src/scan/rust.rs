//! Rust files as tokens: declarations and what uses them.

use super::matrix::Site;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// A declaration in `invariants! { … }`.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// The id.
    pub id: String,
    /// `state`, `action` or `eventually`.
    pub kind: String,
    /// The name of its static.
    pub name: String,
    /// The registry it is in.
    pub registry: String,
    /// The operator; empty if none is given.
    pub tla: String,
    /// The sentence.
    pub says: String,
    /// The reference.
    pub see: String,
    /// Where.
    pub site: Site,
}

/// What a name is used for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Use {
    /// `check!(NAME, …)`.
    Check,
    /// Like that, but compiled into debug builds only.
    DebugCheck,
    /// A registry in a model of states.
    StateModel,
    /// A registry in a model of steps.
    StepModel,
    /// A registry that judges a walk or a recording.
    Walk,
    /// A registry or an invariant whose counters are written.
    Export,
    /// Anything in a test.
    Test,
}

/// A use of a name, or of an id in a string.
#[derive(Clone, Debug)]
pub struct Used {
    /// The name or the id.
    pub name: String,
    /// What for.
    pub usage: Use,
    /// Where.
    pub site: Site,
}

/// What is in one file.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Declared here.
    pub declarations: Vec<Declaration>,
    /// Used here.
    pub uses: Vec<Used>,
}

/// Whether a file is part of tests as a whole.
pub fn is_test(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "benches" | "fuzz"))
        || path.ends_with("_test.rs")
        || path.ends_with("/tests.rs")
}

/// Reads a file; nothing if it is not Rust. What stands in tests declares nothing.
pub fn read(path: &str, text: &str) -> Option<Found> {
    let tokens: TokenStream = text.parse().ok()?;
    let mut reader = Reader { path, found: Found::default() };
    reader.walk(tokens, Context { test: is_test(path), debug: false, depth: 0 });
    Some(reader.found)
}

#[derive(Clone, Copy)]
struct Context {
    test: bool,
    debug: bool,
    depth: usize,
}

/// Brackets within brackets that are looked into: nobody writes more, and a stack has an end.
const DEPTH_MAX: usize = 200;

struct Reader<'t> {
    path: &'t str,
    found: Found,
}

/// The name of a generic function or type whose argument is a registry.
fn takes_registry(name: &str) -> &'static [Use] {
    match name {
        "States" | "properties" => &[Use::StateModel],
        "Steps" => &[Use::StepModel],
        "explore" => &[Use::StateModel, Use::StepModel],
        "run" | "walk" | "follow" => &[Use::Walk],
        _ => &[],
    }
}

/// How many tokens are looked at for the arguments of a generic.
const GENERIC_TOKENS_MAX: usize = 60;

impl Reader<'_> {
    fn site(&self, token: &TokenTree) -> Site {
        Site { file: self.path.to_string(), line: token.span().start().line }
    }

    fn used(&mut self, token: &TokenTree, name: String, usage: Use) {
        let site = self.site(token);
        self.found.uses.push(Used { name, usage, site });
    }

    fn walk(&mut self, tokens: TokenStream, context: Context) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut next = context;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ';' => next = context,
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let words = attribute(&tokens[at + 1..]);
                    let conditional = words.contains("cfg") && !words.contains("not");
                    next.test |= words.contains("test") && (conditional || words.len() == 1);
                    next.debug |= conditional && words.contains("debug_assertions");
                }
                TokenTree::Group(group) => {
                    if context.depth < DEPTH_MAX {
                        let depth = context.depth + 1;
                        self.walk(group.stream(), Context { depth, ..next });
                    }
                    if group.delimiter() == Delimiter::Brace {
                        next = context;
                    }
                }
                TokenTree::Ident(ident) => self.ident(&ident.to_string(), &tokens, at, next),
                TokenTree::Literal(_) if next.test => {
                    if let Some(id) = string(token) {
                        self.used(token, id, Use::Test);
                    }
                }
                _ => {}
            }
        }
    }

    fn ident(&mut self, name: &str, tokens: &[TokenTree], at: usize, context: Context) {
        let token = &tokens[at];
        let bang = is_punct(tokens.get(at + 1), '!');
        if bang && let Some(TokenTree::Group(group)) = tokens.get(at + 2) {
            match name {
                "invariants" if !context.test => self.declarations(group.stream()),
                "check" => self.check(group.stream(), context),
                _ => {}
            }
        }
        if context.test {
            self.used(token, name.to_string(), Use::Test);
        }
        for usage in takes_registry(name) {
            for argument in generics(&tokens[at + 1..]) {
                self.used(token, argument, *usage);
            }
        }
        if name == "prometheus" && !context.test {
            self.exports(tokens, at);
        }
    }

    /// `R::prometheus()` exports what is before it, `prometheus([…])` what is in the brackets.
    fn exports(&mut self, tokens: &[TokenTree], at: usize) {
        let path =
            at >= 3 && is_punct(tokens.get(at - 1), ':') && is_punct(tokens.get(at - 2), ':');
        if path && let Some(TokenTree::Ident(owner)) = tokens.get(at - 3) {
            self.used(&tokens[at], owner.to_string(), Use::Export);
        }
        if let Some(TokenTree::Group(group)) = tokens.get(at + 1) {
            let mut names = Vec::new();
            idents(group.stream(), 0, &mut names);
            for name in names {
                self.used(&tokens[at], name, Use::Export);
            }
        }
    }

    fn check(&mut self, stream: TokenStream, context: Context) {
        // The last name before the first comma: `check!(crate::promises::BK1, bank)`.
        let first = stream.into_iter().take_while(|token| !is_punct(Some(token), ','));
        let ident = first.filter(|token| matches!(token, TokenTree::Ident(_))).last();
        let usage = match context {
            Context { test: true, .. } => Use::Test,
            Context { debug: true, .. } => Use::DebugCheck,
            _ => Use::Check,
        };
        if let Some(token) = ident {
            self.used(&token, token.to_string(), usage);
        }
    }

    fn declarations(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut registry = String::new();
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Ident(kind) = token else { continue };
            let kind = kind.to_string();
            let name = match tokens.get(at + 1) {
                Some(TokenTree::Ident(name)) => name.to_string(),
                _ => continue,
            };
            match (kind.as_str(), tokens.get(at + 2)) {
                ("registry", _) => registry = name,
                ("state" | "action" | "eventually", Some(TokenTree::Group(body))) => {
                    let mut declared = fields(body.stream());
                    declared.site = self.site(&tokens[at + 1]);
                    let names = (kind, name, registry.clone());
                    (declared.kind, declared.name, declared.registry) = names;
                    if !declared.id.is_empty() {
                        self.found.declarations.push(declared);
                    }
                }
                _ => {}
            }
        }
    }
}

fn fields(stream: TokenStream) -> Declaration {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut declared = Declaration::default();
    for at in 0..tokens.len() {
        let (TokenTree::Ident(field), true) = (&tokens[at], is_punct(tokens.get(at + 1), ':'))
        else {
            continue;
        };
        let Some(value) = tokens.get(at + 2).and_then(string) else { continue };
        match field.to_string().as_str() {
            "id" => declared.id = value,
            "tla" => declared.tla = value,
            "says" => declared.says = value,
            "see" => declared.see = value,
            _ => {}
        }
    }
    declared
}

fn is_punct(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// The words of an attribute: `#[cfg(test)]` is `cfg` and `test`.
fn attribute(after: &[TokenTree]) -> BTreeSet<String> {
    let group = after.iter().take(2).find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => Some(group),
        _ => None,
    });
    let mut names = Vec::new();
    if let Some(group) = group {
        idents(group.stream(), 0, &mut names);
    }
    names.into_iter().collect()
}

fn idents(stream: TokenStream, depth: usize, names: &mut Vec<String>) {
    for token in stream {
        match token {
            TokenTree::Ident(ident) => names.push(ident.to_string()),
            TokenTree::Group(group) if depth < DEPTH_MAX => {
                idents(group.stream(), depth + 1, names);
            }
            _ => {}
        }
    }
}

/// The names between `<` and `>`, with or without `::` before them.
fn generics(after: &[TokenTree]) -> Vec<String> {
    let colons = after.iter().take_while(|token| is_punct(Some(*token), ':')).count();
    let mut rest = after[colons..].iter().take(GENERIC_TOKENS_MAX);
    if !is_punct(rest.next(), '<') {
        return Vec::new();
    }
    let mut depth = 1;
    let mut names = Vec::new();
    for token in rest {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => depth -= 1,
            TokenTree::Ident(ident) => names.push(ident.to_string()),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The content of a plain string.
fn string(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    syn::parse_str::<syn::LitStr>(&literal.to_string()).ok().map(|text| text.value())
}
