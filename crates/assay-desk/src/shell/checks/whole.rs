//! The suite at the end: nothing fails, nothing is skipped that nobody decided, every mapped test
//! is shown, and no test of before is missing.

use super::{Leader, LeaderError, Outcome, judged, plain};
use crate::contract::{CommandSpec, Contract, Story};
use crate::gate::listing::{self, Names};
use crate::gate::{Finding, Severity, tests};
use crate::results::Results;
use crate::shell::trees::Keep;
use crate::shell::{dispatch, trees};
use crate::state::Gate;

impl Leader<'_> {
    pub(super) fn suite(
        &mut self,
        contract: &Contract,
        gate: &Gate,
    ) -> Result<Outcome, LeaderError> {
        let spec = contract.settings.suite.clone();
        let seen = self.seen(contract, gate, &spec)?;
        let results = seen.results.clone();
        let mut outcome = judged("suite", &spec, seen);
        let skips = &contract.settings.skips;
        for name in results.skipped().filter(|name| !tests::may_be_skipped(skips, name)) {
            let text = format!("`{name}` is skipped: nobody decided that (IL-5)");
            outcome.findings.push(Finding::new("suite", Severity::Major, text));
        }
        if results.executed() == 0 {
            let text = "the suite ran no tests (IL-5)";
            outcome.findings.push(Finding::new("suite", Severity::Critical, text));
        }
        let others = self.other_runners(contract, gate)?;
        for story in &contract.stories {
            let named = self.named(story);
            outcome.findings.extend(tests::shown(story, &named, &results, &others));
        }
        if listing::says_what_runs(&spec) {
            let now = self.listed(contract, gate, &spec, &mut outcome)?;
            let before = self.listed_before(contract, gate, &spec, &mut outcome)?;
            outcome.findings.extend(listing::silent(&now, &before, &results, skips));
        }
        Ok(outcome)
    }

    /// What commands with runners of their own show of the same tree.
    fn other_runners(&mut self, contract: &Contract, gate: &Gate) -> Result<Results, LeaderError> {
        let mut others = Results::default();
        for (_, spec) in contract.stories.iter().flat_map(Story::commands) {
            if tests::has_own_runner(contract, spec.results) {
                others.extend(self.seen(contract, gate, spec)?.results);
            }
        }
        Ok(others)
    }

    /// Which tests the runner of the suite has to run; none if it cannot say.
    fn listed(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
        outcome: &mut Outcome,
    ) -> Result<Names, LeaderError> {
        let Some((mark, run)) = asked(spec)? else {
            return Ok(Names::new());
        };
        let seen = self.seen(contract, gate, &plain(run))?;
        let exit = seen.evidence.exit;
        outcome.evidence.push(seen.evidence);
        if exit != Some(0) {
            let exit = exit.map_or("none".to_string(), |code| code.to_string());
            let text = format!("the tests of the suite cannot be listed: exit code {exit} (IL-5)");
            outcome.findings.push(Finding::new("suite", Severity::Critical, text));
        }
        Ok(listing::whole(spec, &mark, &seen.output))
    }

    /// Which tests it had where the campaign began. Where nothing can be listed there was nothing
    /// that can be missed. What is built there is built from nothing, too.
    fn listed_before(
        &mut self,
        contract: &Contract,
        gate: &Gate,
        spec: &CommandSpec,
        outcome: &mut Outcome,
    ) -> Result<Names, LeaderError> {
        let Some((mark, run)) = asked(spec)? else {
            return Ok(Names::new());
        };
        let directory = self.desk.tree("check");
        self.cache.tree = None;
        trees::prepare(&self.desk.git, &directory, &gate.from.commit, Keep::Named(&[]))?;
        // What was built of the old code is nothing that the claim may rest on.
        self.cache.usable = false;
        let seen = self.execute(contract, &plain(run), &directory, &gate.from.tree)?;
        outcome.evidence.push(seen.evidence);
        Ok(listing::whole(spec, &mark, &seen.output))
    }
}

/// What asks the runner of the suite for its tests, and the mark by which its answer is known; none
/// if it cannot be asked.
fn asked(spec: &CommandSpec) -> Result<Option<(String, Vec<String>)>, LeaderError> {
    let mark =
        dispatch::nonce().map_err(|error| LeaderError::File(format!("/dev/urandom: {error}")))?;
    Ok(listing::command(spec, &mark).map(|run| (mark, run)))
}
