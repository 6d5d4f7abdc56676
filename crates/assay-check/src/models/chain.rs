//! A list that shares its beginning with the lists it grew from.
//!
//! States of logs, stacks and strings differ by their last piece only. A [`Chain`] is that piece
//! and a pointer to the rest, with length and hash kept along, so a state costs one small node
//! however long the list is.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A list of pieces, cheap to extend, to shorten and to compare.
#[derive(Clone, Default, Debug)]
pub struct Chain<T>(Option<Arc<Node<T>>>);

#[derive(Debug)]
struct Node<T> {
    rest: Chain<T>,
    piece: T,
    len: usize,
    hash: u64,
}

impl<T: Clone + Eq + Hash> Chain<T> {
    pub(super) fn empty() -> Chain<T> {
        Chain(None)
    }

    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.len)
    }

    pub(super) fn push(&self, piece: T) -> Chain<T> {
        let mut hasher = rustc_hash::FxHasher::default();
        (self.hash_value(), &piece).hash(&mut hasher);
        let node = Node { rest: self.clone(), piece, len: self.len() + 1, hash: hasher.finish() };
        Chain(Some(Arc::new(node)))
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.0.as_ref().map(|node| &node.piece)
    }

    pub(super) fn without_last(&self) -> Option<Chain<T>> {
        self.0.as_ref().map(|node| node.rest.clone())
    }

    /// The pieces, last first.
    pub(super) fn backwards(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.0.as_deref(), |node| node.rest.0.as_deref())
            .map(|node| &node.piece)
    }

    fn hash_value(&self) -> u64 {
        self.0.as_ref().map_or(0, |node| node.hash)
    }

    /// The bytes one more piece costs.
    pub(super) const PIECE_BYTES: usize = size_of::<Node<T>>() + 16;
}

impl<T: Clone + Eq + Hash> PartialEq for Chain<T> {
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self.0.as_ref(), other.0.as_ref());
        loop {
            match (a, b) {
                (None, None) => return true,
                (Some(x), Some(y)) if Arc::ptr_eq(x, y) => return true,
                // The hash only speeds up "different"; equality is always seen through to the end.
                (Some(x), Some(y)) if x.len == y.len && x.hash == y.hash && x.piece == y.piece => {
                    (a, b) = (x.rest.0.as_ref(), y.rest.0.as_ref());
                }
                _ => return false,
            }
        }
    }
}

impl<T: Clone + Eq + Hash> Eq for Chain<T> {}

impl<T: Clone + Eq + Hash> Hash for Chain<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash_value());
    }
}

impl<T> Drop for Chain<T> {
    /// Unlinks node by node: the derived drop would recurse once per piece and overflow the stack.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(node) = next {
            next = Arc::into_inner(node).and_then(|mut node| node.rest.0.take());
        }
    }
}
