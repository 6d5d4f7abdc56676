//! Whether clocks of processes can be moved here. Only that is found out; nothing is moved.

use std::path::{Path, PathBuf};

/// Where distributions put libfaketime.
const PLACES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu/faketime",
    "/usr/lib/aarch64-linux-gnu/faketime",
    "/usr/lib64/faketime",
    "/usr/lib/faketime",
    "/usr/local/lib/faketime",
    "/usr/lib64",
];

/// The library that programs with threads need.
const LIBRARY: &str = "libfaketimeMT.so.1";

/// The library that moves the clock of a process started with it (LD_PRELOAD), if it is installed.
///
/// Even then it does nothing to programs that do not ask the C library for the time, such as those
/// written in Go: a test has to see a moved clock before it believes in one.
pub fn libfaketime() -> Option<PathBuf> {
    PLACES.iter().map(|place| Path::new(place).join(LIBRARY)).find(|path| path.is_file())
}
