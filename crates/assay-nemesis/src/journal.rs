//! The journal: what was done to the system, written down before it is done.
//!
//! JSON lines, each on disk before the deed it announces. So whatever a killed Assay has left in
//! the world stands in its journal: a fault that is announced and not marked as healed may have
//! happened. A last line that was cut short announces nothing, because its deed comes after it. The
//! writer holds a lock on the file as long as it lives, which tells a run that is going on from one
//! that was killed. Field by field: docs/formats/nemesis-journal.md.

use crate::files::Corruption;
use crate::process::Process;
use assay_kernel::cgroup::Group;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The name of a journal in a run directory.
pub const JOURNAL_NAME: &str = "nemesis.jsonl";
/// The version of the format.
pub const JOURNAL_VERSION: u32 = 1;
/// A journal has a few lines for each fault; one that is larger is something else.
pub const JOURNAL_BYTES_MAX: u64 = 64 << 20;
/// How long to wait for a lock. A process that is just being started holds a copy of every open
/// file of its parent until it becomes another program, and with it the lock of one that has ended.
const LOCK_TIME_MAX: Duration = Duration::from_millis(500);
/// How often to try.
const LOCK_STEP: Duration = Duration::from_millis(5);

/// How to undo one thing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Undo {
    /// Rules lie on links, in the proxies of the process that wrote this; they end with it.
    Lift {
        /// How many directions of links are concerned.
        rules: u64,
    },
    /// A process is stopped and has to be resumed.
    Resume {
        /// Its number.
        pid: u32,
        /// When it started.
        start_ticks: u64,
    },
    /// A process was ended; whoever owns the system starts it again.
    Restart {
        /// Its number.
        pid: u32,
        /// When it started.
        start_ticks: u64,
    },
    /// A file is damaged; its original stands beside it.
    Restore {
        /// The file and the damage.
        corruption: Corruption,
    },
    /// Junk fills a disk.
    Remove {
        /// The junk.
        path: PathBuf,
    },
    /// The system calls of a process are answered by the process that wrote this. When that one
    /// has ended, they fail for good, and all one can do is to end the process.
    EndUnanswered {
        /// Its number.
        pid: u32,
        /// When it started.
        start_ticks: u64,
    },
    /// A clock is off, by what stands in a file.
    SetClock {
        /// The file.
        path: PathBuf,
    },
    /// The control group of a node is frozen or limited.
    FreeGroup {
        /// The directory of the run, which groups are called after.
        run: PathBuf,
        /// The node.
        node: String,
    },
    /// A process may not open anything more.
    SetDescriptors {
        /// Its number.
        pid: u32,
        /// When it started.
        start_ticks: u64,
        /// Its soft limit before; `None` was no limit.
        soft: Option<u64>,
    },
}

impl Undo {
    pub(crate) fn resume(process: &Process) -> Undo {
        Undo::Resume { pid: process.pid, start_ticks: process.start_ticks }
    }

    pub(crate) fn end_unanswered(process: &Process) -> Undo {
        Undo::EndUnanswered { pid: process.pid, start_ticks: process.start_ticks }
    }

    pub(crate) fn free(group: &Group) -> Undo {
        Undo::FreeGroup { run: group.run().to_path_buf(), node: group.node().to_string() }
    }

    pub(crate) fn restart(process: &Process) -> Undo {
        Undo::Restart { pid: process.pid, start_ticks: process.start_ticks }
    }
}

/// A line of a journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Entry {
    /// Somebody begins to write.
    Open {
        /// The version of the format.
        version: u32,
        /// Which start of the machine this is; process ids mean nothing after another.
        boot: Option<String>,
    },
    /// A fault is about to be injected.
    Inject {
        /// Its number in this journal, from 1.
        fault: u64,
        /// Its name in the catalogue.
        id: String,
        /// Whom it hits.
        target: String,
        /// Milliseconds since 1970, for people.
        at_unix_ms: u64,
        /// How to undo it.
        undo: Vec<Undo>,
    },
    /// A fault has been undone.
    Heal {
        /// Its number.
        fault: u64,
        /// Milliseconds since 1970, for people.
        at_unix_ms: u64,
        /// What was undone, line by line.
        undone: Vec<String>,
    },
}

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system said no.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Whoever wrote it is still at work.
    #[error("{}: is in use: the run that writes it is still going on", path.display())]
    Busy {
        /// Where.
        path: PathBuf,
    },
    /// It is too large to be a journal.
    #[error("{}: larger than {JOURNAL_BYTES_MAX} bytes: not a journal", path.display())]
    TooLarge {
        /// Where.
        path: PathBuf,
    },
}

/// A complete line that is not an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// What a journal holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// The entries in order.
    pub entries: Vec<Entry>,
    /// Lines that could not be read.
    pub bad: Vec<BadLine>,
    /// How many bytes make up whole lines; what follows was cut short.
    pub whole_bytes: usize,
}

impl Contents {
    /// Reads the bytes of a journal.
    pub fn parse(bytes: &[u8]) -> Contents {
        let whole_bytes = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut contents = Contents { whole_bytes, ..Contents::default() };
        for (i, line) in bytes[..whole_bytes].split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(entry) => contents.entries.push(entry),
                Err(error) => {
                    contents.bad.push(BadLine { line: i + 1, message: error.to_string() });
                }
            }
        }
        contents
    }

    /// The highest number of a fault.
    fn fault_last(&self) -> u64 {
        let number = |entry: &Entry| match entry {
            Entry::Open { .. } => 0,
            Entry::Inject { fault, .. } | Entry::Heal { fault, .. } => *fault,
        };
        self.entries.iter().map(number).max().unwrap_or(0)
    }
}

/// A journal that is being written; nobody else can while it lives.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    fault_last: u64,
}

/// Locks a file for this process alone. Waits a moment: while a process is being started it holds
/// what its parent had locked. `ResourceBusy` if somebody else keeps it.
pub fn lock_file(file: &File) -> io::Result<()> {
    let until = Instant::now() + LOCK_TIME_MAX;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(LOCK_STEP);
            }
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

impl Journal {
    /// Opens a journal to write to it; it is made if it is not there, continued if it is.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        let (mut journal, contents) = Journal::lock(path, Create::IfMissing)?;
        journal.fault_last = contents.fault_last();
        let boot = crate::process::boot_id();
        journal.append(&Entry::Open { version: JOURNAL_VERSION, boot })?;
        // The name has to be on disk as well as the lines.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new("."));
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|source| journal.failed("sync the directory of", source))?;
        Ok(journal)
    }

    /// Locks a journal and reads it; a last line that was cut short is cut off.
    pub(crate) fn lock(path: &Path, create: Create) -> Result<(Journal, Contents), JournalError> {
        let failed = |doing, source| JournalError::Io { path: path.to_path_buf(), doing, source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(create == Create::IfMissing).truncate(false);
        let mut file = options.open(path).map_err(|error| failed("open", error))?;
        lock_file(&file).map_err(|error| match error.kind() {
            io::ErrorKind::ResourceBusy => JournalError::Busy { path: path.to_path_buf() },
            _ => failed("lock", error),
        })?;
        let mut bytes = Vec::new();
        let limited = (&mut file).take(JOURNAL_BYTES_MAX + 1).read_to_end(&mut bytes);
        limited.map_err(|error| failed("read", error))?;
        if bytes.len() as u64 > JOURNAL_BYTES_MAX {
            return Err(JournalError::TooLarge { path: path.to_path_buf() });
        }
        let contents = Contents::parse(&bytes);
        let end = contents.whole_bytes as u64;
        file.set_len(end).map_err(|error| failed("cut the torn end of", error))?;
        file.seek(SeekFrom::Start(end)).map_err(|error| failed("read", error))?;
        Ok((Journal { path: path.to_path_buf(), file, fault_last: 0 }, contents))
    }

    /// The number of the next fault.
    pub(crate) fn next_fault(&mut self) -> u64 {
        self.fault_last += 1;
        self.fault_last
    }

    /// Writes an entry; it is on disk when this returns.
    pub(crate) fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let mut line = serde_json::to_string(entry).expect("entries hold nothing but JSON");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|source| self.failed("write", source))
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), doing, source }
    }
}

/// Whether a journal that is not there is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Create {
    IfMissing,
    Never,
}

/// Milliseconds since 1970: for people only, nothing is computed from it.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
