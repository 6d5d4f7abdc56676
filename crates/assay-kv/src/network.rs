//! Calls to peers: JSON over HTTP, on connections that are kept.
//!
//! A peer is reached by the address that *this* node was given for it, and by no other. Each call
//! names the node it is meant for, so that a wrong address shows as an error and not as a vote from
//! the wrong voter.

use crate::counters::Counters;
use crate::raft::{HEARTBEAT_MS, NodeId, TypeConfig};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use openraft::error::{
    InstallSnapshotError, NetworkError, RPCError, RaftError, RemoteError, Timeout, Unreachable,
};
use openraft::network::{Backoff, RPCOption, RPCTypes, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse,
    VoteRequest, VoteResponse,
};
use openraft::{AnyError, EmptyNode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of one message between nodes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 32 << 20;
/// How long connecting may take.
const CONNECT_MS_MAX: u64 = 1_000;
/// Connections that nobody uses are closed after this time.
const IDLE_S_MAX: u64 = 30;
/// Idle connections kept for one peer.
const IDLE_CONNECTIONS_MAX: usize = 64;
/// Time between attempts to reach a peer that could not be reached.
const RETRY_MS: u64 = HEARTBEAT_MS;

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Nothing was sent.
    #[error("node {0} cannot be reached: {1}")]
    NotSent(NodeId, String),
    /// It may have arrived or not.
    #[error("node {0} did not answer: {1}")]
    Unanswered(NodeId, String),
    /// It may have arrived or not, and time is up.
    #[error("node {0} did not answer in time")]
    TimedOut(NodeId),
}

/// The peers of a node.
#[derive(Clone)]
pub(crate) struct Peers {
    client: Client<HttpConnector, Full<Bytes>>,
    addresses: Arc<BTreeMap<NodeId, String>>,
    counters: Arc<Counters>,
}

impl Peers {
    pub fn new(addresses: BTreeMap<NodeId, String>, counters: Arc<Counters>) -> Peers {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(Duration::from_millis(CONNECT_MS_MAX)));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(IDLE_S_MAX))
            .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
            .build(connector);
        Peers { client, addresses: Arc::new(addresses), counters }
    }

    /// Posts `body` to `path` at a peer; gives its status and answer.
    pub async fn post(
        &self,
        peer: NodeId,
        path: &str,
        body: Bytes,
        time: Duration,
    ) -> Result<(StatusCode, Bytes), CallError> {
        let began = Instant::now();
        let called = tokio::time::timeout(time, self.call(peer, path, body)).await;
        let answer = called.unwrap_or(Err(CallError::TimedOut(peer)));
        if let Some(counters) = self.counters.peer(peer) {
            counters.slow.add_slow(began);
            match &answer {
                Ok(_) => counters.answered.add_one(),
                Err(CallError::TimedOut(_)) => counters.timeouts.add_one(),
                Err(CallError::NotSent(..) | CallError::Unanswered(..)) => {
                    counters.unreachable.add_one();
                }
            }
        }
        answer
    }

    async fn call(
        &self,
        peer: NodeId,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), CallError> {
        let not_sent = |why: String| CallError::NotSent(peer, why);
        let Some(address) = self.addresses.get(&peer) else {
            return Err(not_sent("no address was given for it".to_string()));
        };
        let request = Request::post(format!("http://{address}{path}"))
            .header("content-type", "application/json")
            .body(Full::new(body))
            .map_err(|error| not_sent(error.to_string()))?;
        let response = self.client.request(request).await.map_err(|error| {
            let why = deepest(&error);
            if error.is_connect() { not_sent(why) } else { CallError::Unanswered(peer, why) }
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), MESSAGE_BYTES_MAX).collect().await;
        let body = body.map_err(|error| CallError::Unanswered(peer, error.to_string()))?;
        Ok((status, body.to_bytes()))
    }
}

fn deepest(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

impl RaftNetworkFactory<TypeConfig> for Peers {
    type Network = Peer;

    async fn new_client(&mut self, target: NodeId, _: &EmptyNode) -> Peer {
        Peer { target, peers: self.clone() }
    }
}

/// The way to one peer, for Raft.
pub(crate) struct Peer {
    target: NodeId,
    peers: Peers,
}

type Answer<T, E> = Result<T, RPCError<NodeId, EmptyNode, RaftError<NodeId, E>>>;

impl Peer {
    /// One call of Raft: the peer answers with its `Result` as JSON.
    async fn call<T, E>(
        &self,
        action: RPCTypes,
        path: &str,
        rpc: &impl Serialize,
        option: &RPCOption,
    ) -> Answer<T, E>
    where
        T: DeserializeOwned,
        E: std::error::Error + DeserializeOwned,
    {
        let body = serde_json::to_vec(rpc).map_err(|error| NetworkError::new(&error))?;
        // A little before Raft gives the call up itself: it would drop it, and nobody would count
        // it.
        let (target, time) = (self.target, option.hard_ttl().mul_f32(0.95));
        let path = format!("/raft/{target}/{path}");
        let answer = self.peers.post(target, &path, body.into(), time).await;
        let (status, body) = answer.map_err(|error| match error {
            CallError::TimedOut(_) => {
                RPCError::Timeout(Timeout { action, id: target, target, timeout: time })
            }
            // Both wait before they try again: a peer that resets connections is as good as gone.
            other => RPCError::Unreachable(Unreachable::new(&other)),
        })?;
        if status != StatusCode::OK {
            let said = String::from_utf8_lossy(&body);
            let error = AnyError::error(format!("node {target} answered {status}: {said}"));
            return Err(RPCError::Unreachable(Unreachable::from(error)));
        }
        let result: Result<T, RaftError<NodeId, E>> =
            serde_json::from_slice(&body).map_err(|error| NetworkError::new(&error))?;
        result.map_err(|error| RPCError::RemoteError(RemoteError::new(target, error)))
    }
}

impl RaftNetwork<TypeConfig> for Peer {
    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<TypeConfig>,
        option: RPCOption,
    ) -> Answer<AppendEntriesResponse<NodeId>, openraft::error::Infallible> {
        self.call(RPCTypes::AppendEntries, "append", &rpc, &option).await
    }

    async fn install_snapshot(
        &mut self,
        rpc: InstallSnapshotRequest<TypeConfig>,
        option: RPCOption,
    ) -> Answer<InstallSnapshotResponse<NodeId>, InstallSnapshotError> {
        self.call(RPCTypes::InstallSnapshot, "snapshot", &rpc, &option).await
    }

    async fn vote(
        &mut self,
        rpc: VoteRequest<NodeId>,
        option: RPCOption,
    ) -> Answer<VoteResponse<NodeId>, openraft::error::Infallible> {
        self.peers.counters.campaigned(rpc.vote.leader_id().term);
        self.call(RPCTypes::Vote, "vote", &rpc, &option).await
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(std::iter::repeat(Duration::from_millis(RETRY_MS)))
    }
}
