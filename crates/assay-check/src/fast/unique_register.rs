//! Registers whose written values are all different (after Gibbons and Korach 1997; Golab, Li and
//! Shah 2011), extended to compare-and-swap.
//!
//! When no value is written twice, a read names its write. A write and its reads form a cluster
//! that stands together in every order; a swap from `a` to `b` glues the cluster of `b` right
//! behind that of `a`, so clusters form chains, and each chain is one block. Let `f` be the
//! earliest end and `s` the latest start in a block. Block A must come before block B iff some call
//! of A ended before some call of B began, that is iff `f(A) < s(B)`. If no two blocks must each
//! come before the other, there is no longer circle either: around a circle `f(1) < s(2) <= f(3) <
//! s(4) <= ...` never comes back. So the calls have an order iff every block has one inside and no
//! two blocks conflict. A block with `f < s` is *forward*: forward blocks must be disjoint as
//! intervals (f, s), and no backward block's [s, f] may lie inside a forward one.

use super::value_index::{NONE, ValueIndex};
use crate::model::Call;
use crate::models::RegisterOp;
use crate::search::Decision;
use assay_history::{NEVER, ValueId};
use rustc_hash::FxHashMap;

/// A value: when it was written and when it was read.
#[derive(Clone, Copy)]
struct Cluster {
    write_start: i64,
    write_end: i64,
    read_start_max: i64,
    read_end_min: i64,
}

impl Cluster {
    fn is_read(&self) -> bool {
        self.read_end_min != i64::MAX || self.read_start_max != i64::MIN
    }

    fn first_end(&self) -> i64 {
        self.write_end.min(self.read_end_min)
    }

    fn last_start(&self) -> i64 {
        self.write_start.max(self.read_start_max)
    }
}

/// A compare-and-swap that took effect, if `included`.
struct Swap {
    index: u32,
    from: u32,
    to: u32,
    included: bool,
}

const INITIAL: u32 = 0;

/// Decides, or answers `None` if a value is written twice or a failed comparison needs a search.
pub(crate) fn decide<I>(calls: I, initial: ValueId) -> Option<Decision>
where
    I: Iterator<Item = Call<RegisterOp>> + Clone,
{
    let mut clusters = Clusters::write(calls.clone(), initial)?;
    if let Err(suspects) = clusters.read(calls.clone())? {
        return Some(Decision::refuted(suspects));
    }
    let conflict = clusters.conflict();
    Some(match conflict {
        None => Decision::linearizable(),
        Some(ids) => Decision::refuted(clusters.suspects(calls, &ids)),
    })
}

struct Clusters {
    index: ValueIndex,
    clusters: Vec<Cluster>,
    swaps: Vec<Swap>,
    swap_to: FxHashMap<u32, usize>,
}

impl Clusters {
    /// One cluster per written value; `None` if a value is written twice.
    fn write<I>(calls: I, initial: ValueId) -> Option<Clusters>
    where
        I: Iterator<Item = Call<RegisterOp>> + Clone,
    {
        let written = calls.clone().filter_map(|call| written_value(&call.op)).chain([initial]);
        let mut index = ValueIndex::for_values(written);
        index.insert(initial, INITIAL);
        let before_time = Cluster {
            write_start: i64::MIN,
            write_end: i64::MIN,
            read_start_max: i64::MIN,
            read_end_min: i64::MAX,
        };
        let mut clusters = Vec::with_capacity(index.count);
        clusters.push(before_time);
        for call in calls {
            let Some(value) = written_value(&call.op) else { continue };
            if !index.insert(value, clusters.len() as u32) {
                return None;
            }
            clusters.push(Cluster { write_start: call.start, write_end: call.end, ..before_time });
        }
        Some(Clusters { index, clusters, swaps: Vec::new(), swap_to: FxHashMap::default() })
    }

    /// Adds reads and swaps. `Some(Err)` names calls that cannot be explained; `None` gives up.
    fn read(
        &mut self,
        calls: impl Iterator<Item = Call<RegisterOp>>,
    ) -> Option<Result<(), Vec<u32>>> {
        for call in calls {
            match call.op {
                RegisterOp::Read(value) if call.required => {
                    let Some(id) = self.index.get(value) else {
                        return Some(Err(vec![call.index]));
                    };
                    let cluster = &mut self.clusters[id as usize];
                    cluster.read_start_max = cluster.read_start_max.max(call.start);
                    cluster.read_end_min = cluster.read_end_min.min(call.end);
                }
                RegisterOp::Swap(from, to) | RegisterOp::MaybeSwap(from, to) => {
                    let to = self.index.get(to).expect("every written value has a cluster");
                    let from = self.index.get(from).unwrap_or(NONE);
                    self.swap_to.insert(to, self.swaps.len());
                    let included = call.required;
                    self.swaps.push(Swap { index: call.index, from, to, included });
                }
                // A comparison with a value that was never there fails rightly, whenever it
                // happens.
                RegisterOp::NoSwap(from) if call.required && self.index.get(from).is_some() => {
                    return None;
                }
                _ => {}
            }
        }
        self.include_observed_swaps();
        Some(match self.swaps.iter().find(|swap| swap.included && swap.from == NONE) {
            Some(swap) => Err(vec![swap.index]),
            None => Ok(()),
        })
    }

    /// An optional swap took effect iff somebody saw its value.
    fn include_observed_swaps(&mut self) {
        for start in 0..self.swaps.len() {
            let mut at = start;
            let seen = |clusters: &[Cluster], to: u32| clusters[to as usize].is_read();
            if !self.swaps[at].included && !seen(&self.clusters, self.swaps[at].to) {
                continue;
            }
            self.swaps[at].included = true;
            // What it swapped away was there, so the swap that brought that about took effect too.
            while let Some(&before) = self.swap_to.get(&self.swaps[at].from) {
                if self.swaps[before].included {
                    break;
                }
                self.swaps[before].included = true;
                at = before;
            }
        }
    }

    /// The clusters of two blocks, or of one, that have no order.
    fn conflict(&self) -> Option<Vec<u32>> {
        let mut blocks = Blocks::default();
        let mut chained: Vec<bool> = Vec::new();
        if !self.swaps.is_empty() {
            chained = vec![false; self.clusters.len()];
            if let Some(bad) = self.chains(&mut blocks, &mut chained) {
                return Some(bad);
            }
        }
        // An optional write that nobody read did not happen, as far as anyone can tell.
        let present = |&(id, cluster): &(usize, &Cluster)| {
            let absent = cluster.write_end == NEVER && !cluster.is_read();
            !absent && chained.get(id) != Some(&true)
        };
        let alone = || self.clusters.iter().enumerate().filter(present);
        let unread = |&(_, cluster): &(usize, &Cluster)| cluster.read_end_min < cluster.write_start;
        if let Some((id, _)) = alone().find(unread) {
            return Some(vec![id as u32]);
        }
        let ends = |(_, cluster): (usize, &Cluster)| (cluster.first_end(), cluster.last_start());
        // Exactly as large as it will be, and nothing for the others, which are walked twice: what
        // is not touched for the first time costs no page of memory.
        let forward = || alone().map(ends).filter(|&(f, s)| f < s);
        blocks.forward.reserve_exact(forward().count());
        blocks.forward.extend(forward());
        let pair = blocks.conflict(alone().map(ends).filter(|&(f, s)| f >= s))?;
        Some(self.clusters_of(&pair))
    }

    /// Adds a block per chain of swaps and marks its clusters; returns a chain that has no order.
    fn chains(&self, blocks: &mut Blocks, chained: &mut [bool]) -> Option<Vec<u32>> {
        let mut next: FxHashMap<u32, u32> = FxHashMap::default();
        let included: Vec<&Swap> = self.swaps.iter().filter(|swap| swap.included).collect();
        for swap in &self.swaps {
            // Optional swaps that nobody saw are left out altogether.
            chained[swap.to as usize] = true;
        }
        for swap in &included {
            if let Some(other) = next.insert(swap.from, swap.to) {
                return Some(vec![swap.from, swap.to, other]);
            }
        }
        let mut reached = 0;
        for swap in &included {
            if chained[swap.from as usize] {
                continue;
            }
            let mut chain = vec![swap.from];
            while let Some(&to) = next.get(chain.last().expect("a chain is never empty")) {
                chain.push(to);
            }
            reached += chain.len() - 1;
            if let Some(bad) = self.chain_conflict(&chain) {
                return Some(bad);
            }
            let first_end = chain.iter().map(|&id| self.clusters[id as usize].first_end()).min();
            let last_start = chain.iter().map(|&id| self.clusters[id as usize].last_start()).max();
            blocks.add(first_end?, last_start?);
            chained[swap.from as usize] = true;
        }
        // Swaps that no chain reaches lead into each other in a circle.
        (reached < included.len()).then(|| included.iter().map(|swap| swap.to).collect())
    }

    /// Inside a chain the order is fixed: write, its reads, swap, its reads, ... The clusters of a
    /// call that ended before an earlier one began.
    fn chain_conflict(&self, chain: &[u32]) -> Option<Vec<u32>> {
        let (mut later_end, mut later) = (i64::MAX, chain[0]);
        for &id in chain.iter().rev() {
            let cluster = &self.clusters[id as usize];
            for (start, end) in [
                (cluster.read_start_max, cluster.read_end_min),
                (cluster.write_start, cluster.write_end),
            ] {
                if later_end < start {
                    return Some(vec![id, later]);
                }
                if end < later_end {
                    (later_end, later) = (end, id);
                }
            }
        }
        None
    }

    /// The clusters that give two blocks their ends.
    fn clusters_of(&self, pair: &[(i64, i64); 2]) -> Vec<u32> {
        let decisive = |cluster: &Cluster| {
            pair.iter().any(|&(f, s)| cluster.first_end() == f || cluster.last_start() == s)
        };
        const AT_MOST: usize = 64;
        let ids = self.clusters.iter().enumerate().filter(|(_, cluster)| decisive(cluster));
        ids.map(|(id, _)| id as u32).take(AT_MOST).collect()
    }

    /// The calls that give the clusters their times.
    fn suspects(&self, calls: impl Iterator<Item = Call<RegisterOp>>, ids: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        for call in calls {
            let value = match call.op {
                RegisterOp::Read(value) => value,
                op => match written_value(&op) {
                    Some(value) => value,
                    None => continue,
                },
            };
            let Some(id) = self.index.get(value).filter(|id| ids.contains(id)) else { continue };
            let cluster = &self.clusters[id as usize];
            let decisive = call.start == cluster.last_start() || call.end == cluster.first_end();
            if decisive
                || !matches!(call.op, RegisterOp::Read(_))
                || call.end == cluster.read_end_min
            {
                found.push(call.index);
            }
        }
        found
    }
}

fn written_value(op: &RegisterOp) -> Option<ValueId> {
    match *op {
        RegisterOp::Write(to) | RegisterOp::Swap(_, to) | RegisterOp::MaybeSwap(_, to) => Some(to),
        RegisterOp::Read(_) | RegisterOp::NoSwap(_) => None,
    }
}

/// Blocks as pairs (f, s) of earliest end and latest start.
#[derive(Default)]
struct Blocks {
    forward: Vec<(i64, i64)>,
    backward: Vec<(i64, i64)>,
}

impl Blocks {
    fn add(&mut self, first_end: i64, last_start: i64) {
        let list = if first_end < last_start { &mut self.forward } else { &mut self.backward };
        list.push((first_end, last_start));
    }

    /// Two blocks, also of further backward ones, that must each come before the other.
    fn conflict(&mut self, more: impl Iterator<Item = (i64, i64)>) -> Option<[(i64, i64); 2]> {
        self.forward.sort_unstable();
        for pair in self.forward.windows(2) {
            if pair[1].0 < pair[0].1 {
                return Some([pair[0], pair[1]]);
            }
        }
        // Blocks come roughly by time, so the place of one is near that of the one before.
        let mut before = 0;
        self.backward.iter().copied().chain(more).find_map(|(first_end, last_start)| {
            before = partition_point_near(&self.forward, before, |&(f, _)| f < last_start);
            let around = *self.forward.get(before.checked_sub(1)?)?;
            (first_end < around.1).then_some([(first_end, last_start), around])
        })
    }
}

/// As [`slice::partition_point`], looking around `hint` first.
fn partition_point_near<T>(list: &[T], hint: usize, holds: impl Fn(&T) -> bool) -> usize {
    let (mut low, mut high, mut step) = (hint, hint, 1);
    while high < list.len() && holds(&list[high]) {
        low = high + 1;
        high = (high + step).min(list.len());
        step *= 2;
    }
    step = 1;
    while low > 0 && !holds(&list[low - 1]) {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    low + list[low..high.max(low)].partition_point(holds)
}

#[cfg(test)]
mod tests {
    use super::partition_point_near;

    #[test]
    fn a_hint_changes_how_long_it_takes_and_nothing_else() {
        for length in 0..20 {
            let list: Vec<usize> = (0..length).collect();
            for wanted in 0..=length {
                for hint in 0..=length {
                    let found = partition_point_near(&list, hint, |&item| item < wanted);
                    assert_eq!(found, wanted, "{length} items, from {hint}");
                }
            }
        }
    }
}
