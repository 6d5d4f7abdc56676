//! Waiting for the kernel, never for ever.

use std::time::{Duration, Instant};

/// How often to look again.
const LOOK_STEP: Duration = Duration::from_millis(2);

/// Looks until there is an answer, for no longer than `time_max`; looks at least once.
pub(crate) fn wait_for<T>(time_max: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let until = Instant::now() + time_max;
    loop {
        if let Some(answer) = look() {
            return Some(answer);
        }
        if Instant::now() >= until {
            return None;
        }
        std::thread::sleep(LOOK_STEP);
    }
}
