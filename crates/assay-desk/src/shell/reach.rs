//! Where agents and commands can write, where the kernel sees to it that they write nowhere else.
//!
//! What changes outside of it while one of them is at work was changed by somebody else. In doubt
//! it is within: then it counts against whoever was at work.

use super::confine;
use crate::contract::Contract;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything that any agent or command of a contract may write to, as it really is.
pub(super) fn places(contract: &Contract, own: &[&Path]) -> Vec<PathBuf> {
    let settings = &contract.settings;
    let engines = settings.agents.engines.values().flat_map(|engine| &engine.writable);
    let named: Vec<String> = settings.writable.iter().chain(engines).cloned().collect();
    let mut all: Vec<PathBuf> = own.iter().map(|path| path.to_path_buf()).collect();
    all.extend(confine::named(&named, |name| std::env::var_os(name).map(PathBuf::from)));
    all.iter().map(|place| real(place)).collect()
}

/// Whether a path is below one of these places, or may be reached by another name.
pub(super) fn within(places: &[PathBuf], path: &Path) -> bool {
    let has_names = std::fs::symlink_metadata(path).is_ok_and(|meta| meta.nlink() > 1);
    let path = real(path);
    // Something that is no path on this machine cannot be placed.
    !path.is_absolute() || has_names || places.iter().any(|place| path.starts_with(real(place)))
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        if let Ok(found) = at.canonicalize() {
            return rest.iter().rev().fold(found, |path, name| path.join(name));
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                rest.push(name.to_os_string());
                at = parent;
            }
            _ => return path.to_path_buf(),
        }
    }
}
