//! What is said between whoever asks for a call, its keeper, and the process inside: one line of
//! JSON each.

use crate::files::{FileCall, FileResult};
use crate::host::HostPlace;
use crate::limits::Limits;
use crate::workspace::Lent;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

/// The longest line: the largest file that is written, with every byte escaped, and some more.
const LINE_BYTES_MAX: u64 = 96 << 20;

/// By which means a call is confined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tier {
    /// Namespaces made with the rights of root, and a user of its own.
    RootNamespaces,
    /// Namespaces below a user namespace.
    UserNamespaces,
    /// Landlock and a filter of system calls.
    Landlock,
    /// Limits only.
    Open,
}

impl Tier {
    /// Whether there is a root directory of its own.
    pub(crate) fn has_root(self) -> bool {
        matches!(self, Tier::RootNamespaces | Tier::UserNamespaces)
    }
}

/// The directories of a session: on the host, or as they are seen inside.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Places {
    /// Where the tools work.
    pub workspace: PathBuf,
    /// What was uploaded; can only be read.
    pub uploads: PathBuf,
    /// What the agent can look up, if there is anything; can only be read.
    pub skills: Option<PathBuf>,
    /// What is collected at the end of a turn.
    pub outputs: PathBuf,
    /// Gone after the call.
    pub scratch: PathBuf,
    /// Where a root directory is put together.
    pub root: PathBuf,
    /// The workspace and the outputs if they are directories of somebody else, with the same paths
    /// inside.
    pub lent: Option<Lent>,
}

/// Which network a call has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wires {
    /// None.
    Cut,
    /// None but a gate, behind which is the asker.
    Gate,
    /// That of the machine.
    Whole,
}

/// A call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub tier: Tier,
    /// The user and group to become; none to stay.
    pub user: Option<u32>,
    pub host: Places,
    /// Directories of the host that can be read as well.
    pub readable: Vec<HostPlace>,
    pub network: Wires,
    pub limits: Limits,
    /// Whether memory is counted for all processes together, by somebody else.
    pub memory_is_counted: bool,
    pub environment: BTreeMap<String, String>,
    /// Where it begins, below the workspace.
    pub directory: PathBuf,
    pub action: Action,
    /// The arguments by which this program becomes the process inside.
    pub enter: Vec<String>,
}

/// What is done inside.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Action {
    /// Run a program.
    Run { argv: Vec<String>, stdin: Option<String> },
    /// Do something with files.
    File(FileCall),
    /// Find out what works.
    Probe,
}

/// How it went inside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Inside {
    /// The program ended; the directory below the workspace in which it did, if it told.
    Ended { end: End, directory: Option<PathBuf> },
    /// What became of files.
    Files(FileResult),
    /// What works.
    Probed(Probed),
    /// The sandbox could not be made.
    Failed { doing: String, why: String },
}

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was not started, for this reason.
    NotStarted(String),
    /// It took longer than it may.
    TimeLimit,
    /// It wrote more than it may.
    OutputLimit,
    /// It wanted more memory than it may have.
    MemoryLimit,
    /// It was told to end.
    Interrupted,
}

/// What was found out inside.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Probed {
    /// The version of Landlock that is in effect; none if it is not.
    pub landlock: Option<u32>,
    /// Whether system calls are filtered.
    pub has_filter: bool,
    /// Whether the directory of the session on the host could be read.
    pub sees_host: bool,
    /// Whether somebody outside could be sent to.
    pub has_network: bool,
}

/// What a keeper says at the end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
    /// The process inside has said this, and everybody is gone.
    Inside(Inside),
    /// It took too long, and everybody is gone.
    TimeLimit,
    /// The asker has let go, and everybody is gone.
    LetGo,
    /// The process inside ended without a word.
    Silent { signal: Option<i32> },
    /// Somebody could not be ended.
    Stuck,
}

pub(crate) fn send(mut to: impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}

pub(crate) fn receive<T: DeserializeOwned>(from: impl Read) -> io::Result<T> {
    let mut line = Vec::new();
    BufReader::new(from.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&line)?)
}
