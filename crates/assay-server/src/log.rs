//! What the operator is told: lines of standard error.
//!
//! A line that cannot be written, because the disk of the log is full or its reader has gone, is
//! lost, and nothing else is: the macros of the standard library would panic.

use std::fmt::Display;
use std::io::Write;

/// Says something to the operator, in one line.
pub fn log(what: impl Display) {
    let line = format!("assay serve: {what}\n");
    // There is nobody else to tell.
    let _lost = std::io::stderr().write_all(line.as_bytes());
}
