//! The command line of `assay plan`.

use super::OutputArgs;
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// Commands about plans.
#[derive(Subcommand, Debug)]
pub enum PlanCommand {
    /// Write a commented template: what is left to do is in braces.
    New {
        /// What it is about, in lower-case words joined by dashes.
        #[arg(long)]
        slug: String,
        /// The system under test.
        #[arg(long, value_name = "NAME")]
        sut: String,
        /// One change, or the whole project.
        #[arg(long, value_enum, default_value_t = PlanMode::ChangeScoped)]
        mode: PlanMode,
        /// The model of its first scenario: register, map, queue, log, lock, lease, session,
        /// membership-table, counter or ledger.
        #[arg(long, value_parser = model, default_value = "register")]
        model: &'static str,
        /// Where to write it; if not given, SLUG.md in the directory testing-plans of docs. An
        /// existing file is left alone.
        #[arg(long, value_name = "PATH")]
        out: Option<PathBuf>,
    },
    /// Check plans by the rules of the method; `assay explain P012` explains one.
    ///
    /// Exit 0, or 65 with errors; warnings count only with --deny warnings.
    Lint {
        /// The plans; - reads standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// For people, for programs, as SARIF, or as annotations of GitHub.
        #[arg(long, value_enum, default_value_t = LintFormat::Human)]
        format: LintFormat,
        /// Let warnings fail, too.
        #[arg(long, value_name = "WHAT", value_parser = ["warnings"])]
        deny: Option<String>,
    },
    /// Show claims with their scenarios and verdicts.
    Show {
        /// The plan; - reads standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Verdicts by scenario: a JSON object such as {"S1": "PASS-hardening"}.
        #[arg(long, value_name = "FILE")]
        results: Option<PathBuf>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show the coverage matrix, worst first.
    Matrix {
        /// The plan; - reads standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show what changed between two revisions, and what got weaker.
    Diff {
        /// The older plan.
        old: PathBuf,
        /// The newer plan.
        new: PathBuf,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// What a new plan covers.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanMode {
    /// One change and the claims it touches.
    ChangeScoped,
    /// A whole project.
    ProjectWide,
}

/// For whom findings are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LintFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// For code scanning.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
}

fn model(name: &str) -> Result<&'static str, String> {
    let names = || assay_plan::models::MODELS.iter().map(|model| model.name);
    names().find(|known| *known == name).ok_or_else(|| {
        format!("there is no such model; there are {}", names().collect::<Vec<_>>().join(", "))
    })
}
