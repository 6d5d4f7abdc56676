//! The models that agents may have: those that an engine of this server plays.

use super::reply::Reply;
use super::serve::Call;
use crate::error::ApiError;
use serde_json::{Value, json};

/// The one engine there is: scripts that are written down beforehand.
pub const SCRIPTED: &str = "scripted";

fn scripted() -> Value {
    json!({
        "id": SCRIPTED,
        "type": "model",
        "display_name": "Scripted",
        "created_at": "2026-11-01T00:00:00.000Z",
        "lifecycle": "active",
        "line": null,
        "capabilities": null,
        "max_input_tokens": null,
        "max_tokens": null,
        "allowed_fallback_models": null,
        "deprecated_at": null,
        "retires_at": null,
    })
}

/// `GET /v1/models`
pub fn list(mut call: Call) -> Result<Reply, ApiError> {
    call.query.limit(20)?;
    let is_beyond = call.query.one("after_id").or(call.query.one("before_id")).is_some();
    call.query.finish()?;
    let data = if is_beyond { Vec::new() } else { vec![scripted()] };
    let id = data.first().map(|model| model["id"].clone());
    Ok(Reply::json(&json!({"data": data, "has_more": false, "first_id": id, "last_id": id,
        "next_page": null})))
}

/// `GET /v1/models/{id}`
pub fn get(call: Call) -> Result<Reply, ApiError> {
    match call.id == SCRIPTED {
        true => Ok(Reply::json(&scripted())),
        false => Err(ApiError::not_found(format!("model: {}", call.id))),
    }
}
