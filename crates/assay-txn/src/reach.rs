//! Which edges have a way back, for many edges at once.

use crate::graph::Labels;
use crate::local::{Local, Through};
use crate::scc::numbered;

/// Below this many nodes, trying each edge by itself is quicker.
const SMALL_NODES: usize = 128;

/// The edges `(from, to)` for which edges with `labels` lead from `to` back to `from`.
///
/// Ways are followed for 64 edges at a time, a bit each, over the components in topological order,
/// and only between the highest start and the lowest goal.
pub(crate) fn roots_with_way_back(
    part: &Local,
    labels: Labels,
    roots: &[(u32, u32)],
) -> Vec<(u32, u32)> {
    if part.len() < SMALL_NODES {
        return roots.to_vec();
    }
    // Numbers fall along every edge between components.
    let (number, count) = numbered(&Through(part, labels));
    let possible = |&(from, to): &(u32, u32)| number[to as usize] >= number[from as usize];
    let mut roots: Vec<(u32, u32)> = roots.iter().copied().filter(possible).collect();
    roots.sort_unstable_by_key(|&(from, to)| (number[to as usize], from, to));
    let nodes = by_number(&number, count);
    let mut bits = vec![0u64; count as usize];
    let mut kept = Vec::new();
    for batch in roots.chunks(64) {
        let top = batch.iter().map(|&(_, to)| number[to as usize]).max().expect("never empty");
        let bottom = batch.iter().map(|&(from, _)| number[from as usize]).min().expect("as above");
        for (bit, &(_, to)) in batch.iter().enumerate() {
            bits[number[to as usize] as usize] |= 1 << bit;
        }
        for at in (bottom + 1..=top).rev() {
            let here = bits[at as usize];
            if here == 0 {
                continue;
            }
            for &node in &nodes.1[nodes.0[at as usize] as usize..nodes.0[at as usize + 1] as usize]
            {
                for &(target, label) in part.edges(node) {
                    let target = number[target as usize];
                    if labels.has(label) && target >= bottom {
                        bits[target as usize] |= here;
                    }
                }
            }
        }
        for (bit, &(from, to)) in batch.iter().enumerate() {
            if bits[number[from as usize] as usize] & (1 << bit) != 0 {
                kept.push((from, to));
            }
        }
        bits[bottom as usize..=top as usize].fill(0);
    }
    kept.sort_unstable();
    kept
}

/// The nodes of each component: offsets, and nodes by component.
fn by_number(number: &[u32], count: u32) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; count as usize + 1];
    for &n in number {
        offsets[n as usize + 1] += 1;
    }
    for i in 0..count as usize {
        offsets[i + 1] += offsets[i];
    }
    let mut next = offsets.clone();
    let mut nodes = vec![0u32; number.len()];
    for (node, &n) in number.iter().enumerate() {
        nodes[next[n as usize] as usize] = node as u32;
        next[n as usize] += 1;
    }
    (offsets, nodes)
}
