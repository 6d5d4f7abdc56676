//! What can go wrong with a running system.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a system did not do what was asked of it.
#[derive(Debug, thiserror::Error)]
pub enum SutError {
    /// This machine lacks something.
    #[error("this machine lacks {}: install it, or put it on PATH", .capabilities.join(", "))]
    Missing {
        /// What, by name.
        capabilities: Vec<String>,
    },
    /// Its programs are not here, and could be fetched.
    #[error(
        "this machine lacks {} of {system} {release}: run `assay systems get {system}`",
        .missing.join(", ")
    )]
    NotFetched {
        /// The system.
        system: String,
        /// The release.
        release: String,
        /// The programs.
        missing: Vec<String>,
    },
    /// The system cannot have that many nodes.
    #[error("`{system}` cannot have {nodes} nodes; it can have {allowed}")]
    NodeCount {
        /// The system.
        system: String,
        /// What was asked for.
        nodes: usize,
        /// What it can have.
        allowed: String,
    },
    /// An option it does not have, or a value that does not fit.
    #[error("`{system}` cannot be given these options: {}", .problems.join("; "))]
    BadOption {
        /// The system.
        system: String,
        /// What is wrong.
        problems: Vec<String>,
    },
    /// The operating system said no.
    #[error("cannot {doing}: {source}")]
    Io {
        /// What was tried.
        doing: String,
        /// Why not.
        source: io::Error,
    },
    /// There is no network of namespaces.
    #[error(transparent)]
    Network(#[from] assay_kernel::net::NetError),
    /// The system cannot be put into namespaces.
    #[error("`{system}` cannot be put into namespaces: {why}; use proxies")]
    NoNamespaces {
        /// The system.
        system: String,
        /// Why not.
        why: &'static str,
    },
    /// Somebody else listens where a node should.
    #[error("{node} cannot be reached at {address}: {source}")]
    PortTaken {
        /// The node.
        node: String,
        /// Where it should have been reached.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// A node did not become ready.
    #[error(
        "{node} did not start: {why}{}{}",
        if tail.is_empty() { format!("; its log is empty: {}", log.display()) }
        else { format!("; the last lines of {}:\n  ", log.display()) },
        tail.join("\n  ")
    )]
    DidNotStart {
        /// The node.
        node: String,
        /// What it did instead.
        why: String,
        /// Its log.
        log: PathBuf,
        /// The end of it.
        tail: Vec<String>,
    },
    /// Nobody has described this role.
    #[error("`{system}` has no role `{role}`; it has {}", .roles.join(", "))]
    NoRole {
        /// The system.
        system: String,
        /// What was asked for.
        role: String,
        /// What there is.
        roles: Vec<String>,
    },
    /// A question got no answer.
    #[error("cannot tell {what}: {why}")]
    NoAnswer {
        /// What was asked.
        what: String,
        /// What came instead.
        why: String,
    },
    /// A node that runs cannot be started.
    #[error("{node} is still running: stop or kill it first")]
    StillRunning {
        /// The node.
        node: String,
    },
    /// The cluster was stopped.
    #[error("the cluster was stopped")]
    Stopped,
}

impl SutError {
    /// For `map_err`.
    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> SutError {
        let doing = doing.into();
        move |source| SutError::Io { doing, source }
    }
}
