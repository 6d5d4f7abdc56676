//! `assay client`: a built-in driver in a process of its own, between Assay and a system.

use crate::exit::Exit;
use std::io::{stdin, stdout};

/// Serves until the input ends.
pub fn run(driver: &str, session: u32) -> Exit {
    // One that is started again after a kill is another client, and must not be taken for the
    // first: what that one has sent may still arrive.
    let session = (session as usize) << 32 | std::process::id() as usize;
    match assay_sut::serve_client(driver, session, stdin().lock(), stdout().lock()) {
        Ok(()) => Exit::Upheld,
        Err(why) => {
            eprintln!("error: {why}");
            Exit::BadHistory
        }
    }
}
