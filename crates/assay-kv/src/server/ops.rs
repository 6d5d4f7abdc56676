//! Requests of clients.
//!
//! A follower forwards to the leader, once, and hands its answer back. The alternative, "not
//! leader, ask node 2", is simpler, but a client that is pinned to one node by a proxy would then
//! do nothing for most of a run, and a history without operations proves nothing. Forwarding costs
//! no honesty:
//! - It goes over the link between the two nodes, so a fault on that link hits it.
//! - Every answer names the node that decided it (`node`), so the path can be seen.
//! - What was not sent is a fail, what was sent and not answered is unknown.
//!
//! A forwarded request is never forwarded again: two nodes that each take the other for the leader
//! would play ball.

use super::{Node, json};
use crate::defect::Defect;
use crate::network::CallError;
use crate::parse;
use crate::propose::Proposed;
use crate::raft::NodeId;
use crate::reads::NoRead;
use crate::state::{Command, Outcome};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How long the leader works on a request before it says unknown.
const REQUEST_MS_MAX: u64 = 2_000;
/// How long a follower waits for the leader's answer: longer, so that the leader's word counts.
const FORWARD_MS_MAX: u64 = 2_500;

/// What a client is told.
enum Answer {
    Decided(Outcome, Option<u64>),
    NotLeader(Option<NodeId>),
    Unknown(String),
}

/// `POST /op`.
pub async fn from_client(node: State<Arc<Node>>, body: Bytes) -> Response {
    let command = match parse::request(&body) {
        Ok(command) => command,
        Err(error) => return bad(&node, &error),
    };
    let leader = node.raft.metrics().borrow().current_leader;
    let local_read = node.defects.has(Defect::StaleReads) && command.op.is_read();
    match leader {
        Some(leader) if leader != node.id && !local_read => forward(&node, leader, body).await,
        _ => answered(&node, decide(&node, command, body.len()).await),
    }
}

/// `POST /forwarded/{target}`: a peer took this node for the leader.
pub async fn from_peer(node: State<Arc<Node>>, target: Path<u64>, body: Bytes) -> Response {
    if *target != node.id {
        node.counters.misdirected.add_one();
        return answered(&node, Answer::NotLeader(None));
    }
    match parse::request(&body) {
        Ok(command) => answered(&node, decide(&node, command, body.len()).await),
        Err(error) => bad(&node, &error),
    }
}

/// Decides a request on this node, which should be the leader.
async fn decide(node: &Node, command: Command, bytes: usize) -> Answer {
    let time = Duration::from_millis(REQUEST_MS_MAX);
    if command.op.is_read() {
        // The hook of `stale-reads`: no question to anybody, whoever leads.
        if !node.defects.has(Defect::StaleReads) {
            let passed = tokio::time::timeout(time, node.reads.pass()).await;
            if let Err(reason) = passed.unwrap_or(Err(NoRead::NoQuorum)) {
                return no_read(reason);
            }
        }
        let (outcome, index) = node.machine.read(&command.op);
        return Answer::Decided(outcome, index);
    }
    let (role, leader) = {
        let metrics = node.raft.metrics();
        let metrics = metrics.borrow();
        (metrics.state, metrics.current_leader)
    };
    if !role.is_leader() {
        return Answer::NotLeader(leader);
    }
    match tokio::time::timeout(time, node.proposer.propose(command, bytes)).await {
        Ok(Proposed::Decided(outcome, index)) => Answer::Decided(outcome, index),
        Ok(Proposed::Refused(why)) => Answer::Decided(Outcome::Fail(why.to_string()), None),
        Ok(Proposed::Unknown) => {
            Answer::Unknown("leadership was lost while it was under way".to_string())
        }
        Err(_) => Answer::Unknown(format!("not decided within {REQUEST_MS_MAX} ms")),
    }
}

fn no_read(reason: NoRead) -> Answer {
    let why = match reason {
        NoRead::NotLeader(leader) => return Answer::NotLeader(leader),
        NoRead::NoQuorum => "no quorum: too few nodes answered in time",
        NoRead::Overloaded => "overloaded: too many reads wait",
        NoRead::Stopping => "the node is stopping",
    };
    Answer::Decided(Outcome::Fail(why.to_string()), None)
}

/// Hands a request to the leader, and the leader's answer to the client as it is.
async fn forward(node: &Node, leader: NodeId, body: Bytes) -> Response {
    node.counters.forwarded.add_one();
    let (path, time) = (format!("/forwarded/{leader}"), Duration::from_millis(FORWARD_MS_MAX));
    match node.peers.post(leader, &path, body, time).await {
        Ok((status, answer)) => {
            count(node, status);
            (status, [("content-type", "application/json")], answer).into_response()
        }
        Err(CallError::NotSent(..)) => {
            let why = format!("the leader, node {leader}, cannot be reached");
            answered(node, Answer::Decided(Outcome::Fail(why), None))
        }
        Err(error) => answered(node, Answer::Unknown(error.to_string())),
    }
}

fn answered(node: &Node, answer: Answer) -> Response {
    let (status, body) = match answer {
        Answer::Decided(Outcome::Ok(value), index) => {
            (StatusCode::OK, json!({ "ok": value, "node": node.id, "index": index }))
        }
        Answer::Decided(Outcome::Fail(why), index) => {
            (StatusCode::CONFLICT, json!({ "fail": why, "node": node.id, "index": index }))
        }
        Answer::NotLeader(leader) => {
            let why = if leader.is_some() { "not leader" } else { "no leader is known" };
            (StatusCode::CONFLICT, json!({ "fail": why, "node": node.id, "leader": leader }))
        }
        Answer::Unknown(why) => {
            (StatusCode::SERVICE_UNAVAILABLE, json!({ "unknown": why, "node": node.id }))
        }
    };
    count(node, status);
    json(status, &body)
}

fn bad(node: &Node, error: &parse::BadRequest) -> Response {
    count(node, StatusCode::BAD_REQUEST);
    json(StatusCode::BAD_REQUEST, &json!({ "error": error.to_string() }))
}

fn count(node: &Node, status: StatusCode) {
    let counters = &node.counters;
    match status {
        StatusCode::OK => counters.ok.add_one(),
        StatusCode::CONFLICT => counters.fail.add_one(),
        StatusCode::SERVICE_UNAVAILABLE => counters.unknown.add_one(),
        _ => counters.bad.add_one(),
    }
}
