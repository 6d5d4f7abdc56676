//! Whether volumes can be had here, found out by making one.

use super::{Answer, VOLUME_BYTES_MIN, Volume, VolumeError, VolumeKind, clear};
use crate::hold::{Hold, hold_directory, own_name};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// How the directories of probes begin, which are hidden and beside others.
const PREFIX: &str = ".assay-volume-";
/// How often a directory is made anew that somebody took for a leftover before it was held.
const ATTEMPTS_MAX: usize = 8;

/// Makes a small volume below `directory`, cuts its power, brings it back and removes it. The error
/// says what to do.
pub fn probe(directory: &Path) -> Result<(), VolumeError> {
    with_one(directory, VolumeKind::Block, |volume| try_volume(volume, volume.mount_point()))
}

/// The same with a directory that forgets.
pub fn probe_forgetful(directory: &Path) -> Result<(), VolumeError> {
    with_one(directory, VolumeKind::Forgetful, |volume| try_volume(volume, volume.mount_point()))
}

/// Makes a small volume of this kind below `directory`, does something with it, and removes it.
/// [`clear_probes`] finds what is left if we are killed meanwhile.
pub fn with_one<T>(
    directory: &Path,
    kind: VolumeKind,
    work: impl FnOnce(&Volume) -> Result<T, VolumeError>,
) -> Result<T, VolumeError> {
    // What earlier probes left is not ours to fail of.
    for _line in clear_probes(directory) {}
    let (own, _held) = held_directory(directory)?;
    let point = own.join("mount");
    let made = match kind {
        VolumeKind::Block => Volume::make(&own.join("image"), &point, VOLUME_BYTES_MIN),
        VolumeKind::Forgetful => Volume::forgetful(&own.join("store"), &point),
    };
    let tried = made.and_then(|volume| work(&volume));
    for _line in clear(&own) {}
    let _unremoved = std::fs::remove_dir_all(&own);
    tried
}

/// A new directory that is held as long as we live, so that others see that it is in use.
fn held_directory(directory: &Path) -> Result<(PathBuf, std::fs::File), VolumeError> {
    /// Probes of one process do not meet.
    static PROBES: AtomicU32 = AtomicU32::new(0);
    let mut attempts = 0;
    loop {
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let own = directory.join(format!("{PREFIX}{}-{number}", own_name()));
        std::fs::create_dir(&own).map_err(super::at(&own, "make"))?;
        match hold_directory(&own) {
            Ok(Hold::Ours(held)) => return Ok((own, held)),
            Err(error) => return Err(super::at(&own, "lock")(error)),
            Ok(Hold::Theirs | Hold::Gone) if attempts < ATTEMPTS_MAX => attempts += 1,
            Ok(Hold::Theirs | Hold::Gone) => {
                let error = std::io::Error::other("somebody removes it again and again");
                return Err(super::at(&own, "lock")(error));
            }
        }
    }
}

/// Whether a directory of this name is that of a probe.
pub fn is_probe(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(PREFIX)
}

/// Removes what probes below `directory` have left that were killed, and says line by line what
/// became of it. One that is going on is left alone.
pub fn clear_probes(directory: &Path) -> Vec<Result<String, String>> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_one = |entry: &std::fs::DirEntry| {
        is_probe(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_dir())
    };
    let mut lines = Vec::new();
    for own in entries.filter(is_one).map(|entry| entry.path()) {
        // Whose it is not, cannot be opened or removed either.
        let Ok(Hold::Ours(_held)) = hold_directory(&own) else { continue };
        lines.extend(clear(&own));
        lines.push(match std::fs::remove_dir_all(&own) {
            Ok(()) => Ok(format!("{}: removed", own.display())),
            Err(error) => Err(super::at(&own, "remove")(error).to_string()),
        });
    }
    lines
}

fn try_volume(volume: &Volume, point: &Path) -> Result<(), VolumeError> {
    volume.cut_power()?;
    if volume.answer()? != Answer::Cut {
        let source = std::io::Error::other("it can still be written");
        let path = point.to_path_buf();
        return Err(VolumeError::Io { path, doing: "cut the power of", source });
    }
    volume.power_up()
}
