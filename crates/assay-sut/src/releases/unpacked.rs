//! What was unpacked, made so that it can be run from where it lies.

use super::GetError;
use super::fetch::{files, io_error, make};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Directories of an unpacked Debian package that hold programs.
const PROGRAM_DIRECTORIES: [&str; 4] = ["usr/bin", "usr/sbin", "bin", "sbin"];
/// How a program begins.
const ELF: [u8; 4] = [0x7f, b'E', b'L', b'F'];
/// Files looked at in one release.
const FILES_MAX: usize = 100_000;

/// Makes of unpacked packages what can be run: a directory `bin` with everything that runs.
pub(super) fn make_runnable(root: &Path, bin: &Path) -> Result<(), GetError> {
    lead_links_inside(root)?;
    merge_libraries(root)?;
    link_programs(root, bin)
}

/// Everything below a directory that is none itself.
fn all_files(root: &Path) -> Result<Vec<PathBuf>, GetError> {
    let mut open = vec![root.to_path_buf()];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for path in files(&directory)? {
            if found.len() >= FILES_MAX {
                let why = format!("it holds more than {FILES_MAX} files");
                let advice = "its description names the wrong packages".to_string();
                return Err(GetError::Failed { what: root.display().to_string(), why, advice });
            }
            match path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
                true => open.push(path),
                false => found.push(path),
            }
        }
    }
    Ok(found)
}

/// Packages link to files by the place they have when they are installed. What was unpacked has
/// them itself: whoever follows such a link must not find another version, or nothing.
fn lead_links_inside(root: &Path) -> Result<(), GetError> {
    for path in all_files(root)? {
        let Ok(target) = std::fs::read_link(&path) else { continue };
        let Ok(named) = target.strip_prefix("/") else { continue };
        if root.join(named).symlink_metadata().is_err() {
            continue;
        }
        let inside = path.strip_prefix(root).unwrap_or(&path);
        let up = inside.components().skip(1).map(|_| "..");
        let relative = up.collect::<PathBuf>().join(named);
        std::fs::remove_file(&path)
            .and_then(|()| symlink(relative, &path))
            .map_err(io_error(format!("link {}", path.display())))?;
    }
    Ok(())
}

/// Some packages put libraries below `lib` and others below `usr/lib`; who looks for them looks in
/// the latter.
fn merge_libraries(root: &Path) -> Result<(), GetError> {
    let triplets = match root.join("lib").is_dir() {
        true => files(&root.join("lib"))?,
        false => Vec::new(),
    };
    for triplet in triplets.into_iter().filter(|path| path.is_dir()) {
        let name = triplet.file_name().unwrap_or_default();
        let merged = root.join("usr/lib").join(name);
        make(&merged)?;
        for library in files(&triplet)? {
            let file = library.file_name().unwrap_or_default();
            let target = Path::new("../../../lib").join(name).join(file);
            let place = merged.join(file);
            if place.symlink_metadata().is_err() {
                symlink(target, &place).map_err(io_error(format!("link {}", place.display())))?;
            }
        }
    }
    Ok(())
}

/// One directory with a link to everything that can be run: a program, or a link to one by another
/// name.
fn link_programs(root: &Path, bin: &Path) -> Result<(), GetError> {
    make(bin)?;
    for path in all_files(root)? {
        // Of a link, what it leads to; one that leads nowhere is nothing.
        let Ok(about) = std::fs::metadata(&path) else { continue };
        if about.is_file() && is_program(&path, root, about.permissions().mode()) {
            // A wheel does not keep the permission to run.
            if !path.is_symlink() {
                std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755))
                    .map_err(io_error(format!("make {} a program", path.display())))?;
            }
            link(root, &path, bin)?;
        }
    }
    Ok(())
}

fn link(root: &Path, program: &Path, bin: &Path) -> Result<(), GetError> {
    let inside = program.strip_prefix(root).unwrap_or(program);
    let name = bin.join(program.file_name().unwrap_or_default());
    if name.exists() {
        return Ok(());
    }
    // Relative, because the directory gets another name when it is whole.
    symlink(Path::new("../root").join(inside), &name)
        .map_err(io_error(format!("link {}", name.display())))
}

fn is_program(path: &Path, root: &Path, mode: u32) -> bool {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parent = inside.parent().unwrap_or(Path::new(""));
    let placed = PROGRAM_DIRECTORIES.iter().any(|known| parent == Path::new(known));
    let is_library = path.to_string_lossy().contains(".so");
    let mut head = [0; 4];
    let elf = File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok();
    let in_bin = parent.ends_with("bin");
    (placed && mode & 0o111 != 0)
        || (elf && head == ELF && !is_library && (in_bin || !inside.starts_with("usr")))
}
