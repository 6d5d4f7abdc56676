//! What each route takes and gives.

use super::super::routes::{Endpoint, ROUTES};

/// What a request brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// No body.
    Nothing,
    /// JSON of this shape.
    Json(&'static str),
    /// Parts of this shape.
    Parts(&'static str),
}

/// What is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// JSON of this shape.
    Json(&'static str),
    /// JSON of one of these shapes: it depends on `anthropic-version`.
    Either(&'static [&'static str]),
    /// Any JSON object.
    Object,
    /// Something else of this type.
    Other(&'static str),
}

/// A route in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Which.
    pub endpoint: Endpoint,
    /// What it does.
    pub summary: &'static str,
    /// Parameters of the URL.
    pub query: &'static [&'static str],
    /// Headers that it looks at, besides those of all routes.
    pub headers: &'static [&'static str],
    /// What it takes.
    pub takes: Takes,
    /// What it gives.
    pub answer: Answer,
    /// Whether it can say 409.
    pub conflicts: bool,
}

const fn page(endpoint: Endpoint, summary: &'static str, takes: Takes, answer: Answer) -> Page {
    Page { endpoint, summary, query: &[], headers: &[], takes, answer, conflicts: false }
}

impl Page {
    const fn query(self, query: &'static [&'static str]) -> Page {
        Page { query, ..self }
    }

    const fn headers(self, headers: &'static [&'static str]) -> Page {
        Page { headers, ..self }
    }

    const fn conflicts(self) -> Page {
        Page { conflicts: true, ..self }
    }
}

use Answer::{Either, Json, Object, Other};
use Takes::{Nothing, Parts};

/// All routes.
pub const PAGES: [Page; ROUTES.len()] = [
    page(Endpoint::Health, "Whether it serves", Nothing, Json("Health")),
    page(
        Endpoint::Metrics,
        "Counters, for callers on the same machine",
        Nothing,
        Other("application/openmetrics-text"),
    ),
    page(Endpoint::OpenApi, "This document", Nothing, Object),
    page(Endpoint::ModelList, "Models that agents can have", Nothing, Json("ModelList")).query(&[
        "limit",
        "after_id",
        "before_id",
        "lifecycle[]",
    ]),
    page(Endpoint::ModelGet, "A model", Nothing, Json("Model")),
    page(Endpoint::AgentCreate, "Makes an agent", Takes::Json("AgentWish"), Json("Agent")),
    page(Endpoint::AgentList, "Agents, newest first", Nothing, Json("AgentList")).query(&[
        "limit",
        "page",
        "include_archived",
        "created_at[gte]",
        "created_at[lte]",
        "created_at[gt]",
        "created_at[lt]",
    ]),
    page(Endpoint::AgentGet, "An agent, or one of its versions", Nothing, Json("Agent"))
        .query(&["version"]),
    page(
        Endpoint::AgentUpdate,
        "Makes a new version of an agent",
        Takes::Json("AgentChange"),
        Json("Agent"),
    )
    .conflicts(),
    page(Endpoint::AgentArchive, "Archives an agent", Nothing, Json("Agent")),
    page(
        Endpoint::AgentVersions,
        "The versions of an agent, newest first",
        Nothing,
        Json("AgentList"),
    )
    .query(&["limit", "page"]),
    page(
        Endpoint::EnvironmentCreate,
        "Makes an environment",
        Takes::Json("EnvironmentWish"),
        Json("Environment"),
    ),
    page(Endpoint::EnvironmentList, "Environments, newest first", Nothing, Json("EnvironmentList"))
        .query(&["limit", "page", "include_archived"]),
    page(Endpoint::EnvironmentGet, "An environment", Nothing, Json("Environment")),
    page(
        Endpoint::EnvironmentUpdate,
        "Changes an environment",
        Takes::Json("EnvironmentChange"),
        Json("Environment"),
    ),
    page(Endpoint::EnvironmentArchive, "Archives an environment", Nothing, Json("Environment")),
    page(
        Endpoint::EnvironmentDelete,
        "Deletes an environment that no session uses",
        Nothing,
        Json("Deleted"),
    )
    .conflicts(),
    page(Endpoint::SessionCreate, "Begins a session", Takes::Json("SessionWish"), Json("Session"))
        .headers(&["idempotency-key"]),
    page(Endpoint::SessionList, "Sessions", Nothing, Json("SessionList")).query(&[
        "limit",
        "page",
        "order",
        "include_archived",
        "agent_id",
        "agent_version",
        "statuses[]",
        "created_at[gt]",
        "created_at[gte]",
        "created_at[lt]",
        "created_at[lte]",
    ]),
    page(Endpoint::SessionGet, "A session", Nothing, Json("Session")),
    page(
        Endpoint::SessionUpdate,
        "Changes the title or the metadata of a session",
        Takes::Json("SessionChange"),
        Json("Session"),
    ),
    page(Endpoint::SessionArchive, "Archives a session that rests", Nothing, Json("Session")),
    page(Endpoint::SessionDelete, "Deletes a session that rests", Nothing, Json("Deleted")),
    page(
        Endpoint::EventSend,
        "Sends events: all of them, or none",
        Takes::Json("EventWish"),
        Json("EventsSent"),
    )
    .headers(&["idempotency-key"]),
    page(Endpoint::EventList, "The events of a session", Nothing, Json("EventList")).query(&[
        "limit",
        "page",
        "order",
        "types[]",
        "created_at[gt]",
        "created_at[gte]",
        "created_at[lt]",
        "created_at[lte]",
    ]),
    page(
        Endpoint::EventStream,
        "The events of a session as they happen",
        Nothing,
        Other("text/event-stream"),
    )
    .headers(&["last-event-id"]),
    page(
        Endpoint::ResourceAdd,
        "Copies a file into a session",
        Takes::Json("ResourceWish"),
        Json("Resource"),
    ),
    page(Endpoint::ResourceList, "The files of a session", Nothing, Json("ResourceList"))
        .query(&["limit", "page"]),
    page(Endpoint::ResourceGet, "A file of a session", Nothing, Json("Resource")),
    page(
        Endpoint::ResourceUpdate,
        "Refused: files have nothing that changes",
        Takes::Json("ResourceChange"),
        Json("Resource"),
    ),
    page(Endpoint::ResourceDelete, "Takes a file out of a session", Nothing, Json("Deleted")),
    page(Endpoint::FileUpload, "Uploads a file", Parts("FileUpload"), Json("File")),
    page(
        Endpoint::FileList,
        "Files, newest first",
        Nothing,
        Either(&["FileList2023", "FileList2026"]),
    )
    .query(&["limit", "page", "after_id", "before_id", "scope_id", "ids[]"]),
    page(Endpoint::FileGet, "What is known about a file", Nothing, Json("File")),
    page(
        Endpoint::FileContent,
        "The bytes of a file that can be given back",
        Nothing,
        Other("application/octet-stream"),
    ),
    page(Endpoint::FileDelete, "Deletes a file", Nothing, Json("Deleted")),
    page(Endpoint::VaultCreate, "Makes a vault", Takes::Json("VaultWish"), Json("Vault")),
    page(Endpoint::VaultList, "Vaults, newest first", Nothing, Json("VaultList")).query(&[
        "limit",
        "page",
        "include_archived",
    ]),
    page(Endpoint::VaultGet, "A vault", Nothing, Json("Vault")),
    page(Endpoint::VaultUpdate, "Changes a vault", Takes::Json("VaultChange"), Json("Vault")),
    page(Endpoint::VaultDelete, "Deletes a vault and its credentials", Nothing, Json("Deleted")),
    page(
        Endpoint::VaultArchive,
        "Archives a vault and forgets its secrets",
        Nothing,
        Json("Vault"),
    ),
    page(
        Endpoint::CredentialCreate,
        "Keeps a secret",
        Takes::Json("CredentialWish"),
        Json("Credential"),
    )
    .conflicts(),
    page(
        Endpoint::CredentialList,
        "The credentials of a vault, without their secrets",
        Nothing,
        Json("CredentialList"),
    )
    .query(&["limit", "page", "include_archived"]),
    page(Endpoint::CredentialGet, "A credential, without its secret", Nothing, Json("Credential")),
    page(
        Endpoint::CredentialUpdate,
        "Changes a credential",
        Takes::Json("CredentialChange"),
        Json("Credential"),
    ),
    page(Endpoint::CredentialDelete, "Deletes a credential", Nothing, Json("Deleted")),
    page(
        Endpoint::CredentialArchive,
        "Archives a credential and forgets its secret",
        Nothing,
        Json("Credential"),
    ),
    page(
        Endpoint::CredentialValidate,
        "Tries whether a credential opens its server, and renews it if need be",
        Nothing,
        Json("CredentialValidation"),
    ),
    page(
        Endpoint::SkillCreate,
        "Uploads a skill",
        Parts("SkillUpload"),
        Either(&["Skill2023", "Skill2026"]),
    ),
    page(
        Endpoint::SkillList,
        "Skills, newest first",
        Nothing,
        Either(&["SkillList2023", "SkillList2026"]),
    )
    .query(&["limit", "page", "source"]),
    page(Endpoint::SkillGet, "A skill", Nothing, Either(&["Skill2023", "Skill2026"])),
    page(Endpoint::SkillDelete, "Deletes a skill without versions", Nothing, Json("Deleted")),
    page(
        Endpoint::SkillVersionCreate,
        "Uploads a version of a skill",
        Parts("SkillVersionUpload"),
        Either(&["SkillVersion2023", "SkillVersion2026"]),
    ),
    page(
        Endpoint::SkillVersionList,
        "The versions of a skill, newest first",
        Nothing,
        Either(&["SkillVersionList2023", "SkillVersionList2026"]),
    )
    .query(&["limit", "page"]),
    page(
        Endpoint::SkillVersionGet,
        "A version of a skill",
        Nothing,
        Either(&["SkillVersion2023", "SkillVersion2026"]),
    ),
    page(Endpoint::SkillVersionDelete, "Deletes a version of a skill", Nothing, Json("Deleted")),
    page(
        Endpoint::SkillVersionContent,
        "The files of a version, as a zip",
        Nothing,
        Other("application/zip"),
    ),
];
