//! `assay desk run`, `resume`, `amend` and `abort`: everything that writes to the record.

use super::super::Trouble;
use super::contract::{self, Read};
use super::screen::Lines;
use super::{campaign_trouble, desk, leader_trouble, missing};
use crate::args::{DeskRunArgs, OutputFormat, SandboxArg};
use crate::exit::Exit;
use assay_agent::{Helper, Sandbox};
use assay_desk::contract::Agents;
use assay_desk::event::{Amended, Blocked, Event, Terminal};
use assay_desk::shell::{Campaign, Desk, Engines, Leader, Pause, Processes};
use assay_desk::state::Phase;

/// Runs a campaign until it ends.
pub(super) fn run(args: &DeskRunArgs, answer: Option<(String, String)>) -> Result<Exit, Trouble> {
    let desk = desk(&args.slug)?;
    run_in(&desk, args, answer)
}

/// The same for a desk that was found.
pub(super) fn run_in(
    desk: &Desk,
    args: &DeskRunArgs,
    answer: Option<(String, String)>,
) -> Result<Exit, Trouble> {
    if !desk.contract().exists() {
        let message = format!(
            "{}: there is no contract; `assay desk new {}` writes one",
            desk.contract().display(),
            args.slug
        );
        return Err(Trouble::bad_history(message));
    }
    let sandbox = match args.sandbox {
        SandboxArg::WhenAvailable => Sandbox::WhenAvailable,
        SandboxArg::Required => Sandbox::Required,
        SandboxArg::Off => Sandbox::Off,
    };
    let helper = Helper::this_program().map_err(|error| missing(error.to_string()))?;
    let engines = Processes::new(helper, desk.git.root(), sandbox);
    if sandbox == Sandbox::Required && !engines.confined() {
        let message = format!("--sandbox required: {}", engines.protection());
        return Err(missing(message));
    }
    let campaign = Campaign::open(desk).map_err(campaign_trouble)?;
    let begun = campaign.state().is_some();
    let mut screen = Lines::new(args.output.format);
    let mut leader = Leader::new(desk, campaign, &engines, &mut screen);
    if !begun {
        begin(desk, args, &engines, &mut leader)?;
    }
    if let Some((text, who)) = answer {
        leader.record(Event::Answered { who, text }, Vec::new()).map_err(leader_trouble)?;
    }
    let pause = leader.lead().map_err(leader_trouble)?;
    Ok(ended(&args.slug, &pause, args.output.format))
}

fn begin(
    desk: &Desk,
    args: &DeskRunArgs,
    engines: &Processes,
    leader: &mut Leader<'_>,
) -> Result<(), Trouble> {
    let mut read = contract::read(&desk.contract())?;
    same_slug(desk, &read)?;
    override_agents(&mut read.contract.settings.agents, args);
    engines.check(&read.contract).map_err(|error| Trouble::bad_history(error.to_string()))?;
    if args.output.format == OutputFormat::Human {
        contract::table(&read.scores);
        anstream::println!();
    }
    contract::complaints(&read);
    if read.rejected() {
        let message = format!("{}: not clear enough to be run (IL-2)", read.path.display());
        return Err(Trouble::bad_history(message));
    }
    let base = desk.git.revision(&args.base).map_err(|error| missing(error.to_string()))?;
    leader.begin(read.contract, &read.source, read.scores, base).map_err(leader_trouble)
}

fn same_slug(desk: &Desk, read: &Read) -> Result<(), Trouble> {
    if read.contract.slug != desk.slug {
        let message = format!(
            "{}:1: it is the contract of `{}`, not of `{}`",
            read.path.display(),
            read.contract.slug,
            desk.slug
        );
        return Err(Trouble::bad_history(message));
    }
    Ok(())
}

fn override_agents(agents: &mut Agents, args: &DeskRunArgs) {
    if !args.worker.is_empty() {
        agents.worker = args.worker.clone();
    }
    if let Some(verifier) = &args.verifier {
        agents.verifier = verifier.clone();
    }
    if let Some(second) = &args.second {
        agents.second = second.clone();
    }
}

/// Says how it ended and what to do next.
fn ended(slug: &str, pause: &Pause, format: OutputFormat) -> Exit {
    let (exit, next) = match pause {
        Pause::Waiting(question) => (
            Exit::Undecided,
            format!(
                "WAITING   {question}\nnext     assay desk resume {slug} --answer TEXT --by NAME"
            ),
        ),
        Pause::Ended(terminal) => match terminal {
            Terminal::Complete { at } => (
                Exit::Upheld,
                format!(
                    "next     git merge desk/{slug} (commit {}); assay desk report {slug}",
                    super::screen::short(&at.commit)
                ),
            ),
            Terminal::Blocked { category, .. } => (
                Exit::Refuted,
                format!("category {}\nnext     {}", name(*category), advice(slug, *category)),
            ),
            Terminal::Timeout { .. } => {
                (Exit::Undecided, format!("next     assay desk report {slug}"))
            }
            Terminal::Aborted { .. } => {
                (Exit::Refuted, format!("next     assay desk report {slug}"))
            }
        },
    };
    if format == OutputFormat::Human {
        anstream::println!("{next}");
    }
    exit
}

fn name(category: Blocked) -> String {
    serde_json::to_value(category)
        .ok()
        .and_then(|value| value.as_str().map(str::to_string))
        .unwrap_or_default()
}

fn advice(slug: &str, category: Blocked) -> String {
    format!("{}; assay desk report {slug}", category.advice())
}

/// Takes over an edited contract.
pub(super) fn amend(slug: &str, by: &str, why: &str) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    let mut read = contract::read(&desk.contract())?;
    same_slug(&desk, &read)?;
    contract::complaints(&read);
    if read.rejected() {
        let message = format!("{}: not clear enough to be run (IL-2)", read.path.display());
        return Err(Trouble::bad_history(message));
    }
    let mut campaign = Campaign::open(&desk).map_err(campaign_trouble)?;
    let Some(state) = campaign.state() else {
        return Err(missing(format!("{slug} was not begun: just edit the contract")));
    };
    let old = state.contract.clone();
    if let Phase::Out(dispatch, _) = &state.phase {
        let run = dispatch.run;
        campaign.record(Event::Lost { run }, Vec::new()).map_err(campaign_trouble)?;
    }
    read.contract.settings.agents = kept_agents(&campaign, &old.settings.agents, &read)?;
    let verified = |campaign: &Campaign| {
        let state = campaign.state();
        let all = state.map(|s| s.stories.iter().filter(|story| story.verified.is_some()).count());
        all.unwrap_or(0)
    };
    let before = verified(&campaign);
    let blob = campaign.put(read.source.as_bytes()).map_err(campaign_trouble)?;
    let amended = Amended {
        contract: read.contract,
        source: blob.sha256.to_string(),
        scores: read.scores,
        old: old.hash,
        who: by.to_string(),
        why: why.to_string(),
    };
    campaign.record(Event::Amended(Box::new(amended)), vec![blob]).map_err(campaign_trouble)?;
    let after = verified(&campaign);
    anstream::println!("AMENDED  by {by}: {why}");
    anstream::println!("         {after} of {before} verified stories are left untouched by it");
    anstream::println!("next     assay desk run {slug}");
    Ok(Exit::Upheld)
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
pub(super) fn abort(slug: &str, why: &str) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    let mut campaign = Campaign::open(&desk).map_err(campaign_trouble)?;
    if let Some(Phase::Out(dispatch, _)) = campaign.state().map(|state| &state.phase) {
        let run = dispatch.run;
        campaign.record(Event::Lost { run }, Vec::new()).map_err(campaign_trouble)?;
    }
    let terminal = Terminal::Aborted { reason: why.to_string() };
    campaign.record(Event::Ended(terminal), Vec::new()).map_err(campaign_trouble)?;
    anstream::println!("ABORTED  {slug}: {why}");
    Ok(Exit::Upheld)
}
