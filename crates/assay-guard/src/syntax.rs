//! Syntax trees of tree-sitter, with what every front end needs.

use tree_sitter::{Language, Node, Parser, Tree};

/// How long a file may take to parse, in callbacks of the parser; a file of some megabytes needs a
/// fraction of it.
const PROGRESS_MAX: usize = 200_000;

/// Parses a text; nothing if the parser gave up.
pub fn parse(language: &Language, source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let bytes = source.as_bytes();
    let mut calls = 0usize;
    let mut progress = |_: &tree_sitter::ParseState| {
        calls += 1;
        match calls > PROGRESS_MAX {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut progress);
    let mut read = |offset: usize, _: tree_sitter::Point| bytes.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// The text of a node.
pub fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    source.get(node.start_byte()..node.end_byte()).unwrap_or_default()
}

/// The line of a node, from one.
pub fn line(node: Node<'_>) -> usize {
    node.start_position().row + 1
}

/// The children of a node.
pub fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// The named children of a node, without comments.
pub fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !is_comment(child.kind())).collect()
}

/// The children under a field, without punctuation and comments.
pub fn field<'t>(node: Node<'t>, name: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let all: Vec<Node<'t>> = node.children_by_field_name(name, &mut cursor).collect();
    all.into_iter().filter(|child| child.is_named() && !is_comment(child.kind())).collect()
}

/// Whether a kind of node is a comment.
pub fn is_comment(kind: &str) -> bool {
    kind.ends_with("comment") || kind == "block_comment_text"
}

/// The line of the first place that is not of the language, if there is one.
pub fn first_error(tree: &Tree) -> Option<usize> {
    let mut cursor = tree.walk();
    if !tree.root_node().has_error() {
        return None;
    }
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(line(node));
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(line(tree.root_node()));
            }
        }
    }
}
