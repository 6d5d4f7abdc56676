//! Paths as the kernel says them.

use std::path::{Path, PathBuf};

/// A path without links and dots, also if it is not there any more.
pub(crate) fn whole(path: &Path) -> PathBuf {
    let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.canonicalize().unwrap_or_else(|_| absolute())
}
