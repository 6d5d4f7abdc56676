//! The Agent Client Protocol, from the client's side: one session, one prompt, until the turn ends.
//!
//! The library speaks the protocol; lines come and go through channels, so that an agent which
//! hangs, floods or dies is handled where every other agent is. No files and no terminals are
//! offered: an agent uses its own. It is allowed what it asks for, because what it may do is
//! decided by the sandbox, not by asking.

use crate::event::{AgentEvent, RateLimit, shortened};
use crate::streams::Heard;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PermissionOptionKind, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionNotification, SessionUpdate, StopReason, TextContent,
    ToolCallStatus,
};
use agent_client_protocol::{Agent, Client, Error, Lines};
use futures::StreamExt;
use futures::channel::mpsc::UnboundedReceiver;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, SyncSender};

/// What an error of the protocol says when the service behind the agent has had enough.
const LATER: [&str; 4] = ["429", "rate limit", "too many requests", "overloaded"];

/// One conversation.
pub(crate) struct Conversation {
    pub prompt: String,
    pub work: PathBuf,
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
        let tell = conversation.tell.clone();
        let over = runtime.block_on(hold(conversation)).map_err(|error| error.to_string());
        // Nobody listens any more: then it does not matter.
        let _unheard = tell.send(Heard::TurnOver(over));
    };
    std::thread::Builder::new().name("agent-acp".to_string()).spawn(work).map(|_| ())
}

async fn hold(conversation: Conversation) -> Result<(), Error> {
    let Conversation { prompt, work, incoming, outgoing, tell } = conversation;
    let sink = futures::sink::unfold(outgoing, |outgoing, line: String| async move {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        outgoing.send(line).map(|()| outgoing).map_err(gone)
    });
    let lines = Lines::new(sink, incoming.map(Ok));
    let (updates, events) = (tell.clone(), tell);
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
            async move |request: RequestPermissionRequest, responder, _connection| {
                responder.respond(RequestPermissionResponse::new(allow(&request)))
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
    prompt: String,
    work: PathBuf,
    events: &SyncSender<Heard>,
) -> Result<(), Error> {
    let ask = InitializeRequest::new(ProtocolVersion::V1);
    let hello = connection.send_request(ask).block_task().await?;
    if hello.protocol_version != ProtocolVersion::V1 {
        let what = "the agent does not speak version 1 of the Agent Client Protocol";
        return Err(Error::invalid_request().data(what));
    }
    let session = connection.send_request(NewSessionRequest::new(work)).block_task().await?;
    let session = session.session_id;
    let started = AgentEvent::Started { session: Some(session.to_string()), model: None };
    let _unheard = events.send(Heard::Event(started));
    let prompt = vec![ContentBlock::Text(TextContent::new(prompt))];
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
    let result = |status: ToolCallStatus| match status {
        ToolCallStatus::Completed => Some(AgentEvent::ToolResult { ok: true }),
        ToolCallStatus::Failed => Some(AgentEvent::ToolResult { ok: false }),
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
            let name = shortened(&call.title);
            let used = AgentEvent::ToolUse { name, detail: String::new() };
            // It may have ended before it is told.
            [Some(used), result(call.status)].into_iter().flatten().collect()
        }
        SessionUpdate::ToolCallUpdate(update) => {
            update.fields.status.and_then(result).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The narrowest permission that is offered; none if only refusals are.
fn allow(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let option = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]
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
    let lower = message.to_lowercase();
    let limit = LATER.iter().any(|words| lower.contains(words)).then(RateLimit::default);
    AgentEvent::Failed { message, limit }
}
