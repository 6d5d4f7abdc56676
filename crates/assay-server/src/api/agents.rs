//! Agents: what they are, in versions that never change.

use super::fields::Fields;
use super::page::{Wanted, page};
use super::query::Times;
use super::reply::Reply;
use super::serve::{App, Call};
use super::skill_references::parse_references;
use super::tools::{check_servers, parse_servers, parse_tools};
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Stored, Unit, fields_of, folder};
use assay_ledger::keyed::Order;
use assay_session::{prefix, rfc3339};
use axum::body::Bytes;
use serde_json::{Map, Value, json};

const NAME_MAX: usize = 256;
const DESCRIPTION_MAX: usize = 2048;
const SYSTEM_MAX: usize = 100_000;
const STALE: &str = "Concurrent modification detected. Please fetch the latest version and retry.";

fn version_key(workspace: &str, id: &str, version: u64) -> String {
    format!("{}/{workspace}/{id}/{version:010}", folder::VERSIONS)
}

/// Where a version of an agent stands; `None` is the latest.
pub fn agent_key(workspace: &str, id: &str, version: Option<u64>) -> String {
    match version {
        None => format!("{}/{workspace}/{id}", folder::AGENTS),
        Some(version) => version_key(workspace, id, version),
    }
}

/// A version of an agent; `None` is the latest.
pub fn find_agent(
    unit: &mut Unit,
    workspace: &str,
    id: &str,
    version: Option<u64>,
) -> Result<Option<Stored>, ApiError> {
    unit.get(&agent_key(workspace, id, version))
}

fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Agent {id} not found"))
}

/// What can be said about an agent, on top of what was said before.
fn change(wire: &mut Map<String, Value>, mut fields: Fields) -> Result<(), ApiError> {
    if let Some(model) = fields.take("model") {
        wire.insert("model".into(), parse_model(model)?);
    }
    if let Some(value) = fields.take("name") {
        let mut one = Fields::one("name", value);
        wire.insert("name".into(), one.required_text("name", NAME_MAX)?.into());
    }
    for (field, max) in [("description", DESCRIPTION_MAX), ("system", SYSTEM_MAX)] {
        if let Some(value) = fields.take(field) {
            let mut one = Fields::one(field, value);
            wire.insert(field.into(), one.text(field, max)?.into());
        }
    }
    if let Some(value) = fields.take("tools") {
        let mut one = Fields::one("tools", value);
        wire.insert("tools".into(), parse_tools(one.array("tools")?)?.into());
    }
    if let Some(value) = fields.take("mcp_servers") {
        let mut one = Fields::one("mcp_servers", value);
        wire.insert("mcp_servers".into(), parse_servers(one.array("mcp_servers")?)?.into());
    }
    check_servers(wire)?;
    fields.unsupported("multiagent")?;
    if let Some(identity) = fields.value("execution_identity")
        && identity != json!({"type": "service_account"})
    {
        return Err(ApiError::unsupported("execution_identity"));
    }
    let known = wire.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    wire.insert("metadata".into(), Value::Object(fields.metadata(known)?));
    fields.finish()
}

fn parse_model(value: Value) -> Result<Value, ApiError> {
    let value = match value {
        Value::String(id) => json!({ "id": id }),
        other => other,
    };
    let mut fields = Fields::of(value, "model")?;
    let id = fields.required_text("id", NAME_MAX)?;
    let speed = fields.text("speed", NAME_MAX)?.unwrap_or_else(|| "standard".to_string());
    if speed != "standard" {
        return Err(fields.bad("speed", "must be standard: this server has no other"));
    }
    fields.unsupported("effort")?;
    fields.unsupported("inference_geo")?;
    fields.finish()?;
    Ok(json!({"id": id, "speed": speed}))
}

fn fresh(id: String, now: &str) -> Map<String, Value> {
    let wire = json!({
        "id": id, "type": "agent", "version": 1, "description": null, "system": null,
        "tools": [], "skills": [], "mcp_servers": [], "multiagent": null, "metadata": {},
        "execution_identity": {"type": "service_account"},
        "created_at": now, "updated_at": now, "archived_at": null,
    });
    fields_of(wire)
}

fn insert(unit: &mut Unit, workspace: &str, wire: Map<String, Value>) -> Result<Value, ApiError> {
    let id = wire.get("id").and_then(Value::as_str).unwrap_or_default().to_string();
    let version = wire.get("version").and_then(Value::as_u64).unwrap_or_default();
    let stored = Stored { wire };
    unit.put(version_key(workspace, &id, version), &stored)?;
    unit.put(format!("{}/{workspace}/{id}", folder::AGENTS), &stored)?;
    Ok(Value::Object(stored.wire))
}

/// `POST /v1/agents`
pub async fn create(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let mut fields = Fields::parse(&body)?;
    call.query.finish()?;
    let skills = parse_references(app, &call.workspace, &mut fields).await?;
    let engines = app.engines.clone();
    app.kernel
        .run(move |unit| {
            let mut wire = fresh(unit.new_id(prefix::AGENT), &rfc3339(now_ms()));
            wire.extend(skills.map(|skills| ("skills".to_string(), skills)));
            change(&mut wire, fields)?;
            for required in ["name", "model"] {
                if !wire.contains_key(required) {
                    return Err(ApiError::invalid(format!("{required}: Field required")));
                }
            }
            engines.check_agent(&wire)?;
            insert(unit, &call.workspace, wire)
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `POST /v1/agents/{id}`
pub async fn update(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let mut fields = Fields::parse(&body)?;
    call.query.finish()?;
    let expected = match fields.value("version") {
        None => None,
        Some(version) => match version.as_u64().filter(|version| *version > 0) {
            Some(version) => Some(version),
            None => return Err(ApiError::invalid("version: must be a positive integer")),
        },
    };
    let skills = parse_references(app, &call.workspace, &mut fields).await?;
    let engines = app.engines.clone();
    app.kernel
        .run(move |unit| {
            let found = find_agent(unit, &call.workspace, &call.id, None)?;
            let stored = found.ok_or_else(|| missing(&call.id))?;
            if stored.is_archived() {
                return Err(ApiError::invalid("Cannot modify archived agent"));
            }
            let current = stored.wire.get("version").and_then(Value::as_u64).unwrap_or_default();
            if expected.is_some_and(|expected| expected != current) {
                return Err(ApiError::conflict(STALE));
            }
            let mut wire = stored.wire.clone();
            wire.extend(skills.map(|skills| ("skills".to_string(), skills)));
            change(&mut wire, fields)?;
            if wire == stored.wire {
                return Ok(Value::Object(wire));
            }
            engines.check_agent(&wire)?;
            wire.insert("version".into(), (current + 1).into());
            wire.insert("updated_at".into(), rfc3339(now_ms()).into());
            insert(unit, &call.workspace, wire)
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `GET /v1/agents/{id}`
pub async fn get(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let version = match call.query.one("version").map(|text| text.parse::<u64>()) {
        None => None,
        Some(Ok(version)) if version > 0 => Some(version),
        Some(_) => return Err(ApiError::invalid("`version` must be a positive integer")),
    };
    let head: Option<Stored> = app.reader.get(call.at(folder::AGENTS)).await?;
    let head = head.ok_or_else(|| missing(&call.id))?;
    let (workspace, id) = (call.workspace.clone(), call.id.clone());
    call.query.finish()?;
    let Some(version) = version else { return Ok(Reply::json(&Value::Object(head.wire))) };
    let found: Option<Stored> = app.reader.get(version_key(&workspace, &id, version)).await?;
    let mut found = found.ok_or_else(|| ApiError::not_found("Agent version not found."))?;
    overlay(&mut found, &head);
    Ok(Reply::json(&Value::Object(found.wire)))
}

/// Archived is the agent, not one of its versions.
fn overlay(version: &mut Stored, head: &Stored) {
    let archived = head.wire.get("archived_at").cloned().unwrap_or_default();
    version.wire.insert("archived_at".into(), archived);
}

/// `POST /v1/agents/{id}/archive`
pub async fn archive(app: &App, call: Call) -> Result<Reply, ApiError> {
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let at = format!("{}/{}/{}", folder::AGENTS, call.workspace, call.id);
            let stored: Option<Stored> = unit.get(&at)?;
            let mut stored = stored.ok_or_else(|| missing(&call.id))?;
            if !stored.is_archived() {
                let now = rfc3339(now_ms());
                stored.wire.insert("archived_at".into(), now.clone().into());
                stored.wire.insert("updated_at".into(), now.into());
                unit.put(at, &stored)?;
            }
            Ok(Value::Object(stored.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `GET /v1/agents`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let created = call.query.created()?;
    let folder = format!("{}/{}", folder::AGENTS, call.workspace);
    list_stored(app, call, folder, created).await
}

/// The lists of agents, environments, vaults and credentials: newest first, archived ones only if
/// asked for.
pub async fn list_stored(
    app: &App,
    mut call: Call,
    folder: String,
    created: Times,
) -> Result<Reply, ApiError> {
    let include_archived = call.query.flag("include_archived")?;
    let wanted = Wanted {
        filter: format!("{folder} {include_archived} {created:?}"),
        folder,
        order: Order::Descending,
        limit: call.query.limit(20)?,
        page: call.query.one("page"),
    };
    call.query.finish()?;
    let found = page(&app.reader, &wanted, move |_, (_, value)| {
        let stored: Stored = serde_json::from_slice(value)?;
        let at = stored.wire.get("created_at").and_then(Value::as_str).unwrap_or_default();
        Ok((include_archived || !stored.is_archived()) && created.contain(at))
    });
    let found = found.await?;
    let read = |(_, value): &(String, Vec<u8>)| {
        serde_json::from_slice::<Stored>(value).map(|stored| Value::Object(stored.wire))
    };
    let data: Vec<Value> = found.pairs.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Reply::json(&json!({"data": data, "next_page": found.next})))
}

/// `GET /v1/agents/{id}/versions`
pub async fn versions(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let head: Option<Stored> = app.reader.get(call.at(folder::AGENTS)).await?;
    let head = head.ok_or_else(|| missing(&call.id))?;
    let wanted = Wanted {
        folder: call.at(folder::VERSIONS),
        filter: format!("versions {}", call.id),
        order: Order::Descending,
        limit: call.query.limit(20)?,
        page: call.query.one("page"),
    };
    call.query.finish()?;
    let found = page(&app.reader, &wanted, |_, _| Ok(true)).await?;
    let mut data = Vec::new();
    for (_, value) in found.pairs {
        let mut version: Stored = serde_json::from_slice(&value)?;
        overlay(&mut version, &head);
        data.push(Value::Object(version.wire));
    }
    Ok(Reply::json(&json!({"data": data, "next_page": found.next})))
}

/// The agent that a demonstration begins with.
pub(crate) fn demo_agent(unit: &mut Unit, workspace: &str) -> Result<Value, ApiError> {
    let mut wire = fresh(unit.new_id(prefix::AGENT), &rfc3339(now_ms()));
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let body = json!({
        "name": "demo",
        "model": crate::engine::SCRIPTED,
        "tools": [
            {"type": "agent_toolset_20260401",
             "configs": [{"name": "bash", "permission_policy": {"type": "always_ask"}}]},
            {"type": "custom", "name": "get_weather", "description": "The weather in a city",
             "input_schema": schema},
        ],
    });
    change(&mut wire, Fields::of(body, "agent")?)?;
    insert(unit, workspace, wire)
}
