//! What stands in the log of a session. The names and fields are those of the wire.

use crate::id::EventId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One event: what was appended, under which id, when.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Its name and its place in the order.
    pub id: EventId,
    /// When it was taken in, as text.
    pub processed_at: String,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// Every type of event that this server accepts or emits, as it stands on the wire.
pub const EVENT_TYPES: [&str; 20] = [
    "user.message",
    "user.interrupt",
    "user.custom_tool_result",
    "user.tool_confirmation",
    "agent.message",
    "agent.thinking",
    "agent.custom_tool_use",
    "agent.tool_use",
    "agent.tool_result",
    "agent.mcp_tool_use",
    "agent.mcp_tool_result",
    "session.status_running",
    "session.status_rescheduled",
    "session.status_idle",
    "session.status_terminated",
    "session.error",
    "session.updated",
    "session.deleted",
    "span.model_request_start",
    "span.model_request_end",
];

/// What happened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Body {
    /// A user wrote.
    #[serde(rename = "user.message")]
    UserMessage {
        /// Blocks of text, images and documents.
        content: Vec<Value>,
    },
    /// A user wants the turn to end.
    #[serde(rename = "user.interrupt")]
    UserInterrupt {},
    /// A client ran a custom tool.
    #[serde(rename = "user.custom_tool_result")]
    CustomToolResult {
        /// Which call it answers.
        custom_tool_use_id: EventId,
        /// What came out.
        content: Vec<Value>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// A user allows or denies a tool.
    #[serde(rename = "user.tool_confirmation")]
    ToolConfirmation {
        /// Which call.
        tool_use_id: EventId,
        /// The decision.
        result: ToolAnswer,
        /// Why not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        deny_message: Option<String>,
    },
    /// The agent wrote.
    #[serde(rename = "agent.message")]
    AgentMessage {
        /// Blocks of text.
        content: Vec<Value>,
    },
    /// The agent thinks.
    #[serde(rename = "agent.thinking")]
    AgentThinking {},
    /// The agent calls a tool that the client runs.
    #[serde(rename = "agent.custom_tool_use")]
    CustomToolUse {
        /// Which tool.
        name: String,
        /// With what.
        input: Map<String, Value>,
    },
    /// The agent calls a built-in tool.
    #[serde(rename = "agent.tool_use")]
    ToolUse {
        /// Which tool.
        name: String,
        /// With what.
        input: Map<String, Value>,
        /// What the agent's policy says about it.
        evaluated_permission: Permission,
    },
    /// What a built-in tool gave.
    #[serde(rename = "agent.tool_result")]
    ToolResult {
        /// Which call.
        tool_use_id: EventId,
        /// What came out.
        content: Vec<Value>,
        /// Whether it failed.
        is_error: bool,
    },
    /// The agent calls a tool of an MCP server.
    #[serde(rename = "agent.mcp_tool_use")]
    McpToolUse {
        /// Which server.
        mcp_server_name: String,
        /// Which tool.
        name: String,
        /// With what.
        input: Map<String, Value>,
        /// What the agent's policy says about it.
        evaluated_permission: Permission,
    },
    /// What a tool of an MCP server gave.
    #[serde(rename = "agent.mcp_tool_result")]
    McpToolResult {
        /// Which call.
        mcp_tool_use_id: EventId,
        /// What came out.
        content: Vec<Value>,
        /// Whether it failed.
        is_error: bool,
    },
    /// A turn goes on.
    #[serde(rename = "session.status_running")]
    StatusRunning {},
    /// A turn will be tried again.
    #[serde(rename = "session.status_rescheduled")]
    StatusRescheduled {},
    /// Nothing runs.
    #[serde(rename = "session.status_idle")]
    StatusIdle {
        /// Why not.
        stop_reason: StopReason,
    },
    /// Nothing will run again.
    #[serde(rename = "session.status_terminated")]
    StatusTerminated {},
    /// Something failed.
    #[serde(rename = "session.error")]
    SessionError {
        /// What.
        error: SessionError,
    },
    /// Somebody changed what people call it, or what they noted about it.
    #[serde(rename = "session.updated")]
    SessionUpdated {
        /// What it is called now, if that changed; null if nothing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        title: Option<Value>,
        /// All notes, if they changed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Map<String, Value>>,
    },
    /// The last that is heard of a session.
    #[serde(rename = "session.deleted")]
    SessionDeleted {},
    /// A model is asked.
    #[serde(rename = "span.model_request_start")]
    ModelRequestStart {},
    /// A model has answered, or will not.
    #[serde(rename = "span.model_request_end")]
    ModelRequestEnd {
        /// Which request.
        model_request_start_id: EventId,
        /// Whether it failed.
        is_error: bool,
        /// What it took.
        model_usage: Usage,
    },
}

impl Body {
    /// Its name on the wire.
    pub fn type_name(&self) -> &'static str {
        match self {
            Body::UserMessage { .. } => "user.message",
            Body::UserInterrupt {} => "user.interrupt",
            Body::CustomToolResult { .. } => "user.custom_tool_result",
            Body::ToolConfirmation { .. } => "user.tool_confirmation",
            Body::AgentMessage { .. } => "agent.message",
            Body::AgentThinking {} => "agent.thinking",
            Body::CustomToolUse { .. } => "agent.custom_tool_use",
            Body::ToolUse { .. } => "agent.tool_use",
            Body::ToolResult { .. } => "agent.tool_result",
            Body::McpToolUse { .. } => "agent.mcp_tool_use",
            Body::McpToolResult { .. } => "agent.mcp_tool_result",
            Body::StatusRunning {} => "session.status_running",
            Body::StatusRescheduled {} => "session.status_rescheduled",
            Body::StatusIdle { .. } => "session.status_idle",
            Body::StatusTerminated {} => "session.status_terminated",
            Body::SessionError { .. } => "session.error",
            Body::SessionUpdated { .. } => "session.updated",
            Body::SessionDeleted {} => "session.deleted",
            Body::ModelRequestStart {} => "span.model_request_start",
            Body::ModelRequestEnd { .. } => "span.model_request_end",
        }
    }
}

/// A user's decision about a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolAnswer {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// What a policy says about a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It runs.
    Allow,
    /// A user is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// Why nothing runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StopReason {
    /// The agent is done, or was stopped.
    EndTurn,
    /// Somebody has to answer these calls.
    RequiresAction {
        /// The calls.
        event_ids: Vec<EventId>,
    },
    /// Trying again did not help.
    RetriesExhausted,
}

/// What failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SessionError {
    /// Which kind of failure.
    #[serde(rename = "type")]
    pub kind: ErrorKind,
    /// What to tell people.
    pub message: String,
    /// Whether somebody tries again.
    pub retry_status: RetryStatus,
    /// Which MCP server it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp_server_name: Option<String>,
}

impl SessionError {
    /// A failure that is about no MCP server.
    pub fn new(kind: ErrorKind, message: String, retry_status: RetryStatus) -> SessionError {
        SessionError { kind, message, retry_status, mcp_server_name: None }
    }
}

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// None of the others.
    UnknownError,
    /// The model has too much to do.
    ModelOverloadedError,
    /// The model was asked too often.
    ModelRateLimitedError,
    /// The model refused or failed.
    ModelRequestFailedError,
    /// Whoever pays for the model does not.
    BillingError,
    /// An MCP server cannot be reached.
    McpConnectionFailedError,
    /// An MCP server does not know who asks.
    McpAuthenticationFailedError,
}

/// Whether a failure is tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RetryStatus {
    /// It is.
    Retrying,
    /// It was, often enough.
    Exhausted,
    /// It makes no sense to.
    Terminal,
}

/// What a request to a model took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens put into a cache.
    pub cache_creation_input_tokens: u64,
    /// Tokens taken from a cache.
    pub cache_read_input_tokens: u64,
}

impl Usage {
    /// Both together.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cache_creation_input_tokens: self
                .cache_creation_input_tokens
                .saturating_add(other.cache_creation_input_tokens),
            cache_read_input_tokens: self
                .cache_read_input_tokens
                .saturating_add(other.cache_read_input_tokens),
        }
    }
}
