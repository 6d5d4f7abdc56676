//! Working trees for agents and checks: each with a repository of its own that borrows the user's
//! objects, so that nothing an agent does to its `.git` reaches the user's.

use super::git::{self, Git, GitError};
use std::fs;
use std::path::Path;

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
    fs::create_dir_all(directory).ok();
    let mut init = git::command(directory);
    init.args(["init", "-q", "--template=", "."]);
    git::finish(init, "init")?;
    let objects = user.directory().join("objects");
    let (name, email) = user.identity();
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let settings =
        format!("[user]\n\tname = \"{}\"\n\temail = \"{}\"\n", quoted(name), quoted(email));
    let write = |path: std::path::PathBuf, text: String, append: bool| {
        let before =
            if append { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        fs::write(&path, before + &text).map_err(|error| GitError::file(&path, &error))
    };
    fs::create_dir_all(own.join("objects/info")).ok();
    write(own.join("objects/info/alternates"), format!("{}\n", objects.display()), false)?;
    write(own.join("config"), settings, true)?;
    let mut checkout = git::command(directory);
    checkout.args(["checkout", "-q", "-f", "--detach", commit]);
    git::finish(checkout, "checkout")?;
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
    for path in paths {
        let there = user.run(&["cat-file", "-e", &format!("{from}:{path}")]).is_ok();
        let mut git = git::command(directory);
        if there {
            git.args(["checkout", "-q", from, "--", path]);
        } else {
            git.args(["rm", "-q", "-f", "--ignore-unmatch", "--", path]);
        }
        git::finish(git, "checkout")?;
    }
    Ok(())
}

/// Takes a change back in a working tree.
pub(super) fn take_back(directory: &Path, patch: &Path) -> Result<(), GitError> {
    let mut git = git::command(directory);
    git.args(["apply", "-R", "--unidiff-zero", "--whitespace=nowarn"]).arg(patch);
    git::finish(git, "apply").map(drop)
}
