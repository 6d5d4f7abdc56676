//! The open connections of a relay, so that all of them can be closed at once.
//!
//! A thread that waits for bytes cannot be told to stop; the connection it waits on can be shut.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Connections that may be open at a time.
pub(crate) const STREAMS_MAX: usize = 1024;

#[derive(Default, Debug)]
pub(crate) struct Streams {
    state: Mutex<State>,
}

#[derive(Default, Debug)]
struct State {
    open: BTreeMap<u64, TcpStream>,
    id_last: u64,
    closed: bool,
}

/// A connection in the list; dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Listed<'a> {
    streams: &'a Streams,
    id: u64,
}

impl Streams {
    /// Lists a connection, unless the relay is stopped or has too many.
    pub(crate) fn list(&self, stream: &TcpStream) -> io::Result<Listed<'_>> {
        let mut state = self.lock();
        if state.closed || state.open.len() >= STREAMS_MAX {
            return Err(io::Error::other("the relay takes no more connections"));
        }
        let stream = stream.try_clone()?;
        state.id_last += 1;
        let id = state.id_last;
        state.open.insert(id, stream);
        Ok(Listed { streams: self, id })
    }

    /// Shuts all connections, and lets none in any more.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for stream in std::mem::take(&mut state.open).into_values() {
            shut(&stream);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        if let Some(stream) = self.streams.lock().open.remove(&self.id) {
            shut(&stream);
        }
    }
}

/// Ends both directions; one that has ended already needs nothing.
pub(crate) fn shut(stream: &TcpStream) {
    let _ended = stream.shutdown(Shutdown::Both);
}
