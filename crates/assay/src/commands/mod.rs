//! One file per command, and what they share: opening files and reporting trouble.

mod adr;
mod agent;
mod check;
mod client;
pub mod desk;
mod doctor;
pub mod effect;
mod explain;
mod gallery;
mod generate;
mod guard;
mod heal;
mod history;
mod inside;
mod invariants;
mod isolation;
mod kv;
mod oracles;
mod pick;
pub mod plan;
mod plan_pages;
mod report;
mod reproduce;
mod run;
mod sandbox;
mod serve;
mod systems;
mod verdict_pages;

use crate::args::{CheckArgs, Cli, Command, InputArgs, OutputFormat};
use crate::exit::Exit;
use crate::progress;
use assay_history::{History, ReadError, ReadOptions, Style, Txns};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs a command; the exit code says how it ended.
pub fn run(cli: Cli) -> Exit {
    match cli.command {
        Command::Demo(args) => run::demo(&args),
        Command::Run(args) => run::run(&args),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Systems(command) => systems::run(&command),
        Command::Gallery(command) => gallery::run(&command),
        Command::Check(args) => check::run(&args),
        Command::History(command) => history::run(command),
        Command::Kv(command) => kv::run(command),
        Command::Client { driver, session } => client::run(&driver, session),
        Command::Serve(args) => serve::run(args),
        Command::Keys(command) => serve::keys(command),
        Command::Report(args) => report::run(&args),
        Command::Plan(command) => plan::run(command),
        Command::Desk(command) => desk::run(&command),
        Command::Guard(args) => guard::run(*args),
        Command::Adr(command) => adr::run(&command),
        Command::Invariants(command) => invariants::run(&command),
        Command::Explain(args) => explain::run(&args),
        Command::Heal(args) => heal::run(&args),
        Command::Agent(command) => agent::run(command),
        Command::Sandbox(command) => sandbox::run(&command),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { directory } => generate::man(&directory),
    }
}

/// What kept a command from doing its work: a message for people and the exit code.
#[derive(Debug)]
pub struct Trouble {
    /// What, where, and what to do.
    pub message: String,
    /// The code to end with.
    pub exit: Exit,
}

impl Trouble {
    /// Something is wrong with a file's content.
    pub fn bad_history(message: impl Into<String>) -> Trouble {
        Trouble { message: message.into(), exit: Exit::BadHistory }
    }

    /// A file cannot be read or written.
    pub fn unavailable(path: &Path, doing: &str, error: &std::io::Error) -> Trouble {
        let message = format!("{}: cannot {doing}: {error}", path.display());
        Trouble { message, exit: Exit::MissingCapability }
    }

    /// Prints the message and hands on the code.
    pub fn report(self) -> Exit {
        crate::output::say(format_args!("error: {}", self.message));
        self.exit
    }
}

/// A result that can be shown.
pub trait Outcome {
    /// How it ended.
    fn exit(&self) -> Exit;
    /// Prints it for people.
    fn human(&self);
    /// It as one JSON object.
    fn json(&self) -> serde_json::Value;
}

/// Checks every file and shows each result as it comes; the worst is the exit code.
pub fn each_file<T: Outcome>(
    args: &CheckArgs,
    check: impl Fn(&Path) -> Result<T, Trouble>,
) -> (Exit, Vec<T>) {
    let (mut exit, mut results) = (Exit::Upheld, Vec::new());
    for file in &args.files {
        let one = match guarded(file, || check(file)) {
            Ok(result) => {
                match args.output.format {
                    OutputFormat::Human => result.human(),
                    OutputFormat::Json => anstream::println!("{}", result.json()),
                }
                let exit = result.exit();
                results.push(result);
                exit
            }
            Err(trouble) => trouble.report(),
        };
        exit = exit.worse(one);
    }
    (exit, results)
}

/// Does `work` for a file; a panic in it is a bug, and leaves the file undecided: what did not
/// finish is never a pass, and the other files are still looked at.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    caught.unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(ToString::to_string);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let message = format!(
            "{}: undecided: the checker stopped with a bug of its own ({said}); please report it \
             with this history",
            path.display()
        );
        Err(Trouble { message, exit: Exit::Undecided })
    })
}

/// Reads a history with progress.
pub fn open(path: &Path, input: InputArgs) -> Result<History, Trouble> {
    read_with(path, input, assay_history::read)
}

/// Reads a transactional history with progress.
pub fn open_txns(path: &Path, input: InputArgs, style: Style) -> Result<Txns, Trouble> {
    read_with(path, input, |source, options| assay_history::read_txns(source, options, style))
}

fn read_with<T: Send>(
    path: &Path,
    input: InputArgs,
    read: impl FnOnce(Box<dyn Read + Send>, &ReadOptions<'_>) -> Result<T, ReadError> + Send,
) -> Result<T, Trouble> {
    let source: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        let file = File::open(path).map_err(|e| Trouble::unavailable(path, "open", &e))?;
        if file.metadata().is_ok_and(|meta| meta.is_dir()) {
            let message =
                format!("{}: is a directory; name the history file in it", path.display());
            return Err(Trouble { message, exit: Exit::MissingCapability });
        }
        Box::new(file)
    };
    let bytes = AtomicU64::new(0);
    let message = || {
        let mib = bytes.load(Ordering::Relaxed) >> 20;
        format!("reading {}: {mib} MiB", path.display())
    };
    let options =
        ReadOptions { format: input.from, independent: input.independent, progress: Some(&bytes) };
    progress::while_running(message, || read(source, &options))
        .map_err(|error| cannot_read(path, &error))
}

fn cannot_read(path: &Path, error: &ReadError) -> Trouble {
    let place = match error.line() {
        Some(line) if line > 0 => format!("{}:{line}", path.display()),
        _ => path.display().to_string(),
    };
    Trouble::bad_history(format!("{place}: {}", error.message()))
}

/// Writes a file whole or not at all: into a temporary file beside it, then renamed.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(path, "write", &error);
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(unavailable)?;
    let mut buffered = std::io::BufWriter::new(file.as_file_mut());
    fill(&mut buffered).and_then(|()| buffered.flush()).map_err(unavailable)?;
    drop(buffered);
    file.as_file().sync_all().map_err(unavailable)?;
    make_readable(file.as_file()).map_err(unavailable)?;
    file.persist(path).map_err(|error| unavailable(error.error))?;
    Ok(())
}

/// Temporary files are private; a report or a history is for everyone.
#[cfg(unix)]
fn make_readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn make_readable(_: &File) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_a_checker_leaves_the_file_undecided_and_is_called_a_bug() {
        let work = || -> Result<(), Trouble> { panic!("an index that was out of range") };
        let trouble = guarded(Path::new("history.edn"), work).expect_err("it panicked");
        assert_eq!(trouble.exit, Exit::Undecided);
        assert!(trouble.message.starts_with("history.edn: undecided"), "{}", trouble.message);
        assert!(trouble.message.contains("an index that was out of range"), "{}", trouble.message);
        assert!(guarded(Path::new("history.edn"), || Ok(1)).is_ok());
    }
}
