//! Queues whose elements are all different, by forbidden patterns (after Henzinger, Sezgin and
//! Vafeiadis 2013).
//!
//! With every dequeue's result known, a history is a queue's iff none of these occurs: an element
//! leaves that never came, or twice, or before it came; `a` came before `b` but left after it (or
//! never, while `b` left); a dequeue found the queue empty although at every moment of it some
//! element was certainly inside.

use super::value_index::ValueIndex;
use crate::model::Call;
use crate::models::QueueOp;
use crate::search::Decision;
use assay_history::NEVER;

/// An element's coming and leaving.
#[derive(Clone, Copy)]
struct Element {
    came: u32,
    came_start: i64,
    came_end: i64,
    left: Option<u32>,
    left_start: i64,
    left_end: i64,
}

/// Decides, or answers `None` if an element came twice or a dequeue's result is not known.
pub(crate) fn decide(calls: &[Call<QueueOp>]) -> Option<Decision> {
    let mut elements: Vec<Element> = Vec::new();
    let mut optional: Vec<bool> = Vec::new();
    let came = |call: &Call<QueueOp>| match call.op {
        QueueOp::Enqueue(element) => Some(element),
        _ => None,
    };
    let mut index = ValueIndex::for_values(calls.iter().filter_map(came));
    for call in calls {
        match call.op {
            QueueOp::Enqueue(element) => {
                if !index.insert(element, elements.len() as u32) {
                    return None;
                }
                elements.push(Element {
                    came: call.index,
                    came_start: call.start,
                    came_end: call.end,
                    left: None,
                    left_start: NEVER,
                    left_end: NEVER,
                });
                optional.push(!call.required);
            }
            _ if !call.required => return None,
            _ => {}
        }
    }
    for call in calls {
        let QueueOp::Dequeue(element) = call.op else { continue };
        let Some(id) = index.get(element) else {
            return Some(Decision::refuted(vec![call.index]));
        };
        let element = &mut elements[id as usize];
        if let Some(other) = element.left {
            return Some(Decision::refuted(vec![element.came, other, call.index]));
        }
        if call.end < element.came_start {
            return Some(Decision::refuted(vec![element.came, call.index]));
        }
        (element.left, element.left_start, element.left_end) =
            (Some(call.index), call.start, call.end);
    }
    // An optional enqueue whose element never left need not have happened.
    let mut keep = optional.iter();
    elements.retain(|element| !keep.next().expect("one flag each") || element.left.is_some());
    let suspects = overtaken(&mut elements).or_else(|| empty_while_full(calls, &mut elements));
    Some(suspects.map_or_else(Decision::linearizable, Decision::refuted))
}

/// Two elements that left in the wrong order.
fn overtaken(elements: &mut [Element]) -> Option<Vec<u32>> {
    elements.sort_unstable_by_key(|element| element.came_start);
    let mut by_came_end: Vec<u32> = (0..elements.len() as u32).collect();
    by_came_end.sort_unstable_by_key(|&i| elements[i as usize].came_end);
    let mut earlier = by_came_end.iter().peekable();
    // Of all elements that certainly came before: the one that left last.
    let mut last_out: Option<Element> = None;
    for later in elements.iter() {
        while let Some(&i) = earlier.next_if(|&&i| elements[i as usize].came_end < later.came_start)
        {
            let element = elements[i as usize];
            if last_out.is_none_or(|last| element.left_start > last.left_start) {
                last_out = Some(element);
            }
        }
        if let Some(first) = last_out
            && later.left.is_some()
            && later.left_end < first.left_start
        {
            let ids = [Some(first.came), first.left, Some(later.came), later.left];
            return Some(ids.into_iter().flatten().collect());
        }
    }
    None
}

/// A dequeue that found the queue empty although it never was, and the elements that fill it.
fn empty_while_full(calls: &[Call<QueueOp>], elements: &mut Vec<Element>) -> Option<Vec<u32>> {
    elements.retain(|element| element.came_end < element.left_start);
    elements.sort_unstable_by_key(|element| element.came_end);
    // Spans in which some element is certainly inside, with the elements that make each up.
    let mut spans: Vec<(i64, i64, std::ops::Range<usize>)> = Vec::new();
    for (i, element) in elements.iter().enumerate() {
        match spans.last_mut() {
            Some((_, end, members)) if element.came_end < *end => {
                *end = (*end).max(element.left_start);
                members.end = i + 1;
            }
            _ => spans.push((element.came_end, element.left_start, i..i + 1)),
        }
    }
    for call in calls.iter().filter(|call| call.op == QueueOp::Empty) {
        let before = spans.partition_point(|&(start, ..)| start < call.start);
        let Some((_, end, members)) = before.checked_sub(1).map(|i| spans[i].clone()) else {
            continue;
        };
        if call.end < end {
            let touching = elements[members]
                .iter()
                .filter(|e| e.came_end < call.end && call.start < e.left_start)
                .flat_map(|e| [Some(e.came), e.left].into_iter().flatten());
            return Some(touching.chain([call.index]).collect());
        }
    }
    None
}
