//! The description of a system, as it was when the run began.
//!
//! A run writes down its plan, and a plan only names its system: what `systems/NAME.toml` said is
//! as much a part of the run. So the run keeps a copy, goes by it when it is taken up again, and
//! its trials carry a digest of it: a finding can be seen again from the copy, wherever the
//! directory has been moved to.

use crate::files::write_whole;
use assay_sut::SystemSpec;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// Where copies are, from the directory of a run. A search for descriptions that begins in the run
/// finds them there.
pub const DIRECTORY: &str = "systems";
/// The largest description that is copied.
const DESCRIPTION_BYTES_MAX: u64 = 16 << 20;

/// A system with the digest of its description.
pub struct Frozen {
    /// The system.
    pub system: SystemSpec,
    /// The digest.
    pub digest: String,
    /// What has to be said: that the original is no longer what it was.
    pub note: Option<String>,
}

/// The system of a run: from the copy of the run, or found beside the plan and then copied.
///
/// # Errors
/// If there is none, or it cannot be read or copied.
pub fn system(run: &Path, name: &str, beside: &Path) -> Result<Frozen, String> {
    let copy = run.join(DIRECTORY).join(format!("{name}.toml"));
    // A name that is none finds no description either, whatever lies in the run.
    if copy.is_file() && assay_sut::load(name, Some(run)).is_ok() {
        return from_copy(&copy, name);
    }
    let found = assay_sut::load(name, Some(beside)).map_err(|error| error.to_string())?;
    let Some(file) = found.file.clone() else { return Ok(built_in(found)) };
    let text = read(&file)?;
    let failed = |error: std::io::Error| format!("cannot copy {}: {error}", file.display());
    fs::create_dir_all(run.join(DIRECTORY)).map_err(failed)?;
    let origin = std::path::absolute(&file).unwrap_or_else(|_| file.clone());
    // The copy last: with it there is everything.
    write_whole(&origin_of(&copy), origin.display().to_string().as_bytes()).map_err(failed)?;
    write_whole(&copy, text.as_bytes()).map_err(failed)?;
    parsed(name, &file, &text)
}

/// A system whose copy lies in a run, for whoever has only a file of that run; else as it is found
/// from there.
///
/// # Errors
/// If there is none, or it cannot be read.
pub fn system_of_a_file(file: &Path, name: &str) -> Result<Frozen, String> {
    let beside = file.canonicalize().ok();
    let beside = beside.as_deref().and_then(Path::parent);
    let found = assay_sut::load(name, beside).map_err(|error| error.to_string())?;
    match found.file.clone() {
        None => Ok(built_in(found)),
        Some(file) if origin_of(&file).is_file() => from_copy(&file, name),
        Some(file) => parsed(name, &file, &read(&file)?),
    }
}

fn from_copy(copy: &Path, name: &str) -> Result<Frozen, String> {
    let text = read(copy)?;
    let origin = fs::read_to_string(origin_of(copy)).ok().map(|path| PathBuf::from(path.trim()));
    // What a description starts is told relative to itself, so to where it was.
    let origin = origin.filter(|origin| origin.is_file());
    let now = origin.as_deref().and_then(|origin| fs::read_to_string(origin).ok());
    let mut frozen = parsed(name, origin.as_deref().unwrap_or(copy), &text)?;
    if let (Some(origin), Some(_)) = (&origin, now.filter(|now| *now != text)) {
        let note = "has changed since the run began, which goes on with its own copy";
        frozen.note = Some(format!("{} {note}", origin.display()));
    }
    Ok(frozen)
}

/// Where the path of the original is kept.
fn origin_of(copy: &Path) -> PathBuf {
    copy.with_extension("origin")
}

fn parsed(name: &str, file: &Path, text: &str) -> Result<Frozen, String> {
    let shown = file.display().to_string();
    let mut system = SystemSpec::parse(name, &shown, text).map_err(|error| error.to_string())?;
    system.file = Some(file.to_path_buf());
    Ok(Frozen { system, digest: digest(text), note: None })
}

/// What is built in has no file: its digest is that of what was read from it.
fn built_in(system: SystemSpec) -> Frozen {
    let digest = format!("built in, {}", digest(&format!("{system:?}")));
    Frozen { system, digest, note: None }
}

fn digest(text: &str) -> String {
    let bytes = Sha256::digest(text.as_bytes());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn read(file: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("{}: cannot be read: {error}", file.display());
    if fs::metadata(file).map_err(unreadable)?.len() > DESCRIPTION_BYTES_MAX {
        return Err(format!("{}: larger than 16 MiB: not a description", file.display()));
    }
    fs::read_to_string(file).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KV: &str = include_str!("../../../systems/kv.toml");

    /// A project with a description, and an empty run.
    fn project() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let (project, run) = (directory.path().join("project"), directory.path().join("run"));
        fs::create_dir_all(project.join("systems")).expect("made");
        fs::create_dir_all(run.join("findings")).expect("made");
        fs::write(project.join("systems/mine.toml"), KV).expect("written");
        (directory, project, run)
    }

    #[test]
    fn a_run_goes_on_with_the_description_it_began_with_and_says_that_another_is_there() {
        let (_directory, project, run) = project();
        let first = system(&run, "mine", &project).expect("it is there");
        assert_eq!(fs::read_to_string(run.join("systems/mine.toml")).expect("a copy"), KV);
        assert_eq!(first.system.file.as_deref(), Some(&*project.join("systems/mine.toml")));
        let again = system(&run, "mine", &project).expect("it is there");
        assert_eq!((&again.digest, &again.note), (&first.digest, &None));
        let changed = format!("# another\n{KV}");
        fs::write(project.join("systems/mine.toml"), changed).expect("written");
        let later = system(&run, "mine", &project).expect("it is there");
        assert_eq!(later.digest, first.digest, "the run has its own copy");
        assert!(later.note.is_some_and(|note| note.contains("mine.toml has changed")));
        let fresh = system(&run.join("findings"), "mine", &project).expect("another run");
        assert_ne!(fresh.digest, first.digest, "another description has another digest");
    }

    #[test]
    fn a_moved_run_still_knows_its_system() {
        let (directory, project, run) = project();
        let first = system(&run, "mine", &project).expect("it is there");
        let moved = directory.path().join("elsewhere");
        fs::rename(&run, &moved).expect("moved");
        fs::remove_dir_all(&project).expect("gone");
        fs::write(moved.join("findings/F1.repro.json"), "{}").expect("written");
        let found = system_of_a_file(&moved.join("findings/F1.repro.json"), "mine");
        let found = found.expect("from the copy");
        assert_eq!(found.digest, first.digest);
        assert!(system_of_a_file(&moved.join("findings/F1.repro.json"), "other").is_err());
    }

    #[test]
    fn what_is_built_in_has_a_digest_and_needs_no_copy() {
        let (_directory, _, run) = project();
        let kv = system(&run, "etcd", &run).expect("it is built in");
        assert!(kv.digest.starts_with("built in, sha256:"), "{}", kv.digest);
        assert!(!run.join("systems/etcd.toml").exists());
    }
}
