//! What the cutting threads hand over: values that are known already, or where their text stands.

use crate::value::ValueId;

/// A field's value: known at once, or the range of the block where its text stands.
///
/// The two lowest bits tell which. A known value has its id in the upper half, a text its start in
/// the upper half and its length below, a wide integer takes all other bits. Null is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Raw(u64);

const TAG_BITS: u32 = 2;
const TAG_TEXT: u64 = 1;
const TAG_WIDE: u64 = 2;

/// A [`Raw`] value looked up in its block.
pub(super) enum Held<'b> {
    /// Null, a boolean or a small integer.
    Known(ValueId),
    /// An integer that does not fit an id.
    Int(i64),
    /// Anything else, in the notation of its file.
    Text(&'b str),
}

impl Raw {
    pub(super) const NULL: Raw = Raw(0);

    #[inline]
    pub(super) fn known(id: ValueId) -> Raw {
        Raw(u64::from(id.bits()) << 32)
    }

    #[inline]
    pub(super) fn text(start: usize, end: usize) -> Raw {
        debug_assert!(end > start, "only a known value has no text");
        debug_assert!(end - start < 1 << (32 - TAG_BITS), "a block is shorter");
        Raw((start as u64) << 32 | ((end - start) as u64) << TAG_BITS | TAG_TEXT)
    }

    /// An integer; `None` for the few that need all of their 64 bits.
    #[inline]
    pub(super) fn integer(value: i64) -> Option<Raw> {
        let wide = || {
            let shifted = value << TAG_BITS;
            (shifted >> TAG_BITS == value).then_some(Raw(shifted as u64 | TAG_WIDE))
        };
        ValueId::inline_int(value).map(Raw::known).or_else(wide)
    }

    /// The value, if it needs no text and no pool.
    #[inline]
    pub(super) fn known_id(self) -> Option<ValueId> {
        let known = self.0 & (TAG_TEXT | TAG_WIDE) == 0;
        known.then(|| ValueId::from_bits((self.0 >> 32) as u32))
    }

    #[inline]
    pub(super) fn held(self, block: &str) -> Held<'_> {
        match self.span() {
            Some((start, end)) => Held::Text(&block[start..end]),
            None if self.0 & TAG_WIDE != 0 => Held::Int((self.0 as i64) >> TAG_BITS),
            None => Held::Known(ValueId::from_bits((self.0 >> 32) as u32)),
        }
    }

    /// Where the text stands; `None` for a value that is known.
    #[inline]
    pub(super) fn span(self) -> Option<(usize, usize)> {
        let (start, len) = ((self.0 >> 32) as usize, (self.0 as u32 >> TAG_BITS) as usize);
        (self.0 & TAG_TEXT != 0).then_some((start, start + len))
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
            Held::Int(int) => Some(int),
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
