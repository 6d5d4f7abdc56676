//! Agents: what they are made of, and what may be said about that.

use super::{Metadata, MetadataChange, Named, Nothing, id_or, named, one_of};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<Agent>(),
        named::<AgentList>(),
        named::<AgentWish>(),
        named::<AgentChange>(),
        named::<AgentSnapshot>(),
        named::<ModelOfAgent>(),
        named::<ModelWish>(),
        named::<ModelChoice>(),
        named::<SkillOfAgent>(),
        named::<SkillOfAgentWish>(),
        named::<McpServer>(),
        named::<ExecutionIdentity>(),
        named::<Tool>(),
        named::<ToolWish>(),
        named::<Toolset>(),
        named::<ToolsetWish>(),
        named::<ToolConfig>(),
        named::<ToolConfigWish>(),
        named::<McpToolset>(),
        named::<McpToolsetWish>(),
        named::<McpToolConfig>(),
        named::<McpToolConfigWish>(),
        named::<DefaultToolConfig>(),
        named::<DefaultToolConfigWish>(),
        named::<CustomTool>(),
        named::<InputSchema>(),
        named::<PermissionPolicy>(),
    ]
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
    model: ModelOfAgent,
    description: Option<String>,
    system: Option<String>,
    tools: Vec<Tool>,
    skills: Vec<SkillOfAgent>,
    mcp_servers: Vec<McpServer>,
    multiagent: Nothing,
    execution_identity: ExecutionIdentity,
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
    model: ModelWish,
    #[schema(max_length = 2048)]
    description: Option<String>,
    #[schema(max_length = 100_000)]
    system: Option<String>,
    #[schema(max_items = 128)]
    tools: Option<Vec<ToolWish>>,
    #[schema(max_items = 20)]
    skills: Option<Vec<SkillOfAgentWish>>,
    #[schema(max_items = 20)]
    mcp_servers: Option<Vec<McpServer>>,
    execution_identity: Option<ExecutionIdentity>,
    metadata: Option<Metadata>,
}

#[derive(ToSchema)]
struct AgentChange {
    /// The version that the change rests on.
    #[schema(minimum = 1)]
    version: Option<u64>,
    #[schema(min_length = 1, max_length = 256)]
    name: Option<String>,
    model: Option<ModelWish>,
    #[schema(max_length = 2048)]
    description: Option<String>,
    #[schema(max_length = 100_000)]
    system: Option<String>,
    #[schema(max_items = 128)]
    tools: Option<Vec<ToolWish>>,
    #[schema(max_items = 20)]
    skills: Option<Vec<SkillOfAgentWish>>,
    #[schema(max_items = 20)]
    mcp_servers: Option<Vec<McpServer>>,
    execution_identity: Option<ExecutionIdentity>,
    metadata: Option<MetadataChange>,
}

/// An agent as it was when a session began.
#[derive(ToSchema)]
pub(super) struct AgentSnapshot {
    #[schema(pattern = "^agent_")]
    id: String,
    #[schema(pattern = "^agent$")]
    r#type: String,
    #[schema(minimum = 1)]
    version: u64,
    name: String,
    model: ModelOfAgent,
    description: Option<String>,
    system: Option<String>,
    tools: Vec<Tool>,
    skills: Vec<SkillOfAgent>,
    mcp_servers: Vec<McpServer>,
    multiagent: Nothing,
    execution_identity: ExecutionIdentity,
}

#[derive(ToSchema)]
struct ModelOfAgent {
    id: String,
    #[schema(pattern = "^standard$")]
    speed: String,
}

/// The id of a model, or an object with it.
struct ModelWish;

impl PartialSchema for ModelWish {
    fn schema() -> RefOr<Schema> {
        id_or::<ModelChoice>()
    }
}

impl ToSchema for ModelWish {}

#[derive(ToSchema)]
struct ModelChoice {
    #[schema(min_length = 1, max_length = 256)]
    id: String,
    #[schema(pattern = "^standard$")]
    speed: Option<String>,
}

#[derive(ToSchema)]
struct SkillOfAgent {
    #[schema(pattern = "^custom$")]
    r#type: String,
    #[schema(pattern = "^skill_")]
    skill_id: String,
    version: String,
}

#[derive(ToSchema)]
struct SkillOfAgentWish {
    #[schema(pattern = "^custom$")]
    r#type: String,
    skill_id: String,
    /// `latest` if there is none.
    version: Option<String>,
}

/// Each has an `mcp_toolset` in `tools`.
#[derive(ToSchema)]
struct McpServer {
    #[schema(pattern = "^url$")]
    r#type: String,
    #[schema(pattern = "^[A-Za-z0-9_-]+$", max_length = 64)]
    name: String,
    #[schema(pattern = "^https?://", max_length = 2048)]
    url: String,
}

#[derive(ToSchema)]
struct ExecutionIdentity {
    #[schema(pattern = "^service_account$")]
    r#type: String,
}

one_of!(
    /// Tools that an agent has.
    Tool: Toolset, McpToolset, CustomTool
);

one_of!(
    /// The same in a request.
    ToolWish: ToolsetWish, McpToolsetWish, CustomTool
);

/// The built-in tools.
#[derive(ToSchema)]
struct Toolset {
    #[schema(pattern = "^agent_toolset_20260401$")]
    r#type: String,
    default_config: DefaultToolConfig,
    configs: Vec<ToolConfig>,
}

#[derive(ToSchema)]
struct ToolsetWish {
    #[schema(pattern = "^agent_toolset_20260401$")]
    r#type: String,
    default_config: Option<DefaultToolConfigWish>,
    configs: Option<Vec<ToolConfigWish>>,
}

#[derive(ToSchema)]
struct DefaultToolConfig {
    enabled: bool,
    permission_policy: PermissionPolicy,
}

#[derive(ToSchema)]
struct DefaultToolConfigWish {
    enabled: Option<bool>,
    permission_policy: Option<PermissionPolicy>,
}

/// `web_search` is not there, and is never enabled.
#[derive(ToSchema)]
struct ToolConfig {
    #[schema(pattern = "^(bash|edit|glob|grep|read|web_fetch|web_search|write)$")]
    r#type: String,
    #[schema(pattern = "^(bash|edit|glob|grep|read|web_fetch|web_search|write)$")]
    name: String,
    enabled: bool,
    permission_policy: PermissionPolicy,
}

#[derive(ToSchema)]
struct ToolConfigWish {
    /// The same as `name`.
    r#type: Option<String>,
    #[schema(pattern = "^(bash|edit|glob|grep|read|web_fetch|web_search|write)$")]
    name: String,
    enabled: Option<bool>,
    permission_policy: Option<PermissionPolicy>,
}

/// The tools of an MCP server.
#[derive(ToSchema)]
struct McpToolset {
    #[schema(pattern = "^mcp_toolset$")]
    r#type: String,
    mcp_server_name: String,
    default_config: DefaultToolConfig,
    configs: Vec<McpToolConfig>,
}

#[derive(ToSchema)]
struct McpToolsetWish {
    #[schema(pattern = "^mcp_toolset$")]
    r#type: String,
    #[schema(min_length = 1, max_length = 64)]
    mcp_server_name: String,
    default_config: Option<DefaultToolConfigWish>,
    #[schema(max_items = 128)]
    configs: Option<Vec<McpToolConfigWish>>,
}

#[derive(ToSchema)]
struct McpToolConfig {
    name: String,
    enabled: bool,
    permission_policy: PermissionPolicy,
}

#[derive(ToSchema)]
struct McpToolConfigWish {
    #[schema(min_length = 1, max_length = 128)]
    name: String,
    enabled: Option<bool>,
    permission_policy: Option<PermissionPolicy>,
}

/// A tool that the client runs.
#[derive(ToSchema)]
struct CustomTool {
    #[schema(pattern = "^custom$")]
    r#type: String,
    #[schema(pattern = "^[A-Za-z0-9_-]+$", max_length = 64)]
    name: String,
    #[schema(min_length = 1, max_length = 4096)]
    description: String,
    input_schema: InputSchema,
}

/// JSON Schema of an object.
struct InputSchema;

impl PartialSchema for InputSchema {
    fn schema() -> RefOr<Schema> {
        let kind = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^object$"));
        let more = Some(AdditionalProperties::FreeForm(true));
        let object = ObjectBuilder::new().schema_type(Type::Object);
        object.property("type", kind).required("type").additional_properties(more).into()
    }
}

impl ToSchema for InputSchema {}

#[derive(ToSchema)]
struct PermissionPolicy {
    #[schema(pattern = "^(always_allow|always_ask)$")]
    r#type: String,
}
