//! What can go wrong with answering system calls.

use std::io;
use std::path::PathBuf;

/// Why a process could not be started under watch, or a rule not be imposed.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The program could not be started, which has nothing to do with the watch.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        source: io::Error,
    },
    /// This process ran out of something it needs for it.
    #[error("cannot {doing}: {source}")]
    Resources {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The kernel does not let the new process be watched.
    #[error("the kernel refuses {refused}: {source} ({remedy})")]
    Refused {
        /// What was asked.
        refused: &'static str,
        /// What it said.
        source: io::Error,
        /// What to do.
        remedy: &'static str,
    },
    /// The process could not be kept from looking at the clock behind the kernel's back.
    #[error(
        "the clock of {program} cannot be moved: {why} (processes must be allowed to trace their \
         children: see kernel.yama.ptrace_scope, and seccomp profiles of containers)"
    )]
    Clock {
        /// The program.
        program: String,
        /// Why not.
        why: String,
    },
    /// The calls of the rule are not stopped in this process.
    #[error("{calls} of this process are not watched: start it with a watch that has them")]
    NotWatched {
        /// Which.
        calls: &'static str,
    },
    /// The directory of the rule.
    #[error("{}: cannot be found: {source}", directory.display())]
    Directory {
        /// The directory.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A number of the rule is out of its range.
    #[error("{what} cannot be {value}: {limit}")]
    Range {
        /// Which.
        what: &'static str,
        /// What it was.
        value: i64,
        /// What it may be.
        limit: String,
    },
    /// There are too many rules already.
    #[error("there are {max} rules on this process already: lift one first")]
    TooMany {
        /// So many.
        max: usize,
    },
}
