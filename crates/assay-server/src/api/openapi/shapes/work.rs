//! Models, environments, sessions and their resources.

use super::agents::AgentSnapshot;
use super::events::UserMessageWish;
use super::{Metadata, MetadataChange, Named, Nothing, id_or, named, one_of};
use std::collections::BTreeMap;
use utoipa::openapi::{RefOr, schema::Schema};
use utoipa::{PartialSchema, ToSchema};

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<Model>(),
        named::<ModelList>(),
        named::<Environment>(),
        named::<EnvironmentList>(),
        named::<EnvironmentWish>(),
        named::<EnvironmentChange>(),
        named::<EnvironmentConfig>(),
        named::<EnvironmentConfigWish>(),
        named::<Networking>(),
        named::<NetworkingWish>(),
        named::<NetworkingUnrestricted>(),
        named::<NetworkingLimited>(),
        named::<NetworkingLimitedWish>(),
        named::<Packages>(),
        named::<PackagesWish>(),
        named::<AgentChoice>(),
        named::<AgentVersionChoice>(),
        named::<CacheCreation>(),
        named::<ListCost>(),
        named::<Session>(),
        named::<SessionStatus>(),
        named::<SessionUsage>(),
        named::<SessionStats>(),
        named::<SessionList>(),
        named::<LentWorkspace>(),
        named::<SessionWish>(),
        named::<SessionChange>(),
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
    #[schema(pattern = "^active$")]
    lifecycle: String,
    line: Nothing,
    capabilities: Nothing,
    max_input_tokens: Option<u64>,
    max_tokens: Option<u64>,
    allowed_fallback_models: Nothing,
    deprecated_at: Nothing,
    retires_at: Nothing,
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
struct Environment {
    #[schema(pattern = "^env_")]
    id: String,
    #[schema(pattern = "^environment$")]
    r#type: String,
    name: String,
    description: String,
    config: EnvironmentConfig,
    scope: Nothing,
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
    config: Option<EnvironmentConfigWish>,
    metadata: Option<Metadata>,
}

#[derive(ToSchema)]
struct EnvironmentChange {
    #[schema(min_length = 1, max_length = 256)]
    name: Option<String>,
    #[schema(max_length = 2048)]
    description: Option<String>,
    config: Option<EnvironmentConfigWish>,
    metadata: Option<MetadataChange>,
}

#[derive(ToSchema)]
struct EnvironmentConfig {
    #[schema(pattern = "^cloud$")]
    r#type: String,
    networking: Networking,
    packages: Packages,
}

#[derive(ToSchema)]
struct EnvironmentConfigWish {
    #[schema(pattern = "^cloud$")]
    r#type: String,
    networking: Option<NetworkingWish>,
    packages: Option<PackagesWish>,
}

one_of!(
    /// What sessions reach.
    Networking: NetworkingUnrestricted, NetworkingLimited
);

one_of!(
    /// The same in a request.
    NetworkingWish: NetworkingUnrestricted, NetworkingLimitedWish
);

/// With `--open-network` only.
#[derive(ToSchema)]
struct NetworkingUnrestricted {
    #[schema(pattern = "^unrestricted$")]
    r#type: String,
}

#[derive(ToSchema)]
struct NetworkingLimited {
    #[schema(pattern = "^limited$")]
    r#type: String,
    /// Names; `*.` in front stands for one label or more.
    #[schema(max_items = 256)]
    allowed_hosts: Vec<String>,
    allow_mcp_servers: bool,
    /// Always false.
    allow_package_managers: bool,
}

#[derive(ToSchema)]
struct NetworkingLimitedWish {
    #[schema(pattern = "^limited$")]
    r#type: String,
    #[schema(max_items = 256)]
    allowed_hosts: Option<Vec<String>>,
    allow_mcp_servers: Option<bool>,
    /// Must not be true.
    allow_package_managers: Option<bool>,
}

/// Nothing can be installed.
#[derive(ToSchema)]
struct Packages {
    #[schema(pattern = "^packages$")]
    r#type: String,
    #[schema(max_items = 0)]
    apt: Vec<String>,
    #[schema(max_items = 0)]
    cargo: Vec<String>,
    #[schema(max_items = 0)]
    gem: Vec<String>,
    #[schema(max_items = 0)]
    go: Vec<String>,
    #[schema(max_items = 0)]
    npm: Vec<String>,
    #[schema(max_items = 0)]
    pip: Vec<String>,
}

#[derive(ToSchema)]
struct PackagesWish {
    #[schema(pattern = "^packages$")]
    r#type: Option<String>,
    #[schema(max_items = 0)]
    apt: Option<Vec<String>>,
    #[schema(max_items = 0)]
    cargo: Option<Vec<String>>,
    #[schema(max_items = 0)]
    gem: Option<Vec<String>>,
    #[schema(max_items = 0)]
    go: Option<Vec<String>>,
    #[schema(max_items = 0)]
    npm: Option<Vec<String>>,
    #[schema(max_items = 0)]
    pip: Option<Vec<String>>,
}

/// The id of an agent, or an object with it and a version.
struct AgentChoice;

impl PartialSchema for AgentChoice {
    fn schema() -> RefOr<Schema> {
        id_or::<AgentVersionChoice>()
    }
}

impl ToSchema for AgentChoice {}

#[derive(ToSchema)]
struct AgentVersionChoice {
    #[schema(pattern = "^agent$")]
    r#type: String,
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    #[schema(minimum = 1)]
    version: Option<u64>,
}

#[derive(ToSchema)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

/// Whole cents.
#[derive(ToSchema)]
struct ListCost {
    #[schema(pattern = "^[0-9]+$")]
    amount: String,
    #[schema(pattern = "^USD$")]
    currency: String,
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
    cache_creation: Option<CacheCreation>,
    active_seconds: f64,
    list_cost: Option<ListCost>,
    server_tool_use: Nothing,
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
    agent: AgentSnapshot,
    environment_id: String,
    vault_ids: Vec<String>,
    status: SessionStatus,
    title: Option<String>,
    metadata: Metadata,
    resources: Vec<Resource>,
    #[schema(max_items = 0)]
    outcome_evaluations: Vec<Nothing>,
    usage: SessionUsage,
    stats: SessionStats,
    budget: Nothing,
    deployment_id: Nothing,
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
    variables: Option<BTreeMap<String, String>>,
}

#[derive(ToSchema)]
struct SessionList {
    data: Vec<Session>,
    next_page: Option<String>,
    prev_page: Option<String>,
}

#[derive(ToSchema)]
struct SessionWish {
    agent: AgentChoice,
    environment_id: String,
    #[schema(max_length = 500)]
    title: Option<String>,
    metadata: Option<Metadata>,
    #[schema(max_items = 100)]
    resources: Option<Vec<ResourceWish>>,
    #[schema(max_items = 200)]
    initial_events: Option<Vec<UserMessageWish>>,
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
