//! The command line of `assay run` and its relatives.

use super::OutputArgs;
use assay_runner::arm::Depth;
use assay_runner::sabotage::Sabotage;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How many anomalies of each kind are planted, unless somebody says otherwise.
pub const PLANTS_DEFAULT: u32 = 10;

/// Run a plan: start the system, let clients work, make things go wrong, judge what clients saw.
///
/// Each scenario with a machine block is tried with its smoke budget first and then with its
/// hardening budget, seed by seed. A violation is run again with the same seed, made smaller, and
/// looked into. Everything is written to a directory of its own, with a report for the browser;
/// a run that was interrupted or killed goes on with --resume.
///
/// Faults and processes that killed runs below --sessions have left are undone first.
///
/// Exit codes: 0 DONE, 1 FAIL, 2 DONE_WITH_CONCERNS or INCONCLUSIVE, 3 BLOCKED, 65 the plan has
/// errors, 75 somebody else works in the directory, 129 the terminal was closed, 130 or 143
/// interrupted.
///
/// Examples:
///   assay run examples/plans/replicated-register.md
///   assay run plan.md --scenario S1 --tier smoke
///   assay run --resume test-sessions/my-plan/20261116T054309Z
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct RunArgs {
    /// The plan.
    #[arg(value_name = "PLAN", required_unless_present = "resume", conflicts_with = "resume")]
    pub plan: Option<PathBuf>,
    /// Go on with the run in this directory: finished trials are kept.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Only this scenario; may be repeated.
    #[arg(long = "scenario", value_name = "ID")]
    pub scenarios: Vec<String>,
    /// How far to go.
    #[arg(long, value_enum, default_value_t = TierArg::Hardening)]
    pub tier: TierArg,
    /// The first seed, in place of the plan's; further ones count up from it.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Where runs are kept: DIR/SLUG/TIME.
    #[arg(long, value_name = "DIR", default_value = "test-sessions")]
    pub sessions: PathBuf,
    /// Exactly this directory for this run; it must not hold one yet.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub directory: Option<PathBuf>,
    /// Something the plan requires and Assay cannot probe is there; may be repeated.
    #[arg(long, value_name = "TEXT")]
    pub have: Vec<String>,
    /// Who runs it, for the record.
    #[arg(long, value_name = "NAME", env = "USER", default_value = "not named", hide_env = true)]
    pub operator: String,
    /// How many anomalies of each kind to plant into copies of every history that is upheld, to
    /// see how sharp its checkers are.
    #[arg(long, value_name = "COUNT", default_value_t = PLANTS_DEFAULT,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub plants: u32,
    /// Break the harness on purpose, to see the verdict go down: proxy-bypassed,
    /// window-never-opens, injector-misses, checker-always-passes, recorder-drops-timeouts,
    /// generator-stops-early or clock-jumps.
    #[arg(long, value_name = "NAME", value_parser = sabotage)]
    pub sabotage: Option<Sabotage>,
    #[command(flatten)]
    pub exports: ExportArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Results for other programs.
#[derive(Args, Debug, Default)]
pub struct ExportArgs {
    /// Write the results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the findings as SARIF.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Append a summary in Markdown, as GitHub shows it for a step.
    #[arg(long, value_name = "FILE", env = "GITHUB_STEP_SUMMARY", hide_env = true)]
    pub step_summary: Option<PathBuf>,
}

/// How far a run goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum TierArg {
    /// The smoke budget: shows that the harness works.
    Smoke,
    /// Smoke, then hardening.
    Hardening,
    /// Smoke, then the release budget where the plan has one.
    Release,
}

impl From<TierArg> for Depth {
    fn from(tier: TierArg) -> Depth {
        match tier {
            TierArg::Smoke => Depth::Smoke,
            TierArg::Hardening => Depth::Hardening,
            TierArg::Release => Depth::Release,
        }
    }
}

/// Run one trial again, exactly as a finding describes it.
///
/// FILE is a `findings/F1.repro.json` of a run.
///
/// Exit codes: 1 a violation shows; 0 it does not, although in every try the faults landed and were
/// healed and everything was judged; 2 it does not, and a try could not have shown it; 69 something
/// is missing that the trial needs.
#[derive(Args, Debug)]
pub struct ReproduceArgs {
    /// The trial.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Try at most so many times, until it shows.
    #[arg(long, value_name = "COUNT", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub tries: u32,
    /// Where its logs and histories go; a temporary directory if not given. It is told at the
    /// start: `assay heal DIR` undoes what a killed try has left there.
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Show what this machine can do for a run, found out by trying.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Try Assay on the store that is built into it: one claim upheld, one refuted, in two minutes.
///
/// Three nodes run as processes of this program, every link between them through a proxy. First
/// they are honest while their leader is cut off again and again: PASS-hardening. Then reads are
/// answered by any node, which is a mistake that a real system has shipped: FAIL-reproducible, with
/// a handful of operations that show it.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Where runs are kept.
    #[arg(long, value_name = "DIR", default_value = "test-sessions")]
    pub sessions: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn sabotage(name: &str) -> Result<Sabotage, String> {
    Sabotage::named(name).ok_or_else(|| {
        let names: Vec<&str> = Sabotage::ALL.iter().map(|(_, name, _)| *name).collect();
        format!("there is no such sabotage; there are {}", names.join(", "))
    })
}
