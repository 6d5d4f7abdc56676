//! What `assay serve --show DIR` shows: campaigns of the desk and runs of plans, found below the
//! directories that were named.
//!
//! A directory with `.assay/desk` holds campaigns, one with the files of `assay run` is a run.
//! Symbolic links are not followed. An id is a digest of where a thing was found: requests name
//! ids, never paths, and only what was found is read.

use super::{campaigns, runs};
use assay_server::console::{Exhibit, Listing, Shelf, ShelfError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How deep below a named directory things are looked for: `test-sessions/SLUG/TIME` and one more.
const DEPTH_MAX: usize = 4;
/// Directories that are looked at, and things that are shown.
const DIRECTORIES_MAX: usize = 20_000;
const EXHIBITS_MAX: usize = 500;
/// Directories in which nobody keeps results, and which are large.
const SKIPPED: [&str; 3] = ["node_modules", "target", "artifacts"];

/// The directories that were named.
#[derive(Debug)]
pub struct Shown {
    roots: Vec<PathBuf>,
    /// Runs do not change once they are over: what was read of them is kept.
    runs: Mutex<runs::Known>,
}

/// A place where something is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// The campaign of this name in a repository.
    Campaign {
        /// The repository.
        repository: PathBuf,
        /// The campaign.
        slug: String,
    },
    /// The directory of a run.
    Run(PathBuf),
}

impl Found {
    fn id(&self) -> String {
        let (kind, path, name) = match self {
            Found::Campaign { repository, slug } => ("campaign", repository, slug.as_str()),
            Found::Run(path) => ("run", path, ""),
        };
        let text = format!("{kind}\0{}\0{name}", path.display());
        assay_ledger::Digest::of(text.as_bytes()).to_string().chars().take(24).collect()
    }
}

impl Shown {
    /// Shows these directories.
    pub fn new(roots: Vec<PathBuf>) -> Shown {
        Shown { roots, runs: Mutex::default() }
    }

    /// Everything below the directories, and whether that is all.
    fn find(&self) -> (BTreeMap<String, Found>, bool) {
        let mut scan = Scan { found: BTreeMap::new(), looked: 0 };
        let mut is_complete = true;
        for root in &self.roots {
            is_complete &= scan.look(root, 0);
        }
        (scan.found, is_complete)
    }

    fn exhibit(&self, id: &str, found: &Found) -> Option<Exhibit> {
        match found {
            Found::Campaign { repository, slug } => campaigns::exhibit(id, repository, slug),
            Found::Run(path) => {
                let mut known = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
                runs::exhibit(id, path, &mut known)
            }
        }
    }
}

impl Shelf for Shown {
    fn exhibits(&self) -> Listing {
        let (found, is_complete) = self.find();
        let exhibit = |(id, found): (&String, &Found)| self.exhibit(id, found);
        let mut exhibits: Vec<Exhibit> = found.iter().filter_map(exhibit).collect();
        let rank = |e: &Exhibit| (e.kind, std::cmp::Reverse(e.changed_at.clone()), e.place.clone());
        exhibits.sort_by_cached_key(rank);
        Listing { exhibits, is_complete, is_shown: !self.roots.is_empty() }
    }

    fn report(&self, id: &str) -> Result<Vec<u8>, ShelfError> {
        match self.find().0.get(id) {
            None => Err(ShelfError::Missing),
            Some(Found::Campaign { repository, slug }) => campaigns::report(repository, slug),
            Some(Found::Run(path)) => runs::report(path),
        }
    }
}

struct Scan {
    found: BTreeMap<String, Found>,
    looked: usize,
}

impl Scan {
    fn add(&mut self, found: Found) -> bool {
        if self.found.len() >= EXHIBITS_MAX {
            return false;
        }
        self.found.insert(found.id(), found);
        true
    }

    /// Looks at a directory and those below it; false if it had to stop.
    fn look(&mut self, directory: &Path, depth: usize) -> bool {
        self.looked += 1;
        if self.looked > DIRECTORIES_MAX {
            return false;
        }
        if runs::is_run(directory) {
            return self.add(Found::Run(directory.to_path_buf()));
        }
        let mut is_complete = true;
        for slug in campaigns::slugs(directory) {
            let repository = directory.to_path_buf();
            is_complete &= self.add(Found::Campaign { repository, slug });
        }
        // What cannot be read holds nothing that could be shown.
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut below: Vec<PathBuf> = entries
            // Of the entry itself: a link is not a directory.
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                !name.starts_with('.') && !SKIPPED.contains(&name.as_ref())
            })
            .map(|entry| entry.path())
            .collect();
        below.sort();
        if depth < DEPTH_MAX {
            for path in below {
                is_complete &= self.look(&path, depth + 1);
            }
        }
        is_complete
    }
}
