//! What the tokens of a model cost, as the operator writes it down.

use assay_session::Usage;
use serde::Deserialize;

/// The most that a million tokens can cost here, in US dollars.
const PRICE_MAX: f64 = 1_000_000.0;
/// Prices are kept in millionths of a dollar.
const MICROS: f64 = 1_000_000.0;
/// A millionth of a dollar for a million tokens is so much less than a billionth for one.
const MICROS_PER_NANO: u128 = 1000;

/// US dollars for a million tokens. A kind of tokens without a price makes requests with such
/// tokens ones that nobody knows the price of.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens taken from a cache.
    pub cache_read: Option<f64>,
    /// Tokens put into a cache.
    pub cache_write: Option<f64>,
}

impl Prices {
    /// Whether these are prices.
    ///
    /// # Errors
    /// Says which is none.
    pub fn check(&self) -> Result<(), String> {
        let all = [
            ("input", Some(self.input)),
            ("output", Some(self.output)),
            ("cache_read", self.cache_read),
            ("cache_write", self.cache_write),
        ];
        let is_price = |price: f64| (0.0..=PRICE_MAX).contains(&price);
        match all.iter().find(|(_, price)| price.is_some_and(|price| !is_price(price))) {
            Some((name, _)) => Err(format!(
                "prices.{name}: must be US dollars for a million tokens, from 0 to {PRICE_MAX}"
            )),
            None => Ok(()),
        }
    }

    /// What a request cost, in billionths of a US dollar.
    pub fn nanos(&self, usage: &Usage) -> Option<u64> {
        let parts = [
            (usage.input_tokens, Some(self.input)),
            (usage.output_tokens, Some(self.output)),
            (usage.cache_read_input_tokens, self.cache_read),
            (usage.cache_creation_input_tokens, self.cache_write),
        ];
        let mut sum: u128 = 0;
        for (tokens, price) in parts.into_iter().filter(|(tokens, _)| *tokens > 0) {
            sum = sum.saturating_add(u128::from(tokens) * u128::from(rounded(price? * MICROS)));
        }
        Some(u64::try_from(sum / MICROS_PER_NANO).unwrap_or(u64::MAX))
    }
}

/// What an agent says that it cost, in billionths of a US dollar.
pub fn nanos_of_dollars(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && dollars >= 0.0).then(|| rounded(dollars * 1e9))
}

/// The nearest whole number; one that is too large is the largest.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Bounded by the cast itself.
fn rounded(number: f64) -> u64 {
    number.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_costs_what_its_tokens_do() {
        let prices =
            Prices { input: 3.0, output: 15.0, cache_read: Some(0.3), cache_write: Some(3.75) };
        let usage = |input_tokens, output_tokens, read, written| Usage {
            input_tokens,
            output_tokens,
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
        };
        let cases = [
            (usage(0, 0, 0, 0), 0),
            (usage(1, 0, 0, 0), 3_000),
            (usage(0, 1, 0, 0), 15_000),
            (usage(0, 0, 1, 0), 300),
            (usage(0, 0, 0, 1), 3_750),
            (usage(1_000_000, 1_000_000, 1_000_000, 1_000_000), 22_050_000_000),
            (usage(u64::MAX, u64::MAX, 0, 0), u64::MAX),
        ];
        for (usage, nanos) in cases {
            assert_eq!(prices.nanos(&usage), Some(nanos), "{usage:?}");
        }
        let partial = Prices { cache_read: None, cache_write: None, ..prices };
        assert_eq!(partial.nanos(&usage(1, 0, 0, 0)), Some(3_000));
        assert_eq!(partial.nanos(&usage(1, 0, 1, 0)), None, "nobody said what it costs");
        assert_eq!(partial.nanos(&usage(1, 0, 0, 1)), None);
    }

    #[test]
    fn only_dollars_are_prices() {
        let good = Prices { input: 0.0, output: PRICE_MAX, cache_read: None, cache_write: None };
        assert_eq!(good.check(), Ok(()));
        for bad in [-0.01, f64::NAN, f64::INFINITY, PRICE_MAX * 2.0] {
            let error = Prices { cache_read: Some(bad), ..good }.check().expect_err("no price");
            assert!(error.starts_with("prices.cache_read"), "{error}");
            assert!(Prices { input: bad, ..good }.check().is_err(), "{bad}");
        }
        assert_eq!(nanos_of_dollars(0.045), Some(45_000_000));
        assert_eq!([f64::NAN, -1.0].map(nanos_of_dollars), [None, None]);
    }
}
