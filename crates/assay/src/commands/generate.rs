//! Completions and manual pages, generated from the argument types.

use super::{Trouble, write_whole};
use crate::args::Cli;
use crate::exit::Exit;
use clap::CommandFactory;
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "assay", &mut script);
    anstream::print!("{}", String::from_utf8_lossy(&script));
    Exit::Upheld
}

/// Writes a manual page per command.
pub fn man(directory: &Path) -> Exit {
    match write_pages(directory) {
        Ok(count) => {
            anstream::eprintln!("{count} manual pages written to {}", directory.display());
            Exit::Upheld
        }
        Err(trouble) => trouble.report(),
    }
}

fn write_pages(directory: &Path) -> Result<usize, Trouble> {
    std::fs::create_dir_all(directory)
        .map_err(|error| Trouble::unavailable(directory, "create", &error))?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut queue = vec![("assay".to_string(), command)];
    let mut count = 0;
    while let Some((name, command)) = queue.pop() {
        for sub in command.get_subcommands() {
            queue.push((format!("{name}-{}", sub.get_name()), sub.clone()));
        }
        let page = clap_mangen::Man::new(command);
        write_whole(&directory.join(format!("{name}.1")), |out| {
            let mut bytes: Vec<u8> = Vec::new();
            page.render(&mut bytes)?;
            out.write_all(&bytes)
        })?;
        count += 1;
    }
    Ok(count)
}
