//! `assay`: finds out whether the claims a system makes are true.
//!
//! This crate is the command line and nothing else: arguments in, text and an exit code out. What
//! it does lives in the other crates; `commands` has one file per command, `output` says how
//! results look.

mod args;
mod commands;
mod exit;
mod gallery;
mod output;
mod progress;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::process::ExitCode;

/// Descriptors that a run may need.
const DESCRIPTORS: u64 = 16_384;

fn main() -> ExitCode {
    say_that_panics_are_bugs();
    take_all_descriptors();
    // A checker's panic is caught where the verdict is made: it leaves a file undecided. Any other
    // ends here.
    let run = std::panic::catch_unwind(|| match args::Cli::read() {
        Ok(cli) => commands::run(cli),
        Err(error) => args::usage_error(&error),
    });
    run.unwrap_or(exit::Exit::Bug).into()
}

/// Every link, client and probe of a run is a socket here, and while a node is frozen those of
/// everybody who tries again pile up: more than the 1,024 that most shells allow. Without a
/// descriptor not even a fault can be healed. Nodes inherit it, so it is not more than is needed.
fn take_all_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(DESCRIPTORS, |most| most.min(DESCRIPTORS));
    if limit.current.is_some_and(|current| current < wanted) {
        // Who may not raise it goes on with what there is.
        let raised = Rlimit { current: Some(wanted), ..limit };
        let _as_before = setrlimit(Resource::Nofile, raised);
    }
}

/// `assay ... | head` ends quietly: printing to a closed pipe panics in Rust, and that one is no
/// bug. Everything else is.
fn say_that_panics_are_bugs() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or("");
        if message.contains("Broken pipe") {
            std::process::exit(exit::BROKEN_PIPE);
        }
        default(info);
        eprintln!("This is a bug in Assay: please report it, with the command and the history.");
    }));
}
