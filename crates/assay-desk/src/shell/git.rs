//! Git, as a program: objects, differences, branches. Hooks and settings of agents never run.

use super::left;
use super::objects::Objects;
use crate::event::Revision;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// A git repository that belongs to the user.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
    directory: PathBuf,
    objects: Objects,
    /// Asked for once: it is needed for every working tree.
    identity: OnceLock<(String, String)>,
    /// The same.
    plain: OnceLock<bool>,
    /// The same.
    ignores: OnceLock<Option<String>>,
    /// Set once it had too many files to be written here: it is not counted for each tree again.
    large: OnceLock<()>,
}

/// Git said no.
#[derive(Debug, thiserror::Error)]
#[error("git {what}: {why}")]
pub struct GitError {
    what: String,
    why: String,
}

/// Variables that would make git look elsewhere, or print other things.
const FOREIGN: [&str; 17] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_ATTR_SOURCE",
    "GIT_DIFF_OPTS",
    "GIT_EXTERNAL_DIFF",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];
/// How long one call of git may take.
const TIME_MAX: Duration = Duration::from_secs(600);
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// Settings, each of which may make files other than they are committed.
const CHANGING: [&str; 9] = [
    "attr.tree",
    "core.attributesfile",
    "core.autocrlf",
    "core.eol",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.sparsecheckout",
    "core.symlinks",
];

/// Git in a directory, without anybody's hooks.
pub(super) fn command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory).stdin(Stdio::null());
    for variable in FOREIGN {
        command.env_remove(variable);
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    // A repository of an agent may say that its objects are elsewhere, and by which program.
    command.env("GIT_NO_LAZY_FETCH", "1");
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// Git that makes trees and compares them, or whose output is read by a program: settings of the
/// user and of the machine say how people like it, and whoever may write to a home directory could
/// say there what files are to hold. What stands in commits decides, and the repository that is
/// worked with.
pub(super) fn strict(directory: &Path) -> Command {
    let mut command = command(directory);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.env("GIT_ATTR_NOSYSTEM", "1").args(["-c", "core.attributesFile=/dev/null"]);
    command
}

/// Runs it and gives its output. Whatever it meets in a directory of an agent, it comes to an end.
pub(super) fn finish(mut command: Command, what: &str) -> Result<Vec<u8>, GitError> {
    let error = |why: String| GitError { what: what.to_string(), why };
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| error(e.to_string()))?;
    let (tell, heard) = channel();
    if let Some(out) = child.stdout.take() {
        listen(out, true, tell.clone());
    }
    if let Some(err) = child.stderr.take() {
        listen(err, false, tell);
    }
    let until = Instant::now() + TIME_MAX;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((true, bytes)) => out = bytes,
            Ok((false, bytes)) => err = bytes,
            Err(_) => {
                _ = child.kill();
                _ = child.wait();
                return Err(error(format!("no end after {} s", TIME_MAX.as_secs())));
            }
        }
    }
    if !child.wait().map_err(|e| error(e.to_string()))?.success() {
        let said = String::from_utf8_lossy(&err);
        return Err(error(said.trim().lines().last().unwrap_or("it failed").to_string()));
    }
    Ok(out)
}

/// Reads a stream to its end in a thread of its own.
fn listen(mut stream: impl Read + Send + 'static, out: bool, tell: Sender<(bool, Vec<u8>)>) {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        _ = stream.read_to_end(&mut bytes);
        // Nobody listens any more: it took too long.
        _ = tell.send((out, bytes));
    });
}

impl Git {
    /// The repository around a directory.
    pub fn find(directory: &Path) -> Result<Git, GitError> {
        let mut top = command(directory);
        top.args(["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"]);
        let said = text(finish(top, "rev-parse")?);
        let mut lines = said.lines().map(PathBuf::from);
        match (lines.next(), lines.next()) {
            (Some(root), Some(directory)) => {
                let objects = Objects::open(&root)?;
                let (identity, plain, large) = <(OnceLock<_>, OnceLock<_>, OnceLock<_>)>::default();
                let ignores = OnceLock::new();
                Ok(Git { root, directory, objects, identity, plain, ignores, large })
            }
            _ => Err(GitError { what: "rev-parse".into(), why: "no working tree here".into() }),
        }
    }

    /// The top of the working tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where its objects, settings and hooks are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, GitError> {
        let mut git = command(&self.root);
        git.args(args);
        let what = args.first().map(|arg| arg.as_ref().to_string_lossy().into_owned());
        Ok(text(finish(git, &what.unwrap_or_default())?))
    }

    /// Git that settings of the repository still reach, so what they can change is said in the
    /// arguments. The repository is named, so that nobody has to be asked whether it is safe.
    fn parsed(&self) -> Command {
        let mut git = strict(&self.root);
        git.env("GIT_DIR", &self.directory).env("GIT_WORK_TREE", &self.root);
        git
    }

    /// The same, run; its output as text.
    fn asked<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, GitError> {
        let mut git = self.parsed();
        git.args(args);
        let what = args.first().map(|arg| arg.as_ref().to_string_lossy().into_owned());
        Ok(text(finish(git, &what.unwrap_or_default())?))
    }

    /// Its objects, to be read.
    pub(super) fn repository(&self) -> gix::Repository {
        self.objects.repository()
    }

    /// Whether git writes files here as they are committed, as far as settings and files outside of
    /// commits say.
    pub(super) fn writes_plainly(&self) -> bool {
        self.large.get().is_none()
            && *self.plain.get_or_init(|| self.has_no_settings_of_files().unwrap_or(false))
    }

    /// From now on all trees of it are git's affair.
    pub(super) fn leave_to_git(&self) {
        _ = self.large.set(());
    }

    fn has_no_settings_of_files(&self) -> Result<bool, GitError> {
        let names = self.asked(&["config", "--list", "--name-only", "--show-scope"])?;
        // What the arguments say is said by the Leader.
        let own = names.lines().filter_map(|line| line.split_once('\t'));
        if own.filter(|(scope, _)| *scope != "command").any(|(_, name)| CHANGING.contains(&name)) {
            return Ok(false);
        }
        // Objects that stand for others do so only in the user's repository.
        Ok(self.asked(&["for-each-ref", "--count=1", "refs/replace/"])?.is_empty())
    }

    #[cfg(test)]
    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// A commit and its tree.
    pub fn revision(&self, name: &str) -> Result<Revision, GitError> {
        self.objects.revision(name)
    }

    /// Whether one commit is behind another.
    pub fn is_ancestor(&self, old: &str, new: &str) -> bool {
        self.objects.is_ancestor(old, new)
    }

    /// Paths that differ between two commits, with the mode they have now.
    pub fn changed(&self, old: &str, new: &str) -> Result<Vec<(String, String)>, GitError> {
        self.objects.changed(old, new)
    }

    /// Whether a commit has a file at a path.
    pub(super) fn has(&self, commit: &str, path: &str) -> bool {
        self.objects.has(commit, path)
    }

    /// Whether a directory holds the files of a tree and no others, as far as can be said without
    /// asking git.
    pub(super) fn is_exactly(&self, directory: &Path, tree: &str) -> bool {
        self.objects.is_exactly(directory, tree)
    }

    /// The files of a commit.
    pub fn files(&self, commit: &str) -> Result<Vec<String>, GitError> {
        self.objects.files(commit)
    }

    /// Whether a commit has a word in a text, files of these patterns aside.
    pub fn mentions(&self, commit: &str, word: &str, aside: &[String]) -> Result<bool, GitError> {
        let mut git = self.parsed();
        git.args(["grep", "-q", "-I", "-w", "-F", "-e", word, commit, "--", "."]);
        git.args(aside.iter().map(|pattern| format!(":(exclude,glob){pattern}")));
        let output = git.output().map_err(|e| GitError::new("grep", e.to_string()))?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_string();
                Err(GitError::new("grep", why))
            }
        }
    }

    /// The lines that differ, without those around them.
    pub fn diff(&self, old: &str, new: &str) -> Result<String, GitError> {
        let mut git = self.parsed();
        git.args(["diff", "-U0", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/"]);
        git.args(["--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative"]);
        git.args(["--submodule=short", "--ignore-submodules=none", old, new]);
        Ok(text(finish(git, "diff")?))
    }

    /// How much differs, for people.
    pub fn stat(&self, old: &str, new: &str) -> Result<String, GitError> {
        self.run(&["diff", "--stat", "--no-ext-diff", old, new])
    }

    /// Copies a commit from a repository of an agent, and keeps it by a reference.
    pub fn fetch(&self, from: &Path, commit: &str, reference: &str) -> Result<(), GitError> {
        if self.objects.take(from, commit) && self.is_whole(commit) {
            return self.objects.keep(commit, reference);
        }
        let spec = format!("+{commit}:{reference}");
        let from = from.display().to_string();
        let args = ["-c", "protocol.file.allow=always", "fetch", "-q", "--no-tags"];
        let more = ["--no-write-fetch-head", "--no-recurse-submodules", &from, &spec];
        self.asked(&[args.as_slice(), &more].concat()).map(drop)
    }

    /// Whether everything below a commit is there, as git sees it.
    fn is_whole(&self, commit: &str) -> bool {
        self.asked(&["rev-list", "--objects", "--quiet", commit, "--not", "--all"]).is_ok()
    }

    /// The working tree of the user in which a branch is checked out, if it is in one.
    pub(super) fn standing_on(&self, reference: &str) -> Result<Option<PathBuf>, GitError> {
        let all = self.run(&["worktree", "list", "--porcelain"])?;
        let branch = format!("branch {reference}");
        let one = all.split("\n\n").find(|one| one.lines().any(|line| line == branch));
        let place = one.and_then(|one| one.lines().find_map(|line| line.strip_prefix("worktree ")));
        Ok(place.map(PathBuf::from))
    }

    /// Moves a reference.
    pub fn point(&self, reference: &str, commit: &str) -> Result<(), GitError> {
        self.run(&["update-ref", reference, commit]).map(drop)
    }

    /// Removes all references below a name.
    pub fn forget(&self, below: &str) -> Result<(), GitError> {
        let all = self.run(&["for-each-ref", "--format=%(refname)", below])?;
        for reference in all.lines() {
            self.run(&["update-ref", "-d", reference])?;
        }
        Ok(())
    }

    /// What a directory would be as a tree, whatever its own repository says; mostly it is the one
    /// that is expected.
    pub fn tree_of(
        &self,
        directory: &Path,
        expected: &str,
        scratch: &Path,
    ) -> Result<String, GitError> {
        if self.is_exactly(directory, expected) {
            return Ok(expected.to_string());
        }
        let refused = |why: String| GitError::new("add", why);
        left::check(directory).map_err(refused)?;
        // A damaged index of an earlier call must not decide.
        _ = std::fs::remove_file(scratch);
        let run = |args: &[&str]| {
            let mut git = strict(directory);
            if let Some(ignores) = self.ignores() {
                git.args(["-c", &format!("core.excludesFile={ignores}")]);
            }
            git.env("GIT_DIR", &self.directory).env("GIT_WORK_TREE", directory);
            git.env("GIT_INDEX_FILE", scratch).args(args);
            finish(git, args[0])
        };
        let named = run(&["ls-files", "-z", "--others", "--exclude-standard"])?;
        let names = named.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        left::check_files(directory, names.map(OsStr::from_bytes)).map_err(refused)?;
        run(&["add", "-A", "--", "."])?;
        let tree = text(run(&["write-tree"])?);
        _ = std::fs::remove_file(scratch);
        Ok(tree.trim().to_string())
    }

    /// Asks for what the settings of the user say, before anybody else is let at them.
    pub(super) fn settle(&self) {
        _ = (self.identity(), self.ignores());
    }

    /// Where the user says what is nobody's work, such as files of an editor, if that is not the
    /// usual place.
    fn ignores(&self) -> Option<&str> {
        let asked = || {
            let said = self.run(&["config", "--type=path", "--get", "core.excludesFile"]);
            said.ok().map(|said| said.trim_end_matches('\n').to_string())
        };
        self.ignores.get_or_init(asked).as_deref()
    }

    /// What is changed or new in the user's own working tree, as one text.
    pub fn status(&self) -> Result<String, GitError> {
        self.run(&["status", "--porcelain=v1", "-uall", "--ignore-submodules=all"])
    }

    /// The name and address that commits here would have.
    pub fn identity(&self) -> &(String, String) {
        let get = |key: &str, other: &str| match self.run(&["config", "--get", key]) {
            Ok(value) if !value.trim().is_empty() => value.trim().to_string(),
            _ => other.to_string(),
        };
        self.identity.get_or_init(|| {
            (get("user.name", "Assay Worker"), get("user.email", "worker@assay.invalid"))
        })
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

impl GitError {
    pub(super) fn new(what: &str, why: String) -> GitError {
        GitError { what: what.to_string(), why }
    }

    pub(super) fn file(path: &Path, error: &std::io::Error) -> GitError {
        GitError { what: format!("tree {}", path.display()), why: error.to_string() }
    }
}
