//! What tests show: that they are there and pass (GREEN), that they fail without the work (RED),
//! and that they need each part of it (mutation).

use super::{
    Leader, LeaderError, Outcome, expected, judged, plain, story_of, with_results, written,
};
use crate::contract::{CommandSpec, Contract, Story};
use crate::event::{Revision, Scope, Step};
use crate::gate::beside::Beside;
use crate::gate::listing::{self, Listed};
use crate::gate::onward::keep_going;
use crate::gate::{Finding, Severity, diff, glob, hunks, mutants, sabotage, symbols, tests};
use crate::results::Results;
use crate::shell::trees::Over;
use crate::shell::{dispatch, trees};
use crate::state::{Gate, all_existing, is_critical};
use assay_guard::{beside, tree};
use std::collections::BTreeSet;
use std::path::Path;

/// Test files that are read when a runner has no listing: so many, and of each so much.
const TEST_FILES_MAX: usize = 5_000;
const TEST_FILE_BYTES_MAX: u64 = 1 << 20;
/// Files that are no sources: what they mention need not be there.
const DOCUMENTS: [&str; 3] = ["**/*.md", "**/*.rst", "**/*.txt"];

impl Leader<'_> {
    pub(super) fn tests(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        story: &str,
    ) -> Result<Outcome, LeaderError> {
        let Some(story) = contract.story(story) else {
            return Err(LeaderError::File(format!("the contract has no story {story}")));
        };
        let named = self.named(story);
        let mut all = Results::default();
        let mut outcome = Outcome::default();
        let mut listings = Vec::new();
        for spec in with_results(story) {
            let seen = self.seen(contract, gate, spec)?;
            all.extend(seen.results);
            outcome.evidence.push(seen.evidence);
            listings.extend(self.listing(contract, gate, spec, &mut outcome)?);
        }
        outcome.findings.extend(tests::green(story, &named, &all, &contract.settings.skips));
        outcome.findings.extend(tests::listed(story, &named, &listings));
        let mapped = tests::mapping(story, &named).len();
        outcome.note = format!("{mapped} mapped tests are there and pass, {} ran", all.executed());
        Ok(outcome)
    }

    /// Which tests a command has: asked of its runner, or looked up in the test files.
    fn listing(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
        outcome: &mut Outcome,
    ) -> Result<Option<Listed>, LeaderError> {
        let mark = dispatch::nonce()
            .map_err(|error| LeaderError::File(format!("/dev/urandom: {error}")))?;
        let Some(run) = listing::command(spec, &mark) else {
            return self.test_files(contract, gate, spec).map(Some);
        };
        let name = spec.run.join(" ");
        let seen = self.seen(contract, gate, &plain(run))?;
        let exit = seen.evidence.exit;
        outcome.evidence.push(seen.evidence);
        if exit != Some(0) {
            let exit = exit.map_or("none".to_string(), |code| code.to_string());
            let text = format!("the tests of `{name}` cannot be listed: exit code {exit} (IL-5)");
            outcome.findings.push(Finding::new("listing", Severity::Critical, text));
            return Ok(None);
        }
        Ok(Some(listing::read(spec, &mark, &seen.output)))
    }

    /// What the test files of the claim say.
    fn test_files(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
    ) -> Result<Listed, LeaderError> {
        let directory = self.claimed(contract, gate)?;
        let patterns = &contract.settings.tests;
        let files = self.desk.git.files(&gate.at.commit)?;
        let own = files.iter().filter(|path| glob::any(patterns, path)).take(TEST_FILES_MAX);
        let mut texts = Vec::new();
        for path in own {
            let path = directory.join(path);
            let meta = std::fs::symlink_metadata(&path);
            if meta.is_ok_and(|meta| meta.is_file() && meta.len() <= TEST_FILE_BYTES_MAX) {
                let bytes = std::fs::read(&path).unwrap_or_default();
                texts.push(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(listing::sources(spec, texts.iter().map(String::as_str)))
    }

    /// The tests of the claim on the code from before it.
    pub(super) fn red(&mut self, contract: &Contract, gate: &Gate) -> Result<Outcome, LeaderError> {
        let Some(story) = story_of(contract, &gate.scope) else {
            return Ok(Outcome::default());
        };
        let named = self.named(story);
        let added = self.added(contract, gate)?;
        let changed = self.desk.git.changed(&gate.red.commit, &gate.at.commit)?;
        let is_test =
            |path: &String| glob::any(&contract.settings.tests, path) || beside::is_test_file(path);
        let (test_paths, sources): (Vec<String>, Vec<String>) =
            changed.into_iter().map(|(path, _)| path).partition(is_test);
        // The same directory as for GREEN: no test can tell which of the two it is in.
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        let keep = self.keep(contract);
        let git = &self.desk.git;
        let over = Over { commit: &gate.at.commit, paths: &test_paths };
        let mut outcome = Outcome::default();
        let tree = match trees::prepare_over(git, &directory, &gate.red.commit, over, keep)? {
            Ok(tree) => tree,
            Err(why) => {
                outcome.findings.push(in_the_way("the tests", &why));
                return Ok(outcome);
            }
        };
        if let Some(finding) = self.overlay_beside(gate, &sources, &directory)? {
            outcome.findings.push(finding);
            return Ok(outcome);
        }
        let git = &self.desk.git;
        let scratch = self.desk.tree("index");
        let expected = tree.as_ref().unwrap_or(&gate.red.tree);
        let tree = git.tree_of(&directory, expected, &scratch)?;
        let (mut all, mut output) = (Results::default(), String::new());
        for spec in with_results(story) {
            let seen = self.execute(contract, &keep_going(spec), &directory, &tree)?;
            all.extend(seen.results);
            output.push_str(&seen.output);
            outcome.evidence.push(seen.evidence);
        }
        let missing = self.missing(contract, gate, &symbols::said(&output, &added))?;
        outcome.findings = tests::red(story, &named, &all, &output, &missing);
        outcome.note = format!("{} tests fail without the work", all.counts().failed);
        if all_existing(story) || outcome.findings.iter().any(Finding::blocks) {
            return Ok(outcome);
        }
        // That they need a name, or a file, alone shows nothing of what they ask for.
        match self.hollow(contract, gate, story, &mut outcome)? {
            Some(hollow) => {
                let mapping = tests::mapping(story, &named);
                outcome.findings.extend(sabotage::hollow(story, &mapping, &all, &hollow));
                outcome.note.push_str(", and those of each criterion notice if the work is hollow");
            }
            None => {
                outcome.note.push_str("; nothing of the work can be made to fail");
                if self.is_of_known_languages(contract, gate)? {
                    let mapping = tests::mapping(story, &named);
                    outcome.findings.extend(sabotage::unproved(story, &mapping, &all));
                }
            }
        }
        Ok(outcome)
    }

    /// RED of all stories with the tests as they are at the end: a later story may have changed
    /// those of an earlier one. What was shown with these very tests is not shown again.
    pub(super) fn red_again(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let mut whole = Outcome::default();
        let mut again = 0;
        for (index, story) in contract.stories.iter().enumerate() {
            let scope = Scope::Story(story.id.clone());
            let state = self.campaign.state().ok_or(LeaderError::NotBegun)?;
            let shown = state.facts.passed_at(&scope, vec![Step::Red]);
            let shown = shown.cloned();
            if all_existing(story) || self.has_the_same_tests(contract, gate, shown.as_ref())? {
                continue;
            }
            let state = self.campaign.state().ok_or(LeaderError::NotBegun)?;
            let red = state.stories[index].red.clone().unwrap_or_else(|| gate.from.clone());
            let one = self.red(contract, &Gate { scope, red, ..gate.clone() })?;
            whole.findings.extend(one.findings);
            whole.evidence.extend(one.evidence);
            again += 1;
        }
        if again > 0 {
            // What was built of the old code is nothing that the claim may rest on.
            self.cache.usable = false;
        }
        whole.note = format!("{again} stories again, with the tests of the end");
        Ok(whole)
    }

    /// Whether tests are as they were then: the old code with them is the same tree again. Rust
    /// has tests beside its code, so there any change of a source may be one of a test.
    fn has_the_same_tests(
        &self,
        contract: &Contract,
        gate: &Gate,
        then: Option<&Revision>,
    ) -> Result<bool, LeaderError> {
        let Some(then) = then else { return Ok(false) };
        let changed = self.desk.git.changed(&then.commit, &gate.at.commit)?;
        let tests = &contract.settings.tests;
        let is_source = |path: &String| !glob::any(tests, path) && !path.ends_with(".rs");
        Ok(changed.iter().all(|(path, _)| is_source(path) && !beside::is_test_file(path)))
    }

    /// Tests that stand beside the code, which is that from before.
    fn overlay_beside(
        &self,
        gate: &Gate,
        sources: &[String],
        directory: &Path,
    ) -> Result<Option<Finding>, LeaderError> {
        if !sources.iter().any(|path| path.ends_with(".rs")) {
            return Ok(None);
        }
        let pair = self.pair(&gate.red.commit, &gate.at.commit)?;
        for path in sources.iter().filter(|path| path.ends_with(".rs")) {
            let (old, new) = (tree::text(&pair.before, path), tree::text(&pair.after, path));
            let Some(new) = new.filter(|_| old.is_some() || !is_program(path)) else {
                continue;
            };
            if let Some(text) = beside::graft(old.unwrap_or(""), new)
                && let Err(why) = written::put(directory, path, &text)
            {
                return Ok(Some(in_the_way(path, &why)));
            }
        }
        Ok(None)
    }

    /// Names that the claim adds to the sources, and those of files that it adds.
    fn added(&mut self, contract: &Contract, gate: &Gate) -> Result<BTreeSet<String>, LeaderError> {
        let text = self.diff(&gate.red.commit, &gate.at.commit)?;
        let files = diff::parse(&text);
        let tests = &contract.settings.tests;
        let pair = self.pair(&gate.red.commit, &gate.at.commit)?;
        let beside = Beside::of(&pair.before, &pair.after, tests);
        let sources = files.iter().filter(|f| !glob::any(tests, &f.path));
        let lines = sources.clone().flat_map(|f| {
            let own = f.added().filter(|(at, _)| beside.after(&f.path, *at) != Some(true));
            own.map(|(_, line)| line)
        });
        let mut words = symbols::words(lines);
        words.extend(sources.filter(|f| f.added).filter_map(|f| stem(&f.path)));
        Ok(words)
    }

    /// Those of these words that the old sources do not have.
    fn missing(
        &self,
        contract: &Contract,
        gate: &Gate,
        words: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, LeaderError> {
        let documents = DOCUMENTS.map(str::to_string);
        let aside = [contract.settings.tests.as_slice(), documents.as_slice()].concat();
        let mut missing = BTreeSet::new();
        for word in words {
            if !self.desk.git.mentions(&gate.red.commit, word, &aside)? {
                missing.insert(word.clone());
            }
        }
        Ok(missing)
    }

    pub(super) fn mutation(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let Some(story) = story_of(contract, &gate.scope) else {
            return Ok(Outcome::default());
        };
        if let Some(tool) = mutants::Tool::of(&contract.settings) {
            return self.mutants(contract, gate, story, &tool);
        }
        let text = self.diff(&gate.red.commit, &gate.at.commit)?;
        let pair = self.pair(&gate.red.commit, &gate.at.commit)?;
        let tests = &contract.settings.tests;
        let beside = Beside::of(&pair.before, &pair.after, tests);
        let mut files = diff::parse(&text);
        // At the end there is also what other stories changed.
        let own = [&story.paths, &contract.settings.shared];
        files.retain(|file| own.iter().any(|globs| glob::any(globs, &file.path)));
        let changes = hunks::changes(&files, tests, &beside);
        if changes.len() > hunks::HUNKS_MAX {
            let text = format!("{} changes: name a mutation tool, or split", changes.len());
            let finding = Finding::new(format!("{}/mutation", story.id), Severity::Major, text);
            return Ok(Outcome { findings: vec![finding], ..Outcome::default() });
        }
        let mut outcome = Outcome::default();
        let mut taken = hunks::TakenBack::default();
        for change in &changes {
            match self.without(contract, gate, story, change, &mut outcome)? {
                Some(true) => taken.noticed += 1,
                Some(false) => taken.unnoticed.push(change.place.clone()),
                None => taken.stuck.push(change.place.clone()),
            }
        }
        let tried = taken.noticed + taken.unnoticed.len();
        outcome.note = format!("{tried} of {} changes taken back, one at a time", changes.len());
        outcome.findings = hunks::judged(&story.id, &taken);
        Ok(outcome)
    }

    /// Mutation evidence of CRITICAL stories for the tree of the end: a later story may have
    /// changed their sources or their tests. What was shown of these very files is not shown again.
    pub(super) fn mutation_again(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let mut whole = Outcome::default();
        let mut again = 0;
        for (index, story) in contract.stories.iter().enumerate() {
            let scope = Scope::Story(story.id.clone());
            let state = self.campaign.state().ok_or(LeaderError::NotBegun)?;
            let shown = state.facts.passed_at(&scope, vec![Step::Mutation]).cloned();
            let red = state.stories[index].red.clone().unwrap_or_else(|| gate.from.clone());
            if !is_critical(story) || self.has_the_same_files(contract, story, gate, shown)? {
                continue;
            }
            let one = self.mutation(contract, &Gate { scope, red, ..gate.clone() })?;
            whole.findings.extend(one.findings);
            whole.evidence.extend(one.evidence);
            again += 1;
            // What was built of other code is nothing that the claim may rest on.
            self.cache.usable = false;
        }
        whole.note = format!("{again} stories again, with the sources and tests of the end");
        Ok(whole)
    }

    /// Whether sources and tests of a story are as they were then.
    fn has_the_same_files(
        &self,
        contract: &Contract,
        story: &Story,
        gate: &Gate,
        then: Option<Revision>,
    ) -> Result<bool, LeaderError> {
        let Some(then) = then else { return Ok(false) };
        let changed = self.desk.git.changed(&then.commit, &gate.at.commit)?;
        let settings = &contract.settings;
        let own = [&story.paths, &settings.tests, &settings.shared];
        let is_own = |path: &String| {
            own.iter().any(|globs| glob::any(globs, path)) || beside::is_test_file(path)
        };
        Ok(!changed.iter().any(|(path, _)| is_own(path)))
    }

    /// What a mutation tool of the contract found, by what it wrote.
    fn mutants(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        story: &Story,
        tool: &mutants::Tool,
    ) -> Result<Outcome, LeaderError> {
        let seen = self.seen(contract, gate, &tool.command)?;
        let file = seen.evidence.file.as_ref().map(|name| self.campaign.blob(name)).transpose()?;
        let about = format!("{}/mutation", story.id);
        let ended = tool.ended(seen.evidence.exit);
        let mut outcome = judged(&about, &ended, seen);
        match tool.judged(file.as_deref()) {
            Ok(found) => outcome.note = format!("{}, {found}", outcome.note),
            Err(why) => outcome.findings.push(Finding::new(about, Severity::Critical, why)),
        }
        Ok(outcome)
    }

    /// Whether a command of a story notices that a change is not there; none if the change cannot
    /// be taken back.
    fn without(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        story: &Story,
        change: &hunks::Change,
        outcome: &mut Outcome,
    ) -> Result<Option<bool>, LeaderError> {
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        let keep = self.keep(contract);
        trees::prepare(&self.desk.git, &directory, &gate.at.commit, keep)?;
        let patch = self.desk.tree("hunk.patch");
        std::fs::write(&patch, &change.patch)
            .map_err(|e| LeaderError::File(format!("{}: {e}", patch.display())))?;
        if trees::take_back(&directory, &patch).is_err() {
            return Ok(None);
        }
        let scratch = self.desk.tree("index");
        let tree = self.desk.git.tree_of(&directory, &gate.at.tree, &scratch)?;
        if tree == gate.at.tree {
            return Ok(None);
        }
        for (_, spec) in story.commands() {
            let seen = self.execute(contract, spec, &directory, &tree)?;
            let noticed = expected(spec, &seen.evidence, &seen.output).is_some();
            outcome.evidence.push(seen.evidence);
            if noticed {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }
}

/// What a claim has where something else was: neither can be put beside the other.
pub(super) fn in_the_way(what: &str, why: &dyn std::fmt::Display) -> Finding {
    let text = format!("{what}: it stands where something else stood before the work ({why})");
    Finding::new("claim", Severity::Critical, text)
}

/// Whether a Rust file is a program of its own: without its `main` nothing could be built.
fn is_program(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    let around = parts.next().unwrap_or("");
    matches!(name, "main.rs" | "build.rs") || matches!(around, "bin" | "examples" | "benches")
}

fn stem(path: &str) -> Option<String> {
    Path::new(path).file_stem().map(|stem| stem.to_string_lossy().into_owned())
}
