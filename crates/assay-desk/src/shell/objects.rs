//! Reading the user's objects without starting git: a check asks for commits and trees many times,
//! and a process for each question costs more than all the answers.

use super::git::GitError;
use crate::event::Revision;
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::{EntryKind, EntryMode};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Larger files are left to git.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// What git says of a file that is gone.
const GONE: &str = "000000";

/// The entries of one directory of a tree.
type Entries = BTreeMap<Vec<u8>, (EntryMode, ObjectId)>;

/// The objects of a repository.
#[derive(Clone)]
pub(super) struct Objects {
    repository: gix::ThreadSafeRepository,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Objects").field(&self.repository.refs.git_dir()).finish()
    }
}

fn wrong(what: &str, why: impl ToString) -> GitError {
    GitError::new(what, why.to_string())
}

impl Objects {
    /// Of the repository with this working tree.
    pub fn open(root: &Path) -> Result<Objects, GitError> {
        let repository = gix::open(root).map_err(|error| wrong("open", error))?;
        Ok(Objects { repository: repository.into_sync() })
    }

    pub(super) fn repository(&self) -> gix::Repository {
        self.repository.to_thread_local()
    }

    /// A commit and its tree.
    pub fn revision(&self, name: &str) -> Result<Revision, GitError> {
        let repository = self.repository();
        let found = repository.rev_parse_single(name).map_err(|error| wrong("rev-parse", error))?;
        let object = found.object().map_err(|error| wrong("rev-parse", error))?;
        let commit = object.peel_to_kind(gix::object::Kind::Commit);
        let commit = commit.map_err(|error| wrong("rev-parse", error))?.into_commit();
        let tree = commit.tree_id().map_err(|error| wrong("rev-parse", error))?;
        Ok(Revision { commit: commit.id.to_string(), tree: tree.to_string() })
    }

    /// Whether one commit is behind another, or is the same.
    pub fn is_ancestor(&self, old: &str, new: &str) -> bool {
        let repository = self.repository();
        let id = |name: &str| ObjectId::from_hex(name.as_bytes()).ok();
        let (Some(old), Some(new)) = (id(old), id(new)) else {
            return false;
        };
        repository
            .merge_base(old, new)
            .is_ok_and(|base| base.is_some_and(|base| base.detach() == old))
    }

    /// Whether a commit has a file at a path.
    pub fn has(&self, commit: &str, path: &str) -> bool {
        let repository = self.repository();
        repository.rev_parse_single(format!("{commit}:{path}").as_str()).is_ok()
    }

    /// The files of a commit, sorted.
    pub fn files(&self, commit: &str) -> Result<Vec<String>, GitError> {
        let repository = self.repository();
        let tree = self.revision(commit)?.tree;
        let tree = ObjectId::from_hex(tree.as_bytes()).map_err(|error| wrong("ls-tree", error))?;
        let (mut open, mut files) = (vec![(String::new(), tree)], Vec::new());
        while let Some((prefix, tree)) = open.pop() {
            for (name, (mode, id)) in entries(&repository, Some(tree))? {
                let path = format!("{prefix}{}", name.to_str_lossy());
                match mode.is_tree() {
                    true => open.push((format!("{path}/"), id)),
                    false => files.push(path),
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Paths that differ between two commits, with the mode they have now.
    pub fn changed(&self, old: &str, new: &str) -> Result<Vec<(String, String)>, GitError> {
        let repository = self.repository();
        let tree = |name: &str| {
            let id = self.revision(name)?.tree;
            ObjectId::from_hex(id.as_bytes()).map_err(|error| wrong("diff", error))
        };
        let mut open = vec![(String::new(), Some(tree(old)?), Some(tree(new)?))];
        let mut changed = Vec::new();
        while let Some((prefix, old, new)) = open.pop() {
            if old == new {
                continue;
            }
            let (old, new) = (entries(&repository, old)?, entries(&repository, new)?);
            let names: std::collections::BTreeSet<&Vec<u8>> =
                old.keys().chain(new.keys()).collect();
            for name in names {
                let (a, b) = (old.get(name), new.get(name));
                if a == b {
                    continue;
                }
                let path = format!("{prefix}{}", name.to_str_lossy());
                let subtree = |entry: Option<&(EntryMode, ObjectId)>| {
                    entry.filter(|(mode, _)| mode.is_tree()).map(|(_, id)| *id)
                };
                let (below_a, below_b) = (subtree(a), subtree(b));
                if below_a.is_some() || below_b.is_some() {
                    open.push((format!("{path}/"), below_a, below_b));
                }
                let is_file = |entry: Option<&(EntryMode, ObjectId)>| {
                    entry.is_some_and(|(mode, _)| !mode.is_tree())
                };
                if is_file(b) {
                    let mode =
                        b.map_or(GONE.to_string(), |(mode, _)| format!("{:06o}", mode.value()));
                    changed.push((path, mode));
                } else if is_file(a) {
                    changed.push((path, GONE.to_string()));
                }
            }
        }
        changed.sort();
        Ok(changed)
    }

    /// Whether a directory holds exactly the files of a tree, byte for byte, and no others but
    /// those of its repository. A no means that git has to be asked: filters, ignored files and
    /// much else are its affair.
    pub fn is_exactly(&self, directory: &Path, tree: &str) -> bool {
        let repository = self.repository();
        let tree = ObjectId::from_hex(tree.as_bytes());
        tree.is_ok_and(|tree| same(&repository, directory, tree, Level::Top).unwrap_or(false))
    }
}

fn entries(repository: &gix::Repository, tree: Option<ObjectId>) -> Result<Entries, GitError> {
    let Some(tree) = tree else {
        return Ok(Entries::new());
    };
    let tree = repository.find_tree(tree).map_err(|error| wrong("read a tree", error))?;
    let mut found = Entries::new();
    for entry in tree.iter() {
        let entry = entry.map_err(|error| wrong("read a tree", error))?;
        found.insert(entry.filename().to_vec(), (entry.mode(), entry.object_id()));
    }
    Ok(found)
}

/// Where a directory stands in a tree.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The repository is here.
    Top,
    Below,
}

/// Nothing, if something cannot be read.
fn same(
    repository: &gix::Repository,
    directory: &Path,
    tree: ObjectId,
    level: Level,
) -> Option<bool> {
    let wanted = entries(repository, Some(tree)).ok()?;
    let mut seen = 0;
    for entry in fs::read_dir(directory).ok()? {
        let name = entry.ok()?.file_name();
        if level == Level::Top && name == OsStr::new(".git") {
            continue;
        }
        let (mode, id) = wanted.get(name.as_bytes())?;
        let path = directory.join(&name);
        let there = fs::symlink_metadata(&path).ok()?;
        let is_same = match mode.kind() {
            EntryKind::Tree => there.is_dir() && same(repository, &path, *id, Level::Below)?,
            EntryKind::Link => {
                there.is_symlink()
                    && blob(repository, fs::read_link(&path).ok()?.as_os_str().as_bytes())? == *id
            }
            EntryKind::Blob | EntryKind::BlobExecutable => {
                let runs = there.permissions().mode() & 0o100 != 0;
                there.is_file()
                    && there.len() <= FILE_BYTES_MAX
                    && runs == (mode.kind() == EntryKind::BlobExecutable)
                    && blob(repository, &fs::read(&path).ok()?)? == *id
            }
            EntryKind::Commit => false,
        };
        if !is_same {
            return Some(false);
        }
        seen += 1;
    }
    Some(seen == wanted.len())
}

fn blob(repository: &gix::Repository, bytes: &[u8]) -> Option<ObjectId> {
    gix::objs::compute_hash(repository.object_hash(), gix::objs::Kind::Blob, bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::super::git::Git;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::process::Command;

    fn git(directory: &Path, args: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
        let done = Command::new("git").args(identity).args(args).current_dir(directory).output();
        assert!(done.expect("git runs").status.success(), "git {args:?}");
    }

    fn repository() -> (tempfile::TempDir, Git) {
        let home = tempfile::tempdir().expect("a directory");
        let at = home.path();
        fs::create_dir_all(at.join("src/deep")).expect("a directory");
        for (path, text) in [("a", "1\n"), ("src/b", "2\n"), ("src/deep/c", "3\n"), ("run", "4\n")]
        {
            fs::write(at.join(path), text).expect("a file");
        }
        fs::write(at.join(".gitignore"), "ignored\n").expect("a file");
        fs::set_permissions(at.join("run"), fs::Permissions::from_mode(0o755)).expect("a mode");
        symlink("src/b", at.join("link")).expect("a link");
        git(at, &["init", "-q"]);
        git(at, &["add", "-A"]);
        git(at, &["commit", "-qm", "Begin"]);
        let git = Git::find(at).expect("a repository");
        (home, git)
    }

    /// What somebody may do to a directory, and whether the same tree is left.
    type Change = (&'static str, fn(&Path), bool);

    const CHANGES: [Change; 10] = [
        ("nothing", |_| {}, true),
        ("other bytes", |at| fs::write(at.join("src/deep/c"), "4\n").expect("a file"), false),
        ("same bytes again", |at| fs::write(at.join("a"), "1\n").expect("a file"), true),
        ("a file more", |at| fs::write(at.join("src/more"), "").expect("a file"), false),
        ("a file less", |at| fs::remove_file(at.join("src/b")).expect("a file"), false),
        ("an ignored file", |at| fs::write(at.join("ignored"), "x").expect("a file"), true),
        ("an empty directory", |at| fs::create_dir(at.join("empty")).expect("a directory"), true),
        (
            "no longer a program",
            |at| {
                let mode = fs::Permissions::from_mode(0o644);
                fs::set_permissions(at.join("run"), mode).expect("a mode");
            },
            false,
        ),
        (
            "a file instead of a link",
            |at| {
                fs::remove_file(at.join("link")).expect("a link");
                fs::write(at.join("link"), "src/b").expect("a file");
            },
            false,
        ),
        (
            "a link elsewhere",
            |at| {
                fs::remove_file(at.join("link")).expect("a link");
                symlink("a", at.join("link")).expect("a link");
            },
            false,
        ),
    ];

    #[test]
    fn a_tree_is_recognised_by_its_bytes_and_git_agrees() {
        for (what, change, same) in CHANGES {
            let (home, git) = repository();
            let tree = git.revision("HEAD").expect("a commit").tree;
            change(home.path());
            let quick = git.is_exactly(home.path(), &tree);
            let scratch = tempfile::tempdir().expect("a directory");
            let index = scratch.path().join("index");
            // A tree that cannot be: git has to say what is there.
            let slow = git.tree_of(home.path(), &"0".repeat(40), &index).expect("a tree");
            assert_eq!(slow == tree, same, "{what}: git");
            assert!(!quick || slow == tree, "{what}: said to be the same, and is not");
            let left = git.tree_of(home.path(), &tree, &index).expect("a tree");
            assert_eq!(left, slow, "{what}: both ways");
        }
        let (home, git) = repository();
        let tree = git.revision("HEAD").expect("a commit").tree;
        assert!(git.is_exactly(home.path(), &tree), "the usual case needs no git");
    }

    #[test]
    fn what_changed_is_what_git_prints() {
        let (home, user) = repository();
        let at = home.path();
        let old = user.revision("HEAD").expect("a commit").commit;
        fs::remove_file(at.join("a")).expect("a file");
        fs::create_dir(at.join("a")).expect("a directory");
        fs::write(at.join("a/x"), "x\n").expect("a file");
        fs::remove_dir_all(at.join("src/deep")).expect("a directory");
        symlink("elsewhere", at.join("src/deep")).expect("a link");
        fs::set_permissions(at.join("run"), fs::Permissions::from_mode(0o644)).expect("a mode");
        git(at, &["add", "-A"]);
        git(at, &["commit", "-qm", "Go on"]);
        let new = user.revision("HEAD").expect("a commit").commit;
        let said = user.run(&["diff", "--raw", "-z", "--no-renames", &old, &new]).expect("a diff");
        let mut fields = said.split('\0');
        let mut wanted = Vec::new();
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let mode = meta.split(' ').nth(1).expect("a mode").to_string();
            wanted.push((path.to_string(), mode));
        }
        wanted.sort();
        assert_eq!(user.changed(&old, &new).expect("changes"), wanted);
        assert!(user.is_ancestor(&old, &new) && user.is_ancestor(&new, &new));
        assert!(!user.is_ancestor(&new, &old) && !user.is_ancestor(&old, "HEAD"));
        assert!(user.has(&new, "a/x") && !user.has(&new, "a/y"));
        let listed = user.run(&["ls-tree", "-r", "-z", "--name-only", &new]).expect("a list");
        let mut listed: Vec<&str> = listed.split_terminator('\0').collect();
        listed.sort_unstable();
        assert_eq!(user.files(&new).expect("files"), listed);
        assert!(user.revision("nobody").is_err());
    }
}
