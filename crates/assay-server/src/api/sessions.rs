//! Sessions: begin, look, change.

use super::agents::{agent_key, find_agent};
use super::equip::{Equipment, equip};
use super::events::{parse_events, send_events};
use super::fields::Fields;
use super::idempotency::{Answer, Guard, guard, is_answered, once};
use super::lending::{self, parse_lent};
use super::mounts::{WantedFile, parse_resources};
use super::page::{Page, Wanted, page};
use super::reply::Reply;
use super::resources;
use super::serve::{App, Call};
use super::tools::snapshot;
use crate::engine::{Engines, clash};
use crate::error::ApiError;
use crate::limits::Limits;
use crate::names::now_ms;
use crate::store::{LentRecord, SessionKey, SessionRecord, SessionSkill, Stored, Unit, folder};
use assay_ledger::keyed::{KeyRange, Order, Store};
use assay_session::{Inbound, Input, Session, Status, prefix, rfc3339};
use axum::body::Bytes;
use serde_json::{Map, Value, json};

const TITLE_MAX: usize = 500;
const ID_MAX: usize = 128;
const VAULTS_MAX: usize = 20;
/// Sessions that are not archived and work in lent directories.
const LENT_MAX: usize = 10_000;

pub fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Session {id} not found"))
}

/// What clients see.
pub fn wire(record: &SessionRecord, state: &Session, now: u64) -> Value {
    let running = state.running_since_ms.map_or(0, |since| now.saturating_sub(since));
    let active_s = (state.active_ms.saturating_add(running)) as f64 / 1000.0;
    let end = record.archived_ms.unwrap_or(now);
    let duration_s = end.saturating_sub(record.created_ms) as f64 / 1000.0;
    let usage = &state.usage;
    let cached = usage.cache_creation_input_tokens;
    let cache = json!({"ephemeral_5m_input_tokens": cached, "ephemeral_1h_input_tokens": 0});
    let mut wire = json!({
        "id": record.id,
        "type": "session",
        "agent": record.agent,
        "environment_id": record.environment_id,
        "vault_ids": record.vault_ids,
        "status": state.status,
        "title": record.title,
        "metadata": record.metadata,
        "resources": record.resources.iter().map(resources::wire).collect::<Vec<_>>(),
        "outcome_evaluations": [],
        "usage": {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_read_input_tokens": usage.cache_read_input_tokens,
            "cache_creation": if cached == 0 { Value::Null } else { cache },
            "active_seconds": active_s,
            "list_cost": state.cost.wire(),
            "server_tool_use": null,
        },
        "stats": {"active_seconds": active_s, "duration_seconds": duration_s},
        "budget": null,
        "deployment_id": null,
        "created_at": rfc3339(record.created_ms),
        "updated_at": rfc3339(record.updated_ms),
        "archived_at": record.archived_ms.map(rfc3339),
    });
    if let Some(lent) = &record.lent {
        wire["workspace"] = lending::wire(lent);
    }
    wire
}

/// A request to begin a session, understood.
struct Wish {
    agent: String,
    version: Option<u64>,
    environment: String,
    title: Option<String>,
    metadata: Map<String, Value>,
    events: Vec<Inbound>,
    files: Vec<WantedFile>,
    vaults: Vec<String>,
    lent: Option<LentRecord>,
    /// The same as it was found on this machine, if somebody has looked.
    found: Option<Result<LentRecord, ApiError>>,
}

fn parse_wish(body: &[u8]) -> Result<Wish, ApiError> {
    let mut fields = Fields::parse(body)?;
    let (agent, version) = parse_agent(&mut fields)?;
    let environment = fields.required_text("environment_id", ID_MAX)?;
    let title = fields.text("title", TITLE_MAX)?;
    let metadata = fields.metadata(Map::new())?;
    let events = parse_events(fields.array("initial_events")?, "initial_events")?;
    if events.iter().any(|event| !matches!(event, Inbound::Message { .. })) {
        return Err(ApiError::invalid("initial_events: must be messages"));
    }
    let files = parse_resources(fields.array("resources")?)?;
    let vaults = parse_vaults(fields.array("vault_ids")?)?;
    let lent = parse_lent(&mut fields)?;
    fields.unsupported("budget")?;
    fields.finish()?;
    let found = None;
    Ok(Wish { agent, version, environment, title, metadata, events, files, vaults, lent, found })
}

fn parse_vaults(values: Vec<Value>) -> Result<Vec<String>, ApiError> {
    if values.len() > VAULTS_MAX {
        let what = format!("vault_ids: must have at most {VAULTS_MAX} entries");
        return Err(ApiError::invalid(what));
    }
    let mut vaults = Vec::new();
    for (index, value) in values.into_iter().enumerate() {
        let bad = |what: &str| ApiError::invalid(format!("vault_ids[{index}]: {what}"));
        let id = value
            .as_str()
            .filter(|id| is_id(id))
            .ok_or_else(|| bad("must be the id of a vault"))?;
        if vaults.iter().any(|known| known == id) {
            return Err(bad("is there twice"));
        }
        vaults.push(id.to_string());
    }
    Ok(vaults)
}

/// Each is there, and not archived.
fn check_vaults(unit: &mut Unit, workspace: &str, vaults: &[String]) -> Result<(), ApiError> {
    for (index, id) in vaults.iter().enumerate() {
        let found: Option<Stored> = unit.get(&format!("{}/{workspace}/{id}", folder::VAULTS))?;
        let what = match found {
            Some(found) if !found.is_archived() => continue,
            Some(_) => "is archived",
            None => "not found",
        };
        return Err(ApiError::invalid(format!("vault_ids[{index}]: {id} {what}")));
    }
    Ok(())
}

fn parse_agent(fields: &mut Fields) -> Result<(String, Option<u64>), ApiError> {
    let value = match fields.value("agent") {
        Some(Value::String(id)) => return Ok((agent_id(fields, "agent", id)?, None)),
        Some(value) => value,
        None => return Err(fields.bad("agent", "Field required")),
    };
    let mut agent = Fields::of(value, "agent")?;
    if agent.required_text("type", ID_MAX)? != "agent" {
        return Err(ApiError::unsupported("agent.type"));
    }
    let id = agent.required_text("id", ID_MAX)?;
    let id = agent_id(&agent, "id", id)?;
    let version = match agent.value("version") {
        None => None,
        Some(version) => match version.as_u64().filter(|version| *version > 0) {
            Some(version) => Some(version),
            None => return Err(agent.bad("version", "must be a positive integer")),
        },
    };
    agent.finish()?;
    Ok((id, version))
}

fn agent_id(fields: &Fields, field: &str, id: String) -> Result<String, ApiError> {
    match is_id(&id) {
        true => Ok(id),
        false => Err(fields.bad(field, "must be the id of an agent")),
    }
}

/// What has a slash in it would be the name of something else.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= ID_MAX && !id.contains('/')
}

/// `POST /v1/sessions`
pub async fn create(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let guard = guard(&call, &body)?;
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: app.names.next(prefix::SESSION) };
    let (mut wish, mut equipment) = (parse_wish(&body), Ok(Equipment::default()));
    // What was answered before needs no second copy.
    if let Ok(wish) = &mut wish
        && !is_answered(&app.reader, guard.as_ref()).await?
    {
        equipment = equip_wish(app, &key, wish).await;
        wish.found = look_at(app, wish.lent.as_ref()).await;
    }
    let has_copies = equipment.as_ref().is_ok_and(|equipment| !equipment.is_empty());
    let (new, limits, engines) = (key.clone(), *app.admission.limits(), app.engines.clone());
    let made = app.kernel.run(move |unit| {
        once(unit, guard.as_ref(), |unit| {
            let wire = begin(unit, new, wish?, equipment, guard.as_ref(), &limits, &engines)?;
            Ok(Answer::Text(wire.to_string()))
        })
    });
    let made = made.await.and_then(|answer| answer);
    let may_be_there = match &made {
        Ok(wire) => wire.contains(&key.id),
        Err(error) => error.is_unknown,
    };
    if has_copies && !may_be_there {
        // What stays behind goes at the next start.
        let _left = app.arranger.arrange(&key).await;
    }
    made.map(Reply::text)
}

/// The version of the agent that skills are copied for is the one that the session gets.
async fn equip_wish(app: &App, key: &SessionKey, wish: &mut Wish) -> Result<Equipment, ApiError> {
    let at = agent_key(&key.workspace, &wish.agent, wish.version);
    let agent: Option<Stored> = app.reader.get(at).await?;
    let equipment = equip(app, key, &wish.files, agent.as_ref()).await?;
    let version = agent.as_ref().and_then(|agent| agent.wire.get("version"));
    wish.version = version.and_then(Value::as_u64).or(wish.version);
    Ok(equipment)
}

/// Looks at the directories of this machine that are wanted: not where all writes are, because
/// their file system may not answer.
async fn look_at(app: &App, wanted: Option<&LentRecord>) -> Option<Result<LentRecord, ApiError>> {
    let (engines, wanted) = (app.engines.clone(), wanted?.clone());
    let look = move || engines.sandboxes.lends.check(&wanted).map_err(ApiError::invalid);
    let looked = app.engines.sandboxes.lends.look(look).await;
    Some(looked.map_err(ApiError::overloaded).and_then(|found| found))
}

fn begin(
    unit: &mut Unit,
    key: SessionKey,
    wish: Wish,
    equipment: Result<Equipment, ApiError>,
    guard: Option<&Guard>,
    limits: &Limits,
    engines: &Engines,
) -> Result<Value, ApiError> {
    let agent = usable_agent(unit, &key.workspace, &wish)?;
    let mut agent = snapshot(&agent.wire);
    let environment = format!("{}/{}/{}", folder::ENVIRONMENTS, key.workspace, wish.environment);
    match unit.get::<Stored>(&environment)? {
        Some(found) if !found.is_archived() => {
            // As it was made by an earlier server, perhaps.
            let config = found.wire.get("config").cloned().unwrap_or_default();
            engines.check_session(&agent, &config, &wish.vaults)?;
            engines.check_servers(&agent, &config)?;
        }
        found => {
            let what = if found.is_some() { "is archived" } else { "not found" };
            let what = format!("environment_id: {} {what}", wish.environment);
            return Err(ApiError::invalid(what));
        }
    }
    check_vaults(unit, &key.workspace, &wish.vaults)?;
    let lent = match (wish.lent, wish.found) {
        (None, _) => None,
        (Some(_), Some(found)) => Some(lend(unit, &key, &agent, found)?),
        // It looked answered, and is not.
        (Some(_), None) => return Err(ApiError::overloaded("please try again")),
    };
    let Equipment { resources, skills } = equipment?;
    let wanted_skills = agent["skills"].as_array().map_or(0, Vec::len);
    if (resources.len(), skills.len()) != (wish.files.len(), wanted_skills) {
        // What it begins with was not copied for this request: it looked answered, and is not.
        return Err(ApiError::overloaded("please try again"));
    }
    agent["skills"] = skills.iter().map(pinned).collect();
    let now = now_ms();
    let record = SessionRecord {
        id: key.id.clone(),
        agent,
        environment_id: wish.environment,
        title: wish.title,
        metadata: wish.metadata,
        created_ms: now,
        updated_ms: now,
        archived_ms: None,
        made_by: guard.map(Guard::at),
        resources,
        vault_ids: wish.vaults,
        skills,
        lent,
    };
    unit.put(key.at(folder::SESSIONS), &record)?;
    unit.begin(&key)?;
    unit.put(uses(&key, &record), &())?;
    if !wish.events.is_empty() {
        send_events(unit, &key, wish.events, "initial_events", limits)?;
    }
    let state = unit.get(&key.at(folder::STATES))?.unwrap_or_default();
    Ok(wire(&record, &state, now))
}

/// The directories that a session asks for, as they were found: nobody else may work in them.
fn lend(
    unit: &mut Unit,
    key: &SessionKey,
    agent: &Value,
    found: Result<LentRecord, ApiError>,
) -> Result<LentRecord, ApiError> {
    if agent["skills"].as_array().is_some_and(|skills| !skills.is_empty()) {
        let what = "workspace: an agent with skills has them in a workspace of its own; take one \
                    without";
        return Err(ApiError::invalid(what));
    }
    let found = found?;
    let range = KeyRange::below(folder::LENT, Order::Ascending);
    let others = unit.transaction.scan(&range, LENT_MAX)?;
    if others.len() == LENT_MAX {
        let what = "workspace: too many sessions work in lent directories; archive some first";
        return Err(ApiError::invalid(what));
    }
    for (_, other) in others {
        let other: LentRecord = serde_json::from_slice(&other)?;
        if let Some(field) = clash(&found, &other) {
            let path = if field == "path" { &found.path } else { &found.outputs };
            return Err(ApiError::invalid(format!(
                "workspace.{field}: {}: a session that is not archived works there, or above or \
                 below it; archive that one first",
                path.display()
            )));
        }
    }
    let (readable, variables) = Default::default();
    unit.put(key.at(folder::LENT), &LentRecord { readable, variables, ..found.clone() })?;
    Ok(found)
}

/// What clients see of a skill in a session.
fn pinned(skill: &SessionSkill) -> Value {
    json!({"type": "custom", "skill_id": skill.skill_id, "version": skill.version})
}

fn usable_agent(unit: &mut Unit, workspace: &str, wish: &Wish) -> Result<Stored, ApiError> {
    let Some(head) = find_agent(unit, workspace, &wish.agent, None)? else {
        return Err(ApiError::invalid(format!("agent: {} not found", wish.agent)));
    };
    if head.is_archived() {
        let what =
            format!("agent {} is archived and cannot be used to create a session", wish.agent);
        return Err(ApiError::invalid(what));
    }
    match wish.version {
        None => Ok(head),
        Some(version) => find_agent(unit, workspace, &wish.agent, Some(version))?
            .ok_or_else(|| ApiError::not_found(format!("agent.version: {version} not found"))),
    }
}

pub fn uses(key: &SessionKey, record: &SessionRecord) -> String {
    format!("{}/{}/{}/{}", folder::USES, key.workspace, record.environment_id, key.id)
}

/// `GET /v1/sessions/{id}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let found = app.reader.ask(move |store| load(store, &key)).await?;
    let (record, state) = found;
    Ok(Reply::json(&wire(&record, &state, now_ms())))
}

fn load(store: &mut dyn Store, key: &SessionKey) -> Result<(SessionRecord, Session), ApiError> {
    let record = crate::store::read_record(store.get(&key.at(folder::SESSIONS))?)?;
    let state = crate::store::read_record(store.get(&key.at(folder::STATES))?)?;
    record.zip(state).ok_or_else(|| missing(&key.id))
}

/// `GET /v1/sessions`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let query = &mut call.query;
    let archived = query.flag("include_archived")?;
    let agent = query.one("agent_id");
    let version = match query.one("agent_version").map(|text| text.parse::<u64>()) {
        None => None,
        Some(Ok(version)) => Some(version),
        Some(Err(_)) => return Err(ApiError::invalid("`agent_version` must be an integer")),
    };
    let statuses = parse_statuses(query.all("statuses[]"))?;
    let created = query.created()?;
    let wanted = Wanted {
        folder: format!("{}/{}", folder::SESSIONS, call.workspace),
        filter: format!("sessions {archived} {agent:?} {version:?} {statuses:?} {created:?}"),
        order: query.order(Order::Descending)?,
        limit: query.limit(20)?,
        page: query.one("page"),
    };
    call.query.finish()?;
    let workspace = call.workspace.clone();
    let found = page(&app.reader, &wanted, move |store, (_, value)| {
        let record: SessionRecord = serde_json::from_slice(value)?;
        let is_agent = agent.as_ref().is_none_or(|id| record.agent["id"] == id.as_str());
        let is_version = version.is_none_or(|version| record.agent["version"] == version);
        let is_visible =
            (archived || record.archived_ms.is_none()) && created.contain_ms(record.created_ms);
        if statuses.is_empty() || !(is_agent && is_version && is_visible) {
            return Ok(is_agent && is_version && is_visible);
        }
        let found = still_there(store, &workspace, record.id)?;
        Ok(found.is_some_and(|(_, state)| statuses.contains(&state.status)))
    });
    let Page { pairs, next, previous } = found.await?;
    let data = app.reader.ask(move |store| {
        let mut data = Vec::new();
        for (_, value) in &pairs {
            let record: SessionRecord = serde_json::from_slice(value)?;
            let found = still_there(store, &call.workspace, record.id)?;
            data.extend(found.map(|(record, state)| wire(&record, &state, now_ms())));
        }
        Ok(data)
    });
    let data = data.await?;
    Ok(Reply::json(&json!({"data": data, "next_page": next, "prev_page": previous})))
}

/// A session of a list, unless it was deleted since that was looked through.
fn still_there(
    store: &mut dyn Store,
    workspace: &str,
    id: String,
) -> Result<Option<(SessionRecord, Session)>, ApiError> {
    match load(store, &SessionKey { workspace: workspace.to_string(), id }) {
        Err(error) if error.status == 404 => Ok(None),
        found => found.map(Some),
    }
}

fn parse_statuses(names: Vec<String>) -> Result<Vec<Status>, ApiError> {
    let parse = |name: String| {
        let known = serde_json::from_value(Value::String(name));
        let what = "`statuses[]` must be idle, running, rescheduling or terminated";
        known.map_err(|_| ApiError::invalid(what))
    };
    names.into_iter().map(parse).collect()
}

/// `POST /v1/sessions/{id}`
pub async fn update(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let mut fields = Fields::parse(&body)?;
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    app.kernel
        .run(move |unit| {
            let (mut record, _) = load_unit(unit, &key)?;
            if record.archived_ms.is_some() {
                return Err(ApiError::invalid("Cannot modify archived session"));
            }
            let before = (record.title.clone(), record.metadata.clone());
            if let Some(title) = fields.take("title") {
                let mut one = Fields::one("title", title);
                record.title = one.text("title", TITLE_MAX)?;
            }
            record.metadata = fields.metadata(record.metadata)?;
            for field in ["agent", "budget"] {
                fields.unsupported(field)?;
            }
            let vaults = fields.value("vault_ids");
            if vaults.is_some_and(|vaults| vaults != json!(record.vault_ids)) {
                return Err(ApiError::invalid("vault_ids: cannot be changed"));
            }
            fields.finish()?;
            let title = (record.title != before.0).then(|| record.title.clone().into());
            let metadata = (record.metadata != before.1).then(|| record.metadata.clone());
            let taken = unit.step(&key, &Input::Update { title, metadata })?;
            let state = taken.map_err(|refusal| ApiError::invalid(refusal.to_string()))?.session;
            record.updated_ms = now_ms();
            unit.put(key.at(folder::SESSIONS), &record)?;
            Ok(wire(&record, &state, now_ms()))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

pub fn load_unit(unit: &mut Unit, key: &SessionKey) -> Result<(SessionRecord, Session), ApiError> {
    let record = unit.get(&key.at(folder::SESSIONS))?;
    let state = unit.get(&key.at(folder::STATES))?;
    record.zip(state).ok_or_else(|| missing(&key.id))
}
