//! The command line of `assay serve` and `assay keys`.

use super::{OutputArgs, address};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Serve agent sessions over REST and server-sent events.
///
/// Speaks the contract of Managed Agents, so that official clients work after a change of their
/// base URL and key (docs/guides/sessions.md). Sessions survive restarts: what was acknowledged is
/// durable. Prints `ready http://ADDR` once it serves, and serves until SIGTERM or SIGINT. Agents
/// play a script; docs/formats/sessions-api.md says what else there is and is not.
///
/// Examples:
///   assay serve --demo
///   assay keys create --data sessions && assay serve --data sessions --listen 127.0.0.1:8377
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ServeArgs {
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8377", value_parser = address)]
    pub listen: String,
    /// The directory of everything that is kept; made if it is not there.
    #[arg(long, value_name = "DIR", required_unless_present = "demo")]
    pub data: Option<PathBuf>,
    /// What agents do, as TOML; a small script comes along.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Begin with a key, an agent and an environment, and print them; without --data everything is
    /// forgotten at the end.
    #[arg(long)]
    pub demo: bool,
}

/// `assay keys ...`.
#[derive(Subcommand, Debug)]
pub enum KeysCommand {
    /// Make a key and print it; it is not shown again. Works while the server runs.
    Create {
        #[command(flatten)]
        data: DataArgs,
        /// Whose data it opens: keys of one workspace see nothing of another.
        #[arg(long, value_name = "NAME", default_value = "default")]
        workspace: String,
        /// What to call the key.
        #[arg(long, value_name = "NAME", default_value = "key")]
        name: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// List keys: their ids, never the keys.
    List {
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Let a key open nothing any more, at once.
    Revoke {
        /// The id of the key.
        id: String,
        #[command(flatten)]
        data: DataArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Where a server keeps everything.
#[derive(Args, Debug)]
pub struct DataArgs {
    /// The data directory of the server; made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
}
