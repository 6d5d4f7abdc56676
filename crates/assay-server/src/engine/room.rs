//! Where the tools of sessions run.
//!
//! Each session has directories of its own below the data directory, which stay; a [`Room`] is the
//! sandbox on them for one turn, opened by the first call. Nothing of a call is left when it
//! returns, and nothing of a room when it is closed: only then may the next turn begin.

use super::lending::{self, Lends};
use super::options::EngineError;
use crate::log::log;
use crate::net::{Client, Guard, Reach, gate};
use crate::seats::{Seat, Seats};
use crate::store::{LentRecord, SessionKey};
use assay_sandbox::{
    Capability, Helper, HostPlace, Interrupt, Local, Network, OpenError, Provider, ProviderKind,
    Settings, ToolResult, Tools, Workspace,
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Calls of one session at a time.
const CALLS_MAX: usize = 8;
/// Calls of all sessions at a time, and of those of one workspace; each has a thread and two
/// processes.
const ALL_CALLS_MAX: usize = 32;
const OWN_CALLS_MAX: usize = 24;
/// Programs at a time that are agents themselves, of all sessions and of one workspace.
const ALL_PROGRAMS_MAX: usize = 32;
const OWN_PROGRAMS_MAX: usize = 24;

/// Makes rooms.
#[derive(Debug)]
pub struct Sandboxes {
    provider: Local,
    /// Of which kind they are.
    pub kind: ProviderKind,
    opens_network: bool,
    place: PathBuf,
    /// Asks others for tools that do.
    pub client: Client,
    /// Decides whom.
    pub guard: Guard,
    /// Directories of this machine that sessions may work in.
    pub lends: Lends,
    calls: Arc<Seats>,
    programs: Arc<Seats>,
}

impl Sandboxes {
    /// Finds out what this machine can promise, and refuses to begin with less than is needed.
    ///
    /// # Errors
    /// With what is missing, and what to do.
    pub fn new(
        kind: ProviderKind,
        opens_network: bool,
        place: PathBuf,
        client: Client,
        guard: Guard,
        lends: Lends,
    ) -> Result<Sandboxes, EngineError> {
        let helper = Helper::this_program().map_err(EngineError::ThisProgram)?;
        let provider = Local::new(kind, helper)?;
        // Without a sandbox the network is open, and whoever asked for none by name knows.
        let opens_network = opens_network || kind == ProviderKind::None;
        let made = Sandboxes {
            provider,
            kind,
            opens_network,
            place,
            client,
            guard,
            lends,
            calls: Arc::new(Seats::new(ALL_CALLS_MAX, OWN_CALLS_MAX)),
            programs: Arc::new(Seats::new(ALL_PROGRAMS_MAX, OWN_PROGRAMS_MAX)),
        };
        let usual = match kind {
            ProviderKind::Local => Reach::Nothing,
            ProviderKind::None => Reach::Public,
        };
        made.provider.check(&made.settings(&usual, ""))?;
        Ok(made)
    }

    /// What a sandbox for an environment has to promise. Hosts that are allowed by name are reached
    /// through the server; where sandboxes have no gate only `web_fetch` reaches them.
    fn settings(&self, reach: &Reach, whose: &str) -> Settings {
        let has_gates = self.provider.capabilities().has(Capability::NetworkLimited);
        let network = match reach {
            Reach::Public if self.opens_network => Network::Open,
            Reach::Hosts(_) if has_gates => {
                Network::Limited(gate(self.guard.of(whose), reach.clone()))
            }
            Reach::Public | Reach::Nothing | Reach::Hosts(_) => Network::Off,
        };
        match self.kind {
            ProviderKind::Local => Settings { network, ..Settings::default() },
            ProviderKind::None => {
                Settings { network, needs: BTreeSet::new(), ..Settings::default() }
            }
        }
    }

    /// Whether sessions can have such an environment here.
    ///
    /// # Errors
    /// Says why not, and what to do.
    pub fn check(&self, reach: &Reach) -> Result<(), String> {
        if *reach == Reach::Public && !self.opens_network {
            return Err("must be limited: this server was not started with --open-network".into());
        }
        self.provider.check(&self.settings(reach, "")).map_err(|error| error.to_string())
    }

    /// The directories of a session.
    fn place(&self, key: &SessionKey) -> PathBuf {
        self.place.join(&key.workspace).join(&key.id)
    }
}

/// What came of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Gave {
    /// Blocks.
    pub content: Vec<Value>,
    /// Whether it failed.
    pub is_error: bool,
}

impl Gave {
    /// A text.
    pub fn text(text: impl Into<String>, is_error: bool) -> Gave {
        let text: String = text.into();
        // A block of text is never empty on the wire, and no model takes white space alone.
        let text = if text.trim().is_empty() { "(no output)".to_string() } else { text };
        Gave { content: vec![serde_json::json!({"type": "text", "text": text})], is_error }
    }

    /// What of it is text.
    pub fn words(&self) -> String {
        let texts = self.content.iter().filter_map(|block| block["text"].as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl From<ToolResult> for Gave {
    fn from(result: ToolResult) -> Gave {
        Gave::text(result.text, result.is_error)
    }
}

/// The sandbox of one turn.
#[derive(Debug)]
pub struct Room {
    sandboxes: Arc<Sandboxes>,
    key: SessionKey,
    /// What its environment lets it reach.
    pub reach: Reach,
    /// The directories it works in, if they are not its own.
    lent: Option<LentRecord>,
    inside: Mutex<Inside>,
    interrupt: Interrupt,
    calls: Arc<Semaphore>,
}

#[derive(Debug)]
enum Inside {
    Unused,
    Held,
    Open(Arc<Tools>),
    Closed { was_used: bool },
}

impl Room {
    /// A room that nobody has used.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn new(
        sandboxes: Arc<Sandboxes>,
        key: SessionKey,
        reach: Reach,
        lent: Option<LentRecord>,
    ) -> std::io::Result<Room> {
        let interrupt = Interrupt::new()?;
        let calls = Arc::new(Semaphore::new(CALLS_MAX));
        let inside = Mutex::new(Inside::Unused);
        Ok(Room { sandboxes, key, reach, lent, inside, interrupt, calls })
    }

    /// The tools that run here.
    pub fn has(name: &str) -> bool {
        Tools::definitions().iter().any(|tool| tool.name == name)
    }

    /// Calls a tool, and comes back when nothing of it is left.
    pub async fn call(self: &Arc<Room>, name: &str, input: &Map<String, Value>) -> Gave {
        let closed = || Gave::text("the turn is over", true);
        let Ok(permit) = self.calls.clone().acquire_owned().await else { return closed() };
        // Whoever is interrupted here is dropped, and waits no more.
        let Some(seat) = self.sandboxes.calls.take(&self.key.workspace).await else {
            return closed();
        };
        let (room, name) = (self.clone(), name.to_string());
        let input = Value::Object(input.clone());
        let called = tokio::task::spawn_blocking(move || {
            let _places = (permit, seat);
            let tools = match room.tools() {
                Ok(Some(tools)) => tools,
                Ok(None) => return closed(),
                Err(error) => return room.broken(&error.to_string()),
            };
            match tools.call(&name, &input, &room.interrupt) {
                Ok(result) => result.into(),
                Err(error) => room.broken(&error.to_string()),
            }
        });
        called.await.unwrap_or_else(|error| self.broken(&error.to_string()))
    }

    /// What failed here is for the operator: it has paths of the machine in it.
    fn broken(&self, why: &str) -> Gave {
        log(format_args!("session {}: a tool could not run: {why}", self.key.id));
        Gave::text("the tool could not run; the log of the server says why", true)
    }

    fn inside(&self) -> std::sync::MutexGuard<'_, Inside> {
        // It is whole or not there, whoever panicked with the lock.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tools(&self) -> Result<Option<Arc<Tools>>, OpenError> {
        let mut inside = self.inside();
        match &*inside {
            Inside::Open(tools) => Ok(Some(tools.clone())),
            Inside::Closed { .. } => Ok(None),
            Inside::Unused | Inside::Held => {
                let (workspace, readable) = self.find()?;
                let mut settings = self.sandboxes.settings(&self.reach, &self.key.workspace);
                if let Some(lent) = &self.lent {
                    settings.readable = readable;
                    settings.environment = lending::environment(lent);
                }
                let sandbox = self.sandboxes.provider.open(&workspace, settings)?;
                let tools = Arc::new(Tools::new(sandbox));
                *inside = Inside::Open(tools.clone());
                Ok(Some(tools))
            }
        }
    }

    /// Who asks others for tools that do.
    pub(super) fn web(&self) -> (&Client, Guard) {
        (&self.sandboxes.client, self.sandboxes.guard.of(&self.key.workspace))
    }

    /// Whether the session has directories.
    pub(super) fn is_there(&self) -> bool {
        self.sandboxes.place(&self.key).is_dir()
    }

    /// The directories, whether a tool was called or not. A file system that does not answer keeps
    /// nobody else waiting.
    ///
    /// # Errors
    /// If they cannot be made, or take too long to be looked at.
    pub async fn workspace(self: &Arc<Room>) -> Result<Workspace, OpenError> {
        let room = self.clone();
        let find = move || room.find().map(|(workspace, _)| workspace);
        let found = match &self.lent {
            Some(_) => self.sandboxes.lends.look(find).await,
            None => tokio::task::spawn_blocking(find).await.map_err(|error| error.to_string()),
        };
        found.map_err(OpenError::Settings)?
    }

    /// The directories, and what can be read besides.
    fn find(&self) -> Result<(Workspace, Vec<HostPlace>), OpenError> {
        let workspace = Workspace::create(&self.sandboxes.place(&self.key))?;
        let Some(lent) = &self.lent else { return Ok((workspace, Vec::new())) };
        let found = self.sandboxes.lends.check_again(lent).map_err(OpenError::Settings)?;
        Ok((workspace.lend(found.lent)?, found.readable))
    }

    /// What whoever works in a lent directory is told, by name.
    pub(super) fn variables(&self) -> BTreeMap<String, String> {
        self.lent.as_ref().map(|lent| lent.variables.clone()).unwrap_or_default()
    }

    /// Uses the directories by other means than a call. As long as what is given is kept,
    /// [`close`](Room::close) waits.
    pub async fn hold(&self) -> Option<OwnedSemaphorePermit> {
        let permit = self.calls.clone().acquire_owned().await.ok()?;
        let mut inside = self.inside();
        match *inside {
            Inside::Closed { .. } => None,
            Inside::Held | Inside::Open(_) => Some(permit),
            Inside::Unused => {
                *inside = Inside::Held;
                Some(permit)
            }
        }
    }

    /// A place among the programs of all sessions. It is kept for as long as one runs.
    pub(super) async fn program_seat(&self) -> Option<Seat> {
        self.sandboxes.programs.take(&self.key.workspace).await
    }

    /// Ends what runs, waits until nothing of it is left, and lets go of the directories. Whether
    /// anything ran here.
    pub async fn close(&self) -> bool {
        self.interrupt.interrupt();
        let all = u32::try_from(CALLS_MAX).unwrap_or(1);
        // Nobody closes it, so all of them can be had.
        let _all = self.calls.acquire_many(all).await;
        let mut inside = self.inside();
        let was_used = match *inside {
            Inside::Unused | Inside::Closed { was_used: false } => false,
            Inside::Held | Inside::Open(_) | Inside::Closed { was_used: true } => true,
        };
        *inside = Inside::Closed { was_used };
        was_used
    }
}
