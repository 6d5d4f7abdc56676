//! Shapes of partitions: who cannot reach whom.
//!
//! A [`Cut`] says that messages from one node to another do not arrive, whoever made the
//! connection. Shapes are pure functions from node names to cuts; [`rules_for`] finds the links and
//! directions that carry those messages: what `a` says to `b` travels as requests on the link from
//! `a` to `b` and as responses on the link from `b` to `a`, and a cut that forgets the second is
//! none.
//!
//! ```
//! use assay_nemesis::shapes::{Cut, isolate};
//!
//! let cuts = isolate("n1", &["n1", "n2", "n3"])?;
//! assert_eq!(cuts.len(), 4, "to and from each of the others");
//! assert!(cuts.contains(&Cut::new("n1", "n3")) && cuts.contains(&Cut::new("n3", "n1")));
//! # Ok::<(), assay_nemesis::shapes::ShapeError>(())
//! ```

use crate::proxy::{Direction, LinkInfo, LinkRule, Rules};
use std::collections::BTreeSet;

/// Messages from one node to another do not arrive.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cut {
    /// Who sends.
    pub from: String,
    /// Who does not receive.
    pub to: String,
}

impl Cut {
    /// From one to the other.
    pub fn new(from: &str, to: &str) -> Cut {
        Cut { from: from.to_string(), to: to.to_string() }
    }
}

/// A set of cuts, in the order of the names.
pub type Cuts = BTreeSet<Cut>;

/// Why there is no such partition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ShapeError {
    /// A node stands twice, or on both sides.
    #[error("node `{0}` is named twice")]
    Twice(String),
    /// A side of the partition is empty.
    #[error("a partition needs somebody on each side")]
    EmptySide,
    /// A node is not among the nodes.
    #[error("there is no node `{0}`")]
    Unknown(String),
    /// The shape needs more nodes.
    #[error("a {shape} needs at least {nodes_min} nodes, there are {nodes}")]
    TooFew {
        /// Its name.
        shape: &'static str,
        /// How many it needs.
        nodes_min: usize,
        /// How many there are.
        nodes: usize,
    },
}

/// Nobody of one side reaches anybody of the other.
pub fn full(left: &[&str], right: &[&str]) -> Result<Cuts, ShapeError> {
    let mut cuts = asymmetric(left, right)?;
    cuts.extend(asymmetric(right, left)?);
    Ok(cuts)
}

/// What `from` says does not reach `to`; what `to` says arrives.
pub fn asymmetric(from: &[&str], to: &[&str]) -> Result<Cuts, ShapeError> {
    if from.is_empty() || to.is_empty() {
        return Err(ShapeError::EmptySide);
    }
    distinct(&[from, to].concat())?;
    let pairs = from.iter().flat_map(|a| to.iter().map(move |b| Cut::new(a, b)));
    Ok(pairs.collect())
}

/// One node alone: a leader, for example, that the caller has just found.
pub fn isolate(node: &str, nodes: &[&str]) -> Result<Cuts, ShapeError> {
    distinct(nodes)?;
    if !nodes.contains(&node) {
        return Err(ShapeError::Unknown(node.to_string()));
    }
    let others: Vec<&str> = nodes.iter().copied().filter(|other| *other != node).collect();
    full(&[node], &others)
}

/// The largest minority, the first of the given nodes, cut off from the others, who can go on.
pub fn minority(nodes: &[&str]) -> Result<Cuts, ShapeError> {
    at_least("minority partition", 3, nodes)?;
    distinct(nodes)?;
    let (few, many) = nodes.split_at((nodes.len() - 1) / 2);
    full(few, many)
}

/// The smallest majority, the last of the given nodes, cut off from the others and from `outside`
/// (clients): it could go on, and nobody can ask it to.
pub fn majority(nodes: &[&str], outside: &[&str]) -> Result<Cuts, ShapeError> {
    at_least("majority partition", 3, nodes)?;
    let (few, many) = nodes.split_at((nodes.len() - 1) / 2);
    full(many, &[few, outside].concat())
}

/// Two halves that do not see each other; `bridge` sees both. The halves are as equal as can be, in
/// the order given.
pub fn bridge(bridge: &str, nodes: &[&str]) -> Result<Cuts, ShapeError> {
    at_least("bridge", 3, nodes)?;
    distinct(nodes)?;
    if !nodes.contains(&bridge) {
        return Err(ShapeError::Unknown(bridge.to_string()));
    }
    let others: Vec<&str> = nodes.iter().copied().filter(|other| *other != bridge).collect();
    let (left, right) = others.split_at(others.len() / 2);
    full(left, right)
}

/// Each node sees only its neighbours in the ring of the given order: just so many on each side
/// that with itself they are a majority, and no two nodes see the same one.
pub fn ring(nodes: &[&str]) -> Result<Cuts, ShapeError> {
    at_least("ring", 4, nodes)?;
    distinct(nodes)?;
    let count = nodes.len();
    let others_in_majority = count / 2;
    let reach = others_in_majority.div_ceil(2);
    let mut cuts = Cuts::new();
    for (i, a) in nodes.iter().enumerate() {
        for (j, b) in nodes.iter().enumerate() {
            let apart = i.abs_diff(j);
            if apart.min(count - apart) > reach {
                cuts.insert(Cut::new(a, b));
            }
        }
    }
    Ok(cuts)
}

fn at_least(shape: &'static str, nodes_min: usize, nodes: &[&str]) -> Result<(), ShapeError> {
    let nodes = nodes.len();
    if nodes < nodes_min { Err(ShapeError::TooFew { shape, nodes_min, nodes }) } else { Ok(()) }
}

fn distinct(nodes: &[&str]) -> Result<(), ShapeError> {
    let mut seen = BTreeSet::new();
    let twice = nodes.iter().find(|node| !seen.insert(**node));
    twice.map_or(Ok(()), |node| Err(ShapeError::Twice(node.to_string())))
}

/// The links and directions that carry what is cut, with `rules` on each, in the order of links.
pub fn rules_for(cuts: &Cuts, links: &[LinkInfo], rules: Rules) -> Vec<LinkRule> {
    let mut imposed = Vec::new();
    for link in links {
        let ways = [
            (Direction::Request, &link.from, &link.to),
            (Direction::Response, &link.to, &link.from),
        ];
        for (direction, sender, receiver) in ways {
            if cuts.contains(&Cut::new(sender, receiver)) {
                imposed.push(LinkRule { link: link.id, direction, rules });
            }
        }
    }
    imposed
}

/// Every link of a node, both ways: a slow node is a delay there.
pub fn rules_around(node: &str, links: &[LinkInfo], rules: Rules) -> Vec<LinkRule> {
    let touching = links.iter().filter(|link| link.from == node || link.to == node);
    touching
        .flat_map(|link| {
            Direction::BOTH.map(|direction| LinkRule { link: link.id, direction, rules })
        })
        .collect()
}
