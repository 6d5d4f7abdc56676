//! How records hang together: who supersedes, answers, deviates from and supplements whom.

mod draw;

use crate::config::Config;
use crate::kind::Kind;
use crate::record::{Record, Records, ids, resolve};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A record in the graph.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// What it is called.
    pub id: String,
    /// Its kind.
    pub kind: Kind,
    /// Its title.
    pub title: String,
    /// Its status.
    pub status: String,
    /// Its file.
    pub path: String,
}

/// What one record is to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Takes its place.
    Supersedes,
    /// A gap that led to it.
    LedTo,
    /// The code is knowingly not what it says.
    DeviatesFrom,
    /// Has what changes often about it.
    Supplements,
    /// Mentions it.
    Mentions,
}

impl Relation {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Relation::Supersedes => "supersedes",
            Relation::LedTo => "led to",
            Relation::DeviatesFrom => "deviates from",
            Relation::Supplements => "supplements",
            Relation::Mentions => "mentions",
        }
    }
}

/// A relation between two records, by their places in [`Graph::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// From whom.
    pub from: usize,
    /// To whom.
    pub to: usize,
    /// What it is.
    pub relation: Relation,
}

/// All records and their relations.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Records by kind and number.
    pub nodes: Vec<Node>,
    /// Relations, sorted, each once; a mention only where there is nothing closer.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// The graph of these records.
    pub fn of(records: &Records, config: &Config) -> Graph {
        let node = |record: &Record| Node {
            id: record.label(),
            kind: record.id.kind,
            title: record.title.clone(),
            status: record.status(config).unwrap_or_default(),
            path: record.path.clone(),
        };
        let mut edges: BTreeSet<Edge> = BTreeSet::new();
        for (from, record) in records.all.iter().enumerate() {
            for (to, relation) in related(records, record, config) {
                if from != to {
                    edges.insert(Edge { from, to, relation });
                }
            }
        }
        let closer = edges.clone();
        edges.retain(|edge| {
            let pair = |other: &Edge| {
                (other.from, other.to) == (edge.from, edge.to)
                    || (other.from, other.to) == (edge.to, edge.from)
            };
            let around = |at: usize, to: usize| {
                let start = Edge { from: at, to, relation: Relation::Supersedes };
                closer.range(start..).take_while(move |e| (e.from, e.to) == (at, to))
            };
            edge.relation != Relation::Mentions
                || !around(edge.from, edge.to)
                    .chain(around(edge.to, edge.from))
                    .any(|other| pair(other) && other.relation != Relation::Mentions)
        });
        Graph { nodes: records.all.iter().map(node).collect(), edges: edges.into_iter().collect() }
    }

    /// For people: every record, and below it what it is to others.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut edges = self.edges.iter().peekable();
        for (at, node) in self.nodes.iter().enumerate() {
            let _ = writeln!(out, "{}  {}  {}", node.id, status(node), node.title);
            while let Some(edge) = edges.next_if(|edge| edge.from == at) {
                let other = &self.nodes[edge.to];
                let _ =
                    writeln!(out, "    {} {} ({})", edge.relation.words(), other.id, other.title);
            }
        }
        out
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        let edge = |edge: &Edge| {
            serde_json::json!({
                "from": self.nodes[edge.from].id,
                "to": self.nodes[edge.to].id,
                "relation": edge.relation,
            })
        };
        let edges: Vec<serde_json::Value> = self.edges.iter().map(edge).collect();
        serde_json::json!({"nodes": self.nodes, "edges": edges})
    }

    /// In the language of Graphviz.
    pub fn dot(&self) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut out = String::from("digraph records {\n  rankdir=LR;\n  node [shape=box];\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let label = format!("{}\\n{}\\n{}", node.id, quoted(&node.title), status(node));
            let style = if is_over(node) { ", style=dashed" } else { "" };
            let _ = writeln!(out, "  n{at} [label=\"{label}\"{style}];");
        }
        for edge in &self.edges {
            let dotted = if edge.relation == Relation::Mentions { ", style=dotted" } else { "" };
            let words = edge.relation.words();
            let _ = writeln!(out, "  n{} -> n{} [label=\"{words}\"{dotted}];", edge.from, edge.to);
        }
        out.push_str("}\n");
        out
    }

    /// As a picture.
    pub fn svg(&self) -> String {
        draw::svg(self)
    }
}

/// The status as a word, also if there is none.
fn status(node: &Node) -> String {
    match node.status.is_empty() {
        true => "(no status)".to_string(),
        false => node.status.replace(['\\', '"'], "'"),
    }
}

/// Whether a record no longer holds.
fn is_over(node: &Node) -> bool {
    ["Superseded", "Deprecated", "Closed", "Resolved", "Done"].contains(&node.status.as_str())
}

/// What a record is to others.
fn related(records: &Records, record: &Record, config: &Config) -> Vec<(usize, Relation)> {
    let at = |other: &Record| {
        let from = records.all.partition_point(|record| record.id < other.id);
        records.all[from..].iter().position(|r| r.path == other.path).map(|i| from + i)
    };
    let mut found = Vec::new();
    if let Some(field) = record.field("Supersedes") {
        let others = ids(&field.value).into_iter().filter_map(|(_, id)| records.by_id(id));
        found.extend(others.filter_map(at).map(|other| (other, Relation::Supersedes)));
    }
    // An open gap may mention a decision; only one that ended says where it led.
    let ended = record.status(config).is_some_and(|s| s == "Closed" || s == "ADR-Drafted");
    let related_adr = record.document.section("Related ADR");
    let parent = record.field("Parent").map(|field| field.range.clone());
    for link in &record.document.links {
        let path = crate::lint::target(&link.target).and_then(|path| resolve(&record.path, &path));
        let Some(other) = path.and_then(|path| records.by_path(&path)) else { continue };
        let decided = other.id.kind == Kind::Adr;
        let relation = match record.id.kind {
            Kind::Gap if ended && matches!(other.id.kind, Kind::Adr | Kind::Deviation) => {
                Relation::LedTo
            }
            Kind::Deviation
                if decided && related_adr.is_some_and(|s| s.body.contains(&link.at)) =>
            {
                Relation::DeviatesFrom
            }
            Kind::Supplement
                if decided && parent.as_ref().is_some_and(|p| p.contains(&link.at)) =>
            {
                Relation::Supplements
            }
            _ => Relation::Mentions,
        };
        found.extend(at(other).map(|other| (other, relation)));
    }
    found
}
