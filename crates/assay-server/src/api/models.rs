//! The models that agents may have: those that an engine of this server plays.

use super::reply::Reply;
use super::serve::{App, Call};
use crate::engine::Offer;
use crate::error::ApiError;
use serde_json::{Value, json};

const ACTIVE: &str = "active";
/// What clients may ask for.
const LIFECYCLES: [&str; 3] = [ACTIVE, "deprecated", "retired"];

fn wire(offer: &Offer) -> Value {
    json!({
        "id": offer.id,
        "type": "model",
        "display_name": offer.display_name,
        "created_at": "2026-11-01T00:00:00.000Z",
        "lifecycle": ACTIVE,
        "line": null,
        "capabilities": null,
        "max_input_tokens": offer.context_tokens,
        "max_tokens": offer.max_tokens,
        "allowed_fallback_models": null,
        "deprecated_at": null,
        "retires_at": null,
    })
}

/// `GET /v1/models`
pub fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let limit = call.query.limit(20)?;
    let (after, before) = (call.query.one("after_id"), call.query.one("before_id"));
    let lifecycles = call.query.all("lifecycle[]");
    call.query.finish()?;
    if let Some(unknown) = lifecycles.iter().find(|one| !LIFECYCLES.contains(&one.as_str())) {
        let unknown: String = unknown.chars().take(64).collect();
        let known = LIFECYCLES.join(", ");
        let what = format!("`lifecycle[]` must be one of {known}, not `{unknown}`");
        return Err(ApiError::invalid(what));
    }
    // Whatever an engine plays is active.
    let is_shown = lifecycles.is_empty() || lifecycles.iter().any(|one| one == ACTIVE);
    let offers = if is_shown { app.engines.offers() } else { &[] };
    let place = |id: &Option<String>| {
        id.as_ref()
            .map(|id| offers.iter().position(|offer| offer.id == *id).unwrap_or(offers.len()))
    };
    let first = place(&after).map_or(0, |index| (index + 1).min(offers.len()));
    let end = place(&before).unwrap_or(offers.len()).max(first);
    // Those before an id end at it, all others begin where they may.
    let first = if before.is_some() { end.saturating_sub(limit).max(first) } else { first };
    let shown = &offers[first..end.min(first.saturating_add(limit))];
    let has_more = shown.len() < end - first || (before.is_some() && first > 0);
    let data: Vec<Value> = shown.iter().map(wire).collect();
    let id = |model: Option<&Value>| model.map(|model| model["id"].clone());
    Ok(Reply::json(&json!({"data": data, "has_more": has_more, "first_id": id(data.first()),
        "last_id": id(data.last()), "next_page": null})))
}

/// `GET /v1/models/{id}`
pub fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    match app.engines.offers().iter().find(|offer| offer.id == call.id) {
        Some(offer) => Ok(Reply::json(&wire(offer))),
        None => Err(ApiError::not_found(format!("model: {}", call.id))),
    }
}
