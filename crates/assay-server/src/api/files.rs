//! Files: bytes beside the store, what is known about them within.
//!
//! Bytes are durable under their final name before the record that names them, and a record goes
//! before its bytes: so there is never a file without bytes. Bytes without a record are taken away
//! at the next start.

use super::page::{Wanted, page};
use super::reply::Reply;
use super::resources::blocking;
use super::serve::{ApiVersion, App, Call};
use super::upload::{Part, read_parts};
use crate::error::ApiError;
use crate::limits::Kind;
use crate::names::now_ms;
use crate::store::{Stored, fields_of, folder};
use assay_ledger::keyed::{KeyRange, Order, Pair, Store};
use assay_session::{prefix, rfc3339};
use axum::body::Body;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The largest file.
const FILE_BYTES_MAX: usize = 20 * 1024 * 1024;
/// The largest body that brings one.
const UPLOAD_BYTES_MAX: usize = 24 * 1024 * 1024;
const NAME_MAX: usize = 500;
/// Files that can be asked for by their ids at once.
const IDS_MAX: usize = 100;

fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("File {id} not found"))
}

/// `POST /v1/files`
pub async fn upload(app: &App, call: Call, body: Body) -> Result<Reply, ApiError> {
    call.query.finish()?;
    let parts = read_parts(call.headers, body, UPLOAD_BYTES_MAX).await?;
    let (filename, mime, bytes) = one_file(parts)?;
    let id = app.names.next(prefix::FILE);
    let wire = json!({
        "id": id, "type": "file", "filename": filename, "mime_type": mime,
        "size_bytes": bytes.len(), "created_at": rfc3339(now_ms()), "downloadable": false,
        "scope": null, "expires_at": null,
    });
    let (directory, name) = (app.objects.clone(), id.clone());
    blocking(move || write_object(&directory, &name, &bytes)).await?;
    let stored = Stored { wire: fields_of(wire.clone()) };
    let at = format!("{}/{}/{id}", folder::FILES, call.workspace);
    app.kernel.run(move |unit| unit.put(at, &stored)).await?;
    Ok(Reply::json(&wire))
}

fn one_file(parts: Vec<Part>) -> Result<(String, String, Vec<u8>), ApiError> {
    let mut file = None;
    for part in parts {
        if part.name != "file" || file.is_some() {
            return Err(ApiError::unsupported(&part.name));
        }
        let filename = part.filename.unwrap_or_else(|| "unnamed".to_string());
        if filename.is_empty() || filename.chars().count() > NAME_MAX {
            return Err(ApiError::invalid("filename: must have 1 to 500 characters"));
        }
        if part.bytes.len() > FILE_BYTES_MAX {
            return Err(ApiError::too_large());
        }
        let mime = part.mime.unwrap_or_else(|| "application/octet-stream".to_string());
        file = Some((filename, mime, part.bytes));
    }
    file.ok_or_else(|| ApiError::invalid("file: Field required"))
}

fn write_object(directory: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let temporary = directory.join(format!("{name}.new"));
    let write = || {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, directory.join(name))?;
        std::fs::File::open(directory)?.sync_all()
    };
    // A disk that is full is not to be fuller.
    write().inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

/// `GET /v1/files`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let limit = call.query.limit(20)?;
    let (scope, ids) = (call.query.one("scope_id"), call.query.all("ids[]"));
    if ids.len() > IDS_MAX {
        return Err(ApiError::invalid(format!("`ids[]` must be at most {IDS_MAX}")));
    }
    let at = format!("{}/{}", folder::FILES, call.workspace);
    let filter = format!("files {scope:?} {ids:?}");
    let is_wanted = move |_: &mut dyn Store, (key, value): &Pair| {
        if !ids.is_empty() && !ids.iter().any(|id| key.rsplit('/').next() == Some(id)) {
            return Ok(false);
        }
        let Some(scope) = &scope else { return Ok(true) };
        let stored: Stored = serde_json::from_slice(value)?;
        Ok(stored.wire.get("scope").is_some_and(|of| of["id"] == scope.as_str()))
    };
    // What belongs to the other contract would have no effect.
    if call.version == ApiVersion::V2026 {
        let (order, page_text) = (Order::Descending, call.query.one("page"));
        call.query.finish()?;
        let wanted = Wanted { folder: at, filter, order, limit, page: page_text };
        let found = page(&app.reader, &wanted, is_wanted).await?;
        let data = wires(found.pairs)?;
        return Ok(Reply::json(&json!({"data": data, "next_page": found.next})));
    }
    let (after, before) = (call.query.one("after_id"), call.query.one("before_id"));
    call.query.finish()?;
    if after.is_some() && before.is_some() {
        return Err(ApiError::invalid("`after_id` and `before_id` cannot be given together"));
    }
    let order = if before.is_some() { Order::Ascending } else { Order::Descending };
    let mut range = KeyRange::below(&at, order);
    if let Some(id) = before.as_ref().or(after.as_ref()) {
        range = range.after(&format!("{at}/{id}"));
    }
    let mut pairs = super::page::collect(&app.reader, range, limit + 1, is_wanted).await?;
    let has_more = pairs.len() > limit;
    pairs.truncate(limit);
    if before.is_some() {
        pairs.reverse();
    }
    let data = wires(pairs)?;
    let id = |file: Option<&Value>| file.map(|file| file["id"].clone());
    let (first, last) = (id(data.first()), id(data.last()));
    Ok(Reply::json(
        &json!({"data": data, "has_more": has_more, "first_id": first, "last_id": last}),
    ))
}

fn wires(pairs: Vec<(String, Vec<u8>)>) -> Result<Vec<Value>, ApiError> {
    let read = |(_, value): (String, Vec<u8>)| {
        let stored: Stored = serde_json::from_slice(&value)?;
        Ok(Value::Object(stored.wire))
    };
    pairs.into_iter().map(read).collect()
}

/// `GET /v1/files/{id}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::FILES);
    call.query.finish()?;
    let found: Option<Stored> = app.reader.get(at).await?;
    let found = found.ok_or_else(|| missing(&call.id))?;
    Ok(Reply::json(&Value::Object(found.wire)))
}

/// `GET /v1/files/{id}/content`: what was uploaded is not given back, what sessions left is.
pub async fn content(app: &App, call: Call) -> Result<Reply, ApiError> {
    let (at, id) = (call.at(folder::FILES), call.id.clone());
    call.query.finish()?;
    let found: Option<Stored> = app.reader.get(at).await?;
    let found = found.ok_or_else(|| missing(&id))?;
    if found.wire.get("downloadable") != Some(&Value::Bool(true)) {
        return Err(ApiError::invalid(format!("File '{id}' is not downloadable")));
    }
    let place = app.admission.enter(Kind::Download, &call.workspace)?;
    let object = app.objects.join(&id);
    let opened = blocking(move || {
        let open = || {
            let file = std::fs::File::open(object)?;
            let length = file.metadata()?.len();
            Ok::<_, std::io::Error>((file, length))
        };
        Ok(open().ok())
    });
    // It may have been replaced a moment ago.
    let (file, length) = opened.await?.ok_or_else(|| missing(&id))?;
    Ok(Reply::file(file, length, "application/octet-stream").holding(place))
}

/// `DELETE /v1/files/{id}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    let (at, id) = (call.at(folder::FILES), call.id.clone());
    call.query.finish()?;
    let object = app.objects.join(&id);
    app.kernel
        .run(move |unit| match unit.get::<Stored>(&at)? {
            Some(_) => {
                unit.transaction.delete(at);
                Ok(())
            }
            None => Err(missing(&call.id)),
        })
        .await?;
    // What stays behind goes at the next start.
    let _left = tokio::fs::remove_file(object).await;
    Ok(Reply::json(&json!({"id": id, "type": "file_deleted"})))
}

/// Takes bytes away that no record names, all of them from before this start.
///
/// # Errors
/// If the directory or the store cannot be read.
pub async fn sweep(reader: &crate::store::Reader, objects: PathBuf) -> Result<(), ApiError> {
    let mut named = std::collections::HashSet::new();
    let mut range = KeyRange::below(folder::FILES, Order::Ascending);
    loop {
        let wanted = range.clone();
        let pairs = reader.ask(move |store| Ok(store.scan(&wanted, 1000)?)).await?;
        let Some((last, _)) = pairs.last() else { break };
        range = range.after(last);
        named.extend(pairs.iter().filter_map(|(key, _)| key.rsplit('/').next().map(String::from)));
    }
    let entries = std::fs::read_dir(objects).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(prefix::FILE) && !named.contains(&name) {
            // It is only space.
            let _left = std::fs::remove_file(entry.path());
        }
    }
    Ok(())
}
