//! Namespaces of Assay's own, in which nothing can be left behind.
//!
//! [`enter`] starts this program once more, in a network, a mount and a PID namespace that belong
//! to it alone; without root in a user namespace besides, where it is root. The outer process only
//! waits: it passes signals in and the exit code out. Process 1 in there is a small init which is
//! killed by the kernel when the outer process is gone, however it went; and when process 1 of a
//! PID namespace ends the kernel ends all others in it. So `kill -9` leaves no process, no
//! interface, no rule and no mount, and there is nothing to clean up by hand.
//!
//! ```no_run
//! use assay_kernel::inside::{Place, enter};
//!
//! match enter()? {
//!     Place::Inside => println!("networks can be built here"),
//!     Place::Outside { code } => std::process::exit(code),
//! }
//! # Ok::<(), assay_kernel::inside::InsideError>(())
//! ```
//!
//! Call it early, in the first thread: a signal that another thread takes is not passed on.

mod door;
mod facts;
mod init;

pub use door::{InsideError, Program};
pub use facts::{Fact, probe};

use std::path::PathBuf;

/// Set in the environment of whatever runs inside, to the PID namespace outside.
pub const MARK: &str = "ASSAY_INSIDE";

/// Where [`enter`] has returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the namespaces: go on.
    Inside,
    /// Where it was called, after all is over.
    Outside {
        /// How the program inside ended; 128 and its number more if it was a signal.
        code: i32,
    },
}

/// Runs this program again, with the same arguments, in namespaces of its own; inside it only sees
/// to it that loopback works there.
pub fn enter() -> Result<Place, InsideError> {
    if is_inside() {
        crate::net::raise_loopback().map_err(InsideError::Loopback)?;
        return Ok(Place::Inside);
    }
    enter_with(&Program::again()?)
}

/// Runs a program in namespaces of its own and waits for its end.
pub fn enter_with(program: &Program) -> Result<Place, InsideError> {
    door::run(Some(program), &door::Way::ways()).map(|code| Place::Outside { code })
}

/// Whether this process runs in namespaces that [`enter`] has made.
pub fn is_inside() -> bool {
    let Some(outside) = std::env::var_os(MARK) else { return false };
    // The mark alone could have been inherited by somebody who left.
    pid_namespace().is_some_and(|here| here.as_os_str() != outside)
}

fn pid_namespace() -> Option<PathBuf> {
    std::fs::read_link("/proc/self/ns/pid").ok()
}
