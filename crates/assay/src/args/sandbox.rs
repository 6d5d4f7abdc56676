//! The command line of `assay sandbox`.

use super::{OutputArgs, duration, size};
use assay_sandbox::{Capability, ProviderKind};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What can be done with sandboxes.
#[derive(Subcommand, Debug)]
pub enum SandboxCommand {
    Run(Box<SandboxRunArgs>),
    Tool(Box<SandboxToolArgs>),
    /// Keep a call: started by Assay itself.
    #[command(hide = true)]
    Keep,
    /// Be the process inside: started by Assay itself.
    #[command(hide = true)]
    Enter,
}

/// Run a command in the sandbox in which tools of agents run.
///
/// The command sees the programs of this machine, a workspace, and nothing else: no other files, no
/// environment, no network. It is ended, with all that it started, when it exceeds a limit or
/// when Assay ends. What this machine cannot promise is refused before the start; `assay doctor`
/// says what that is, docs/formats/sandbox.md what it means.
///
/// Exit codes: 0 the command exited with 0, 1 it failed, 2 it was ended by a limit, 69 this
/// machine cannot promise what is needed, 75 the session directory is in use.
///
/// Examples:
///   assay sandbox run -- ls -la /
///   assay sandbox run --work session --memory 512MiB --time 30s -- python3 job.py
///   assay sandbox run --allow-network --format json -- git ls-remote origin
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct SandboxRunArgs {
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    #[command(flatten)]
    pub place: SandboxPlaceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Call a tool as an agent would: bash, read, write, edit, glob or grep.
///
/// The input is a JSON object on standard input. The answer is the text that a model would get.
///
/// Exit codes: 0 it worked, 1 it did not, 65 the input is no JSON, 69 this machine cannot
/// promise what is needed, 75 the session directory is in use.
///
/// Examples:
///   echo '{"command": "pwd"}' | assay sandbox tool bash --work session
///   echo '{"pattern": "**/*.rs"}' | assay sandbox tool glob --work session
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct SandboxToolArgs {
    /// Which tool.
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub place: SandboxPlaceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Where and how a sandbox is made.
#[derive(Args, Debug)]
pub struct SandboxPlaceArgs {
    /// The directory of the session, with its workspace and outputs in it; made if it is not
    /// there. Without it there is one that is gone afterwards.
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Give it the network of this machine.
    #[arg(long)]
    pub allow_network: bool,
    /// How much memory it may have.
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub memory: usize,
    /// How long it may take.
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    pub time: Duration,
    /// How many processes and threads it may have.
    #[arg(long, value_name = "COUNT", default_value_t = 256,
          value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub processes: u64,
    /// How large a file may become.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size)]
    pub file_size: usize,
    /// How much it may write to its standard streams.
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size)]
    pub output_max: usize,
    /// What it finds in its environment. Can be repeated.
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = variable)]
    pub environment: Vec<(String, String)>,
    /// A directory of this machine that it can read. Can be repeated.
    #[arg(long, value_name = "DIR")]
    pub readable: Vec<PathBuf>,
    /// Who makes the sandbox: local, or none, which protects nothing.
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = provider)]
    pub provider: ProviderKind,
    /// By which means.
    #[arg(long, value_enum, default_value_t = MeansArg::Best)]
    pub means: MeansArg,
    /// Do without a promise that is needed otherwise. Can be repeated.
    #[arg(long, value_name = "CAPABILITY", value_parser = capability)]
    pub without: Vec<Capability>,
}

/// The names of `--means`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum MeansArg {
    /// The best there are.
    Best,
    /// A root directory, processes and a network of its own.
    Namespaces,
    /// Landlock and a filter of system calls.
    Landlock,
}

pub(super) fn provider(name: &str) -> Result<ProviderKind, String> {
    name.parse().map_err(|error: assay_sandbox::OpenError| error.to_string())
}

fn capability(name: &str) -> Result<Capability, String> {
    let found = Capability::ALL.into_iter().find(|one| one.name() == name);
    found.ok_or_else(|| {
        let names = Capability::NEEDED.map(Capability::name);
        format!("there is no such capability; needed are {}", names.join(", "))
    })
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.to_string(), value.to_string())),
        None => Err("expected NAME=VALUE".to_string()),
    }
}
