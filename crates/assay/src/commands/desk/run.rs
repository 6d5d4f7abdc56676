//! `assay desk run` and `resume`: leading a campaign until it ends.

use super::super::Trouble;
use super::contract::{self, Read};
use super::screen::Lines;
use super::stop;
use super::{campaign_trouble, desk, leader_trouble, missing};
use crate::args::{DeskRunArgs, OutputFormat, SandboxArg};
use crate::exit::Exit;
use assay_agent::{Helper, Sandbox};
use assay_desk::contract::{Agents, Contract};
use assay_desk::event::{Blocked, Event, Terminal};
use assay_desk::shell::{Campaign, Desk, Engines, Leader, Pause, Processes};
use assay_desk::state::{Phase, State};

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
    if let Some(state) = campaign.state() {
        settled(desk, args, state)?;
        answerable(&args.slug, &state.phase, answer.is_some())?;
        if !matches!(state.phase, Phase::Ended(_)) {
            usable(&engines, &state.contract)?;
        }
    } else if answer.is_some() {
        return Err(unasked(&args.slug, "was not begun"));
    }
    let begun = campaign.state().is_some();
    let mut screen = Lines::new(args.output.format);
    if campaign.state().is_some_and(|state| !matches!(state.phase, Phase::Ended(_))) {
        screen.goes_on(&args.slug, &engines.protection());
    }
    let was_over = campaign.state().is_some_and(|state| matches!(state.phase, Phase::Ended(_)));
    stop::listen(desk)?;
    let mut leader = Leader::new(desk, campaign, &engines, &mut screen);
    if !begun {
        begin(desk, args, &engines, &mut leader)?;
    }
    if let Some((text, who)) = answer {
        leader.record(Event::Answered { who, text }, Vec::new()).map_err(leader_trouble)?;
    }
    let pause = leader.lead().map_err(leader_trouble)?;
    if let (Pause::Ended(terminal), true, OutputFormat::Human) =
        (&pause, was_over, args.output.format)
    {
        // It ended under another Leader: nothing was shown of it yet.
        anstream::println!("{}  {}", terminal.word(), terminal.reason());
    }
    Ok(ended(&args.slug, &pause, args.output.format))
}

/// What was settled when the campaign began cannot be had differently by the way.
fn settled(desk: &Desk, args: &DeskRunArgs, state: &State) -> Result<(), Trouble> {
    let agents = &state.contract.settings.agents;
    let slug = &args.slug;
    let other = |flag: &str, given: &str, now: &str| {
        let message = format!(
            "{slug} has begun, with {flag} `{now}`; `{given}` would have no effect: leave {flag} \
             out, or write it under [agents] of the contract and `assay desk amend {slug}`"
        );
        Err(Trouble { message, exit: Exit::Usage })
    };
    if !args.worker.is_empty() && args.worker != agents.worker {
        return other("--worker", &args.worker.join(", "), &agents.worker.join(", "));
    }
    for (flag, given, now) in [
        ("--verifier", &args.verifier, &agents.verifier),
        ("--second", &args.second, &agents.second),
    ] {
        if let Some(given) = given.as_ref().filter(|given| *given != now) {
            return other(flag, given, now);
        }
    }
    if let Some(base) = &args.base {
        let given = desk.git.revision(base).map_err(|error| missing(error.to_string()))?;
        if given != state.base {
            let message = format!(
                "{slug} has begun at {}; --base {base} is another commit and would have no \
                 effect: leave it out, or `assay desk clean {slug}` and begin again",
                state.base.commit
            );
            return Err(Trouble { message, exit: Exit::Usage });
        }
    }
    if args.score.is_some() {
        let message = format!(
            "{slug} has begun, and its scores are on record: lower them with `assay desk amend \
             {slug} --score FILE`"
        );
        return Err(Trouble { message, exit: Exit::Usage });
    }
    Ok(())
}

/// An answer needs a question.
fn answerable(slug: &str, phase: &Phase, answered: bool) -> Result<(), Trouble> {
    match phase {
        _ if !answered => Ok(()),
        Phase::Waiting(..) => Ok(()),
        Phase::Ended(terminal) => Err(unasked(slug, &format!("is {}", terminal.word()))),
        _ => Err(unasked(slug, "asks nothing now")),
    }
}

fn unasked(slug: &str, why: &str) -> Trouble {
    let message = format!(
        "{slug} {why}: there is no question to answer; `assay desk run {slug}` goes on, `assay \
         desk status {slug}` says where it stands"
    );
    Trouble { message, exit: Exit::Usage }
}

/// Engines that cannot be used are found before one is sent out.
pub(super) fn usable(engines: &Processes, contract: &Contract) -> Result<(), Trouble> {
    engines.check(contract).map_err(|error| Trouble::bad_history(error.to_string()))
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
    read.again();
    usable(engines, &read.contract)?;
    read.scored(args.score.as_deref())?;
    if args.output.format == OutputFormat::Human {
        contract::table(&read.scores);
        anstream::println!();
    }
    contract::complaints(&read);
    read.refused()?;
    let base = desk.git.revision(args.base.as_deref().unwrap_or("HEAD"));
    let base = base.map_err(|error| missing(error.to_string()))?;
    leader.begin(read.contract, &read.source, read.scores, base).map_err(leader_trouble)
}

pub(super) fn same_slug(desk: &Desk, read: &Read) -> Result<(), Trouble> {
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
            Terminal::Timeout { .. } => (Exit::Undecided, format!("next     {}", again(slug))),
            Terminal::Aborted { .. } => (Exit::Refuted, format!("next     {}", again(slug))),
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
    format!("{}\n         {}", category.advice(), again(slug))
}

/// What can be done after an end, which is final.
pub(super) fn again(slug: &str) -> String {
    format!(
        "assay desk report {slug}; to begin again, edit the contract, then: assay desk clean \
         {slug} (puts this record aside) and assay desk run {slug}"
    )
}
