//! The tests from before the campaign, on the work: the mirror of RED.
//!
//! The claim's own tests say whether the work does what is new. What was there before is said by
//! the tests of before, as they were: in the tree of the claim all test files, and those that say
//! how runners run them, are those from where the campaign began, and no others are there. And
//! whether anybody hears of it if they fail is said by making them fail.

use super::proofs::in_the_way;
use super::spoiled::{spoiled_tests, way};
use super::{Leader, LeaderError, Outcome, Seen};
use crate::contract::{CommandSpec, Contract, Story};
use crate::gate::{glob, hooks, kept, tests};
use crate::shell::trees::{self, Over};
use crate::state::Gate;
use assay_guard::beside;
use std::collections::BTreeSet;

impl Leader<'_> {
    pub(super) fn kept(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let changed = self.desk.git.changed(&gate.from.commit, &gate.at.commit)?;
        let settings = &contract.settings;
        let is_old = |path: &String| {
            let is_test = glob::any(&settings.tests, path) || beside::is_test_file(path);
            let is_runner = hooks::is_setting(path) && !glob::any(&settings.runners, path);
            (is_test || is_runner) && !glob::any(&settings.outdated, path)
        };
        let paths: Vec<String> = changed.into_iter().map(|(path, _)| path).filter(is_old).collect();
        let mut outcome = Outcome::default();
        let (mut shown, mut heard) = (0, 0);
        for spec in runners(contract) {
            // What is built is built from nothing, each time of something else.
            self.cache.usable = false;
            let before = self.before(contract, gate, spec)?;
            self.cache.usable = false;
            let now = match self.with_old_tests(contract, gate, spec, &paths)? {
                Ok(now) => now,
                Err(why) => {
                    outcome.findings.push(in_the_way("a test from before", &why));
                    break;
                }
            };
            self.cache.usable = false;
            outcome.findings.extend(kept::check(&before.results, &now.results, &contract.settings));
            shown += before.results.counts().passed;
            outcome.evidence.extend([before.evidence, now.evidence]);
            let still = kept::still(&before.results, &now.results);
            heard += self.old_tests_fail(contract, gate, spec, (&paths, &still), &mut outcome)?;
            self.cache.usable = false;
        }
        outcome.note = format!(
            "{shown} tests passed before the work, and still do; {heard} of them were made to \
             fail, and did"
        );
        Ok(outcome)
    }

    /// The tests that passed before, made to fail on the work: what calls them successes may be
    /// the work itself, and not only a test file. How many could be made to fail.
    fn old_tests_fail(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
        (paths, names): (&[String], &BTreeSet<String>),
        outcome: &mut Outcome,
    ) -> Result<usize, LeaderError> {
        let over = Over { commit: &gate.from.commit, paths };
        let directory = match self.tree_over(contract, &gate.at.commit, Some(over))? {
            Ok(directory) => directory,
            Err(_) => return Ok(0),
        };
        let files = self.test_paths(contract, &[&gate.from.commit, &gate.at.commit])?;
        let files = spoiled_tests(&directory, &files, names, &way()?);
        let at = (gate.at.commit.as_str(), gate.at.tree.as_str());
        self.cache.usable = false;
        match self.spoilt_run(contract, at, Some(over), &[spec], &files, outcome)? {
            Ok(results) => {
                let found: BTreeSet<String> =
                    files.into_iter().flat_map(|(_, spoiled)| spoiled.tests).collect();
                outcome.findings.extend(kept::heard(&found, &results));
                Ok(found.len())
            }
            Err(finding) => {
                outcome.findings.push(*finding);
                Ok(0)
            }
        }
    }

    /// A command where the campaign began.
    fn before(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
    ) -> Result<Seen, LeaderError> {
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        let keep = self.keep(contract);
        trees::prepare(&self.desk.git, &directory, &gate.from.commit, keep)?;
        self.execute(contract, spec, &directory, &gate.from.tree)
    }

    /// A command on the claim with the test files from before; or what is in their way.
    fn with_old_tests(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
        paths: &[String],
    ) -> Result<Result<Seen, String>, LeaderError> {
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        let keep = self.keep(contract);
        let git = &self.desk.git;
        let over = Over { commit: &gate.from.commit, paths };
        let tree = match trees::prepare_over(git, &directory, &gate.at.commit, over, keep)? {
            Ok(tree) => tree,
            Err(why) => return Ok(Err(why.to_string())),
        };
        let expected = tree.as_ref().unwrap_or(&gate.at.tree);
        let tree = git.tree_of(&directory, expected, &self.desk.tree("index"))?;
        self.execute(contract, spec, &directory, &tree).map(Ok)
    }
}

/// The suite, and commands with runners of their own, each once.
fn runners(contract: &Contract) -> Vec<&CommandSpec> {
    let mut all = vec![&contract.settings.suite];
    for (_, spec) in contract.stories.iter().flat_map(Story::commands) {
        if tests::has_own_runner(contract, spec.results) && !all.contains(&spec) {
            all.push(spec);
        }
    }
    all
}
