//! Who must come before whom: a graph of transactions with labelled edges.
//!
//! Node `t` below [`Graph::txns`] is transaction `t`. The nodes above are *joints*: many
//! transactions lead into a joint and many lead out of it, and the pair of edges stands for one.
//! So "everyone who read this version comes before everyone who wrote a later one" costs as many
//! edges as there are readers and writers, not their product. Edges out of a joint have the label
//! [`Label::Join`] and no length.

/// Why one transaction comes before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Label {
    /// Both wrote the same key, the first an earlier version.
    Ww = 0,
    /// The second read what the first wrote.
    Wr = 1,
    /// The first read a version that the second overwrote.
    Rw = 2,
    /// The same process issued them one after the other.
    Process = 3,
    /// The first had ended before the second began.
    Realtime = 4,
    /// The rest of an edge that led into a joint.
    Join = 5,
    /// The rest of a real-time edge.
    TimeJoin = 6,
}

impl Label {
    const ALL: [Label; 7] = [
        Label::Ww,
        Label::Wr,
        Label::Rw,
        Label::Process,
        Label::Realtime,
        Label::Join,
        Label::TimeJoin,
    ];

    /// A set with this label alone.
    pub fn set(self) -> Labels {
        Labels(1 << self as u8)
    }

    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            Label::Ww => "ww",
            Label::Wr => "wr",
            Label::Rw => "rw",
            Label::Process => "process",
            Label::Realtime => "realtime",
            Label::Join | Label::TimeJoin => "join",
        }
    }
}

/// A set of labels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Labels(u8);

impl Labels {
    /// The labels of both.
    pub const fn and(self, other: Labels) -> Labels {
        Labels(self.0 | other.0)
    }

    /// Whether a label is in the set.
    #[inline]
    pub fn has(self, label: Label) -> bool {
        self.0 & (1 << label as u8) != 0
    }

    /// Write-write dependencies, and what leads out of joints.
    pub const WW: Labels = Labels(1 << Label::Ww as u8 | 1 << Label::Join as u8);
    /// Write-read dependencies.
    pub const WR: Labels = Labels(1 << Label::Wr as u8);
    /// Anti-dependencies.
    pub const RW: Labels = Labels(1 << Label::Rw as u8);
    /// The order of each process.
    pub const PROCESS: Labels = Labels(1 << Label::Process as u8);
    /// Real time.
    pub const REALTIME: Labels = Labels(1 << Label::Realtime as u8 | 1 << Label::TimeJoin as u8);
}

/// A target and a label in one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge(u32);

const LABEL_BITS: u32 = 3;

/// The most nodes a graph can have.
pub const NODES_MAX: usize = 1 << (32 - LABEL_BITS);

impl Edge {
    pub(crate) fn new(target: u32, label: Label) -> Edge {
        debug_assert!((target as usize) < NODES_MAX);
        Edge(target << LABEL_BITS | label as u32)
    }

    /// Where it leads.
    #[inline]
    pub fn target(self) -> u32 {
        self.0 >> LABEL_BITS
    }

    /// Why.
    #[inline]
    pub fn label(self) -> Label {
        Label::ALL[(self.0 & 7) as usize]
    }
}

/// Collects edges in any order.
#[derive(Default, Debug)]
pub(crate) struct Edges {
    pub(crate) list: Vec<(u32, Edge)>,
}

impl Edges {
    #[inline]
    pub(crate) fn add(&mut self, from: u32, to: u32, label: Label) {
        if from != to {
            self.list.push((from, Edge::new(to, label)));
        }
    }
}

/// A graph by rows: the edges out of a node stand together.
#[derive(Debug)]
pub struct Graph {
    /// How many nodes are transactions; they come first.
    pub txns: u32,
    offsets: Vec<u32>,
    edges: Vec<Edge>,
}

impl Graph {
    pub(crate) fn new(txns: u32, nodes: usize, edges: &Edges) -> Graph {
        assert!(nodes < NODES_MAX, "a graph has fewer than 2^29 nodes");
        let mut offsets = vec![0u32; nodes + 1];
        for &(from, _) in &edges.list {
            offsets[from as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut sorted = vec![Edge(0); edges.list.len()];
        for &(from, edge) in &edges.list {
            let place = &mut next[from as usize];
            sorted[*place as usize] = edge;
            *place += 1;
        }
        Graph { txns, offsets, edges: sorted }
    }

    /// How many nodes there are, with joints.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// The edges out of a node.
    #[inline]
    pub(crate) fn edges(&self, node: u32) -> &[Edge] {
        let i = node as usize;
        &self.edges[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}
