//! Files by path: all that a comparison sees of a revision.

use std::collections::BTreeMap;

/// The files of one revision that matter, by path with slashes.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// The largest file that is looked into.
pub const FILE_BYTES_MAX: usize = 4 << 20;

/// The text of a file, if it is text of a size that is looked into.
pub fn text<'t>(tree: &'t Tree, path: &str) -> Option<&'t str> {
    readable(tree.get(path)?)
}

/// Bytes as text: nothing for binary files, and for those that are too large.
pub fn readable(bytes: &[u8]) -> Option<&str> {
    if bytes.len() > FILE_BYTES_MAX || bytes.contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok()
}

/// The last part of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The directory of a path, without the last slash.
pub fn directory(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..at])
}

/// What follows the last dot of a file's name, in lower case.
pub fn extension(path: &str) -> String {
    let name = file_name(path);
    name.rfind('.').map_or(String::new(), |at| name[at + 1..].to_ascii_lowercase())
}
