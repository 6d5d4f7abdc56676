//! Credentials: secrets that come in and never go out, with what may be known about them.
//!
//! The part that clients see and the sealed secret are one record; the secret is sealed before it
//! reaches the thread that writes, and no answer, event, log or error is made from it.

use super::agents::list_stored;
use super::fields::Fields;
use super::query::Times;
use super::reply::Reply;
use super::serve::{App, Call};
use super::vaults::{self, NAME_MAX, open_vault};
use crate::error::ApiError;
use crate::log::log;
use crate::names::now_ms;
use crate::sealing::{Sealed, Sealer};
use crate::store::{Unit, fields_of, folder};
use assay_ledger::keyed::{KeyRange, Order, Store};
use assay_session::{prefix, rfc3339};
use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Credentials of a vault that are not archived, and all.
const ACTIVE_MAX: usize = 20;
const ALL_MAX: usize = 1000;
const URL_MAX: usize = 2048;
const SECRET_MAX: usize = 16 * 1024;

/// What is kept of a credential.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Credential {
    /// What clients see.
    pub wire: Map<String, Value>,
    /// What they do not; gone when it is archived.
    pub sealed: Option<Sealed>,
}

impl Credential {
    fn is_archived(&self) -> bool {
        self.wire.get("archived_at").is_some_and(|at| !at.is_null())
    }

    fn url(&self) -> &str {
        let auth = self.wire.get("auth");
        auth.and_then(|auth| auth["mcp_server_url"].as_str()).unwrap_or_default()
    }
}

/// Forgets the secret.
pub fn purge(credential: &mut Credential, now: &str) {
    if !credential.is_archived() {
        credential.sealed = None;
        credential.wire.insert("archived_at".into(), now.into());
        credential.wire.insert("updated_at".into(), now.into());
    }
}

fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Credential {id} not found"))
}

fn folder_of(workspace: &str, vault: &str) -> String {
    format!("{}/{workspace}/{vault}", folder::CREDENTIALS)
}

/// All credentials of a vault, with their keys.
///
/// # Errors
/// If the store cannot be read.
pub fn credentials_of(
    unit: &mut Unit,
    workspace: &str,
    vault: &str,
) -> Result<Vec<(String, Credential)>, ApiError> {
    let range = KeyRange::below(&folder_of(workspace, vault), Order::Ascending);
    let pairs = unit.transaction.scan(&range, ALL_MAX)?;
    let read = |(key, value): (String, Vec<u8>)| Ok((key, serde_json::from_slice(&value)?));
    pairs.into_iter().map(read).collect()
}

/// Where the first active credential for exactly this address is, in the order of the vaults.
///
/// # Errors
/// If the store cannot be read.
pub fn find_credential(
    store: &mut dyn Store,
    workspace: &str,
    vaults: &[String],
    url: &str,
) -> Result<Option<String>, ApiError> {
    for vault in vaults {
        let range = KeyRange::below(&folder_of(workspace, vault), Order::Ascending);
        for (at, value) in store.scan(&range, ALL_MAX)? {
            let credential: Credential = serde_json::from_slice(&value)?;
            if !credential.is_archived() && credential.url() == url {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

/// What a request says about how to authenticate: what may be seen, and what may not.
struct Auth {
    kind: String,
    url: Option<String>,
    secret: Option<String>,
    /// `None` if nothing is said about it.
    expires_at: Option<Value>,
}

fn parse_auth(value: Value) -> Result<Auth, ApiError> {
    let mut fields = Fields::of(value, "auth")?;
    let kind = fields.required_text("type", NAME_MAX)?;
    let secret_field = match kind.as_str() {
        "static_bearer" => "token",
        "mcp_oauth" => "access_token",
        _ => return Err(fields.bad("type", "must be static_bearer or mcp_oauth")),
    };
    let secret = fields.text(secret_field, SECRET_MAX)?;
    let is_header = |text: &String| text.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    if secret.as_ref().is_some_and(|text| text.is_empty() || !is_header(text)) {
        return Err(fields.bad(secret_field, "must have visible ASCII characters only"));
    }
    let url = fields.text("mcp_server_url", URL_MAX)?;
    if let Some(url) = &url {
        check_url(url).map_err(|what| fields.bad("mcp_server_url", what))?;
    }
    let expires_at = match (kind.as_str(), fields.take("expires_at")) {
        (_, None) => None,
        ("mcp_oauth", Some(Value::Null)) => Some(Value::Null),
        ("mcp_oauth", Some(time)) => {
            let time = time.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
            let ms = time.and_then(|time| u64::try_from(time.as_millisecond()).ok());
            let what = "must be a time like 2026-11-17T04:05:06Z";
            Some(rfc3339(ms.ok_or_else(|| fields.bad("expires_at", what))?).into())
        }
        _ => return Err(ApiError::unsupported("auth.expires_at")),
    };
    fields.unsupported("refresh")?;
    fields.finish()?;
    Ok(Auth { kind, url, secret, expires_at })
}

/// The address is compared byte by byte later, and shown: it must not have a secret in it.
fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    match host {
        Some(host) if host.contains('@') => Err("must not have a user or password in it"),
        Some(host) if !host.is_empty() && url.bytes().all(|b| (0x21..=0x7e).contains(&b)) => Ok(()),
        _ => Err("must be an address with http or https"),
    }
}

fn seal(sealer: &Sealer, at: &str, secret: &str) -> Result<Sealed, ApiError> {
    sealer.seal(at, secret.as_bytes()).map_err(|error| {
        log(error);
        ApiError::internal()
    })
}

/// `POST /v1/vaults/{id}/credentials`
pub async fn create(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let mut fields = Fields::parse(&body)?;
    let auth = fields.value("auth").ok_or_else(|| ApiError::invalid("auth: Field required"));
    let auth = parse_auth(auth?)?;
    let url = auth.url.ok_or_else(|| ApiError::invalid("auth.mcp_server_url: Field required"))?;
    let secret = auth.secret.ok_or_else(|| {
        let field = if auth.kind == "mcp_oauth" { "access_token" } else { "token" };
        ApiError::invalid(format!("auth.{field}: Field required"))
    })?;
    let display_name = fields.text("display_name", NAME_MAX)?;
    let metadata = fields.metadata(Map::new())?;
    fields.finish()?;
    let vault_at = call.at(folder::VAULTS);
    call.query.finish()?;
    let (id, now) = (app.names.next(prefix::CREDENTIAL), rfc3339(now_ms()));
    let mut shown = json!({"type": auth.kind, "mcp_server_url": url});
    if auth.kind == "mcp_oauth" {
        shown["expires_at"] = auth.expires_at.unwrap_or_default();
        shown["refresh"] = Value::Null;
    }
    let wire = json!({
        "id": id, "type": "vault_credential", "vault_id": call.id, "auth": shown,
        "display_name": display_name, "metadata": metadata, "created_at": now,
        "updated_at": now, "archived_at": null,
    });
    let at = format!("{}/{id}", folder_of(&call.workspace, &call.id));
    let sealed = Some(seal(&app.sealer, &at, &secret)?);
    let credential = Credential { wire: fields_of(wire.clone()), sealed };
    app.kernel
        .run(move |unit| {
            open_vault(unit, &vault_at, &call.id)?;
            let others = credentials_of(unit, &call.workspace, &call.id)?;
            let active = || others.iter().filter(|(_, other)| !other.is_archived());
            if active().any(|(_, other)| other.url() == url) {
                let what = "auth.mcp_server_url: an active credential of this vault has it";
                return Err(ApiError::conflict(what));
            }
            if active().count() >= ACTIVE_MAX || others.len() >= ALL_MAX {
                let what = format!("a vault can have at most {ACTIVE_MAX} active credentials");
                return Err(ApiError::invalid(what));
            }
            unit.put(at, &credential)
        })
        .await?;
    Ok(Reply::json(&wire))
}

fn key_of(call: &Call) -> String {
    format!("{}/{}", folder_of(&call.workspace, &call.id), call.child)
}

/// `GET /v1/vaults/{id}/credentials/{child}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = key_of(&call);
    call.query.finish()?;
    let found: Option<Credential> = app.reader.get(at).await?;
    found.map(|one| Reply::json(&Value::Object(one.wire))).ok_or_else(|| missing(&call.child))
}

/// `GET /v1/vaults/{id}/credentials`
pub async fn list(app: &App, call: Call) -> Result<Reply, ApiError> {
    let vault: Option<Value> = app.reader.get(call.at(folder::VAULTS)).await?;
    vault.ok_or_else(|| vaults::missing(&call.id))?;
    let folder = folder_of(&call.workspace, &call.id);
    list_stored(app, call, folder, Times::default()).await
}

/// `POST /v1/vaults/{id}/credentials/{child}`
pub async fn update(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let mut fields = Fields::parse(&body)?;
    let auth = fields.value("auth").map(parse_auth).transpose()?;
    let at = key_of(&call);
    call.query.finish()?;
    let secret = auth.as_ref().and_then(|auth| auth.secret.as_ref());
    let sealed = secret.map(|secret| seal(&app.sealer, &at, secret)).transpose()?;
    app.kernel
        .run(move |unit| {
            let found: Option<Credential> = unit.get(&at)?;
            let mut found = found.ok_or_else(|| missing(&call.child))?;
            if found.is_archived() {
                return Err(ApiError::invalid("Cannot modify archived credential"));
            }
            if let Some(auth) = auth {
                change_auth(&mut found, auth)?;
            }
            found.sealed = sealed.or(found.sealed);
            if let Some(name) = fields.take("display_name") {
                let mut one = Fields::of(json!({"display_name": name}), "credential")?;
                let name = one.text("display_name", NAME_MAX)?;
                found.wire.insert("display_name".into(), name.into());
            }
            let known = found.wire.get("metadata").and_then(Value::as_object);
            let metadata = fields.metadata(known.cloned().unwrap_or_default())?;
            found.wire.insert("metadata".into(), Value::Object(metadata));
            fields.finish()?;
            found.wire.insert("updated_at".into(), rfc3339(now_ms()).into());
            unit.put(at, &found)?;
            Ok(Value::Object(found.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// How and where it authenticates stays what it was.
fn change_auth(credential: &mut Credential, auth: Auth) -> Result<(), ApiError> {
    let url = credential.url().to_string();
    let Some(shown) = credential.wire.get_mut("auth") else { return Err(ApiError::internal()) };
    if shown["type"] != auth.kind.as_str() {
        return Err(ApiError::invalid("auth.type: cannot be changed"));
    }
    if auth.url.is_some_and(|given| given != url) {
        return Err(ApiError::invalid("auth.mcp_server_url: cannot be changed"));
    }
    if let Some(expires_at) = auth.expires_at {
        shown["expires_at"] = expires_at;
    }
    Ok(())
}

/// `POST /v1/vaults/{id}/credentials/{child}/archive`: the secret is forgotten.
pub async fn archive(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = key_of(&call);
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let found: Option<Credential> = unit.get(&at)?;
            let mut found = found.ok_or_else(|| missing(&call.child))?;
            purge(&mut found, &rfc3339(now_ms()));
            unit.put(at, &found)?;
            Ok(Value::Object(found.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `DELETE /v1/vaults/{id}/credentials/{child}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = key_of(&call);
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let found: Option<Credential> = unit.get(&at)?;
            found.ok_or_else(|| missing(&call.child))?;
            unit.transaction.delete(at);
            Ok(json!({"id": call.child, "type": "vault_credential_deleted"}))
        })
        .await
        .map(|wire| Reply::json(&wire))
}
