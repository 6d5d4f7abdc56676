//! Whether volumes can be had here, found out by making one.

use super::{Answer, VOLUME_BYTES_MIN, Volume, VolumeError, clear};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes a small volume below `directory`, cuts its power, brings it back and removes it. The error
/// says what to do.
pub fn probe(directory: &Path) -> Result<(), VolumeError> {
    in_place(directory, |own, point| Volume::make(&own.join("image"), point, VOLUME_BYTES_MIN))
}

/// The same with a directory that forgets.
pub fn probe_forgetful(directory: &Path) -> Result<(), VolumeError> {
    in_place(directory, |own, point| Volume::forgetful(&own.join("store"), point))
}

fn in_place(
    directory: &Path,
    make: impl FnOnce(&Path, &Path) -> Result<Volume, VolumeError>,
) -> Result<(), VolumeError> {
    /// Probes of one process do not meet.
    static PROBES: AtomicU32 = AtomicU32::new(0);
    let number = PROBES.fetch_add(1, Ordering::Relaxed);
    let own = directory.join(format!(".assay-volume-{}-{number}", std::process::id()));
    std::fs::create_dir(&own).map_err(super::at(&own, "make"))?;
    let point = own.join("mount");
    let tried = make(&own, &point).and_then(|volume| try_volume(&volume, &point));
    for _line in clear(&own) {}
    let _unremoved = std::fs::remove_dir_all(&own);
    tried
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
