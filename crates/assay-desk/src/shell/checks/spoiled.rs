//! Proofs by what is broken on purpose: tests that are made to fail must be heard (sabotage), and
//! tests that could not begin without the work must notice when all that the work adds fails
//! (a hollow claim).

use super::proofs::in_the_way;
use super::{Leader, LeaderError, Outcome, written};
use crate::contract::{CommandSpec, Contract, Story};
use crate::event::{Scope, Step};
use crate::gate::beside::Beside;
use crate::gate::onward::keep_going;
use crate::gate::sabotage::{self, Mapped};
use crate::gate::{Finding, diff, glob};
use crate::results::{Results, Status};
use crate::shell::dispatch;
use crate::shell::trees::{self, Over};
use crate::state::Gate;
use assay_guard::beside;
use assay_guard::spoil::{self, Way, Which};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Test files that are looked into.
const TEST_FILES_MAX: usize = 5_000;
/// Files that are looked at by themselves, because a run of all of them had no end.
const ALONE_MAX: usize = 50;

impl Leader<'_> {
    /// The mapped tests, each made to fail as soon as it begins: whoever says that one passes says
    /// so of all of them.
    pub(super) fn sabotage(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let stories = self.unheard(contract, gate)?;
        let mut tests: Vec<Mapped> = Vec::new();
        for story in &stories {
            tests.extend(sabotage::mapped(story, &self.named(story), &contract.settings));
        }
        let mut outcome = Outcome::default();
        if tests.is_empty() {
            outcome.note = "the same tests were seen to fail at the same tree".to_string();
            return Ok(outcome);
        }
        let names: BTreeSet<String> = tests.iter().map(|test| test.name.clone()).collect();
        let directory = self.claimed(contract, gate)?;
        let paths = self.test_paths(contract, &[&gate.at.commit])?;
        let files = spoiled_tests(&directory, &paths, &names, &way()?);
        let specs = commands(&stories);
        let at = (gate.at.commit.as_str(), gate.at.tree.as_str());
        let all = match self.spoilt_run(contract, at, None, &specs, &files, &mut outcome)? {
            Ok(all) => all,
            Err(finding) => {
                outcome.findings.push(*finding);
                return Ok(outcome);
            }
        };
        let found: BTreeSet<String> =
            files.iter().flat_map(|(_, spoiled)| spoiled.tests.clone()).collect();
        outcome.findings.extend(sabotage::heard(&tests, &found, &all));
        let (heard, of) = (found.len(), names.len());
        outcome.note = format!("{heard} of {of} mapped tests were made to fail, and did");
        if heard < of {
            outcome.note.push_str("; the others stand in no test file that can be read");
        }
        Ok(outcome)
    }

    /// Runs commands on a tree with files in which tests fail. What has no result then may be of a
    /// run that ended before it: its file is looked at again by itself. Or what is in the way.
    pub(super) fn spoilt_run(
        &mut self,
        contract: &Contract,
        (commit, expected): (&str, &str),
        over: Option<Over<'_>>,
        specs: &[&CommandSpec],
        files: &[(String, spoil::Spoiled)],
        outcome: &mut Outcome,
    ) -> Result<Result<Results, Box<Finding>>, LeaderError> {
        let mut all = Results::default();
        if files.is_empty() {
            return Ok(Ok(all));
        }
        let mut alone: BTreeMap<String, Status> = BTreeMap::new();
        let each = files.iter().map(std::slice::from_ref).take(ALONE_MAX);
        for (round, some) in std::iter::once(files).chain(each).enumerate() {
            let own: BTreeSet<&String> = some.iter().flat_map(|(_, one)| &one.tests).collect();
            let is_silent = |name: &&&String| sabotage::status(&all, name).is_none();
            if round > 0 && (files.len() == 1 || !own.iter().any(|name| is_silent(&name))) {
                continue;
            }
            let directory = match self.tree_over(contract, commit, over)? {
                Ok(directory) => directory,
                Err(why) => return Ok(Err(Box::new(in_the_way("a test file", &why)))),
            };
            for (path, spoiled) in some {
                if let Err(why) = written::put(&directory, path, &spoiled.text) {
                    return Ok(Err(Box::new(in_the_way(path, &why))));
                }
            }
            let ran = self.broken_on_purpose(contract, expected, specs, &directory, outcome)?;
            if round == 0 {
                all = ran;
                continue;
            }
            for name in own.iter().filter(is_silent) {
                // A function of the same name in another file may be the one that is meant.
                if let Some(status) = sabotage::status(&ran, name) {
                    let known = alone.entry(name.to_string()).or_insert(status);
                    *known = status.max(*known);
                }
            }
        }
        alone.into_iter().for_each(|(name, status)| all.add(name, status));
        Ok(Ok(all))
    }

    /// The tree for checks with a commit, and files of other ones in it; or what is in their way.
    pub(super) fn tree_over(
        &mut self,
        contract: &Contract,
        commit: &str,
        over: Option<Over<'_>>,
    ) -> Result<Result<PathBuf, String>, LeaderError> {
        let directory = self.desk.tree("check");
        let is_there = self.cache.tree.take().as_deref() == Some(commit);
        if is_there && over.is_none() {
            return Ok(Ok(directory));
        }
        let keep = self.keep(contract);
        let git = &self.desk.git;
        match over {
            None => trees::prepare(git, &directory, commit, keep)?,
            Some(over) => {
                if let Err(why) = trees::prepare_over(git, &directory, commit, over, keep)? {
                    return Ok(Err(why.to_string()));
                }
            }
        }
        Ok(Ok(directory))
    }

    /// Files of these commits in which tests can stand.
    pub(super) fn test_paths(
        &self,
        contract: &Contract,
        commits: &[&str],
    ) -> Result<Vec<String>, LeaderError> {
        let patterns = &contract.settings.tests;
        let mut all = BTreeSet::new();
        for commit in commits {
            all.extend(self.desk.git.files(commit)?);
        }
        // Rust has tests beside its code.
        let is_one = |path: &String| {
            let is_test = glob::any(patterns, path) || path.ends_with(".rs");
            is_test && spoil::is_known(path)
        };
        Ok(all.into_iter().filter(is_one).take(TEST_FILES_MAX).collect())
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

    /// Runs commands on a tree that the Leader changed, so that they go on after a failure.
    fn broken_on_purpose(
        &mut self,
        contract: &Contract,
        expected: &str,
        specs: &[&CommandSpec],
        directory: &Path,
        outcome: &mut Outcome,
    ) -> Result<Results, LeaderError> {
        let scratch = self.desk.tree("index");
        let tree = self.desk.git.tree_of(directory, expected, &scratch)?;
        let mut all = Results::default();
        for spec in specs {
            let seen = self.execute(contract, &keep_going(spec), directory, &tree)?;
            all.extend(seen.results);
            outcome.evidence.push(seen.evidence);
        }
        if self.is_end() {
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
        let way = way()?;
        for which in [Which::All, Which::NotAtBuild] {
            let hollow = self.hollow_sources(contract, gate, &way, which)?;
            if hollow.functions.is_empty() {
                continue;
            }
            let over = Over { commit: &gate.red.commit, paths: &hollow.data };
            let directory = match self.tree_over(contract, &gate.at.commit, Some(over))? {
                Ok(directory) => directory,
                Err(_) => return Ok(None),
            };
            for (path, text) in &hollow.functions {
                if let Err(why) = written::put(&directory, path, text) {
                    outcome.findings.push(in_the_way(path, &why));
                    return Ok(None);
                }
            }
            let (specs, tree) = (commands(&[story]), &gate.at.tree);
            let ran = self.broken_on_purpose(contract, tree, &specs, &directory, outcome)?;
            // A function that is asked for while the program is built lets nothing be built.
            if ran.executed() > 0 || which == Which::NotAtBuild || !hollow.at_build {
                return Ok(Some(ran));
            }
        }
        Ok(None)
    }

    /// Whether the work is in languages in which functions can be made to fail.
    pub(super) fn is_of_known_languages(
        &self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<bool, LeaderError> {
        let changed = self.desk.git.changed(&gate.red.commit, &gate.at.commit)?;
        let tests = &contract.settings.tests;
        let is_source = |path: &String| !glob::any(tests, path) && spoil::is_known(path);
        Ok(changed.iter().any(|(path, _)| is_source(path)))
    }

    fn hollow_sources(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        way: &Way,
        which: Which,
    ) -> Result<Hollow, LeaderError> {
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
            let spoilt =
                |which: Which| spoil::functions(path, text.as_deref()?, &is_changed, way, which);
            let text = spoilt(which);
            hollow.at_build |= which == Which::All && text != spoilt(Which::NotAtBuild);
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
    /// One of the functions can be called while the program is built.
    at_build: bool,
}

/// How tests fail this time: nobody can know before.
pub(super) fn way() -> Result<Way, LeaderError> {
    let nonce = dispatch::nonce();
    let nonce = nonce.map_err(|error| LeaderError::File(format!("/dev/urandom: {error}")))?;
    Ok(Way::of(&nonce))
}

/// What shows tests of these stories, each command once.
fn commands<'c>(stories: &[&'c Story]) -> Vec<&'c CommandSpec> {
    let mut specs: Vec<&CommandSpec> = Vec::new();
    for spec in stories.iter().flat_map(|story| super::with_results(story)) {
        if !specs.contains(&spec) {
            specs.push(spec);
        }
    }
    specs
}

/// The files in which one of these tests stands, with all of them made to fail.
pub(super) fn spoiled_tests(
    directory: &Path,
    paths: &[String],
    names: &BTreeSet<String>,
    way: &Way,
) -> Vec<(String, spoil::Spoiled)> {
    let mut found = Vec::new();
    for path in paths {
        let Some(text) = read(directory, path) else { continue };
        found.extend(spoil::tests(path, &text, names, way).map(|spoiled| (path.clone(), spoiled)));
    }
    found
}

/// A file of a tree as text, if it is one.
fn read(directory: &Path, path: &str) -> Option<String> {
    let path = directory.join(path);
    let meta = std::fs::symlink_metadata(&path).ok()?;
    (meta.is_file() && meta.len() <= spoil::BYTES_MAX as u64).then_some(())?;
    String::from_utf8(std::fs::read(&path).ok()?).ok()
}
