//! Options of `assay check` that mean nothing for what is checked: better an error than no effect.

use super::Trouble;
use crate::args::{CheckArgs, Subject};
use crate::exit::Exit;
use assay_check::ModelKind;

/// What a check looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looks {
    /// At single objects or at transactions.
    At(Subject),
    /// At a promise with a checker of its own.
    ForAPromise,
}

/// An option, whom it is for, and in words.
struct Row {
    /// Its name as a field of [`CheckArgs`].
    id: &'static str,
    flag: &'static str,
    has_effect: fn(Looks) -> bool,
    is_for: &'static str,
}

const fn row(
    id: &'static str,
    flag: &'static str,
    has_effect: fn(Looks) -> bool,
    is_for: &'static str,
) -> Row {
    Row { id, flag, has_effect, is_for }
}

fn objects(looks: Looks) -> bool {
    matches!(looks, Looks::At(Subject::Object(_)))
}

fn registers(looks: Looks) -> bool {
    looks == Looks::At(Subject::Object(ModelKind::Register))
}

fn transactions(looks: Looks) -> bool {
    matches!(looks, Looks::At(Subject::Transactions(_)))
}

fn searched(looks: Looks) -> bool {
    objects(looks) || transactions(looks)
}

fn promises(looks: Looks) -> bool {
    looks == Looks::ForAPromise
}

const TRANSACTIONS: &str = "a --model of transactions (list-append, rw-register, ...)";
const SEARCHED: &str = "a --model: no other checker searches";
const PROMISES: &str = "a --checker";

/// Options that are not for every check; all others are.
const OPTIONS: &[Row] = &[
    row("initial", "--initial", registers, "--model register"),
    row("budget", "--budget", searched, SEARCHED),
    row("memory", "--memory", searched, SEARCHED),
    row("states", "--states", searched, SEARCHED),
    row("fail_fast", "--fail-fast", objects, "a --model of single objects (register, kv, ...)"),
    row("svg", "--svg", searched, "a --model: the report of a --checker is --html"),
    row("dot", "--dot", transactions, TRANSACTIONS),
    row("consistency_model", "--consistency-model", transactions, TRANSACTIONS),
    row("linearizable_keys", "--linearizable-keys", transactions, TRANSACTIONS),
    row("sequential_keys", "--sequential-keys", transactions, TRANSACTIONS),
    row("wfr_keys", "--wfr-keys", transactions, TRANSACTIONS),
    row("no_realtime", "--no-realtime", transactions, TRANSACTIONS),
    row("recording_complete", "--recording-complete", transactions, TRANSACTIONS),
    row("search", "--search", transactions, TRANSACTIONS),
    row("settings", "--set", promises, PROMISES),
    row("reference", "--reference", promises, "--checker differential"),
];

/// The options of the table that were given on the command line.
pub fn given(matches: &clap::ArgMatches) -> Vec<&'static str> {
    let was_given =
        |row: &&Row| matches.value_source(row.id) == Some(clap::parser::ValueSource::CommandLine);
    OPTIONS.iter().filter(was_given).map(|row| row.id).collect()
}

/// Refuses the first option that has no effect on anything that is looked at.
pub fn refuse_without(args: &CheckArgs, looks: &[Looks]) -> Result<(), Trouble> {
    let idle = |row: &&Row| {
        args.given.contains(&row.id) && !looks.iter().any(|&one| (row.has_effect)(one))
    };
    let Some(row) = OPTIONS.iter().find(idle) else { return Ok(()) };
    let message = format!(
        "{} has no effect here: it is for {}; leave it out, or name what it is for",
        row.flag, row.is_for
    );
    Err(Trouble { message, exit: Exit::Usage })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_row_is_an_option_of_the_check_command() {
        let command = Cli::command();
        let check = command.find_subcommand("check").expect("a command");
        for row in OPTIONS {
            let argument = check.get_arguments().find(|argument| argument.get_id() == row.id);
            let long = argument.and_then(|argument| argument.get_long()).expect(row.id);
            assert_eq!(format!("--{long}"), row.flag);
        }
    }
}
