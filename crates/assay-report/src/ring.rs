//! A circle of things that must each come before the next, as SVG.
//!
//! ```
//! use assay_report::{Ring, RingNode, ring_svg};
//!
//! let node = |name: &str, next: &str| RingNode {
//!     name: name.into(),
//!     text: "r x [], append y 1".into(),
//!     kind: "rw".into(),
//!     next: next.into(),
//! };
//! let ring = Ring {
//!     title: "G2-item".into(),
//!     nodes: vec![node("T1", "x: without 2"), node("T2", "y: without 1")],
//! };
//! assert!(ring_svg(&ring).contains("T2"));
//! ```

use crate::clean;
use askama::Template;

/// A circle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ring {
    /// What it is.
    pub title: String,
    /// What stands on it, in order.
    pub nodes: Vec<RingNode>,
}

/// One thing on a circle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingNode {
    /// What it is called.
    pub name: String,
    /// What it did.
    pub text: String,
    /// Why it comes before the next one, in a word: `rw`.
    pub kind: String,
    /// Why, in a few words.
    pub next: String,
}

/// More nodes than this are left out.
const NODES_MAX: usize = 12;
const TEXT_CELLS_MAX: usize = 44;
const NEXT_CELLS_MAX: usize = 40;

#[derive(Template)]
#[template(path = "ring.svg")]
struct Picture {
    alone: bool,
    width: i32,
    height: i32,
    title: String,
    left_out: usize,
    boxes: Vec<Placed>,
}

struct Placed {
    y: i32,
    name: String,
    text: String,
    kind: String,
    class: &'static str,
    next: String,
    last: bool,
}

const ROW: i32 = 84;
const TOP: i32 = 52;

/// Draws a circle as a file of its own.
pub fn ring_svg(ring: &Ring) -> String {
    draw(ring, true)
}

/// Draws a circle: its nodes one below the other, each with an arrow to the next, and a long arrow
/// from the last back to the first.
pub(crate) fn draw(ring: &Ring, alone: bool) -> String {
    let shown = ring.nodes.len().min(NODES_MAX);
    let boxes = ring.nodes[..shown]
        .iter()
        .enumerate()
        .map(|(i, node)| Placed {
            y: TOP + i as i32 * ROW,
            name: clean::line(&node.name, 8),
            text: clean::line(&node.text, TEXT_CELLS_MAX),
            kind: clean::line(&node.kind, 10),
            class: class(&node.kind),
            next: clean::line(&node.next, NEXT_CELLS_MAX),
            last: i + 1 == shown,
        })
        .collect();
    let picture = Picture {
        alone,
        width: 640,
        height: TOP + shown as i32 * ROW + 8,
        title: clean::line(&ring.title, 70),
        left_out: ring.nodes.len() - shown,
        boxes,
    };
    picture.render().expect("rendering into a string cannot fail")
}

fn class(kind: &str) -> &'static str {
    match kind {
        "ww" => "ww",
        "wr" => "wr",
        "rw" => "rw",
        _ => "order",
    }
}
