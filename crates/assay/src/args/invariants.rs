//! The command line of `assay invariants`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What is done with declared invariants.
#[derive(Subcommand, Debug)]
pub enum InvariantsCommand {
    Scan(ScanArgs),
}

/// Say which places hold each invariant, and what is missing.
///
/// Reads Rust, Markdown, TLA+ modules and their configurations below a directory. For each
/// invariant declared with the crate assay-invariant: the document that lays it down, the operator
/// and the configuration that checks it, the model, the simulation, the check in production, the
/// test, and the metric. What is missing is a hole, with the place to begin at.
///
/// Exit 0 if there are no holes, 1 if there are, 3 if nothing is declared.
///
/// Examples:
///   assay invariants scan
///   assay invariants scan examples/invariants --format markdown
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct ScanArgs {
    /// The directory; without it, this one.
    #[arg(value_name = "PATH", default_value = ".")]
    pub path: PathBuf,
    /// For people, for programs, or for a document.
    #[arg(long, value_enum, default_value_t = ScanFormat::Text)]
    pub format: ScanFormat,
}

/// For whom the matrix is.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For a document.
    Markdown,
}
