//! When a campaign is complete: one predicate over what was written down.
//!
//! This is a fold of its own, which knows nothing of phases, counters and the order in which a
//! Leader does things: events in, and at the end either the revision at which everything holds or a
//! list of what is missing. The Leader asks it before it ends a campaign; `assay desk verify` asks
//! it again later, offline.

use crate::artifact::Artifact;
use crate::contract::{Contract, MappedTest};
use crate::event::{Checked, Counts, Event, Revision, Role, Scope, Step};
use crate::gate::{Finding, tests};
use crate::state::{all_existing, is_critical, needed};
use crate::step::changed;
use std::collections::{BTreeMap, BTreeSet};

/// What was written down so far, as far as it matters for the end.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    contract: Option<Contract>,
    /// The last result of each check: tree, and whether it passed.
    checks: BTreeMap<(Scope, Step), (Revision, bool)>,
    /// Verifiers whose verdict held, for what and at which tree.
    pub(crate) agreed: BTreeSet<(Scope, String, Role)>,
    /// Those of them that agreed to what the contract says now.
    current: BTreeSet<(Scope, String, Role)>,
    verified: BTreeMap<String, Revision>,
    /// Stories with a list of things to mend.
    open: BTreeSet<String>,
    mapped: BTreeMap<String, BTreeSet<MappedTest>>,
    /// The story of the dispatch that is out, by its number.
    out: BTreeMap<u32, Scope>,
    /// Tests that passed at the end in commands with runners of their own, by command.
    others: BTreeMap<Vec<String>, u64>,
    tampered: bool,
    ended: bool,
}

impl Facts {
    /// Takes note of an event.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Opened(opened) => self.contract = Some(opened.contract.clone()),
            Event::Amended(amended) => self.amended(&amended.contract),
            Event::Dispatched(dispatch) => {
                self.out.insert(dispatch.run, dispatch.scope.clone());
            }
            Event::Returned(returned) => {
                self.tampered |= !returned.tampered.is_empty();
                let scope = self.out.remove(&returned.run);
                if let (Some(Scope::Story(id)), Artifact::Signal(signal)) =
                    (scope, &returned.artifact)
                {
                    self.mapped.insert(id, signal.tests.iter().cloned().collect());
                }
            }
            Event::Lost { run } => _ = self.out.remove(run),
            Event::Checked(checked) => {
                self.tampered |= !checked.tampered.is_empty();
                let key = (checked.scope.clone(), checked.step.clone());
                let passed = checked.passed() && self.lacking(checked).is_none();
                self.checks.insert(key, (checked.at.clone(), passed));
                self.note_others(checked);
                if let (Step::Citations(role), true) = (&checked.step, checked.passed()) {
                    let agreed = (checked.scope.clone(), checked.at.tree.clone(), *role);
                    self.agreed.insert(agreed.clone());
                    self.current.insert(agreed);
                }
            }
            Event::Verified { story, at } => {
                self.verified.insert(story.clone(), at.clone());
                self.open.remove(story);
            }
            Event::FixIssued { story, .. } => {
                self.verified.remove(story);
                self.open.insert(story.clone());
            }
            Event::Answered { .. } => {}
            Event::Ended(_) => self.ended = true,
        }
    }

    fn amended(&mut self, new: &Contract) {
        let Some(old) = self.contract.replace(new.clone()) else {
            return;
        };
        // Whoever agreed to a story agreed to what it said then, also if it was not verified yet.
        // That they did stays on record: the branch stands where somebody once agreed.
        let gone = |id: &str| new.story(id).is_none() || changed(&old, new, id);
        let stale = |scope: &Scope| match scope {
            Scope::Story(id) => gone(id),
            Scope::Final => true,
        };
        self.verified.retain(|id, _| !gone(id));
        self.checks.retain(|(scope, _), _| !stale(scope));
        self.current.retain(|(scope, ..)| !stale(scope));
        self.agreed.retain(|(scope, ..)| *scope != Scope::Final);
        self.open.retain(|id| new.story(id).is_some());
    }

    /// The revision at which everything holds, or what is missing.
    pub fn complete(&self) -> Result<Revision, Vec<String>> {
        let Some(contract) = &self.contract else {
            return Err(vec!["no contract was frozen".to_string()]);
        };
        let Some((at, true)) = self.checks.get(&(Scope::Final, Step::Claim)) else {
            return Err(vec!["nothing was verified as a whole".to_string()]);
        };
        let mut missing = Vec::new();
        let mut want = |holds: bool, what: String| {
            if !holds {
                missing.push(what);
            }
        };
        let final_check = |step: Step| {
            let check = self.checks.get(&(Scope::Final, step));
            check.is_some_and(|(there, passed)| *passed && there.tree == at.tree)
        };
        for story in &contract.stories {
            let id = &story.id;
            want(self.verified.contains_key(id), format!("{id} is not verified"));
            want(!self.open.contains(id), format!("{id} has open issues"));
            for (name, _) in story.commands() {
                want(final_check(Step::Command(name.clone())), format!("{name} at {}", at.tree));
            }
            want(final_check(Step::Tests(id.clone())), format!("tests of {id} at {}", at.tree));
            let scope = Scope::Story(id.clone());
            let passed = |step: Step| {
                self.checks.get(&(scope.clone(), step)).is_some_and(|(_, passed)| *passed)
            };
            want(passed(Step::Sabotage), format!("tests of {id} that were made to fail"));
            want(all_existing(story) || passed(Step::Red), format!("RED proof of {id}"));
            want(
                !is_critical(story) || passed(Step::Mutation),
                format!("mutation evidence of {id}"),
            );
            let tree = self.verified.get(id).map(|at| at.tree.clone()).unwrap_or_default();
            for role in needed(contract, &scope) {
                let agreed = self.current.contains(&(scope.clone(), tree.clone(), role));
                want(agreed, format!("{role:?} of {id}"));
            }
        }
        for role in needed(contract, &Scope::Final) {
            let agreed = self.current.contains(&(Scope::Final, at.tree.clone(), role));
            want(agreed, format!("{role:?} of the whole"));
        }
        want(final_check(Step::Gaming), "no test got weaker".to_string());
        want(final_check(Step::Suite), format!("the suite at {}", at.tree));
        want(final_check(Step::Kept), format!("tests from before at {}", at.tree));
        want(final_check(Step::Sabotage), format!("tests made to fail at {}", at.tree));
        let red = contract.stories.iter().all(all_existing) || final_check(Step::Red);
        want(red, format!("RED proof at {}", at.tree));
        let mutated = !contract.stories.iter().any(is_critical) || final_check(Step::Mutation);
        want(mutated, format!("mutation evidence at {}", at.tree));
        want(!self.tampered, "protected files are unchanged".to_string());
        want(!self.ended, "the campaign has not ended before".to_string());
        if missing.is_empty() { Ok(at.clone()) } else { Err(missing) }
    }

    /// The revision at which all of these checks of a scope passed when they were last run.
    pub(crate) fn passed_at(&self, scope: &Scope, steps: Vec<Step>) -> Option<&Revision> {
        let mut found: Option<&Revision> = None;
        for step in steps {
            let (at, true) = self.checks.get(&(scope.clone(), step))? else { return None };
            if found.is_some_and(|other| other.tree != at.tree) {
                return None;
            }
            found = Some(at);
        }
        found
    }

    /// What a run of the suite lacks for the end, whatever the check itself says: nothing fails,
    /// and it shows as many tests as are mapped.
    pub(crate) fn lacking(&self, checked: &Checked) -> Option<Finding> {
        let contract = self.contract.as_ref().filter(|_| checked.step == Step::Suite)?;
        let others = self.others.values().sum();
        tests::whole(counts(checked), others, self.mapped_count(contract))
    }

    /// Counts what commands with runners of their own show at the end.
    fn note_others(&mut self, checked: &Checked) {
        match (&checked.scope, &checked.step, &self.contract) {
            (Scope::Final, Step::Claim, _) => self.others.clear(),
            (Scope::Final, Step::Command(name), Some(contract)) => {
                let mut commands = contract.stories.iter().flat_map(|story| story.commands());
                let own = commands.find(|(other, _)| other == name).is_some_and(|(_, spec)| {
                    checked.passed() && tests::has_own_runner(contract, spec.results)
                });
                if let Some(evidence) = checked.evidence.last().filter(|_| own) {
                    self.others.insert(evidence.command.clone(), counts(checked).passed);
                }
            }
            _ => {}
        }
    }

    fn mapped_count(&self, contract: &Contract) -> usize {
        let mut names = BTreeSet::new();
        for story in &contract.stories {
            names.extend(story.tests.iter().map(|test| &test.name));
            names.extend(self.mapped.get(&story.id).into_iter().flatten().map(|t| &t.name));
        }
        names.len()
    }
}

/// The results that a check has as evidence; a listing has none.
fn counts(checked: &Checked) -> Counts {
    checked.evidence.iter().rev().find_map(|evidence| evidence.tests).unwrap_or_default()
}
