//! What the requests of a session cost, as far as anybody knows.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Billionths of a US dollar in a cent.
const NANOS_PER_CENT: u64 = 10_000_000;

/// What all requests of a session cost together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cost {
    /// There was none.
    #[default]
    Nothing,
    /// So many billionths of a US dollar.
    Nanos(u64),
    /// There was one whose price nobody knows: then a sum would be wrong.
    Unknown,
}

impl Cost {
    /// With one request more.
    pub fn plus(self, nanos: Option<u64>) -> Cost {
        match (self, nanos) {
            (Cost::Nothing, Some(nanos)) => Cost::Nanos(nanos),
            (Cost::Nanos(before), Some(nanos)) => Cost::Nanos(before.saturating_add(nanos)),
            (_, None) | (Cost::Unknown, Some(_)) => Cost::Unknown,
        }
    }

    /// As clients see it: whole cents as a text, or nothing if it is not known.
    pub fn wire(self) -> Value {
        let Cost::Nanos(nanos) = self else { return Value::Null };
        let half = NANOS_PER_CENT / 2;
        let cents = nanos / NANOS_PER_CENT + u64::from(nanos % NANOS_PER_CENT >= half);
        json!({"amount": cents.to_string(), "currency": "USD"})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_known_if_every_part_of_it_is() {
        let sum = |parts: &[Option<u64>]| {
            parts.iter().fold(Cost::Nothing, |cost, part| cost.plus(*part)).wire()
        };
        let cents = |text: &str| json!({"amount": text, "currency": "USD"});
        assert_eq!(sum(&[]), Value::Null);
        assert_eq!(sum(&[Some(0)]), cents("0"));
        assert_eq!(sum(&[Some(4_999_999)]), cents("0"));
        assert_eq!(sum(&[Some(2_500_000), Some(2_500_000)]), cents("1"));
        assert_eq!(sum(&[Some(12_340_000_000)]), cents("1234"));
        assert_eq!(sum(&[Some(u64::MAX), Some(u64::MAX)]), cents("1844674407371"));
        for unknown in [&[None][..], &[Some(1), None], &[None, Some(1)]] {
            assert_eq!(sum(unknown), Value::Null, "{unknown:?}");
        }
    }
}
