//! The checks of the gate, run: what the Leader measures, and what pure functions say about it.

mod begun;
mod bounded;
mod kept;
mod owners;
mod proofs;
mod spoiled;
mod watch;
mod whole;
mod written;

use super::around::{Around, Wanted};
use super::dispatch::{Executed, Execution};
use super::leader::{Leader, LeaderError};
use super::reach;
use super::trees::{self, Keep, TreeError};
use crate::artifact::{Artifact, Said, said};
use crate::contract::{CommandSpec, Contract, MappedTest, ResultFormat, Story};
use crate::event::{Checked, Counts, Event, Evidence, Scope, Step};
use crate::gate::beside::Beside;
use crate::gate::{Finding, Severity, citations, diff, gaming, hooks, manifests, scope, weaker};
use crate::results::{self, Results};
use crate::state::Gate;
use assay_ledger::BlobRef;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a command of the contract may print, in bytes; all of it is kept.
const COMMAND_OUTPUT_BYTES_MAX: u64 = 16 << 20;
/// Commands that one verdict may cite: each is run.
const CITED_MAX: usize = 100;

/// What a command is, as far as what is seen of it depends on that: its arguments, how its results
/// are read, and from where.
type Ran = (Vec<String>, Option<ResultFormat>, Option<String>);

/// Commands that ran for the claim that is being looked at.
#[derive(Default)]
pub(super) struct Cache {
    of: Option<(Scope, String)>,
    ran: BTreeMap<Ran, Seen>,
    /// What the tree for checks holds: a commit, as it is.
    tree: Option<String>,
    /// Caches in the tree for checks hold builds of what is looked at, and may be used.
    usable: bool,
    /// What commands changed that they must not, and nobody wrote down yet.
    tampered: Vec<String>,
    /// What somebody else changed while commands ran.
    elsewhere: Vec<String>,
    /// How long commands took that nobody wrote down yet.
    ms: u64,
    /// What differs between two commits, as git prints it.
    diffs: BTreeMap<(String, String), String>,
}

/// A command that ran, with what it printed.
#[derive(Clone)]
struct Seen {
    evidence: Evidence,
    output: String,
    results: Results,
}

/// What a check came to, before it is written down.
#[derive(Default)]
struct Outcome {
    findings: Vec<Finding>,
    refuted: Option<String>,
    evidence: Vec<Evidence>,
    note: String,
}

impl Leader<'_> {
    /// Runs one check.
    pub(super) fn check(
        &mut self,
        gate: &Gate,
        step: &Step,
    ) -> Result<(Event, Vec<BlobRef>), LeaderError> {
        let of = Some((gate.scope.clone(), gate.at.tree.clone()));
        let contract = self.campaign.state().ok_or(LeaderError::NotBegun)?.contract.clone();
        if self.cache.of != of {
            // Whatever tests of one story left in the caches is not there when another is looked
            // at; and what COMPLETE rests on is built from nothing.
            let usable = self.cache.of.as_ref().is_some_and(|(scope, _)| *scope == gate.scope);
            self.cache = Cache { of, usable, ..Cache::default() };
        }
        let begun = begun::note(&self.desk.home().join("runs"), self.campaign.events.last());
        let measured = match begun > begun::BEGUN_MAX {
            true => Err(LeaderError::File("the Leader died in it each time".to_string())),
            false => (self.desk.put_away(self.engines.hides()))
                .map_err(LeaderError::from)
                .and_then(|()| self.unbroken(&contract, gate, step)),
        };
        let tampered = std::mem::take(&mut self.cache.tampered);
        let elsewhere = std::mem::take(&mut self.cache.elsewhere);
        if tampered.is_empty() && !elsewhere.is_empty() {
            // What was seen was seen with other tools than the rest: it is not written down.
            return Err(self.changed("a command", elsewhere));
        }
        let (outcome, stuck) = match measured {
            Ok(outcome) => (outcome, None),
            Err(LeaderError::Tree(stuck @ TreeError::Stuck { .. })) => {
                (Outcome::default(), Some(stuck.to_string()))
            }
            // Whatever else went wrong: a later Leader could not tell any more.
            Err(_) if !tampered.is_empty() => (Outcome::default(), None),
            Err(error) if begun >= begun::BEGUN_MAX && begun::can_be_told(&error) => {
                let text = format!("a check was begun {begun} times and had no end: {error}");
                (Outcome::default(), Some(text))
            }
            Err(error) => return Err(error),
        };
        let Outcome { mut findings, refuted, evidence, note } = outcome;
        if gate.scope == Scope::Final {
            self.owned(&contract, gate, &mut findings)?;
        }
        let findings = bounded::findings(findings, &gate.findings);
        let mut blobs = Vec::new();
        for one in &evidence {
            let names = [Some(&one.stdout), Some(&one.stderr), one.file.as_ref()];
            blobs.extend(names.into_iter().flatten().filter_map(|name| self.campaign.named(name)));
        }
        blobs.sort_by_key(|blob| blob.sha256.to_string());
        blobs.dedup();
        let (scope, at) = (gate.scope.clone(), gate.at.clone());
        let (step, ms) = (step.clone(), std::mem::take(&mut self.cache.ms));
        let checked =
            Checked { scope, step, at, findings, refuted, evidence, note, tampered, stuck, ms };
        Ok((Event::Checked(Box::new(checked)), blobs))
    }

    /// What is looked at was written by others: if the Leader's own code breaks on it, that is said
    /// like anything else that is wrong with it.
    fn unbroken(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        step: &Step,
    ) -> Result<Outcome, LeaderError> {
        let measured = AssertUnwindSafe(|| self.measured(contract, gate, step));
        catch_unwind(measured).unwrap_or_else(|panic| {
            // Whatever stands in the tree now, and was seen of it, is not to be gone on with.
            (self.cache.tree, self.cache.usable) = (None, false);
            let said = panic.downcast_ref::<&str>().map(|text| text.to_string());
            let said = said.or(panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let text = format!(
                "the Leader breaks on this claim ({}): undo what is unusual about its files; a \
                 person may report it",
                clipped(&said)
            );
            let finding = Finding::new("claim", Severity::Critical, text);
            Ok(Outcome { findings: vec![finding], ..Outcome::default() })
        })
    }

    fn measured(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        step: &Step,
    ) -> Result<Outcome, LeaderError> {
        match step {
            Step::Claim => self.claim(contract, gate),
            Step::Scope => self.scope(contract, gate),
            Step::Gaming => self.gaming(contract, gate),
            Step::Command(name) => self.layer(contract, gate, name),
            Step::Suite => self.suite(contract, gate),
            Step::Tests(story) => self.tests(contract, gate, story),
            Step::Kept => self.kept(contract, gate),
            Step::Sabotage => self.sabotage(contract, gate),
            Step::Red if gate.scope == Scope::Final => self.red_again(contract, gate),
            Step::Red => self.red(contract, gate),
            Step::Mutation if gate.scope == Scope::Final => self.mutation_again(contract, gate),
            Step::Mutation => self.mutation(contract, gate),
            Step::Citations(_) => self.citations(contract, gate),
        }
    }

    fn claim(&mut self, contract: &Contract, gate: &Gate) -> Result<Outcome, LeaderError> {
        let unusable = match self.claimed(contract, gate) {
            Ok(_) => None,
            Err(_) => self.cannot_be_checked_out(&gate.at.commit, &gate.from.commit)?,
        };
        let git = &self.desk.git;
        let mut outcome = Outcome::default();
        let mut wrong = |text: &str| {
            outcome.findings.push(Finding::new("claim", Severity::Critical, text));
        };
        match git.revision(&gate.at.commit) {
            Ok(found) if found == gate.at => {}
            _ => wrong("the commit is not there, or its tree is another"),
        }
        if !git.is_ancestor(&gate.from.commit, &gate.at.commit) {
            wrong("the commit does not follow the one it was to build on");
        }
        if let Some(why) = unusable {
            wrong(&format!("the commit cannot be checked out: {why}"));
        }
        outcome.note = format!("{} on {}", short(&gate.at.commit), short(&gate.from.commit));
        Ok(outcome)
    }

    /// Why there is no working tree of a commit, although there is one of another: whoever made it
    /// put names into it that no git writes. If there is none of the other either, it is the
    /// machine that fails, and nobody is to blame.
    pub(super) fn cannot_be_checked_out(
        &mut self,
        commit: &str,
        other: &str,
    ) -> Result<Option<String>, LeaderError> {
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        let nothing = Keep::Named(&[]);
        let Err(why) = trees::prepare(&self.desk.git, &directory, commit, nothing) else {
            return Ok(None);
        };
        trees::prepare(&self.desk.git, &directory, other, nothing)?;
        Ok(Some(why.to_string()))
    }

    fn scope(&mut self, contract: &Contract, gate: &Gate) -> Result<Outcome, LeaderError> {
        let changed = self.desk.git.changed(&gate.from.commit, &gate.at.commit)?;
        let mut outcome =
            Outcome { note: format!("{} files changed", changed.len()), ..Outcome::default() };
        for (path, mode) in &changed {
            if matches!(mode.as_str(), "120000" | "160000") {
                let text = format!("{path} is a link: it could lead anywhere; make it a file");
                outcome.findings.push(Finding::new("scope", Severity::Critical, text));
            }
        }
        let paths: Vec<String> = changed.into_iter().map(|(path, _)| path).collect();
        if let Some(story) = story_of(contract, &gate.scope) {
            outcome.findings.extend(scope::check(&contract.settings, story, &paths));
            outcome.findings.extend(self.traced(story));
        }
        Ok(outcome)
    }

    /// What the claim that is looked at says to mend, against what it was to mend.
    fn traced(&self, story: &Story) -> Option<Finding> {
        let state = self.campaign.state()?;
        let index = state.contract.stories.iter().position(|other| other.id == story.id)?;
        let claim = self.campaign.events.iter().rev().find_map(|entry| match &entry.event {
            Event::Returned(returned) => match &returned.artifact {
                Artifact::Signal(signal) => Some(signal),
                _ => None,
            },
            _ => None,
        })?;
        scope::traced(&state.stories[index].issues, &claim.resolves)
    }

    fn gaming(&mut self, contract: &Contract, gate: &Gate) -> Result<Outcome, LeaderError> {
        let text = self.diff(&gate.from.commit, &gate.at.commit)?;
        let pair = self.pair(&gate.from.commit, &gate.at.commit)?;
        let tests = &contract.settings.tests;
        let beside = Beside::of(&pair.before, &pair.after, tests);
        let (files, runners) = (diff::parse(&text), &contract.settings.runners);
        let mut findings = gaming::check(&files, tests, &beside);
        findings.extend(hooks::check(&files, &pair.before, &pair.after, tests, runners));
        findings.extend(weaker::check(&pair.before, &pair.after));
        findings.extend(manifests::check(&pair.before, &pair.after));
        let note = "no test got weaker".to_string();
        Ok(Outcome { findings, note, ..Outcome::default() })
    }

    fn layer(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        name: &str,
    ) -> Result<Outcome, LeaderError> {
        let all = contract.stories.iter().flat_map(Story::commands);
        let found = { all }.find(|(other, _)| other == name).map(|(_, spec)| spec.clone());
        let Some(spec) = found else {
            return Err(LeaderError::File(format!("the contract has no command {name}")));
        };
        let seen = self.seen(contract, gate, &spec)?;
        Ok(judged(name, &spec, seen))
    }

    /// The files that differ between two commits, as they are in each.
    fn pair(&self, old: &str, new: &str) -> Result<assay_guard::repository::Pair, LeaderError> {
        let (base, head) = (Some(old.to_string()), Some(new.to_string()));
        let request = assay_guard::repository::Request { base, head, paths: Vec::new() };
        let config = assay_guard::Config::default();
        Ok(assay_guard::repository::read(self.desk.git.root(), &request, &config)?)
    }

    /// What a verdict cites, run again: whatever the gate saw before, this is seen after it.
    fn citations(&mut self, contract: &Contract, gate: &Gate) -> Result<Outcome, LeaderError> {
        let mut outcome = Outcome::default();
        let Some((_, verdict)) = &gate.pending else {
            return Ok(outcome);
        };
        let Said::Met(cited) = said(verdict) else {
            outcome.refuted = Some("it does not say that everything is met".to_string());
            return Ok(outcome);
        };
        let commands: BTreeSet<&Vec<String>> = cited.iter().map(|cited| &cited.command).collect();
        if commands.len() > CITED_MAX {
            let text =
                format!("it cites {} commands, and at most {CITED_MAX} can be", commands.len());
            outcome.refuted = Some(text);
            return Ok(outcome);
        }
        outcome.note = format!("{} cited commands run again", commands.len());
        let mut ran: BTreeMap<&Vec<String>, Evidence> = BTreeMap::new();
        for citation in &cited {
            if let Err(why) = citations::allowed(contract, &citation.command) {
                outcome.refuted = Some(format!("IL-1: {why}"));
                return Ok(outcome);
            }
            let spec = citations::known(contract, &citation.command)
                .cloned()
                .unwrap_or_else(|| plain(citation.command.clone()));
            if !ran.contains_key(&citation.command) {
                let seen = self.fresh(contract, gate, &spec)?;
                outcome.evidence.push(seen.evidence.clone());
                ran.insert(&citation.command, seen.evidence);
            }
            let Some(why) = citations::refuted(citation, &ran[&citation.command]) else {
                continue;
            };
            // Somebody is wrong: the verdict, or the command, which does not always do the same.
            let again = self.fresh(contract, gate, &spec)?;
            outcome.evidence.push(again.evidence.clone());
            if citations::refuted(citation, &again.evidence).is_none() {
                let text = format!("`{}` does not always end the same", citation.command.join(" "));
                outcome.findings.push(Finding::new("flaky", Severity::Major, text));
            } else {
                outcome.refuted = Some(why);
                return Ok(outcome);
            }
        }
        Ok(outcome)
    }

    /// What differs between two commits; several checks want to know.
    fn diff(&mut self, old: &str, new: &str) -> Result<String, LeaderError> {
        let key = (old.to_string(), new.to_string());
        if let Some(text) = self.cache.diffs.get(&key) {
            return Ok(text.clone());
        }
        let text = self.desk.git.diff(old, new)?;
        self.cache.diffs.insert(key, text.clone());
        Ok(text)
    }

    fn named(&self, story: &Story) -> Vec<MappedTest> {
        let Some(state) = self.campaign.state() else {
            return Vec::new();
        };
        let index = state.contract.stories.iter().position(|other| other.id == story.id);
        index.map(|index| state.stories[index].tests.clone()).unwrap_or_default()
    }

    /// A command on the claimed tree, run once for each claim.
    fn seen(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
    ) -> Result<Seen, LeaderError> {
        let key = (spec.run.clone(), spec.results, spec.file.clone());
        if let Some(seen) = self.cache.ran.get(&key) {
            return Ok(seen.clone());
        }
        let seen = self.fresh(contract, gate, spec)?;
        self.cache.ran.insert(key, seen.clone());
        Ok(seen)
    }

    /// A command on the claimed tree, run now.
    fn fresh(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
    ) -> Result<Seen, LeaderError> {
        let directory = self.claimed(contract, gate)?;
        let seen = self.execute(contract, spec, &directory, &gate.at.tree)?;
        let (git, tree) = (&self.desk.git, &gate.at.tree);
        let is_still = match &gate.scope {
            // A command that changes tracked files must not change what the next one sees.
            Scope::Story(_) => {
                let scratch = self.desk.tree("index");
                git.tree_of(&directory, tree, &scratch).is_ok_and(|after| after == *tree)
            }
            // At the end nothing that one command leaves is there for the next, also no cache and
            // nothing in the repository of the tree: tests could leave there what makes the
            // program work.
            Scope::Final => false,
        };
        if !is_still {
            self.cache.tree = None;
        }
        Ok(seen)
    }

    /// The tree for checks, holding the claim and nothing else.
    fn claimed(&mut self, contract: &Contract, gate: &Gate) -> Result<PathBuf, LeaderError> {
        let directory = self.desk.tree("check");
        if self.cache.tree.as_ref() != Some(&gate.at.commit) {
            let keep = self.keep(contract);
            trees::prepare(&self.desk.git, &directory, &gate.at.commit, keep)?;
            self.cache.tree = Some(gate.at.commit.clone());
        }
        Ok(directory)
    }

    /// What the next tree for checks takes over of the last one.
    fn keep<'c>(&mut self, contract: &'c Contract) -> Keep<'c> {
        let is_usable = std::mem::replace(&mut self.cache.usable, true);
        match is_usable && !self.is_end() {
            true => Keep::Named(&contract.settings.cache),
            false => Keep::Named(&[]),
        }
    }

    fn execute(
        &mut self,
        contract: &Contract,
        spec: &CommandSpec,
        directory: &Path,
        tree: &str,
    ) -> Result<Seen, LeaderError> {
        let is_clear = spec.file.as_ref().is_none_or(|file| written::remove(directory, file));
        let ran = self.in_its_place(contract, spec, directory)?;
        self.cache.ms = self.cache.ms.saturating_add(ran.ms);
        // What could not be removed before is no result of this command.
        let file = spec.file.as_ref().filter(|_| is_clear);
        let written = file.and_then(|file| written::read(directory, file));
        let stdout = self.campaign.put(&ran.stdout)?.sha256.to_string();
        let stderr = self.campaign.put(&ran.stderr)?.sha256.to_string();
        let blob = match &written {
            Some(bytes) => Some(self.campaign.put(bytes)?.sha256.to_string()),
            None => None,
        };
        let parsed = spec.results.map(|format| {
            let text = results_text(spec, &ran.stdout, &ran.stderr, written.as_deref());
            results::read(format, &text)
        });
        let tests: Option<Counts> = parsed.as_ref().map(Results::counts);
        let output = format!(
            "{}\n{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        let evidence = Evidence {
            command: spec.run.clone(),
            tree: tree.to_string(),
            exit: ran.exit,
            ms: ran.ms,
            stdout,
            stderr,
            file: blob,
            tests,
        };
        Ok(Seen { evidence, output, results: parsed.unwrap_or_default() })
    }

    /// Runs a command in a tree, where everybody works, with a home of its own.
    fn in_its_place(
        &mut self,
        contract: &Contract,
        spec: &CommandSpec,
        tree: &Path,
    ) -> Result<Executed, LeaderError> {
        let settings = &contract.settings;
        // At the end it runs where nobody has worked.
        let elsewhere = self.is_end().then(|| self.desk.leave(tree)).transpose()?;
        let log = match &elsewhere {
            Some(place) => place.log.clone(),
            None => self.desk.command_log(),
        };
        trees::remove(&log);
        let home = elsewhere.as_ref().map_or_else(|| log.join("home"), |place| place.home.clone());
        let is_confined = self.engines.confined();
        let wanted = Wanted { settings, desk: self.desk, home, is_end: self.is_end(), is_confined };
        let lookup = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let around = Around::make(&wanted, lookup).map_err(|error| {
            LeaderError::File(format!("a home for commands, {}: {error}", wanted.home.display()))
        })?;
        let work = match &elsewhere {
            Some(place) => place.work.clone(),
            None => self.desk.sit(tree)?,
        };
        if !self.engines.hides() {
            trees::sweep(&work);
        }
        let before = self.watch()?;
        let ran = self.engines.execute(&Execution {
            argv: &spec.run,
            work: &work,
            log: &log,
            environment: &settings.environment,
            variables: &around.variables,
            writable: &around.writable,
            own: &around.own,
            hidden: &around.hidden,
            limit: Duration::from_secs(settings.limits.command_seconds),
            output_bytes: COMMAND_OUTPUT_BYTES_MAX,
        });
        let reach = ran.confined.then(|| reach::places(contract, &[&work, &log]));
        self.watched(&before, &spec.run, reach.as_deref())?;
        trees::remove(&wanted.home);
        match &elsewhere {
            Some(place) => self.desk.return_from(place, tree)?,
            None => self.desk.rise(tree)?,
        }
        Ok(ran)
    }

    /// Whether what COMPLETE rests on is being looked at.
    fn is_end(&self) -> bool {
        self.cache.of.as_ref().is_some_and(|(scope, _)| *scope == Scope::Final)
    }
}

/// The text that results are read from.
pub(super) fn results_text(
    spec: &CommandSpec,
    stdout: &[u8],
    stderr: &[u8],
    file: Option<&[u8]>,
) -> String {
    match (&spec.file, file) {
        (Some(_), file) => String::from_utf8_lossy(file.unwrap_or_default()).into_owned(),
        // `unittest` reports on standard error, most others do not: both are read.
        (None, _) => {
            format!("{}\n{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
        }
    }
}

/// Whether a command did what the contract expects.
pub(super) fn expected(spec: &CommandSpec, evidence: &Evidence, output: &str) -> Option<String> {
    let name = spec.run.join(" ");
    if evidence.exit != Some(spec.exit) {
        let got = evidence.exit.map_or("none".to_string(), |code| code.to_string());
        return Some(format!("`{name}` has exit code {got}, expected is {}", spec.exit));
    }
    if let Some(text) = spec.prints.as_deref().filter(|text| !output.contains(*text)) {
        return Some(format!("`{name}` does not print `{text}`"));
    }
    let counts = evidence.tests?;
    if counts.failed > 0 && spec.exit == 0 {
        return Some(format!("`{name}`: {} tests fail", counts.failed));
    }
    None
}

fn judged(about: &str, spec: &CommandSpec, seen: Seen) -> Outcome {
    let mut findings = Vec::new();
    if let Some(text) = expected(spec, &seen.evidence, &seen.output) {
        let mut finding = Finding::new(about, Severity::Critical, text);
        let tail: Vec<&str> = seen.output.trim().lines().rev().take(12).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        finding.hint = Some(clipped(&tail.join("\n")));
        findings.push(finding);
    }
    let tests = seen.evidence.tests;
    let tests = tests.map_or(String::new(), |c| {
        format!(", {} passed, {} failed, {} skipped", c.passed, c.failed, c.skipped)
    });
    let exit = seen.evidence.exit.map_or("none".to_string(), |code| code.to_string());
    let note = format!("`{}` exit {exit}{tests}", spec.run.join(" "));
    Outcome { findings, refuted: None, evidence: vec![seen.evidence], note }
}

fn clipped(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || *c == '\n').take(1500).collect()
}

fn story_of<'c>(contract: &'c Contract, scope: &Scope) -> Option<&'c Story> {
    match scope {
        Scope::Story(id) => contract.story(id),
        Scope::Final => None,
    }
}

/// A command of which only the exit code and the output matter.
fn plain(run: Vec<String>) -> CommandSpec {
    CommandSpec { run, exit: 0, prints: None, results: None, file: None, list: None }
}

fn with_results(story: &Story) -> Vec<&CommandSpec> {
    let all = story.commands().into_iter().map(|(_, spec)| spec);
    all.filter(|spec| spec.results.is_some()).collect()
}

fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
