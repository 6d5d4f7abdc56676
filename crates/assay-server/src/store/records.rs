//! Keys and values of the store. Every key names its workspace: nothing is found by a bare id.

use crate::error::ApiError;
use assay_session::Event;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Folders of keys.
pub mod folder {
    /// Agents as they are now: `agents/WORKSPACE/ID`.
    pub const AGENTS: &str = "agents";
    /// Every version of an agent: `versions/WORKSPACE/ID/VERSION`.
    pub const VERSIONS: &str = "versions";
    /// Environments.
    pub const ENVIRONMENTS: &str = "environments";
    /// Which sessions use an environment: `uses/WORKSPACE/ENVIRONMENT/SESSION`.
    pub const USES: &str = "uses";
    /// What sessions that go on are lent: `lent/WORKSPACE/SESSION`.
    pub const LENT: &str = "lent";
    /// What clients see of sessions.
    pub const SESSIONS: &str = "sessions";
    /// The machine of each session.
    pub const STATES: &str = "states";
    /// Sessions with turns that are not over: what a restart looks at.
    pub const ACTIVE: &str = "active";
    /// The logs: `events/WORKSPACE/SESSION/EVENT`.
    pub const EVENTS: &str = "events";
    /// Until when requests must not happen twice: `requests/WORKSPACE/HASH OF PATH/HASH OF KEY`.
    pub const REQUESTS: &str = "requests";
    /// How they were answered: `answers/THEN/WORKSPACE/HASH OF PATH/HASH OF KEY`.
    pub const ANSWERS: &str = "answers";
    /// Files that were uploaded.
    pub const FILES: &str = "files";
    /// Vaults.
    pub const VAULTS: &str = "vaults";
    /// Credentials, sealed: `credentials/WORKSPACE/VAULT/ID`.
    pub const CREDENTIALS: &str = "credentials";
    /// What shows whether the master key is the one that sealed everything here.
    pub const MASTER: &str = "master";
    /// Skills.
    pub const SKILLS: &str = "skills";
    /// Their versions: `skill_versions/WORKSPACE/SKILL/VERSION`.
    pub const SKILL_VERSIONS: &str = "skill_versions";
    /// Which directory has the bytes of files: `binding/objects`.
    pub const BINDING: &str = "binding";
    /// Files that sessions left: `outputs/WORKSPACE/SESSION/NAME`.
    pub const OUTPUTS: &str = "outputs";
    /// What agents remember: `memory/WORKSPACE/SESSION/TURN/NUMBER`.
    pub const MEMORY: &str = "memory";
    /// Calls that waited and do so no more: `closed/WORKSPACE/SESSION/CALL`.
    pub const CLOSED: &str = "closed";
    /// How many of them each session has.
    pub const CLOSED_COUNT: &str = "closed_count";
    /// Sessions that were deleted and of which something is left: `remains/WORKSPACE/SESSION`.
    pub const REMAINS: &str = "remains";
    /// How records of a kind are written, where that has changed: `layout/requests`.
    pub const LAYOUT: &str = "layout";
    /// Keys of the API, as hashes.
    pub const KEYS: &str = "keys";
}

/// A session within its workspace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionKey {
    /// The workspace.
    pub workspace: String,
    /// The session.
    pub id: String,
}

impl SessionKey {
    /// Where something about it stands.
    pub fn at(&self, folder: &str) -> String {
        format!("{folder}/{}/{}", self.workspace, self.id)
    }
}

/// What clients see of a session and does not change with its turns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Its id.
    pub id: String,
    /// The agent as it was when the session began.
    pub agent: Value,
    /// Where it runs.
    pub environment_id: String,
    /// What people call it.
    pub title: Option<String>,
    /// What clients noted.
    pub metadata: Map<String, Value>,
    /// When it began.
    pub created_ms: u64,
    /// When it was changed.
    pub updated_ms: u64,
    /// When it was archived.
    pub archived_ms: Option<u64>,
    /// The key of the request that made it, which goes with it.
    pub made_by: Option<String>,
    /// The files that tools can read.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// The vaults that have its credentials, in the order in which they are looked at.
    #[serde(default)]
    pub vault_ids: Vec<String>,
    /// The skills that tools can read, as they were when the session began.
    #[serde(default)]
    pub skills: Vec<SessionSkill>,
    /// Directories of this machine in which its tools work, instead of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lent: Option<LentRecord>,
}

/// Directories of this machine that a session works in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LentRecord {
    /// Where the tools work.
    pub path: PathBuf,
    /// What is collected at the end of a turn.
    pub outputs: PathBuf,
    /// What tools can read besides.
    pub readable: Vec<PathBuf>,
    /// What programs are told there: `nonce` comes as `$ASSAY_NONCE`.
    pub variables: BTreeMap<String, String>,
    /// Which directories these were when the session began: others may stand there later.
    #[serde(default)]
    pub nodes: Vec<String>,
}

/// A file in a session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Resource {
    /// Its own id.
    pub id: String,
    /// Of which upload it is a copy.
    pub file_id: String,
    /// Where it is below the uploads, without a slash in front.
    pub path: String,
    /// How large it is.
    pub size_bytes: u64,
    /// When it was mounted.
    pub created_ms: u64,
}

/// A version of a skill in a session; its files are in `workspace/skills/NAME`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionSkill {
    /// Which skill.
    pub skill_id: String,
    /// Which version of it.
    pub version: String,
    /// What it is called.
    pub name: String,
    /// When to use it.
    pub description: String,
}

/// A record with one name for all: the JSON that clients get, and what only the server knows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// What clients get.
    pub wire: Map<String, Value>,
}

impl Stored {
    /// Whether clients see it as archived.
    pub fn is_archived(&self) -> bool {
        self.wire.get("archived_at").is_some_and(|at| !at.is_null())
    }
}

/// The fields of a record that is made here, and so is an object.
///
/// # Panics
/// If it is none: a record without fields would be one that nobody can read.
pub fn fields_of(wire: Value) -> Map<String, Value> {
    match wire {
        Value::Object(fields) => fields,
        other => panic!("a record is made of fields, not {other}"),
    }
}

/// An event as streams and lists show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// All of it, as JSON.
    pub json: String,
}

impl Line {
    /// Of an event that was just appended.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of(event: &Event) -> Result<Line, ApiError> {
        let json = serde_json::to_string(event)?;
        Ok(Line { id: event.id.0.clone(), kind: event.body.type_name().to_string(), json })
    }

    /// When it was taken in.
    ///
    /// # Errors
    /// If it does not say so.
    pub fn processed_at(&self) -> Result<String, ApiError> {
        #[derive(Deserialize)]
        struct Time {
            processed_at: String,
        }
        let time: Time = serde_json::from_str(&self.json)?;
        Ok(time.processed_at)
    }

    /// Of a pair of the folder of events.
    ///
    /// # Errors
    /// If that holds something else.
    pub fn stored(key: &str, value: Vec<u8>) -> Result<Line, ApiError> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(rename = "type")]
            kind: String,
        }
        let kind: Kind = serde_json::from_slice(&value)?;
        let json = String::from_utf8(value).map_err(|_| ApiError::internal())?;
        let id = key.rsplit('/').next().unwrap_or_default().to_string();
        Ok(Line { id, kind: kind.kind, json })
    }
}

/// Reads a record.
///
/// # Errors
/// If it is not one.
pub fn read_record<T: DeserializeOwned>(value: Option<Vec<u8>>) -> Result<Option<T>, ApiError> {
    value.map(|value| serde_json::from_slice(&value)).transpose().map_err(ApiError::from)
}
