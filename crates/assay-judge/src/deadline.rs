//! Work that is told to stop once its time is up.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Does `work`, and calls `stop` if it takes longer than `limit`. What `stop` does is between it
/// and the work; this waits for the work to end in any case.
pub fn within<T: Send>(
    limit: Duration,
    stop: impl FnOnce() + Send,
    work: impl FnOnce() -> T + Send,
) -> T {
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waiting.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                stop();
            }
        });
        let result = work();
        drop(done);
        result
    })
}
