//! The values that most fields of a history hold: plain strings, whole numbers and null, read
//! without going byte by byte.

use super::json::plain_bytes;
use super::raw::Raw;

/// The value that `bytes`, which begin at `pos` of the block, begin with, and its length; `None` if
/// it is none of the usual ones.
#[inline]
pub(super) fn usual_value(bytes: &[u8], pos: usize) -> Option<(Raw, usize)> {
    match bytes.first()? {
        b'"' => {
            let length = 1 + plain_bytes(&bytes[1..]);
            let closed = bytes.get(length) == Some(&b'"');
            closed.then(|| (Raw::text(pos, pos + length + 1), length + 1))
        }
        b'0'..=b'9' => whole_number(bytes),
        b'n' => bytes.starts_with(b"null").then_some((Raw::NULL, 4)),
        _ => None,
    }
}

/// A whole number without sign that an integer of 62 bits can hold, eight digits at a time. If it
/// goes on as a fraction, what has to follow it does not.
#[inline]
fn whole_number(bytes: &[u8]) -> Option<(Raw, usize)> {
    const POWERS_OF_TEN: [u64; 9] =
        [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    const DIGITS_MAX: usize = 19;
    let (mut value, mut length) = (0u64, 0);
    loop {
        let chunk = bytes.get(length..)?.first_chunk::<8>()?;
        let (digits, number) = leading_digits(u64::from_le_bytes(*chunk));
        // Wrong for numbers of more digits, which are not used.
        value = value.wrapping_mul(POWERS_OF_TEN[digits]).wrapping_add(number);
        length += digits;
        if digits < 8 || length > DIGITS_MAX {
            break;
        }
    }
    let leading_zero = length > 1 && bytes[0] == b'0';
    if length > DIGITS_MAX || leading_zero {
        return None;
    }
    Some((Raw::integer(i64::try_from(value).ok()?)?, length))
}

/// How many digits eight characters begin with, and the number that these spell. The first
/// character is the lowest byte.
#[inline]
fn leading_digits(characters: u64) -> (usize, u64) {
    const ONES: u64 = u64::MAX / 0xff;
    let values = characters ^ (ONES * u64::from(b'0'));
    // The high bit of each byte above nine; bytes behind the first of these may be wrong.
    let others = (values.wrapping_add(ONES * (0x80 - 10)) | values) & (ONES << 7);
    let digits = others.trailing_zeros() / 8;
    // The digits move to the end, zeros before them; then neighbours are added up, pair by pair.
    let values = values.checked_shl(64 - 8 * digits).unwrap_or(0);
    let pairs = (values.wrapping_mul(10) + (values >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let eight = (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff;
    (digits as usize, eight)
}
