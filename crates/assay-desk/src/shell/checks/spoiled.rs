//! Proofs by what is broken on purpose: tests that are made to fail must be heard (sabotage), and
//! tests that could not begin without the work must notice when all that the work adds fails
//! (a hollow claim).

use super::proofs::in_the_way;
use super::{Leader, LeaderError, Outcome, written};
use crate::contract::{CommandSpec, Contract, MappedTest, Story};
use crate::event::{Scope, Step};
use crate::gate::beside::Beside;
use crate::gate::{diff, glob, sabotage};
use crate::results::Results;
use crate::shell::trees::{self, Over};
use crate::state::Gate;
use assay_guard::{beside, spoil};
use std::collections::BTreeSet;
use std::path::Path;

/// Test files that are looked into, and of each so much.
const TEST_FILES_MAX: usize = 5_000;
const TEST_FILE_BYTES_MAX: u64 = 1 << 20;

impl Leader<'_> {
    /// The mapped tests, each made to fail as soon as it begins: whoever says that one passes says
    /// so of all of them.
    pub(super) fn sabotage(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let stories = self.unheard(contract, gate)?;
        let mut tests: Vec<MappedTest> = Vec::new();
        for story in &stories {
            tests.extend(crate::gate::tests::mapping(story, &self.named(story)));
        }
        let mut outcome = Outcome::default();
        if tests.is_empty() {
            outcome.note = "the same tests were seen to fail at the same tree".to_string();
            return Ok(outcome);
        }
        let names: BTreeSet<String> = tests.iter().map(|test| test.name.clone()).collect();
        let files = self.spoiled_tests(contract, gate, &names)?;
        let found: BTreeSet<String> =
            files.iter().flat_map(|(_, spoiled)| spoiled.tests.clone()).collect();
        let mut all = Results::default();
        if !files.is_empty() {
            let directory = self.desk.tree("check");
            for (path, spoiled) in &files {
                if let Err(why) = written::put(&directory, path, &spoiled.text) {
                    outcome.findings.push(in_the_way(path, &why));
                    return Ok(outcome);
                }
            }
            self.cache.tree = None;
            all = self.broken_on_purpose(contract, gate, &stories, &directory, &mut outcome)?;
        }
        outcome.findings.extend(sabotage::heard(&tests, &found, &all));
        let (heard, of) = (found.len(), names.len());
        outcome.note = format!("{heard} of {of} mapped tests were made to fail, and did");
        if heard < of {
            outcome.note.push_str("; the others stand in no test file that can be read");
        }
        Ok(outcome)
    }

    /// Stories whose tests were not made to fail at this very tree.
    fn unheard<'c>(
        &self,
        contract: &'c Contract,
        gate: &Gate,
    ) -> Result<Vec<&'c Story>, LeaderError> {
        let state = self.campaign.state().ok_or(LeaderError::NotBegun)?;
        let is_due = |story: &&Story| match &gate.scope {
            Scope::Story(id) => story.id == *id,
            Scope::Final => {
                let scope = Scope::Story(story.id.clone());
                let shown = state.facts.passed_at(&scope, vec![Step::Sabotage]);
                shown.is_none_or(|at| at.tree != gate.at.tree)
            }
        };
        Ok(contract.stories.iter().filter(is_due).collect())
    }

    /// The files in which one of these tests stands, with all of them made to fail.
    fn spoiled_tests(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        names: &BTreeSet<String>,
    ) -> Result<Vec<(String, spoil::Spoiled)>, LeaderError> {
        let directory = self.claimed(contract, gate)?;
        let patterns = &contract.settings.tests;
        // Rust has tests beside its code.
        let is_one = |path: &&String| {
            let is_test = glob::any(patterns, path) || path.ends_with(".rs");
            is_test && spoil::is_known(path)
        };
        let files = self.desk.git.files(&gate.at.commit)?;
        let mut found = Vec::new();
        for path in files.iter().filter(is_one).take(TEST_FILES_MAX) {
            let Some(text) = read(&directory, path) else { continue };
            found.extend(spoil::tests(path, &text, names).map(|spoiled| (path.clone(), spoiled)));
        }
        Ok(found)
    }

    /// Runs what shows tests of these stories on a tree that the Leader changed.
    fn broken_on_purpose(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        stories: &[&Story],
        directory: &Path,
        outcome: &mut Outcome,
    ) -> Result<Results, LeaderError> {
        let scratch = self.desk.tree("index");
        let tree = self.desk.git.tree_of(directory, &gate.at.tree, &scratch)?;
        let mut specs: Vec<&CommandSpec> = Vec::new();
        for spec in stories.iter().flat_map(|story| super::with_results(story)) {
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
        let mut all = Results::default();
        for spec in specs {
            let seen = self.execute(contract, spec, directory, &tree)?;
            all.extend(seen.results);
            outcome.evidence.push(seen.evidence);
        }
        if gate.scope == Scope::Final {
            // What was built of it is nothing that the claim may rest on.
            self.cache.usable = false;
        }
        Ok(all)
    }

    /// RED of tests that could not even begin without the work: it shows that they need a name, and
    /// not that they ask for anything. So they are run on the work with every function failing that
    /// it adds or changes. None if it has no function that can be made to fail.
    pub(super) fn hollow(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        story: &Story,
        outcome: &mut Outcome,
    ) -> Result<Option<Results>, LeaderError> {
        let hollow = self.hollow_sources(contract, gate)?;
        if hollow.functions.is_empty() {
            return Ok(None);
        }
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        let keep = self.keep(contract);
        let git = &self.desk.git;
        let over = Over { commit: &gate.red.commit, paths: &hollow.data };
        if trees::prepare_over(git, &directory, &gate.at.commit, over, keep)?.is_err() {
            return Ok(None);
        }
        for (path, text) in &hollow.functions {
            if let Err(why) = written::put(&directory, path, text) {
                outcome.findings.push(in_the_way(path, &why));
                return Ok(None);
            }
        }
        self.broken_on_purpose(contract, gate, &[story], &directory, outcome).map(Some)
    }

    fn hollow_sources(&mut self, contract: &Contract, gate: &Gate) -> Result<Hollow, LeaderError> {
        let text = self.diff(&gate.red.commit, &gate.at.commit)?;
        let pair = self.pair(&gate.red.commit, &gate.at.commit)?;
        let tests = &contract.settings.tests;
        let beside = Beside::of(&pair.before, &pair.after, tests);
        let directory = self.desk.tree("check");
        let keep = self.keep(contract);
        trees::prepare(&self.desk.git, &directory, &gate.at.commit, keep)?;
        self.cache.tree = Some(gate.at.commit.clone());
        let mut hollow = Hollow::default();
        for file in diff::parse(&text).iter().filter(|file| !file.deleted) {
            let path = &file.path;
            if glob::any(tests, path) || beside::is_test_file(path) || path.ends_with("build.rs") {
                continue;
            }
            let own = |at: &usize| beside.after(path, *at) != Some(true);
            let lines: BTreeSet<usize> = file.added().map(|(at, _)| at).filter(own).collect();
            let is_changed = |line: usize| lines.contains(&line);
            let text = read(&directory, path).filter(|_| spoil::is_known(path));
            let text = text.and_then(|text| spoil::functions(path, &text, &is_changed));
            match text {
                Some(text) => hollow.functions.push((path.clone(), text)),
                None if sabotage::is_data(path) => hollow.data.push(path.clone()),
                None => {}
            }
        }
        Ok(hollow)
    }
}

/// A claim without what it does.
#[derive(Default)]
struct Hollow {
    /// Files with functions that fail.
    functions: Vec<(String, String)>,
    /// Files that are as they were before.
    data: Vec<String>,
}

/// A file of a tree as text, if it is one.
fn read(directory: &Path, path: &str) -> Option<String> {
    let path = directory.join(path);
    let meta = std::fs::symlink_metadata(&path).ok()?;
    (meta.is_file() && meta.len() <= TEST_FILE_BYTES_MAX).then_some(())?;
    String::from_utf8(std::fs::read(&path).ok()?).ok()
}
