//! What a session begins with: copies of the files and skills that it names.
//!
//! Copying takes time, and the thread that writes has none: so copies are made before, under the id
//! that the session will have, and taken away if it does not come to be.

use super::mounts::WantedFile;
use super::resources::{blocking, check_bytes, size_of};
use super::serve::App;
use super::skill_versions::find_version;
use super::skills::SkillVersion;
use super::tools::tool_access;
use crate::error::ApiError;
use crate::names::now_ms;
use crate::placing::{self, Mount};
use crate::store::{Resource, SessionKey, SessionSkill, Stored, folder};
use crate::trees;
use assay_session::prefix;
use serde_json::Value;

const NO_READ: &str = "Missing required tool: skills require the read tool to be usable (enabled \
    and not always_deny) on the session's `agent_toolset`";

/// What is in the directory of a session before it begins.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Equipment {
    /// Files.
    pub resources: Vec<Resource>,
    /// Skills.
    pub skills: Vec<SessionSkill>,
}

impl Equipment {
    /// Whether there is nothing to take away.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.skills.is_empty()
    }
}

/// Makes copies for a session.
///
/// # Errors
/// If a file or skill is not there, or cannot be copied; then nothing is left of it.
pub async fn equip(
    app: &App,
    key: &SessionKey,
    files: &[WantedFile],
    agent: Option<&Stored>,
) -> Result<Equipment, ApiError> {
    let resources = find_files(app, &key.workspace, files).await?;
    let versions = find_skills(app, &key.workspace, agent).await?;
    let skill = |version: &SkillVersion| SessionSkill {
        skill_id: version.skill_id.clone(),
        version: version.version.to_string(),
        name: version.name.clone(),
        description: version.description.clone(),
    };
    let equipment = Equipment { resources, skills: versions.iter().map(skill).collect() };
    if equipment.is_empty() {
        return Ok(equipment);
    }
    let directory = app.arranger.place(key);
    let (objects, skills, resources) =
        (app.objects.clone(), app.skills.clone(), equipment.resources.clone());
    blocking(move || {
        let place = || {
            for resource in &resources {
                placing::stage(&objects.join(&resource.file_id), &directory, &resource.id)?;
            }
            // Nobody knows of the session yet: its files can be where they belong before it is.
            let mounts: Vec<Mount> = resources.iter().map(Mount::from).collect();
            placing::arrange(&directory, &mounts, |_| false)?;
            for version in &versions {
                trees::place_skill(&skills.join(&version.id), &directory, &version.name)?;
            }
            Ok(())
        };
        place().inspect_err(|_| drop(placing::remove(&directory)))
    })
    .await?;
    Ok(equipment)
}

async fn find_files(
    app: &App,
    workspace: &str,
    files: &[WantedFile],
) -> Result<Vec<Resource>, ApiError> {
    let mut found = Vec::with_capacity(files.len());
    for (index, file) in files.iter().enumerate() {
        let at = format!("{}/{workspace}/{}", folder::FILES, file.file_id);
        let place = format!("resources[{index}].");
        let size_bytes = size_of(app.reader.get(at).await?, &place, &file.file_id)?;
        found.push(Resource {
            id: app.names.next(prefix::RESOURCE),
            file_id: file.file_id.clone(),
            path: file.path.clone(),
            size_bytes,
            created_ms: now_ms(),
        });
    }
    check_bytes(found.iter().map(|resource| resource.size_bytes))?;
    Ok(found)
}

async fn find_skills(
    app: &App,
    workspace: &str,
    agent: Option<&Stored>,
) -> Result<Vec<SkillVersion>, ApiError> {
    let agent = agent.map_or(Value::Null, |agent| Value::Object(agent.wire.clone()));
    let wanted = agent["skills"].as_array().cloned().unwrap_or_default();
    if !wanted.is_empty() && tool_access(&agent, "read").is_none() {
        return Err(ApiError::invalid(NO_READ));
    }
    let mut found: Vec<SkillVersion> = Vec::with_capacity(wanted.len());
    for skill in wanted {
        let text = |field: &str| skill[field].as_str().unwrap_or_default().to_string();
        let (id, name, owner) = (text("skill_id"), text("version"), workspace.to_string());
        let version = app.reader.ask({
            let (id, name) = (id.clone(), name.clone());
            move |store| find_version(store, &owner, &id, &name)
        });
        let Some(version) = version.await? else {
            let what = format!("agent.skills: there is no version {name} of a skill {id}");
            return Err(ApiError::invalid(what));
        };
        if found.iter().any(|other| other.name == version.name) {
            let what = format!("agent.skills: two skills have the name `{}`", version.name);
            return Err(ApiError::invalid(what));
        }
        found.push(version);
    }
    Ok(found)
}
