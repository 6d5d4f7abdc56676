//! Which kinds of cycles a component has, decided exactly and without enumerating them.
//!
//! - **G0**: a cycle of write-write dependencies: a component of that subgraph.
//! - **G1c**: with a write-read dependency: such an edge inside a component of both.
//! - **G-single**: exactly one anti-dependency: such an edge, and a way back without any.
//! - **G-nonadjacent**: several, no two in a row: a component of the graph whose nodes remember
//!   whether they were reached by one (a closed walk without two in a row always contains a cycle
//!   without two in a row).
//! - **G2-item**: any other cycle.
//!
//! G0, G1c and G-single are reported whenever they are there. G-nonadjacent and G2-item are
//! reported where nothing stronger is: asking for *one more* simple cycle of a weaker kind beside a
//! stronger one is a hard problem, and its answer would rule out nothing further.
//!
//! Everything is asked three times: for dependencies alone, with the order of processes, and with
//! real time.

use crate::graph::{Label, Labels};
use crate::local::{Local, Nonadjacent, Through};
use crate::reach::roots_with_way_back;
use crate::scc::{components, numbered};
use crate::shortest::{Found, Ways, shortest};
use serde::Serialize;

/// The kinds of cycles, the strongest evidence first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Class {
    /// Write-write dependencies only.
    G0,
    /// Also write-read dependencies.
    G1c,
    /// Exactly one anti-dependency.
    GSingle,
    /// Several anti-dependencies, never two in a row.
    GNonadjacent,
    /// Any other cycle.
    G2Item,
}

/// Which orders besides dependencies a cycle uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Level {
    /// None.
    Plain,
    /// The order of processes.
    Process,
    /// Real time.
    Realtime,
}

impl Level {
    /// All of them, the weakest order first.
    pub const ALL: [Level; 3] = [Level::Plain, Level::Process, Level::Realtime];

    fn order(self) -> Labels {
        match self {
            Level::Plain => Labels::WW,
            Level::Process => Labels::WW.and(Labels::PROCESS),
            Level::Realtime => Labels::WW.and(Labels::PROCESS).and(Labels::REALTIME),
        }
    }
}

/// A cycle: each transaction with the label of the edge to the next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// What kind it is.
    pub class: Class,
    /// Which orders it uses.
    pub level: Level,
    /// Transactions, each with why it comes before the next; the last before the first.
    pub steps: Vec<(u32, Label)>,
    /// No cycle of this kind in its component is shorter.
    pub shortest: bool,
    /// How many transactions its component has.
    pub component: usize,
}

/// The cycles of one component of the whole graph.
pub(crate) fn cycles_of(local: &Local, levels: &[Level]) -> Vec<Cycle> {
    let mut found: Vec<Cycle> = Vec::new();
    for &level in levels {
        let below = found.iter().map(|cycle| cycle.class).min();
        if below == Some(Class::G0) {
            break;
        }
        let labels = level.order().and(Labels::WR).and(Labels::RW);
        for nodes in components(&Through(local, labels)) {
            let part = local.part(&nodes, labels);
            if part.txn_count() > 1 {
                let cycles = cycles_of_part(&part, level);
                found.extend(cycles.into_iter().filter(|c| below.is_none_or(|b| c.class < b)));
            }
        }
    }
    found
}

fn cycles_of_part(part: &Local, level: Level) -> Vec<Cycle> {
    let order = level.order();
    let depends = order.and(Labels::WR);
    let any = depends.and(Labels::RW);
    let mut found = Vec::new();
    let component = part.txn_count();
    let keep = |found: &mut Vec<Cycle>, class, cycle: Option<Found>| {
        found.extend(cycle.map(|(steps, shortest)| Cycle {
            class,
            level,
            steps,
            shortest,
            component,
        }));
    };
    keep(&mut found, Class::G0, inside(part, order, Label::Ww));
    keep(&mut found, Class::G1c, inside(part, depends, Label::Wr));
    let (states, _) = numbered(&Nonadjacent(part, any));
    let nonadjacent: Vec<(u32, u32)> = part
        .roots(Labels::RW)
        .map(|(from, to, _)| (from, to))
        .filter(|&(from, to)| states[2 * from as usize] == states[2 * to as usize + 1])
        .collect();
    if !nonadjacent.is_empty() {
        let roots = roots_with_way_back(part, depends, &nonadjacent);
        let cycle = shortest(part, Ways::Through(depends), Label::Rw, &roots);
        keep(&mut found, Class::GSingle, cycle);
    }
    if found.is_empty() && !nonadjacent.is_empty() {
        let cycle = shortest(part, Ways::Nonadjacent(any), Label::Rw, &nonadjacent);
        keep(&mut found, Class::GNonadjacent, cycle);
    }
    if found.is_empty() {
        let roots: Vec<(u32, u32)> = part.roots(Labels::RW).map(|(f, t, _)| (f, t)).collect();
        let cycle = shortest(part, Ways::Through(any), Label::Rw, &roots);
        keep(&mut found, Class::G2Item, cycle);
    }
    found
}

/// A shortest cycle through edges with `labels`, one of which has the label `with`.
fn inside(part: &Local, labels: Labels, with: Label) -> Option<Found> {
    let (numbers, _) = numbered(&Through(part, labels));
    let roots: Vec<(u32, u32)> = part
        .roots(with.set())
        .map(|(from, to, _)| (from, to))
        .filter(|&(from, to)| numbers[from as usize] == numbers[to as usize])
        .collect();
    shortest(part, Ways::Through(labels), with, &roots)
}
