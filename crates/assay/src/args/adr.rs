//! The command line of `assay adr`.

use super::OutputArgs;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// `assay adr ...`.
#[derive(Subcommand, Debug)]
pub enum AdrCommand {
    New(AdrNewArgs),
    Lint(AdrLintArgs),
    Graph(AdrGraphArgs),
    /// List the rules.
    Rules {
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Begin a record: the next number, the fields and sections of its kind, and its row in the index.
///
/// Nothing that is there is overwritten. What a section is for stands in it as a comment; `assay
/// adr lint` names the sections that are still empty.
///
/// Examples:
///   assay adr new adr "Writes are acknowledged after fsync"
///   assay adr new adr "Writes are acknowledged by a quorum" --supersedes ADR-0003
///   assay adr new gap "Nobody notices a full disk" --owner "Bea Miller"
///   assay adr new deviation "Reads may be stale for a second" --parent ADR-0003 --owner Bea
///   assay adr new supplement "Roadmap" --parent ADR-0003
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct AdrNewArgs {
    /// What it is.
    #[arg(value_enum, value_name = "KIND")]
    pub kind: KindArg,
    /// Its title, which says what was decided, is missing, or differs.
    #[arg(value_name = "TITLE")]
    pub title: String,
    /// The decision that a supplement or a deviation belongs to: ADR-0003, or 3.
    #[arg(long, value_name = "ADR")]
    pub parent: Option<String>,
    /// The record of the same kind that it takes the place of; its status and its row change.
    #[arg(long, value_name = "ID")]
    pub supersedes: Option<String>,
    /// Who looks after it.
    #[arg(long, value_name = "NAME", default_value = "")]
    pub owner: String,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Check all decision records, gaps, deviations and supplements.
///
/// Names, titles and numbers, fields and statuses, sections, the index, links, citations of code
/// as in `src/lib.rs:12`, and what records say about each other. Every finding has a file, a line
/// and a rule that `assay explain` explains. With --base, also what changed since a revision:
/// statuses that went backwards, decisions that changed without a word, cited lines that moved.
///
/// Exit 0 if nothing is wrong, 1 if something is, 2 if there are warnings only, 3 if there is no
/// record.
///
/// Examples:
///   assay adr lint
///   assay adr lint --base origin/main --format github
///   assay adr lint docs/adr/gaps --format json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct AdrLintArgs {
    /// Only findings in these files, or below these directories; all records are read anyway.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Compare with this revision, too.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    #[command(flatten)]
    pub place: PlaceArgs,
    /// For people, for programs, for code scanning, or as annotations.
    #[arg(long, value_enum, default_value_t = AdrLintFormat::Text)]
    pub format: AdrLintFormat,
}

/// Show how records hang together: what supersedes, answers, deviates from, supplements what.
///
/// Example:
///   assay adr graph --format svg > records.svg
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct AdrGraphArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
    /// As text, for Graphviz, for programs, or as a picture.
    #[arg(long, value_enum, default_value_t = AdrPicture::Text)]
    pub format: AdrPicture,
}

/// Where records are.
#[derive(Args, Debug, Clone)]
pub struct PlaceArgs {
    /// The root of the repository; without it, the next directory upwards with .git or assay.toml.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The configuration; without it, assay.toml at the root.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Kinds of records.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum KindArg {
    /// A decision and its reasons.
    Adr,
    /// Something learned to be missing, not decided yet.
    Gap,
    /// The code knowingly is not what a decision says.
    Deviation,
    /// What changes often about a decision.
    Supplement,
}

/// For whom findings are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdrLintFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For code scanning.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
}

/// What a graph looks like.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdrPicture {
    /// For people.
    Text,
    /// For Graphviz.
    Dot,
    /// For programs.
    Json,
    /// A picture.
    Svg,
}
