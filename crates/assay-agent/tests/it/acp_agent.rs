//! A small agent that speaks the Agent Client Protocol, by the library that defines it.

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse,
    NewSessionRequest, NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest,
    PromptResponse, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    SessionNotification, SessionUpdate, StopReason, TextContent, ToolCall, ToolCallUpdate,
    ToolCallUpdateFields,
};
use agent_client_protocol::{Agent, Client, Error, Lines};
use futures::channel::mpsc::unbounded;
use std::io::{self, BufRead, Write};
use std::path::Path;

/// Is an agent of this manner until nobody speaks to it.
pub fn be(manner: &str) -> u8 {
    if manner == "garbage" {
        println!("this is not JSON-RPC at all");
        println!("{{\"jsonrpc\": \"2.0\", \"id\": 0, \"result\": {{\"protocolVersion\": \"x\"}}}}");
        std::thread::park();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let ended = runtime.block_on(speak(manner.to_string()));
    if manner == "stays" {
        loop {
            std::thread::park();
        }
    }
    u8::from(ended.is_err())
}

async fn speak(manner: String) -> Result<(), Error> {
    let (forward, incoming) = unbounded();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if forward.unbounded_send(line).is_err() {
                return;
            }
        }
    });
    let sink = futures::sink::unfold((), |(), line: String| async move {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush())
    });
    Agent
        .v1()
        .name("small")
        .on_receive_request(
            async |hello: InitializeRequest, responder, _connection| {
                let capabilities = AgentCapabilities::new();
                let response = InitializeResponse::new(hello.protocol_version);
                responder.respond(response.agent_capabilities(capabilities))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async |session: NewSessionRequest, responder, _connection| {
                let here = std::env::current_dir().expect("a directory");
                assert_eq!(session.cwd, here, "it is told where it is");
                responder.respond(NewSessionResponse::new(SessionId::new("session-1")))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest, responder, connection: ConnectionTo<Client>| {
                let (manner, again) = (manner.clone(), connection.clone());
                // Not here: whoever waits for an answer in a handler keeps it from coming.
                connection.spawn(async move {
                    match work(&manner, &prompt, &again).await {
                        Ok(reason) => responder.respond(PromptResponse::new(reason)),
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_to(Lines::new(sink, incoming))
        .await
}

async fn work(
    manner: &str,
    prompt: &PromptRequest,
    connection: &ConnectionTo<Client>,
) -> Result<StopReason, Error> {
    let tell = |update: SessionUpdate| {
        connection.send_notification(SessionNotification::new(prompt.session_id.clone(), update))
    };
    let say = |text: &str| {
        let content = ContentBlock::Text(TextContent::new(text));
        tell(SessionUpdate::AgentMessageChunk(ContentChunk::new(content)))
    };
    let Some(ContentBlock::Text(asked)) = prompt.prompt.first() else {
        return Err(Error::invalid_params());
    };
    say(&asked.text)?;
    match manner {
        "hangs" => std::future::pending().await,
        "crashes" => std::process::exit(42),
        "limited" => Err(Error::internal_error().data("the service said: 429 too many requests")),
        "fails" => Err(Error::internal_error().data("no idea")),
        "refuses" => Ok(StopReason::Refusal),
        "asks" => {
            tell(SessionUpdate::ToolCall(ToolCall::new("call-1", "write a file")))?;
            let fields = ToolCallUpdateFields::new();
            let options = vec![
                PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
                PermissionOption::new("always", "Always", PermissionOptionKind::AllowAlways),
                PermissionOption::new("once", "Once", PermissionOptionKind::AllowOnce),
            ];
            let request = RequestPermissionRequest::new(
                prompt.session_id.clone(),
                ToolCallUpdate::new("call-1", fields),
                options,
            );
            let answer = connection.send_request(request).block_task().await?;
            let RequestPermissionOutcome::Selected(selected) = answer.outcome else {
                return Ok(StopReason::Cancelled);
            };
            say(&format!("allowed: {}", selected.option_id))?;
            let drop_box = std::env::var("ASSAY_DROP_BOX").expect("it is told");
            std::fs::write(Path::new(&drop_box).join("made"), "by an agent").expect("allowed");
            Ok(StopReason::EndTurn)
        }
        _ => Ok(StopReason::EndTurn),
    }
}
