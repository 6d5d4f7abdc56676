//! A yardstick: the textbook search (Wing and Gong, with Lowe's cache), as the checkers people use
//! today do it. Every cached configuration is a bit per call of the whole object, and the search
//! ends with the first object that no order explains.

use assay_check::{Call, Model};
use rustc_hash::FxHashSet;

/// The cache's limit, so that a benchmark cannot take the machine down.
const CACHE_BYTES_MAX: usize = 2 << 30;

/// Whether each object is linearizable; `None` when the cache is full.
pub fn linearizable<M: Model>(model: &M, objects: &[Vec<Call<M::Op>>]) -> Option<bool> {
    for calls in objects {
        if !object_linearizable(model, calls)? {
            return Some(false);
        }
    }
    Some(true)
}

fn object_linearizable<M: Model>(model: &M, calls: &[Call<M::Op>]) -> Option<bool> {
    let mut calls: Vec<&Call<M::Op>> = calls.iter().collect();
    calls.sort_by_key(|call| call.start);
    let mut missing = calls.iter().filter(|call| call.required).count();
    let words = calls.len().div_ceil(64);
    let mut placed = vec![0u64; words];
    let mut cache: FxHashSet<(Vec<u64>, M::State)> = FxHashSet::default();
    let mut stack: Vec<(usize, M::State)> = Vec::new();
    let mut state = model.initial();
    let mut at = 0;
    while missing > 0 {
        match next_legal(model, &calls, &placed, at, &state) {
            Some((i, next)) => {
                placed[i / 64] |= 1 << (i % 64);
                if cache.insert((placed.clone(), next.clone())) {
                    missing -= usize::from(calls[i].required);
                    stack.push((i, std::mem::replace(&mut state, next)));
                    at = 0;
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
                missing += usize::from(calls[i].required);
                (state, at) = (before, i + 1);
            }
        }
    }
    Some(true)
}

/// The next call from `at` on that may come next and is legal, and the state after it.
fn next_legal<M: Model>(
    model: &M,
    calls: &[&Call<M::Op>],
    placed: &[u64],
    at: usize,
    state: &M::State,
) -> Option<(usize, M::State)> {
    // Whole words of placed calls are passed over at once, as a linked list would.
    let full = placed.iter().take_while(|&&word| word == u64::MAX).count();
    let unplaced = |i: &usize| placed[i / 64] >> (i % 64) & 1 == 0;
    let mut first_end = i64::MAX;
    for i in (full * 64..calls.len()).filter(unplaced) {
        if calls[i].start > first_end {
            return None;
        }
        if i >= at
            && let Some(next) = model.step(state, &calls[i].op)
        {
            return Some((i, next));
        }
        first_end = first_end.min(calls[i].end);
    }
    None
}
