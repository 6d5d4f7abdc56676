//! The Agent Client Protocol, from the client's side: one session, one prompt, until the turn ends.
//!
//! The library speaks the protocol; lines come and go through channels, so that an agent which
//! hangs, floods or dies is handled where every other agent is. No files and no terminals are
//! offered: an agent uses its own. It is allowed what it asks for, because what it may do is
//! decided by the sandbox, not by asking; unless whoever runs it wants to be [asked](Leave).

use crate::call::CallFacts;
use crate::event::{AgentEvent, RateLimit, Usage, call_id, shortened};
use crate::leave::{Decision, Leave};
use crate::streams::Heard;
use crate::task::Attachment;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    BlobResourceContents, ContentBlock, EmbeddedResource, EmbeddedResourceResource, ImageContent,
    InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptCapabilities, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, ResourceLink,
    SelectedPermissionOutcome, SessionNotification, SessionUpdate, StopReason, TextContent,
    TextResourceContents, ToolCallStatus, ToolCallUpdate, UsageUpdate,
};
use agent_client_protocol::{Agent, Client, Error, Lines};
use futures::StreamExt;
use futures::channel::mpsc::UnboundedReceiver;
use serde_json::Value;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, SyncSender};

/// The protocol has no code of its own for a service that has had enough. Agents hand on what the
/// service said: as the code of the error or, in its data, as a status or the name of the error.
const LATER: [i64; 2] = [429, 529];
const LATER_NAMES: [&str; 8] = [
    "rate_limit",
    "rate_limit_error",
    "rate_limit_exceeded",
    "rate_limited",
    "too_many_requests",
    "resource_exhausted",
    "overloaded",
    "overloaded_error",
];
/// Where the data has a status, a name, and how long to stay away.
const STATUS: [&str; 5] = ["status", "statusCode", "status_code", "httpStatus", "code"];
const NAME: [&str; 5] = ["type", "kind", "code", "error", "reason"];
const SECONDS: [&str; 3] = ["retry_after", "retryAfter", "retry_after_seconds"];
const MILLIS: [&str; 3] = ["retry_after_ms", "retryAfterMs", "retry_after_millis"];
/// What an error without data, or with nothing but a text, has to say in so many words.
const LATER_WORDS: [&str; 3] = ["429 too many requests", "rate limit exceeded", "529 overloaded"];

/// What an agent is told.
pub(crate) struct Prompt {
    pub text: String,
    pub attachments: Vec<Attachment>,
}

impl Prompt {
    /// As blocks, if the agent takes such.
    fn blocks(self, takes: &PromptCapabilities) -> Result<Vec<ContentBlock>, Error> {
        let text = |text: String| ContentBlock::Text(TextContent::new(text));
        let resource = |one| Ok(ContentBlock::Resource(EmbeddedResource::new(one)));
        let refused = |what: &str| {
            let why = format!("the message has {what}, and this agent does not take any");
            Err(Error::invalid_request().data(why))
        };
        let attached = |attachment: Attachment| match attachment {
            Attachment::Image { data, mime_type } if takes.image => {
                Ok(ContentBlock::Image(ImageContent::new(data, mime_type)))
            }
            Attachment::Image { .. } => refused("an image"),
            Attachment::Text { name, text } if takes.embedded_context => {
                let contents = TextResourceContents::new(text, uri(&name));
                let contents = contents.mime_type("text/plain".to_string());
                resource(EmbeddedResourceResource::TextResourceContents(contents))
            }
            Attachment::Text { name, text: words } => Ok(text(format!("{name}:\n\n{words}"))),
            Attachment::Blob { name, data, mime_type } if takes.embedded_context => {
                let contents = BlobResourceContents::new(data, uri(&name)).mime_type(mime_type);
                resource(EmbeddedResourceResource::BlobResourceContents(contents))
            }
            Attachment::Blob { .. } => refused("a document that is no text"),
            // All agents take these.
            Attachment::Link { uri } => {
                Ok(ContentBlock::ResourceLink(ResourceLink::new(uri.clone(), uri)))
            }
        };
        let first = Some(self.text).filter(|text| !text.is_empty()).map(|words| Ok(text(words)));
        first.into_iter().chain(self.attachments.into_iter().map(attached)).collect()
    }
}

fn uri(name: &str) -> String {
    format!("assay:{name}")
}

/// One conversation.
pub(crate) struct Conversation {
    pub prompt: Prompt,
    pub work: PathBuf,
    pub leave: Leave,
    /// Lines the agent writes.
    pub incoming: UnboundedReceiver<String>,
    /// Lines for the agent.
    pub outgoing: Sender<String>,
    pub tell: SyncSender<Heard>,
}

/// Holds the conversation in a thread of its own. It ends when the turn does, or when the agent's
/// lines end.
pub(crate) fn converse(conversation: Conversation) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let work = move || {
        // An agent may leave as soon as nobody speaks to it: first it is told how the turn went.
        let (tell, open) = (conversation.tell.clone(), conversation.outgoing.clone());
        let over = runtime.block_on(hold(conversation)).map_err(|error| error.to_string());
        // Nobody listens any more: then it does not matter.
        let _unheard = tell.send(Heard::TurnOver(over));
        drop(open);
    };
    std::thread::Builder::new().name("agent-acp".to_string()).spawn(work).map(|_| ())
}

async fn hold(conversation: Conversation) -> Result<(), Error> {
    let Conversation { prompt, work, leave, incoming, outgoing, tell } = conversation;
    let sink = futures::sink::unfold(outgoing, |outgoing, line: String| async move {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        outgoing.send(line).map(|()| outgoing).map_err(gone)
    });
    let lines = Lines::new(sink, incoming.map(Ok));
    let (updates, asked, events) = (tell.clone(), tell.clone(), tell);
    Client
        .v1()
        .name("assay")
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                for event in understood(notification.update) {
                    let _unheard = updates.send(Heard::Event(event));
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, connection| {
                let Leave::Asked(questions) = &leave else {
                    return responder.respond(RequestPermissionResponse::new(allow(&request)));
                };
                let (question, answer) = questions.ask();
                let _unheard = asked.send(Heard::Event(leave_asked(question, &request)));
                // Others are heard meanwhile.
                connection.spawn(async move {
                    let outcome = match answer.await {
                        Ok(Decision::Allow) => allow(&request),
                        Ok(Decision::Deny) => deny(&request),
                        Err(_) => RequestPermissionOutcome::Cancelled,
                    };
                    responder.respond(RequestPermissionResponse::new(outcome))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(lines, async move |connection: ConnectionTo<Agent>| {
            let turn = take_turn(&connection, prompt, work, &events).await;
            if let Err(error) = &turn {
                let _unheard = events.send(Heard::Event(failed(error)));
            }
            turn
        })
        .await
}

async fn take_turn(
    connection: &ConnectionTo<Agent>,
    prompt: Prompt,
    work: PathBuf,
    events: &SyncSender<Heard>,
) -> Result<(), Error> {
    let ask = InitializeRequest::new(ProtocolVersion::V1);
    let hello = connection.send_request(ask).block_task().await?;
    if hello.protocol_version != ProtocolVersion::V1 {
        let what = "the agent does not speak version 1 of the Agent Client Protocol";
        return Err(Error::invalid_request().data(what));
    }
    let prompt = prompt.blocks(&hello.agent_capabilities.prompt_capabilities)?;
    let session = connection.send_request(NewSessionRequest::new(work)).block_task().await?;
    let session = session.session_id;
    let started = AgentEvent::Started { session: Some(session.to_string()), model: None };
    let _unheard = events.send(Heard::Event(started));
    let turn = connection.send_request(PromptRequest::new(session, prompt)).block_task().await?;
    let (ok, message) = match turn.stop_reason {
        StopReason::EndTurn => (true, "end of turn"),
        StopReason::MaxTokens => (false, "it ran out of tokens"),
        StopReason::MaxTurnRequests => (false, "it made too many requests in one turn"),
        StopReason::Refusal => (false, "it refused"),
        StopReason::Cancelled => (false, "it was cancelled"),
        _ => (false, "it stopped for a reason that is not known here"),
    };
    let finished = AgentEvent::Finished { ok, message: message.to_string() };
    let _unheard = events.send(Heard::Event(finished));
    Ok(())
}

fn understood(update: SessionUpdate) -> Vec<AgentEvent> {
    let words = |content: ContentBlock| match content {
        ContentBlock::Text(text) => Some(text.text),
        _ => None,
    };
    match update {
        // Whole: for some who listen this is the answer, and an agent may give it in one piece.
        SessionUpdate::AgentMessageChunk(chunk) => {
            words(chunk.content).map(|text| AgentEvent::Text { text }).into_iter().collect()
        }
        SessionUpdate::AgentThoughtChunk(chunk) => {
            let text = words(chunk.content).map(|text| shortened(&text));
            text.map(|text| AgentEvent::Thought { text }).into_iter().collect()
        }
        SessionUpdate::ToolCall(call) => {
            let (id, name) = (call_id(&call.tool_call_id.0), shortened(&call.title));
            let ended = ended(call.status);
            let call = CallFacts::of_call(call).told();
            let used = AgentEvent::ToolUse { id: id.clone(), name, detail: String::new(), call };
            // It may have ended before it is told.
            let result = ended.map(|ok| AgentEvent::ToolResult { id, ok, call: None });
            [Some(used), result].into_iter().flatten().collect()
        }
        SessionUpdate::ToolCallUpdate(update) => updated(update).into_iter().collect(),
        // What is in the context is not what was used; what it has cost so far is.
        SessionUpdate::UsageUpdate(UsageUpdate { cost: Some(cost), .. })
            if cost.currency == "USD" && cost.amount.is_finite() && cost.amount >= 0.0 =>
        {
            let cost_usd = Some(cost.amount);
            vec![AgentEvent::Usage(Usage { cost_usd, ..Usage::default() })]
        }
        _ => Vec::new(),
    }
}

/// Whether a call has ended, and how.
fn ended(status: ToolCallStatus) -> Option<bool> {
    match status {
        ToolCallStatus::Completed => Some(true),
        ToolCallStatus::Failed => Some(false),
        _ => None,
    }
}

fn updated(update: ToolCallUpdate) -> Option<AgentEvent> {
    let (id, ended) = (call_id(&update.tool_call_id.0), update.fields.status.and_then(ended));
    let name = update.fields.title.as_deref().map(shortened);
    let call = CallFacts::of_update(update.fields).told();
    match ended {
        Some(ok) => Some(AgentEvent::ToolResult { id, ok, call }),
        None if name.is_none() && call.is_none() => None,
        None => Some(AgentEvent::ToolUpdate { id, name, call }),
    }
}

fn leave_asked(question: u64, request: &RequestPermissionRequest) -> AgentEvent {
    let ToolCallUpdate { tool_call_id, fields, .. } = request.tool_call.clone();
    let name = fields.title.as_deref().map(shortened);
    let call = CallFacts::of_update(fields).told();
    AgentEvent::LeaveAsked { question, id: call_id(&tool_call_id.0), name, call }
}

/// The narrowest permission that is offered; none if only refusals are.
fn allow(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    select(request, [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways])
}

/// The narrowest refusal that is offered; none if only permissions are.
fn deny(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    select(request, [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways])
}

fn select(
    request: &RequestPermissionRequest,
    kinds: [PermissionOptionKind; 2],
) -> RequestPermissionOutcome {
    let option = kinds
        .into_iter()
        .find_map(|kind| request.options.iter().find(|option| option.kind == kind));
    match option {
        Some(option) => {
            let id = option.option_id.clone();
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id))
        }
        None => RequestPermissionOutcome::Cancelled,
    }
}

fn failed(error: &Error) -> AgentEvent {
    let message = shortened(&error.to_string());
    let limit = limit(&serde_json::to_value(error).unwrap_or_default(), &message);
    AgentEvent::Failed { message, limit }
}

/// Whether an error is one to come back after. Data with fields decides; only without it does the
/// text, because a text is about anything: also about a test of code 429.
fn limit(error: &Value, message: &str) -> Option<RateLimit> {
    let is_later = |value: &Value| value.as_i64().is_some_and(|code| LATER.contains(&code));
    if is_later(&error["code"]) {
        return Some(waited(&error["data"]));
    }
    let data = &error["data"];
    if !data.is_object() {
        let said = message.to_lowercase();
        let later = LATER_WORDS.iter().any(|words| said.contains(words));
        return later.then(RateLimit::default);
    }
    // Some hand on the whole answer of the service, with the error inside.
    let found = [data, &data["error"]].into_iter().find(|place| {
        let name = |key: &str| {
            let said = place[key].as_str().map(str::to_lowercase);
            said.is_some_and(|said| LATER_NAMES.contains(&said.as_str()))
        };
        STATUS.iter().any(|key| is_later(&place[*key])) || NAME.iter().any(|key| name(key))
    });
    found.map(|_| waited(data))
}

fn waited(data: &Value) -> RateLimit {
    let number = |keys: &[&str], unit: u64| {
        let found = keys.iter().find_map(|key| data[*key].as_u64());
        found.map(|number| number.saturating_mul(unit))
    };
    let retry_after_millis = number(&MILLIS, 1).or_else(|| number(&SECONDS, 1000));
    RateLimit { retry_after_millis, resets_at_unix: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn heard(update: Value) -> Vec<AgentEvent> {
        understood(serde_json::from_value(update).expect("an update of the protocol"))
    }

    #[test]
    fn a_call_and_its_result_have_the_name_that_the_agent_gave_it() {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c7", "title": "look"});
        let (id, name, detail) = (Some("c7".to_string()), "look".to_string(), String::new());
        let used = AgentEvent::ToolUse { id: id.clone(), name, detail, call: None };
        assert_eq!(heard(call), [used]);
        let update = |status: &str| {
            heard(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c7",
                "status": status}))
        };
        let call = Some(Box::new(CallFacts { has_begun: true, ..CallFacts::default() }));
        let begun = AgentEvent::ToolUpdate { id: id.clone(), name: None, call: call.clone() };
        assert_eq!((update("pending"), update("in_progress")), (Vec::new(), vec![begun]));
        let result = |ok| [AgentEvent::ToolResult { id: id.clone(), ok, call: call.clone() }];
        assert_eq!(update("completed"), result(true));
        assert_eq!(update("failed"), result(false));
    }

    #[test]
    fn what_it_cost_is_taken_in_dollars() {
        let update = |amount: f64, currency: &str| {
            heard(json!({"sessionUpdate": "usage_update", "used": 53000, "size": 200000,
                "cost": {"amount": amount, "currency": currency}}))
        };
        let usage = Usage { cost_usd: Some(0.045), ..Usage::default() };
        assert_eq!(update(0.045, "USD"), [AgentEvent::Usage(usage)]);
        assert_eq!((update(3.0, "credits"), update(-1.0, "USD")), (Vec::new(), Vec::new()));
        let silent = json!({"sessionUpdate": "usage_update", "used": 1, "size": 2});
        assert_eq!(heard(silent), []);
    }

    #[test]
    fn what_an_error_says_with_fields_decides_whether_to_come_back() {
        let wait = |millis| RateLimit { retry_after_millis: Some(millis), resets_at_unix: None };
        let now = Some(RateLimit::default());
        for (code, data, expected) in [
            (429, json!(null), now),
            (529, json!({"retry_after": 3}), Some(wait(3000))),
            (-32603, json!({"status": 429, "retryAfterMs": 250}), Some(wait(250))),
            (-32603, json!({"error": {"type": "overloaded_error"}}), now),
            (-32603, json!({"code": "RESOURCE_EXHAUSTED"}), now),
            (-32603, json!("the service said: 429 Too Many Requests"), now),
            (-32603, json!("the test http_429_is_overloaded fails"), None),
            (-32603, json!("its rate limit of 3 is tested by 429 requests"), None),
            (-32603, json!({"status": 500, "details": "429 too many requests"}), None),
            (-32603, json!({"details": "rate limit exceeded"}), None),
            (-32603, json!(null), None),
        ] {
            let error = Error::new(code, "it failed").data(data.clone());
            let AgentEvent::Failed { limit, .. } = failed(&error) else {
                panic!("an error is a failure");
            };
            assert_eq!(limit, expected, "{code} {data}");
        }
    }
}
