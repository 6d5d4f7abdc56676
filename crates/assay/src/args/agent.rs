//! The command line of `assay agent`.

use super::{OutputArgs, duration, size};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What can be done with agents.
#[derive(Subcommand, Debug)]
pub enum AgentCommand {
    Run(Box<AgentRunArgs>),
    /// Keep an agent: started by Assay itself, between it and the agent.
    #[command(hide = true)]
    Keep {
        /// The directory with the plan.
        log: PathBuf,
    },
    /// Be an agent that plays a script.
    #[command(hide = true)]
    Scripted {
        /// The script.
        script: PathBuf,
    },
}

/// Run an agent once, to see that its configuration works.
///
/// The agent gets the prompt, a directory to work in and a drop box for what it hands over
/// ($ASSAY_DROP_BOX). What it does is shown while it does it. It is ended, with all that it
/// started, when it exceeds a limit. Where the kernel allows it, it cannot write elsewhere.
///
/// Exit codes: 0 it exited with 0, 1 it failed, 2 it was ended or asked to come back later, 65 the
/// configuration is wrong, 69 it could not be started.
///
/// Examples:
///   assay agent run agent.toml --prompt prompt.md
///   assay agent run agent.toml --prompt - --work checkout --idle 2m
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct AgentRunArgs {
    /// How the agent is started; the format is in docs/formats/agents.md.
    #[arg(value_name = "FILE")]
    pub config: PathBuf,
    /// The prompt; - reads standard input.
    #[arg(long, value_name = "FILE")]
    pub prompt: PathBuf,
    /// Where the agent works.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub work: PathBuf,
    /// Where it hands over what it made, and where its output is kept: DIR/drop and DIR/log.
    #[arg(long, value_name = "DIR", default_value = "agent-run")]
    pub out: PathBuf,
    /// What the agent is told besides: NAME=VALUE comes as $ASSAY_NAME. Can be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    pub variables: Vec<(String, String)>,
    /// How long it may take.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration)]
    pub wall: Duration,
    /// How long it may be silent.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    pub idle: Duration,
    /// How much it may write to its standard streams.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size)]
    pub output_max: usize,
    /// Whether the kernel is to keep it from writing elsewhere.
    #[arg(long, value_enum, default_value_t = SandboxArg::WhenAvailable)]
    pub sandbox: SandboxArg,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The names of `--sandbox`.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxArg {
    /// If it can.
    WhenAvailable,
    /// It must.
    Required,
    /// It is not asked.
    Off,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let good = |name: &str| {
        let letters = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        !name.is_empty() && name.bytes().all(letters)
    };
    match text.split_once('=') {
        Some((name, value)) if good(name) => Ok((name.to_string(), value.to_string())),
        _ => Err("expected NAME=VALUE, with letters, digits and _ in the name".to_string()),
    }
}
