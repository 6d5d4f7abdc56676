//! Rust source as a flat list of tokens.
//!
//! Rules about Rust look at tokens, not at a syntax tree: a syntax tree does not see into macro
//! calls such as `proptest! { … }`, which is where long and unfinished code likes to hide. Tokens
//! know strings and comments from code, so a `todo!` in a message is not mistaken for one.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// One token, with groups opened up into their two delimiters.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Word(String),
    Mark(char),
    /// A string or other literal as it is written, quotes and all.
    Literal(String),
    /// An opening delimiter, and how many tokens further its closing one is.
    Open(char, usize),
    Close(char),
}

/// A token and the line it is in, from 1.
pub struct Placed {
    pub token: Token,
    pub line: usize,
}

/// The tokens of a file. Doc comments arrive as `#[doc = "…"]`, as they do in the compiler.
pub fn tokens(path: &str, text: &str) -> Vec<Placed> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let stream: TokenStream =
        text.parse().unwrap_or_else(|error| panic!("{path} is not Rust: {error}"));
    let mut flat = Vec::new();
    flatten(stream, &mut flat);
    flat
}

fn flatten(stream: TokenStream, flat: &mut Vec<Placed>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Ident(word) => {
                flat.push(Placed { token: Token::Word(word.to_string()), line });
            }
            TokenTree::Punct(mark) => {
                flat.push(Placed { token: Token::Mark(mark.as_char()), line });
            }
            TokenTree::Literal(literal) => {
                flat.push(Placed { token: Token::Literal(literal.to_string()), line });
            }
            TokenTree::Group(group) => flatten_group(&group, flat),
        }
    }
}

fn flatten_group(group: &Group, flat: &mut Vec<Placed>) {
    let (open, close) = match group.delimiter() {
        Delimiter::Brace => ('{', '}'),
        Delimiter::Bracket => ('[', ']'),
        Delimiter::Parenthesis => ('(', ')'),
        Delimiter::None => (' ', ' '),
    };
    let at = flat.len();
    flat.push(Placed { token: Token::Open(open, 0), line: group.span_open().start().line });
    flatten(group.stream(), flat);
    flat.push(Placed { token: Token::Close(close), line: group.span_close().end().line });
    flat[at].token = Token::Open(open, flat.len() - 1 - at);
}

/// Whether the tokens from `at` on read like `pattern`: words and marks, with spaces between them.
pub fn reads(tokens: &[Placed], at: usize, pattern: &str) -> bool {
    pattern.split(' ').enumerate().all(|(i, wanted)| {
        tokens.get(at + i).is_some_and(|placed| match &placed.token {
            Token::Word(word) => word == wanted,
            Token::Mark(mark) | Token::Open(mark, _) | Token::Close(mark) => {
                wanted.chars().eq([*mark])
            }
            Token::Literal(_) => false,
        })
    })
}

/// The word at `at`, if there is one.
pub fn word(tokens: &[Placed], at: usize) -> Option<&str> {
    match &tokens.get(at)?.token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

/// Where the group that opens at `at` closes.
pub fn closing(tokens: &[Placed], at: usize) -> Option<usize> {
    match tokens.get(at)?.token {
        Token::Open(_, length) => Some(at + length),
        _ => None,
    }
}

/// The first brace from `from` on that is not inside another group, unless a `;` comes before it.
pub fn body(tokens: &[Placed], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(placed) = tokens.get(at) {
        match placed.token {
            Token::Open('{', _) => return Some(at),
            Token::Open(_, length) => at += length,
            Token::Mark(';') | Token::Close(_) => return None,
            _ => {}
        }
        at += 1;
    }
    None
}
