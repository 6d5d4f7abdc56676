//! Shortest cycles: from the head of an edge back to its tail, breadth first.

use crate::graph::{Label, Labels};
use crate::local::{Local, Nonadjacent};
use std::collections::VecDeque;

/// Which ways lead back.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    /// Edges with these labels.
    Through(Labels),
    /// Edges with these labels, never two anti-dependencies in a row.
    Nonadjacent(Labels),
}

/// How many edges are looked at to make a cycle shorter, once there is one. A component of a few
/// thousand transactions never needs as many.
const WORK_MAX: u64 = 30_000_000;

const UNSEEN: u32 = u32::MAX;

/// The transactions of a cycle, each with the label of the edge to the next; and whether it is
/// certain that there is no shorter one.
pub(crate) type Found = (Vec<(u32, Label)>, bool);

/// A shortest cycle that begins with one of the `roots`, edges with the label `with`.
pub(crate) fn shortest(
    part: &Local,
    ways: Ways,
    with: Label,
    roots: &[(u32, u32)],
) -> Option<Found> {
    let mut search = Search::new(part, ways);
    let mut best: Option<(u32, Vec<(u32, Label)>)> = None;
    for &(from, to) in roots {
        let limit = best.as_ref().map_or(u32::MAX, |(length, _)| length - 1);
        if limit < 2 {
            break;
        }
        if best.is_some() && search.work > WORK_MAX {
            return best.map(|(_, steps)| (steps, false));
        }
        if let Some(length) = search.back(from, to, limit - 1) {
            best = Some((length + 1, search.steps(from, with)));
        }
    }
    best.map(|(_, steps)| (steps, true))
}

/// A place in the search. A transaction is looked at once for each way it was reached (after an
/// anti-dependency or not). A joint leads to everybody but those who led into it, so it is looked
/// at twice: for the first who came, and for the first other one, who finds the way to the first.
#[derive(Clone, Copy, Debug)]
struct Visit {
    state: u32,
    /// The transaction that led into the joint.
    origin: u32,
    distance: u32,
    parent: u32,
    label: Label,
}

struct Search<'a> {
    part: &'a Local,
    ways: Ways,
    /// By state: its visits.
    seen: Vec<[u32; 2]>,
    visits: Vec<Visit>,
    queue: VecDeque<Visit>,
    work: u64,
}

impl<'a> Search<'a> {
    fn new(part: &'a Local, ways: Ways) -> Search<'a> {
        Search {
            part,
            ways,
            seen: vec![[UNSEEN; 2]; 2 * part.len()],
            visits: Vec::new(),
            queue: VecDeque::new(),
            work: 0,
        }
    }

    /// The state in which a root edge arrives. Without a memory the even states are used.
    fn start(&self, to: u32) -> u32 {
        match self.ways {
            Ways::Through(_) => 2 * to,
            Ways::Nonadjacent(_) => 2 * to + 1,
        }
    }

    #[inline]
    fn step(&self, state: u32, target: u32, label: Label) -> Option<u32> {
        match self.ways {
            Ways::Through(labels) => labels.has(label).then_some(2 * target),
            Ways::Nonadjacent(labels) if labels.has(label) => {
                Nonadjacent::step(state, target, label)
            }
            Ways::Nonadjacent(_) => None,
        }
    }

    /// Whether a place has not been looked at yet, from this origin.
    fn is_new(&mut self, visit: &Visit) -> bool {
        let number = self.visits.len() as u32;
        let slots = &mut self.seen[visit.state as usize];
        if slots[0] == UNSEEN {
            slots[0] = number;
            return true;
        }
        let joint = !self.part.is_txn[visit.state as usize / 2];
        let other = self.visits[slots[0] as usize].origin != visit.origin;
        let new = joint && other && slots[1] == UNSEEN;
        if new {
            slots[1] = number;
        }
        new
    }

    /// The length of a shortest way from `to` back to `from`, if it is at most `limit`.
    fn back(&mut self, from: u32, to: u32, limit: u32) -> Option<u32> {
        for visit in self.visits.drain(..) {
            self.seen[visit.state as usize] = [UNSEEN; 2];
        }
        self.queue.clear();
        let (start, goal) = (self.start(to), 2 * from);
        let parent = UNSEEN;
        let label = Label::Join;
        self.queue.push_back(Visit { state: start, origin: from, distance: 0, parent, label });
        let part = self.part;
        while let Some(visit) = self.queue.pop_front() {
            if !self.is_new(&visit) {
                continue;
            }
            let number = self.visits.len() as u32;
            self.visits.push(visit);
            if visit.state == goal {
                return Some(visit.distance);
            }
            let node = visit.state / 2;
            let origin = if part.is_txn[node as usize] { node } else { visit.origin };
            for &(target, label) in part.edges(node) {
                self.work += 1;
                let Some(state) = self.step(visit.state, target, label) else { continue };
                // Into a joint and out again is no step: nobody comes before itself.
                if target == origin {
                    continue;
                }
                let free = matches!(label, Label::Join | Label::TimeJoin);
                let distance = visit.distance + u32::from(!free);
                let next = Visit { state, origin, distance, parent: number, label };
                // Edges without length go to the front, so that the queue stays sorted.
                match free {
                    true => self.queue.push_front(next),
                    false if distance <= limit => self.queue.push_back(next),
                    false => {}
                }
            }
        }
        None
    }

    /// The cycle that the last call of `back` found.
    fn steps(&self, from: u32, with: Label) -> Vec<(u32, Label)> {
        // From the goal back to the start: nodes with the label of the edge that led there.
        let mut path: Vec<(u32, Label)> = Vec::new();
        let mut at = self.visits.last().expect("a way was found");
        while at.parent != UNSEEN {
            path.push((at.state / 2, at.label));
            at = &self.visits[at.parent as usize];
        }
        path.push((at.state / 2, with));
        path.reverse();
        // A joint belongs to the edge that leads into it.
        let mut steps: Vec<(u32, Label)> = Vec::new();
        let mut current = from;
        let mut pending: Option<Label> = None;
        for (node, label) in path {
            let label = match (pending, label) {
                (Some(pending), Label::Join | Label::TimeJoin) => pending,
                _ => label,
            };
            if self.part.is_txn[node as usize] {
                steps.push((self.part.global[current as usize], label));
                (current, pending) = (node, None);
            } else {
                pending = Some(label);
            }
        }
        steps
    }
}
