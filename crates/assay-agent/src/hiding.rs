//! Reads that are impossible, where the kernel can make them so.
//!
//! Landlock knows only what is allowed. So a place is hidden by allowing all that stands beside it:
//! every entry of every directory on the way to it, as they are when the agent starts. The
//! directories on the way cannot be listed then, and what is made in them later cannot be read. A
//! link is not allowed for what it leads to: that stands somewhere itself.
//!
//! Of processes that are not restricted nothing can be read either: neither their environment, nor
//! their memory, nor what they have open. Root could look around all of this by its rights, through
//! a disk without its files, say; so those rights are given up.

use landlock::{
    ABI, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, RulesetStatus,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, capability_is_in_bounding_set, remove_capability_from_bounding_set,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The newest version that this was tried with. Reading is in all of them.
const TRIED: ABI = ABI::V7;
/// What may stand beside hidden places, on the way to all of them. Each entry is a rule.
const BESIDE_MAX: usize = 20_000;
const TOP: &str = "/";
const NO_EFFECT: &str = "Landlock is there and does not work";

/// What reads files without opening them by their paths, or other processes: their environment
/// (the first two), their memory, files by numbers, disks, the kernel.
const RIGHTS: [CapabilitySet; 8] = [
    CapabilitySet::PERFMON,
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::DAC_READ_SEARCH,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::MKNOD,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::BPF,
];
/// Where disks are; what is in it is allowed one by one.
const DEVICES: &str = "/dev";

/// Places that an agent cannot read.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hidden {
    /// Directories with all that is in them, and files, by whole paths. Nothing is hidden if there
    /// are none.
    pub places: Vec<PathBuf>,
    /// What can be read all the same, though it is in one of them.
    pub shown: Vec<PathBuf>,
}

/// Why something is not hidden.
#[derive(Debug, thiserror::Error)]
pub enum HidingError {
    /// A place cannot be looked at.
    #[error("{}: cannot look at it to hide what is in it: {source}", path.display())]
    Look {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Too much stands beside it.
    #[error(
        "{}: with this, more than {BESIDE_MAX} entries stand on the way to what is hidden; move \
         that to a directory with fewer",
        .0.display()
    )]
    Crowded(PathBuf),
    /// The kernel does not take the rules.
    #[error("the kernel did not take the rules: {0}")]
    Rules(#[from] RulesetError),
    /// Rights of root that would make it visible cannot be given up.
    #[error("this process has rights of root and cannot give them up: {0:?}")]
    Rights(CapabilitySet),
    /// It took them, and they have no effect.
    #[error("{}: it can be read all the same: {why}", path.display())]
    Seen {
        /// What.
        path: PathBuf,
        /// How that can be.
        why: &'static str,
    },
}

impl Hidden {
    /// Whether this is hidden.
    fn has(&self, path: &Path) -> bool {
        self.places.iter().any(|place| place == path)
    }

    /// Whether something hidden is further down.
    fn is_below(&self, path: &Path) -> bool {
        let holds = |place: &PathBuf| place != path && place.starts_with(path);
        path == Path::new(DEVICES) || self.places.iter().any(holds)
    }

    /// The same with links followed: rules are about files, not names.
    fn real(&self) -> Result<Hidden, HidingError> {
        let look = |path: &Path, source| HidingError::Look { path: path.to_path_buf(), source };
        let place = |path: &PathBuf| match path.is_absolute() {
            true => path.canonicalize().map_err(|source| look(path, source)),
            false => Err(look(path, io::Error::other("its path is not whole"))),
        };
        let shown = |path: &PathBuf| match path.canonicalize() {
            // What is not there has nothing to show.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            real => Some(real.map_err(|source| look(path, source))),
        };
        Ok(Hidden {
            places: self.places.iter().map(place).collect::<Result<_, _>>()?,
            shown: self.shown.iter().filter_map(shown).collect::<Result<_, _>>()?,
        })
    }
}

/// Keeps this thread, and what is started from it, from reading what is hidden; for good.
pub(crate) fn hide(hidden: &Hidden) -> Result<(), HidingError> {
    if hidden.places.is_empty() {
        return Ok(());
    }
    let hidden = hidden.real()?;
    give_up_rights()?;
    let reads = AccessFs::from_read(TRIED);
    // Whoever says nothing of it refuses to move files from one directory to another. With this the
    // kernel only sees to it that nothing becomes readable by it.
    let mut rules = Ruleset::default().handle_access(reads | AccessFs::Refer)?.create()?;
    if let Some((top, _)) = opened(Path::new(TOP)) {
        rules = rules.add_rule(PathBeneath::new(top, AccessFs::Refer))?;
    }
    let mut left = BESIDE_MAX;
    rules = allow_beside(rules, Path::new(TOP), &hidden, &mut left)?;
    for path in &hidden.shown {
        rules = allow(rules, path)?;
    }
    let status = rules.restrict_self()?;
    let look = |path: &PathBuf| File::open(path).map(drop);
    let seen = |path: &PathBuf, why| HidingError::Seen { path: path.clone(), why };
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(seen(&hidden.places[0], "this kernel has no Landlock, or it is switched off"));
    }
    // The rules may be taken and mean something else than was thought.
    let Some(path) = hidden.places.iter().find(|path| look(path).is_ok()) else { return Ok(()) };
    let is_shown = hidden.shown.iter().any(|shown| path.starts_with(shown));
    Err(seen(
        path,
        if is_shown { "the agent may use a place that has it in it" } else { NO_EFFECT },
    ))
}

/// Who is not root has none, and gets none by running a program: Landlock sees to that.
fn give_up_rights() -> Result<(), HidingError> {
    if !geteuid().is_root() {
        return Ok(());
    }
    for right in RIGHTS {
        // Those that the kernel does not know are not there afterwards either.
        let _unknown = remove_capability_from_bounding_set(right);
        if capability_is_in_bounding_set(right).unwrap_or(false) {
            return Err(HidingError::Rights(right));
        }
    }
    Ok(())
}

/// Allows all entries of a directory but those that are hidden, and goes on in those on the way.
fn allow_beside(
    mut rules: RulesetCreated,
    directory: &Path,
    hidden: &Hidden,
    left: &mut usize,
) -> Result<RulesetCreated, HidingError> {
    let look = |source| HidingError::Look { path: directory.to_path_buf(), source };
    let entries = match std::fs::read_dir(directory) {
        // Who cannot list it knows no names in it; nothing more is allowed then.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(rules),
        entries => entries.map_err(look)?,
    };
    for entry in entries {
        let path = entry.map_err(look)?.path();
        *left = left.checked_sub(1).ok_or_else(|| HidingError::Crowded(path.clone()))?;
        if hidden.has(&path) {
            continue;
        }
        rules = match hidden.is_below(&path) {
            true => allow_beside(rules, &path, hidden, left)?,
            false => allow(rules, &path)?,
        };
    }
    Ok(rules)
}

/// Allows reading below a path, unless it is a link or is gone.
fn allow(rules: RulesetCreated, path: &Path) -> Result<RulesetCreated, HidingError> {
    match opened(path) {
        Some((place, reads)) => Ok(rules.add_rule(PathBeneath::new(place, reads))?),
        None => Ok(rules),
    }
}

/// What is there, and what reading is for it. A link that is put there meanwhile is not followed.
fn opened(path: &Path) -> Option<(OwnedFd, BitFlags<AccessFs>)> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat(CWD, path, flags, Mode::empty()).ok()?;
    let reads = AccessFs::from_read(TRIED);
    match FileType::from_raw_mode(fstat(&place).ok()?.st_mode) {
        // A disk has everything that is hidden.
        FileType::Symlink | FileType::BlockDevice => None,
        FileType::Directory => Some((place, reads)),
        _ => Some((place, reads & AccessFs::from_file(TRIED))),
    }
}

/// Whether this can be hidden here. Found out by trying, in a thread that ends.
///
/// # Errors
/// Says why not.
pub fn probe_hiding(hidden: &Hidden) -> Result<(), String> {
    let hidden = hidden.clone();
    let tried = std::thread::spawn(move || hide(&hidden).map_err(|error| error.to_string()));
    tried.join().unwrap_or_else(|_| Err("trying it failed".to_string()))
}
