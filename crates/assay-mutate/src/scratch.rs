//! Where an engine finds the module that asks it: a directory of its own for every question.

use crate::engine::CannotCheck;
use crate::model::Model;
use std::path::Path;
use tempfile::TempDir;

/// The name of the module that extends the one in question.
pub(crate) const ASKING: &str = "AssayAsks";

/// A directory with the modules and the one that asks; it goes when it is dropped.
pub(crate) fn laid_out(model: &Model, asking: &str) -> Result<TempDir, CannotCheck> {
    let scratch = tempfile::tempdir().map_err(|error| CannotCheck::Scratch {
        place: std::env::temp_dir(),
        doing: "make a directory in",
        why: error.to_string(),
    })?;
    model.lay_out(scratch.path())?;
    write(&scratch.path().join(format!("{ASKING}.tla")), asking)?;
    Ok(scratch)
}

/// Writes a file for an engine.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), CannotCheck> {
    std::fs::write(path, text).map_err(|error| CannotCheck::Scratch {
        place: path.to_path_buf(),
        doing: "write",
        why: error.to_string(),
    })
}
