//! MCP servers of agents: asked by the server, never by the sandbox, through the guard.
//!
//! At the beginning of a turn each server is asked for its tools. One that cannot be reached is a
//! `session.error`, and the turn goes on without its tools. Redirects are not followed; what may be
//! reached is decided for every request anew.

use super::fetch::authority;
use super::host::{Host, Stop};
use super::room::Gave;
use super::toolbox::Wanted;
use crate::api::{ToolAccess, mcp_access};
use crate::net::{Client, Guard, GuardError, NetError, Reach};
use assay_session::{ErrorKind, RetryStatus, Said, SessionError};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientJsonRpcMessage, ServerJsonRpcMessage, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use serde_json::{Map, Value, json};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// What names of tools of MCP servers begin with, for models: `mcp__SERVER__TOOL`.
pub(super) const MCP_PREFIX: &str = "mcp__";
/// How long a server may take to say what it has, and how long a call may take.
const BEGIN_TIME_MAX: Duration = Duration::from_secs(15);
const CALL_TIME_MAX: Duration = Duration::from_secs(120);
/// How much a server may answer.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Tools of one server.
const TOOLS_MAX: usize = 128;
/// The longest name of a tool that models take.
const NAME_MAX: usize = 128;
/// How much of a trouble is told.
const WHY_CHARS_MAX: usize = 300;

/// The servers of one agent that could be reached.
#[derive(Default, Debug)]
pub(super) struct Servers {
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    name: String,
    service: RunningService<RoleClient, ()>,
    tools: Vec<Tool>,
}

/// What a model calls a tool.
fn model_name(server: &str, tool: &str) -> Option<String> {
    let name = format!("{MCP_PREFIX}{server}__{tool}");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (name.len() <= NAME_MAX && name.chars().all(plain)).then_some(name)
}

impl Servers {
    /// The tools, in the words for a model.
    pub fn offered(&self, agent: &Value) -> Vec<Value> {
        let mut offered = Vec::new();
        for server in &self.servers {
            for tool in &server.tools {
                let access = mcp_access(agent, &server.name, &tool.name);
                let is_enabled = matches!(access, Some(ToolAccess::Allow | ToolAccess::Ask));
                let Some(name) = model_name(&server.name, &tool.name).filter(|_| is_enabled) else {
                    continue;
                };
                let description = tool.description.as_deref().unwrap_or_default();
                offered.push(json!({"name": name, "description": description,
                    "input_schema": *tool.input_schema}));
            }
        }
        offered
    }

    /// Calls a tool. What goes wrong is for the model.
    pub async fn call(&self, server: &str, tool: &str, input: Map<String, Value>) -> Gave {
        let Some(server) = self.servers.iter().find(|known| known.name == server) else {
            return Gave::text("this server cannot be reached", true);
        };
        let params = CallToolRequestParams::new(tool.to_string()).with_arguments(input);
        let called = tokio::time::timeout(CALL_TIME_MAX, server.service.call_tool(params)).await;
        let result = match called {
            Err(_) => {
                let seconds = CALL_TIME_MAX.as_secs();
                return Gave::text(format!("the tool took longer than {seconds} s"), true);
            }
            Ok(Err(error)) => return Gave::text(shortened(&error.to_string()), true),
            Ok(Ok(result)) => json!(result),
        };
        let blocks = result["content"].as_array().cloned().unwrap_or_default();
        let content: Vec<Value> = blocks.iter().map(shown).collect();
        let is_error = result["isError"] == true;
        match content.is_empty() {
            true => Gave::text(String::new(), is_error),
            false => Gave { content, is_error },
        }
    }
}

/// A block as it stands in events.
fn shown(block: &Value) -> Value {
    match block["type"].as_str() {
        Some("text") => {
            let text = block["text"].as_str().filter(|text| !text.is_empty());
            json!({"type": "text", "text": text.unwrap_or("(no output)")})
        }
        Some("image") => json!({"type": "image", "source": {"type": "base64",
            "data": block["data"], "media_type": block["mimeType"]}}),
        _ => json!({"type": "text", "text": block.to_string()}),
    }
}

/// A call by the name that a model has for it.
pub(super) fn named_call(agent: &Value, name: &str, input: Map<String, Value>) -> Wanted {
    let servers = agent["mcp_servers"].as_array().into_iter().flatten();
    let tool_of = |server: &Value| {
        let server = server["name"].as_str()?;
        let rest = name.strip_prefix(MCP_PREFIX)?.strip_prefix(server)?;
        Some((server.to_string(), rest.strip_prefix("__")?.to_string()))
    };
    // Names may begin with one another: the longest is meant.
    let found = servers.filter_map(tool_of).max_by_key(|(server, _)| server.len());
    let (server, name) = match found {
        Some((server, tool)) => (Some(server), tool),
        None => (None, name.to_string()),
    };
    Wanted { server, name, input, call_id: None, written: None, refused: None }
}

fn shortened(why: &str) -> String {
    why.chars().take(WHY_CHARS_MAX).collect()
}

impl Host {
    /// Asks the MCP servers of the agent for their tools, once in a turn.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn reach_servers(&mut self) -> Result<(), Stop> {
        let known = self.agent["mcp_servers"].as_array().cloned().unwrap_or_default();
        if known.is_empty() || !self.servers.servers.is_empty() {
            return Ok(());
        }
        let (client, guard) = self.room.web();
        let begin = known.iter().map(|server| {
            let word = |field: &str| server[field].as_str().unwrap_or_default().to_string();
            let asker = Asker {
                client: client.clone(),
                guard: guard.clone(),
                reach: self.servers_reach.clone(),
            };
            connect(word("name"), word("url"), asker)
        });
        let begun = futures_util::future::join_all(begin).await;
        let (mut servers, mut troubles) = (Vec::new(), Vec::new());
        for one in begun {
            match one {
                Ok(server) => servers.push(server),
                Err(error) => troubles.push(Said::Trouble(*error)),
            }
        }
        self.servers = Arc::new(Servers { servers });
        if troubles.is_empty() { Ok(()) } else { self.say(troubles).await.map(drop) }
    }
}

async fn connect(name: String, url: String, asker: Asker) -> Result<Server, Box<SessionError>> {
    let failed = |why: String| {
        // The library wraps what the server answered into words of its own.
        let kind = match why.contains(UNAUTHENTICATED) {
            true => ErrorKind::McpAuthenticationFailedError,
            false => ErrorKind::McpConnectionFailedError,
        };
        let message = shortened(&format!("the MCP server `{name}`: {why}"));
        let error = SessionError::new(kind, message, RetryStatus::Terminal);
        Box::new(SessionError { mcp_server_name: Some(name.clone()), ..error })
    };
    let begin = async {
        let config = StreamableHttpClientTransportConfig::with_uri(url);
        let transport = StreamableHttpClientTransport::with_client(asker, config);
        let service = ().serve(transport).await.map_err(|error| error.to_string())?;
        let tools = service.list_all_tools().await.map_err(|error| error.to_string())?;
        Ok::<_, String>((service, tools))
    };
    let begun = tokio::time::timeout(BEGIN_TIME_MAX, begin).await;
    let begun = begun.unwrap_or_else(|_| Err("it did not answer in time".to_string()));
    let (service, mut tools) = begun.map_err(failed)?;
    tools.truncate(TOOLS_MAX);
    Ok(Server { name, service, tools })
}

const UNAUTHENTICATED: &str = "it wants to know who asks";

/// Asks one server, each time through the guard.
#[derive(Clone, Debug)]
struct Asker {
    client: Client,
    guard: Guard,
    reach: Reach,
}

/// Why a server was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error(transparent)]
    Guard(#[from] GuardError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("it answered {0}")]
    Status(StatusCode),
    #[error("{UNAUTHENTICATED}")]
    Unauthenticated,
    #[error("the request or the answer is no HTTP: {0}")]
    Http(String),
}

type Headers = HashMap<HeaderName, HeaderValue>;
type Failure = StreamableHttpError<AskError>;

fn failure(error: impl Into<AskError>) -> Failure {
    StreamableHttpError::Client(error.into())
}

impl Asker {
    async fn send(
        &self,
        method: Method,
        uri: &str,
        session: Option<&str>,
        token: Option<String>,
        headers: Headers,
        body: Bytes,
    ) -> Result<Response<Incoming>, Failure> {
        let url = Url::parse(uri).map_err(|_| failure(GuardError::Url(uri.to_string())))?;
        let target = self.guard.target(&url, &self.reach).await.map_err(failure)?;
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_string(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, authority(&url))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json");
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body));
        let request = request.map_err(|error| failure(AskError::Http(error.to_string())))?;
        let answer = self.client.send(&target, request, CALL_TIME_MAX).await.map_err(failure)?;
        if matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(failure(AskError::Unauthenticated));
        }
        Ok(answer)
    }
}

fn events(body: Incoming) -> BoxStream<'static, Result<Sse, sse_stream::Error>> {
    let limited = Limited::new(body, ANSWER_BYTES_MAX).into_data_stream();
    SseStream::from_bytes_stream(limited.map(|piece| piece.map_err(std::io::Error::other))).boxed()
}

impl StreamableHttpClient for Asker {
    type Error = AskError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let session = session_id.as_deref();
        let answer =
            self.send(Method::POST, &uri, session, auth_header, custom_headers, body).await?;
        let status = answer.status();
        let header = |name: &str| {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
            value.map(str::to_string)
        };
        let (kind, known) = (header("content-type"), header("mcp-session-id"));
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return Err(failure(AskError::Status(status)));
        }
        match kind.as_deref().unwrap_or_default() {
            kind if kind.starts_with("text/event-stream") => {
                Ok(StreamableHttpPostResponse::Sse(events(answer.into_body()), known))
            }
            kind if kind.starts_with("application/json") => {
                let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
                let body = body.map_err(|error| failure(AskError::Http(error.to_string())))?;
                let parsed: ServerJsonRpcMessage = serde_json::from_slice(&body.to_bytes())?;
                Ok(StreamableHttpPostResponse::Json(parsed, known))
            }
            _ => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let session = Some(&*session_id);
        let body = Bytes::new();
        self.send(Method::DELETE, &uri, session, auth_header, custom_headers, body).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        mut custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, sse_stream::Error>>, Failure> {
        if let Some(last) = last_event_id.and_then(|last| HeaderValue::from_str(&last).ok()) {
            custom_headers.insert(HeaderName::from_static("last-event-id"), last);
        }
        let session = session_id.as_deref();
        let body = Bytes::new();
        let answer =
            self.send(Method::GET, &uri, session, auth_header, custom_headers, body).await?;
        match answer.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(failure(AskError::Status(status))),
            _ => Ok(events(answer.into_body())),
        }
    }
}
