//! A cycle in the language of Graphviz.

use crate::explain::Story;
use std::fmt::Write;

/// The story's transactions and steps as a graph.
pub fn dot(name: &str, story: &Story) -> String {
    let mut text = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(name));
    for txn in &story.txns {
        let label = format!("{}: {}", txn.name, txn.text);
        writeln!(text, "  {} [label={}];", txn.name, quoted(&label)).expect("strings grow");
    }
    for step in &story.steps {
        let (from, to) = (&story.txns[step.from].name, &story.txns[step.to].name);
        let label = format!("{} {}", step.label.name(), step.short);
        writeln!(text, "  {from} -> {to} [label={}];", quoted(&label)).expect("strings grow");
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "))
}
