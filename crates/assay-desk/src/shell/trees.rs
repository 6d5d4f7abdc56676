//! Working trees for agents and checks: each with a repository of its own that borrows the user's
//! objects, so that nothing an agent does to its `.git` reaches the user's.
//!
//! Settings of a repository are programs, and whoever worked in a tree has had its `.git`. So no
//! tree is ever made of an old one: the old one is renamed, which works whatever is in it, and a
//! new directory takes its place, in which git finds nothing that the Leader did not write. What is
//! to survive, builds that git ignores, is moved over afterwards. Removing the old one may fail; it
//! is in nobody's way.

use super::dispatch::nonce;
use super::git::{self, Git, GitError};
use super::left;
use super::plain::Plain;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Paths that one call of git is given; a command line has an end.
const PATHS_AT_ONCE: usize = 200;
/// Old trees that cannot be removed; where there are more, somebody has to look.
const OLD_MAX: usize = 1_000;
/// Ignored files and directories that are moved to the next tree; what is more is not kept.
const KEPT_MAX: usize = 10_000;
/// How old trees are called.
const OLD: &str = "old-";

/// What of an old tree is in the new one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep<'a> {
    /// All that git ignores: a Worker's builds.
    Ignored,
    /// Directories at the top, by name.
    Named(&'a [String]),
}

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The old one cannot be moved: it would be in the way each time.
    #[error("{} cannot be put aside: {why}; look at it, and remove it by hand", path.display())]
    Stuck {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Git, or a file.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Makes a directory the working tree of a commit.
pub(super) fn prepare(
    user: &Git,
    directory: &Path,
    commit: &str,
    keep: Keep<'_>,
) -> Result<(), TreeError> {
    fill(directory, keep, || make(user, directory, commit))
}

/// Files of another commit in the working tree of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Over<'a> {
    /// The other commit.
    pub commit: &'a str,
    /// Which files; those that it does not have are taken away.
    pub paths: &'a [String],
}

/// Makes a directory the working tree of a commit with some files of another one. Gives the tree
/// that this is, if it is known; what is in the way of the files is the inner error.
pub(super) fn prepare_over(
    user: &Git,
    directory: &Path,
    commit: &str,
    over: Over<'_>,
    keep: Keep<'_>,
) -> Result<Result<Option<String>, GitError>, TreeError> {
    let mut tree = None;
    fill(directory, keep, || {
        tree = make_over(user, directory, commit, over)?;
        Ok(())
    })?;
    if tree.is_none()
        && let Err(why) = overlay(user, directory, over)
    {
        return Ok(Err(why));
    }
    Ok(Ok(tree))
}

/// A new directory with what `make` puts there, and with what is to be kept of the old one.
fn fill(
    directory: &Path,
    keep: Keep<'_>,
    mut make: impl FnMut() -> Result<(), TreeError>,
) -> Result<(), TreeError> {
    let earlier = olds(directory);
    let old = put_aside(directory)?;
    std::thread::scope(|scope| {
        // Nobody waits for that but who would have nothing else to do.
        scope.spawn(|| earlier.iter().for_each(|path| remove(path)));
        make()?;
        let Some(old) = &old else { return Ok(()) };
        if !take_over(old, directory, keep) {
            // What was kept is in the way of the tree: then nothing is.
            put_aside(directory)?;
            make()?;
        }
        Ok(())
    })
}

/// Renames what stands at a place, if anything does. In the same directory: that needs no rights
/// in what is renamed. Nobody can know the new name: what runs next must not find in the old tree
/// what was left there for it.
pub(super) fn put_aside(directory: &Path) -> Result<Option<PathBuf>, TreeError> {
    if fs::symlink_metadata(directory).is_err() {
        return Ok(None);
    }
    let stuck = |why: String| TreeError::Stuck { path: directory.to_path_buf(), why };
    if olds(directory).len() >= OLD_MAX {
        return Err(stuck(format!("{OLD_MAX} old ones could not be removed")));
    }
    let free = unknown(directory, OLD)?;
    fs::rename(directory, &free).map_err(|error| stuck(error.to_string()))?;
    Ok(Some(free))
}

/// A name beside a tree that nobody can know.
pub(super) fn unknown(directory: &Path, begin: &str) -> Result<PathBuf, TreeError> {
    let end = nonce().map_err(|error| GitError::file(Path::new("/dev/urandom"), &error))?;
    Ok(directory.with_file_name(format!("{begin}{end}")))
}

/// The trees that were put aside beside one, and are still there.
fn olds(directory: &Path) -> Vec<PathBuf> {
    let beside = directory.parent().map(fs::read_dir);
    let entries = beside.into_iter().flatten().flatten().flatten();
    let is_old = |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(OLD.as_bytes());
    entries.filter(is_old).map(|entry| entry.path()).collect()
}

/// Removes the trees that were put aside beside one, as far as they can be.
pub(super) fn sweep(directory: &Path) {
    olds(directory).iter().for_each(|path| remove(path));
}

/// A new directory with a new repository and the files of a commit.
fn make(user: &Git, directory: &Path, commit: &str) -> Result<(), TreeError> {
    if let Some(plain) = Plain::of(user, commit) {
        found(user, directory)?;
        if plain.write(directory).is_some() {
            return Ok(());
        }
        // Git begins with nothing, and says what is wrong.
        remove(directory);
    }
    checked_out_by_git(user, directory, commit)
}

/// The same with files of another commit, if that takes no git; otherwise without them.
fn make_over(
    user: &Git,
    directory: &Path,
    commit: &str,
    over: Over<'_>,
) -> Result<Option<String>, TreeError> {
    let plain = Plain::of(user, commit).and_then(|plain| plain.over(user, over.commit, over.paths));
    if let Some((plain, tree)) = plain.and_then(|plain| plain.tree().map(|tree| (plain, tree))) {
        found(user, directory)?;
        if plain.write(directory).is_some() {
            return Ok(Some(tree));
        }
        remove(directory);
    }
    make(user, directory, commit).map(|()| None)
}

/// The tree of a commit by git itself, which can do all of it.
pub(super) fn checked_out_by_git(
    user: &Git,
    directory: &Path,
    commit: &str,
) -> Result<(), TreeError> {
    found(user, directory)?;
    let mut checkout = inside(directory, directory);
    checkout.args(["checkout", "-q", "-f", "--detach", commit]);
    git::finish(checkout, "checkout")?;
    Ok(())
}

/// A new directory with a new repository that has nothing of its own yet.
fn found(user: &Git, directory: &Path) -> Result<(), TreeError> {
    let own = directory.join(".git");
    if let Some(above) = directory.parent() {
        fs::create_dir_all(above).map_err(|error| GitError::file(above, &error))?;
    }
    // Neither may be there: what is there is somebody else's.
    for path in [directory, &own] {
        fs::create_dir(path).map_err(|error| GitError::file(path, &error))?;
    }
    for below in ["objects/info", "refs"] {
        let path = own.join(below);
        fs::create_dir_all(&path).map_err(|error| GitError::file(&path, &error))?;
    }
    let objects = user.directory().join("objects");
    let (name, email) = user.identity();
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let settings = format!(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
         [user]\n\tname = \"{}\"\n\temail = \"{}\"\n",
        quoted(name),
        quoted(email)
    );
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(|error| GitError::file(&path, &error))
    };
    write(own.join("objects/info/alternates"), &format!("{}\n", objects.display()))?;
    write(own.join("config"), &settings)?;
    // What `git init` would make; the checkout makes it a commit.
    write(own.join("HEAD"), "ref: refs/heads/main\n")?;
    Ok(())
}

/// Git with the repository of a tree, and with nothing but that: no file in it leads elsewhere.
fn inside(directory: &Path, work_tree: &Path) -> Command {
    let own = directory.join(".git");
    let mut command = git::strict(work_tree);
    command.env("GIT_DIR", &own).env("GIT_COMMON_DIR", &own).env("GIT_WORK_TREE", work_tree);
    command
}

/// Moves what is to be kept into a new tree. `false`: the new tree is not clean for it.
fn take_over(old: &Path, new: &Path, keep: Keep<'_>) -> bool {
    match keep {
        Keep::Named(names) => {
            for name in names {
                // What git, or somebody who looks, would wait for is not kept.
                let from = old.join(name);
                let is_plain = fs::symlink_metadata(&from).is_ok_and(|meta| meta.is_dir());
                if is_plain && left::check(&from).is_ok() {
                    take(old, new, Path::new(name));
                }
            }
            true
        }
        Keep::Ignored => {
            if left::check(old).is_err() {
                return true;
            }
            let taken = ignored(old, new);
            taken.iter().for_each(|path| take(old, new, path));
            // Rules of the old tree said what is ignored; in the new one others may hold.
            taken.is_empty() || {
                let mut clean = inside(new, new);
                clean.args(["clean", "-q", "-ff", "-d"]);
                git::finish(clean, "clean").is_ok()
            }
        }
    }
}

/// What git ignores in an old tree, asked of the repository of the new one.
fn ignored(old: &Path, new: &Path) -> Vec<PathBuf> {
    let mut list = inside(new, old);
    list.args(["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
    let Ok(names) = git::finish(list, "ls-files") else { return Vec::new() };
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let paths: Vec<PathBuf> =
        names.map(|name| PathBuf::from(OsStr::from_bytes(name))).take(KEPT_MAX + 1).collect();
    if paths.len() > KEPT_MAX { Vec::new() } else { paths }
}

/// Moves one path from an old tree to a new one, if nothing but directories lead to it in both and
/// nothing is there. What cannot be moved is built again.
fn take(old: &Path, new: &Path, path: &Path) {
    let parts: Vec<&OsStr> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let Some((last, above)) = parts.split_last() else { return };
    let (mut from, mut to) = (old.to_path_buf(), new.to_path_buf());
    for part in above {
        from.push(part);
        to.push(part);
        let is_directory = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
        if !is_directory(&from) {
            return;
        }
        // What is there already is looked at next.
        _ = fs::create_dir(&to);
        if !is_directory(&to) {
            return;
        }
    }
    let (from, to) = (from.join(last), to.join(last));
    if fs::symlink_metadata(&to).is_err() {
        _ = fs::rename(&from, &to);
    }
}

/// Removes a file or directory, if it is there, and opens directories that were closed for that.
/// Some things cannot be removed: whoever needs the place asks whether it is free.
pub(super) fn remove(path: &Path) {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if !is_directory {
        _ = fs::remove_file(path);
    } else if fs::remove_dir_all(path).is_err() {
        open_all(path);
        _ = fs::remove_dir_all(path);
    }
}

/// Lets their owner into all directories below a path.
fn open_all(path: &Path) {
    let mut open = vec![path.to_path_buf()];
    while let Some(path) = open.pop() {
        _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
        let entries: io::Result<fs::ReadDir> = fs::read_dir(&path);
        for entry in entries.into_iter().flatten().flatten() {
            // Not a link to one: that is somebody else's.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(entry.path());
            }
        }
    }
}

/// Puts the tests of a commit into a tree of another: what RED is run on.
pub(super) fn overlay(user: &Git, directory: &Path, over: Over<'_>) -> Result<(), GitError> {
    let Over { commit: from, paths } = over;
    let (there, gone): (Vec<&String>, Vec<&String>) =
        paths.iter().partition(|path| user.has(from, path));
    for some in there.chunks(PATHS_AT_ONCE) {
        let mut git = inside(directory, directory);
        git.args(["--literal-pathspecs", "checkout", "-q", from, "--"]).args(some);
        git::finish(git, "checkout")?;
    }
    for some in gone.chunks(PATHS_AT_ONCE) {
        let mut git = inside(directory, directory);
        git.args(["--literal-pathspecs", "rm", "-q", "-f", "--ignore-unmatch", "--"]).args(some);
        git::finish(git, "rm")?;
    }
    Ok(())
}

/// Takes a change back in a working tree.
pub(super) fn take_back(directory: &Path, patch: &Path) -> Result<(), GitError> {
    let mut git = inside(directory, directory);
    git.args(["apply", "-R", "--unidiff-zero", "--whitespace=nowarn"]).arg(patch);
    git::finish(git, "apply").map(drop)
}

#[cfg(test)]
mod tests {
    use super::{Keep, TreeError, prepare, remove, sweep};
    use crate::shell::git::{Git, command, finish};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    fn run(directory: &Path, args: &[&str]) {
        let mut git = command(directory);
        git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]).args(args);
        finish(git, args[0]).expect("git does it");
    }

    /// A repository of a user, and a place for trees.
    fn place() -> (tempfile::TempDir, Git, PathBuf) {
        let home = tempfile::tempdir().expect("a directory");
        let user = home.path().join("user");
        fs::create_dir_all(user.join("src")).expect("a directory");
        fs::write(user.join("src/a"), "1\n").expect("a file");
        fs::write(user.join(".gitignore"), "target\n*.log\n").expect("a file");
        run(&user, &["init", "-q"]);
        run(&user, &["add", "-A"]);
        run(&user, &["commit", "-qm", "Begin"]);
        let tree = home.path().join("trees/check");
        (home, Git::find(&user).expect("a repository"), tree)
    }

    fn head(user: &Git) -> String {
        user.revision("HEAD").expect("a commit").commit
    }

    fn filled(tree: &Path) {
        fs::create_dir_all(tree.join("target/deep")).expect("a directory");
        fs::create_dir(tree.join("other")).expect("a directory");
        for path in ["target/deep/built", "other/file", "src/x.log", ".git/planted", "src/a"] {
            fs::write(tree.join(path), "left").expect("a file");
        }
    }

    #[test]
    fn a_tree_is_a_new_one_with_what_was_to_be_kept() {
        let named = ["target".to_string(), "src".to_string(), "link".to_string()];
        let none: &[String] = &[];
        for (keep, built, log) in [
            (Keep::Ignored, true, true),
            (Keep::Named(&named), true, false),
            (Keep::Named(none), false, false),
        ] {
            let (home, user, tree) = place();
            for _ in 0..3 {
                prepare(&user, &tree, &head(&user), keep).expect("a tree");
                filled(&tree);
                symlink(home.path(), tree.join("link")).expect("a link");
            }
            prepare(&user, &tree, &head(&user), keep).expect("a tree");
            let there = |path: &str| fs::symlink_metadata(tree.join(path)).is_ok();
            assert_eq!((there("target/deep/built"), there("src/x.log")), (built, log), "{keep:?}");
            assert!(!there("other") && !there(".git/planted") && !there("link"), "{keep:?}");
            assert_eq!(fs::read_to_string(tree.join("src/a")).expect("a file"), "1\n");
            let beside = || fs::read_dir(home.path().join("trees")).expect("a directory").count();
            assert_eq!(beside(), 2, "all old ones but the last are gone");
            sweep(&tree);
            assert_eq!(beside(), 1, "old ones are gone");
        }
    }

    #[test]
    fn what_the_next_tree_does_not_ignore_is_not_kept() {
        let (_home, user, tree) = place();
        prepare(&user, &tree, &head(&user), Keep::Ignored).expect("a tree");
        fs::write(tree.join(".gitignore"), "*\n").expect("a file");
        fs::write(tree.join("stray"), "").expect("a file");
        prepare(&user, &tree, &head(&user), Keep::Ignored).expect("a tree");
        assert!(!tree.join("stray").exists());
        // A pipe would have to be waited for.
        filled(&tree);
        let made = Command::new("mkfifo").arg(tree.join("target/pipe")).status();
        assert!(made.expect("mkfifo runs").success());
        prepare(&user, &tree, &head(&user), Keep::Named(&["target".to_string()])).expect("a tree");
        assert!(!tree.join("target").exists());
    }

    /// Makes a file that cannot be removed, not even by root; whether that can be done here.
    fn fixed(path: &Path, how: &str) -> bool {
        let done = Command::new("chattr").arg(how).arg(path).output();
        done.is_ok_and(|done| done.status.success())
    }

    #[test]
    fn what_cannot_be_removed_is_put_aside_and_what_cannot_be_moved_is_told() {
        let (_home, user, tree) = place();
        prepare(&user, &tree, &head(&user), Keep::Named(&[])).expect("a tree");
        let planted = tree.join(".git/commondir");
        fs::write(&planted, "../ev\n").expect("a file");
        let can_fix = fixed(&planted, "+i");
        prepare(&user, &tree, &head(&user), Keep::Ignored).expect("a tree");
        assert!(!planted.exists(), "the new tree has nothing of it");
        let old = super::olds(&tree).pop().expect("it was put aside");
        sweep(&tree);
        assert_eq!(old.exists(), can_fix, "what can be removed is");
        fixed(&old.join(".git/commondir"), "-i");
        let above = tree.parent().expect("a directory");
        if !fixed(&tree, "+i") {
            fs::set_permissions(above, fs::Permissions::from_mode(0o555)).expect("ours");
            if fs::write(above.join("probe"), "").is_ok() {
                return eprintln!("SKIPPED: nothing is closed to root, and this disk has no +i");
            }
        }
        let refused = prepare(&user, &tree, &head(&user), Keep::Ignored);
        fixed(&tree, "-i");
        fs::set_permissions(above, fs::Permissions::from_mode(0o755)).expect("ours");
        assert!(matches!(refused, Err(TreeError::Stuck { .. })), "{refused:?}");
        prepare(&user, &tree, &head(&user), Keep::Ignored).expect("it can be moved again");
        assert!(!old.exists(), "and what was left before is removed");
    }

    #[test]
    fn closed_directories_are_opened_to_be_removed() {
        let home = tempfile::tempdir().expect("a directory");
        let top = home.path().join("top");
        fs::create_dir_all(top.join("a/b")).expect("a directory");
        for path in ["a/b", "a"] {
            fs::set_permissions(top.join(path), fs::Permissions::from_mode(0o000)).expect("ours");
        }
        remove(&top);
        assert!(!top.exists());
    }
}
