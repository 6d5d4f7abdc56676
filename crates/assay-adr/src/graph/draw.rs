//! The graph as a picture: gaps on the left, decisions in the middle, what belongs to them on the
//! right; relations as curves with words.

use super::{Edge, Graph, Node, Relation, is_over, status};
use crate::kind::Kind;
use std::fmt::Write;

const BOX_WIDTH: usize = 280;
const BOX_HEIGHT: usize = 52;
const ROW: usize = 72;
const COLUMN: usize = 420;
const MARGIN: usize = 100;
/// Room for the words beside the last column.
const WORDS_WIDTH: usize = 40;
const TITLE_CHARS: usize = 34;

/// The column of a kind.
fn column(kind: Kind, columns: &[Kind]) -> usize {
    let lane = |kind: Kind| match kind {
        Kind::Gap => 0,
        Kind::Adr => 1,
        Kind::Deviation | Kind::Supplement => 2,
    };
    let mut lanes: Vec<usize> = columns.iter().map(|kind| lane(*kind)).collect();
    lanes.sort_unstable();
    lanes.dedup();
    lanes.iter().position(|own| *own == lane(kind)).unwrap_or(0)
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn shortened(text: &str) -> String {
    match text.chars().count() > TITLE_CHARS {
        true => text.chars().take(TITLE_CHARS - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}

/// Colours that can be told apart without seeing red or green; the word stands beside them.
fn colour(node: &Node) -> &'static str {
    match node.status.as_str() {
        "Accepted" | "Resolved" | "Done" | "Closed" => "#6DB6FE",
        "Superseded" | "Deprecated" => "#D8D8D8",
        _ => "#FFAA26",
    }
}

/// Draws it.
pub fn svg(graph: &Graph) -> String {
    let kinds: Vec<Kind> = graph.nodes.iter().map(|node| node.kind).collect();
    let mut next = [0usize; 3];
    let places: Vec<(usize, usize)> = graph
        .nodes
        .iter()
        .map(|node| {
            let lane = column(node.kind, &kinds);
            let row = next[lane];
            next[lane] += 1;
            (MARGIN + lane * COLUMN, MARGIN / 2 + row * ROW)
        })
        .collect();
    let lanes = next.iter().filter(|rows| **rows > 0).count().max(1);
    let width = 2 * MARGIN + (lanes - 1) * COLUMN + BOX_WIDTH + WORDS_WIDTH;
    let height = MARGIN + next.iter().max().unwrap_or(&0) * ROW;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\" \
         role=\"img\">\n<title>{} records and how they hang together</title>\n<defs><marker \
         id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" \
         fill=\"#555\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        graph.nodes.len()
    );
    for edge in &graph.edges {
        curve(&mut out, edge, &places);
    }
    for (node, (x, y)) in graph.nodes.iter().zip(&places) {
        record(&mut out, node, *x, *y);
    }
    out.push_str("</svg>\n");
    out
}

fn curve(out: &mut String, edge: &Edge, places: &[(usize, usize)]) {
    let ((x1, y1), (x2, y2)) = (places[edge.from], places[edge.to]);
    let (from, to) = (y1 + BOX_HEIGHT / 2, y2 + BOX_HEIGHT / 2);
    let style = match edge.relation {
        Relation::Mentions => " stroke-dasharray=\"2 4\" stroke-opacity=\"0.7\"",
        _ => "",
    };
    let words = edge.relation.words();
    let (path, label_x) = if x1 == x2 {
        // Within a column: an arc at its right side, wider the further it goes.
        let side = x1 + BOX_WIDTH;
        let wide = side + 20 + (y1.abs_diff(y2) / ROW).min(6) * 12;
        (format!("M{side} {from} C{wide} {from} {wide} {to} {side} {to}"), wide - 8)
    } else if x1 < x2 {
        let (start, middle) = (x1 + BOX_WIDTH, (x1 + BOX_WIDTH + x2) / 2);
        (format!("M{start} {from} C{middle} {from} {middle} {to} {x2} {to}"), middle)
    } else {
        let (end, middle) = (x2 + BOX_WIDTH, (x2 + BOX_WIDTH + x1) / 2);
        (format!("M{x1} {from} C{middle} {from} {middle} {to} {end} {to}"), middle)
    };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#555\"{style} marker-end=\"url(#tip)\"/>"
    );
    if edge.relation != Relation::Mentions {
        let y = (from + to) / 2;
        let _ = writeln!(
            out,
            "<text x=\"{label_x}\" y=\"{y}\" font-size=\"11\" fill=\"#333\" \
             text-anchor=\"middle\">{words}</text>"
        );
    }
}

fn record(out: &mut String, node: &Node, x: usize, y: usize) {
    let dashed = if is_over(node) { " stroke-dasharray=\"5 3\"" } else { "" };
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" \
         height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"#fff\" stroke=\"#333\"{dashed}/><rect x=\"{x}\" \
         y=\"{y}\" width=\"8\" height=\"{BOX_HEIGHT}\" fill=\"{}\"/><text x=\"{}\" y=\"{}\" \
         font-weight=\"bold\">{}</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><text \
         x=\"{}\" y=\"{}\">{}</text></g>",
        escaped(&format!("{} {}", node.path, node.title)),
        colour(node),
        x + 18,
        y + 20,
        escaped(&shortened(&node.id)),
        x + BOX_WIDTH - 10,
        y + 20,
        escaped(&status(node)),
        x + 18,
        y + 40,
        escaped(&shortened(&node.title)),
    );
}
