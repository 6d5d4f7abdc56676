//! Formulas put together from pieces of a module without moving a column.

use crate::syntax::{line, text};
use tree_sitter::Node;

/// What stands between the whole and a part of it.
#[derive(Clone)]
pub enum Around<'t> {
    /// Names bound to elements of sets.
    Bound(Vec<Node<'t>>),
    /// A condition under which the part matters.
    Given(Node<'t>),
    /// A condition under which it does not.
    Unless(Node<'t>),
    /// Local definitions.
    Let(Vec<Node<'t>>),
    /// A parameter and what was given for it.
    Argument(String, Node<'t>),
}

impl<'t> Around<'t> {
    /// The pieces of the module in it.
    pub fn nodes(&self) -> Vec<Node<'t>> {
        match self {
            Around::Bound(nodes) | Around::Let(nodes) => nodes.clone(),
            Around::Given(node) | Around::Unless(node) | Around::Argument(_, node) => vec![*node],
        }
    }
}

/// A piece in the columns it stands in: lists of `/\` go by columns.
pub fn piece(node: Node<'_>, source: &str) -> String {
    let start = node.start_byte();
    let begin = source[..start].rfind('\n').map_or(0, |at| at + 1);
    let column = source[begin..start].chars().count();
    format!("\n{}{}\n", " ".repeat(column), text(node, source))
}

/// Some state (or step) in which `inner` holds, with everything around it.
pub fn exists(around: &[Around<'_>], inner: String, source: &str) -> String {
    around.iter().rev().fold(inner, |inner, one| match one {
        Around::Bound(bounds) => {
            let bounds: Vec<String> = bounds.iter().map(|bound| piece(*bound, source)).collect();
            format!("(\\E {} : {inner})", bounds.join(", "))
        }
        Around::Given(condition) => format!("(({}) /\\ {inner})", piece(*condition, source)),
        Around::Unless(condition) => format!("(~({}) /\\ {inner})", piece(*condition, source)),
        Around::Let(definitions) => {
            let texts: String = definitions.iter().map(|one| piece(*one, source)).collect();
            format!("(LET {texts} IN {inner})")
        }
        Around::Argument(name, value) => {
            format!("(LET {name} == ({}) IN {inner})", piece(*value, source))
        }
    })
}

/// The line of a node and its text in one line.
pub fn shown(node: Node<'_>, source: &str) -> (usize, String) {
    (line(node), text(node, source).split_whitespace().collect::<Vec<_>>().join(" "))
}
