//! Working trees for agents and checks: each with a repository of its own that borrows the user's
//! objects, so that nothing an agent does to its `.git` reaches the user's.

use super::git::{self, Git, GitError};
use super::left;
use std::fs;
use std::path::Path;

/// Paths that one call of git is given; a command line has an end.
const PATHS_AT_ONCE: usize = 200;

/// Makes a directory the working tree of a commit. Files that git ignores stay if `keep` names
/// them; `None` keeps all of those, for a Worker's builds.
pub(super) fn prepare(
    user: &Git,
    directory: &Path,
    commit: &str,
    keep: Option<&[String]>,
) -> Result<(), GitError> {
    // The old repository may have been changed by whoever worked there: settings are programs.
    let own = directory.join(".git");
    remove(&own);
    if left::check(directory).is_err() {
        // Git would open what stands there, and wait.
        remove(directory);
    }
    for below in ["objects/info", "refs/heads", "refs/tags"] {
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
    let write = |path: std::path::PathBuf, text: &str| {
        fs::write(&path, text).map_err(|error| GitError::file(&path, &error))
    };
    write(own.join("objects/info/alternates"), &format!("{}\n", objects.display()))?;
    write(own.join("config"), &settings)?;
    // What `git init` would make; the checkout makes it a commit.
    write(own.join("HEAD"), "ref: refs/heads/main\n")?;
    let mut checkout = git::command(directory);
    checkout.args(["checkout", "-q", "-f", "--detach", commit]);
    git::finish(checkout, "checkout")?;
    if user.is_exactly(directory, &user.revision(commit)?.tree) {
        return Ok(());
    }
    let mut clean = git::command(directory);
    clean.args(["clean", "-q", "-ff", "-d"]);
    if let Some(keep) = keep {
        clean.arg("-x");
        for directory in keep {
            clean.args(["-e", directory]);
        }
    }
    git::finish(clean, "clean").map(drop)
}

/// Removes a file or directory, if it is there.
pub(super) fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        _ = fs::remove_dir_all(path);
    } else {
        _ = fs::remove_file(path);
    }
}

/// Puts the tests of a commit into a tree of another: what RED is run on.
pub(super) fn overlay(
    user: &Git,
    directory: &Path,
    from: &str,
    paths: &[String],
) -> Result<(), GitError> {
    let (there, gone): (Vec<&String>, Vec<&String>) =
        paths.iter().partition(|path| user.has(from, path));
    for some in there.chunks(PATHS_AT_ONCE) {
        let mut git = git::command(directory);
        git.args(["--literal-pathspecs", "checkout", "-q", from, "--"]).args(some);
        git::finish(git, "checkout")?;
    }
    for some in gone.chunks(PATHS_AT_ONCE) {
        let mut git = git::command(directory);
        git.args(["--literal-pathspecs", "rm", "-q", "-f", "--ignore-unmatch", "--"]).args(some);
        git::finish(git, "rm")?;
    }
    Ok(())
}

/// Takes a change back in a working tree.
pub(super) fn take_back(directory: &Path, patch: &Path) -> Result<(), GitError> {
    let mut git = git::command(directory);
    git.args(["apply", "-R", "--unidiff-zero", "--whitespace=nowarn"]).arg(patch);
    git::finish(git, "apply").map(drop)
}
