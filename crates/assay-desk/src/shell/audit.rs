//! Is the end of a campaign what its record says? Asked later, offline, of the record alone.

use super::campaign::{CampaignError, Recorded, fold};
use super::checks::{expected, results_text};
use crate::contract::{self, CommandSpec, Contract, Level, Score, Story};
use crate::event::{Checked, Event, Evidence, Scope, Step, Terminal};
use crate::facts::Facts;
use crate::gate::mutants::Tool;
use crate::gate::onward::keep_going;
use crate::results;
use assay_ledger::{Reader, Seal, verify};
use std::path::Path;

/// What was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Audit {
    /// Events in the chain.
    pub events: u64,
    /// Evidence that was read and hashed again.
    pub blobs: u64,
    /// The hash of the last event: it stands for the whole record.
    pub head: String,
    /// Whether every byte of the record is what the last Leader left; a Leader that runs, or was
    /// killed, has not left it yet, and then what the events say is what counts.
    pub sealed: bool,
    /// How the campaign ended, if it did.
    pub terminal: Option<Terminal>,
    /// What does not add up; nothing if all is well.
    pub wrong: Vec<String>,
    /// Commands whose recorded results were computed again from their output.
    pub recomputed: u64,
}

/// Checks chain and evidence, that every event follows, that results are what the outputs say, and
/// that COMPLETE follows from what was written down.
pub fn audit(directory: &Path) -> Result<Audit, CampaignError> {
    let verified = verify(directory)?;
    let (events, _) = fold(&verified.entries)?;
    let reader = Reader::open(directory)?;
    let mut audit = Audit {
        events: verified.events,
        blobs: verified.blobs,
        head: verified.head.to_string(),
        sealed: verified.seal == Seal::Whole,
        terminal: None,
        wrong: Vec::new(),
        recomputed: 0,
    };
    let mut facts = Facts::default();
    let mut contract: Option<Contract> = None;
    for entry in &events {
        match &entry.event {
            Event::Opened(opened) => {
                audit.frozen(&reader, entry, &opened.source, &opened.contract);
                audit.scored(entry, &opened.contract, &opened.scores);
                contract = Some(opened.contract.clone());
            }
            Event::Amended(amended) => {
                audit.frozen(&reader, entry, &amended.source, &amended.contract);
                audit.scored(entry, &amended.contract, &amended.scores);
                contract = Some(amended.contract.clone());
            }
            Event::Checked(checked) => {
                if let Some(contract) = &contract {
                    audit.check(&reader, entry, contract, checked);
                }
            }
            Event::Ended(terminal) => {
                if let (Terminal::Complete { .. }, Err(missing)) = (terminal, facts.complete()) {
                    audit.wrong.push(format!("COMPLETE does not follow: {}", missing.join("; ")));
                }
                audit.terminal = Some(terminal.clone());
            }
            _ => {}
        }
        facts.note(&entry.event);
    }
    Ok(audit)
}

impl Audit {
    /// The contract in an event must be what its text says.
    fn frozen(&mut self, reader: &Reader, entry: &Recorded, source: &str, frozen: &Contract) {
        let text = blob(reader, source);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
        let same = contract::read(&text).is_ok_and(|mut read| {
            // Engines may be given on the command line; nothing is judged by them.
            read.settings.agents = frozen.settings.agents.clone();
            read == *frozen
        });
        if !same {
            self.wrong.push(format!("event {}: the contract is not its text", entry.seq));
        }
    }

    /// The points in an event must be what the words can earn, or less, and enough to be run.
    fn scored(&mut self, entry: &Recorded, contract: &Contract, scores: &[Score]) {
        let refused = contract::lint(contract, scores).into_iter();
        let refused = { refused }.find(|complaint| complaint.level == Level::Error);
        let wrong = contract::beyond(contract, scores).or(refused.map(|refused| refused.message));
        if let Some(wrong) = wrong {
            self.wrong.push(format!("event {}: {wrong}", entry.seq));
        }
    }

    fn check(&mut self, reader: &Reader, entry: &Recorded, contract: &Contract, checked: &Checked) {
        if let (Step::Mutation, true, Some(tool)) =
            (&checked.step, checked.passed(), Tool::of(&contract.settings))
        {
            let own = checked.evidence.iter().filter(|one| one.command == tool.command.run);
            let mut own: Vec<Option<&Evidence>> = own.map(Some).collect();
            // At the end what was shown of the same files is not shown again.
            if own.is_empty() && checked.scope != Scope::Final {
                own.push(None);
            }
            for one in own {
                let file = one.and_then(|one| one.file.as_ref());
                let file = file.and_then(|name| blob(reader, name));
                if let Err(why) = tool.judged(file.as_deref()) {
                    self.wrong.push(format!("event {}: {why}", entry.seq));
                }
                self.recomputed += 1;
            }
        }
        for evidence in &checked.evidence {
            let Some(spec) = spec(contract, &checked.step, evidence) else {
                continue;
            };
            let [stdout, stderr] =
                [&evidence.stdout, &evidence.stderr].map(|name| blob(reader, name));
            let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
                self.wrong.push(format!("event {}: its evidence is gone", entry.seq));
                continue;
            };
            let file = evidence.file.as_ref().and_then(|name| blob(reader, name));
            let text = results_text(&spec, &stdout, &stderr, file.as_deref());
            let counts = spec.results.map(|format| results::read(format, &text).counts());
            if counts != evidence.tests {
                let name = evidence.command.join(" ");
                self.wrong.push(format!("event {}: `{name}` printed other results", entry.seq));
            }
            let output = format!(
                "{}\n{}",
                String::from_utf8_lossy(&stdout),
                String::from_utf8_lossy(&stderr)
            );
            let own = matches!(checked.step, Step::Command(_) | Step::Suite);
            if own && checked.passed() && expected(&spec, evidence, &output).is_some() {
                self.wrong.push(format!("event {}: it did not pass", entry.seq));
            }
            self.recomputed += 1;
        }
    }
}

fn blob(reader: &Reader, name: &str) -> Option<Vec<u8>> {
    reader.blob(name.parse().ok()?).ok()
}

/// The contract's command that a piece of evidence is about.
fn spec(contract: &Contract, step: &Step, evidence: &Evidence) -> Option<CommandSpec> {
    let mut all: Vec<(String, &CommandSpec)> =
        contract.stories.iter().flat_map(Story::commands).collect();
    all.push(("suite".to_string(), &contract.settings.suite));
    let named = all.iter().find(|(name, spec)| match step {
        Step::Command(wanted) => name == wanted,
        // The suite's tests are listed, too, and a listing has no results.
        Step::Suite => name == "suite" && spec.run == evidence.command,
        // The same words may be a command whose tests are counted, and one whose tests are not.
        // Where tests are to fail, it is run so that it goes on after the first of them.
        _ => {
            let is_it = spec.run == evidence.command || keep_going(spec).run == evidence.command;
            is_it && spec.results.is_some() == evidence.tests.is_some()
        }
    });
    named.map(|(_, spec)| (*spec).clone())
}
