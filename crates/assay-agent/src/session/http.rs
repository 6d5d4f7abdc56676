//! Asking the server: one request on a connection of its own, by plain HTTP on this machine.

use crate::config::{ConfigError, SessionConfig};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long an answer may take, and how long it may be.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: usize = 4 << 20;
const VERSION: &str = "2023-06-01";
const BETA: &str = "managed-agents-2026-04-01";

/// Whom to ask, and by which key.
#[derive(Clone)]
pub(super) struct Line {
    authority: String,
    key: String,
}

/// An answer.
pub(super) struct Reply {
    pub status: u16,
    pub body: Value,
}

impl Reply {
    /// What it says, if it is an error.
    pub(super) fn message(&self) -> String {
        let message = self.body["error"]["message"].as_str().unwrap_or("no message");
        format!("{}: {message}", self.status)
    }

    /// Whether the same request may be answered otherwise a moment later.
    pub(super) fn is_passing(&self) -> bool {
        self.status >= 500 || self.status == 429 || self.status == 408
    }
}

impl Line {
    pub(super) fn new(url: &str, key: String) -> Result<Line, ConfigError> {
        Ok(Line { authority: SessionConfig::authority(url)?, key })
    }

    /// A request and all of its answer; `None` in place of a body is a `GET`.
    pub(super) async fn ask(
        &self,
        path: &str,
        body: Option<&Value>,
        name: Option<&str>,
    ) -> Result<Reply, String> {
        let asked = async {
            let mut request = self.request(if body.is_some() { "POST" } else { "GET" }, path);
            if let Some(name) = name {
                request = request.header("idempotency-key", name);
            }
            let bytes = body.map(Value::to_string).unwrap_or_default();
            let request = request.body(Full::new(Bytes::from(bytes)));
            let answer = self.send(request.map_err(|error| error.to_string())?).await?;
            let status = answer.status().as_u16();
            let bytes = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            let bytes = bytes.map_err(|error| error.to_string())?.to_bytes();
            let body = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
            Ok(Reply { status, body })
        };
        timeout(ANSWER_TIME_MAX, asked)
            .await
            .map_err(|_| "it did not answer in time".to_string())?
    }

    /// The stream of a session, behind an event.
    pub(super) async fn open(
        &self,
        path: &str,
        last: Option<&str>,
    ) -> Result<Response<Incoming>, String> {
        let mut request = self.request("GET", path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Full::new(Bytes::new())).map_err(|error| error.to_string())?;
        let opened = timeout(ANSWER_TIME_MAX, self.send(request)).await;
        opened.map_err(|_| "it did not answer in time".to_string())?
    }

    fn request(&self, method: &str, path: &str) -> hyper::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", &self.authority)
            .header("x-api-key", &self.key)
            .header("anthropic-version", VERSION)
            .header("anthropic-beta", BETA)
            .header("content-type", "application/json")
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, String> {
        let stream =
            TcpStream::connect(&self.authority).await.map_err(|error| error.to_string())?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| error.to_string())?;
        // Ends with the answer, or when nobody reads it any more.
        tokio::spawn(connection);
        sender.send_request(request).await.map_err(|error| error.to_string())
    }
}
