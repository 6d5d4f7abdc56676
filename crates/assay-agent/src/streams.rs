//! Threads that read what an agent writes and write what it reads, so that nobody else ever waits
//! for a pipe.

use crate::event::AgentEvent;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender};

const READ_BYTES: usize = 64 << 10;

/// What came from a run.
#[derive(Debug)]
pub(crate) enum Heard {
    Out(Vec<u8>),
    Err(Vec<u8>),
    OutEnd,
    ErrEnd,
    /// From a conversation that is understood elsewhere.
    Event(AgentEvent),
    /// That conversation is over, and how.
    TurnOver(Result<(), String>),
}

/// Reads until the end, and says when it is there.
pub(crate) fn read(
    name: &str,
    mut from: impl Read + Send + 'static,
    tell: SyncSender<Heard>,
    wrap: fn(Vec<u8>) -> Heard,
    end: Heard,
) -> io::Result<()> {
    let work = move || {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    if tell.send(wrap(buffer[..count].to_vec())).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        // Nobody listens any more: then it does not matter.
        let _unheard = tell.send(end);
    };
    std::thread::Builder::new().name(format!("agent-{name}")).spawn(work).map(|_| ())
}

/// Writes all of it and closes. An agent that does not read is its own affair.
pub(crate) fn write(mut to: impl Write + Send + 'static, text: String) -> io::Result<()> {
    let work = move || {
        let _unread = to.write_all(text.as_bytes());
    };
    std::thread::Builder::new().name("agent-in".to_string()).spawn(work).map(|_| ())
}

/// Writes lines as they come, and closes when no more will come.
pub(crate) fn write_lines(
    mut to: impl Write + Send + 'static,
    lines: Receiver<String>,
) -> io::Result<()> {
    let work = move || {
        while let Ok(line) = lines.recv() {
            let written = to.write_all(format!("{line}\n").as_bytes()).and_then(|()| to.flush());
            if written.is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("agent-in".to_string()).spawn(work).map(|_| ())
}
