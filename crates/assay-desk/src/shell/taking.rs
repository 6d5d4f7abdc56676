//! Taking a commit out of an agent's repository without starting git.
//!
//! A claim is mostly a commit and a handful of objects. `git fetch` starts five processes for it,
//! which is a fifth of what the Leader needs for an iteration. Here the objects are copied one by
//! one, each under the name its bytes have, children before parents: so an object that is there has
//! everything below it, whenever this was interrupted. Nothing of the agent's repository but its
//! objects is looked at. Whatever is unusual is left to git.

use super::objects::Objects;
use gix::ObjectId;
use gix::objs::{CommitRefIter, Find, Kind, TreeRefIter, Write};
use gix::odb::Header;
use gix::refs::transaction::PreviousValue;
use std::path::Path;

/// More objects than this are git's affair.
const OBJECTS_MAX: usize = 20_000;
/// Larger ones, too.
const OBJECT_BYTES_MAX: u64 = 64 << 20;

/// What is to be done about an object.
enum Todo {
    /// It is looked at: whether it is there, and what it needs.
    Look(ObjectId),
    /// Everything it needs is there.
    Write(ObjectId, Kind, Vec<u8>),
}

impl Objects {
    /// Copies a commit and what it needs, and keeps it by a reference. `false`: git has to do it;
    /// what was copied until then does no harm.
    pub fn take(&self, from: &Path, commit: &str, reference: &str) -> bool {
        self.taken(from, commit, reference).is_some()
    }

    fn taken(&self, from: &Path, commit: &str, reference: &str) -> Option<()> {
        let repository = self.repository();
        let hash = repository.object_hash();
        let commit = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let theirs = gix::odb::at(from.join(".git/objects"), hash).ok()?;
        let known = repository.try_find_header(commit).ok()?.map(|header| header.kind());
        let kind = match known {
            Some(kind) => kind,
            None => theirs.try_header(&commit).ok()??.kind(),
        };
        (kind == Kind::Commit).then_some(())?;
        let mut todo = vec![Todo::Look(commit)];
        let mut looked = 0;
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
            let header = theirs.try_header(&id).ok()??;
            if looked > OBJECTS_MAX || header.size() > OBJECT_BYTES_MAX {
                return None;
            }
            let mut data = Vec::new();
            let kind = theirs.try_find(&id, &mut data).ok()??.kind;
            let needs = needed(kind, &data, hash)?;
            todo.push(Todo::Write(id, kind, data));
            todo.extend(needs.into_iter().map(Todo::Look));
        }
        let name = reference.to_string();
        repository.reference(name, commit, PreviousValue::Any, "claimed").ok().map(drop)
    }
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
        assert!(user.objects().take(&agent, &head, "refs/assay/desk/x/0001"));
        let at = git(user.root(), &["rev-parse", "refs/assay/desk/x/0001"]);
        assert_eq!(at.trim(), head);
        git(user.root(), &["fsck", "--strict", "--connectivity-only", &head]);
        let files = git(user.root(), &["ls-tree", "-r", "--name-only", &head]);
        assert_eq!(files, "a\nsrc/c\nsrc/deep/b\n");
        let packed = git(&agent, &["repack", "-qad"]);
        assert_eq!(packed, "");
        assert!(user.objects().take(&agent, &head, "refs/assay/desk/x/0002"), "again, from a pack");
    }

    #[test]
    fn what_is_missing_named_otherwise_or_no_commit_is_left_to_git() {
        let home = tempfile::tempdir().expect("a directory");
        let (user, agent, head) = pair(home.path());
        let tree = git(&agent, &["rev-parse", "HEAD^{tree}"]).trim().to_string();
        let reference = "refs/assay/desk/x/0001";
        for claimed in [&"0".repeat(40), "HEAD", &tree] {
            assert!(!user.objects().take(&agent, claimed, reference), "{claimed}");
        }
        // An object whose bytes are those of another.
        let object = |name: &str| {
            let id = git(&agent, &["rev-parse", name]).trim().to_string();
            agent.join(".git/objects").join(&id[..2]).join(&id[2..])
        };
        let (b, c) = (object("HEAD:src/deep/b"), object("HEAD:src/c"));
        fs::remove_file(&b).expect("a file");
        fs::copy(&c, &b).expect("a file");
        assert!(!user.objects().take(&agent, &head, reference), "a blob of another name");
        fs::remove_file(&b).expect("a file");
        assert!(!user.objects().take(&agent, &head, reference), "a blob that is not there");
        assert!(user.revision(reference).is_err(), "nothing is kept of it");
    }
}
