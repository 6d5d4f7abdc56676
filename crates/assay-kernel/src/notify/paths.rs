//! Which file a stopped call is about.

use super::filter::Call;
use super::listener::Stopped;
use super::memory;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The file, as far as the kernel tells. Whoever asks has to see afterwards whether the call still
/// waits: only then was it the right thread that was looked at.
pub(super) fn file_of(stopped: &Stopped, call: Call) -> io::Result<PathBuf> {
    let argument = |index: usize| stopped.arguments[index];
    match call {
        Call::SyncMapping => mapped_file(stopped.thread, argument(0)),
        Call::CopyTo => descriptor_file(stopped.thread, argument(2)),
        Call::OpenAt => opened_file(stopped.thread, Some(argument(0)), argument(1)),
        #[cfg(target_arch = "x86_64")]
        Call::Open | Call::Create => opened_file(stopped.thread, None, argument(0)),
        _ => descriptor_file(stopped.thread, argument(0)),
    }
}

/// The flags with which a file is opened; `None` for other calls.
pub(super) fn open_flags(stopped: &Stopped, call: Call) -> Option<i32> {
    match call {
        Call::OpenAt => Some(stopped.arguments[2] as i32),
        #[cfg(target_arch = "x86_64")]
        Call::Open => Some(stopped.arguments[1] as i32),
        #[cfg(target_arch = "x86_64")]
        Call::Create => Some(libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC),
        _ => None,
    }
}

/// A descriptor is an `int`: what stands above it in the register means nothing.
fn descriptor_file(thread: u32, descriptor: u64) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/{thread}/fd/{}", descriptor as i32))
}

fn opened_file(thread: u32, directory: Option<u64>, address: u64) -> io::Result<PathBuf> {
    let path = PathBuf::from(OsString::from_vec(memory::read_path(thread, address)?));
    let from = match directory {
        _ if path.is_absolute() => PathBuf::from("/"),
        Some(directory) if directory as i32 != libc::AT_FDCWD => {
            descriptor_file(thread, directory)?
        }
        _ => std::fs::read_link(format!("/proc/{thread}/cwd"))?,
    };
    let path = from.join(path);
    // The file need not be there, its directory has to; links are followed as the call would.
    Ok(match (path.parent(), path.file_name()) {
        _ if path.is_symlink() => path.canonicalize().unwrap_or(path),
        (Some(parent), Some(name)) => {
            parent.canonicalize().map_or_else(|_| path.clone(), |parent| parent.join(name))
        }
        _ => path,
    })
}

fn mapped_file(thread: u32, address: u64) -> io::Result<PathBuf> {
    let maps = std::fs::read(format!("/proc/{thread}/maps"))?;
    let found = maps.split(|byte| *byte == b'\n').find_map(|line| mapping(line, address));
    found.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// The path at the end of a line such as `7f00-7f10 rw-s 00000000 08:01 42   /data/file`, if the
/// address lies in it.
fn mapping(line: &[u8], address: u64) -> Option<PathBuf> {
    let text = String::from_utf8_lossy(line);
    let (range, _) = text.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let [from, to] = [from, to].map(|end| u64::from_str_radix(end, 16).ok());
    let path_at = line.iter().position(|byte| *byte == b'/')?;
    let path = PathBuf::from(OsString::from_vec(line[path_at..].to_vec()));
    (from? <= address && address < to?).then_some(path)
}

/// Whether a file lies below a directory, both without links.
pub(super) fn is_below(file: &Path, directory: &Path) -> bool {
    file.starts_with(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_found_by_an_address_in_it() {
        let line = b"7f00-7f10 rw-s 00000000 08:01 42          /data/a file";
        let path = || Some(PathBuf::from("/data/a file"));
        let cases: [(&[u8], u64, Option<PathBuf>); 6] = [
            (line, 0x7f00, path()),
            (line, 0x7f0f, path()),
            (line, 0x7f10, None),
            (line, 0x7eff, None),
            (b"7f00-7f10 rw-p 00000000 00:00 0", 0x7f00, None),
            (b"", 0, None),
        ];
        for (line, address, expected) in cases {
            assert_eq!(mapping(line, address), expected, "{address:x}");
        }
    }

    #[test]
    fn a_directory_with_a_longer_name_is_another() {
        let below = |file: &str| is_below(Path::new(file), Path::new("/data/n1"));
        assert!(below("/data/n1/wal/0"));
        assert!(below("/data/n1"));
        assert!(!below("/data/n10/wal"));
        assert!(!below("socket:[17]"));
    }
}
