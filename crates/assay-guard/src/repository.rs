//! Two revisions of a repository as trees: only what differs is read.

use crate::config::Config;
use crate::tree::{FILE_BYTES_MAX, Tree, directory, extension};
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::index::entry::{Stat, stat::Options};
use gix::index::fs::Metadata;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What to compare.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The older revision; the commit that is checked out if none is given.
    pub base: Option<String>,
    /// The newer revision; nothing or `worktree` for the files as they are now.
    pub head: Option<String>,
    /// Only below these paths, if any.
    pub paths: Vec<String>,
}

/// Two trees and where they are from.
#[derive(Debug, Default)]
pub struct Pair {
    /// The older files that differ, and what belongs to them.
    pub before: Tree,
    /// The newer ones.
    pub after: Tree,
    /// The commit of the older.
    pub base: String,
    /// The commit of the newer, or `worktree`.
    pub head: String,
    /// Who made the change: name and address.
    pub authors: Vec<String>,
    /// The records of approvals in the newer tree, by file.
    pub approvals: BTreeMap<String, String>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Why two revisions cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not a repository.
    #[error("{0}: no git repository here or above; run it inside one")]
    NoRepository(PathBuf),
    /// A revision that is not there.
    #[error("{name}: there is no such revision{hint} ({why})")]
    NoRevision {
        /// As it was given.
        name: String,
        /// What may help.
        hint: &'static str,
        /// What git said.
        why: String,
    },
    /// No common history.
    #[error(
        "{base} and {head} have no commit in common in this shallow clone; fetch more of the \
             history (git fetch --unshallow; in GitHub Actions: fetch-depth: 0)"
    )]
    Shallow {
        /// The older.
        base: String,
        /// The newer.
        head: String,
    },
    /// A bare repository has no worktree.
    #[error("this repository has no worktree; name the newer revision with --head")]
    Bare,
    /// Something else.
    #[error("cannot {doing}: {why}")]
    Git {
        /// What was tried.
        doing: String,
        /// What git said.
        why: String,
    },
}

fn git(doing: impl Into<String>) -> impl FnOnce(gix::Error) -> ReadError {
    let doing = doing.into();
    move |error| ReadError::Git { doing, why: error.to_string() }
}

/// The root of the repository around a directory.
pub fn root(inside: &Path) -> Result<PathBuf, ReadError> {
    let repo = gix::discover(inside).map_err(|_| ReadError::NoRepository(inside.to_path_buf()))?;
    repo.workdir().map(Path::to_path_buf).ok_or(ReadError::Bare)
}

/// Where the hooks of a repository are.
pub fn hooks(root: &Path) -> Result<PathBuf, ReadError> {
    let repo = gix::discover(root).map_err(|_| ReadError::NoRepository(root.to_path_buf()))?;
    let configured = repo.config_snapshot().string("core.hooksPath");
    let own = repo.common_dir().join("hooks");
    Ok(configured.map_or(own, |path| root.join(path.to_str_lossy().as_ref())))
}

/// Reads two revisions.
pub fn read(inside: &Path, request: &Request, config: &Config) -> Result<Pair, ReadError> {
    let repo = gix::discover(inside).map_err(|_| ReadError::NoRepository(inside.to_path_buf()))?;
    let reader = Reader { repo: &repo, config, paths: &request.paths };
    let worktree = request.head.as_deref().is_none_or(|head| head == "worktree");
    let base_name = request.base.as_deref().unwrap_or("HEAD");
    let base = match reader.commit(base_name) {
        Ok(base) => Some(base),
        // The first commit has nothing before it.
        Err(_) if request.base.is_none() && repo.head_id().is_err() => None,
        Err(error) => return Err(error),
    };
    let tip = match (worktree, request.head.as_deref()) {
        (false, Some(name)) => Some(reader.commit(name)?),
        _ => repo.head_id().ok().map(gix::Id::detach),
    };
    let base = match (base, tip) {
        (Some(base), Some(tip)) => Some(reader.common(base, tip, request)?),
        (base, _) => base,
    };
    let mut pair = Pair {
        base: base.map_or("nothing".to_string(), |id| id.to_hex_with_len(12).to_string()),
        ..Pair::default()
    };
    let old = reader.tree_of(base)?;
    let changes = match worktree {
        true => {
            pair.head = "worktree".to_string();
            reader.worktree(old)?
        }
        false => {
            pair.head = tip.map_or("nothing".to_string(), |id| id.to_hex_with_len(12).to_string());
            let new = reader.tree_of(tip)?;
            reader.trees(old, new)?
        }
    };
    pair.authors = reader.authors(base, tip, worktree);
    reader.fill(changes, old, &mut pair)?;
    Ok(pair)
}

/// Where the bytes of a file are.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    Object(ObjectId),
    File(PathBuf),
}

/// A path that differs.
struct Change {
    path: String,
    old: Option<ObjectId>,
    new: Option<Source>,
}

struct Changes {
    list: Vec<Change>,
    /// The newer root, to look beside changed files.
    new_root: Option<ObjectId>,
    submodules: Vec<String>,
    workdir: Option<PathBuf>,
}

struct Reader<'r> {
    repo: &'r gix::Repository,
    config: &'r Config,
    paths: &'r [String],
}

impl Reader<'_> {
    fn commit(&self, name: &str) -> Result<ObjectId, ReadError> {
        let shallow = self.repo.is_shallow().unwrap_or(false);
        let hint = match shallow {
            true => "; this clone is shallow, it may not have been fetched: git fetch --unshallow",
            false => "; try `git log --oneline` for those there are",
        };
        let missing = |why: String| ReadError::NoRevision { name: name.to_string(), hint, why };
        let id = self.repo.rev_parse_single(name).map_err(|e| missing(e.to_string()))?;
        let object = id.object().map_err(|e| missing(e.to_string()))?;
        let commit = object.peel_to_kind(gix::object::Kind::Commit);
        commit.map(|commit| commit.id).map_err(|e| missing(e.to_string()))
    }

    /// The last commit both have: what came after it in the older is not part of the change.
    fn common(
        &self,
        base: ObjectId,
        head: ObjectId,
        request: &Request,
    ) -> Result<ObjectId, ReadError> {
        match self.repo.merge_base(base, head) {
            Ok(Some(common)) => Ok(common.detach()),
            _ if self.repo.is_shallow().unwrap_or(false) && base != head => {
                Err(ReadError::Shallow {
                    base: request.base.clone().unwrap_or_else(|| "HEAD".into()),
                    head: request.head.clone().unwrap_or_else(|| "worktree".into()),
                })
            }
            _ => Ok(base),
        }
    }

    fn tree_of(&self, commit: Option<ObjectId>) -> Result<Option<ObjectId>, ReadError> {
        let Some(commit) = commit else { return Ok(None) };
        let object = self.repo.find_object(commit).map_err(git("read a commit"))?;
        let tree = object.peel_to_kind(gix::object::Kind::Tree).map_err(git("read a tree"))?;
        Ok(Some(tree.id))
    }

    fn wanted(&self, path: &str) -> bool {
        let asked = self.paths.is_empty()
            || self
                .paths
                .iter()
                .any(|own| crate::config::matches(own.trim_start_matches("./"), path));
        asked && (crate::checks::own_configuration(path) || !self.config.ignores(path))
    }

    fn entries(&self, tree: Option<ObjectId>) -> Result<Entries, ReadError> {
        let mut found = Entries::new();
        let Some(tree) = tree else { return Ok(found) };
        let object = self.repo.find_object(tree).map_err(git("read a tree"))?;
        let tree = object
            .try_into_tree()
            .map_err(|e| ReadError::Git { doing: "read a tree".into(), why: e.to_string() })?;
        for entry in tree.iter() {
            let entry = entry
                .map_err(|e| ReadError::Git { doing: "read a tree".into(), why: e.to_string() })?;
            let kind = match entry.mode() {
                mode if mode.is_tree() => EntryKind::Tree,
                mode if mode.is_commit() => EntryKind::Submodule,
                mode if mode.is_link() => continue,
                _ => EntryKind::File,
            };
            found.insert(entry.filename().to_str_lossy().to_string(), (kind, entry.object_id()));
        }
        Ok(found)
    }

    /// What differs between two trees: subtrees that are the same are not opened.
    fn trees(&self, old: Option<ObjectId>, new: Option<ObjectId>) -> Result<Changes, ReadError> {
        let mut changes =
            Changes { list: Vec::new(), new_root: new, submodules: Vec::new(), workdir: None };
        let mut open = vec![(String::new(), old, new)];
        while let Some((prefix, old, new)) = open.pop() {
            if old == new {
                continue;
            }
            let (old, new) = (self.entries(old)?, self.entries(new)?);
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let (a, b) = (old.get(name), new.get(name));
                if a == b {
                    continue;
                }
                let path = format!("{prefix}{name}");
                let of = |entry: Option<&(EntryKind, ObjectId)>, kind: EntryKind| {
                    entry.filter(|(own, _)| *own == kind).map(|(_, id)| *id)
                };
                let trees = (of(a, EntryKind::Tree), of(b, EntryKind::Tree));
                if trees.0.is_some() || trees.1.is_some() {
                    open.push((format!("{path}/"), trees.0, trees.1));
                }
                if of(a, EntryKind::Submodule) != of(b, EntryKind::Submodule) {
                    changes.submodules.push(path.clone());
                }
                let files = (of(a, EntryKind::File), of(b, EntryKind::File));
                if files.0 != files.1 {
                    let new = files.1.map(Source::Object);
                    changes.list.push(Change { path, old: files.0, new });
                }
            }
        }
        Ok(changes)
    }

    /// What differs between a tree and the files as they are.
    fn worktree(&self, old: Option<ObjectId>) -> Result<Changes, ReadError> {
        let workdir = self.repo.workdir().ok_or(ReadError::Bare)?.to_path_buf();
        let index = self.repo.index_or_empty().map_err(git("read the index"))?;
        let mut known: BTreeMap<String, (EntryKind, ObjectId)> = BTreeMap::new();
        self.whole(old, String::new(), &mut known)?;
        let mut changes = Changes {
            list: Vec::new(),
            new_root: None,
            submodules: Vec::new(),
            workdir: Some(workdir.clone()),
        };
        let mut tracked = BTreeSet::new();
        // What `core.trustctime` and its relatives say; times are compared to the nanosecond.
        let options = self.repo.stat_options().unwrap_or_default();
        let options = Options { use_nsec: true, ..options };
        for entry in index.entries() {
            let path = entry.path(&index).to_str_lossy().to_string();
            if entry.mode.is_submodule() {
                let was = known.get(&path).map(|(_, id)| *id);
                if was != Some(entry.id) {
                    changes.submodules.push(path.clone());
                }
                tracked.insert(path);
                continue;
            }
            tracked.insert(path.clone());
            let file = workdir.join(&path);
            let Ok(meta) = Metadata::from_path_no_follow(&file) else { continue };
            if !meta.is_file() {
                continue;
            }
            let was = known.get(&path).map(|(_, id)| *id);
            if was == Some(entry.id) && is_untouched(&entry.stat, &meta, &index, options) {
                continue;
            }
            changes.list.push(Change { path, old: was, new: Some(Source::File(file)) });
        }
        for (path, (kind, id)) in &known {
            // A link or a directory in its place holds none of what it said.
            let there = || {
                let meta = std::fs::symlink_metadata(workdir.join(path));
                meta.is_ok_and(|meta| meta.is_file())
            };
            if *kind == EntryKind::File && (!tracked.contains(path) || !there()) {
                let new = there().then(|| Source::File(workdir.join(path)));
                changes.list.push(Change { path: path.clone(), old: Some(*id), new });
            }
        }
        self.untracked(&workdir, &index, &tracked, &mut changes)?;
        Ok(changes)
    }

    /// All files of a tree by path.
    fn whole(
        &self,
        tree: Option<ObjectId>,
        prefix: String,
        found: &mut BTreeMap<String, (EntryKind, ObjectId)>,
    ) -> Result<(), ReadError> {
        let mut open = vec![(prefix, tree)];
        while let Some((prefix, tree)) = open.pop() {
            for (name, (kind, id)) in self.entries(tree)? {
                let path = format!("{prefix}{name}");
                match kind {
                    EntryKind::Tree => open.push((format!("{path}/"), Some(id))),
                    kind => {
                        found.insert(path, (kind, id));
                    }
                }
            }
        }
        Ok(())
    }

    /// Files that git does not know yet and does not ignore: tests may have moved there.
    fn untracked(
        &self,
        workdir: &Path,
        index: &gix::worktree::Index,
        tracked: &BTreeSet<String>,
        changes: &mut Changes,
    ) -> Result<(), ReadError> {
        let source = gix::worktree::stack::state::ignore::Source::WorktreeThenIdMappingIfNotSkipped;
        let stack = self.repo.excludes(index, None, source);
        let mut stack = stack.map_err(git("read what is ignored"))?;
        let mut open = vec![String::new()];
        let mut seen = 0usize;
        while let Some(prefix) = open.pop() {
            let Ok(entries) = std::fs::read_dir(workdir.join(&prefix)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().to_string();
                let path = format!("{prefix}{name}");
                let Ok(kind) = entry.file_type() else { continue };
                seen += 1;
                if name == ".git" || tracked.contains(&path) || seen > UNTRACKED_MAX {
                    continue;
                }
                let mode = match kind.is_dir() {
                    true => gix::index::entry::Mode::DIR,
                    false => gix::index::entry::Mode::FILE,
                };
                let excluded = stack.at_path(&path, Some(mode)).is_ok_and(|at| at.is_excluded());
                if excluded {
                    continue;
                }
                if kind.is_dir() {
                    // Another repository is not ours to read.
                    if !workdir.join(&path).join(".git").exists() {
                        open.push(format!("{path}/"));
                    }
                } else if kind.is_file() {
                    let new = Some(Source::File(workdir.join(&path)));
                    changes.list.push(Change { path, old: None, new });
                }
            }
        }
        Ok(())
    }

    fn bytes(&self, source: &Source, path: &str, notes: &mut Vec<String>) -> Option<Vec<u8>> {
        let too_large = |size: u64| size > FILE_BYTES_MAX as u64;
        let bytes = match source {
            Source::Object(id) => {
                let header = self.repo.find_header(*id).ok()?;
                if too_large(header.size()) {
                    notes.push(format!(
                        "{path}: too large to be looked into ({} bytes)",
                        header.size()
                    ));
                    return None;
                }
                self.repo.find_object(*id).ok()?.detach().data
            }
            Source::File(file) => {
                let size = std::fs::metadata(file).ok()?.len();
                if too_large(size) {
                    notes.push(format!("{path}: too large to be looked into ({size} bytes)"));
                    return None;
                }
                std::fs::read(file).ok()?
            }
        };
        if bytes.contains(&0) {
            notes.push(format!("{path}: binary, not looked into"));
        }
        Some(bytes)
    }

    fn fill(
        &self,
        changes: Changes,
        old_root: Option<ObjectId>,
        pair: &mut Pair,
    ) -> Result<(), ReadError> {
        let mut beside = BTreeSet::new();
        for change in &changes.list {
            if !self.wanted(&change.path) || !matters(&change.path, self.config) {
                continue;
            }
            let mut notes = Vec::new();
            let old =
                change.old.and_then(|id| self.bytes(&Source::Object(id), &change.path, &mut notes));
            let new = change.new.as_ref().and_then(|s| self.bytes(s, &change.path, &mut notes));
            notes.dedup();
            pair.notes.extend(notes);
            if old == new {
                continue;
            }
            if matches!(extension(&change.path).as_str(), "tla" | "cfg") {
                beside.insert(directory(&change.path).to_string());
            }
            pair.before.extend(old.map(|bytes| (change.path.clone(), bytes)));
            pair.after.extend(new.map(|bytes| (change.path.clone(), bytes)));
        }
        for place in beside {
            self.beside(&place, old_root, &changes, pair)?;
        }
        for path in &changes.submodules {
            pair.notes.push(format!(
                "{path}: a submodule points elsewhere; run the guard in it to see what changed"
            ));
        }
        self.records(&changes, pair)
    }

    /// Modules and configurations in the directory of one that changed belong to it.
    fn beside(
        &self,
        place: &str,
        old_root: Option<ObjectId>,
        changes: &Changes,
        pair: &mut Pair,
    ) -> Result<(), ReadError> {
        let belongs = |name: &str| matches!(extension(name).as_str(), "tla" | "cfg");
        let changed: BTreeSet<&str> = changes.list.iter().map(|c| c.path.as_str()).collect();
        let entries = self.entries(self.subtree(old_root, place)?)?;
        for (name, (kind, id)) in entries {
            let path = if place.is_empty() { name.clone() } else { format!("{place}/{name}") };
            let same =
                kind == EntryKind::File && belongs(&name) && !changed.contains(path.as_str());
            if !same {
                continue;
            }
            let mut notes = Vec::new();
            if let Some(bytes) = self.bytes(&Source::Object(id), &path, &mut notes) {
                pair.before.insert(path.clone(), bytes.clone());
                pair.after.insert(path, bytes);
            }
        }
        Ok(())
    }

    fn subtree(&self, root: Option<ObjectId>, place: &str) -> Result<Option<ObjectId>, ReadError> {
        let mut at = root;
        for part in place.split('/').filter(|part| !part.is_empty()) {
            let entries = self.entries(at)?;
            at = entries.get(part).filter(|(k, _)| *k == EntryKind::Tree).map(|(_, id)| *id);
            if at.is_none() {
                break;
            }
        }
        Ok(at)
    }

    /// The records of approvals as they are in the newer tree.
    fn records(&self, changes: &Changes, pair: &mut Pair) -> Result<(), ReadError> {
        let place = self.config.approvals.trim_end_matches('/').to_string();
        if let Some(workdir) = &changes.workdir {
            let Ok(entries) = std::fs::read_dir(workdir.join(&place)) else { return Ok(()) };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().to_string();
                if extension(&name) == "toml"
                    && let Ok(text) = std::fs::read_to_string(entry.path())
                {
                    pair.approvals.insert(format!("{place}/{name}"), text);
                }
            }
            return Ok(());
        }
        for (name, (kind, id)) in self.entries(self.subtree(changes.new_root, &place)?)? {
            let mut notes = Vec::new();
            if kind == EntryKind::File
                && extension(&name) == "toml"
                && let Some(bytes) = self.bytes(&Source::Object(id), &name, &mut notes)
            {
                let text = String::from_utf8_lossy(&bytes).to_string();
                pair.approvals.insert(format!("{place}/{name}"), text);
            }
        }
        Ok(())
    }

    /// Who made the commits of a change; for the worktree also whoever would commit it.
    fn authors(
        &self,
        base: Option<ObjectId>,
        head: Option<ObjectId>,
        worktree: bool,
    ) -> Vec<String> {
        let mut found = BTreeSet::new();
        if let (Some(base), Some(head)) = (base, head)
            && let Ok(walk) = self.repo.rev_walk([head]).with_hidden([base]).all()
        {
            for info in walk.flatten().take(COMMITS_MAX) {
                let Ok(commit) = info.object() else { continue };
                if let Ok(author) = commit.author() {
                    found.insert(format!("{} <{}>", author.name, author.email));
                }
                if let Ok(message) = commit.message_raw() {
                    let text = message.to_str_lossy();
                    let others = text.lines().filter_map(|line| {
                        line.trim()
                            .strip_prefix("Co-authored-by:")
                            .or_else(|| line.trim().strip_prefix("Co-Authored-By:"))
                    });
                    found.extend(others.map(|other| other.trim().to_string()));
                }
            }
        }
        if worktree && let Some(Ok(author)) = self.repo.author() {
            found.insert(format!("{} <{}>", author.name, author.email));
        }
        found.into_iter().collect()
    }
}

/// Commits of a change whose authors are looked at.
const COMMITS_MAX: usize = 10_000;

/// Files git does not know that are looked at.
const UNTRACKED_MAX: usize = 100_000;

type Entries = BTreeMap<String, (EntryKind, ObjectId)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Tree,
    File,
    Submodule,
}

/// Whether a file is as it was when git last looked. A file that was written in the same moment as
/// the index may have been written after it: then its bytes have to tell.
fn is_untouched(
    stat: &Stat,
    meta: &Metadata,
    index: &gix::worktree::Index,
    options: Options,
) -> bool {
    let now = Stat::from_fs(meta);
    !stat.is_racy(index.timestamp(), options) && now.is_ok_and(|now| stat.matches(&now, options))
}

/// Whether any rule looks at a path.
fn matters(path: &str, config: &Config) -> bool {
    crate::compare::looked_at(path, config)
}
