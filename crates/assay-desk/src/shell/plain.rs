//! Files of a commit, written without starting git where writing them is all that git would do.
//!
//! An iteration of a campaign makes five working trees or more, and a process of git for each was
//! most of what the Leader needed. Git may do more than write: attributes change line ends and run
//! filters, settings do, too, and submodules are fetched. Wherever there may be anything of the
//! kind, or a name that needs a second look, git does it all. Nothing here is ever written over
//! something: a tree in which one name leads through another ends at git as well, which says why it
//! cannot be.

use super::git::Git;
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Mode, Stat};
use gix::index::fs::Metadata;
use gix::objs::tree::EntryKind;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

/// More files than this are git's affair: then its start is no longer what takes the time.
const FILES_MAX: usize = 1_000;
/// So are more directories, each as often as it is named.
const TREES_MAX: usize = 4_000;
/// So is a larger file: it would be in memory as a whole.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Where files say what is to be done to others.
const ATTRIBUTES: &[u8] = b".gitattributes";

/// A commit that is only files.
pub(super) struct Plain {
    repository: gix::Repository,
    index: gix::index::State,
    commit: String,
}

impl Plain {
    /// The files of a commit; nothing if git has to write them.
    pub(super) fn of(user: &Git, commit: &str) -> Option<Plain> {
        user.writes_plainly().then_some(())?;
        let repository = user.repository();
        let id = ObjectId::from_hex(commit.as_bytes()).ok()?;
        let tree = repository.find_commit(id).ok()?.tree_id().ok()?;
        // Before anything holds all of it: a few trees that name each other can be any number.
        match size(&repository, tree.detach())? {
            Size::Plain => {}
            Size::Large => {
                user.leave_to_git();
                return None;
            }
        }
        let (index, _) = repository.index_from_tree(&tree).ok()?.into_parts();
        for entry in index.entries() {
            let is_small = repository.find_header(entry.id).ok()?.size() <= FILE_BYTES_MAX;
            is_small.then_some(())?;
        }
        Some(Plain { repository, index, commit: commit.to_string() })
    }

    /// The same with some files as another commit has them; those that it does not have are gone.
    pub(super) fn over(mut self, user: &Git, commit: &str, paths: &[String]) -> Option<Plain> {
        let other = Plain::of(user, commit)?.index;
        // A name that is no text is not known here as it is.
        let is_known = |path: &String| !path.contains(char::REPLACEMENT_CHARACTER);
        paths.iter().all(is_known).then_some(())?;
        let changed: HashSet<&[u8]> = paths.iter().map(String::as_bytes).collect();
        // A file that is a directory in the other one is more than is named.
        let is_below = |path: &BStr| {
            let mut ends = path.find_iter("/");
            ends.any(|end| changed.contains(&path.as_bytes()[..end]))
        };
        for index in [&self.index, &other] {
            (!index.entries().iter().any(|entry| is_below(entry.path(index)))).then_some(())?;
        }
        self.index.remove_entries(|_, path, _| changed.contains(path.as_bytes()));
        for entry in other.entries() {
            let path = entry.path(&other);
            if changed.contains(path.as_bytes()) {
                let (id, flags, mode) = (entry.id, entry.flags, entry.mode);
                self.index.dangerously_push_entry(Stat::default(), id, flags, mode, path);
            }
        }
        self.index.sort_entries();
        Some(self)
    }

    /// What git calls the tree of these files; it is among the user's objects then.
    pub(super) fn tree(&self) -> Option<String> {
        let entries: Vec<Leaf<'_>> = self
            .index
            .entries()
            .iter()
            .map(|entry| (entry.path(&self.index).as_bytes(), entry.mode, entry.id))
            .collect();
        tree_of(&self.repository, &entries, 0).map(|id| id.to_string())
    }

    /// Writes them into a new directory with an empty repository, which then has the commit checked
    /// out. Nothing: it could not be done, and what is there is of no use.
    pub(super) fn write(mut self, directory: &Path) -> Option<()> {
        let repository = &self.repository;
        let mut made = HashSet::new();
        for (entry, path) in self.index.entries_mut_with_paths() {
            let place = place(directory, path, &mut made)?;
            let object = repository.find_object(entry.id).ok()?;
            entry.stat = write_one(&place, entry.mode, &object.data)?;
        }
        let own = directory.join(".git");
        let mut bytes = Vec::new();
        let index = gix::index::File::from_state(self.index, own.join("index"));
        index.write_to(&mut bytes, gix::index::write::Options::default()).ok()?;
        fs::write(own.join("index"), bytes).ok()?;
        fs::write(own.join("HEAD"), format!("{}\n", self.commit)).ok()
    }
}

/// A file of a tree: its path, its kind, its bytes.
type Leaf<'a> = (&'a [u8], Mode, ObjectId);

/// The tree of files in the order of an index, all of them in one directory, whose name takes so
/// many bytes of each path.
fn tree_of(repository: &gix::Repository, mut files: &[Leaf<'_>], name: usize) -> Option<ObjectId> {
    let mut tree = gix::objs::Tree::empty();
    while let Some((path, mode, id)) = files.first() {
        let rest = &path[name..];
        let (filename, mode, oid, count) = match rest.find_byte(b'/') {
            None => (rest, mode.to_tree_entry_mode()?, *id, 1),
            Some(end) => {
                let below = &path[..=name + end];
                let count = files.iter().take_while(|(path, ..)| path.starts_with(below)).count();
                let oid = tree_of(repository, &files[..count], below.len())?;
                (&rest[..end], EntryKind::Tree.into(), oid, count)
            }
        };
        tree.entries.push(gix::objs::tree::Entry { mode, filename: filename.into(), oid });
        files = &files[count..];
    }
    tree.entries.sort();
    repository.write_object(&tree).ok().map(gix::Id::detach)
}

/// How much there is in a tree of plain files.
enum Size {
    Plain,
    Large,
}

/// Looks through a tree, so far and no farther; nothing if there is something in it that is not
/// just a file, or a name that git may refuse.
fn size(repository: &gix::Repository, tree: ObjectId) -> Option<Size> {
    let (mut open, mut trees, mut files) = (vec![tree], 0, 0);
    while let Some(tree) = open.pop() {
        trees += 1;
        (trees <= TREES_MAX).then_some(())?;
        for entry in repository.find_tree(tree).ok()?.iter() {
            let entry = entry.ok()?;
            let name = entry.filename();
            // What follows a backslash counts for git as a name of its own.
            (name != ATTRIBUTES && !name.contains(&b'\\')).then_some(())?;
            match entry.mode().kind() {
                EntryKind::Tree => open.push(entry.object_id()),
                EntryKind::Commit => return None,
                EntryKind::Blob | EntryKind::BlobExecutable | EntryKind::Link => files += 1,
            }
        }
        if files > FILES_MAX {
            return Some(Size::Large);
        }
    }
    Some(Size::Plain)
}

/// Where a file is to be, with the directories that lead to it: those that are not made here are
/// none of ours.
fn place(directory: &Path, path: &BStr, made: &mut HashSet<PathBuf>) -> Option<PathBuf> {
    let mut at = directory.to_path_buf();
    let mut names = path.split_str("/").peekable();
    while let Some(name) = names.next() {
        at.push(name.to_os_str().ok()?);
        if names.peek().is_some() && !made.contains(&at) {
            fs::create_dir(&at).ok()?;
            made.insert(at.clone());
        }
    }
    Some(at)
}

/// Writes one, and gives what an index says of it.
fn write_one(place: &Path, mode: Mode, bytes: &[u8]) -> Option<Stat> {
    if mode == Mode::SYMLINK {
        symlink(bytes.to_os_str().ok()?, place).ok()?;
        return Stat::from_fs(&Metadata::from_path_no_follow(place).ok()?).ok();
    }
    let rights = if mode == Mode::FILE_EXECUTABLE { 0o777 } else { 0o666 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(rights).open(place).ok()?;
    file.write_all(bytes).ok()?;
    Stat::from_fs(&Metadata::from_file(&file).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::super::git::{Git, command, finish};
    use super::super::trees::{Keep, Over, checked_out_by_git, overlay, prepare, prepare_over};
    use super::{FILES_MAX, Plain};
    use std::ffi::OsStr;
    use std::fs;
    use std::io::Write;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};
    use std::process::Stdio;

    fn git(directory: &Path, args: &[&str]) -> String {
        let mut git = command(directory);
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(args);
        String::from_utf8_lossy(&finish(git, args[0]).expect("git does it")).into_owned()
    }

    /// Everything below a directory but repositories: paths, kinds, rights and bytes.
    fn seen(top: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let (mut open, mut all) = (vec![top.to_path_buf()], Vec::new());
        while let Some(at) = open.pop() {
            for entry in fs::read_dir(&at).expect("a directory").map(|entry| entry.expect("one")) {
                let (path, meta) = (entry.path(), entry.metadata().expect("it is there"));
                if entry.file_name() == ".git" {
                    continue;
                }
                let bytes = match () {
                    () if meta.is_dir() => Vec::new(),
                    () if meta.is_symlink() => {
                        fs::read_link(&path).expect("a link").as_os_str().as_bytes().to_vec()
                    }
                    () => fs::read(&path).expect("a file"),
                };
                if meta.is_dir() {
                    open.push(path.clone());
                }
                let below = path.strip_prefix(top).expect("below").to_path_buf();
                all.push((below, meta.permissions().mode(), bytes));
            }
        }
        all.sort();
        all
    }

    /// What a repository is made of, and whether it can be written without git.
    type Case = (&'static str, bool, fn(&Path));

    const CASES: [Case; 8] = [
        ("nothing but files", true, |_| {}),
        ("no files at all", true, |at| {
            git(at, &["rm", "-rqf", "."]);
        }),
        ("names of all kinds", true, |at| {
            for name in [&b"a b"[..], b"two\nlines", b"\xff\xfe", b"-q", b"*"] {
                fs::write(at.join(OsStr::from_bytes(name)), name).expect("a file");
            }
        }),
        ("programs and links", true, |at| {
            fs::write(at.join("run"), "1\n").expect("a file");
            fs::set_permissions(at.join("run"), fs::Permissions::from_mode(0o755)).expect("ours");
            symlink("/elsewhere", at.join("src/link")).expect("a link");
            symlink("deep", at.join("src/deeper")).expect("a link");
        }),
        ("bytes that are no text", true, |at| {
            let bytes: Vec<u8> = (0..100_000u32).map(|n| (n % 251) as u8).collect();
            fs::write(at.join("bytes"), bytes).expect("a file");
            fs::write(at.join("dos"), "1\r\n2\r\n").expect("a file");
        }),
        ("attributes", false, |at| {
            fs::write(at.join(".gitattributes"), "* text eol=crlf\n").expect("a file");
        }),
        ("attributes farther down", false, |at| {
            fs::write(at.join("src/deep/.gitattributes"), "* ident\n").expect("a file");
        }),
        ("settings", false, |at| {
            git(at, &["config", "core.autocrlf", "true"]);
        }),
    ];

    #[test]
    fn a_tree_that_git_has_not_written_is_one_that_git_would_have() {
        for (what, is_plain, change) in CASES {
            let home = tempfile::tempdir().expect("a directory");
            let at = home.path().join("user");
            fs::create_dir_all(at.join("src/deep")).expect("a directory");
            for path in ["a", "src/b", "src/deep/c", "empty"] {
                let text = if path == "empty" { "" } else { path };
                fs::write(at.join(path), text).expect("a file");
            }
            git(&at, &["init", "-q"]);
            git(&at, &["add", "-A"]);
            change(&at);
            git(&at, &["add", "-A"]);
            git(&at, &["commit", "-q", "--allow-empty", "-m", "Begin"]);
            let user = Git::find(&at).expect("a repository");
            let commit = user.revision("HEAD").expect("a commit").commit;
            // Settings of this machine may leave all of it to git.
            let is_plain = is_plain && user.writes_plainly();
            assert_eq!(Plain::of(&user, &commit).is_some(), is_plain, "{what}");
            let (ours, gits) = (home.path().join("trees/ours"), home.path().join("trees/gits"));
            prepare(&user, &ours, &commit, Keep::Named(&[])).expect("a tree");
            checked_out_by_git(&user, &gits, &commit).expect("a tree");
            assert_eq!(seen(&ours), seen(&gits), "{what}");
            for args in [
                &["status", "--porcelain=v2", "--branch", "-uall", "--ignored"][..],
                &["ls-files", "--stage", "-z"],
                &["rev-parse", "HEAD"],
                &["symbolic-ref", "-q", "HEAD"],
            ] {
                let said = |tree: &Path| {
                    let output = command(tree).args(args).output().expect("git runs");
                    (output.status.code(), output.stdout)
                };
                assert_eq!(said(&ours), said(&gits), "{what}: {args:?}");
            }
            assert!(git(&ours, &["status", "--porcelain"]).is_empty(), "{what}");
            // Whoever works there goes on as usual.
            fs::write(ours.join("more"), "1\n").expect("a file");
            git(&ours, &["add", "-A"]);
            git(&ours, &["commit", "-qm", "Go on"]);
            let changed = git(&ours, &["show", "--name-only", "--format=", "HEAD"]);
            assert_eq!(changed, "more\n", "{what}");
        }
    }

    /// What changes between two commits, and which of it is laid over the older one; whether that
    /// takes no git.
    type Layer = (&'static str, &'static [&'static str], fn(&Path), bool);

    const LAYERS: [Layer; 7] = [
        (
            "a directory in place of a file",
            &["a"],
            |at| {
                fs::remove_file(at.join("a")).expect("a file");
                write(at, "a/mod", "2");
            },
            false,
        ),
        ("nothing", &[], |at| write(at, "a", "2"), true),
        ("a file that changed", &["src/b"], |at| write(at, "src/b", "2"), true),
        (
            "one of two that changed",
            &["a"],
            |at| {
                write(at, "a", "2");
                write(at, "src/b", "2");
            },
            true,
        ),
        (
            "new ones in new places",
            &["t/deep/x", "src/b.x", "src/b0"],
            |at| {
                for path in ["t/deep/x", "src/b.x", "src/b0", "src/not"] {
                    write(at, path, path);
                }
            },
            true,
        ),
        (
            "some that are gone",
            &["src/deep/c", "empty", "never"],
            |at| {
                for path in ["src/deep/c", "empty"] {
                    fs::remove_file(at.join(path)).expect("a file");
                }
            },
            true,
        ),
        (
            "others, with attributes",
            &["a"],
            |at| {
                write(at, "a", "2\n");
                write(at, ".gitattributes", "* eol=crlf\n");
            },
            false,
        ),
    ];

    fn write(at: &Path, path: &str, text: &str) {
        let path = at.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn files_of_another_commit_are_laid_over_one_as_git_does_it() {
        for (what, paths, change, is_plain) in LAYERS {
            let home = tempfile::tempdir().expect("a directory");
            let at = home.path().join("user");
            for path in ["a", "src/b", "src/deep/c", "empty"] {
                write(&at, path, "1");
            }
            git(&at, &["init", "-q"]);
            git(&at, &["add", "-A"]);
            git(&at, &["commit", "-qm", "Begin"]);
            change(&at);
            git(&at, &["add", "-A"]);
            git(&at, &["commit", "-qm", "Go on"]);
            let user = Git::find(&at).expect("a repository");
            let revision = |name: &str| user.revision(name).expect("a commit").commit;
            let (old, new) = (revision("HEAD~1"), revision("HEAD"));
            let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
            let over = Over { commit: &new, paths: &paths };
            let (ours, gits) = (home.path().join("trees/ours"), home.path().join("trees/gits"));
            let tree = prepare_over(&user, &ours, &old, over, Keep::Named(&[])).expect("a tree");
            let tree = tree.expect("nothing is in the way");
            let is_plain = is_plain && user.writes_plainly();
            assert_eq!(tree.is_some(), is_plain, "{what}");
            checked_out_by_git(&user, &gits, &old).expect("a tree");
            overlay(&user, &gits, over).expect("nothing is in the way");
            assert_eq!(seen(&ours), seen(&gits), "{what}");
            let index = ["ls-files", "--stage", "-z"];
            assert_eq!(git(&ours, &index), git(&gits, &index), "{what}");
            let (known, written) = (tree.unwrap_or_default(), git(&gits, &["write-tree"]));
            assert!(!is_plain || known == written.trim(), "{what}: {known} is not {written}");
        }
    }

    #[test]
    fn what_has_too_many_files_is_left_to_git_from_then_on() {
        let home = tempfile::tempdir().expect("a directory");
        let at = home.path();
        for number in 0..=FILES_MAX {
            write(at, &format!("{number}"), "");
        }
        git(at, &["init", "-q"]);
        git(at, &["add", "-A"]);
        git(at, &["commit", "-qm", "Begin"]);
        git(at, &["rm", "-qf", "0"]);
        git(at, &["commit", "-qm", "One less"]);
        let commit = |user: &Git, name: &str| user.revision(name).expect("a commit").commit;
        let user = Git::find(at).expect("a repository");
        let is_plain = user.writes_plainly();
        assert_eq!(
            Plain::of(&user, &commit(&user, "HEAD")).is_some(),
            is_plain,
            "as many as may be"
        );
        assert!(Plain::of(&user, &commit(&user, "HEAD~1")).is_none(), "one more");
        assert!(Plain::of(&user, &commit(&user, "HEAD")).is_none(), "nobody counts again");
    }

    /// An object of a repository, of bytes that git would not make by itself.
    fn object(at: &Path, kind: &str, bytes: &[u8]) -> String {
        let mut git = command(at);
        git.args(["hash-object", "-w", "--literally", "-t", kind, "--stdin"]);
        let mut child = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git runs");
        child.stdin.take().expect("piped").write_all(bytes).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{kind}");
        String::from_utf8(output.stdout).expect("text").trim().to_string()
    }

    #[test]
    fn nothing_is_written_through_a_link_or_into_a_repository() {
        let home = tempfile::tempdir().expect("a directory");
        let (at, outside) = (home.path().join("user"), home.path().join("outside"));
        for path in [&at, &outside] {
            fs::create_dir(path).expect("a directory");
        }
        git(&at, &["init", "-q"]);
        let raw = |id: &str| -> Vec<u8> {
            let digit = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("hex");
            (0..id.len()).step_by(2).map(digit).collect()
        };
        let entry = |mode: &str, name: &str, id: &str| {
            [format!("{mode} {name}\0").as_bytes(), &raw(id)].concat()
        };
        let text = object(&at, "blob", b"planted\n");
        let target = outside.display().to_string();
        let link = object(&at, "blob", target.as_bytes());
        let below = object(&at, "tree", &entry("100644", "x", &text));
        // Ten levels, each of which names the next a hundred times, with a file or nothing below.
        let bomb = |bottom: Vec<u8>| {
            (0..10).fold(bottom, |below, _| {
                let below = object(&at, "tree", &below);
                (0..100).flat_map(|n| entry("40000", &format!("{n:02}"), &below)).collect()
            })
        };
        let trees = [
            ([entry("120000", "a", &link), entry("40000", "a", &below)].concat(), true),
            ([entry("40000", "a", &below), entry("120000", "a", &link)].concat(), true),
            (entry("40000", ".git", &below), false),
            (entry("40000", ".GIT", &below), false),
            (entry("40000", "..", &below), false),
            (entry("100644", ".git\\x", &text), false),
            (entry("100644", "git~1\\x", &text), false),
            (entry("100644", "a\\.git", &text), false),
            (entry("100644", "../outside/x", &text), false),
            (entry("160000", "module", &text), false),
        ];
        for bottom in [Vec::new(), entry("100644", "x", &text)] {
            let tree = object(&at, "tree", &bomb(bottom));
            let repository = gix::open(&at).expect("a repository");
            let tree = gix::ObjectId::from_hex(tree.as_bytes()).expect("an id");
            assert!(!matches!(super::size(&repository, tree), Some(super::Size::Plain)));
        }
        for (tree, is_known) in trees {
            let tree = object(&at, "tree", &tree);
            let who = "t <t@localhost> 0 +0000";
            let commit = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nBegin\n");
            let commit = object(&at, "commit", commit.as_bytes());
            let user = Git::find(&at).expect("a repository");
            let directory = home.path().join("trees/check");
            let plain = Plain::of(&user, &commit);
            assert_eq!(plain.is_some(), is_known && user.writes_plainly(), "{tree}");
            if let Some(plain) = plain {
                fs::create_dir_all(directory.join(".git")).expect("a directory");
                assert!(plain.write(&directory).is_none(), "{tree}");
            }
            // Whatever git makes of it, it is in the directory.
            let made = prepare(&user, &directory, &commit, Keep::Named(&[]));
            assert_eq!(fs::read_dir(&outside).expect("a directory").count(), 0, "{tree} {made:?}");
            assert!(!directory.join(".git/x").exists(), "{tree} {made:?}");
        }
    }
}
