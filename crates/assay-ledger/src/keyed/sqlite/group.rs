//! What was written together, as bytes: one row of the journal.
//!
//! Each write is the length of its key, the length of its value, the key, the value; lengths are
//! four bytes, the least first. A key that is taken away has [`GONE`] as the length of its value.

use super::super::Writes;

const GONE: u32 = u32::MAX;
const LENGTH_BYTES: usize = 4;

/// As bytes.
pub(super) fn encode(writes: &Writes) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size(writes) + writes.len() * 2 * LENGTH_BYTES);
    for (key, value) in writes {
        // Whoever commits has looked at the sizes of all keys and values.
        let length = |bytes: usize| u32::try_from(bytes).expect("stores take no such sizes");
        let value_length = value.as_ref().map_or(GONE, |value| length(value.len()));
        bytes.extend_from_slice(&length(key.len()).to_le_bytes());
        bytes.extend_from_slice(&value_length.to_le_bytes());
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    bytes
}

/// How many bytes keys and values have.
pub(super) fn size(writes: &Writes) -> usize {
    writes.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len)).sum()
}

/// From bytes; nothing if they are not whole.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Vec<(String, Option<Vec<u8>>)>> {
    let mut writes = Vec::new();
    while !bytes.is_empty() {
        let (key_length, value_length) = (length(&mut bytes)?, length(&mut bytes)?);
        let key = std::str::from_utf8(take(&mut bytes, key_length)?).ok()?.to_string();
        let value = match value_length {
            GONE => None,
            length => Some(take(&mut bytes, length)?.to_vec()),
        };
        writes.push((key, value));
    }
    Some(writes)
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

    fn some_writes(count: Range<usize>) -> impl Strategy<Value = Writes> {
        let value = prop::option::of(any::<Vec<u8>>());
        prop::collection::btree_map(".{1,20}", value, count)
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(
            writes in some_writes(0..20),
        ) {
            let decoded = decode(&encode(&writes)).map(Writes::from_iter);
            prop_assert_eq!(decoded, Some(writes));
        }

        #[test]
        fn a_row_that_was_cut_is_no_other_row(
            writes in some_writes(1..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let bytes = encode(&writes);
            let whole: Vec<usize> = (0..writes.len())
                .map(|count| encode(&writes.clone().into_iter().take(count).collect()).len())
                .collect();
            let cut = cut.index(bytes.len());
            prop_assert_eq!(decode(&bytes[..cut]).is_some(), whole.contains(&cut));
        }

        #[test]
        fn any_bytes_are_a_group_or_none(bytes in any::<Vec<u8>>()) {
            if let Some(writes) = decode(&bytes) {
                prop_assert!(writes.len() * 2 * LENGTH_BYTES <= bytes.len());
            }
        }
    }
}
