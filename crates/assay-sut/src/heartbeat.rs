//! How long nodes were silent: each is asked all the time, straight at its real port, so a silence
//! is the node's own and not that of a link.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two questions.
pub(crate) const HEARTBEAT_STEP: Duration = Duration::from_millis(100);
/// How long to wait for one answer before asking anew.
pub(crate) const HEARTBEAT_TIME_MAX: Duration = Duration::from_secs(1);
/// Answers remembered of each node: more than a day of them. Then the older half is forgotten.
const ANSWERS_MAX: usize = 1_000_000;

/// When a node answered.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    answers: Mutex<Vec<Instant>>,
}

impl Heartbeat {
    pub(crate) fn answered(&self, at: Instant) {
        let mut answers = self.answers.lock().expect("nothing panics while it holds the answers");
        if answers.len() >= ANSWERS_MAX {
            answers.drain(..ANSWERS_MAX / 2);
        }
        answers.push(at);
    }

    /// The longest time without an answer between two moments.
    pub(crate) fn gap(&self, since: Instant, until: Instant) -> Duration {
        let answers = self.answers.lock().expect("nothing panics while it holds the answers");
        let from = answers.partition_point(|answer| *answer <= since);
        let mut last = since;
        let mut longest = Duration::ZERO;
        let within = answers[from..].iter().take_while(|answer| **answer < until);
        for at in within.copied().chain([until]) {
            longest = longest.max(at.saturating_duration_since(last));
            last = at;
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_silence_counts_with_its_open_ends() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let heartbeat = Heartbeat::default();
        [100, 200, 900, 1_000].into_iter().for_each(|ms| heartbeat.answered(at(ms)));
        let cases = [
            (0, 1_000, 700),
            (0, 250, 100),
            (250, 1_100, 650),
            (950, 3_000, 2_000),
            (2_000, 5_000, 3_000),
            (5_000, 5_000, 0),
        ];
        for (since, until, expected) in cases {
            let gap = heartbeat.gap(at(since), at(until));
            assert_eq!(gap, Duration::from_millis(expected), "{since}..{until}");
        }
    }
}
