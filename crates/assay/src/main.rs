//! `assay`: finds out whether the claims a system makes are true.
//!
//! This crate is the command line and nothing else: arguments in, text and an exit code out. What
//! it does lives in the other crates; `commands` has one file per command, `output` says how
//! results look.

mod args;
mod commands;
mod exit;
mod output;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    restore_pipe_signal();
    match args::Cli::try_parse() {
        Ok(cli) => commands::run(cli).into(),
        Err(error) => args::usage_error(&error).into(),
    }
}

/// Lets `assay ... | head` end quietly: Rust ignores SIGPIPE, which turns a closed pipe into a
/// panic.
#[cfg(unix)]
fn restore_pipe_signal() {
    // Output goes through `anstream` macros, which panic on a broken pipe; a hook turns exactly
    // that panic into the conventional exit.
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or("");
        if message.contains("Broken pipe") {
            std::process::exit(exit::BROKEN_PIPE);
        }
        default(info);
        eprintln!("This is a bug in Assay. Please report it with the command line above it.");
        std::process::exit(exit::BUG);
    }));
}

#[cfg(not(unix))]
fn restore_pipe_signal() {}
