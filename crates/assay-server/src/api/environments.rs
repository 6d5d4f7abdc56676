//! Environments: where agents run. What the sandboxes of this server cannot keep is refused when it
//! is asked for.

use super::agents::list_stored;
use super::fields::Fields;
use super::query::Times;
use super::reply::Reply;
use super::serve::{App, Call};
use crate::engine::Engines;
use crate::error::ApiError;
use crate::names::now_ms;
use crate::net::{Reach, check_pattern};
use crate::store::{Stored, Unit, fields_of, folder};
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{prefix, rfc3339};
use axum::body::Bytes;
use serde_json::{Map, Value, json};

const NAME_MAX: usize = 256;
const DESCRIPTION_MAX: usize = 2048;
/// Hosts that one environment may allow.
const HOSTS_MAX: usize = 256;
const MANAGERS: [&str; 6] = ["apt", "cargo", "gem", "go", "npm", "pip"];

fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Environment {id} not found"))
}

fn closed_config() -> Value {
    json!({
        "type": "cloud",
        "networking": {"type": "limited", "allowed_hosts": [], "allow_mcp_servers": false,
            "allow_package_managers": false},
        "packages": {"type": "packages", "apt": [], "cargo": [], "gem": [], "go": [], "npm": [],
            "pip": []},
    })
}

fn change(wire: &mut Map<String, Value>, mut fields: Fields) -> Result<(), ApiError> {
    if let Some(name) = fields.value("name") {
        let mut one = Fields::one("name", name);
        wire.insert("name".into(), one.required_text("name", NAME_MAX)?.into());
    }
    if let Some(value) = fields.take("description") {
        let mut one = Fields::one("description", value);
        let description = one.text("description", DESCRIPTION_MAX)?.unwrap_or_default();
        wire.insert("description".into(), description.into());
    }
    if let Some(config) = fields.value("config") {
        wire.insert("config".into(), parse_config(config)?);
    }
    fields.unsupported("scope")?;
    let known = wire.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    wire.insert("metadata".into(), Value::Object(fields.metadata(known)?));
    fields.finish()
}

/// A configuration with what was left out filled in.
fn parse_config(config: Value) -> Result<Value, ApiError> {
    let mut parsed = closed_config();
    let mut fields = Fields::of(config, "config")?;
    if fields.required_text("type", NAME_MAX)? != "cloud" {
        return Err(fields.bad("type", "must be cloud: this server has no other"));
    }
    if let Some(networking) = fields.value("networking") {
        parsed["networking"] = parse_networking(networking)?;
    }
    if let Some(packages) = fields.value("packages") {
        let mut packages = Fields::of(packages, "config.packages")?;
        if packages.text("type", NAME_MAX)?.is_some_and(|kind| kind != "packages") {
            return Err(packages.bad("type", "must be packages"));
        }
        for manager in MANAGERS {
            if !packages.array(manager)?.is_empty() {
                let what = "must be empty: this server cannot install packages";
                return Err(packages.bad(manager, what));
            }
        }
        packages.finish()?;
    }
    fields.finish()?;
    Ok(parsed)
}

fn parse_networking(networking: Value) -> Result<Value, ApiError> {
    let mut fields = Fields::of(networking, "config.networking")?;
    match fields.required_text("type", NAME_MAX)?.as_str() {
        "limited" => {}
        "unrestricted" => {
            fields.finish()?;
            return Ok(json!({"type": "unrestricted"}));
        }
        _ => return Err(fields.bad("type", "must be limited or unrestricted")),
    }
    let hosts = fields.array("allowed_hosts")?;
    if hosts.len() > HOSTS_MAX {
        return Err(fields.bad("allowed_hosts", &format!("must have at most {HOSTS_MAX} entries")));
    }
    let mut known = std::collections::HashSet::new();
    for (index, host) in hosts.iter().enumerate() {
        let place = format!("allowed_hosts[{index}]");
        let name = host.as_str().ok_or_else(|| fields.bad(&place, "must be text"))?;
        check_pattern(name).map_err(|what| fields.bad(&place, what))?;
        if !known.insert(name.to_ascii_lowercase()) {
            return Err(fields.bad(&place, "is there twice"));
        }
    }
    let allows_servers = fields.flag("allow_mcp_servers")?.unwrap_or(false);
    if fields.flag("allow_package_managers")? == Some(true) {
        let what = "must be false: this server cannot open that";
        return Err(fields.bad("allow_package_managers", what));
    }
    fields.finish()?;
    Ok(json!({"type": "limited", "allowed_hosts": hosts, "allow_mcp_servers": allows_servers,
        "allow_package_managers": false}))
}

/// What the sandboxes cannot keep is refused by the name of its field.
fn check_kept(engines: &Engines, wire: &Map<String, Value>) -> Result<(), ApiError> {
    let config = wire.get("config").cloned().unwrap_or_default();
    let kept = engines.sandboxes.check(&Reach::of(&config));
    kept.map_err(|what| ApiError::invalid(format!("config.networking.type: {what}")))
}

fn fresh(id: String) -> Map<String, Value> {
    let now = rfc3339(now_ms());
    let wire = json!({
        "id": id, "type": "environment", "description": "", "config": closed_config(),
        "metadata": {}, "scope": null, "created_at": now, "updated_at": now, "archived_at": null,
    });
    fields_of(wire)
}

fn insert(unit: &mut Unit, workspace: &str, wire: Map<String, Value>) -> Result<Value, ApiError> {
    let id = wire.get("id").and_then(Value::as_str).unwrap_or_default();
    let at = format!("{}/{workspace}/{id}", folder::ENVIRONMENTS);
    let stored = Stored { wire };
    unit.put(at, &stored)?;
    Ok(Value::Object(stored.wire))
}

/// `POST /v1/environments`
pub async fn create(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let fields = Fields::parse(&body)?;
    call.query.finish()?;
    let engines = app.engines.clone();
    app.kernel
        .run(move |unit| {
            let mut wire = fresh(unit.new_id(prefix::ENVIRONMENT));
            change(&mut wire, fields)?;
            if !wire.contains_key("name") {
                return Err(ApiError::invalid("name: Field required"));
            }
            check_kept(&engines, &wire)?;
            insert(unit, &call.workspace, wire)
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `GET /v1/environments`
pub async fn list(app: &App, call: Call) -> Result<Reply, ApiError> {
    let folder = format!("{}/{}", folder::ENVIRONMENTS, call.workspace);
    list_stored(app, call, folder, Times::default()).await
}

/// `GET /v1/environments/{id}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::ENVIRONMENTS);
    call.query.finish()?;
    let found: Option<Stored> = app.reader.get(at).await?;
    let found = found.ok_or_else(|| missing(&call.id))?;
    Ok(Reply::json(&Value::Object(found.wire)))
}

/// Changes what is there.
async fn alter(
    app: &App,
    call: Call,
    change: impl FnOnce(&mut Stored) -> Result<(), ApiError> + Send + 'static,
) -> Result<Reply, ApiError> {
    let at = call.at(folder::ENVIRONMENTS);
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let stored: Option<Stored> = unit.get(&at)?;
            let mut stored = stored.ok_or_else(|| missing(&call.id))?;
            let before = stored.clone();
            change(&mut stored)?;
            if stored != before {
                stored.wire.insert("updated_at".into(), rfc3339(now_ms()).into());
                unit.put(at, &stored)?;
            }
            Ok(Value::Object(stored.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `POST /v1/environments/{id}`
pub async fn update(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let fields = Fields::parse(&body)?;
    let engines = app.engines.clone();
    alter(app, call, move |stored| {
        if stored.is_archived() {
            return Err(ApiError::invalid("Cannot modify archived environment"));
        }
        change(&mut stored.wire, fields)?;
        check_kept(&engines, &stored.wire)
    })
    .await
}

/// `POST /v1/environments/{id}/archive`
pub async fn archive(app: &App, call: Call) -> Result<Reply, ApiError> {
    alter(app, call, |stored| {
        if !stored.is_archived() {
            stored.wire.insert("archived_at".into(), rfc3339(now_ms()).into());
        }
        Ok(())
    })
    .await
}

/// `DELETE /v1/environments/{id}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    let (at, uses, id) = (call.at(folder::ENVIRONMENTS), call.at(folder::USES), call.id.clone());
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            if unit.get::<Stored>(&at)?.is_none() {
                return Err(missing(&id));
            }
            let range = KeyRange::below(&uses, Order::Ascending);
            if !unit.transaction.scan(&range, 1)?.is_empty() {
                let what = format!("Environment {id} is used by sessions; delete these first");
                return Err(ApiError::conflict(what));
            }
            unit.transaction.delete(at);
            Ok(json!({"id": id, "type": "environment_deleted"}))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// The environment that a demonstration begins with.
pub(crate) fn demo_environment(unit: &mut Unit, workspace: &str) -> Result<Value, ApiError> {
    let mut wire = fresh(unit.new_id(prefix::ENVIRONMENT));
    change(&mut wire, Fields::of(json!({"name": "demo"}), "environment")?)?;
    insert(unit, workspace, wire)
}
