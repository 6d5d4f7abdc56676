//! Ways to break a promise that several oracles share.

use crate::draft::Draft;
use crate::table::{FINAL, READ, TAKE, WRITE};
use assay_history::View;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A read returns what the same client read of the same key earlier.
pub(crate) fn stale_read(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(READ, rng) else { return false };
    let later = draft.ops[at].clone();
    let fits = |&i: &usize| {
        let op = &draft.ops[i];
        op.ok(READ)
            && op.process == later.process
            && op.key == later.key
            && (op.op.output, op.revision) != (later.op.output, later.revision)
    };
    let earlier: Vec<usize> = (0..at).filter(fits).collect();
    if earlier.is_empty() {
        return false;
    }
    let source = draft.ops[earlier[rng.random_range(0..earlier.len())]].clone();
    draft.ops[at].op.output = source.op.output;
    draft.ops[at].revision = source.revision;
    true
}

/// The place of a later write of the same client to the same key.
fn next_write(draft: &Draft, at: usize) -> Option<usize> {
    let first = &draft.ops[at];
    (at + 1..draft.ops.len()).find(|&i| {
        let op = &draft.ops[i];
        op.ok(WRITE) && op.process == first.process && op.key == first.key
    })
}

/// Two writes of one client swap the versions they were given.
pub(crate) fn swap_write_versions(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(WRITE, rng) else { return false };
    let Some(next) = next_write(draft, at) else { return false };
    let (a, b) = (draft.ops[at].clone(), draft.ops[next].clone());
    (draft.ops[at].op.output, draft.ops[at].revision) = (b.op.output, b.revision);
    (draft.ops[next].op.output, draft.ops[next].revision) = (a.op.output, a.revision);
    (a.op.output, a.revision) != (b.op.output, b.revision)
}

/// A write is given a version older than anything.
pub(crate) fn lower_write_version(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(WRITE, rng) else { return false };
    let old = -1_000_000;
    if draft.ops[at].revision.is_some() {
        draft.ops[at].revision = Some(old);
    } else {
        draft.ops[at].op.output = draft.values.int(old);
    }
    true
}

/// A final state loses an element.
pub(crate) fn drop_from_final(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(FINAL, rng) else { return false };
    drop_item(draft, at, rng)
}

/// A final state shows an older value of a key that was written again since.
pub(crate) fn roll_back_value(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let (Some(at), Some(write)) = (draft.pick(FINAL, rng), draft.pick(WRITE, rng)) else {
        return false;
    };
    let (key, old) = (draft.ops[write].key, draft.ops[write].op.input);
    let View::Map(flat) = draft.values.view(draft.ops[at].op.output) else { return false };
    let mut pairs: Vec<_> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    let Some(pair) = pairs.iter_mut().find(|pair| pair.0 == key && pair.1 != old) else {
        return false;
    };
    pair.1 = old;
    draft.ops[at].op.output = draft.values.map(&pairs);
    true
}

/// A read loses an element.
pub(crate) fn drop_from_read(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&[READ, FINAL].concat(), rng) else { return false };
    drop_item(draft, at, rng)
}

fn drop_item(draft: &mut Draft, at: usize, rng: &mut ChaCha8Rng) -> bool {
    draft.edit_list(at, rng, |items, rng| {
        items.remove(rng.random_range(0..items.len()));
        true
    })
}

/// A final state holds an element twice.
pub(crate) fn repeat_in_final(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(FINAL, rng) else { return false };
    repeat_item(draft, at, rng)
}

fn repeat_item(draft: &mut Draft, at: usize, rng: &mut ChaCha8Rng) -> bool {
    draft.edit_list(at, rng, |items, rng| {
        let again = items[rng.random_range(0..items.len())];
        items.push(again);
        true
    })
}

/// A read holds an element that nobody sent.
pub(crate) fn phantom_in_read(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&[READ, FINAL].concat(), rng) else { return false };
    let fresh = draft.fresh(rng);
    draft.edit_list(at, rng, |items, rng| {
        let place = rng.random_range(0..items.len());
        items[place] = fresh;
        true
    })
}

/// Two deliveries to one consumer swap what they delivered.
pub(crate) fn swap_deliveries(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(TAKE, rng) else { return false };
    let first = draft.ops[at].clone();
    let next = (at + 1..draft.ops.len()).find(|&i| {
        let op = &draft.ops[i];
        op.ok(TAKE) && op.process == first.process && op.key == first.key
    });
    let Some(next) = next else { return false };
    draft.ops[at].op.output = draft.ops[next].op.output;
    draft.ops[next].op.output = first.op.output;
    draft.ops[at].op.output != draft.ops[next].op.output
}

/// A delivery hands over what another delivery handed over already.
pub(crate) fn repeat_delivery(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let (Some(a), Some(b)) = (draft.pick(TAKE, rng), draft.pick(TAKE, rng)) else { return false };
    let output = draft.ops[a].op.output;
    let fits = !output.is_null() && draft.ops[b].op.output != output;
    if fits {
        draft.ops[b].op.output = output;
    }
    fits
}

/// A delivery hands over what nobody sent.
pub(crate) fn phantom_delivery(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(TAKE, rng) else { return false };
    let fresh = draft.fresh(rng);
    draft.ops[at].op.output = fresh;
    true
}

/// A number in a map of a read or final state is off by one.
pub(crate) fn wrong_balance(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&[READ, FINAL, &["balance"]].concat(), rng) else { return false };
    if let View::Int(balance) = draft.values.view(draft.ops[at].op.output) {
        // More than all credits of a run together.
        const FAR: i64 = 1 << 40;
        draft.ops[at].op.output = draft.values.int(balance.saturating_add(FAR));
        return true;
    }
    let mut changed = false;
    draft.edit_map(at, rng, |values, old| match values.as_int(old) {
        Some(balance) => {
            changed = true;
            values.int(balance + 1)
        }
        None => old,
    }) && changed
}

/// A leaf of a state becomes something else.
pub(crate) fn change_leaf(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(&[FINAL, &["replay"]].concat(), rng) else { return false };
    let fresh = draft.fresh(rng);
    let changed = draft.edit_list(at, rng, |items, rng| {
        let place = rng.random_range(0..items.len());
        items[place] = fresh;
        true
    });
    changed || draft.edit_map(at, rng, |_, _| fresh)
}

/// A number one level down in a final state is off by one.
pub(crate) fn change_inner_number(draft: &mut Draft, rng: &mut ChaCha8Rng) -> bool {
    let Some(at) = draft.pick(FINAL, rng) else { return false };
    let mut changed = false;
    let done = draft.edit_map(at, rng, |values, old| {
        let bumped = |values: &mut assay_history::Values, id| {
            values.as_int(id).map(|int| values.int(int + 1))
        };
        if let Some(new) = bumped(values, old) {
            changed = true;
            return new;
        }
        let View::Map(flat) = values.view(old) else { return old };
        let mut pairs: Vec<_> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
        for pair in &mut pairs {
            if let Some(new) = bumped(values, pair.1) {
                pair.1 = new;
                changed = true;
                break;
            }
        }
        values.map(&pairs)
    });
    done && changed
}
