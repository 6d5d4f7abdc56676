//! Files in sessions: list, add, look, take away.
//!
//! What is added is a copy: what happens to the upload later is not seen. Why a record never stands
//! without its bytes, nor bytes where tools look without their record: [`crate::placing`].

use super::fields::Fields;
use super::mounting::{mount, unmount};
use super::mounts::{BYTES_MAX, UPLOADS, parse_resource};
use super::page::short_page;
use super::reply::Reply;
use super::serve::{App, Call};
use super::sessions::missing;
use crate::arranging::Arranger;
use crate::error::ApiError;
use crate::log::log;
use crate::names::now_ms;
use crate::placing::Mount;
use crate::store::{Resource, SessionKey, SessionRecord, Stored, folder};
use assay_session::{prefix, rfc3339};
use axum::body::Bytes;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// What is said of one that is not there.
pub const NO_RESOURCE: &str = "Session resource not found";

/// What clients see.
pub fn wire(resource: &Resource) -> Value {
    let at = rfc3339(resource.created_ms);
    json!({
        "id": resource.id, "type": "file", "file_id": resource.file_id,
        "mount_path": format!("{UPLOADS}/{}", resource.path),
        "created_at": at, "updated_at": at,
    })
}

impl From<&Resource> for Mount {
    fn from(resource: &Resource) -> Mount {
        Mount { id: resource.id.clone(), path: resource.path.clone() }
    }
}

/// The size of an upload of this workspace.
pub fn size_of(stored: Option<Stored>, place: &str, id: &str) -> Result<u64, ApiError> {
    let size = stored.and_then(|stored| stored.wire.get("size_bytes").and_then(Value::as_u64));
    size.ok_or_else(|| ApiError::invalid(format!("{place}file_id: {id} not found")))
}

/// Says that the disk refused; why stands in the log.
pub fn disk_trouble(error: std::io::Error) -> ApiError {
    log(format_args!("the directory of a session: {error}"));
    ApiError::internal()
}

/// All files together have a limit.
pub fn check_bytes(sizes: impl Iterator<Item = u64>) -> Result<(), ApiError> {
    match sizes.sum::<u64>() <= BYTES_MAX {
        true => Ok(()),
        false => {
            let mib = BYTES_MAX / 1024 / 1024;
            Err(ApiError::invalid(format!("resources: files can have at most {mib} MiB together")))
        }
    }
}

/// `POST /v1/sessions/{id}/resources`
pub async fn add(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let wanted = parse_resource(Fields::parse(&body)?)?;
    let file_at = format!("{}/{}/{}", folder::FILES, call.workspace, wanted.file_id);
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    app.reader.session_state(&key).await?;
    let size_bytes = size_of(app.reader.get(file_at).await?, "", &wanted.file_id)?;
    let id = app.names.next(prefix::RESOURCE);
    let (object, created_ms) = (app.objects.join(&wanted.file_id), now_ms());
    let resource =
        Resource { id, file_id: wanted.file_id, path: wanted.path, size_bytes, created_ms };
    let added = mount(&app.kernel, &app.arranger, &key, object, resource).await?;
    Ok(Reply::json(&added))
}

/// Disks may take their time.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(std::io::Error::other(error))).map_err(disk_trouble)
}

async fn record_of(app: &App, key: &SessionKey) -> Result<SessionRecord, ApiError> {
    let record: Option<SessionRecord> = app.reader.get(key.at(folder::SESSIONS)).await?;
    record.ok_or_else(|| missing(&key.id))
}

/// `GET /v1/sessions/{id}/resources`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let (limit, page) = (call.query.limit(20)?, call.query.one("page"));
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let resources = record_of(app, &key).await?.resources;
    let (resources, next) = short_page(resources, |one| one.id.as_str(), limit, page)?;
    let data: Vec<Value> = resources.iter().map(wire).collect();
    Ok(Reply::json(&json!({"data": data, "next_page": next})))
}

/// `GET /v1/sessions/{id}/resources/{child}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let record = record_of(app, &key).await?;
    let found = record.resources.iter().find(|resource| resource.id == call.child);
    found.map(|found| Reply::json(&wire(found))).ok_or_else(|| ApiError::not_found(NO_RESOURCE))
}

/// `POST /v1/sessions/{id}/resources/{child}`: what can be changed about a resource is the token of
/// a repository, and there are only files.
pub async fn update(app: &App, call: Call, body: Bytes) -> Result<Reply, ApiError> {
    let mut fields = Fields::parse(&body)?;
    get(app, call).await?;
    fields.required_text("authorization_token", usize::MAX)?;
    fields.finish()?;
    Err(ApiError::invalid("authorization_token: a file has none"))
}

/// `DELETE /v1/sessions/{id}/resources/{child}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    call.query.finish()?;
    let key = SessionKey { workspace: call.workspace, id: call.id };
    unmount(&app.kernel, &app.arranger, &key, call.child.clone()).await?;
    Ok(Reply::json(&json!({"id": call.child, "type": "session_resource_deleted"})))
}

/// Takes directories away that no session has, and arranges the others, all from before this
/// start.
///
/// # Errors
/// If the store or a directory cannot be read.
pub async fn sweep_workspaces(arranger: &Arc<Arranger>) -> Result<(), ApiError> {
    let workspaces = arranger.workspaces().to_path_buf();
    for key in blocking(move || session_places(&workspaces)).await? {
        arranger.arrange(&key).await?;
    }
    Ok(())
}

fn session_places(root: &Path) -> std::io::Result<Vec<SessionKey>> {
    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for workspace in std::fs::read_dir(root)? {
        let workspace = workspace?;
        if !workspace.file_type()?.is_dir() {
            continue;
        }
        for session in std::fs::read_dir(workspace.path())? {
            found.push(SessionKey { workspace: name(&workspace), id: name(&session?) });
        }
    }
    Ok(found)
}
