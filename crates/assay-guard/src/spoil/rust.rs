//! Functions of Rust, from its tokens: so those that stand in macros (`proptest!`) are found, too.

use super::{Edit, Found, Name, Way};
use crate::code::rust;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The functions of a file; nothing if it is not Rust.
pub(super) fn functions(text: &str, way: &Way) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    walk(rust::tokens(text)?, way, &mut found);
    Some(found)
}

fn walk(tokens: TokenStream, way: &Way, found: &mut Vec<Found>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for at in 0..tokens.len() {
        found.extend(function(&tokens, at, way));
        if let TokenTree::Group(group) = &tokens[at] {
            walk(group.stream(), way, found);
        }
    }
}

/// The function whose `fn` stands here, if it has a body.
fn function(tokens: &[TokenTree], at: usize, way: &Way) -> Option<Found> {
    let TokenTree::Ident(word) = &tokens[at] else { return None };
    let (true, Some(TokenTree::Ident(name))) = (word == "fn", tokens.get(at + 1)) else {
        return None;
    };
    let body = tokens[at + 2..].iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
        TokenTree::Punct(punct) if punct.as_char() == ';' => Some(None),
        _ => None,
    })??;
    let before = Before::of(&tokens[..at]);
    let place = inside(body);
    let edit = |text: String| -> Vec<Edit> { vec![(place..place, text)] };
    // By its path: a macro of that name may be anybody's. Behind an `if` nothing is unreachable,
    // so nothing is warned of.
    let fails = format!(" if true {{ {} }} ", way.rust());
    let as_test = match (before.is_test, before.should_panic) {
        (false, _) => Vec::new(),
        (true, false) => edit(fails.clone()),
        (true, true) => edit(" if true { return; } ".to_string()),
    };
    let as_function = edit(fails);
    let lines = (word.span().start().line, body.span_close().end().line);
    let (name, at_build) = (Name::Word(name.to_string()), before.is_const);
    Some(Found { name, lines, as_test, as_function, at_build })
}

/// Behind the bracket, and behind attributes of the body.
fn inside(body: &Group) -> usize {
    let mut place = body.span_open().byte_range().end;
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    for three in tokens.chunks(3) {
        let [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(attribute)] = three
        else {
            break;
        };
        if (hash.as_char(), bang.as_char()) != ('#', '!') {
            break;
        }
        place = attribute.span_close().byte_range().end;
    }
    place
}

/// What stands before a `fn`, as far as it matters.
#[derive(Default)]
struct Before {
    is_test: bool,
    should_panic: bool,
    is_const: bool,
}

impl Before {
    fn of(tokens: &[TokenTree]) -> Before {
        let mut before = Before::default();
        for token in tokens.iter().rev() {
            match token {
                TokenTree::Ident(word) if word == "const" => before.is_const = true,
                TokenTree::Ident(word) => {
                    let known = ["pub", "async", "unsafe", "extern", "default", "crate"];
                    if !known.iter().any(|known| word == known) {
                        break;
                    }
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    before.attribute(group);
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {}
                TokenTree::Punct(punct) if punct.as_char() == '#' => {}
                TokenTree::Literal(_) => {}
                _ => break,
            }
        }
        before
    }

    /// `#[test]`, `#[tokio::test]`, `#[rstest]`, `#[test_case(1)]`, `#[case(1)]`.
    fn attribute(&mut self, group: &Group) {
        let path = group.stream().into_iter();
        let path =
            path.take_while(|token| matches!(token, TokenTree::Ident(_) | TokenTree::Punct(_)));
        for token in path {
            let TokenTree::Ident(word) = token else { continue };
            let word = word.to_string();
            self.is_test |= word.contains("test") || word == "case" || word == "quickcheck";
            self.should_panic |= word == "should_panic";
        }
    }
}
