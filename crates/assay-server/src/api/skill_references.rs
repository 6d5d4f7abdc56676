//! Skills of agents, and what is left of skills that nobody names.

use super::fields::Fields;
use super::resources::blocking;
use super::serve::App;
use super::skill_versions::{LATEST, find_version};
use super::skills::SkillVersion;
use crate::error::ApiError;
use crate::placing;
use crate::store::folder;
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::prefix;
use serde_json::{Value, json};

/// Skills of an agent.
const AGENT_SKILLS_MAX: usize = 20;
const ID_MAX: usize = 128;

/// Checks the skills of an agent; nothing said is nothing changed.
///
/// # Errors
/// If one is not there, or there twice.
pub async fn parse_references(
    app: &App,
    workspace: &str,
    fields: &mut Fields,
) -> Result<Option<Value>, ApiError> {
    let Some(value) = fields.take("skills") else { return Ok(None) };
    let mut one = Fields::one("skills", value);
    let values = one.array("skills")?;
    if values.len() > AGENT_SKILLS_MAX {
        let what = format!("skills: must have at most {AGENT_SKILLS_MAX} entries");
        return Err(ApiError::invalid(what));
    }
    let mut parsed: Vec<Value> = Vec::new();
    for (index, value) in values.into_iter().enumerate() {
        let mut skill = Fields::of(value, &format!("skills[{index}]"))?;
        if skill.required_text("type", ID_MAX)? != "custom" {
            return Err(skill.bad("type", "must be custom: this server has no other skills"));
        }
        let id = skill.required_text("skill_id", ID_MAX)?;
        let version = skill.text("version", ID_MAX)?.unwrap_or_else(|| LATEST.to_string());
        if parsed.iter().any(|other| other["skill_id"] == id.as_str()) {
            return Err(skill.bad("skill_id", "is there twice"));
        }
        let (workspace, wanted, name) = (workspace.to_string(), id.clone(), version.clone());
        let found = app.reader.ask(move |store| find_version(store, &workspace, &wanted, &name));
        if found.await?.is_none() {
            let what = format!("there is no version {version} of a skill {id}");
            return Err(skill.bad("skill_id", &what));
        }
        skill.finish()?;
        parsed.push(json!({"type": "custom", "skill_id": id, "version": version}));
    }
    Ok(Some(parsed.into()))
}

/// Takes files of skills away that no record names, all of them from before this start.
///
/// # Errors
/// If the directory or the store cannot be read.
pub async fn sweep_skills(
    reader: &crate::store::Reader,
    skills: std::path::PathBuf,
) -> Result<(), ApiError> {
    let mut named = std::collections::HashSet::new();
    let mut range = KeyRange::below(folder::SKILL_VERSIONS, Order::Ascending);
    loop {
        let wanted = range.clone();
        let pairs = reader.ask(move |store| Ok(store.scan(&wanted, 1000)?)).await?;
        let Some((last, _)) = pairs.last() else { break };
        range = range.after(last);
        for (_, value) in &pairs {
            named.insert(serde_json::from_slice::<SkillVersion>(value)?.id);
        }
    }
    blocking(move || {
        for entry in std::fs::read_dir(skills)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(prefix::SKILL_VERSION) && !named.contains(&name) {
                placing::remove(&entry.path())?;
            }
        }
        Ok(())
    })
    .await
}
