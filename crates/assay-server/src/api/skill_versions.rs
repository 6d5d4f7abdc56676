//! Versions of skills.

use super::bundle::pack;
use super::page::{Wanted, page};
use super::reply::Reply;
use super::resources::blocking;
use super::serve::{ApiVersion, App, Call};
use super::skills::{
    Skill, SkillVersion, VersionName, forget, insert, listed, missing, receive, version_key,
};
use crate::error::ApiError;
use crate::limits::Kind;
use crate::names::now_ms;
use crate::store::{folder, read_record};
use crate::trees;
use assay_ledger::keyed::{KeyRange, Order, Store};
use axum::body::Body;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

/// Versions of a skill.
const VERSIONS_MAX: usize = 100;
/// The version that is the newest whenever somebody asks.
pub const LATEST: &str = "latest";

fn missing_version(id: &str) -> ApiError {
    ApiError::not_found(format!("Skill version {id} not found"))
}

/// `POST /v1/skills/{id}/versions`
pub async fn create(app: &App, mut call: Call, body: Body) -> Result<Reply, ApiError> {
    std::mem::take(&mut call.query).finish()?;
    let at = call.at(folder::SKILLS);
    let known: Option<Skill> = app.reader.get(at.clone()).await?;
    known.ok_or_else(|| missing(&call.id))?;
    let (title, version) = receive(app, &call, body).await?;
    let id = version.id.clone();
    let (workspace, api, skill_id) = (call.workspace, call.version, call.id);
    let made = app.kernel.run(move |unit| {
        if title.is_some() {
            return Err(ApiError::unsupported("display_title"));
        }
        let skill: Option<Skill> = unit.get(&at)?;
        let skill = skill.ok_or_else(|| missing(&skill_id))?;
        let versions = format!("{}/{workspace}/{skill_id}", folder::SKILL_VERSIONS);
        let range = KeyRange::below(&versions, Order::Ascending);
        if unit.transaction.scan(&range, VERSIONS_MAX)?.len() >= VERSIONS_MAX {
            let what = format!("a skill can have at most {VERSIONS_MAX} versions");
            return Err(ApiError::invalid(what));
        }
        let (_, version) = insert(unit, &workspace, skill, version)?;
        Ok(version.wire(api))
    });
    let made = made.await;
    if made.as_ref().is_err_and(|error| !error.is_unknown) {
        forget(app, &id).await?;
    }
    made.map(|wire| Reply::json(&wire))
}

/// `GET /v1/skills/{id}/versions`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let known: Option<Skill> = app.reader.get(call.at(folder::SKILLS)).await?;
    known.ok_or_else(|| missing(&call.id))?;
    let wanted = Wanted {
        folder: call.at(folder::SKILL_VERSIONS),
        filter: format!("skill versions {}", call.id),
        order: Order::Descending,
        limit: call.query.limit(20)?,
        page: call.query.one("page"),
    };
    call.query.finish()?;
    let found = page(&app.reader, &wanted, |_, _| Ok(true)).await?;
    let read = |(_, value): &(String, Vec<u8>)| {
        serde_json::from_slice::<SkillVersion>(value).map(|one| one.wire(call.version))
    };
    let data: Vec<Value> = found.pairs.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Reply::json(&listed(call.version, data, found.next)))
}

/// A version of a skill by either of its names, or the newest one.
pub fn find_version(
    store: &mut dyn Store,
    workspace: &str,
    skill: &str,
    name: &str,
) -> Result<Option<SkillVersion>, ApiError> {
    let at = format!("{}/{workspace}/{skill}", folder::SKILL_VERSIONS);
    let range = KeyRange::below(&at, Order::Descending);
    if skill.contains('/') {
        return Ok(None);
    }
    if name == LATEST {
        let newest = store.scan(&range, 1)?.pop();
        return read_record(newest.map(|(_, value)| value));
    }
    for (_, value) in store.scan(&range, VERSIONS_MAX)? {
        let version: SkillVersion = serde_json::from_slice(&value)?;
        if version.id == name || version.version.to_string() == name {
            return Ok(Some(version));
        }
    }
    Ok(None)
}

async fn version_of(app: &App, call: &Call) -> Result<SkillVersion, ApiError> {
    let (workspace, id, name) = (call.workspace.clone(), call.id.clone(), call.child.clone());
    let found = app.reader.ask(move |store| find_version(store, &workspace, &id, &name));
    found.await?.ok_or_else(|| missing_version(&call.child))
}

/// `GET /v1/skills/{id}/versions/{child}`
pub async fn get(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    std::mem::take(&mut call.query).finish()?;
    let version = version_of(app, &call).await?;
    Ok(Reply::json(&version.wire(call.version)))
}

/// `GET /v1/skills/{id}/versions/{child}/content`
pub async fn content(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    std::mem::take(&mut call.query).finish()?;
    let version = version_of(app, &call).await?;
    let place = app.admission.enter(Kind::Download, &call.workspace)?;
    let (tree, name) = (app.skills.join(&version.id), version.name);
    let zip = app.skills.join(app.names.next(&format!("{}_zip_", version.id)));
    let packed = blocking(move || trees::unless_retired(&tree, || pack_tree(&name, &tree, &zip)));
    let (file, length) = packed.await?;
    Ok(Reply::file(file, length, "application/zip").holding(place))
}

/// A zip that has no name any more, and its length: it goes with the last who has it open.
fn pack_tree(name: &str, tree: &Path, zip: &Path) -> std::io::Result<(File, u64)> {
    let file = File::options().read(true).write(true).create_new(true).open(zip)?;
    std::fs::remove_file(zip)?;
    let files = trees::paths(tree)?.into_iter();
    let files = files.map(|path| File::open(tree.join(&path)).map(|file| (path, file)));
    let mut file = pack(name, files, file)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    Ok((file, length))
}

/// `DELETE /v1/skills/{id}/versions/{child}`: sessions that have it keep their copy.
pub async fn delete(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    std::mem::take(&mut call.query).finish()?;
    let version = version_of(app, &call).await?;
    let (gone, child) = (version.clone(), call.child.clone());
    let (at, workspace) = (call.at(folder::SKILLS), call.workspace);
    app.kernel
        .run(move |unit| {
            let key = version_key(&workspace, &gone.skill_id, gone.version);
            let skill: Option<Skill> = unit.get(&at)?;
            let known: Option<SkillVersion> = unit.get(&key)?;
            let Some((mut skill, _)) = skill.zip(known) else {
                return Err(missing_version(&child));
            };
            unit.transaction.delete(key);
            let versions = format!("{}/{workspace}/{}", folder::SKILL_VERSIONS, skill.id);
            let range = KeyRange::below(&versions, Order::Descending);
            let newest = unit.transaction.scan(&range, 1)?.pop();
            let newest: Option<SkillVersion> = read_record(newest.map(|(_, value)| value))?;
            skill.latest = newest.map(|one| VersionName { id: one.id, version: one.version });
            skill.updated_ms = now_ms();
            unit.put(at, &skill)
        })
        .await?;
    forget(app, &version.id).await?;
    let id = match call.version {
        ApiVersion::V2023 => version.version.to_string(),
        ApiVersion::V2026 => version.id,
    };
    Ok(Reply::json(&json!({"id": id, "type": "skill_version_deleted"})))
}
