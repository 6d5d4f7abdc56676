//! How sessions end, and how they are taken up again: archive, delete, restart.

use super::idempotency::forget;
use super::remains::{clear, leave};
use super::reply::Reply;
use super::serve::{App, Call};
use super::sessions::{load_unit, uses, wire};
use crate::engine::forget_outputs;
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Kernel, Reader, SessionKey, folder};
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{Input, Refusal};
use serde_json::json;

/// Sessions that are looked at in one commit after a restart.
const RECOVER_AT_ONCE: usize = 100;

/// `POST /v1/sessions/{id}/archive`
pub async fn archive(app: &App, call: Call) -> Result<Reply, ApiError> {
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    app.kernel
        .run(move |unit| {
            let taken = unit.step(&key, &Input::Archive)?;
            let taken = taken.map_err(|refusal| match refusal {
                Refusal::Busy(status) => ApiError::invalid(format!(
                    "Session {} cannot be archived while its status is {}. Only pending or idle \
                     sessions may be archived.",
                    key.id,
                    json!(status)
                )),
                other => ApiError::invalid(other.to_string()),
            })?;
            let (mut record, _) = load_unit(unit, &key)?;
            if record.archived_ms.is_none() {
                let now = now_ms();
                (record.archived_ms, record.updated_ms) = (Some(now), now);
                unit.put(key.at(folder::SESSIONS), &record)?;
                // Nothing runs in it any more: others can work there.
                unit.transaction.delete(key.at(folder::LENT));
            }
            Ok(wire(&record, &taken.session, now_ms()))
        })
        .await
        .map(|wire| Reply::json(&wire))
}

/// `DELETE /v1/sessions/{id}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let place = key.clone();
    let gone = app
        .kernel
        .run(move |unit| {
            let (record, _) = load_unit(unit, &key)?;
            unit.step(&key, &Input::Delete)?.map_err(|_| {
                ApiError::invalid(
                    "Cannot delete session while it is running. Send an interrupt event or wait \
                     for the session to complete.",
                )
            })?;
            let outputs = forget_outputs(unit, &key)?;
            leave(unit, &key)?;
            for folder in [folder::SESSIONS, folder::STATES, folder::ACTIVE, folder::LENT] {
                unit.transaction.delete(key.at(folder));
            }
            unit.transaction.delete(uses(&key, &record));
            if let Some(made_by) = record.made_by {
                forget(unit, made_by)?;
            }
            Ok((json!({"id": key.id, "type": "session_deleted"}), outputs))
        })
        .await?;
    let (wire, outputs) = gone;
    let (kernel, key) = (app.kernel.clone(), place.clone());
    // It goes on if whoever asked does not wait; what stays behind goes at the next start.
    let _left = tokio::spawn(async move { clear(&kernel, &key).await }).await;
    // What stays behind goes at the next start.
    let _left = app.arranger.arrange(&place).await;
    for output in outputs {
        let _left = tokio::fs::remove_file(app.objects.join(output)).await;
    }
    Ok(Reply::json(&wire))
}

/// Looks at every session that an earlier process left in the middle of something, in all
/// workspaces, before anything is served.
///
/// # Errors
/// If the store fails.
pub async fn recover_all(kernel: &Kernel, reader: &Reader) -> Result<usize, ApiError> {
    let mut range = KeyRange::below(folder::ACTIVE, Order::Ascending);
    let mut count = 0;
    loop {
        let wanted = range.clone();
        let found = reader.ask(move |store| Ok(store.scan(&wanted, RECOVER_AT_ONCE)?)).await?;
        let Some((last, _)) = found.last() else { return Ok(count) };
        range = range.after(last);
        count += found.len();
        kernel
            .run(move |unit| {
                for (key, _) in found {
                    let mut parts = key.split('/').skip(1).map(str::to_string);
                    let (Some(workspace), Some(id)) = (parts.next(), parts.next()) else {
                        continue;
                    };
                    // The machine takes this one always.
                    let _always = unit.step(&SessionKey { workspace, id }, &Input::Recover)?;
                }
                Ok(())
            })
            .await?;
    }
}
