//! Taking a commit out of an agent's repository without starting git.
//!
//! A claim is mostly a commit and a handful of objects. `git fetch` starts five processes for it,
//! which is a fifth of what the Leader needs for an iteration. Here the objects are copied one by
//! one, each under the name its bytes have, children before parents. Nothing of the agent's
//! repository but its objects is looked at, and no more of them than is usual; whatever is unusual
//! is left to git. Whether a commit is whole is git's to say, before anything refers to it: what
//! was there before need not be, if somebody else was interrupted.

use super::git::GitError;
use super::objects::Objects;
use gix::ObjectId;
use gix::objs::{CommitRefIter, Find, Kind, TreeRefIter, Write};
use gix::odb::Header;
use gix::refs::transaction::PreviousValue;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// More objects than this are git's affair.
const OBJECTS_MAX: usize = 20_000;
/// More bytes in all, too: they are in memory until what is below them is written.
const BYTES_MAX: u64 = 64 << 20;
/// The longest file of alternates that is one line of ours.
const ALTERNATES_BYTES_MAX: u64 = 8 << 10;

/// What is to be done about an object.
enum Todo {
    /// It is looked at: whether it is there, and what it needs.
    Look(ObjectId),
    /// Everything it needs is there.
    Write(ObjectId, Kind, Vec<u8>),
}

impl Objects {
    /// Copies a commit and what it needs; nothing refers to it yet. `false`: git has to do it; what
    /// was copied until then does no harm.
    pub fn take(&self, from: &Path, commit: &str) -> bool {
        self.taken(from, commit).is_some()
    }

    /// Keeps a commit by a reference.
    pub fn keep(&self, commit: &str, reference: &str) -> Result<(), GitError> {
        let id = ObjectId::from_hex(commit.as_bytes());
        let id = id.map_err(|error| GitError::new("update-ref", error.to_string()))?;
        let name = reference.to_string();
        let kept = self.repository().reference(name, id, PreviousValue::Any, "claimed").map(drop);
        kept.map_err(|error| GitError::new("update-ref", error.to_string()))
    }

    fn taken(&self, from: &Path, commit: &str) -> Option<()> {
        let repository = self.repository();
        let hash = repository.object_hash();
        let commit = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let objects = from.join(".git/objects");
        borrows_only_from(&objects, repository.objects.store_ref().path())?;
        let limits = gix::odb::store::init::Options {
            alloc_limit_bytes: usize::try_from(BYTES_MAX).ok(),
            ..Default::default()
        };
        let theirs = gix::odb::at_opts(objects, hash, None, limits).ok()?;
        let known = repository.try_find_header(commit).ok()?.map(|header| header.kind());
        let kind = match known {
            Some(kind) => kind,
            None => theirs.try_header(&commit).ok()??.kind(),
        };
        (kind == Kind::Commit).then_some(())?;
        let mut todo = vec![Todo::Look(commit)];
        let (mut looked, mut bytes) = (0, 0_u64);
        while let Some(next) = todo.pop() {
            let id = match next {
                Todo::Look(id) => id,
                Todo::Write(id, kind, data) => {
                    // The name is that of the bytes, whatever the agent called them.
                    let is_named_so = gix::objs::compute_hash(hash, kind, &data).ok()? == id;
                    is_named_so.then_some(())?;
                    repository.objects.write_buf_with_known_id(kind, &data, id).ok()?;
                    continue;
                }
            };
            if repository.has_object(id) {
                continue;
            }
            looked += 1;
            bytes = bytes.saturating_add(theirs.try_header(&id).ok()??.size());
            if looked > OBJECTS_MAX || bytes > BYTES_MAX {
                return None;
            }
            let mut data = Vec::new();
            let kind = theirs.try_find(&id, &mut data).ok()??.kind;
            let needs = needed(kind, &data, hash)?;
            todo.push(Todo::Write(id, kind, data));
            todo.extend(needs.into_iter().map(Todo::Look));
        }
        Some(())
    }
}

/// Whether a directory of objects borrows from nobody but the user, as it was made: where else it
/// leads is git's to judge.
fn borrows_only_from(objects: &Path, users: &Path) -> Option<()> {
    let path = objects.join("info/alternates");
    let there = std::fs::symlink_metadata(&path).ok()?;
    let is_short = there.is_file() && there.len() <= ALTERNATES_BYTES_MAX;
    let text = is_short.then(|| std::fs::read(&path).ok()).flatten()?;
    let line = text.strip_suffix(b"\n")?;
    (line == users.as_os_str().as_bytes()).then_some(())
}

/// The objects below one; nothing if it cannot be read or is of a kind that claims do not have.
fn needed(kind: Kind, data: &[u8], hash: gix::hash::Kind) -> Option<Vec<ObjectId>> {
    match kind {
        Kind::Blob => Some(Vec::new()),
        Kind::Tree => {
            let mut below = Vec::new();
            for entry in TreeRefIter::from_bytes(data, hash) {
                let entry = entry.ok()?;
                // What a submodule is at stands in another repository.
                if !entry.mode.is_commit() {
                    below.push(entry.oid.to_owned());
                }
            }
            Some(below)
        }
        Kind::Commit => {
            let mut below: Vec<ObjectId> =
                CommitRefIter::from_bytes(data, hash).parent_ids().collect();
            below.push(CommitRefIter::from_bytes(data, hash).tree_id().ok()?);
            Some(below)
        }
        Kind::Tag => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::git::{Git, command, finish};
    use std::fs;
    use std::path::Path;

    fn git(directory: &Path, args: &[&str]) -> String {
        let mut git = command(directory);
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(args);
        String::from_utf8(finish(git, args[0]).expect("git does it")).expect("text")
    }

    /// A repository with one commit, and one of an agent beside it with two more.
    fn pair(home: &Path) -> (Git, std::path::PathBuf, String) {
        let (user, agent) = (home.join("user"), home.join("agent"));
        fs::create_dir(&user).expect("a directory");
        git(&user, &["init", "-q"]);
        fs::write(user.join("a"), "1\n").expect("a file");
        git(&user, &["add", "-A"]);
        git(&user, &["commit", "-qm", "Begin"]);
        git(home, &["clone", "-q", "-s", "user", "agent"]);
        fs::create_dir_all(agent.join("src/deep")).expect("a directory");
        for (path, text) in [("src/deep/b", "2\n"), ("src/c", "3\n")] {
            fs::write(agent.join(path), text).expect("a file");
            git(&agent, &["add", "-A"]);
            git(&agent, &["commit", "-qm", path]);
        }
        let head = git(&agent, &["rev-parse", "HEAD"]).trim().to_string();
        (Git::find(&user).expect("a repository"), agent, head)
    }

    #[test]
    fn what_is_taken_is_whole_and_git_agrees() {
        let home = tempfile::tempdir().expect("a directory");
        let (user, agent, head) = pair(home.path());
        let reference = "refs/assay/desk/x/0001";
        assert!(user.objects().take(&agent, &head), "it needs no git");
        user.fetch(&agent, &head, reference).expect("it is whole");
        let at = git(user.root(), &["rev-parse", reference]);
        assert_eq!(at.trim(), head);
        git(user.root(), &["fsck", "--strict", "--connectivity-only", &head]);
        let files = git(user.root(), &["ls-tree", "-r", "--name-only", &head]);
        assert_eq!(files, "a\nsrc/c\nsrc/deep/b\n");
    }

    #[test]
    fn packs_are_read_too() {
        let home = tempfile::tempdir().expect("a directory");
        let (user, agent, head) = pair(home.path());
        git(&agent, &["repack", "-qadl"]);
        assert!(user.objects().take(&agent, &head));
        user.fetch(&agent, &head, "refs/assay/desk/x/0001").expect("it is whole");
    }

    #[test]
    fn what_is_missing_named_otherwise_or_no_commit_is_left_to_git_which_refuses() {
        let home = tempfile::tempdir().expect("a directory");
        let (user, agent, head) = pair(home.path());
        let tree = git(&agent, &["rev-parse", "HEAD^{tree}"]).trim().to_string();
        let reference = "refs/assay/desk/x/0001";
        for claimed in [&"0".repeat(40), "HEAD", &tree] {
            assert!(!user.objects().take(&agent, claimed), "{claimed}");
        }
        // An object whose bytes are those of another.
        let object = |name: &str| {
            let id = git(&agent, &["rev-parse", name]).trim().to_string();
            agent.join(".git/objects").join(&id[..2]).join(&id[2..])
        };
        let (b, c) = (object("HEAD:src/deep/b"), object("HEAD:src/c"));
        fs::remove_file(&b).expect("a file");
        fs::copy(&c, &b).expect("a file");
        for (what, there) in [("a blob of another name", true), ("a blob that is missing", false)] {
            match there {
                true => assert!(!user.objects().take(&agent, &head), "{what}"),
                false => fs::remove_file(&b).expect("a file"),
            }
            // Again and again: what an attempt leaves behind must not make the next one pass.
            for _ in 0..3 {
                assert!(user.fetch(&agent, &head, reference).is_err(), "{what}");
            }
            assert!(user.revision(reference).is_err(), "nothing is kept of it");
        }
    }

    #[test]
    fn a_commit_that_was_there_in_part_is_not_taken_for_whole() {
        let home = tempfile::tempdir().expect("a directory");
        let (user, agent, head) = pair(home.path());
        // As an interrupted `git fetch` leaves it: the commit and its trees, without a file.
        for name in ["HEAD", "HEAD^", "HEAD^{tree}", "HEAD:src", "HEAD:src/deep", "HEAD^^{tree}"] {
            let id = git(&agent, &["rev-parse", name]).trim().to_string();
            let from = agent.join(".git/objects").join(&id[..2]).join(&id[2..]);
            let to = user.root().join(".git/objects").join(&id[..2]);
            fs::create_dir_all(&to).expect("a directory");
            if from.exists() {
                fs::copy(&from, to.join(&id[2..])).expect("an object");
            }
        }
        let blob = git(&agent, &["rev-parse", "HEAD:src/c"]).trim().to_string();
        let blob = agent.join(".git/objects").join(&blob[..2]).join(&blob[2..]);
        fs::remove_file(blob).expect("an object");
        assert!(user.objects().take(&agent, &head), "all that is asked for is there");
        let reference = "refs/assay/desk/x/0001";
        assert!(user.fetch(&agent, &head, reference).is_err(), "git says that it is not whole");
        assert!(user.revision(reference).is_err(), "nothing is kept of it");
    }

    #[test]
    fn a_repository_that_borrows_from_others_is_left_to_git() {
        let home = tempfile::tempdir().expect("a directory");
        let (user, agent, head) = pair(home.path());
        let path = agent.join(".git/objects/info/alternates");
        let ours = fs::read_to_string(&path).expect("a line");
        fs::write(&path, format!("{ours}/elsewhere\n")).expect("a file");
        assert!(!user.objects().take(&agent, &head));
        fs::remove_file(&path).expect("a file");
        std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
        assert!(!user.objects().take(&agent, &head));
    }
}
