//! The command line of `assay serve` and `assay keys`.

use super::sandbox::provider;
use super::{OutputArgs, address};
use assay_sandbox::ProviderKind;
use assay_server::net::Origin;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Serve agent sessions over REST and server-sent events.
///
/// Speaks the contract of Managed Agents, so that official clients work after a change of their
/// base URL and key (docs/guides/sessions.md). Sessions survive restarts: what was acknowledged is
/// durable. Prints `ready http://ADDR` once it serves, and serves until SIGTERM or SIGINT; a
/// console for people is at /console. Agents play a script, ask a model behind an endpoint, or are
/// programs; their tools run in a sandbox. docs/formats/sessions-api.md says what else there is.
///
/// Examples:
///   assay serve --demo
///   assay keys create --data sessions && assay serve --data sessions --listen 127.0.0.1:8377
///   assay serve --data sessions --store postgres://assay@db.example/assay
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ServeArgs {
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8377", value_parser = address)]
    pub listen: String,
    /// The directory of everything that is kept; made if it is not there.
    #[arg(long, value_name = "DIR", required_unless_present = "demo")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
    /// What agents of the model `scripted` do, as TOML; a small script comes along if there are no
    /// other engines.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// The other engines, as TOML: models behind an endpoint, and agents that are programs.
    #[arg(long, value_name = "FILE")]
    pub engines: Option<PathBuf>,
    /// Who makes the sandboxes of sessions: local, or none, which protects nothing.
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = provider)]
    pub sandbox: ProviderKind,
    /// Let environments have unrestricted networking: their tools reach what this machine reaches.
    #[arg(long)]
    pub open_network: bool,
    /// Let sessions work in directories below this one instead of directories of their own, as far
    /// as whoever has a key names them: runs of `assay desk` do. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub lend: Vec<PathBuf>,
    /// Let web_fetch reach a host by plain HTTP at this address, for trying things out. Can be
    /// given more than once.
    #[arg(long, value_name = "HOST=ADDR")]
    pub local_origin: Vec<Origin>,
    /// The key that seals secrets, 32 bytes in base64; otherwise the environment's
    /// ASSAY_MASTER_KEY, otherwise `master.key` in the data directory, which is made.
    #[arg(long, value_name = "FILE")]
    pub master_key_file: Option<PathBuf>,
    /// How much there may be at once.
    #[command(flatten)]
    pub limits: LimitArgs,
    /// Begin with a key, an agent and an environment, and print them; without --data everything is
    /// forgotten at the end.
    #[arg(long)]
    pub demo: bool,
    /// Let the console show the campaigns (`assay desk`) and runs (`assay run`) below a directory,
    /// with their reports, to everybody who has a key. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub show: Vec<PathBuf>,
}

/// Limits of a server. Beyond those of a workspace the answer is 429, beyond those of the process
/// 529.
#[derive(Args, Debug)]
pub struct LimitArgs {
    /// Requests of a workspace in a second.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = at_least_one())]
    pub max_requests_per_second: u32,
    /// Sessions of a workspace that are in the middle of a turn.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = at_least_one())]
    pub max_active_sessions: u32,
    /// Messages of a workspace that are waiting or being worked on.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = at_least_one())]
    pub max_turns: u32,
    /// Open streams of a workspace.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = at_least_one())]
    pub max_streams: u32,
    /// Uploads of a workspace at once.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = at_least_one())]
    pub max_uploads: u32,
    /// Downloads of a workspace at once, of files and of skills.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = at_least_one())]
    pub max_downloads: u32,
    /// Requests of all workspaces at once.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = at_least_one())]
    pub max_requests: u32,
    /// Open streams of all workspaces.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = at_least_one())]
    pub max_all_streams: u32,
}

fn at_least_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
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
        /// Take the key from standard input instead, `asy_` and at least 43 letters and digits:
        /// for keys that are kept somewhere else. Once is as good as twice.
        #[arg(long)]
        given: bool,
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
    #[arg(long, value_name = "DIR", required_unless_present = "store")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Where a server keeps its records, if not in its directory.
#[derive(Args, Debug)]
pub struct StoreArgs {
    /// Keep records in PostgreSQL: `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. A password
    /// that is not in it is taken from PGPASSWORD. Files stay in the directory.
    #[arg(long, value_name = "URL", env = "ASSAY_STORE", hide_env_values = true)]
    pub store: Option<String>,
}
