//! A change of a text that keeps what stands below each other below each other.

use super::Mistake;
use crate::syntax::text;
use std::ops::Range;
use tree_sitter::Node;

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    pub range: Range<usize>,
    pub text: String,
    pub mistake: Mistake,
}

impl Change {
    /// Something else instead of an expression.
    pub fn instead(node: Node<'_>, text: impl Into<String>, mistake: Mistake) -> Change {
        Change { range: node.start_byte()..node.end_byte(), text: text.into(), mistake }
    }

    /// The opposite of a condition.
    pub fn negated(node: Node<'_>, source: &str) -> Change {
        let open = "~(";
        let inner = indented(text(node, source), open.len());
        Change::instead(node, format!("{open}{inner})"), Mistake::Negate)
    }
}

/// Lists of `/\` and `\/` go by columns: every further line moves as far as the first one did.
pub fn indented(text: &str, by: usize) -> String {
    text.replace('\n', &format!("\n{}", " ".repeat(by)))
}
