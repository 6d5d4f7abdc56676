//! Vaults: where credentials of one purpose are together.

use super::agents::list_stored;
use super::credential::{credentials_of, purge};
use super::fields::Fields;
use super::query::Times;
use super::reply::Reply;
use super::serve::{App, Call};
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Stored, Unit, fields_of, folder};
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{prefix, rfc3339};
use axum::body::Bytes;
use serde_json::{Map, Value, json};

/// Vaults of a workspace.
const VAULTS_MAX: usize = 1000;
/// What people call vaults and credentials.
pub const NAME_MAX: usize = 256;

/// That there is none.
pub fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Vault {id} not found"))
}

fn change(wire: &mut Map<String, Value>, mut fields: Fields) -> Result<(), ApiError> {
    if let Some(name) = fields.value("display_name") {
        let mut one = Fields::one("display_name", name);
        wire.insert("display_name".into(), one.required_text("display_name", NAME_MAX)?.into());
    }
    let known = wire.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    wire.insert("metadata".into(), Value::Object(fields.metadata(known)?));
    fields.finish()
}

/// `POST /v1/vaults`
pub async fn create(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let fields = Fields::parse(&body)?;
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let (id, now) = (unit.new_id(prefix::VAULT), rfc3339(now_ms()));
            let wire = json!({
                "id": id, "type": "vault", "metadata": {}, "created_at": now, "updated_at": now,
                "archived_at": null,
            });
            let mut wire = fields_of(wire);
            change(&mut wire, fields)?;
            if !wire.contains_key("display_name") {
                return Err(ApiError::invalid("display_name: Field required"));
            }
            let at = format!("{}/{}", folder::VAULTS, call.workspace);
            let range = KeyRange::below(&at, Order::Ascending);
            if unit.transaction.scan(&range, VAULTS_MAX)?.len() >= VAULTS_MAX {
                let what = format!("a workspace can have at most {VAULTS_MAX} vaults");
                return Err(ApiError::invalid(what));
            }
            let stored = Stored { wire };
            unit.put(format!("{at}/{id}"), &stored)?;
            Ok(Value::Object(stored.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `GET /v1/vaults/{id}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::VAULTS);
    call.query.finish()?;
    let found: Option<Stored> = app.reader.get(at).await?;
    found.map(|found| Reply::json(&Value::Object(found.wire))).ok_or_else(|| missing(&call.id))
}

/// `GET /v1/vaults`
pub async fn list(app: &App, call: Call) -> Result<Reply, ApiError> {
    let folder = format!("{}/{}", folder::VAULTS, call.workspace);
    list_stored(app, call, folder, Times::default()).await
}

/// A vault that can be changed.
///
/// # Errors
/// If there is none, or it is archived.
pub fn open_vault(unit: &mut Unit, at: &str, id: &str) -> Result<Stored, ApiError> {
    let stored: Option<Stored> = unit.get(at)?;
    let stored = stored.ok_or_else(|| missing(id))?;
    match stored.is_archived() {
        true => Err(ApiError::invalid("Cannot modify archived vault")),
        false => Ok(stored),
    }
}

/// `POST /v1/vaults/{id}`
pub async fn update(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let (fields, at) = (Fields::parse(&body)?, call.at(folder::VAULTS));
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let mut stored = open_vault(unit, &at, &call.id)?;
            change(&mut stored.wire, fields)?;
            stored.wire.insert("updated_at".into(), rfc3339(now_ms()).into());
            unit.put(at, &stored)?;
            Ok(Value::Object(stored.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `POST /v1/vaults/{id}/archive`: its credentials are archived with it.
pub async fn archive(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::VAULTS);
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let stored: Option<Stored> = unit.get(&at)?;
            let mut stored = stored.ok_or_else(|| missing(&call.id))?;
            if !stored.is_archived() {
                let now = rfc3339(now_ms());
                for (at, mut credential) in credentials_of(unit, &call.workspace, &call.id)? {
                    purge(&mut credential, &now);
                    unit.put(at, &credential)?;
                }
                stored.wire.insert("archived_at".into(), now.clone().into());
                stored.wire.insert("updated_at".into(), now.into());
                unit.put(at, &stored)?;
            }
            Ok(Value::Object(stored.wire))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `DELETE /v1/vaults/{id}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::VAULTS);
    call.query.finish()?;
    app.kernel
        .run(move |unit| {
            let stored: Option<Stored> = unit.get(&at)?;
            stored.ok_or_else(|| missing(&call.id))?;
            let below = format!("{}/{}/{}", folder::CREDENTIALS, call.workspace, call.id);
            unit.delete_below(&below)?;
            unit.transaction.delete(at);
            Ok(json!({"id": call.id, "type": "vault_deleted"}))
        })
        .await
        .map(|wire| Reply::json(&wire))
}
