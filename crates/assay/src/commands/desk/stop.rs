//! Stopping a Leader: whoever stops it says so by a signal, and that is no death of a check.
//!
//! What was written down stays, as when it is killed; a check that was under way is begun again,
//! and does not count as one that has no end.

use super::super::Trouble;
use super::super::run::ignores_hangup;
use crate::exit::Exit;
use assay_desk::shell::Desk;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level;
use std::io::Read;
use std::os::unix::net::UnixStream;

/// From now on a signal that asks for an end takes back that a check has begun, and ends the
/// program with 128 and its number.
pub(super) fn listen(desk: &Desk) -> Result<(), Trouble> {
    let trouble = |error: std::io::Error| Trouble {
        message: format!("cannot listen for signals: {error}"),
        exit: Exit::MissingCapability,
    };
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if signal == SIGHUP && ignores_hangup() {
            continue;
        }
        let (mut heard, tell) = UnixStream::pair().map_err(trouble)?;
        low_level::pipe::register(signal, tell).map_err(trouble)?;
        let begun = desk.begun();
        std::thread::spawn(move || {
            if heard.read_exact(&mut [0]).is_ok() {
                _ = std::fs::remove_file(&begun);
                // Nothing is put in order behind the back of whoever is at work.
                low_level::exit(128 + signal);
            }
        });
    }
    Ok(())
}
