//! Strongly connected components: the parts of a graph that cycles run through (Tarjan 1972,
//! without recursion).

/// What has edges that can be asked for one by one.
pub(crate) trait Successors {
    /// How many nodes there are.
    fn nodes(&self) -> usize;

    /// The `k`-th place of a node's row, as a node: `Some(None)` is a place without an edge, `None`
    /// the end of the row.
    fn successor(&self, node: u32, k: u32) -> Option<Option<u32>>;
}

const UNSEEN: u32 = u32::MAX;
const CLOSED: u32 = u32::MAX - 1;

/// The components of more than one node, each with its nodes in ascending order; components in the
/// order of their smallest node.
pub(crate) fn components(graph: &impl Successors) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    walk(graph, |component| {
        if component.len() > 1 {
            let mut nodes = component.to_vec();
            nodes.sort_unstable();
            found.push(nodes);
        }
    });
    found.sort_unstable_by_key(|nodes| nodes[0]);
    found
}

/// The component of every node, numbered in reverse topological order, and how many there are.
pub(crate) fn numbered(graph: &impl Successors) -> (Vec<u32>, u32) {
    let mut numbers = vec![0; graph.nodes()];
    let mut next = 0;
    walk(graph, |component| {
        for &node in component {
            numbers[node as usize] = next;
        }
        next += 1;
    });
    (numbers, next)
}

/// Calls `emit` for every component, successors before predecessors.
fn walk(graph: &impl Successors, mut emit: impl FnMut(&[u32])) {
    let nodes = graph.nodes();
    // The number of a node while it is open: when it was first seen, later the earliest node it
    // can reach.
    let mut low = vec![UNSEEN; nodes];
    let mut stack: Vec<u32> = Vec::new();
    // (node, next place in its row, its own number)
    let mut calls: Vec<(u32, u32, u32)> = Vec::new();
    let mut clock = 0;
    for root in 0..nodes as u32 {
        if low[root as usize] != UNSEEN {
            continue;
        }
        low[root as usize] = clock;
        calls.push((root, 0, clock));
        stack.push(root);
        clock += 1;
        while let Some(call) = calls.last_mut() {
            let (node, own) = (call.0, call.2);
            if let Some(place) = graph.successor(node, call.1) {
                call.1 += 1;
                let Some(next) = place else { continue };
                match low[next as usize] {
                    UNSEEN => {
                        low[next as usize] = clock;
                        calls.push((next, 0, clock));
                        stack.push(next);
                        clock += 1;
                    }
                    CLOSED => {}
                    seen => low[node as usize] = low[node as usize].min(seen),
                }
                continue;
            }
            let reached = low[node as usize];
            if reached == own {
                let first = stack.iter().rposition(|&n| n == node).expect("open nodes are stacked");
                emit(&stack[first..]);
                for closed in stack.drain(first..) {
                    low[closed as usize] = CLOSED;
                }
            }
            calls.pop();
            if let Some(parent) = calls.last() {
                let parent = parent.0 as usize;
                if reached < own {
                    low[parent] = low[parent].min(reached);
                }
            }
        }
    }
}
