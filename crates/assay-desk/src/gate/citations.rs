//! What a verdict cites, against what the Leader saw when it ran the same.

use crate::artifact::Citation;
use crate::contract::{CommandSpec, Contract, ResultFormat, Settings};
use crate::event::Evidence;

/// The contract's own command with these arguments, if there is one; of several, one whose tests
/// are counted.
pub fn known<'c>(contract: &'c Contract, command: &[String]) -> Option<&'c CommandSpec> {
    let stories = contract.stories.iter().flat_map(|story| story.commands());
    let all = stories.map(|(_, spec)| spec).chain([&contract.settings.suite]);
    let own: Vec<&CommandSpec> = all.filter(|spec| spec.run == command).collect();
    own.iter().find(|spec| spec.results.is_some()).or(own.first()).copied()
}

/// Whether a Verifier may cite a command; what it may not counts as no evidence.
pub fn allowed(contract: &Contract, command: &[String]) -> Result<(), String> {
    if known(contract, command).is_some() {
        return Ok(());
    }
    let Settings { citable, .. } = &contract.settings;
    match command.first() {
        Some(program) if citable.contains(program) => Ok(()),
        Some(program) => Err(format!("`{program}` is no command that may be cited")),
        None => Err("an empty command is no evidence".to_string()),
    }
}

/// Why what the Leader saw refutes a citation.
pub fn refuted(citation: &Citation, seen: &Evidence) -> Option<String> {
    let Citation { command, exit_code, passed, failed } = citation;
    let name = command.join(" ");
    if seen.exit != Some(*exit_code) {
        let got = seen.exit.map_or("none".to_string(), |code| code.to_string());
        return Some(format!("`{name}`: cited exit code {exit_code}, ran with {got}"));
    }
    let tests = seen.tests.unwrap_or_default();
    for (what, cited, got) in [("passed", passed, tests.passed), ("failed", failed, tests.failed)] {
        if let Some(cited) = cited.filter(|cited| *cited != got) {
            return Some(format!("`{name}`: cited {cited} {what}, ran with {got}"));
        }
    }
    None
}

/// How the results of a cited command are read: as the contract says, or not at all.
pub fn format(contract: &Contract, command: &[String]) -> Option<ResultFormat> {
    known(contract, command).and_then(|spec| spec.results)
}
