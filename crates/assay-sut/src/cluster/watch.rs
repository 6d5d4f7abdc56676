//! What is watched while a cluster runs: silences of nodes, and connections around the proxies.

use super::Inner;
use super::node::lock;
use crate::bypass::Watched;
use crate::heartbeat::{HEARTBEAT_STEP, HEARTBEAT_TIME_MAX};
use crate::spec::Get;
use assay_drivers::http::Connection;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two looks for bypasses.
const BYPASS_STEP: Duration = Duration::from_millis(200);

/// Starts the watchers: one for bypasses, and one for each node, so that a silent node does not
/// make others look silent.
pub(super) fn start(inner: &Arc<Inner>) -> Vec<JoinHandle<()>> {
    let mut watchers = Vec::new();
    let shared = Arc::clone(inner);
    watchers.push(std::thread::spawn(move || {
        while shared.wait(BYPASS_STEP) {
            look_for_bypasses(&shared);
        }
    }));
    if let Some(get) = inner.described().node.heartbeat_probe() {
        for index in 0..inner.nodes.len() {
            let (shared, get) = (Arc::clone(inner), get.clone());
            watchers.push(std::thread::spawn(move || listen_to(&shared, index, &get)));
        }
    }
    watchers
}

fn listen_to(inner: &Inner, index: usize, get: &Get) {
    let node = &inner.nodes[index];
    let dials = inner.mesh.dial_ports().clone();
    let mut connection = Connection::of_probe(node.address(&get.port), dials);
    loop {
        let deadline = Instant::now() + HEARTBEAT_TIME_MAX;
        // Whatever it answers, it is not silent.
        if connection.request("GET", &get.path, b"", deadline).is_ok() {
            node.heartbeat.answered(Instant::now());
        }
        if !inner.wait(HEARTBEAT_STEP) {
            return;
        }
    }
}

/// Looks once at the connections of the nodes.
pub(super) fn look_for_bypasses(inner: &Inner) {
    if inner.network.is_some() {
        // There are no proxies to go around, and between namespaces no other way than the hub.
        return;
    }
    let watched = Watched {
        names: inner.names.clone(),
        ports: inner.wires.real_ports(),
        direct: inner.wires.direct_ports(),
        dials: inner.mesh.dial_ports().clone(),
    };
    let group = |node: &super::Node| node.process().map(|process| process.pid);
    let groups: Vec<Option<u32>> = inner.nodes.iter().map(group).collect();
    let mut bypasses = lock(&inner.bypasses);
    match bypasses.look(&watched, &groups) {
        Ok(()) => bypasses.told(),
        Err(error) => bypasses.not_told(&error),
    }
}
