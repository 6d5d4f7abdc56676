//! The command lines of what the guard has a checker explore.

use super::{OutputArgs, duration};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Try which property of a TLA+ module notices which mistake in its actions.
///
/// Every action gets mistakes, one at a time: a condition dropped or turned around, an update that
/// does not happen, a bound off by one. A checker explores each mutant, and the kill matrix says
/// which property noticed which. It is compared with the one on record (NAME.kills.toml beside the
/// configuration): a property that notices less than before got weaker, whatever its text looks
/// like.
///
/// Exit 0 if every property notices a mutant and none notices less than before, 1 if not, 2 if a
/// limit left something open, 69 if there is no checker (`assay doctor`).
///
/// Examples:
///   assay guard mutate specs/Bank.tla --record
///   assay guard mutate specs/Bank.tla --config specs/Bank_small.cfg --tlc ~/tla2tools.jar
///   assay guard mutate specs/Bank.tla --quick
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct MutateArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The most mutants to try, spread over actions and kinds of mistakes.
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    pub mutants: usize,
    /// The most states of a mutant to look at; without it as many as on record, else three times
    /// those of the module and 1000. Some mistakes let a counter run and have no last state.
    #[arg(long, value_name = "COUNT")]
    pub states: Option<u64>,
    /// Try only as many mutants of the record as it takes for each property to notice one.
    #[arg(long, conflicts_with = "record")]
    pub quick: bool,
    /// Write the matrix and the count of states down, to be reviewed and committed.
    #[arg(long)]
    pub record: bool,
    /// List every mutant.
    #[arg(long)]
    pub all: bool,
    /// Write the matrix as a picture, too.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Look for what cannot fail in a TLA+ module: conditions that never hold, steps never taken.
///
/// The condition of every implication has to hold in some state that is reached, every kind of step
/// has to be taken, and every property has to notice some mutant (those on record, or up to 40).
///
/// Exit 0 if nothing is vacuous, 1 if something is, 2 if a limit left something open, 69 if there
/// is no checker.
///
/// Example:
///   assay guard vacuity specs/Bank.tla
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct VacuityArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Count the states of a TLA+ module and compare with the ledger, states.toml beside it.
///
/// Fewer states than before are fewer ways to go wrong: exit 2, for a person to look at.
///
/// Example:
///   assay guard states specs/Bank.tla --config specs/Bank.cfg --record
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct StatesArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Write the count down, to be reviewed and committed.
    #[arg(long)]
    pub record: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A module and what explores it.
#[derive(Args, Debug)]
pub struct ModelArgs {
    /// The module.
    #[arg(value_name = "SPEC.tla")]
    pub spec: PathBuf,
    /// The configuration; without it NAME_small.cfg beside the module, else NAME.cfg.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What explores: tla-checker if it is there, else TLC.
    #[arg(long, value_enum, default_value_t = EngineArg::Any)]
    pub engine: EngineArg,
    /// TLC's jar; without it the one named in ASSAY_TLC_JAR, or in a usual place.
    #[arg(long, value_name = "JAR")]
    pub tlc: Option<PathBuf>,
    /// How long each exploration may take.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub time: Duration,
    /// How much memory each exploration may take, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub memory: u64,
}

/// What explores models.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineArg {
    /// Whatever is there.
    Any,
    /// The checker of the TLA+ tools.
    Tlc,
    /// The checker from crates.io.
    TlaChecker,
}
