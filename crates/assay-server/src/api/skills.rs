//! Skills: instructions and files for agents, in versions that never change.
//!
//! Answers have the form of the version of the API that was asked for. The files of a version are
//! a directory below `skills` in the data directory, complete before the record that names it.

use super::bundle::{Bundle, read_bundle};
use super::page::{Wanted, page};
use super::reply::Reply;
use super::resources::blocking;
use super::serve::{ApiVersion, App, Call};
use super::upload::{Part, read_parts};
use crate::error::ApiError;
use crate::names::now_ms;
use crate::store::{Unit, folder};
use crate::trees;
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{prefix, rfc3339};
use axum::body::Body;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The largest body that brings a skill.
const UPLOAD_BYTES_MAX: usize = 30 * 1000 * 1000;
/// Skills of a workspace.
const SKILLS_MAX: usize = 1000;
const TITLE_MAX: usize = 256;

/// What is kept of a skill.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Skill {
    pub id: String,
    title: String,
    /// The newest version, unless all were deleted.
    pub latest: Option<VersionName>,
    created_ms: u64,
    pub updated_ms: u64,
}

/// Both names of a version: clients of different versions of the API use one each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VersionName {
    pub id: String,
    /// Microseconds since 1970.
    pub version: u64,
}

/// What is kept of a version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SkillVersion {
    /// Its id, which is also the name of its directory.
    pub id: String,
    /// Which skill.
    pub skill_id: String,
    /// Microseconds since 1970.
    pub version: u64,
    /// What it is called, which is also the name of its folder.
    pub name: String,
    /// When to use it.
    pub description: String,
    created_ms: u64,
}

pub fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("Skill {id} not found"))
}

pub fn version_key(workspace: &str, skill: &str, version: u64) -> String {
    format!("{}/{workspace}/{skill}/{version:020}", folder::SKILL_VERSIONS)
}

impl Skill {
    pub fn wire(&self, api: ApiVersion) -> Value {
        let (created, updated) = (rfc3339(self.created_ms), rfc3339(self.updated_ms));
        let latest = self.latest.as_ref();
        match api {
            ApiVersion::V2023 => json!({
                "id": self.id, "type": "skill", "display_title": self.title, "source": "custom",
                "latest_version": latest.map(|latest| latest.version.to_string()),
                "created_at": created, "updated_at": updated,
            }),
            ApiVersion::V2026 => json!({
                "id": self.id, "type": "skill", "display_name": self.title,
                "source": {"type": "custom"},
                "latest_version_id": latest.map_or("", |latest| latest.id.as_str()),
                "created_at": created, "updated_at": updated,
            }),
        }
    }
}

impl SkillVersion {
    pub fn wire(&self, api: ApiVersion) -> Value {
        let mut wire = json!({
            "id": self.id, "type": "skill_version", "skill_id": self.skill_id, "name": self.name,
            "description": self.description, "created_at": rfc3339(self.created_ms),
        });
        if api == ApiVersion::V2023 {
            wire["version"] = self.version.to_string().into();
            wire["directory"] = self.name.clone().into();
        }
        wire
    }
}

/// A title, if there is one, and a skill.
fn understand(parts: Vec<Part>) -> Result<(Option<String>, Bundle), ApiError> {
    let (mut title, mut files) = (None, Vec::new());
    for part in parts {
        match part.name.as_str() {
            "files[]" | "files" => files.push((part.filename.unwrap_or_default(), part.bytes)),
            "display_title" | "display_name" if title.is_none() => {
                let text = String::from_utf8(part.bytes).ok();
                let is_good = |text: &String| (1..=TITLE_MAX).contains(&text.chars().count());
                let what = format!("{}: must have 1 to {TITLE_MAX} characters", part.name);
                title = Some(text.filter(is_good).ok_or_else(|| ApiError::invalid(what))?);
            }
            other => return Err(ApiError::unsupported(other)),
        }
    }
    if files.is_empty() {
        return Err(ApiError::invalid("files: Field required"));
    }
    Ok((title, read_bundle(files)?))
}

/// Reads an upload and writes its files: what is there is complete.
pub async fn receive(
    app: &App,
    call: &Call,
    body: Body,
) -> Result<(Option<String>, SkillVersion), ApiError> {
    let parts = read_parts(call.headers.clone(), body, UPLOAD_BYTES_MAX).await?;
    // Inflating a zip takes its time.
    let understood = tokio::task::spawn_blocking(move || understand(parts)).await;
    let (title, bundle) = understood.map_err(|_| ApiError::internal())??;
    let now = now_ms();
    let version = SkillVersion {
        id: app.names.next(prefix::SKILL_VERSION),
        skill_id: call.id.clone(),
        version: now.saturating_mul(1000),
        name: bundle.name,
        description: bundle.description,
        created_ms: now,
    };
    let tree = app.skills.join(&version.id);
    blocking(move || trees::write_tree(&tree, &bundle.files)).await?;
    Ok((title, version))
}

/// Takes files away that no record names.
pub async fn forget(app: &App, version_id: &str) -> Result<(), ApiError> {
    let tree = app.skills.join(version_id);
    blocking(move || trees::retire(&tree)).await
}

/// `POST /v1/skills`
pub async fn create(app: &App, mut call: Call, body: Body) -> Result<Reply, ApiError> {
    std::mem::take(&mut call.query).finish()?;
    call.id = app.names.next(prefix::SKILL);
    let (title, version) = receive(app, &call, body).await?;
    let (workspace, api, id) = (call.workspace, call.version, version.id.clone());
    let made = app.kernel.run(move |unit| {
        let now = now_ms();
        let title = title.unwrap_or_else(|| version.name.clone());
        let range = KeyRange::below(&format!("{}/{workspace}", folder::SKILLS), Order::Ascending);
        let others = unit.transaction.scan(&range, SKILLS_MAX)?;
        if others.len() >= SKILLS_MAX {
            let what = format!("a workspace can have at most {SKILLS_MAX} skills");
            return Err(ApiError::invalid(what));
        }
        for (_, value) in others {
            let other: Skill = serde_json::from_slice(&value)?;
            if other.title == title {
                let what = format!("display_title: {} has this title already", other.id);
                return Err(ApiError::invalid(what));
            }
        }
        let id = version.skill_id.clone();
        let skill = Skill { id, title, latest: None, created_ms: now, updated_ms: now };
        let (skill, _) = insert(unit, &workspace, skill, version)?;
        Ok(skill.wire(api))
    });
    let made = made.await;
    if made.as_ref().is_err_and(|error| !error.is_unknown) {
        forget(app, &id).await?;
    }
    made.map(|wire| Reply::json(&wire))
}

/// Versions of a skill only grow.
pub fn insert(
    unit: &mut Unit,
    workspace: &str,
    mut skill: Skill,
    mut version: SkillVersion,
) -> Result<(Skill, SkillVersion), ApiError> {
    let latest = skill.latest.as_ref().map_or(0, |latest| latest.version);
    version.version = version.version.max(latest + 1);
    skill.latest = Some(VersionName { id: version.id.clone(), version: version.version });
    skill.updated_ms = now_ms();
    unit.put(version_key(workspace, &skill.id, version.version), &version)?;
    unit.put(format!("{}/{workspace}/{}", folder::SKILLS, skill.id), &skill)?;
    Ok((skill, version))
}

/// `GET /v1/skills/{id}`
pub async fn get(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::SKILLS);
    call.query.finish()?;
    let skill: Option<Skill> = app.reader.get(at).await?;
    let skill = skill.ok_or_else(|| missing(&call.id))?;
    Ok(Reply::json(&skill.wire(call.version)))
}

/// `GET /v1/skills`
pub async fn list(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    let source = call.query.one("source");
    let wanted = Wanted {
        folder: format!("{}/{}", folder::SKILLS, call.workspace),
        filter: format!("skills {source:?}"),
        order: Order::Descending,
        limit: call.query.limit(20)?,
        page: call.query.one("page"),
    };
    call.query.finish()?;
    // All skills here were uploaded.
    let is_ours = source.is_none_or(|source| source == "custom");
    let found = page(&app.reader, &wanted, move |_, _| Ok(is_ours)).await?;
    let read = |(_, value): &(String, Vec<u8>)| {
        serde_json::from_slice::<Skill>(value).map(|skill| skill.wire(call.version))
    };
    let data: Vec<Value> = found.pairs.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Reply::json(&listed(call.version, data, found.next)))
}

/// A list in the form of a version of the API.
pub fn listed(api: ApiVersion, data: Vec<Value>, next: Option<String>) -> Value {
    match api {
        ApiVersion::V2023 => json!({"data": data, "has_more": next.is_some(), "next_page": next}),
        ApiVersion::V2026 => json!({"data": data, "next_page": next}),
    }
}

/// `DELETE /v1/skills/{id}`
pub async fn delete(app: &App, call: Call) -> Result<Reply, ApiError> {
    let at = call.at(folder::SKILLS);
    call.query.finish()?;
    let id = call.id.clone();
    app.kernel
        .run(move |unit| {
            let skill: Option<Skill> = unit.get(&at)?;
            let skill = skill.ok_or_else(|| missing(&call.id))?;
            if skill.latest.is_some() {
                let what = "Cannot delete a skill that has versions. Delete its versions first.";
                return Err(ApiError::invalid(what));
            }
            unit.transaction.delete(at);
            Ok(())
        })
        .await?;
    Ok(Reply::json(&json!({"id": id, "type": "skill_deleted"})))
}
