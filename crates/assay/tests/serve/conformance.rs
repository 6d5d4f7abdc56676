//! Two official clients, unmodified and strict, over everything the server has.

use super::client::request;
use super::server::{Server, here, make_key, needed};
use serde_json::Value;
use std::process::Command;

/// The contract, written down once more: types of events clients must have seen.
const TYPES: [&str; 20] = [
    "agent.custom_tool_use",
    "agent.mcp_tool_result",
    "agent.mcp_tool_use",
    "agent.message",
    "agent.thinking",
    "agent.tool_result",
    "agent.tool_use",
    "session.deleted",
    "session.error",
    "session.status_idle",
    "session.status_rescheduled",
    "session.status_running",
    "session.status_terminated",
    "session.updated",
    "span.model_request_end",
    "span.model_request_start",
    "user.custom_tool_result",
    "user.interrupt",
    "user.message",
    "user.tool_confirmation",
];

/// Routes that no official client has a method for.
const NOT_OF_CLIENTS: [&str; 3] = ["/health", "/metrics", "/openapi.json"];
/// A method that never succeeds here: there is nothing about a file that it could change.
const NEVER_OK: (&str, &str) = ("POST", "/v1/sessions/{id}/resources/{child}");

/// Every route of the server was asked, and has answered well.
fn check_routes(server: &Server) {
    let ask = |path: &str| request(server.address, "GET", path, &[], "").expect("an answer");
    let (document, metrics) = (ask("/openapi.json").json(), ask("/metrics").body);
    let mut missed = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        if NOT_OF_CLIENTS.contains(&path.as_str()) {
            continue;
        }
        for method in item.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            let never_ok = (method.as_str(), path.as_str()) == NEVER_OK;
            let status = if never_ok { 400 } else { 200 };
            let labels = format!("route=\"{path}\",method=\"{method}\",status=\"{status}\"");
            if !metrics.contains(&format!("assay_requests_total{{{labels}}}")) {
                missed.push(format!("{method} {path}"));
            }
        }
    }
    assert!(missed.is_empty(), "no client has asked: {missed:?}\n{metrics}");
}

fn conforms(version: &str) {
    let server = Server::start();
    let other = make_key(&server.data, "other");
    let ended = Command::new(needed(&format!("python/anthropic-{version}/bin/python")))
        .arg(here("conformance.py"))
        .arg(format!("http://{}", server.address))
        .arg(&server.key)
        .arg(server.data.join("holds"))
        .env("OTHER_KEY", other)
        .output()
        .expect("python");
    let said = String::from_utf8_lossy(&ended.stdout);
    let complaints = String::from_utf8_lossy(&ended.stderr);
    let summary = said.lines().last().unwrap_or_default();
    let summary: Value = serde_json::from_str(summary).unwrap_or_default();
    assert_eq!(summary["failed"], serde_json::json!([]), "{said}\n{complaints}");
    assert_eq!(summary["version"], version);
    assert_eq!(summary["types"], serde_json::json!(TYPES));
    check_routes(&server);
}

#[test]
fn the_first_official_client_finds_the_contract_kept() {
    conforms("0.109.1");
}

#[test]
fn the_newest_official_client_finds_the_contract_kept() {
    conforms("2.8.0");
}
