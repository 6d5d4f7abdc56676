//! Work in a thread of its own: one that has moved to another namespace does not come back.

use std::io;

/// Does something aside and waits for it.
pub(crate) fn aside<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| scope.spawn(work).join().expect("the work does not panic"))
}
