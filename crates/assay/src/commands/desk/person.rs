//! `assay desk amend`, `abort` and `clean`: what only people decide.

use super::super::Trouble;
use super::contract::{self, Read};
use super::run::{again, same_slug, usable};
use super::{campaign_trouble, desk, missing};
use crate::args::{DeskAmendArgs, OutputFormat};
use crate::exit::Exit;
use assay_agent::{Helper, Sandbox};
use assay_desk::contract::{Agents, Score};
use assay_desk::event::{Amended, Event, Terminal};
use assay_desk::shell::{Campaign, Desk, Processes};
use assay_desk::state::{Phase, State};
use std::path::Path;

/// Takes over an edited contract.
pub(super) fn amend(args: &DeskAmendArgs) -> Result<Exit, Trouble> {
    let DeskAmendArgs { slug, by, why, score, output } = args;
    let desk = desk(slug)?;
    let mut read = contract::read(&desk.contract())?;
    same_slug(&desk, &read)?;
    let mut campaign = Campaign::open(&desk).map_err(campaign_trouble)?;
    let Some(state) = campaign.state() else {
        return Err(missing(format!("{slug} was not begun: just edit the contract")));
    };
    running(slug, state, "amended")?;
    let (old, before) = (state.contract.clone(), verified(&campaign));
    read.keep_lower(&old, recorded_scores(&campaign));
    read.scored(score.as_deref())?;
    if output.format == OutputFormat::Human {
        contract::table(&read.scores);
        anstream::println!();
    }
    contract::complaints(&read);
    read.refused()?;
    read.contract.settings.agents = kept_agents(&campaign, &old.settings.agents, &read)?;
    let helper = Helper::this_program().map_err(|error| missing(error.to_string()))?;
    let engines = Processes::new(helper, desk.git.root(), Sandbox::WhenAvailable);
    usable(&engines, &read.contract)?;
    called_back(&mut campaign)?;
    let blob = campaign.put(read.source.as_bytes()).map_err(campaign_trouble)?;
    let amended = Amended {
        contract: read.contract,
        source: blob.sha256.to_string(),
        scores: read.scores,
        old: old.hash,
        who: by.to_string(),
        why: why.to_string(),
    };
    let said = serde_json::json!({
        "slug": slug, "by": by, "why": why, "old": amended.old, "new": amended.contract.hash,
        "scores": amended.scores,
    });
    campaign.record(Event::Amended(Box::new(amended)), vec![blob]).map_err(campaign_trouble)?;
    project(&campaign, &desk)?;
    let after = verified(&campaign);
    if output.format == OutputFormat::Json {
        let mut said = said;
        said["verified_before"] = before.into();
        said["verified_after"] = after.into();
        anstream::println!("{said}");
        return Ok(Exit::Upheld);
    }
    anstream::println!("AMENDED  by {by}: {why}");
    anstream::println!("         {after} of {before} verified stories are left untouched by it");
    anstream::println!("next     assay desk run {slug}");
    Ok(Exit::Upheld)
}

/// Only what runs can be changed.
fn running(slug: &str, state: &State, what: &str) -> Result<(), Trouble> {
    match &state.phase {
        Phase::Ended(terminal) => Err(Trouble::bad_history(format!(
            "{slug} is {}, which is final: it cannot be {what} any more; {}",
            terminal.word(),
            again(slug)
        ))),
        _ => Ok(()),
    }
}

/// An agent that is out when a person decides does not count.
fn called_back(campaign: &mut Campaign) -> Result<(), Trouble> {
    if let Some(Phase::Out(dispatch, _)) = campaign.state().map(|state| &state.phase) {
        let run = dispatch.run;
        campaign.record(Event::Lost { run }, Vec::new()).map_err(campaign_trouble)?;
    }
    Ok(())
}

/// What people and scripts read says what was decided.
fn project(campaign: &Campaign, desk: &Desk) -> Result<(), Trouble> {
    let home = desk.home();
    campaign.project(desk).map_err(|error| Trouble::unavailable(home, "write", &error))
}

fn verified(campaign: &Campaign) -> usize {
    let stories = campaign.state().map(|state| state.stories.as_slice()).unwrap_or_default();
    stories.iter().filter(|story| story.verified.is_some()).count()
}

/// The points of the contract that holds.
fn recorded_scores(campaign: &Campaign) -> &[Score] {
    let all = campaign.events.iter().rev().find_map(|entry| match &entry.event {
        Event::Opened(opened) => Some(opened.scores.as_slice()),
        Event::Amended(amended) => Some(amended.scores.as_slice()),
        _ => None,
    });
    all.unwrap_or_default()
}

/// Agents given on the command line stay, unless the contract now names others.
fn kept_agents(campaign: &Campaign, now: &Agents, read: &Read) -> Result<Agents, Trouble> {
    let sources = campaign.events.iter().filter_map(|entry| match &entry.event {
        Event::Opened(opened) => Some(&opened.source),
        Event::Amended(amended) => Some(&amended.source),
        _ => None,
    });
    let Some(source) = { sources }.next_back() else {
        return Ok(now.clone());
    };
    let bytes = campaign.blob(source).map_err(campaign_trouble)?;
    let old = assay_desk::contract::read(&String::from_utf8_lossy(&bytes));
    let new = &read.contract.settings.agents;
    let same = old.is_ok_and(|old| old.settings.agents == *new);
    Ok(if same { now.clone() } else { new.clone() })
}

/// Ends a campaign for good.
pub(super) fn abort(slug: &str, why: &str, format: OutputFormat) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    let mut campaign = Campaign::open(&desk).map_err(campaign_trouble)?;
    match campaign.state() {
        Some(state) => running(slug, state, "aborted")?,
        None => return Err(missing(format!("{slug} was not begun: there is nothing to end"))),
    }
    called_back(&mut campaign)?;
    let terminal = Terminal::Aborted { reason: why.to_string() };
    campaign.record(Event::Ended(terminal), Vec::new()).map_err(campaign_trouble)?;
    project(&campaign, &desk)?;
    match format {
        OutputFormat::Json => {
            let value = serde_json::json!({ "slug": slug, "phase": "ABORTED", "why": why });
            anstream::println!("{value}");
        }
        OutputFormat::Human => anstream::println!("ABORTED  {slug}: {why}"),
    }
    Ok(Exit::Upheld)
}

/// Puts a record aside and removes what can be made again.
pub(super) fn clean(slug: &str, format: OutputFormat) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    let unavailable = |path: &Path| {
        let path = path.to_path_buf();
        move |error: std::io::Error| Trouble::unavailable(&path, "move or remove", &error)
    };
    // Nobody may be writing while it is moved.
    let campaign = Campaign::open(&desk).map_err(campaign_trouble)?;
    let begun = campaign.state().is_some();
    drop(campaign);
    for name in ["status.json", "result.json", "escalation.md", "invariants.prom"] {
        _ = std::fs::remove_file(desk.home().join(name));
    }
    let mut aside = None;
    if begun {
        let archive = desk.home().join("archive");
        std::fs::create_dir_all(&archive).map_err(unavailable(&archive))?;
        let free = (1..).map(|n| archive.join(format!("{n:03}"))).find(|path| !path.exists());
        if let Some(place) = free {
            std::fs::rename(desk.ledger(), &place).map_err(unavailable(&place))?;
            aside = Some(place.display().to_string());
        }
    }
    desk.git.forget(&desk.claims()).map_err(|error| missing(error.to_string()))?;
    // The record is safe before anything is removed: what cannot be is in nobody's way.
    if let Some(left) = desk.clear() {
        let why = std::io::Error::other("something in it is closed to you: remove it yourself");
        return Err(unavailable(&left)(why));
    }
    if format == OutputFormat::Json {
        anstream::println!("{}", serde_json::json!({ "slug": slug, "put_aside": aside }));
        return Ok(Exit::Upheld);
    }
    if let Some(place) = aside {
        anstream::println!("put aside  {place}");
    }
    anstream::println!("clean      {slug}: contract and branch desk/{slug} are untouched");
    Ok(Exit::Upheld)
}
