//! What is mounted where: `/proc/self/mountinfo`, and that of others.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// One mount.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mount {
    /// The device, `7:0`.
    pub(crate) device: String,
    /// What of the file system is mounted; a container sees only a part of a hierarchy.
    pub(crate) root: PathBuf,
    /// Where.
    pub(crate) point: PathBuf,
    /// The kind of file system.
    pub(crate) kind: String,
    /// What it was mounted from.
    pub(crate) source: PathBuf,
    /// Options of the file system as a whole; version 1 of control groups has its controllers here.
    pub(crate) options: String,
}

/// All mounts this process sees, in the order they were made.
pub(crate) fn mounts() -> io::Result<Vec<Mount>> {
    mounts_of(Path::new("/proc/self"))
}

/// All mounts a process sees, by its directory in /proc.
pub(crate) fn mounts_of(process: &Path) -> io::Result<Vec<Mount>> {
    let text = std::fs::read(process.join("mountinfo"))?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(parse).collect())
}

/// `36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/root rw,errors=continue`: between the
/// sixth field and the hyphen stand as many fields as there happen to be.
fn parse(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let hyphen = 6 + fields.get(6..)?.iter().position(|field| *field == b"-")?;
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let path = |field: &[u8]| PathBuf::from(OsString::from_vec(unescaped(field)));
    Some(Mount {
        device: text(fields[2]),
        root: path(fields[3]),
        point: path(fields[4]),
        kind: text(fields.get(hyphen + 1)?),
        source: path(fields.get(hyphen + 2)?),
        options: text(fields.get(hyphen + 3)?),
    })
}

/// Blanks, tabs, line ends and backslashes are written as three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        let octal = match (first, tail) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                Some((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'))
            }
            _ => None,
        };
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_escapes_and_any_number_of_optional_fields() {
        let line = |optional: &str| {
            format!("36 35 7:3 / /a\\040b\\134c\\011d rw,relatime {optional}- ext4 /dev/loop3 rw,x")
        };
        for optional in ["", "shared:1 ", "shared:1 master:2 "] {
            let mount = parse(line(optional).as_bytes()).expect("a whole line");
            assert_eq!(mount.point, PathBuf::from("/a b\\c\td"), "{optional}");
            assert_eq!(mount.source, PathBuf::from("/dev/loop3"), "{optional}");
            assert_eq!((mount.device.as_str(), mount.kind.as_str()), ("7:3", "ext4"));
            assert_eq!(mount.options, "rw,x");
        }
        for broken in ["", "36 35 7:3", "36 35 7:3 / /a rw - ext4", "1 2 3 4 5 6 7 8 9"] {
            assert_eq!(parse(broken.as_bytes()), None, "{broken}");
        }
    }

    #[test]
    fn what_is_no_escape_stays_as_it_is() {
        for (field, expected) in [("\\04", "\\04"), ("\\999", "\\999"), ("a\\", "a\\"), ("", "")] {
            assert_eq!(unescaped(field.as_bytes()), expected.as_bytes(), "{field}");
        }
    }
}
