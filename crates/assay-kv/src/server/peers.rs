//! Messages of Raft from peers.

use super::Node;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

pub async fn append(node: State<Arc<Node>>, target: Path<u64>, body: Bytes) -> Response {
    serve(&node, *target, &body, |rpc| node.raft.append_entries(rpc)).await
}

pub async fn vote(node: State<Arc<Node>>, target: Path<u64>, body: Bytes) -> Response {
    serve(&node, *target, &body, |rpc| node.raft.vote(rpc)).await
}

pub async fn snapshot(node: State<Arc<Node>>, target: Path<u64>, body: Bytes) -> Response {
    serve(&node, *target, &body, |rpc| node.raft.install_snapshot(rpc)).await
}

/// Hands a message to Raft if it is meant for this node; the answer is Raft's `Result` as JSON.
async fn serve<Rpc, Answer>(
    node: &Node,
    target: u64,
    body: &[u8],
    act: impl AsyncFnOnce(Rpc) -> Answer,
) -> Response
where
    Rpc: DeserializeOwned,
    Answer: Serialize,
{
    if target != node.id {
        node.counters.misdirected.add_one();
        let what = format!("this is node {}, not node {target}: check --peer", node.id);
        return (StatusCode::MISDIRECTED_REQUEST, what).into_response();
    }
    let rpc = match serde_json::from_slice(body) {
        Ok(rpc) => rpc,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    match serde_json::to_vec(&act(rpc).await) {
        Ok(answer) => ([("content-type", "application/json")], answer).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
