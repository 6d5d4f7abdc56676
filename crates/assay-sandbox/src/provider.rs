//! Who makes sandboxes, and what is asked of them.

use crate::capability::{Capabilities, Capability};
use crate::files::{FileCall, FileResult};
use crate::gate::Gate;
use crate::host::HostPlace;
use crate::interrupt::Interrupt;
use crate::job::End;
use crate::launch::{CallError, Stream};
use crate::limits::Limits;
use crate::workspace::{Workspace, WorkspaceError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Makes sandboxes of one kind. What it can promise is found out when it is made, by trying.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Its name in settings.
    fn name(&self) -> &'static str;

    /// What its sandboxes promise on this machine.
    fn capabilities(&self) -> &Capabilities;

    /// Whether it can make a sandbox with these settings: for the moment in which somebody asks
    /// for them, long before the first call.
    ///
    /// # Errors
    /// With what is missing or wrong, and what to do.
    fn check(&self, settings: &Settings) -> Result<(), OpenError> {
        settings.check()?;
        let missing = self.capabilities().lacks(settings.needs());
        match missing.is_empty() {
            true => Ok(()),
            false => Err(OpenError::Missing { provider: self.name(), missing }),
        }
    }

    /// Makes the sandbox of a session. There is one at a time for each.
    ///
    /// # Errors
    /// Those of [`check`](Provider::check); if the session has one; if the system does not allow
    /// it.
    fn open(
        &self,
        workspace: &Workspace,
        settings: Settings,
    ) -> Result<Box<dyn Sandbox>, OpenError>;
}

/// Where the calls of a session take place, one after the other or at once. Whatever a call starts
/// has ended when it returns.
pub trait Sandbox: Send + Sync + fmt::Debug {
    /// The directories of the session.
    fn workspace(&self) -> &Workspace;

    /// What it was made with.
    fn settings(&self) -> &Settings;

    /// Runs a program, and hands on what it writes while it does.
    ///
    /// # Errors
    /// If it did not take place, or how it ended is not known.
    fn run(
        &self,
        program: &Program,
        interrupt: &Interrupt,
        hear: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Ran, CallError>;

    /// Does something with files; the inner result is for the model.
    ///
    /// # Errors
    /// If it did not take place, or whether it did is not known.
    fn files(&self, call: &FileCall, interrupt: &Interrupt) -> Result<FileResult, CallError>;
}

/// A program to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its name or path inside, and its arguments.
    pub argv: Vec<String>,
    /// What it can read; nothing if there is none.
    pub stdin: Option<String>,
    /// Where it begins, below the workspace.
    pub directory: PathBuf,
    /// How long it may take, if that is shorter than the limit of the sandbox.
    pub wall: Option<Duration>,
}

impl Program {
    /// A program with arguments, in the workspace.
    pub fn new(argv: &[&str]) -> Program {
        let argv = argv.iter().map(ToString::to_string).collect();
        Program { argv, stdin: None, directory: PathBuf::new(), wall: None }
    }
}

/// How a program ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The directory below the workspace in which a shell ended, if it said so.
    pub directory: Option<PathBuf>,
    /// Whether one of its processes was killed for memory.
    pub was_short_of_memory: bool,
}

/// Which network a sandbox has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Network {
    /// None.
    #[default]
    Off,
    /// That of the machine, all of it.
    Open,
    /// One that leads to a gate and nowhere else.
    Limited(Gate),
}

/// What is asked of a sandbox.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Which network it has.
    pub network: Network,
    /// What a call may use.
    pub limits: Limits,
    /// What it must promise besides.
    pub needs: BTreeSet<Capability>,
    /// What its programs find in their environment; nothing comes from the host.
    pub environment: BTreeMap<String, String>,
    /// Directories of the host that can be read, at the same path.
    pub readable: Vec<HostPlace>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            network: Network::Off,
            limits: Limits::default(),
            needs: Capability::NEEDED.into_iter().collect(),
            environment: BTreeMap::new(),
            readable: Vec::new(),
        }
    }
}

impl Settings {
    /// All that must be there.
    pub fn needs(&self) -> BTreeSet<Capability> {
        let network = match self.network {
            Network::Off => Capability::NetworkOff,
            Network::Open => Capability::NetworkOpen,
            Network::Limited(_) => Capability::NetworkLimited,
        };
        self.needs.iter().copied().chain([network]).collect()
    }

    /// What is wrong whatever the machine.
    fn check(&self) -> Result<(), OpenError> {
        let wrong = |what: String| Err(OpenError::Settings(what));
        for (name, value) in &self.environment {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(plain) || value.contains('\0') {
                return wrong(format!("`{name}` cannot be a variable: letters, digits and `_`"));
            }
        }
        let Limits { wall, memory_bytes, processes, file_bytes, .. } = self.limits;
        let all = [memory_bytes, processes, file_bytes];
        if wall.is_zero() || all.contains(&0) {
            return wrong("a limit of nothing leaves nothing to run".to_string());
        }
        Ok(())
    }
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The machine cannot do what is asked for.
    #[error("the sandbox `{provider}` cannot promise what is asked for: {}", missing.join("; "))]
    Missing {
        /// Which provider.
        provider: &'static str,
        /// What, why, and what to do.
        missing: Vec<String>,
    },
    /// What is asked for makes no sense.
    #[error("{0}")]
    Settings(String),
    /// There is one already.
    #[error("{}: has a sandbox already; wait until it is gone", .0.display())]
    Busy(PathBuf),
    /// Its directories.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A first call did not work.
    #[error(transparent)]
    Call(#[from] CallError),
    /// There is no such provider.
    #[error("there is no sandbox `{0}`; there are `local`, and `none`, which protects nothing")]
    Unknown(String),
}

/// The providers, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ProviderKind {
    /// Namespaces, Landlock and limits of this machine.
    #[default]
    Local,
    /// Nothing but limits: to be asked for by name.
    None,
}

impl FromStr for ProviderKind {
    type Err = OpenError;

    fn from_str(name: &str) -> Result<ProviderKind, OpenError> {
        match name {
            "local" => Ok(ProviderKind::Local),
            "none" => Ok(ProviderKind::None),
            _ => Err(OpenError::Unknown(name.to_string())),
        }
    }
}
