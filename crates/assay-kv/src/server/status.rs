//! What a node says about itself.

use super::{Node, json};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use openraft::ServerState;
use serde_json::json;
use std::sync::Arc;

/// `GET /status`: who leads by this node's account, how far it is, and what it has counted.
pub async fn status(node: State<Arc<Node>>) -> Response {
    let metrics = node.raft.metrics().borrow().clone();
    let committed = node.raft.with_raft_state(|state| state.committed).await;
    let committed = committed.ok().flatten().map(|committed| committed.index);
    let voters: Vec<u64> = metrics.membership_config.voter_ids().collect();
    let status = json!({
        "id": node.id,
        "address": node.address,
        "role": role(metrics.state),
        "leader": metrics.current_leader,
        "term": metrics.current_term,
        "last_log": metrics.last_log_index,
        "committed": committed,
        "applied": metrics.last_applied.map(|applied| applied.index),
        "snapshot": metrics.snapshot.map(|snapshot| snapshot.index),
        "purged": metrics.purged.map(|purged| purged.index),
        "quorum_ack_age_ms": metrics.millis_since_quorum_ack,
        "voters": voters,
        "defects": node.defects.names(),
        "counters": node.counters.to_json(),
    });
    json(StatusCode::OK, &status)
}

pub fn role(state: ServerState) -> &'static str {
    match state {
        ServerState::Leader => "leader",
        ServerState::Candidate => "candidate",
        ServerState::Follower => "follower",
        ServerState::Learner => "learner",
        ServerState::Shutdown => "stopping",
    }
}

/// `GET /dump`: the state as it is applied here. Local on purpose: replicas are compared by it.
pub async fn dump(node: State<Arc<Node>>) -> Response {
    let mut dump = node.machine.dump();
    dump["id"] = node.id.into();
    json(StatusCode::OK, &dump)
}

/// `GET /health`: 200 while the node runs and knows a leader, 503 otherwise.
pub async fn health(node: State<Arc<Node>>) -> Response {
    let metrics = node.raft.metrics().borrow().clone();
    let healthy = metrics.running_state.is_ok() && metrics.current_leader.is_some();
    let code = if healthy { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    json(code, &json!({ "healthy": healthy, "leader": metrics.current_leader }))
}
