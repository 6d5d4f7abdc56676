//! What tools for mutation testing found: figures, read from what they wrote.
//!
//! An exit code says that a tool ran, not that it tried anything. So its results are read, at least
//! one mutant must have been tried, and enough of them caught. What stands still (a timeout) was
//! caught by no test; what cannot be built or was left out says nothing.

use crate::contract::{CommandSpec, MutantsFormat, ResultFormat, Settings};
use crate::results;
use serde::Deserialize;
use std::fmt;

/// Exit codes of cargo-mutants after it has tried everything: some were missed, some stood still.
const CARGO_MUTANTS_THROUGH: [i32; 2] = [2, 3];

/// Mutants by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutants {
    /// A test failed.
    pub caught: u64,
    /// No test did.
    pub missed: u64,
    /// The tests did not end.
    #[serde(default)]
    pub timeout: u64,
    /// Nothing could be tried: it was not built, or was left out.
    #[serde(default)]
    pub unviable: u64,
}

impl Mutants {
    fn tried(&self) -> u64 {
        self.caught.saturating_add(self.missed).saturating_add(self.timeout)
    }
}

impl fmt::Display for Mutants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mutants { caught, missed, timeout, unviable } = self;
        let percent = (u128::from(*caught) * 100).checked_div(u128::from(self.tried()));
        write!(
            f,
            "{caught} of {} mutants caught ({} %), {missed} missed, {timeout} timeouts, \
             {unviable} unviable",
            self.tried(),
            percent.unwrap_or(0)
        )
    }
}

/// A configured tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Tool {
    /// What is run, with the file that it writes.
    pub command: CommandSpec,
    format: MutantsFormat,
    percent: u8,
}

impl Tool {
    /// The tool of a contract, if it names one.
    pub fn of(settings: &Settings) -> Option<Tool> {
        let mut command = settings.mutation.clone()?;
        let words = command.run.join(" ");
        let format = settings.mutants.unwrap_or({
            if words.contains("cargo mutants") || words.contains("cargo-mutants") {
                MutantsFormat::CargoMutants
            } else if words.contains("mutmut") {
                MutantsFormat::Mutmut
            } else {
                MutantsFormat::Counts
            }
        });
        command.file.get_or_insert_with(|| usual_file(format).to_string());
        Some(Tool { command, format, percent: settings.mutants_percent })
    }

    /// The command, with an exit code that says that the tool came to its end. That mutants were
    /// missed is not for the exit code to judge.
    pub fn ended(&self, exit: Option<i32>) -> CommandSpec {
        let mut command = self.command.clone();
        let through = exit.filter(|code| CARGO_MUTANTS_THROUGH.contains(code));
        if let (MutantsFormat::CargoMutants, 0, Some(code)) = (self.format, command.exit, through) {
            command.exit = code;
        }
        command
    }

    /// What the file says, if it is enough; else why it is not.
    pub fn judged(&self, file: Option<&[u8]>) -> Result<Mutants, String> {
        let name = self.command.file.as_deref().unwrap_or("");
        let Some(bytes) = file else {
            return Err(format!("the mutation tool wrote no {name}: nobody knows what it tried"));
        };
        let mutants = read(self.format, &String::from_utf8_lossy(bytes))
            .map_err(|why| format!("{name} of the mutation tool cannot be read: {why}"))?;
        if mutants.tried() == 0 {
            return Err(format!("no mutant was tried: {mutants}"));
        }
        let percent = u128::from(self.percent);
        if u128::from(mutants.caught) * 100 < percent * u128::from(mutants.tried()) {
            return Err(format!("{mutants}: at least {percent} % have to be caught"));
        }
        Ok(mutants)
    }
}

/// Where a tool writes if nobody says otherwise.
fn usual_file(format: MutantsFormat) -> &'static str {
    match format {
        MutantsFormat::CargoMutants => "mutants.out/outcomes.json",
        MutantsFormat::Mutmut => "mutants/mutmut-cicd-stats.json",
        MutantsFormat::MutmutJunit => "mutmut.xml",
        MutantsFormat::Counts => "mutants.json",
    }
}

/// Of `outcomes.json` of cargo-mutants. It also lists every mutant, and grows by the year.
#[derive(Deserialize)]
struct CargoMutants {
    total_mutants: u64,
    caught: u64,
    timeout: u64,
    unviable: u64,
}

/// Of `mutmut-cicd-stats.json` of mutmut 3.
#[derive(Deserialize)]
struct Mutmut {
    total: u64,
    killed: u64,
    #[serde(default)]
    timeout: u64,
    #[serde(default)]
    skipped: u64,
}

/// Reads results. Whatever is not said to be caught, to stand still or to be unviable was missed.
pub fn read(format: MutantsFormat, text: &str) -> Result<Mutants, String> {
    match format {
        MutantsFormat::Counts => json(text),
        MutantsFormat::CargoMutants => {
            let CargoMutants { total_mutants, caught, timeout, unviable } = json(text)?;
            of_all(total_mutants, caught, timeout, unviable)
        }
        MutantsFormat::Mutmut => {
            let Mutmut { total, killed, timeout, skipped } = json(text)?;
            of_all(total, killed, timeout, skipped)
        }
        MutantsFormat::MutmutJunit => {
            let counts = results::read(ResultFormat::Junit, text).counts();
            let (caught, missed, unviable) = (counts.passed, counts.failed, counts.skipped);
            Ok(Mutants { caught, missed, timeout: 0, unviable })
        }
    }
}

fn json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn of_all(total: u64, caught: u64, timeout: u64, unviable: u64) -> Result<Mutants, String> {
    let others = [caught, timeout, unviable].into_iter().try_fold(total, u64::checked_sub);
    match others {
        Some(missed) => Ok(Mutants { caught, missed, timeout, unviable }),
        None => Err(format!("of {total} mutants more than all have an outcome")),
    }
}
