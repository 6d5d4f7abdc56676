//! Models, agents, environments, sessions, events.

use super::{Free, Metadata, MetadataChange, Named, named};
use serde_json::Value;
use utoipa::ToSchema;

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<Model>(),
        named::<ModelList>(),
        named::<Agent>(),
        named::<AgentList>(),
        named::<AgentWish>(),
        named::<AgentChange>(),
        named::<Environment>(),
        named::<EnvironmentList>(),
        named::<EnvironmentWish>(),
        named::<EnvironmentChange>(),
        named::<Session>(),
        named::<SessionStatus>(),
        named::<SessionUsage>(),
        named::<SessionStats>(),
        named::<SessionList>(),
        named::<LentWorkspace>(),
        named::<SessionWish>(),
        named::<SessionChange>(),
        named::<Event>(),
        named::<EventWish>(),
        named::<EventsSent>(),
        named::<EventList>(),
        named::<Resource>(),
        named::<ResourceList>(),
        named::<ResourceWish>(),
        named::<ResourceChange>(),
    ]
}

#[derive(ToSchema)]
struct Model {
    id: String,
    #[schema(pattern = "^model$")]
    r#type: String,
    display_name: String,
    #[schema(format = DateTime)]
    created_at: String,
    lifecycle: String,
    line: Option<String>,
    capabilities: Option<Free>,
    max_input_tokens: Option<u64>,
    max_tokens: Option<u64>,
    allowed_fallback_models: Option<Vec<String>>,
    #[schema(format = DateTime)]
    deprecated_at: Option<String>,
    #[schema(format = DateTime)]
    retires_at: Option<String>,
}

#[derive(ToSchema)]
struct ModelList {
    data: Vec<Model>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct Agent {
    #[schema(pattern = "^agent_")]
    id: String,
    #[schema(pattern = "^agent$")]
    r#type: String,
    #[schema(minimum = 1)]
    version: u64,
    name: String,
    model: Free,
    description: Option<String>,
    system: Option<String>,
    tools: Vec<Free>,
    skills: Vec<Free>,
    mcp_servers: Vec<Free>,
    multiagent: Option<Free>,
    execution_identity: Free,
    metadata: Metadata,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    #[schema(format = DateTime)]
    archived_at: Option<String>,
}

#[derive(ToSchema)]
struct AgentList {
    data: Vec<Agent>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct AgentWish {
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    /// The id of a model, or an object with it.
    model: Value,
    #[schema(max_length = 2048)]
    description: Option<String>,
    #[schema(max_length = 100_000)]
    system: Option<String>,
    tools: Option<Vec<Free>>,
    skills: Option<Vec<Free>>,
    mcp_servers: Option<Vec<Free>>,
    execution_identity: Option<Free>,
    metadata: Option<Metadata>,
}

#[derive(ToSchema)]
struct AgentChange {
    /// The version that the change rests on.
    #[schema(minimum = 1)]
    version: Option<u64>,
    #[schema(min_length = 1, max_length = 256)]
    name: Option<String>,
    model: Option<Value>,
    #[schema(max_length = 2048)]
    description: Option<String>,
    #[schema(max_length = 100_000)]
    system: Option<String>,
    tools: Option<Vec<Free>>,
    skills: Option<Vec<Free>>,
    mcp_servers: Option<Vec<Free>>,
    execution_identity: Option<Free>,
    metadata: Option<MetadataChange>,
}

#[derive(ToSchema)]
struct Environment {
    #[schema(pattern = "^env_")]
    id: String,
    #[schema(pattern = "^environment$")]
    r#type: String,
    name: String,
    description: String,
    config: Free,
    scope: Option<String>,
    metadata: Metadata,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    #[schema(format = DateTime)]
    archived_at: Option<String>,
}

#[derive(ToSchema)]
struct EnvironmentList {
    data: Vec<Environment>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct EnvironmentWish {
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    #[schema(max_length = 2048)]
    description: Option<String>,
    config: Option<Free>,
    metadata: Option<Metadata>,
}

#[derive(ToSchema)]
struct EnvironmentChange {
    #[schema(min_length = 1, max_length = 256)]
    name: Option<String>,
    #[schema(max_length = 2048)]
    description: Option<String>,
    config: Option<Free>,
    metadata: Option<MetadataChange>,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
enum SessionStatus {
    Idle,
    Running,
    Rescheduling,
    Terminated,
}

#[derive(ToSchema)]
struct SessionUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation: Option<Free>,
    active_seconds: f64,
    list_cost: Option<Free>,
    server_tool_use: Option<Free>,
}

#[derive(ToSchema)]
struct SessionStats {
    active_seconds: f64,
    duration_seconds: f64,
}

#[derive(ToSchema)]
struct Session {
    #[schema(pattern = "^sesn_")]
    id: String,
    #[schema(pattern = "^session$")]
    r#type: String,
    /// The agent as it was when the session began.
    agent: Free,
    environment_id: String,
    vault_ids: Vec<String>,
    status: SessionStatus,
    title: Option<String>,
    metadata: Metadata,
    resources: Vec<Resource>,
    outcome_evaluations: Vec<Free>,
    usage: SessionUsage,
    stats: SessionStats,
    budget: Option<Free>,
    deployment_id: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
    #[schema(format = DateTime)]
    archived_at: Option<String>,
    /// Only where tools work in directories of this machine.
    workspace: Option<LentWorkspace>,
}

/// Directories of this machine, below one that the server lends (`--lend`).
#[derive(ToSchema)]
struct LentWorkspace {
    #[schema(pattern = "^lent$")]
    r#type: String,
    /// Where the tools work.
    #[schema(max_length = 4096)]
    path: String,
    /// What is collected at the end of a turn.
    #[schema(max_length = 4096)]
    outputs: String,
    /// What tools can read besides.
    #[schema(max_items = 8)]
    readable: Option<Vec<String>>,
    /// What programs are told: `nonce` comes as `$ASSAY_NONCE`.
    variables: Option<Free>,
}

#[derive(ToSchema)]
struct SessionList {
    data: Vec<Session>,
    next_page: Option<String>,
    prev_page: Option<String>,
}

#[derive(ToSchema)]
struct SessionWish {
    /// The id of an agent, or an object with it and a version.
    agent: Value,
    environment_id: String,
    #[schema(max_length = 500)]
    title: Option<String>,
    metadata: Option<Metadata>,
    #[schema(max_items = 100)]
    resources: Option<Vec<ResourceWish>>,
    #[schema(max_items = 200)]
    initial_events: Option<Vec<Free>>,
    /// Where credentials for MCP servers are looked for, in this order.
    #[schema(max_items = 20)]
    vault_ids: Option<Vec<String>>,
    workspace: Option<LentWorkspace>,
}

#[derive(ToSchema)]
struct SessionChange {
    #[schema(max_length = 500)]
    title: Option<String>,
    metadata: Option<MetadataChange>,
    /// As they are: they cannot be changed.
    #[schema(max_items = 20)]
    vault_ids: Option<Vec<String>>,
}

/// An event; what else it has depends on its type.
#[derive(ToSchema)]
struct Event {
    #[schema(pattern = "^sevt_")]
    id: String,
    r#type: String,
    #[schema(format = DateTime)]
    processed_at: String,
}

#[derive(ToSchema)]
struct EventWish {
    #[schema(min_items = 1, max_items = 200)]
    events: Vec<Free>,
}

#[derive(ToSchema)]
struct EventsSent {
    data: Vec<Event>,
}

#[derive(ToSchema)]
struct EventList {
    data: Vec<Event>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct Resource {
    #[schema(pattern = "^sesrsc_")]
    id: String,
    #[schema(pattern = "^file$")]
    r#type: String,
    file_id: String,
    #[schema(pattern = "^/mnt/session/uploads/")]
    mount_path: String,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

#[derive(ToSchema)]
struct ResourceList {
    data: Vec<Resource>,
    next_page: Option<String>,
}

#[derive(ToSchema)]
struct ResourceWish {
    #[schema(pattern = "^file$")]
    r#type: String,
    file_id: String,
    #[schema(max_length = 200)]
    mount_path: Option<String>,
}

#[derive(ToSchema)]
struct ResourceChange {
    authorization_token: String,
}
