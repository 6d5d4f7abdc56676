//! How long to wait before the next try: pure, and never forever.

use std::time::Duration;

/// How often, and how long, to wait for a service that asked to come back later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    /// Tries in all, the first included.
    pub attempts_max: u32,
    /// The first wait, if the service does not say; each next one is twice as long.
    pub first: Duration,
    /// The longest wait. A service that asks for more is not waited for.
    pub wait_max: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff {
            attempts_max: 5,
            first: Duration::from_secs(15),
            wait_max: Duration::from_secs(15 * 60),
        }
    }
}

impl Backoff {
    /// How long to wait after this many tries; `None` is to give up.
    pub fn wait(&self, attempts: u32, asked: Option<Duration>) -> Option<Duration> {
        if attempts >= self.attempts_max {
            return None;
        }
        let doubled =
            self.first.saturating_mul(1_u32.checked_shl(attempts.max(1) - 1).unwrap_or(u32::MAX));
        match asked {
            Some(asked) if asked > self.wait_max => None,
            // A service that says "at once" gets a little more time than that.
            Some(asked) => Some(asked.max(self.first.min(self.wait_max))),
            None => Some(doubled.min(self.wait_max)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_then_end() {
        let seconds = Duration::from_secs;
        let backoff = Backoff { attempts_max: 5, first: seconds(10), wait_max: seconds(30) };
        let cases = [
            (1, None, Some(10)),
            (2, None, Some(20)),
            (3, None, Some(30)),
            (4, None, Some(30)),
            (5, None, None),
            (1, Some(25), Some(25)),
            (1, Some(0), Some(10)),
            (1, Some(30), Some(30)),
            (1, Some(31), None),
            (5, Some(1), None),
        ];
        for (attempts, asked, expected) in cases {
            let wait = backoff.wait(attempts, asked.map(seconds));
            assert_eq!(wait, expected.map(seconds), "{attempts} {asked:?}");
        }
        let endless = Backoff { attempts_max: u32::MAX, ..backoff };
        assert_eq!(endless.wait(90, None), Some(seconds(30)));
    }
}
