//! A yardstick: the textbook search (Wing and Gong, with Lowe's cache) over one register, as the
//! checkers people use today do it. Every cached configuration is a bit per call of the whole
//! history.

use rustc_hash::FxHashSet;

/// A call on a register: what it writes or what it read.
#[derive(Clone, Copy)]
pub struct RegisterCall {
    pub start: i64,
    pub end: i64,
    pub write: Option<i64>,
    pub read: Option<i64>,
}

/// The cache's limit, so that a benchmark cannot take the machine down.
const CACHE_BYTES_MAX: usize = 2 << 30;

/// Whether the calls are linearizable; `None` when the cache is full.
pub fn linearizable(calls: &[RegisterCall]) -> Option<bool> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&i| calls[i].start);
    let calls: Vec<RegisterCall> = order.iter().map(|&i| calls[i]).collect();
    let words = calls.len().div_ceil(64);
    let mut placed = vec![0u64; words];
    let mut cache: FxHashSet<(Vec<u64>, Option<i64>)> = FxHashSet::default();
    let mut stack: Vec<(usize, Option<i64>)> = Vec::new();
    let mut state: Option<i64> = None;
    let (mut at, mut lowest) = (0, 0);
    loop {
        while lowest < calls.len() && placed[lowest / 64] >> (lowest % 64) & 1 == 1 {
            lowest += 1;
        }
        if lowest == calls.len() {
            return Some(true);
        }
        at = at.max(lowest);
        match next_legal(&calls, &placed, at, lowest, state) {
            Some(i) => {
                let next = calls[i].write.or(state);
                placed[i / 64] |= 1 << (i % 64);
                if cache.insert((placed.clone(), next)) {
                    stack.push((i, state));
                    (state, at) = (next, lowest);
                } else {
                    placed[i / 64] &= !(1 << (i % 64));
                    at = i + 1;
                }
                if cache.len() * (words * 8 + 48) > CACHE_BYTES_MAX {
                    return None;
                }
            }
            None => {
                let Some((i, before)) = stack.pop() else { return Some(false) };
                placed[i / 64] &= !(1 << (i % 64));
                (state, at) = (before, i + 1);
                lowest = lowest.min(i);
            }
        }
    }
}

/// The next call from `at` on that may come next and is legal.
fn next_legal(
    calls: &[RegisterCall],
    placed: &[u64],
    at: usize,
    lowest: usize,
    state: Option<i64>,
) -> Option<usize> {
    let unplaced = |i: &usize| placed[i / 64] >> (i % 64) & 1 == 0;
    let mut first_end = i64::MAX;
    for i in (lowest..calls.len()).filter(unplaced) {
        if calls[i].start > first_end {
            return None;
        }
        let legal = calls[i].write.is_some() || calls[i].read == state;
        if i >= at && legal {
            return Some(i);
        }
        first_end = first_end.min(calls[i].end);
    }
    None
}
