//! Answers that are wrong beyond doubt, by arguments that need no search.
//!
//! Calibration plants anomalies, but not everything it plants is one: a read that returns an older
//! value may have a valid order all the same. Whether it does must not be asked of the checker that
//! is being calibrated. So each model says here, of a single call, what rules it out for sure: a
//! value nobody wrote, or one that was certainly overwritten in between. The arguments look at all
//! calls once, are sound, and far from complete; what they do not see is not counted.

use super::*;
use rustc_hash::FxHashMap;

/// A model that knows some answers to be wrong.
pub(crate) trait Evident: Model {
    /// Whether no order of these calls can have a place for the one at `at`.
    fn is_evident(&self, calls: &[Call<Self::Op>], at: usize) -> bool;
}

/// Whether a call certainly took effect before another began.
fn done<Op>(earlier: &Call<Op>, later: &Call<Op>) -> bool {
    earlier.required && earlier.end < later.start
}

/// Whether a call may have taken effect before another ended.
fn possible<Op>(earlier: &Call<Op>, later: &Call<Op>) -> bool {
    earlier.start <= later.end
}

/// A value was read, and each of its writers was certainly overwritten before the read began: then
/// the last writer before the read wrote something else. `writes` says what a call leaves behind,
/// and whether it certainly does.
fn is_overwritten<Op, V: PartialEq>(
    calls: &[Call<Op>],
    at: usize,
    seen: &V,
    initial: &V,
    writes: impl Fn(&Op) -> Option<(V, bool)>,
) -> bool {
    let read = &calls[at];
    let mut overwritten_from = i64::MIN;
    for call in calls.iter().filter(|call| done(call, read)) {
        if let Some((value, true)) = writes(&call.op)
            && value != *seen
        {
            overwritten_from = overwritten_from.max(call.start);
        }
    }
    let any = overwritten_from > i64::MIN;
    let mut writers = calls
        .iter()
        .filter(|call| possible(call, read))
        .filter(|call| writes(&call.op).is_some_and(|(value, _)| value == *seen));
    (any || seen != initial)
        && writers.all(|writer| writer.required && writer.end < overwritten_from)
}

impl Evident for Register {
    fn is_evident(&self, calls: &[Call<RegisterOp>], at: usize) -> bool {
        let RegisterOp::Read(seen) = calls[at].op else { return false };
        is_overwritten(calls, at, &seen, &self.initial, |op| match *op {
            RegisterOp::Write(value) | RegisterOp::Swap(_, value) => Some((value, true)),
            RegisterOp::MaybeSwap(_, value) => Some((value, false)),
            RegisterOp::Read(_) | RegisterOp::NoSwap(_) => None,
        })
    }
}

impl Evident for Kv {
    fn is_evident(&self, calls: &[Call<KvOp>], at: usize) -> bool {
        let KvOp::Get(seen) = &calls[at].op else { return false };
        let text = |call: &Call<KvOp>| match &call.op {
            KvOp::Put(text) | KvOp::Append(text) => Some(text.clone()),
            KvOp::Get(_) => None,
        };
        // A character that nobody wrote.
        let written: Vec<_> = calls.iter().filter_map(text).collect();
        if seen.chars().any(|c| !written.iter().any(|text| text.contains(c))) {
            return true;
        }
        let appends = calls.iter().any(|call| matches!(call.op, KvOp::Append(_)));
        if !appends {
            let none = "".into();
            return is_overwritten(calls, at, seen, &none, |op| match op {
                KvOp::Put(text) => Some((text.clone(), true)),
                KvOp::Append(_) | KvOp::Get(_) => None,
            });
        }
        // Without a put, what was appended stays.
        let puts = calls.iter().any(|call| matches!(call.op, KvOp::Put(_)));
        let lost = |call: &Call<KvOp>| match &call.op {
            KvOp::Append(text) => done(call, &calls[at]) && !seen.contains(&**text),
            _ => false,
        };
        !puts && calls.iter().any(lost)
    }
}

impl Evident for Counter {
    /// The sum of what certainly happened before, give or take what may have.
    fn is_evident(&self, calls: &[Call<CounterOp>], at: usize) -> bool {
        let CounterOp::Read(seen) = calls[at].op else { return false };
        let (mut low, mut high) = (0i128, 0i128);
        for call in calls.iter().filter(|call| possible(call, &calls[at])) {
            let CounterOp::Add(delta, _) = call.op else { continue };
            let delta = i128::from(delta);
            let certain = done(call, &calls[at]);
            low += if certain { delta } else { delta.min(0) };
            high += if certain { delta } else { delta.max(0) };
        }
        !(low..=high).contains(&i128::from(seen))
    }
}

impl Evident for Set {
    fn is_evident(&self, calls: &[Call<SetOp>], at: usize) -> bool {
        let read = &calls[at];
        let adds = |e: ValueId| {
            let adds = calls.iter().filter(|call| possible(call, read));
            adds.filter(move |call| matches!(call.op, SetOp::Add(added, _) if added == e))
        };
        let removes = |e: ValueId| {
            let removes = calls.iter().filter(|call| possible(call, read));
            removes.filter(move |call| matches!(call.op, SetOp::Remove(gone, _) if gone == e))
        };
        let surely_in = |e| adds(e).any(|add| done(add, read)) && removes(e).next().is_none();
        let surely_out = |e| {
            let gone = removes(e).filter(|gone| done(gone, read)).map(|gone| gone.start).max();
            adds(e).all(|add| add.required && gone.is_some_and(|gone| add.end < gone))
        };
        match &read.op {
            SetOp::Contains(e, true) => surely_out(*e),
            SetOp::Contains(e, false) => surely_in(*e),
            SetOp::Read(all) => {
                let strange = all.iter().copied().filter(|e| adds(*e).next().is_none());
                let missing = calls.iter().filter_map(|call| match call.op {
                    SetOp::Add(e, _) if done(call, read) && !all.contains(&e) => Some(e),
                    _ => None,
                });
                strange.take(1).count() == 1
                    || missing.take(LOOKED_AT_MAX).any(surely_in)
                    || all.iter().copied().take(LOOKED_AT_MAX).any(surely_out)
            }
            SetOp::Add(..) | SetOp::Remove(..) => false,
        }
    }
}

/// How many elements of a set are looked at one by one.
const LOOKED_AT_MAX: usize = 64;

/// What a call does to a pool of elements.
enum Move {
    Put(ValueId),
    Take(ValueId),
    FoundEmpty,
    MayTake,
}

/// The calls that put and take one element.
#[derive(Default)]
struct Travels {
    puts: Vec<usize>,
    takes: Vec<usize>,
}

struct Pool {
    elements: FxHashMap<ValueId, Travels>,
    may_take: bool,
}

impl Pool {
    fn new<Op>(calls: &[Call<Op>], of: impl Fn(&Op) -> Move) -> Pool {
        let mut pool = Pool { elements: FxHashMap::default(), may_take: false };
        for (i, call) in calls.iter().enumerate() {
            match of(&call.op) {
                Move::Put(e) => pool.elements.entry(e).or_default().puts.push(i),
                Move::Take(e) => pool.elements.entry(e).or_default().takes.push(i),
                Move::MayTake => pool.may_take = true,
                Move::FoundEmpty => {}
            }
        }
        pool
    }

    /// Taken more often than it was put in, before the last of it came out.
    fn taken_too_often<Op>(&self, calls: &[Call<Op>], element: ValueId, at: usize) -> bool {
        let Some(travels) = self.elements.get(&element) else { return false };
        let puts = travels.puts.iter().filter(|&&put| possible(&calls[put], &calls[at])).count();
        puts == 0 || travels.takes.len() > travels.puts.len()
    }

    /// Found empty although something certainly was in it.
    fn was_not_empty<Op>(&self, calls: &[Call<Op>], at: usize) -> bool {
        let here = |travels: &Travels| {
            travels.puts.len() == 1
                && done(&calls[travels.puts[0]], &calls[at])
                && !travels.takes.iter().any(|&take| possible(&calls[take], &calls[at]))
        };
        // Where nobody knows what was taken, it may have been this.
        !self.may_take && self.elements.values().any(here)
    }

    /// Something that was put in earlier came out later, of a queue.
    fn overtook<Op>(&self, calls: &[Call<Op>], element: ValueId, at: usize) -> bool {
        let Some(Travels { puts, .. }) = self.elements.get(&element) else { return false };
        let [put] = puts[..] else { return false };
        let first = |other: &Travels| match (&other.puts[..], &other.takes[..]) {
            (&[earlier], takes) if done(&calls[earlier], &calls[put]) => match takes {
                [] => !self.may_take,
                &[take] => calls[at].end < calls[take].start,
                _ => false,
            },
            _ => false,
        };
        self.elements.values().any(first)
    }
}

impl Evident for Queue {
    fn is_evident(&self, calls: &[Call<QueueOp>], at: usize) -> bool {
        let moves = |op: &QueueOp| match *op {
            QueueOp::Enqueue(e) => Move::Put(e),
            QueueOp::Dequeue(e) => Move::Take(e),
            QueueOp::Empty => Move::FoundEmpty,
            QueueOp::MaybeDequeue => Move::MayTake,
        };
        let pool = Pool::new(calls, moves);
        match moves(&calls[at].op) {
            Move::Take(e) => pool.taken_too_often(calls, e, at) || pool.overtook(calls, e, at),
            Move::FoundEmpty => pool.was_not_empty(calls, at),
            Move::Put(_) | Move::MayTake => false,
        }
    }
}

impl Evident for Stack {
    fn is_evident(&self, calls: &[Call<StackOp>], at: usize) -> bool {
        let moves = |op: &StackOp| match *op {
            StackOp::Push(e) => Move::Put(e),
            StackOp::Pop(e) => Move::Take(e),
            StackOp::Empty => Move::FoundEmpty,
            StackOp::MaybePop => Move::MayTake,
        };
        let pool = Pool::new(calls, moves);
        match moves(&calls[at].op) {
            Move::Take(e) => pool.taken_too_often(calls, e, at),
            Move::FoundEmpty => pool.was_not_empty(calls, at),
            Move::Put(_) | Move::MayTake => false,
        }
    }
}

impl Evident for Log {
    fn is_evident(&self, calls: &[Call<LogOp>], at: usize) -> bool {
        let read = &calls[at];
        let mut appends: FxHashMap<ValueId, Vec<&Call<LogOp>>> = FxHashMap::default();
        for call in calls {
            if let LogOp::Append(e, _) = call.op {
                appends.entry(e).or_default().push(call);
            }
        }
        match &read.op {
            LogOp::Append(..) => false,
            LogOp::ReadAt(_, Some(e)) => !appends.contains_key(e),
            LogOp::ReadAt(offset, None) => {
                let before = appends.values().flatten().filter(|append| done(append, read));
                usize::try_from(*offset).is_ok_and(|offset| before.count() > offset)
            }
            LogOp::ReadAll(all) => {
                let mut seen: FxHashMap<ValueId, usize> = FxHashMap::default();
                let mut begun = i64::MIN;
                for e in all.iter() {
                    let times = seen.entry(*e).or_default();
                    *times += 1;
                    match appends.get(e).map(Vec::as_slice) {
                        None => return true,
                        Some(appends) if *times > appends.len() => return true,
                        // Something that began after this one ended stands before it.
                        Some([append]) if append.required && append.end < begun => return true,
                        Some([append]) => begun = begun.max(append.start),
                        Some(_) => {}
                    }
                }
                let lost = |(e, appends): (&ValueId, &Vec<&Call<LogOp>>)| {
                    !seen.contains_key(e) && appends.iter().any(|append| done(append, read))
                };
                appends.iter().any(lost)
            }
        }
    }
}

impl Evident for Mutex {
    /// More certain acquires before than there can be releases, or a release by a stranger.
    fn is_evident(&self, calls: &[Call<MutexOp>], at: usize) -> bool {
        let this = &calls[at];
        let before = |call: &&Call<MutexOp>| possible(call, this);
        match this.op {
            MutexOp::Acquire(_) => {
                let acquired = |call: &&Call<MutexOp>| matches!(call.op, MutexOp::Acquire(_));
                let acquires = calls.iter().filter(|call| done(call, this)).filter(acquired);
                let releases = calls.iter().filter(before).filter(|call| !acquired(call));
                acquires.count() > releases.count()
            }
            MutexOp::Release(process) => {
                let mut all = calls.iter().filter(before);
                !all.any(|call| call.op == MutexOp::Acquire(process))
            }
        }
    }
}

impl Evident for Lease {
    /// Tokens rise, at the lease and at the resource, and none is used that was not handed out.
    fn is_evident(&self, calls: &[Call<LeaseOp>], at: usize) -> bool {
        let this = &calls[at];
        let mut earlier = calls.iter().filter(|call| done(call, this));
        match this.op {
            LeaseOp::Acquire(token) => {
                earlier.any(|call| matches!(call.op, LeaseOp::Acquire(older) if older >= token))
            }
            LeaseOp::Use(token) => {
                let granted = |call: &Call<LeaseOp>| match call.op {
                    LeaseOp::Acquire(granted) => possible(call, this) && granted >= token,
                    _ => false,
                };
                earlier.any(|call| matches!(call.op, LeaseOp::Use(older) if older > token))
                    || !calls.iter().any(granted)
            }
            LeaseOp::MaybeAcquire | LeaseOp::Renew(_) | LeaseOp::Release(_) => false,
        }
    }
}
