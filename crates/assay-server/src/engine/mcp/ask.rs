//! One MCP server, asked by streamable HTTP: every request through the guard, each with the key as
//! it is then.

use super::super::keyring::{Key, KeyError, KeyOf};
use super::CALL_TIME_MAX;
use crate::net::{Client, Guard, GuardError, NetError, Reach, Target, authority, path_of};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use std::collections::HashMap;
use std::sync::Arc;
use url::Url;

/// How much a server may answer.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What stands in errors of a server that does not know who asks.
pub(super) const UNAUTHENTICATED: &str = "it wants to know who asks";

/// Asks one server, each time through the guard.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub client: Client,
    pub guard: Guard,
    pub reach: Reach,
    /// Who asks, if a vault of the session knows the server.
    pub key: Option<KeyOf>,
}

/// Why a server was not asked, or did not answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error(transparent)]
    Guard(#[from] GuardError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("it answered {0}")]
    Status(StatusCode),
    #[error("{UNAUTHENTICATED}")]
    Unauthenticated,
    #[error("{UNAUTHENTICATED}: {0}")]
    Key(#[from] KeyError),
    #[error("the request or the answer is no HTTP: {0}")]
    Http(String),
}

type Headers = HashMap<HeaderName, HeaderValue>;
type Failure = StreamableHttpError<AskError>;

fn failure(error: impl Into<AskError>) -> Failure {
    StreamableHttpError::Client(error.into())
}

/// One request, which may have to be made twice.
struct Ask<'a> {
    method: Method,
    url: Url,
    session: Option<&'a str>,
    headers: Headers,
    body: Bytes,
}

impl Ask<'_> {
    async fn send(
        &self,
        client: &Client,
        target: &Target,
        key: Option<&Key>,
    ) -> Result<Response<Incoming>, Failure> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(path_of(&self.url))
            .header(HOST, authority(&self.url))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json");
        if let Some(session) = self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(key) = key {
            request = request.header(AUTHORIZATION, &key.header);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(self.body.clone()));
        let request = request.map_err(|error| failure(AskError::Http(error.to_string())))?;
        client.send(target, request, CALL_TIME_MAX).await.map_err(failure)
    }
}

impl Asker {
    async fn send(
        &self,
        method: Method,
        uri: &str,
        session: Option<&str>,
        headers: Headers,
        body: Bytes,
    ) -> Result<Response<Incoming>, Failure> {
        let url = Url::parse(uri).map_err(|_| failure(GuardError::Url(uri.to_string())))?;
        let target = self.guard.target(&url, &self.reach).await.map_err(failure)?;
        let ask = Ask { method, url, session, headers, body };
        let key = match &self.key {
            Some(key) => key.now().await.map_err(failure)?,
            None => None,
        };
        let mut answer = ask.send(&self.client, &target, key.as_ref()).await?;
        if let (StatusCode::UNAUTHORIZED, Some(keys), Some(key)) = (answer.status(), &self.key, key)
            && let Some(other) = keys.other(key.sealed).await.map_err(failure)?
        {
            answer = ask.send(&self.client, &target, Some(&other)).await?;
        }
        match answer.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(failure(AskError::Unauthenticated))
            }
            _ => Ok(answer),
        }
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
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let session = session_id.as_deref();
        let answer = self.send(Method::POST, &uri, session, custom_headers, body).await?;
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
        _auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let session = Some(&*session_id);
        let body = Bytes::new();
        self.send(Method::DELETE, &uri, session, custom_headers, body).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _auth_header: Option<String>,
        mut custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, sse_stream::Error>>, Failure> {
        let Some(last) = last_event_id.and_then(|last| HeaderValue::from_str(&last).ok()) else {
            // Nobody here listens to what a server says unasked.
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        };
        custom_headers.insert(HeaderName::from_static("last-event-id"), last);
        let session = session_id.as_deref();
        let body = Bytes::new();
        let answer = self.send(Method::GET, &uri, session, custom_headers, body).await?;
        match answer.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if !status.is_success() => Err(failure(AskError::Status(status))),
            _ => Ok(events(answer.into_body())),
        }
    }
}
