//! The command line of `assay guard`.

use super::{MutateArgs, OutputArgs, StatesArgs, VacuityArgs};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Say what got weaker between two revisions: specifications, tests, requirements, checks.
///
/// Compares the last commit that both revisions have with the newer one, and reads only what
/// differs. Every finding is weaker, suspect, changed or stronger, has a rule that `assay explain`
/// explains, and both places. What a person approved (`assay guard approve`) is no longer in the
/// way, until either text changes.
///
/// Exit 0 if nothing got weaker or all of it is approved, 1 if something did, 2 if something is
/// only suspect or changed.
///
/// Examples:
///   assay guard
///   assay guard --base origin/main --head HEAD
///   assay guard --base main~3 specs tests --format markdown
#[derive(Args, Debug)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub struct GuardArgs {
    #[command(subcommand)]
    pub command: Option<GuardCommand>,
    #[command(flatten)]
    pub compare: CompareArgs,
    /// Show what got stronger and what is approved in full, too.
    #[arg(long)]
    pub all: bool,
    /// For people, for programs, for code scanning, as annotations, or for a comment.
    #[arg(long, value_enum, default_value_t = GuardFormat::Text)]
    pub format: GuardFormat,
}

/// Which revisions.
#[derive(Args, Debug, Clone)]
pub struct CompareArgs {
    /// The older revision; without it, what is checked out.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// The newer revision, or `worktree` for the files as they are.
    #[arg(long, value_name = "REV", default_value = "worktree")]
    pub head: String,
    /// Only below these paths of the repository.
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// The configuration; without it, assay.toml at the root of the repository.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What else the guard does.
#[derive(Subcommand, Debug)]
pub enum GuardCommand {
    Approve(Box<ApproveArgs>),
    Init(InitArgs),
    Mutate(Box<MutateArgs>),
    Vacuity(Box<VacuityArgs>),
    States(Box<StatesArgs>),
    /// List the rules.
    Rules {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print the JSON Schema of assay.toml.
    Schema,
}

/// Write a person's decision down: the guard accepts exactly this change from then on.
///
/// The record is bound to the hashes of both texts. It is refused if an agent decides, if it quotes
/// a plan, or if the cause is unknown.
#[derive(Args, Debug)]
pub struct ApproveArgs {
    /// The id of the finding, as `assay guard` shows it.
    #[arg(value_name = "FINDING")]
    pub finding: String,
    /// Who decided.
    #[arg(long, value_name = "NAME")]
    pub by: String,
    /// Why it is right.
    #[arg(long, value_name = "TEXT")]
    pub because: String,
    /// What that person said, word for word.
    #[arg(long, value_name = "TEXT")]
    pub quote: String,
    /// Where it was said: a link, a message, a meeting.
    #[arg(long, value_name = "PLACE", default_value = "")]
    pub source: String,
    /// Why the old text could not stay.
    #[arg(long, value_enum, default_value_t = CauseArg::OverStrong)]
    pub cause: CauseArg,
    /// What the old text was meant to claim.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub meant: String,
    /// A trace or run that shows it.
    #[arg(long, value_name = "PLACE", default_value = "")]
    pub trace: String,
    /// What takes its place; can be given more than once.
    #[arg(long, value_name = "ID")]
    pub replaced_by: Vec<String>,
    /// The older revision, as for the guard.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// The newer revision, as for the guard.
    #[arg(long, value_name = "REV", default_value = "worktree")]
    pub head: String,
    /// The configuration, as for the guard.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Install a hook that runs before each commit, and an example for GitHub Actions.
///
/// Files that are there already are left alone.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// Only the hook.
    #[arg(long)]
    pub hook_only: bool,
}

/// Why a text could not stay.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum CauseArg {
    /// It was wrong.
    Bug,
    /// It asked for more than the design keeps.
    OverStrong,
    /// Nobody knows; refused.
    Unknown,
}

/// For whom findings are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuardFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code scanning.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
    /// For a comment or the summary of a job.
    Markdown,
}
