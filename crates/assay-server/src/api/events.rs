//! Events of a session: send and list.

use super::idempotency::{Answer, Events, Guard, guard, once};
use super::page::collect;
use super::query::Times;
use super::reply::Reply;
use super::serve::{App, Call};
use super::sessions::missing;
use crate::engine::{check_type, named_file, remember_interrupt};
use crate::error::ApiError;
use crate::limits::Limits;
use crate::store::{Line, SessionKey, Stored, Taken, Unit, folder};
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{EVENT_TYPES, Echo, Effect, Inbound, Input, Refusal, Session, prefix};
use axum::body::Bytes;
use serde_json::Value;

/// Events in one request.
const EVENTS_MAX: usize = 200;

/// Reads the events of a request.
pub fn parse_events(values: Vec<Value>, place: &str) -> Result<Vec<Inbound>, ApiError> {
    if values.len() > EVENTS_MAX {
        let what = format!("`{place}` must have at most {EVENTS_MAX} entries");
        return Err(ApiError::invalid(what));
    }
    let read = |(index, value): (usize, &Value)| {
        let event = Inbound::parse(value, &format!("{place}[{index}]"));
        event.map_err(|error| ApiError::invalid(error.to_string()))
    };
    values.iter().enumerate().map(read).collect()
}

fn parse_send(body: &[u8]) -> Result<Vec<Inbound>, ApiError> {
    let mut fields = super::fields::Fields::parse(body)?;
    let values = fields.array("events")?;
    if values.is_empty() {
        return Err(ApiError::invalid("`events` must be an array that is not empty"));
    }
    fields.finish()?;
    let events = parse_events(values, "events")?;
    let is_message = |event: &Inbound| matches!(event, Inbound::Message { .. });
    if events.contains(&Inbound::Interrupt) && events.iter().any(is_message) {
        let what = "`events` cannot mix user.interrupt and user.message in one request";
        return Err(ApiError::invalid(what));
    }
    Ok(events)
}

/// Messages begin turns, and of those a workspace may have only so many. Interrupts and answers,
/// which end them, are always taken.
fn check_load(
    unit: &mut Unit,
    key: &SessionKey,
    events: &[Inbound],
    limits: &Limits,
) -> Result<(), ApiError> {
    let messages = events.iter().filter(|event| matches!(event, Inbound::Message { .. })).count();
    if messages == 0 {
        return Ok(());
    }
    let load = unit.load(&key.workspace);
    if load.turns + messages > limits.turns {
        return Err(ApiError::too_many("too many messages are waiting in this workspace"));
    }
    let state: Option<Session> = unit.get(&key.at(folder::STATES))?;
    let is_idle = state.is_none_or(|state| state.turns.is_empty());
    match is_idle && load.active >= limits.active_sessions {
        true => Err(ApiError::too_many("too many sessions are active in this workspace")),
        false => Ok(()),
    }
}

/// Files that events name are there, and can be shown, as far as their types say. `place` is where
/// the events stand in the request.
fn check_files(
    unit: &mut Unit,
    key: &SessionKey,
    events: &[Inbound],
    place: &str,
) -> Result<(), ApiError> {
    for (index, event) in events.iter().enumerate() {
        let content = match event {
            Inbound::Message { content } | Inbound::Result { content, .. } => content,
            Inbound::Interrupt | Inbound::Confirmation { .. } => continue,
        };
        for (number, block) in content.iter().enumerate() {
            let Some(id) = named_file(block) else { continue };
            let bad = |what: &str| {
                let id: String = id.chars().take(64).collect();
                let field = format!("{place}[{index}].content[{number}].source.file_id");
                ApiError::invalid(format!("{field}: the file {id} {what}"))
            };
            // What has a slash in it would be the name of something else.
            let found: Option<Stored> = match id.contains('/') {
                true => None,
                false => unit.get(&format!("{}/{}/{id}", folder::FILES, key.workspace))?,
            };
            let found = found.ok_or_else(|| bad("is not there"))?;
            let mime_type = found.wire.get("mime_type").and_then(Value::as_str);
            check_type(block, mime_type.unwrap_or_default()).map_err(bad)?;
        }
    }
    Ok(())
}

/// Sends events: all of them, or none. Gives what is answered.
pub fn send_events(
    unit: &mut Unit,
    key: &SessionKey,
    events: Vec<Inbound>,
    place: &str,
    limits: &Limits,
) -> Result<Answer, ApiError> {
    check_files(unit, key, &events, place)?;
    check_load(unit, key, &events, limits)?;
    let taken = unit.step_in_lines(key, &Input::Send(events))?;
    let Taken { step, lines } = taken.map_err(|refusal| match refusal {
        Refusal::Archived => missing(&key.id),
        Refusal::NoPendingCall(_) | Refusal::NoPendingConfirmation(_) => {
            ApiError::not_found(refusal.to_string())
        }
        Refusal::TooManyTurns => ApiError::too_many(refusal.to_string()),
        other => ApiError::invalid(other.to_string()),
    })?;
    for effect in &step.effects {
        if let Effect::Abort(turn) = effect {
            remember_interrupt(unit, key, turn)?;
        }
    }
    let log = key.at(folder::EVENTS);
    let mut said = Vec::with_capacity(step.echoes.len());
    for echo in step.echoes {
        said.push(match echo {
            Echo::Appended(event) => {
                let line = lines.iter().find(|line| line.id == event.id.0);
                let line = line.ok_or_else(ApiError::internal)?;
                (line.id.clone(), line.json.clone())
            }
            Echo::Known(id) => {
                let stored = unit.transaction.get(&format!("{log}/{id}"))?;
                let stored = stored.and_then(|stored| String::from_utf8(stored).ok());
                (id.0, stored.ok_or_else(ApiError::internal)?)
            }
        });
    }
    Ok(Answer::Events(Events { log, lines: said }))
}

/// `POST /v1/sessions/{id}/events`
pub async fn send(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let guard = guard(&call, &body)?;
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let limits = *app.admission.limits();
    let wanted = guard.iter().map(Guard::at).chain([key.at(folder::STATES)]).collect();
    let sent = app.kernel.run_knowing(wanted, move |unit| {
        // Whether there is a session comes before what is said to it: answers to keys may be there
        // for a moment longer than the session.
        if unit.transaction.get(&key.at(folder::STATES))?.is_none() {
            return Err(missing(&key.id));
        }
        once(unit, guard.as_ref(), |unit| {
            send_events(unit, &key, parse_send(&body)?, "events", &limits)
        })
    });
    sent.await?.map(Reply::text)
}

/// `GET /v1/sessions/{id}/events`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let limit = call.query.limit(100)?;
    let order = call.query.order(Order::Ascending)?;
    let types = call.query.all("types[]");
    let created = call.query.created()?;
    let page = call.query.one("page");
    call.query.finish()?;
    if let Some(unknown) = types.iter().find(|name| !EVENT_TYPES.contains(&name.as_str())) {
        let unknown: String = unknown.chars().take(64).collect();
        let what = format!("`types[]`: this server has no events of type `{unknown}`");
        return Err(ApiError::invalid(what));
    }
    let key = SessionKey { workspace: call.workspace, id: call.id };
    app.reader.session_state(&key).await?;
    let at = key.at(folder::EVENTS);
    let mut range = KeyRange::below(&at, order);
    if let Some(page) = page {
        if !page.starts_with(prefix::EVENT) || page.contains('/') {
            return Err(ApiError::invalid("`page` must be a valid event cursor"));
        }
        let last = format!("{at}/{page}");
        // Ids are ordered across sessions: that of another one would skip what nobody has seen.
        let own = last.clone();
        if !app.reader.ask(move |store| Ok(store.get(&own)?.is_some())).await? {
            return Err(ApiError::invalid("`page` must be an event of this session"));
        }
        range = range.after(&last);
    }
    let found = collect(&app.reader, range, limit + 1, move |_, (key, value)| {
        if types.is_empty() && created == Times::default() {
            return Ok(true);
        }
        let line = Line::stored(key, value.clone())?;
        let is_type = types.is_empty() || types.contains(&line.kind);
        Ok(is_type && created.contain(&line.processed_at()?))
    });
    let mut pairs = found.await?;
    let more = pairs.len() > limit;
    pairs.truncate(limit);
    let lines = pairs.into_iter().map(|(key, value)| Line::stored(&key, value));
    let lines = lines.collect::<Result<Vec<_>, ApiError>>()?;
    let next = lines.last().filter(|_| more).map(|line| line.id.clone());
    let data: Vec<String> = lines.into_iter().map(|line| line.json).collect();
    let next = serde_json::to_string(&next)?;
    Ok(Reply::text(format!("{{\"data\":[{}],\"next_page\":{next}}}", data.join(","))))
}
