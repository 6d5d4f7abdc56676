//! What anomalies look like in each model, for calibration.

use super::*;
use std::sync::Arc;

/// A model that can say what a wrong answer looks like.
pub(crate) trait Plant: Decode + Evident {
    /// Whether a call shows something of the object's state.
    fn is_reader(&self, op: &Self::Op) -> bool;

    /// Whether two readers look at the same thing, so that one's answer could be the other's.
    fn is_alike(&self, a: &Self::Op, b: &Self::Op) -> bool {
        let _ = (a, b);
        true
    }

    /// The same call, having seen (or done) something that nobody brought about.
    fn impossible(&self, op: &Self::Op, fresh: ValueId) -> Option<Self::Op>;

    /// What a reader would have seen had `update` never happened; `before` is what was seen before
    /// it.
    fn without(
        &self,
        reader: &Self::Op,
        update: &Self::Op,
        before: Option<&Self::Op>,
    ) -> Option<Self::Op>;

    /// What a reader would have seen had `update` just happened again.
    fn again(&self, reader: &Self::Op, update: &Self::Op) -> Option<Self::Op>;
}

impl Plant for Register {
    fn is_reader(&self, op: &RegisterOp) -> bool {
        matches!(op, RegisterOp::Read(_))
    }

    fn impossible(&self, op: &RegisterOp, fresh: ValueId) -> Option<RegisterOp> {
        self.is_reader(op).then_some(RegisterOp::Read(fresh))
    }

    fn without(
        &self,
        reader: &RegisterOp,
        update: &RegisterOp,
        before: Option<&RegisterOp>,
    ) -> Option<RegisterOp> {
        match (reader, update) {
            (RegisterOp::Read(seen), RegisterOp::Write(written)) if seen == written => {
                Some(before.copied().unwrap_or(RegisterOp::Read(self.initial)))
            }
            _ => None,
        }
    }

    fn again(&self, reader: &RegisterOp, update: &RegisterOp) -> Option<RegisterOp> {
        match (reader, update) {
            (RegisterOp::Read(_), RegisterOp::Write(written)) => Some(RegisterOp::Read(*written)),
            _ => None,
        }
    }
}

impl Plant for Kv {
    fn is_reader(&self, op: &KvOp) -> bool {
        matches!(op, KvOp::Get(_))
    }

    fn impossible(&self, op: &KvOp, fresh: ValueId) -> Option<KvOp> {
        match op {
            KvOp::Get(text) => Some(KvOp::Get(Arc::from(format!("{text}<{fresh:?}>")))),
            _ => None,
        }
    }

    fn without(&self, reader: &KvOp, update: &KvOp, before: Option<&KvOp>) -> Option<KvOp> {
        match (reader, update) {
            (KvOp::Get(seen), KvOp::Append(text)) if seen.contains(&**text) => {
                Some(KvOp::Get(Arc::from(seen.replacen(&**text, "", 1))))
            }
            (KvOp::Get(seen), KvOp::Put(text)) if seen == text => {
                Some(before.cloned().unwrap_or(KvOp::Get(Arc::from(""))))
            }
            _ => None,
        }
    }

    fn again(&self, reader: &KvOp, update: &KvOp) -> Option<KvOp> {
        match (reader, update) {
            (KvOp::Get(seen), KvOp::Append(text)) => {
                Some(KvOp::Get(Arc::from(format!("{seen}{text}"))))
            }
            (KvOp::Get(_), KvOp::Put(text)) => Some(KvOp::Get(text.clone())),
            _ => None,
        }
    }
}

impl Plant for Counter {
    fn is_reader(&self, op: &CounterOp) -> bool {
        matches!(op, CounterOp::Read(_))
    }

    fn impossible(&self, op: &CounterOp, fresh: ValueId) -> Option<CounterOp> {
        let far = fresh.as_inline_int()?;
        self.is_reader(op).then_some(CounterOp::Read(far))
    }

    fn without(
        &self,
        reader: &CounterOp,
        update: &CounterOp,
        _: Option<&CounterOp>,
    ) -> Option<CounterOp> {
        match (reader, update) {
            (CounterOp::Read(seen), CounterOp::Add(delta, _)) => {
                Some(CounterOp::Read(seen.wrapping_sub(*delta)))
            }
            _ => None,
        }
    }

    fn again(&self, reader: &CounterOp, update: &CounterOp) -> Option<CounterOp> {
        match (reader, update) {
            (CounterOp::Read(seen), CounterOp::Add(delta, _)) => {
                Some(CounterOp::Read(seen.wrapping_add(*delta)))
            }
            _ => None,
        }
    }
}

impl Plant for Set {
    fn is_reader(&self, op: &SetOp) -> bool {
        matches!(op, SetOp::Read(_) | SetOp::Contains(..))
    }

    fn is_alike(&self, a: &SetOp, b: &SetOp) -> bool {
        Self::element(a) == Self::element(b)
    }

    fn impossible(&self, op: &SetOp, fresh: ValueId) -> Option<SetOp> {
        match op {
            SetOp::Read(all) => Some(SetOp::Read(with_element(all, fresh))),
            _ => None,
        }
    }

    fn without(&self, reader: &SetOp, update: &SetOp, _: Option<&SetOp>) -> Option<SetOp> {
        match (reader, update) {
            (SetOp::Read(all), SetOp::Add(lost, _)) => {
                Some(SetOp::Read(all.iter().copied().filter(|e| e != lost).collect()))
            }
            (SetOp::Contains(element, true), SetOp::Add(lost, _)) if element == lost => {
                Some(SetOp::Contains(*element, false))
            }
            _ => None,
        }
    }

    /// Adding twice is adding once; what can come back is an element that was removed.
    fn again(&self, reader: &SetOp, update: &SetOp) -> Option<SetOp> {
        match (reader, update) {
            (SetOp::Read(all), SetOp::Remove(gone, _)) => {
                Some(SetOp::Read(with_element(all, *gone)))
            }
            (SetOp::Contains(element, false), SetOp::Remove(gone, _)) if element == gone => {
                Some(SetOp::Contains(*element, true))
            }
            _ => None,
        }
    }
}

fn with_element(all: &[ValueId], element: ValueId) -> Arc<[ValueId]> {
    let mut grown = all.to_vec();
    if let Err(at) = grown.binary_search(&element) {
        grown.insert(at, element);
    }
    grown.into()
}
