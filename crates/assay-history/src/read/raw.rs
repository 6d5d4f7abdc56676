//! What the reading thread hands over: values that are known already, or where their text stands;
//! and the memory that makes stepping over field names cheap.

use crate::value::ValueId;

/// A field's value: known at once, or the range of the block where its text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw(u64);

/// A [`Raw`] value looked up in its block.
pub(super) enum Held<'b> {
    /// Null, a boolean or a small integer.
    Known(ValueId),
    /// Anything else, in the notation of its file.
    Text(&'b str),
}

impl Raw {
    pub(super) const NULL: Raw = Raw(0);

    pub(super) fn known(id: ValueId) -> Raw {
        Raw(u64::from(id.bits()) << 32)
    }

    pub(super) fn text(start: usize, end: usize) -> Raw {
        debug_assert!(end > start, "only a known value has no text");
        Raw((start as u64) << 32 | (end - start) as u64)
    }

    #[inline]
    pub(super) fn held(self, block: &str) -> Held<'_> {
        match self.span() {
            None => Held::Known(ValueId::from_bits((self.0 >> 32) as u32)),
            Some((start, end)) => Held::Text(&block[start..end]),
        }
    }

    /// Where the text stands; `None` for a known value.
    #[inline]
    pub(super) fn span(self) -> Option<(usize, usize)> {
        let (start, len) = ((self.0 >> 32) as usize, (self.0 & 0xffff_ffff) as usize);
        (len > 0).then_some((start, start + len))
    }

    /// The text of a string without escapes; `None` for anything else.
    pub(super) fn plain_str(self, block: &str) -> Option<&str> {
        let (start, end) = self.span()?;
        let text = block[start..end].strip_prefix('"')?.strip_suffix('"')?;
        (!text.contains('\\')).then_some(text)
    }

    /// The integer, if it is one of 64 bits. EDN may mark integers with an `N`.
    #[inline]
    pub(super) fn int(self, block: &str) -> Option<i64> {
        match self.held(block) {
            Held::Known(id) => id.as_inline_int(),
            Held::Text(text) => text.strip_suffix('N').unwrap_or(text).parse().ok(),
        }
    }

    pub(super) fn bool(self) -> Option<bool> {
        match self {
            raw if raw == Raw::known(ValueId::TRUE) => Some(true),
            raw if raw == Raw::known(ValueId::FALSE) => Some(false),
            _ => None,
        }
    }
}

/// The longest field name, with what separates it from its value, that a [`Shape`] remembers.
const LEARNT_BYTES_MAX: usize = 32;

/// The most fields of a record that a [`Shape`] remembers.
const LEARNT_FIELDS_MAX: usize = 32;

/// The fields of the last record of a kind. Recorders write the same fields in the same order every
/// time, so comparing with what stood in this place last time beats looking a name up.
pub(super) struct Shape<S> {
    /// By place; the first places may belong to the shape of another kind.
    fields: Vec<Option<Learnt<S>>>,
}

/// A field name as two halves, each with the bits that count: compared without a loop.
#[derive(Clone, Copy)]
struct Learnt<S> {
    halves: [u128; 2],
    masks: [u128; 2],
    length: usize,
    field: S,
}

/// The first 32 bytes of a text as two numbers; `None` if it is shorter.
#[inline]
fn halves(text: &[u8]) -> Option<[u128; 2]> {
    let (low, rest) = text.split_first_chunk::<16>()?;
    let high = rest.first_chunk::<16>()?;
    Some([u128::from_le_bytes(*low), u128::from_le_bytes(*high)])
}

impl<S: Copy> Shape<S> {
    pub(super) fn new() -> Shape<S> {
        Shape { fields: Vec::new() }
    }

    /// If the text goes on like the last record did: how many bytes lie before the value, and which
    /// field it is. Near the end of a block there is no guess.
    #[inline]
    pub(super) fn guess(&self, place: usize, rest: &[u8]) -> Option<(usize, S)> {
        let learnt = self.fields.get(place)?.as_ref()?;
        let [low, high] = halves(rest)?;
        let same = (low & learnt.masks[0]) == learnt.halves[0]
            && (high & learnt.masks[1]) == learnt.halves[1];
        same.then_some((learnt.length, learnt.field))
    }

    /// Remembers that `text` (the name and all that separates it from its value) stood in this
    /// place.
    pub(super) fn learn(&mut self, place: usize, text: &str, field: S) {
        if text.len() > LEARNT_BYTES_MAX || place >= LEARNT_FIELDS_MAX {
            return;
        }
        let padded = |byte: u8, source: &[u8]| {
            let mut bytes = [0u8; LEARNT_BYTES_MAX];
            for (i, slot) in bytes[..text.len()].iter_mut().enumerate() {
                *slot = source.get(i).copied().unwrap_or(byte);
            }
            halves(&bytes).expect("32 bytes have two halves")
        };
        let learnt = Learnt {
            halves: padded(0, text.as_bytes()),
            masks: padded(0xff, &[]),
            length: text.len(),
            field,
        };
        if self.fields.len() <= place {
            self.fields.resize_with(place + 1, || None);
        }
        self.fields[place] = Some(learnt);
    }
}
