//! Work in a thread of its own: one that has moved to another namespace does not come back.

use std::io;

/// Does something aside and waits for it.
pub(crate) fn aside<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, work)?;
        thread.join().unwrap_or_else(|_panic| Err(io::Error::other("a bug: the work panicked")))
    })
}
