//! The directories of a session: explicit, durable, and its own.
//!
//! ```text
//! SESSION/workspace   /workspace               where the tools work
//! SESSION/skills      /workspace/skills        can only be read; only if it is there
//! SESSION/uploads     /mnt/session/uploads     can only be read
//! SESSION/outputs     /mnt/session/outputs     collected at the end of a turn
//! SESSION/root        /                        empty here; what is inside is put together in it
//! ```
//!
//! Everything else inside is gone after each call. As root each session gets a user of its own, who
//! owns its directories: the number of the directory makes the number of the user.
//!
//! Somebody may [lend](Workspace::lend) directories of the host to work in instead. They have the
//! same paths inside, because what is in them names itself by these; `/workspace` and
//! `/mnt/session/outputs` are links to them.

use crate::host::HostPlace;
use crate::job::Places;
use rustix::fs::{AtFlags, CWD, Dir, Gid, Mode, OFlags, ResolveFlags, Uid, chownat, openat2};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Numbers of users made for sessions begin here, far from those of people and services.
const USER_FIRST: u32 = 0x3000_0000;
/// So many there are.
const USERS: u64 = 0x3fff_ffff;
/// The longest name of an uploaded file.
const UPLOAD_NAME_BYTES_MAX: usize = 200;
/// More files and directories than this are not given away.
const GIVEN_MAX: usize = 5_000_000;

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A directory or file cannot be made.
    #[error("{}: cannot {doing}: {source}; it must be a directory of our own", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A name that is no name.
    #[error("`{name}` cannot be the name of an upload: letters, digits, `.`, `_` and `-` only")]
    Name {
        /// The name.
        name: String,
    },
    /// A directory that cannot be lent.
    #[error("{}: cannot be lent: {why}", path.display())]
    Lent {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
}

/// Directories of the host that are lent to a session. Neither holds the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lent {
    /// Where the tools work, instead of a directory of the session.
    pub files: HostPlace,
    /// What is collected at the end of a turn, likewise.
    pub outputs: HostPlace,
}

impl HostPlace {
    /// Whether it can be lent by us, and be handed to the user of a session if we are root. One
    /// that was given to a session of ours before can, too: whoever lends sees to it that no two
    /// have it at a time.
    ///
    /// # Errors
    /// Says why not.
    pub fn can_be_lent(&self) -> Result<(), WorkspaceError> {
        let own = rustix::process::geteuid();
        let users = u64::from(USER_FIRST)..u64::from(USER_FIRST) + USERS;
        let no = |why: String| WorkspaceError::Lent { path: self.path().to_path_buf(), why };
        let facts = self.open().and_then(|file| file.metadata());
        let facts = facts.map_err(|error| no(error.to_string()))?;
        if !facts.is_dir() {
            return Err(no("it is no directory".to_string()));
        }
        let is_of_session = own.is_root() && users.contains(&u64::from(facts.uid()));
        match facts.uid() == own.as_raw() || is_of_session {
            true => Ok(()),
            false => Err(no("it belongs to another user than the one who lends it".to_string())),
        }
    }
}

impl Lent {
    /// Whether both [can be lent](HostPlace::can_be_lent), and none holds the other.
    ///
    /// # Errors
    /// Says which of them cannot, and why.
    pub fn check(&self) -> Result<(), WorkspaceError> {
        self.files.can_be_lent()?;
        self.outputs.can_be_lent()?;
        if self.files.overlaps(&self.outputs) {
            let path = self.outputs.path().to_path_buf();
            let why = format!("{} is, or holds the other", self.files.path().display());
            return Err(WorkspaceError::Lent { path, why });
        }
        Ok(())
    }
}

/// The directories of one session on the host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Workspace {
    session: PathBuf,
    user: Option<u32>,
    lent: Option<Lent>,
}

fn at<'a>(path: &'a Path, doing: &'static str) -> impl FnOnce(io::Error) -> WorkspaceError + 'a {
    move |source| WorkspaceError::Io { path: path.to_path_buf(), doing, source }
}

impl Workspace {
    /// Makes the directories of a session, or finds them if they are there already.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn create(session: &Path) -> Result<Workspace, WorkspaceError> {
        let make = |path: &Path, mode: u32| {
            match DirBuilder::new().mode(mode).create(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                made => made.map_err(at(path, "make"))?,
            }
            std::fs::set_permissions(path, Permissions::from_mode(mode))
                .map_err(at(path, "set the mode of"))
        };
        std::fs::create_dir_all(session).map_err(at(session, "make"))?;
        let session = std::fs::canonicalize(session).map_err(at(session, "find"))?;
        // A user of its own has to get through, where there is no root directory of its own.
        make(&session, 0o711)?;
        let user = match rustix::process::geteuid().is_root() {
            true => {
                let node = std::fs::metadata(&session).map_err(at(&session, "look at"))?.ino();
                Some(USER_FIRST + u32::try_from(node % USERS).expect("less than USERS"))
            }
            false => None,
        };
        let workspace = Workspace { session, user, lent: None };
        for (name, mode) in [("workspace", 0o700), ("outputs", 0o700), ("uploads", 0o755)] {
            make(&workspace.session.join(name), mode)?;
        }
        make(&workspace.session.join("root"), 0o755)?;
        for path in [workspace.files(), workspace.outputs()] {
            workspace.give(&path)?;
        }
        Ok(workspace)
    }

    /// The same with directories of the host to work in. They have to be those of whoever lends
    /// them; as root they become those of the user of the session when it gets a sandbox, with all
    /// that is in them but files that have another name elsewhere.
    ///
    /// # Errors
    /// If one of them is none or belongs to somebody else.
    pub fn lend(mut self, lent: Lent) -> Result<Workspace, WorkspaceError> {
        lent.check()?;
        self.lent = Some(lent);
        Ok(self)
    }

    /// What is lent, if something is.
    pub(crate) fn lent(&self) -> Option<&Lent> {
        self.lent.as_ref()
    }

    /// Gives what is lent to the user of the session, if it has one and they are not given yet.
    pub(crate) fn give_lent(&self) -> Result<(), WorkspaceError> {
        let (Some(user), Some(lent)) = (self.user, &self.lent) else { return Ok(()) };
        for place in [&lent.files, &lent.outputs] {
            let path = place.path();
            let top = place.open().map_err(at(path, "open"))?;
            if top.metadata().map_err(at(path, "look at"))?.uid() != user {
                self.give_all(path, &top)?;
            }
        }
        Ok(())
    }

    /// Gives a directory and what is in it to the user of the session; the directory itself last,
    /// so that what was not finished is begun again. Each thing is held before it is looked at, and
    /// what is held is given: nobody can put something else in its place meanwhile.
    fn give_all(&self, path: &Path, top: &File) -> Result<(), WorkspaceError> {
        let (mut waiting, mut given) = (vec![PathBuf::new()], 0);
        while let Some(below) = waiting.pop() {
            let here = path.join(&below);
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let directory = open_below(top, &below, flags, ResolveFlags::NO_SYMLINKS);
            let directory = directory.map_err(at(&here, "read"))?;
            for name in names(&directory).map_err(at(&here, "read"))? {
                given += 1;
                if given > GIVEN_MAX {
                    let why = format!("it has more than {GIVEN_MAX} files");
                    return Err(WorkspaceError::Lent { path: path.to_path_buf(), why });
                }
                let flags = OFlags::PATH | OFlags::NOFOLLOW;
                let one =
                    rustix::fs::openat(&directory, &name, flags | OFlags::CLOEXEC, Mode::empty());
                let one = match one {
                    // Somebody has removed it.
                    Err(Errno::NOENT) => continue,
                    one => File::from(one.map_err(|e| at(&here.join(&name), "open")(e.into()))?),
                };
                let facts = one.metadata().map_err(at(&here.join(&name), "look at"))?;
                if facts.is_dir() || facts.nlink() == 1 {
                    self.give_held(&one).map_err(at(&here.join(&name), "give to its user"))?;
                }
                if facts.is_dir() {
                    waiting.push(below.join(&name));
                }
            }
        }
        self.give_held(top).map_err(at(path, "give to its user"))
    }

    /// The directory all others are in.
    pub fn session(&self) -> &Path {
        &self.session
    }

    /// Where the tools work.
    pub fn files(&self) -> PathBuf {
        let own = || self.session.join("workspace");
        self.lent.as_ref().map_or_else(own, |lent| lent.files.path().to_path_buf())
    }

    /// What is collected at the end of a turn.
    pub fn outputs(&self) -> PathBuf {
        let own = || self.session.join("outputs");
        self.lent.as_ref().map_or_else(own, |lent| lent.outputs.path().to_path_buf())
    }

    /// What tools can only read.
    pub fn uploads(&self) -> PathBuf {
        self.session.join("uploads")
    }

    /// What tools can only read, too, if whoever made the session has put it there.
    pub fn skills(&self) -> PathBuf {
        self.session.join("skills")
    }

    /// Puts a file where tools can read it, and only that. Directories of the name are made.
    ///
    /// # Errors
    /// If the name is none, or the system does not allow it.
    pub fn upload(&self, name: &str, bytes: &[u8]) -> Result<(), WorkspaceError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let good = |part: &str| !["", ".", ".."].contains(&part) && part.bytes().all(plain);
        if name.len() > UPLOAD_NAME_BYTES_MAX || !name.split('/').all(good) {
            return Err(WorkspaceError::Name { name: name.to_string() });
        }
        let path = self.uploads().join(name);
        let parent = path.parent().unwrap_or(&path);
        DirBuilder::new().recursive(true).mode(0o755).create(parent).map_err(at(parent, "make"))?;
        let mut file = File::create(&path).map_err(at(&path, "make"))?;
        file.write_all(bytes).map_err(at(&path, "write"))?;
        file.set_permissions(Permissions::from_mode(0o644)).map_err(at(&path, "set the mode of"))
    }

    /// The user who owns it, if that is not us.
    pub(crate) fn user(&self) -> Option<u32> {
        self.user
    }

    /// Gives a path to the user of the session.
    pub(crate) fn give(&self, path: &Path) -> Result<(), WorkspaceError> {
        let Some(user) = self.user else { return Ok(()) };
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
        chownat(CWD, path, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| at(path, "give to its user")(error.into()))
    }

    /// Gives something that is held to the user of the session.
    fn give_held(&self, held: &File) -> io::Result<()> {
        let Some(user) = self.user else { return Ok(()) };
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(user));
        Ok(chownat(held, "", Some(user), Some(group), AtFlags::EMPTY_PATH)?)
    }

    pub(crate) fn places(&self, scratch: &Path) -> Places {
        Places {
            workspace: self.files(),
            uploads: self.uploads(),
            skills: Some(self.skills()).filter(|skills| skills.is_dir()),
            outputs: self.outputs(),
            scratch: scratch.to_path_buf(),
            root: self.session.join("root"),
            lent: self.lent.clone(),
        }
    }
}

/// What is in a directory.
fn names(directory: &File) -> io::Result<Vec<OsString>> {
    let name = |entry: rustix::io::Result<rustix::fs::DirEntry>| {
        Ok(OsStr::from_bytes(entry?.file_name().to_bytes()).to_os_string())
    };
    let all: io::Result<Vec<OsString>> = Dir::read_from(directory)?.map(name).collect();
    Ok(all?.into_iter().filter(|name| name != "." && name != "..").collect())
}

/// Opens what stands at a whole path as a place, if no link is on the way.
pub(crate) fn open_whole(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = rustix::io::retry_on_intr(|| openat2(CWD, path, flags, Mode::empty(), links));
    Ok(File::from(opened?))
}

/// Opens something below a directory: no `..` beyond it, no link that leads elsewhere, whoever
/// changes what meanwhile.
pub(crate) fn open_below(
    directory: &File,
    path: &Path,
    flags: OFlags,
    resolve: ResolveFlags,
) -> io::Result<File> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let resolve = resolve | ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mode =
        if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() };
    loop {
        match openat2(directory, path, flags | OFlags::CLOEXEC, mode, resolve) {
            // Something was renamed meanwhile; the kernel does not know whether it is still below.
            Err(Errno::AGAIN | Errno::INTR) => {}
            opened => return Ok(File::from(opened?)),
        }
    }
}
