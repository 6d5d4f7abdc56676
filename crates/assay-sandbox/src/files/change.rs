//! Writing files: whole, or not at all.

use super::path::ToolPath;
use super::{FILE_BYTES_MAX, FileResult};
use crate::job::Places;
use crate::workspace::open_below;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, fchmod, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// The mode of a file that was not there before.
const MODE_NEW: u32 = 0o644;
/// How many names are drawn for a file until one is free. The first always is, but for chance.
const NAMES_TRIED_MAX: u32 = 16;

pub(super) fn write(seen: &Places, path: &str, content: &str) -> FileResult {
    let path = ToolPath::parse(path)?;
    let was_there = replace(seen, &path, content)?;
    let (bytes, shown) = (content.len(), path.shown());
    Ok(match was_there {
        true => format!("{shown}: replaced, {bytes} bytes"),
        false => format!("{shown}: created, {bytes} bytes"),
    })
}

pub(super) fn edit(seen: &Places, path: &str, old: &str, new: &str, all: bool) -> FileResult {
    let path = ToolPath::parse(path)?;
    let mut text = String::new();
    let file = path.open(seen)?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => format!("{}: is not UTF-8 text", path.shown()),
        _ => path.says(&error),
    })?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("{}: larger than {FILE_BYTES_MAX} bytes", path.shown()));
    }
    let (edited, count) = edited(&text, old, new, all)?;
    replace(seen, &path, &edited)?;
    Ok(format!("{}: {count} replaced", path.shown()))
}

/// The text with the one place replaced that matches, or with all.
fn edited(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
    if old.is_empty() {
        return Err("old_string must not be empty; use write for a new file".to_string());
    }
    if old == new {
        return Err("old_string and new_string are the same".to_string());
    }
    match text.matches(old).count() {
        0 => Err("old_string was not found; it has to match exactly, blanks too".to_string()),
        1 => Ok((text.replacen(old, new, 1), 1)),
        many if all => Ok((text.replace(old, new), many)),
        many => Err(format!(
            "old_string was found {many} times; add lines around it to make it unique, or set \
             replace_all"
        )),
    }
}

/// Replaces a file by another that is renamed over it. Whether there was one.
fn replace(seen: &Places, path: &ToolPath, content: &str) -> Result<bool, String> {
    if content.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("{}: more than {FILE_BYTES_MAX} bytes", path.shown()));
    }
    let below = path.within(seen).1;
    let Some(name) = below.file_name() else {
        return Err(format!("{}: is a directory", path.shown()));
    };
    let says = |error: io::Error| path.says(&error);
    let directory = parent(&path.top(seen)?, below).map_err(says)?;
    let before = match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(facts) => Some(facts),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(says(error.into())),
    };
    let mode = match before.as_ref().map(|facts| FileType::from_raw_mode(facts.st_mode)) {
        None => MODE_NEW,
        Some(FileType::RegularFile) => before.as_ref().map_or(MODE_NEW, |facts| facts.st_mode),
        Some(FileType::Symlink) => {
            return Err(format!("{}: is a link; write to the file it leads to", path.shown()));
        }
        Some(_) => return Err(format!("{}: is no regular file", path.shown())),
    };
    put(&directory, name, content, mode & 0o777).map_err(says)?;
    Ok(before.is_some())
}

/// The directory a file is in; made if it is not there.
fn parent(top: &File, below: &Path) -> io::Result<File> {
    let (mut directory, mut so_far) = (top.try_clone()?, PathBuf::new());
    let names = below.parent().unwrap_or(Path::new("")).components();
    for name in names.filter(|part| matches!(part, Component::Normal(_))) {
        match mkdirat(&directory, name.as_os_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        so_far.push(name);
        // From the top each time, so that links are followed as far as the top allows.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        directory = open_below(top, &so_far, flags, ResolveFlags::empty())?;
    }
    Ok(directory)
}

fn put(directory: &File, name: &OsStr, content: &str, mode: u32) -> io::Result<()> {
    let (temporary, file) = temporary(directory)?;
    let written = || -> io::Result<()> {
        File::from(file.try_clone()?).write_all(content.as_bytes())?;
        fchmod(&file, Mode::from_raw_mode(mode))?;
        Ok(renameat(directory, &temporary, directory, name)?)
    };
    let result = written();
    if result.is_err() {
        let _gone = unlinkat(directory, &temporary, AtFlags::empty());
    }
    result
}

/// A file of this call alone. Its name is drawn: the number of this process says nothing where
/// each call is process 1 of its own, and whose file it is that is there already is not known.
fn temporary(directory: &File) -> io::Result<(OsString, OwnedFd)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    for _ in 0..NAMES_TRIED_MAX {
        let drawn = getrandom::u64().map_err(io::Error::other)?;
        let name = OsString::from(format!(".assay-{drawn:016x}"));
        match openat(directory, &name, flags, Mode::from_raw_mode(0o600)) {
            Err(Errno::EXIST) => {}
            opened => return Ok((name, opened?)),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

#[cfg(test)]
mod tests {
    use super::{edited, put};
    use std::ffi::OsStr;
    use std::fs::File;

    #[test]
    fn files_that_are_written_at_the_same_time_have_their_own_text() {
        const FILES: usize = 1000;
        let place = tempfile::tempdir().expect("a directory");
        let directory = File::open(place.path()).expect("it is there");
        let text = |who: &str, number: usize| format!("{who} {number} ").repeat(50);
        let write = |who: &str| {
            for number in 0..FILES {
                let name = format!("{who}-{number}");
                let put = put(&directory, OsStr::new(&name), &text(who, number), 0o644);
                put.unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| write("one"));
            write("other");
        });
        for who in ["one", "other"] {
            for number in 0..FILES {
                let name = format!("{who}-{number}");
                let read = std::fs::read_to_string(place.path().join(&name)).expect("written");
                assert!(read == text(who, number), "{name} has the text of another: {read}");
            }
        }
        let count = std::fs::read_dir(place.path()).expect("readable").count();
        assert_eq!(count, 2 * FILES, "something is left");
    }

    #[test]
    fn an_edit_needs_one_exact_match() {
        let ok = |text: &str, count| Ok((text.to_string(), count));
        assert_eq!(edited("a b a", "b", "c", false), ok("a c a", 1));
        assert_eq!(edited("a b a", "a", "c", true), ok("c b c", 2));
        for (old, new, all) in
            [("a", "c", false), ("x", "c", true), ("", "c", true), ("b", "b", false)]
        {
            assert!(edited("a b a", old, new, all).is_err(), "{old:?}");
        }
    }
}
