//! Files that nobody may change while an agent is out: hashed before, hashed after.

use super::desk::Desk;
use super::git::GitError;
use super::{reach, settings};
use crate::contract::sha256;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files and their hashes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, String>,
    /// There are more files than are looked at: nobody knows what happens to the others.
    overflows: bool,
    /// What the Leader's own commands are run with.
    pub(super) toolchain: BTreeMap<PathBuf, String>,
}

/// More files than this are not looked at: then no agent is sent out.
const FILES_MAX: usize = 20_000;
const HASHED_BYTES_MAX: u64 = 4 << 20;
const LISTED_MAX: usize = 10;
/// Where desks are, below the top of a repository.
const OWN: &str = ".assay";
/// What tools look for in the directory they are started in, and in all those above.
const UPWARD: [&str; 20] = [
    ".cargo",
    ".cargo/config",
    ".cargo/config.toml",
    ".editorconfig",
    ".npmrc",
    ".python-version",
    ".tool-versions",
    "Cargo.toml",
    "clippy.toml",
    "conftest.py",
    "go.mod",
    "go.work",
    "node_modules",
    "package.json",
    "pyproject.toml",
    "pytest.ini",
    "rust-toolchain.toml",
    "setup.cfg",
    "tox.ini",
    "tsconfig.json",
];

/// What is different, by whom it can have been done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    /// Whoever was watched can have done it.
    pub(super) tampered: Vec<String>,
    /// The kernel kept whoever was watched from it: it was somebody else.
    pub(super) elsewhere: Vec<String>,
}

/// Hashes what is protected: git's settings and hooks, settings of agents in the home directory,
/// the toolchain, the desk without working trees and outputs of runs (those that matter are
/// evidence in the record), and, where the kernel does not keep the agent in its place, what is
/// changed in the user's own working tree. Evidence and records that were put aside are left out:
/// evidence is named by its content, and nothing here rests on what was put aside.
pub(super) fn snapshot(desk: &Desk, with_checkout: bool) -> Result<Snapshot, GitError> {
    let mut snapshot = Snapshot::default();
    let places = places();
    // What is short and matters most comes first.
    snapshot.file(&desk.contract());
    snapshot.file(&desk.git.directory().join("config"));
    snapshot.directory(&desk.git.directory().join("hooks"), &[]);
    snapshot.directory(&desk.git.directory().join("info"), &[]);
    snapshot.files.extend(settings::hashes(&places));
    snapshot.toolchain = settings::toolchain(&places);
    let skip = ["trees", "runs", "archive", "ledger/blobs"].map(|name| desk.home().join(name));
    snapshot.directory(desk.home(), &skip);
    if with_checkout {
        let status = desk.git.status()?;
        snapshot.files.insert(PathBuf::from("the checkout"), sha256(status.as_bytes()));
        for line in status.lines() {
            let path = desk.git.root().join(line.get(3..).unwrap_or("").trim_matches('"'));
            snapshot.file(&path);
        }
        snapshot.around(desk);
        snapshot.files.extend(settings::of_people(&places));
    }
    Ok(snapshot)
}

fn places() -> settings::Places {
    let places = settings::places(|name| std::env::var_os(name).map(PathBuf::from));
    places.led_by(std::env::current_exe().ok())
}

/// What the Leader's own commands are run with, as it is now.
pub(super) fn toolchain() -> BTreeMap<PathBuf, String> {
    settings::toolchain(&places())
}

impl Snapshot {
    /// The toolchain alone.
    pub(super) fn of_toolchain(toolchain: BTreeMap<PathBuf, String>) -> Snapshot {
        Snapshot { toolchain, ..Snapshot::default() }
    }

    /// What programs find that look for their settings in the directories above them, and what
    /// stands beside trees: git looks at none of it.
    fn around(&mut self, desk: &Desk) {
        let own = desk.git.root().join(OWN);
        let beside = [desk.home().join("trees"), desk.home().join("runs")];
        for directory in beside.iter().chain([&own, &own.join("desk")]) {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                self.file(&entry.path());
            }
        }
        for directory in desk.home().ancestors() {
            UPWARD.iter().for_each(|name| self.found(&directory.join(name)));
        }
    }

    fn found(&mut self, path: &Path) {
        if std::fs::symlink_metadata(path).is_ok() {
            self.file(path);
        }
    }

    /// Without what Leaders write themselves, for a Leader that was not there all the time: the
    /// record among it proves itself.
    pub(super) fn without_own(mut self, desk: &Desk) -> Snapshot {
        let contract = desk.contract();
        self.files.retain(|path, _| *path == contract || !path.starts_with(desk.home()));
        self
    }

    fn file(&mut self, path: &Path) {
        if self.files.len() >= FILES_MAX {
            self.overflows |= !self.files.contains_key(path);
            return;
        }
        let hash = match std::fs::symlink_metadata(path) {
            Err(_) => "absent".to_string(),
            Ok(meta) if meta.is_symlink() => format!("{:?}", std::fs::read_link(path)),
            // A pipe that is opened waits for a writer.
            Ok(meta) if !meta.is_file() => "no file".to_string(),
            // Large files are outputs and evidence: those have a hash of their own in the record.
            Ok(meta) if meta.len() > HASHED_BYTES_MAX => settings::outside(&meta),
            Ok(_) => std::fs::read(path).map_or("unreadable".to_string(), |b| sha256(&b)),
        };
        self.files.insert(path.to_path_buf(), hash);
    }

    fn directory(&mut self, path: &Path, skip: &[PathBuf]) {
        let Ok(entries) = std::fs::read_dir(path) else {
            return;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // Readers of the record leave marks in its shared memory.
            let shared =
                path.extension().is_some_and(|end| end.to_string_lossy().ends_with("-shm"));
            if skip.contains(&path) || shared {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.directory(&path, skip),
                _ => self.file(&path),
            }
        }
    }

    /// Why nobody can say whether something was changed, if nobody can.
    pub(super) fn too_many(&self, desk: &Desk) -> Option<String> {
        self.overflows.then(|| {
            format!(
                "more than {FILES_MAX} files would have to be compared around each agent, and \
                 what is not compared is not protected: look in {} and {}, and move away what is \
                 not of this campaign",
                desk.home().display(),
                desk.git.directory().join("hooks").display()
            )
        })
    }

    /// What is different now, in words. `reach` is where the one who was watched could write; none
    /// if nothing kept it from writing anywhere.
    pub(super) fn changes(
        &self,
        now: &Snapshot,
        root: &Path,
        reach: Option<&[PathBuf]>,
    ) -> Changes {
        let mut changes = Changes::default();
        let before: BTreeMap<&PathBuf, &String> =
            self.files.iter().chain(&self.toolchain).collect();
        let after: BTreeMap<&PathBuf, &String> = now.files.iter().chain(&now.toolchain).collect();
        let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).copied().collect();
        for path in all {
            let what = match (before.get(path), after.get(path)) {
                (before, after) if before == after => continue,
                (None, _) => "was made",
                (_, None) => "is gone",
                _ => "was changed",
            };
            let shown = path.strip_prefix(root).unwrap_or(path);
            let list = match reach {
                Some(reach) if !reach::within(reach, path) => &mut changes.elsewhere,
                _ => &mut changes.tampered,
            };
            list.push(format!("{} {what}", shown.display()));
        }
        changes.tampered = listed(changes.tampered);
        changes.elsewhere = listed(changes.elsewhere);
        changes
    }
}

/// Not all of them, if there are many.
fn listed(mut changes: Vec<String>) -> Vec<String> {
    if changes.len() > LISTED_MAX {
        let more = changes.len() - LISTED_MAX;
        changes.truncate(LISTED_MAX);
        changes.push(format!("and {more} more"));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::{Changes, FILES_MAX, snapshot};
    use crate::shell::desk::Desk;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    fn desk(root: &Path) -> Desk {
        let git = |args: &[&str]| {
            let status = Command::new("git").args(args).current_dir(root).status();
            assert!(status.expect("git runs").success(), "git {args:?}");
        };
        git(&["init", "-q"]);
        git(&["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "a", "--allow-empty"]);
        let desk = Desk::find(root, "small").expect("a desk");
        write(desk.home(), "contract.md", "a");
        desk
    }

    fn write(home: &Path, name: &str, text: &str) {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    #[test]
    fn what_the_kernel_keeps_an_agent_from_is_told_apart_from_what_it_can_have_done() {
        let home = tempfile::tempdir().expect("a directory");
        let desk = desk(home.path());
        let mine = [desk.home().to_path_buf()];
        let link = home.path().join("link");
        std::os::unix::fs::symlink(desk.home(), &link).expect("a link");
        let linked = [link];
        let other = [desk.home().join("trees/worker")];
        type Reach<'a> = Option<&'a [PathBuf]>;
        let cases: [(Reach<'_>, bool); 4] =
            [(None, true), (Some(&mine), true), (Some(&linked), true), (Some(&other), false)];
        for (name, said) in [
            ("contract.md", "contract.md was changed"),
            ("report.html", "report.html was made"),
            ("../../../.git/config", "config was changed"),
        ] {
            let before = snapshot(&desk, false).expect("a snapshot");
            write(desk.home(), name, name);
            let after = snapshot(&desk, false).expect("a snapshot");
            for (reach, by_agent) in cases {
                // What may be written to is the desk: git's settings are elsewhere in any case.
                let by_agent = by_agent && (reach.is_none() || !name.contains(".git"));
                let Changes { tampered, elsewhere } = before.changes(&after, home.path(), reach);
                let (all, none) =
                    if by_agent { (tampered, elsewhere) } else { (elsewhere, tampered) };
                assert!(all.len() == 1 && all[0].ends_with(said), "{name} {reach:?}: {all:?}");
                assert!(none.is_empty(), "{name} {reach:?}: {none:?}");
            }
        }
    }

    #[test]
    fn a_file_with_a_second_name_can_be_changed_by_that() {
        let home = tempfile::tempdir().expect("a directory");
        let desk = desk(home.path());
        let second = home.path().join("second");
        std::fs::hard_link(desk.contract(), second).expect("a second name");
        let before = snapshot(&desk, false).expect("a snapshot");
        write(desk.home(), "contract.md", "b");
        let after = snapshot(&desk, false).expect("a snapshot");
        let changes = before.changes(&after, home.path(), Some(&[]));
        assert_eq!(changes.tampered.len(), 1, "{changes:?}");
    }

    #[test]
    fn evidence_is_not_looked_at_and_too_many_other_files_are_told() {
        let home = tempfile::tempdir().expect("a directory");
        let desk = desk(home.path());
        let before = snapshot(&desk, false).expect("a snapshot");
        for name in ["ledger/blobs/ab/abcd", "archive/001/head", "trees/a", "runs/a"] {
            write(desk.home(), name, "a");
        }
        assert_eq!(before, snapshot(&desk, false).expect("a snapshot"));
        write(desk.home(), "ledger/head", "a");
        assert_ne!(before, snapshot(&desk, false).expect("a snapshot"));
        assert_eq!(before.too_many(&desk), None);
        // Empty files are made quickly.
        std::fs::create_dir(desk.home().join("many")).expect("a directory");
        for n in 0..FILES_MAX {
            std::fs::File::create(desk.home().join(format!("many/{n}"))).expect("a file");
        }
        let many = snapshot(&desk, false).expect("a snapshot");
        assert!(many.too_many(&desk).is_some_and(|why| why.contains("small")));
        for important in [desk.contract(), desk.git.directory().join("config")] {
            assert!(many.files.contains_key(&important), "{}", important.display());
        }
    }
}
