//! The HTTP side of a node: clients on `/op`, `/status`, `/dump` and `/health`, peers on `/raft`.

mod listener;
mod ops;
mod peers;
mod status;

use crate::counters::Counters;
use crate::defect::Defects;
use crate::network::{MESSAGE_BYTES_MAX, Peers};
use crate::propose::Proposer;
use crate::raft::{NodeId, Raft};
use crate::reads::ReadGate;
use crate::storage::Machine;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a client's request.
pub(crate) const REQUEST_BYTES_MAX: usize = 64 * 1024;
/// How long one exchange may take, from the head of the request to the answer.
const EXCHANGE_MS_MAX: u64 = 10_000;

/// What the handlers share.
pub(crate) struct Node {
    pub id: NodeId,
    pub address: String,
    pub defects: Defects,
    pub counters: Arc<Counters>,
    pub raft: Raft,
    pub machine: Machine,
    pub peers: Peers,
    pub proposer: Proposer,
    pub reads: ReadGate,
}

/// All routes.
pub(crate) fn routes(node: Arc<Node>) -> Router {
    let clients = Router::new()
        .route("/op", post(ops::from_client))
        .route("/forwarded/{target}", post(ops::from_peer))
        .route("/status", get(status::status))
        .route("/dump", get(status::dump))
        .route("/health", get(status::health))
        .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX));
    let peers = Router::new()
        .route("/raft/{target}/append", post(peers::append))
        .route("/raft/{target}/vote", post(peers::vote))
        .route("/raft/{target}/snapshot", post(peers::snapshot))
        .layer(DefaultBodyLimit::max(MESSAGE_BYTES_MAX));
    clients.merge(peers).layer(axum::middleware::from_fn(in_time)).with_state(node)
}

/// Ends exchanges that take too long. Requests that were read are bounded by tighter limits of
/// their own; this one is for senders that never finish a body.
async fn in_time(request: Request, next: Next) -> Response {
    let time = Duration::from_millis(EXCHANGE_MS_MAX);
    let answered = tokio::time::timeout(time, next.run(request)).await;
    answered.unwrap_or_else(|_| StatusCode::REQUEST_TIMEOUT.into_response())
}

pub(crate) use listener::Listener;
pub(crate) use status::role;

fn json(status: StatusCode, body: &Value) -> Response {
    (status, [("content-type", "application/json")], format!("{body}\n")).into_response()
}
