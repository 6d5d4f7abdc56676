//! The command line of `assay desk`.

use super::{OutputArgs, SandboxArg};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands about campaigns.
#[derive(Subcommand, Debug)]
pub enum DeskCommand {
    /// Write a commented contract for a new campaign.
    New {
        /// Its name: lower-case words joined by dashes.
        slug: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Say what is wrong with a contract, and what its criteria earn (IL-2).
    ///
    /// Exit 0, or 65 with errors.
    Lint {
        /// The campaign, or a contract file.
        #[arg(value_name = "SLUG|FILE")]
        contract: String,
        /// Scores from elsewhere, as JSON: `{"US-001/AC-1": [2,1,2,2,1,2]}`. They can only lower.
        #[arg(long, value_name = "FILE")]
        score: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
    Run(DeskRunArgs),
    /// Go on with a campaign, with the answer to a Verifier's question if it asked one.
    Resume {
        #[command(flatten)]
        run: DeskRunArgs,
        /// The answer.
        #[arg(long, value_name = "TEXT", requires = "by")]
        answer: Option<String>,
        /// Who answers.
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
    },
    /// Say where a campaign stands.
    Status {
        /// The campaign.
        slug: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show what was written down.
    Log {
        /// The campaign.
        slug: String,
        /// One event in full.
        number: Option<u64>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Write the report of a campaign: what was shown, what failed, what it cost, what it cannot
    /// say.
    Report {
        /// The campaign.
        slug: String,
        /// Write it as a page for the browser.
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// Write it as Markdown; without --html and --markdown it is printed.
        #[arg(long, value_name = "FILE")]
        markdown: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Check the record, offline: chain, evidence, and that its end follows from it.
    ///
    /// Exit 0 if all of it holds, 1 if not.
    Verify {
        /// The campaign.
        slug: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    Amend(DeskAmendArgs),
    /// End a campaign for good.
    Abort {
        /// The campaign.
        slug: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Put the record of a campaign aside and remove its working trees; contract and branch stay.
    Clean {
        /// The campaign.
        slug: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// List the campaigns of this repository.
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Make a contract of an rlp-desk PRD and its test specification.
    ///
    /// What the two do not say is left empty; `assay desk lint` names each gap.
    Import {
        /// The PRD.
        prd: PathBuf,
        /// The test specification.
        #[arg(value_name = "TEST-SPEC")]
        test_spec: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Watch two small campaigns: honest agents that complete, and liars that do not.
    Demo {
        /// Where to put the two repositories; a temporary directory if not given.
        #[arg(long, value_name = "DIRECTORY")]
        directory: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Take over a contract that was edited: what depended on a changed part has to be shown again.
///
/// Only while a campaign runs: after its end, `assay desk clean` and `assay desk run` begin again.
#[derive(Args, Debug)]
pub struct DeskAmendArgs {
    /// The campaign.
    pub slug: String,
    /// Who decides.
    #[arg(long, value_name = "NAME")]
    pub by: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub why: String,
    /// Scores from elsewhere, as for lint. They can only lower.
    #[arg(long, value_name = "FILE")]
    pub score: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Run a campaign, or go on with it, until it ends.
///
/// A Worker builds one story after the other; this program runs every command of the contract
/// itself, sees tests fail without the work and pass with it, and asks a Verifier, who can only
/// find something wrong. Killed at any point, the same command goes on.
///
/// Agents, base and scores are settled when a campaign begins: naming others later is refused.
///
/// Exit codes: 0 COMPLETE, 1 BLOCKED, 2 TIMEOUT or waiting for an answer, 65 bad contract, 75
/// another Leader is at work.
#[derive(Args, Debug)]
pub struct DeskRunArgs {
    /// The campaign.
    pub slug: String,
    /// The Worker, instead of the contract's; several are taken one after the other when a story
    /// keeps failing. claude:MODEL, codex:MODEL, acp:PROGRAM, command:PROGRAM, scripted:FILE, or a
    /// name from the contract.
    #[arg(long, value_name = "AGENT")]
    pub worker: Vec<String>,
    /// The Verifier, instead of the contract's.
    #[arg(long, value_name = "AGENT")]
    pub verifier: Option<String>,
    /// The second Verifier, where two must agree.
    #[arg(long, value_name = "AGENT")]
    pub second: Option<String>,
    /// Where the work begins, if not at HEAD.
    #[arg(long, value_name = "REVISION")]
    pub base: Option<String>,
    /// Scores from elsewhere, as for lint. They can only lower, and are stored with the contract.
    #[arg(long, value_name = "FILE")]
    pub score: Option<PathBuf>,
    /// Whether the kernel keeps agents from writing elsewhere.
    #[arg(long, value_enum, default_value_t = SandboxArg::WhenAvailable)]
    pub sandbox: SandboxArg,
    #[command(flatten)]
    pub output: OutputArgs,
}
