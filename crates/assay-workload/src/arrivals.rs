//! When the calls of an open loop are due.
//!
//! Calls arrive whether or not earlier ones are done: a client that waits for slow answers before
//! it sends again would hide how slow they are. The whole workload has one train of arrivals,
//! evenly spaced; clients take them in turn, so the total rate is exact whatever their number.
//! Where the train begins within the first interval comes from the seed.

use crate::config::{CLIENTS_MAX, ConfigError};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Arrivals are counted in nanoseconds: there cannot be more of them.
const RATE_MAX: f64 = 1e9;
const NS_PER_SECOND: f64 = 1e9;
/// The random stream of the beginning; clients have theirs from 1 on.
const PHASE_STREAM: u64 = u64::MAX;

/// Due times of one client's calls, in nanoseconds from the start; endless.
#[derive(Clone, Debug)]
pub struct Arrivals {
    interval_ns: f64,
    phase: f64,
    clients: u64,
    next: u64,
}

/// The due times of the calls of `client`, one of `clients` that together make `rate_per_second`.
///
/// ```
/// let due: Vec<u64> = assay_workload::arrivals(1_000.0, 2, 0, 7)?.take(3).collect();
/// assert_eq!(due[1] - due[0], 2_000_000);
/// assert!(due[0] < 1_000_000);
/// # Ok::<(), assay_workload::ConfigError>(())
/// ```
///
/// # Errors
/// If nothing can arrive at that rate, or there is no such client.
pub fn arrivals(
    rate_per_second: f64,
    clients: usize,
    client: usize,
    seed: u64,
) -> Result<Arrivals, ConfigError> {
    let rate = rate_per_second;
    if !(rate > 0.0 && rate <= RATE_MAX) {
        return Err(ConfigError::BadRate { rate });
    }
    let range = |what, found: usize, least: u64, most: usize| match found as u64 {
        found if (least..=most as u64).contains(&found) => Ok(()),
        found => Err(ConfigError::OutOfRange { what, least, most: most as u64, found }),
    };
    range("the number of clients", clients, 1, CLIENTS_MAX)?;
    range("the client", client, 0, clients - 1)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(PHASE_STREAM);
    let phase = rng.random_range(0.0..1.0);
    let (clients, next) = (clients as u64, client as u64);
    Ok(Arrivals { interval_ns: NS_PER_SECOND / rate, phase, clients, next })
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let due_ns = (self.next as f64 + self.phase) * self.interval_ns;
        self.next = self.next.checked_add(self.clients)?;
        Some(due_ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_total_rate_is_exact_and_times_rise(
            rate in 0.5..50_000.0f64,
            clients in 1..40usize,
            seed: u64,
            seconds in 1..20u32,
        ) {
            let end_ns = u64::from(seconds) * 1_000_000_000;
            let mut count = 0;
            for client in 0..clients {
                let times = arrivals(rate, clients, client, seed).unwrap();
                let due: Vec<u64> = times.take_while(|due| *due < end_ns).collect();
                prop_assert!(due.windows(2).all(|pair| pair[0] < pair[1]));
                count += due.len();
            }
            // Within one arrival of what the rate says: the beginning has a phase.
            let expected = rate * f64::from(seconds);
            prop_assert!((count as f64 - expected).abs() <= 1.0, "{count}, not {expected}");
        }
    }

    #[test]
    fn a_rate_or_client_that_cannot_be_is_an_error() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e9] {
            assert!(matches!(arrivals(rate, 1, 0, 1), Err(ConfigError::BadRate { .. })), "{rate}");
        }
        for (clients, client) in [(0, 0), (3, 3), (CLIENTS_MAX + 1, 0)] {
            let found = arrivals(1.0, clients, client, 1);
            assert!(matches!(found, Err(ConfigError::OutOfRange { .. })), "{clients} {client}");
        }
    }
}
