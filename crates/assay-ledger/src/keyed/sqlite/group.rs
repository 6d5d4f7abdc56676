//! What was written together, as bytes: one row of the journal.
//!
//! Each write is the length of its key, the length of its value, the key, the value; lengths are
//! four bytes, the least first. A key that is taken away has [`GONE`] as the length of its value,
//! one that is to be looked up in the table [`IN_TABLE`].

use std::sync::Arc;

const GONE: u32 = u32::MAX;
const IN_TABLE: u32 = u32::MAX - 1;
const LENGTH_BYTES: usize = 4;

/// What a row says of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Said {
    /// This stands there.
    Value(Arc<[u8]>),
    /// It was taken away.
    Gone,
    /// What the table says, whatever earlier rows do.
    InTable,
}

impl Said {
    fn bytes(&self) -> &[u8] {
        match self {
            Said::Value(value) => value,
            Said::Gone | Said::InTable => &[],
        }
    }
}

/// A row: keys, and what it says of each.
pub(super) type Row = Arc<[(Arc<str>, Said)]>;

/// As bytes.
pub(super) fn encode(row: &Row) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size(row) + row.len() * 2 * LENGTH_BYTES);
    for (key, said) in row.iter() {
        // Whoever commits has looked at the sizes of all keys and values.
        let length = |bytes: usize| u32::try_from(bytes).expect("stores take no such sizes");
        let value_length = match said {
            Said::Value(value) => length(value.len()),
            Said::Gone => GONE,
            Said::InTable => IN_TABLE,
        };
        bytes.extend_from_slice(&length(key.len()).to_le_bytes());
        bytes.extend_from_slice(&value_length.to_le_bytes());
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(said.bytes());
    }
    bytes
}

/// How many bytes keys and values have.
pub(super) fn size(row: &Row) -> usize {
    row.iter().map(|(key, said)| key.len() + said.bytes().len()).sum()
}

/// From bytes; nothing if they are not whole.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Row> {
    let mut row: Vec<(Arc<str>, Said)> = Vec::new();
    while !bytes.is_empty() {
        let (key_length, value_length) = (length(&mut bytes)?, length(&mut bytes)?);
        let key = std::str::from_utf8(take(&mut bytes, key_length)?).ok()?;
        let said = match value_length {
            GONE => Said::Gone,
            IN_TABLE => Said::InTable,
            length => Said::Value(take(&mut bytes, length)?.into()),
        };
        row.push((key.into(), said));
    }
    Some(row.into())
}

fn length(bytes: &mut &[u8]) -> Option<u32> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*length))
}

fn take<'a>(bytes: &mut &'a [u8], length: u32) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;

    fn some_row(count: Range<usize>) -> impl Strategy<Value = Row> {
        let said = prop_oneof![
            any::<Vec<u8>>().prop_map(|value| Said::Value(value.into())),
            Just(Said::Gone),
            Just(Said::InTable),
        ];
        let key = ".{1,20}".prop_map(|key: String| Arc::<str>::from(key));
        prop::collection::vec((key, said), count).prop_map(Row::from)
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(row in some_row(0..20)) {
            prop_assert_eq!(decode(&encode(&row)), Some(row));
        }

        #[test]
        fn a_row_that_was_cut_is_no_other_row(
            row in some_row(1..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let bytes = encode(&row);
            let whole: Vec<usize> =
                (0..row.len()).map(|count| encode(&row[..count].into()).len()).collect();
            let cut = cut.index(bytes.len());
            prop_assert_eq!(decode(&bytes[..cut]).is_some(), whole.contains(&cut));
        }

        #[test]
        fn any_bytes_are_a_group_or_none(bytes in any::<Vec<u8>>()) {
            if let Some(row) = decode(&bytes) {
                prop_assert!(row.len() * 2 * LENGTH_BYTES <= bytes.len());
            }
        }
    }
}
