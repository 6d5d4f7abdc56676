//! Sets that only grow, each element added once, read as a whole.
//!
//! Of two reads one must contain the other, so the reads have one order by size. Each element was
//! added between the last read without it and the first read with it. That fixes the order of
//! everything but neighbours that do not matter; what is left is to see that no call ended before a
//! call of an earlier group began.

use super::value_index::ValueIndex;
use crate::model::Call;
use crate::models::SetOp;
use crate::search::Decision;
use assay_history::ValueId;
use std::sync::Arc;

struct Read<'c> {
    index: u32,
    start: i64,
    end: i64,
    elements: &'c Arc<[ValueId]>,
}

/// Decides, or answers `None` if an element is added twice or anything but add and read occurs.
pub(crate) fn decide(calls: &[Call<SetOp>]) -> Option<Decision> {
    let mut reads: Vec<Read<'_>> = Vec::new();
    for call in calls {
        match &call.op {
            SetOp::Add(_, None | Some(true)) => {}
            SetOp::Read(elements) if call.required => {
                let (index, start, end) = (call.index, call.start, call.end);
                reads.push(Read { index, start, end, elements });
            }
            SetOp::Read(_) => {}
            _ => return None,
        }
    }
    let added = |call: &Call<SetOp>| match call.op {
        SetOp::Add(element, _) => Some(element),
        _ => None,
    };
    let mut index = ValueIndex::for_values(calls.iter().filter_map(added));
    for (i, call) in calls.iter().enumerate() {
        if let Some(element) = added(call)
            && !index.insert(element, i as u32)
        {
            return None;
        }
    }
    reads.sort_by_key(|read| (read.elements.len(), read.start));
    Some(match ordered(calls, &reads, &index) {
        Ok(()) => Decision::linearizable(),
        Err(suspects) => Decision::refuted(suspects),
    })
}

/// Checks the one order that the reads leave; names calls that contradict it.
fn ordered(calls: &[Call<SetOp>], reads: &[Read<'_>], index: &ValueIndex) -> Result<(), Vec<u32>> {
    // Which read is the first to show each add: `reads.len()` for none.
    let mut first_shown: Vec<usize> = vec![reads.len(); calls.len()];
    let mut known: &[ValueId] = &[];
    let mut group_start = 0;
    for (i, read) in reads.iter().enumerate() {
        if i > 0 && reads[i - 1].elements != read.elements {
            group_start = i;
        }
        for &element in read.elements.iter().filter(|e| known.binary_search(e).is_err()) {
            let Some(add) = index.get(element) else { return Err(vec![read.index]) };
            first_shown[add as usize] = group_start;
        }
        if let Some(missing) = known.iter().find(|e| read.elements.binary_search(e).is_err()) {
            let add = index.get(*missing).map(|i| calls[i as usize].index);
            return Err([Some(reads[i - 1].index), Some(read.index), add]
                .into_iter()
                .flatten()
                .collect());
        }
        known = read.elements;
    }
    // All calls with their group: adds before the read that first shows them.
    let mut order: Vec<(usize, bool, i64, i64, u32)> = Vec::new();
    let mut group = 0;
    for (i, read) in reads.iter().enumerate() {
        if i > 0 && reads[i - 1].elements != read.elements {
            group = i;
        }
        order.push((group, true, read.start, read.end, read.index));
    }
    for (i, call) in calls.iter().enumerate() {
        let shown = first_shown[i] < reads.len();
        if matches!(call.op, SetOp::Add(..)) && (call.required || shown) {
            order.push((first_shown[i], false, call.start, call.end, call.index));
        }
    }
    order.sort_unstable();
    in_time(&order)
}

/// No call may end before a call of an earlier group begins.
fn in_time(order: &[(usize, bool, i64, i64, u32)]) -> Result<(), Vec<u32>> {
    let mut later: Option<(i64, u32)> = None;
    for group in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).rev() {
        for &(_, _, start, _, index) in group {
            if let Some((end, ended)) = later
                && end < start
            {
                return Err(vec![index, ended]);
            }
        }
        for &(_, _, _, end, index) in group {
            if later.is_none_or(|(earliest, _)| end < earliest) {
                later = Some((end, index));
            }
        }
    }
    Ok(())
}
