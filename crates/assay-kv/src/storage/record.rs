//! Records: how bytes are laid out so that damage shows.
//!
//! ```text
//! offset  bytes  what
//! 0       4      length of the payload, little-endian, at most RECORD_BYTES_MAX
//! 4       4      the length again, every bit inverted
//! 8       4      CRC-32 of kind and payload, little-endian
//! 12      1      kind
//! 13      n      payload: JSON, which never contains a zero byte
//! ```
//!
//! A process that is killed leaves a beginning of what it wrote; a machine that loses power may
//! also leave zeros where data should be. Both can only be at the end of a file, and both are
//! *torn*: cut them off, nobody was promised what they held. Any other damage is *corrupt*, and the
//! file must not be used: what is gone may have been promised. The length stands there twice
//! because a damaged length would otherwise look like a torn end, and everything behind it would be
//! cut off.
//!
//! ```
//! use assay_kv::storage::record::{Next, encode, next};
//! let mut bytes = encode(1, b"{}");
//! assert_eq!(next(&bytes), Next::Record { kind: 1, payload: b"{}", bytes: 15 });
//! bytes.pop();
//! assert_eq!(next(&bytes), Next::Torn);
//! assert_eq!(next(b""), Next::End);
//! ```

/// Bytes before the payload.
pub const HEAD_BYTES: usize = 13;
/// Bytes of one payload.
pub const RECORD_BYTES_MAX: usize = 1 << 30;

/// What comes next in a file.
#[derive(PartialEq, Eq, Debug)]
pub enum Next<'a> {
    /// A whole record, and how many bytes it takes.
    Record {
        /// Its kind.
        kind: u8,
        /// Its payload.
        payload: &'a [u8],
        /// Its length in the file.
        bytes: usize,
    },
    /// Nothing.
    End,
    /// A write that never finished.
    Torn,
    /// Damage.
    Corrupt,
}

/// A record as bytes.
///
/// # Panics
/// If the payload is longer than [`RECORD_BYTES_MAX`]: the limits on requests rule that out.
pub fn encode(kind: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() <= RECORD_BYTES_MAX, "a record of {} bytes", payload.len());
    let mut bytes = Vec::with_capacity(HEAD_BYTES + payload.len());
    let length = payload.len() as u32;
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&(!length).to_le_bytes());
    bytes.extend_from_slice(&checksum(kind, payload).to_le_bytes());
    bytes.push(kind);
    bytes.extend_from_slice(payload);
    bytes
}

/// Looks at the beginning of `rest`, the part of a file that has not been read.
pub fn next(rest: &[u8]) -> Next<'_> {
    if rest.is_empty() {
        return Next::End;
    }
    let Some((head, body)) = rest.split_at_checked(HEAD_BYTES) else { return Next::Torn };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, inverted, sum, kind) = (word(0), word(4), word(8), head[12]);
    if length != !inverted || length as usize > RECORD_BYTES_MAX {
        // Zeros from within the head to the end of the file: it was being written.
        return if body.iter().all(|byte| *byte == 0) && kind == 0 {
            Next::Torn
        } else {
            Next::Corrupt
        };
    }
    let length = length as usize;
    let Some(payload) = body.get(..length) else { return Next::Torn };
    if checksum(kind, payload) == sum {
        return Next::Record { kind, payload, bytes: HEAD_BYTES + length };
    }
    // Zeros up to the end of the file: the length got there, the data did not.
    let is_last = body[length..].iter().all(|byte| *byte == 0);
    if is_last && payload.last() == Some(&0) { Next::Torn } else { Next::Corrupt }
}

fn checksum(kind: u8, payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_all(mut rest: &[u8]) -> (Vec<(u8, Vec<u8>)>, Next<'_>) {
        let mut records = Vec::new();
        loop {
            match next(rest) {
                Next::Record { kind, payload, bytes } => {
                    records.push((kind, payload.to_vec()));
                    rest = &rest[bytes..];
                }
                end => return (records, end),
            }
        }
    }

    type Records = Vec<(u8, Vec<u8>)>;

    fn any_records() -> impl Strategy<Value = Records> {
        let payload = proptest::collection::vec(1..=255u8, 1..40);
        proptest::collection::vec((1..5u8, payload), 1..8)
    }

    fn file(records: &Records) -> Vec<u8> {
        records.iter().flat_map(|(kind, payload)| encode(*kind, payload)).collect()
    }

    proptest! {
        #[test]
        fn a_file_cut_anywhere_gives_its_whole_records_and_then_says_torn(
            records in any_records(),
            cut in any::<proptest::sample::Index>(),
        ) {
            let bytes = file(&records);
            let cut = cut.index(bytes.len() + 1);
            let (read, end) = read_all(&bytes[..cut]);
            prop_assert_eq!(&read[..], &records[..read.len()]);
            let whole = file(&records[..read.len()].to_vec()).len();
            prop_assert_eq!(end, if whole == cut { Next::End } else { Next::Torn });
        }

        #[test]
        fn zeros_after_a_cut_are_torn_too(
            records in any_records(),
            cut in any::<proptest::sample::Index>(),
            zeros in 1..200usize,
        ) {
            let mut bytes = file(&records);
            let last = encode(records[records.len() - 1].0, &records[records.len() - 1].1).len();
            // Inside the last payload: its length is there, its end is not.
            let payload = last - HEAD_BYTES;
            let keep = bytes.len() - payload + cut.index(payload);
            let length = bytes.len();
            bytes.truncate(keep);
            bytes.resize(length + zeros, 0);
            let (read, end) = read_all(&bytes);
            prop_assert_eq!(read.len(), records.len() - 1);
            prop_assert_eq!(end, Next::Torn);
        }

        #[test]
        fn a_flipped_bit_never_gives_a_wrong_record(
            records in any_records(),
            at in any::<proptest::sample::Index>(),
            bit in 0..8u32,
        ) {
            let mut bytes = file(&records);
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let (read, end) = read_all(&bytes);
            prop_assert_ne!(end, Next::End);
            prop_assert_eq!(&read[..], &records[..read.len()]);
        }

        #[test]
        fn a_flipped_bit_with_records_behind_it_is_corrupt_and_never_torn(
            records in any_records(),
            at in any::<proptest::sample::Index>(),
            bit in 0..8u32,
        ) {
            let mut bytes = file(&records);
            bytes.extend(encode(1, b"more"));
            let first = HEAD_BYTES + records[0].1.len();
            bytes[at.index(first)] ^= 1 << bit;
            prop_assert_eq!(next(&bytes), Next::Corrupt);
        }
    }
}
