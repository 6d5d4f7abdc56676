//! The command line of `assay systems` and `assay gallery`.

use super::OutputArgs;
use super::run::TierArg;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What can be done about systems.
#[derive(Subcommand, Debug)]
pub enum SystemsCommand {
    /// List the systems that can be named in a plan here, and what of them was fetched.
    List(SystemsListArgs),
    Get(SystemsGetArgs),
}

/// List the systems.
#[derive(Args, Debug)]
pub struct SystemsListArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Fetch the programs of a system without installing them.
///
/// Debian packages are downloaded and unpacked, wheels are checked against the digest in the
/// description. Nothing is started and nothing of the machine is changed: everything is below
/// $ASSAY_CACHE, or the usual directory for caches.
///
/// Examples:
///   assay systems get etcd
///   assay systems get etcd --release 3.5.1
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct SystemsGetArgs {
    /// The systems.
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Only this release; all of them without it.
    #[arg(long, value_name = "RELEASE")]
    pub release: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What can be done about the gallery.
#[derive(Subcommand, Debug)]
pub enum GalleryCommand {
    /// List the entries: what was published, which system, what it needs, how long it takes.
    List(GalleryListArgs),
    Run(GalleryRunArgs),
}

/// List the entries.
#[derive(Args, Debug)]
pub struct GalleryListArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Show published findings again, on this machine.
///
/// Each entry runs two twins: a green one, in which the claim must hold, and a red one, in which a
/// known-bad version or setting must break it. Programs that are missing are fetched first; an
/// entry whose programs cannot be had is inconclusive, and the others are run. A twin ends as
/// expected if its verdict is the one it is meant to have, every fault landed on both sides, and
/// what a red twin found is of the kind that was published. The table is also kept in
/// DIR/gallery/*/table.json, written anew after each entry.
///
/// Exit codes: 0 all twins ended as expected, 1 a green twin was refuted, 2 anything else.
///
/// Examples:
///   assay gallery run etcd-stale-reads
///   assay gallery run --all
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct GalleryRunArgs {
    /// The entries.
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub names: Vec<String>,
    /// All of them.
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// How far to go.
    #[arg(long, value_enum, default_value_t = TierArg::Hardening)]
    pub tier: TierArg,
    /// Run each entry so often, each time with other seeds.
    #[arg(long, value_name = "COUNT", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub times: u32,
    /// The first seed, in place of the plan's.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Where runs are kept.
    #[arg(long, value_name = "DIR", default_value = "test-sessions")]
    pub sessions: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
}
