//! Sandboxes of this machine: `local`, by the best means there are, and `none`.

use crate::capability::{Capabilities, Capability};
use crate::files::{FileCall, FileResult};
use crate::helper::Helper;
use crate::interrupt::Interrupt;
use crate::job::{Action, End, Inside, Job, Probed, Tier, Wires};
use crate::launch::{Asker, CallError, Heard, Stream, launch};
use crate::probe::{self, Means};
use crate::provider::{
    Network, OpenError, Program, Provider, ProviderKind, Ran, Sandbox, Settings,
};
use crate::workspace::{Workspace, WorkspaceError};
use assay_kernel::cgroup::{self, Group};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a tool may take that works with files only.
const FILES_TIME_MAX: Duration = Duration::from_secs(10);

/// Makes sandboxes on this machine.
#[derive(Debug)]
pub struct Local {
    kind: ProviderKind,
    helper: Helper,
    tier: Tier,
    capabilities: Capabilities,
}

impl Local {
    /// Finds out by trying what this machine allows. `local` never becomes `none`: where nothing
    /// works, every promise is missing.
    ///
    /// # Errors
    /// If nothing at all can be tried.
    pub fn new(kind: ProviderKind, helper: Helper) -> Result<Local, OpenError> {
        Local::by(kind, Means::Best, helper)
    }

    /// The same, by means that are named.
    ///
    /// # Errors
    /// If nothing at all can be tried.
    pub fn by(kind: ProviderKind, means: Means, helper: Helper) -> Result<Local, OpenError> {
        let (tier, capabilities) = probe::find(kind, means, &helper)?;
        Ok(Local { kind, helper, tier, capabilities })
    }
}

impl Provider for Local {
    fn name(&self) -> &'static str {
        match self.kind {
            ProviderKind::Local => "local",
            ProviderKind::None => "none",
        }
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn open(
        &self,
        workspace: &Workspace,
        settings: Settings,
    ) -> Result<Box<dyn Sandbox>, OpenError> {
        self.check(&settings)?;
        for place in &settings.readable {
            let shown = place.path().display();
            if reaches(place.path(), workspace) {
                let what = format!("{shown}: would show this session, and others");
                return Err(OpenError::Settings(what));
            }
            // Mounted above what can be written it would hide that; below, tools could move it.
            let lent = workspace.lent();
            let written = lent.iter().flat_map(|lent| [&lent.files, &lent.outputs]);
            if let Some(other) = written.into_iter().find(|written| written.overlaps(place)) {
                let other = other.path().display();
                let what = format!("{shown}: to be read, and {other}: one is or holds the other");
                return Err(OpenError::Settings(what));
            }
        }
        let lock = lock(workspace)?;
        if self.tier != Tier::Open {
            workspace.give_lent()?;
        }
        let counts = self.capabilities.has(Capability::MemoryTotal);
        let group =
            if counts { Some(group(workspace, settings.limits.memory_bytes)?) } else { None };
        let (helper, tier) = (self.helper.clone(), self.tier);
        let workspace = workspace.clone();
        let given_up = AtomicBool::new(false);
        Ok(Box::new(Room { helper, tier, workspace, settings, group, given_up, _lock: lock }))
    }
}

fn reaches(path: &Path, workspace: &Workspace) -> bool {
    let session = workspace.session();
    let all = session.parent().unwrap_or(session);
    all.starts_with(path) || path.starts_with(session)
}

fn wires(network: &Network) -> Wires {
    match network {
        Network::Off => Wires::Cut,
        Network::Open => Wires::Whole,
        Network::Limited(_) => Wires::Gate,
    }
}

fn lock(workspace: &Workspace) -> Result<File, OpenError> {
    let path = workspace.session();
    let failed = |source| WorkspaceError::Io { path: path.to_path_buf(), doing: "lock", source };
    let file = File::open(path).map_err(failed)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(OpenError::Busy(path.to_path_buf())),
        Err(error) => Err(failed(error.into()).into()),
    }
}

/// The group in which the memory of a session is counted. One that a
/// killed process left is used again: nobody else has the lock.
fn group(workspace: &Workspace, bytes: u64) -> Result<Group, OpenError> {
    let failed = |error: cgroup::CgroupError| CallError::Keeper {
        doing: "limit the memory of",
        source: io::Error::other(error),
    };
    let group = Group::make(workspace.session(), "sandbox").map_err(failed)?;
    group.limit_memory(bytes).map_err(failed)?;
    Ok(group)
}

/// One sandbox.
#[derive(Debug)]
pub(crate) struct Room {
    helper: Helper,
    tier: Tier,
    workspace: Workspace,
    settings: Settings,
    group: Option<Group>,
    given_up: AtomicBool,
    _lock: File,
}

impl Room {
    /// One to find out what works, without a promise.
    pub(crate) fn probing(
        helper: &Helper,
        tier: Tier,
        workspace: &Workspace,
        settings: Settings,
    ) -> Result<Room, OpenError> {
        Ok(Room {
            helper: helper.clone(),
            tier,
            workspace: workspace.clone(),
            settings,
            group: None,
            given_up: AtomicBool::new(false),
            _lock: lock(workspace)?,
        })
    }

    pub(crate) fn probe(&self) -> Result<Probed, OpenError> {
        let interrupt =
            Interrupt::new().map_err(|source| CallError::Keeper { doing: "stop", source })?;
        let wall = self.settings.limits.wall;
        let (heard, _) =
            self.call(Action::Probe, Path::new(""), wall, &interrupt, &mut |_, _| {})?;
        match heard {
            Heard::Inside(Inside::Probed(probed)) => Ok(probed),
            Heard::Inside(_) | Heard::Ended(_) => Err(CallError::Stuck.into()),
        }
    }

    fn call(
        &self,
        action: Action,
        directory: &Path,
        wall: Duration,
        interrupt: &Interrupt,
        hear: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<(Heard, bool), CallError> {
        if self.given_up.load(Ordering::SeqCst) {
            return Err(CallError::GivenUp);
        }
        let scratch = self.scratch()?;
        let session = self.workspace.session();
        let scratch_path = scratch.as_ref().map_or(session, |scratch| scratch.path());
        let limits = crate::Limits { wall, ..self.settings.limits };
        let job = Job {
            tier: self.tier,
            user: self.workspace.user().filter(|_| self.tier != Tier::Open),
            host: self.workspace.places(scratch_path),
            readable: self.settings.readable.clone(),
            network: wires(&self.settings.network),
            limits,
            memory_is_counted: self.group.is_some(),
            environment: self.settings.environment.clone(),
            directory: directory.to_path_buf(),
            action,
            enter: self.helper.with("enter"),
        };
        let gate = match &self.settings.network {
            Network::Limited(gate) => Some(gate),
            Network::Off | Network::Open => None,
        };
        let asker = Asker { group: self.group.as_ref(), gate, interrupt };
        let called = launch(&self.helper, &job, &asker, hear);
        if matches!(called, Err(CallError::Stuck | CallError::Keeper { .. })) {
            self.given_up.store(true, Ordering::SeqCst);
        }
        called
    }

    /// A directory that is gone after the call, where there is no root directory that is.
    fn scratch(&self) -> Result<Option<tempfile::TempDir>, CallError> {
        if self.tier.has_root() {
            return Ok(None);
        }
        let path = self.workspace.session();
        let failed = |source| WorkspaceError::Io { path: path.into(), doing: "make", source };
        let scratch = tempfile::Builder::new().prefix("scratch-").tempdir_in(path);
        let scratch = scratch.map_err(failed)?;
        if self.tier != Tier::Open {
            self.workspace.give(scratch.path())?;
        }
        Ok(Some(scratch))
    }
}

impl Sandbox for Room {
    fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn run(
        &self,
        program: &Program,
        interrupt: &Interrupt,
        hear: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Ran, CallError> {
        let action = Action::Run { argv: program.argv.clone(), stdin: program.stdin.clone() };
        let most = self.settings.limits.wall;
        let wall = program.wall.map_or(most, |wall| wall.min(most));
        let (heard, was_short_of_memory) =
            self.call(action, &program.directory, wall, interrupt, hear)?;
        Ok(match heard {
            Heard::Inside(Inside::Ended { end, directory }) => {
                Ran { end, directory, was_short_of_memory }
            }
            Heard::Ended(end) => Ran { end, directory: None, was_short_of_memory },
            Heard::Inside(_) => return Err(CallError::Stuck),
        })
    }

    fn files(&self, call: &FileCall, interrupt: &Interrupt) -> Result<FileResult, CallError> {
        let wall = self.settings.limits.wall.min(FILES_TIME_MAX);
        let action = Action::File(call.clone());
        let (heard, _) = self.call(action, Path::new(""), wall, interrupt, &mut |_, _| {})?;
        match heard {
            Heard::Inside(Inside::Files(result)) => Ok(result),
            Heard::Ended(End::TimeLimit) => {
                Ok(Err(format!("it took longer than {} s; ask for less", wall.as_secs())))
            }
            Heard::Ended(End::Interrupted) => Ok(Err("it was interrupted".to_string())),
            Heard::Ended(_) => Ok(Err("it was ended by a limit".to_string())),
            Heard::Inside(_) => Err(CallError::Stuck),
        }
    }
}
