//! Programs of known systems, fetched without being installed.
//!
//! A description may say where the programs of each release come from. They are unpacked into a
//! cache of the user's own, so nothing is started, no user is made, and two releases stand beside
//! each other. What is in the cache is whole: it gets its name only once everything is there.

mod fetch;
mod installed;
mod python;
mod unpacked;
mod versions;

pub use fetch::get;
pub(crate) use installed::{installed, on_path};
pub(crate) use versions::versions;

use crate::spec::{ReleaseSpec, SystemSpec};
use std::path::{Path, PathBuf};

/// The environment variable that moves the cache.
pub const CACHE_VARIABLE: &str = "ASSAY_CACHE";

/// Where fetched programs are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Programs {
    /// A directory with everything that can be run.
    pub bin: PathBuf,
    /// A directory with the libraries it needs, if there are any.
    pub lib: Option<PathBuf>,
}

/// Why a release was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// There is no such release.
    #[error("`{system}` has no release `{release}`; it has {}", .known.join(", "))]
    NoRelease {
        /// The system.
        system: String,
        /// What was asked for.
        release: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There is nowhere to put it.
    #[error("there is no directory for fetched programs: set ASSAY_CACHE or HOME")]
    NoCache,
    /// Something that is needed for fetching failed.
    #[error("cannot fetch {what}: {why}; {advice}")]
    Failed {
        /// What was tried.
        what: String,
        /// What came of it.
        why: String,
        /// What to do about it.
        advice: String,
    },
    /// The file is not the one that was meant.
    #[error(
        "{file} is not the file that was meant: its SHA-256 is {is}, not {wanted}; nothing of it \
         was kept. If the description is old, change its `sha256`"
    )]
    WrongDigest {
        /// The file.
        file: String,
        /// What it has.
        is: String,
        /// What it should have.
        wanted: String,
    },
    /// The operating system said no.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why not.
        source: std::io::Error,
    },
}

/// The directory of fetched systems.
pub fn cache() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let own = named(CACHE_VARIABLE).map(PathBuf::from);
    let shared = || named("XDG_CACHE_HOME").map(|home| PathBuf::from(home).join("assay"));
    let home = || named("HOME").map(|home| PathBuf::from(home).join(".cache/assay"));
    let base = own.or_else(shared).or_else(home)?;
    std::path::absolute(base.join("systems")).ok()
}

/// The programs of a release, if they were fetched.
pub fn fetched(system: &str, release: &str) -> Option<Programs> {
    programs(&cache()?.join(system).join(release))
}

fn programs(directory: &Path) -> Option<Programs> {
    let bin = directory.join("bin");
    let libraries = std::fs::read_dir(directory.join("root/usr/lib")).into_iter().flatten();
    let with_libraries =
        |path: &PathBuf| path.ends_with("x86_64-linux-gnu") || path.ends_with("aarch64-linux-gnu");
    let lib = libraries.flatten().map(|entry| entry.path()).find(with_libraries);
    bin.is_dir().then_some(Programs { bin, lib })
}

impl SystemSpec {
    fn release(&self, release: &str) -> Result<&ReleaseSpec, GetError> {
        self.described.releases.get(release).ok_or_else(|| GetError::NoRelease {
            system: self.name.clone(),
            release: release.to_string(),
            known: self.described.releases.keys().cloned().collect(),
        })
    }
}
