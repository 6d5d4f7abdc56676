//! `assay desk`: campaigns of agents whose end is computed from evidence.

mod contract;
mod demo;
mod person;
mod record;
mod run;
mod screen;
mod stop;

pub(super) use record::{page, read};

use super::Trouble;
use crate::args::DeskCommand;
use crate::exit::Exit;
use assay_desk::shell::{CampaignError, Desk, DeskError, Git, LeaderError};
use std::path::Path;

/// Runs a command about campaigns.
pub fn run(command: &DeskCommand) -> Exit {
    let done = match command {
        DeskCommand::New { slug, output } => contract::new(slug, output.format),
        DeskCommand::Lint { contract, score, output } => {
            contract::lint(contract, score.as_deref(), output.format)
        }
        DeskCommand::Run(args) => run::run(args, None),
        DeskCommand::Resume { run, answer, by } => {
            let answer = answer.clone().zip(by.clone());
            run::run(run, answer)
        }
        DeskCommand::Status { slug, output } => record::status(slug, output.format),
        DeskCommand::Log { slug, number, output } => record::log(slug, *number, output.format),
        DeskCommand::Report { slug, html, markdown, output } => {
            record::report(slug, html.as_deref(), markdown.as_deref(), output.format)
        }
        DeskCommand::Verify { slug, output } => record::verify(slug, output.format),
        DeskCommand::Amend(args) => person::amend(args),
        DeskCommand::Abort { slug, why, output } => person::abort(slug, why, output.format),
        DeskCommand::Clean { slug, output } => person::clean(slug, output.format),
        DeskCommand::List { output } => record::list(output.format),
        DeskCommand::Import { prd, test_spec, output } => {
            contract::import(prd, test_spec.as_deref(), output.format)
        }
        DeskCommand::Demo { directory, output } => demo::run(directory.as_deref(), output.format),
    };
    done.unwrap_or_else(Trouble::report)
}

/// The desk of a campaign in the repository around the current directory.
fn desk(slug: &str) -> Result<Desk, Trouble> {
    Desk::find(Path::new("."), slug).map_err(|error| {
        let exit = match error {
            DeskError::Slug(_) => Exit::Usage,
            _ => Exit::MissingCapability,
        };
        Trouble { message: error.to_string(), exit }
    })
}

fn git() -> Result<Git, Trouble> {
    Git::find(Path::new(".")).map_err(|error| missing(error.to_string()))
}

fn missing(message: String) -> Trouble {
    Trouble { message, exit: Exit::MissingCapability }
}

fn campaign_trouble(error: CampaignError) -> Trouble {
    let exit = match error {
        CampaignError::Lock(_) => Exit::TryLater,
        _ => Exit::BadHistory,
    };
    Trouble { message: error.to_string(), exit }
}

fn leader_trouble(error: LeaderError) -> Trouble {
    let exit = match error {
        LeaderError::Campaign(error) => return campaign_trouble(error),
        LeaderError::Edited(_)
        | LeaderError::Changed { .. }
        | LeaderError::Standing { .. }
        | LeaderError::Engines(_) => Exit::BadHistory,
        LeaderError::Git(_)
        | LeaderError::Tree(_)
        | LeaderError::Compare(_)
        | LeaderError::File(_)
        | LeaderError::NotBegun => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}
