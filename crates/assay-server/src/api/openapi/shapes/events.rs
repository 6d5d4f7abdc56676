//! Events: those that clients send, and all that stand in logs.

use super::content::{MessageBlock, ResultBlock, TextBlock};
use super::{Metadata, Named, Open, named, one_of};
use utoipa::ToSchema;

/// All shapes of this file.
pub fn all() -> Vec<Named> {
    vec![
        named::<Event>(),
        named::<EventWish>(),
        named::<EventsSent>(),
        named::<EventList>(),
        named::<InboundEvent>(),
        named::<UserMessageWish>(),
        named::<UserInterruptWish>(),
        named::<UserCustomToolResultWish>(),
        named::<UserToolConfirmationWish>(),
        named::<Permission>(),
        named::<StopReason>(),
        named::<EndTurn>(),
        named::<RequiresAction>(),
        named::<RetriesExhausted>(),
        named::<SessionError>(),
        named::<ErrorKind>(),
        named::<RetryStatus>(),
        named::<ModelUsage>(),
        named::<UserMessage>(),
        named::<UserInterrupt>(),
        named::<UserCustomToolResult>(),
        named::<UserToolConfirmation>(),
        named::<AgentMessage>(),
        named::<AgentThinking>(),
        named::<AgentCustomToolUse>(),
        named::<AgentToolUse>(),
        named::<AgentToolResult>(),
        named::<AgentMcpToolUse>(),
        named::<AgentMcpToolResult>(),
        named::<SessionStatusRunning>(),
        named::<SessionStatusRescheduled>(),
        named::<SessionStatusIdle>(),
        named::<SessionStatusTerminated>(),
        named::<SessionErrorEvent>(),
        named::<SessionUpdated>(),
        named::<SessionDeleted>(),
        named::<SpanModelRequestStart>(),
        named::<SpanModelRequestEnd>(),
    ]
}

one_of!(
    /// An event of a session.
    Event:
        UserMessage, UserInterrupt, UserCustomToolResult, UserToolConfirmation, AgentMessage,
        AgentThinking, AgentCustomToolUse, AgentToolUse, AgentToolResult, AgentMcpToolUse,
        AgentMcpToolResult, SessionStatusRunning, SessionStatusRescheduled, SessionStatusIdle,
        SessionStatusTerminated, SessionErrorEvent, SessionUpdated, SessionDeleted,
        SpanModelRequestStart, SpanModelRequestEnd
);

/// An event of one type: its name on the wire, and what it has besides id and time.
macro_rules! event {
    ($name:ident, $kind:literal, { $($fields:tt)* }) => {
        #[derive(ToSchema)]
        struct $name {
            #[schema(pattern = "^sevt_")]
            id: String,
            #[schema(pattern = $kind)]
            r#type: String,
            #[schema(format = DateTime)]
            processed_at: String,
            $($fields)*
        }
    };
}

event!(UserMessage, r"^user\.message$", {
    content: Vec<MessageBlock>,
});
event!(UserInterrupt, r"^user\.interrupt$", {});
event!(UserCustomToolResult, r"^user\.custom_tool_result$", {
    #[schema(pattern = "^sevt_")]
    custom_tool_use_id: String,
    content: Vec<ResultBlock>,
    is_error: bool,
});
event!(UserToolConfirmation, r"^user\.tool_confirmation$", {
    #[schema(pattern = "^sevt_")]
    tool_use_id: String,
    #[schema(pattern = "^(allow|deny)$")]
    result: String,
    deny_message: Option<String>,
});
event!(AgentMessage, r"^agent\.message$", {
    content: Vec<TextBlock>,
});
event!(AgentThinking, r"^agent\.thinking$", {});
event!(AgentCustomToolUse, r"^agent\.custom_tool_use$", {
    name: String,
    input: Open,
});
event!(AgentToolUse, r"^agent\.tool_use$", {
    name: String,
    input: Open,
    evaluated_permission: Permission,
});
event!(AgentToolResult, r"^agent\.tool_result$", {
    #[schema(pattern = "^sevt_")]
    tool_use_id: String,
    content: Vec<ResultBlock>,
    is_error: bool,
});
event!(AgentMcpToolUse, r"^agent\.mcp_tool_use$", {
    mcp_server_name: String,
    name: String,
    input: Open,
    evaluated_permission: Permission,
});
event!(AgentMcpToolResult, r"^agent\.mcp_tool_result$", {
    #[schema(pattern = "^sevt_")]
    mcp_tool_use_id: String,
    content: Vec<ResultBlock>,
    is_error: bool,
});
event!(SessionStatusRunning, r"^session\.status_running$", {});
event!(SessionStatusRescheduled, r"^session\.status_rescheduled$", {});
event!(SessionStatusIdle, r"^session\.status_idle$", {
    stop_reason: StopReason,
});
event!(SessionStatusTerminated, r"^session\.status_terminated$", {});
event!(SessionErrorEvent, r"^session\.error$", {
    error: SessionError,
});
event!(SessionUpdated, r"^session\.updated$", {
    title: Option<String>,
    metadata: Option<Metadata>,
});
event!(SessionDeleted, r"^session\.deleted$", {});
event!(SpanModelRequestStart, r"^span\.model_request_start$", {});
event!(SpanModelRequestEnd, r"^span\.model_request_end$", {
    #[schema(pattern = "^sevt_")]
    model_request_start_id: String,
    is_error: bool,
    model_usage: ModelUsage,
});

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
enum Permission {
    Allow,
    Ask,
    Deny,
}

one_of!(
    /// Why nothing runs.
    StopReason: EndTurn, RequiresAction, RetriesExhausted
);

#[derive(ToSchema)]
struct EndTurn {
    #[schema(pattern = "^end_turn$")]
    r#type: String,
}

/// Somebody has to answer these calls.
#[derive(ToSchema)]
struct RequiresAction {
    #[schema(pattern = "^requires_action$")]
    r#type: String,
    #[schema(min_items = 1)]
    event_ids: Vec<String>,
}

#[derive(ToSchema)]
struct RetriesExhausted {
    #[schema(pattern = "^retries_exhausted$")]
    r#type: String,
}

#[derive(ToSchema)]
struct SessionError {
    r#type: ErrorKind,
    message: String,
    retry_status: RetryStatus,
    mcp_server_name: Option<String>,
}

#[derive(ToSchema)]
enum ErrorKind {
    #[schema(rename = "unknown_error")]
    Unknown,
    #[schema(rename = "model_overloaded_error")]
    ModelOverloaded,
    #[schema(rename = "model_rate_limited_error")]
    ModelRateLimited,
    #[schema(rename = "model_request_failed_error")]
    ModelRequestFailed,
    #[schema(rename = "billing_error")]
    Billing,
    #[schema(rename = "mcp_connection_failed_error")]
    McpConnectionFailed,
    #[schema(rename = "mcp_authentication_failed_error")]
    McpAuthenticationFailed,
}

#[derive(ToSchema)]
struct RetryStatus {
    #[schema(pattern = "^(retrying|exhausted|terminal)$")]
    r#type: String,
}

#[derive(ToSchema)]
struct ModelUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

#[derive(ToSchema)]
struct EventWish {
    #[schema(min_items = 1, max_items = 200)]
    events: Vec<InboundEvent>,
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

one_of!(
    /// What clients send.
    InboundEvent: UserMessageWish, UserInterruptWish, UserCustomToolResultWish,
        UserToolConfirmationWish
);

#[derive(ToSchema)]
pub(super) struct UserMessageWish {
    #[schema(pattern = r"^user\.message$")]
    r#type: String,
    #[schema(min_items = 1, max_items = 1000)]
    content: Vec<MessageBlock>,
}

#[derive(ToSchema)]
struct UserInterruptWish {
    #[schema(pattern = r"^user\.interrupt$")]
    r#type: String,
}

#[derive(ToSchema)]
struct UserCustomToolResultWish {
    #[schema(pattern = r"^user\.custom_tool_result$")]
    r#type: String,
    #[schema(max_length = 128)]
    custom_tool_use_id: String,
    #[schema(max_items = 1000)]
    content: Option<Vec<ResultBlock>>,
    is_error: Option<bool>,
}

/// `deny_message` is only allowed with `deny`.
#[derive(ToSchema)]
struct UserToolConfirmationWish {
    #[schema(pattern = r"^user\.tool_confirmation$")]
    r#type: String,
    #[schema(max_length = 128)]
    tool_use_id: String,
    #[schema(pattern = "^(allow|deny)$")]
    result: String,
    deny_message: Option<String>,
}
