//! Two official clients, unmodified and strict, over everything the server has.

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
    assert!(summary["passed"].as_u64().is_some_and(|passed| passed >= 25), "{summary}");
    assert_eq!(summary["types"], serde_json::json!(TYPES));
}

#[test]
fn the_first_official_client_finds_the_contract_kept() {
    conforms("0.109.1");
}

#[test]
fn the_newest_official_client_finds_the_contract_kept() {
    conforms("2.8.0");
}
