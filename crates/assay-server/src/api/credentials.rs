//! Credentials: secrets that come in and never go out, with what may be known about them.
//!
//! What is kept of one stands in [`Credential`]. No answer, event, log or error is made from what
//! is secret; requests that are refused do not get it back either.

use super::agents::list_stored;
use super::auth::{Auth, RefreshWish, change_refresh, new_refresh, parse_auth};
use super::credential::{ALL_MAX, Credential, credentials_of, folder_of, purge};
use super::fields::Fields;
use super::query::Times;
use super::reply::Reply;
use super::serve::{App, Call};
use super::vaults::{self, NAME_MAX, open_vault};
use crate::error::ApiError;
use crate::log::log;
use crate::names::now_ms;
use crate::oauth::{RefreshSecrets, refresh_record};
use crate::sealing::{SealError, Sealed, Sealer};
use crate::store::{fields_of, folder};
use assay_session::{prefix, rfc3339};
use axum::body::Bytes;
use serde_json::{Map, Value, json};

/// Credentials of a vault that are not archived.
const ACTIVE_MAX: usize = 20;

/// That there is none.
pub fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Credential {id} not found"))
}

fn seal(sealer: &Sealer, at: &str, secret: &[u8]) -> Result<Sealed, ApiError> {
    sealer.seal(at, secret).map_err(unsealed)
}

fn unsealed(error: SealError) -> ApiError {
    log(error);
    ApiError::internal()
}

fn seal_refresh(sealer: &Sealer, at: &str, secrets: &RefreshSecrets) -> Result<Sealed, ApiError> {
    seal(sealer, &refresh_record(at), &serde_json::to_vec(secrets)?)
}

/// A credential that a request asks for, and where it will be.
fn make(app: &App, call: &Call, mut fields: Fields) -> Result<(String, Credential), ApiError> {
    let auth = fields.value("auth").ok_or_else(|| ApiError::invalid("auth: Field required"));
    let auth = parse_auth(auth?)?;
    let url = auth.url.ok_or_else(|| ApiError::invalid("auth.mcp_server_url: Field required"))?;
    let secret = auth.secret.ok_or_else(|| {
        let field = Auth::secret_field(&auth.kind);
        ApiError::invalid(format!("auth.{field}: Field required"))
    })?;
    let display_name = fields.text("display_name", NAME_MAX)?;
    let metadata = fields.metadata(Map::new())?;
    fields.finish()?;
    let (id, now) = (app.names.next(prefix::CREDENTIAL), rfc3339(now_ms()));
    let at = format!("{}/{id}", folder_of(&call.workspace, &call.id));
    let mut shown = json!({"type": auth.kind, "mcp_server_url": url});
    let mut sealed_refresh = None;
    if auth.kind == "mcp_oauth" {
        shown["refresh"] = Value::Null;
        if let Some(wish) = auth.refresh.flatten() {
            let (refresh, secrets) = new_refresh(wish)?;
            shown["refresh"] = refresh;
            sealed_refresh = Some(seal_refresh(&app.sealer, &at, &secrets)?);
        }
    }
    let wire = json!({
        "id": id, "type": "vault_credential", "vault_id": call.id, "auth": shown,
        "display_name": display_name, "metadata": metadata, "created_at": now,
        "updated_at": now, "archived_at": null,
    });
    let sealed = Some(seal(&app.sealer, &at, secret.as_bytes())?);
    let wire = fields_of(wire);
    let mut credential = Credential { wire, sealed, sealed_refresh, renew_at_ms: None };
    if auth.kind == "mcp_oauth" {
        credential.ends(auth.expires_at.unwrap_or_default());
    }
    Ok((at, credential))
}

/// `POST /v1/vaults/{id}/credentials`
pub async fn create(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let (at, credential) = make(app, &call, Fields::parse(&body)?)?;
    let (vault_at, wire) = (call.at(folder::VAULTS), credential.wire.clone());
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            open_vault(unit, &vault_at, &call.id)?;
            let others = credentials_of(unit, &call.workspace, &call.id)?;
            let active = || others.iter().filter(|(_, other)| !other.is_archived());
            if active().any(|(_, other)| other.url() == credential.url()) {
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
    Ok(Reply::json(&Value::Object(wire)))
}

/// Where the credential of a request is.
pub fn key_of(call: &Call) -> String {
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
    let sealer = app.sealer.clone();
    app.kernel
        .run(move |unit| {
            let found: Option<Credential> = unit.get(&at)?;
            let mut found = found.ok_or_else(|| missing(&call.child))?;
            if found.is_archived() {
                return Err(ApiError::invalid("Cannot modify archived credential"));
            }
            if let Some(auth) = auth {
                change_auth(&sealer, &at, &mut found, auth)?;
            }
            if let Some(name) = fields.take("display_name") {
                let mut one = Fields::one("display_name", name);
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
fn change_auth(
    sealer: &Sealer,
    at: &str,
    credential: &mut Credential,
    auth: Auth,
) -> Result<(), ApiError> {
    if credential.auth()["type"] != auth.kind.as_str() {
        return Err(ApiError::invalid("auth.type: cannot be changed"));
    }
    if auth.url.is_some_and(|given| given != credential.url()) {
        return Err(ApiError::invalid("auth.mcp_server_url: cannot be changed"));
    }
    if let Some(secret) = auth.secret {
        credential.sealed = Some(seal(sealer, at, secret.as_bytes())?);
    }
    if let Some(expires_at) = auth.expires_at {
        credential.ends(expires_at);
    }
    match auth.refresh {
        None => Ok(()),
        Some(wish) => renew_otherwise(sealer, at, credential, wish),
    }
}

/// How it is renewed is another way from now on, or not at all.
fn renew_otherwise(
    sealer: &Sealer,
    at: &str,
    credential: &mut Credential,
    wish: Option<RefreshWish>,
) -> Result<(), ApiError> {
    let mut shown = credential.refresh().clone();
    let sealed = match (wish, &credential.sealed_refresh) {
        (None, _) => {
            shown = Value::Null;
            None
        }
        (Some(_), None) => {
            let what = "auth.refresh: this credential has none; make a new credential";
            return Err(ApiError::invalid(what));
        }
        (Some(wish), Some(known)) => {
            let opened = sealer.open(&refresh_record(at), known).map_err(unsealed)?;
            let mut secrets: RefreshSecrets = serde_json::from_slice(&opened)?;
            change_refresh(&mut shown, &mut secrets, wish)?;
            Some(seal_refresh(sealer, at, &secrets)?)
        }
    };
    credential.sealed_refresh = sealed;
    if let Some(auth) = credential.wire.get_mut("auth") {
        auth["refresh"] = shown;
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
