//! Writing files whole or not at all.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// The largest record that is read back.
const RECORD_BYTES_MAX: u64 = 1 << 30;

/// Writes into a file beside it, syncs, and renames: a reader sees the old content or the new one.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let unfinished = path.with_file_name(format!(".{}.unfinished", name.unwrap_or_default()));
    let mut file = File::create(&unfinished)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}

/// The same with JSON.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    write_whole(path, &text)
}

/// Reads JSON back; `None` if there is no such file.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let size = match fs::metadata(path) {
        Ok(meta) => meta.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if size > RECORD_BYTES_MAX {
        return Err(io::Error::other(format!("{} is larger than 1 GiB", path.display())));
    }
    let text = fs::read(path)?;
    let broken = |error: serde_json::Error| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("{name} cannot be read back: {error}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    serde_json::from_slice(&text).map(Some).map_err(broken)
}
