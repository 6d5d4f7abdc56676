//! Where a campaign stands, and what comes next.
//!
//! [`State`] is a fold over events; [`crate::step()`] is the fold's step. [`State::next`] says what
//! the Leader has to do: it is a function of the state alone, so a Leader that was killed and
//! started again does what the dead one would have done.

use crate::contract::{Consensus, Contract, Risk};
use crate::event::{Dispatch, Issue, Opened, Revision, Role, Scope, Step, Terminal};
use crate::facts::Facts;
use crate::gate::Finding;
use std::collections::BTreeSet;

/// A running campaign.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// The contract that holds.
    pub contract: Contract,
    /// Where the campaign began.
    pub base: Revision,
    /// The last verified commit.
    pub tip: Revision,
    /// One for each story of the contract.
    pub stories: Vec<Progress>,
    /// Workers sent out.
    pub iteration: u32,
    /// Agents sent out.
    pub run: u32,
    /// What is going on.
    pub phase: Phase,
    /// What counts against the limits.
    pub counters: Counters,
    /// What people answered, oldest first.
    pub answers: Vec<String>,
    /// What the end is computed from.
    pub facts: Facts,
}

/// Where a story stands.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Progress {
    /// Where it was verified.
    pub verified: Option<Revision>,
    /// Where it was first begun: its tests must fail there.
    pub red: Option<Revision>,
    /// Where the work began that is under way: only allowed paths may differ from there.
    pub from: Option<Revision>,
    /// What the last Worker left.
    pub work: Option<Revision>,
    /// Which of the Worker's engines is next.
    pub level: usize,
    /// What failed last time.
    pub failing: BTreeSet<String>,
    /// How often in a row something failed again.
    pub same: u32,
    /// The strongest engine has had its retry.
    pub ceiling: bool,
    /// Tests named by Workers.
    pub tests: Vec<crate::contract::MappedTest>,
    /// What is to be mended.
    pub issues: Vec<Issue>,
    /// What went wrong in each attempt, for the escalation.
    pub attempts: Vec<String>,
    /// What the last Worker wrote for the next.
    pub notes: Option<String>,
}

/// What is going on.
#[derive(Clone, PartialEq, Debug)]
pub enum Phase {
    /// A Worker is to be sent out.
    Idle,
    /// An agent is out; a Verifier with what it looks at.
    Out(Dispatch, Option<Box<Gate>>),
    /// A claim is being checked.
    Gate(Box<Gate>),
    /// A list of things to mend is to be written.
    Fix(usize, Vec<Finding>),
    /// A story is to be accepted.
    Accept(Box<Gate>),
    /// A person has to answer.
    Waiting(String, Box<Gate>),
    /// It is to be ended.
    Ending(Terminal),
    /// It is over.
    Ended(Terminal),
}

/// A claim on its way through the gate.
#[derive(Clone, PartialEq, Debug)]
pub struct Gate {
    /// What is claimed.
    pub scope: Scope,
    /// On what.
    pub at: Revision,
    /// What it is compared with.
    pub from: Revision,
    /// Where its tests must fail.
    pub red: Revision,
    /// What is checked.
    pub steps: Vec<Step>,
    /// How many of them are.
    pub done: usize,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Verifiers that found nothing, and whose evidence held.
    pub agreed: Vec<Role>,
    /// A verdict whose commands are to be run again.
    pub pending: Option<(Role, crate::artifact::Verdict)>,
}

/// What counts against the limits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Failures since the last story was verified.
    pub failures: u32,
    /// Workers in a row that changed nothing.
    pub stale: u32,
    /// Agents in a row that could not be run.
    pub infrastructure: u32,
    /// Agents that were out when the Leader died.
    pub lost: u32,
    /// Those of them that were Workers.
    pub lost_workers: u32,
    /// Artifacts in a row that did not fit.
    pub violations: u32,
    /// Workers that said they are blocked.
    pub blocks: u32,
    /// Questions asked.
    pub questions: u32,
    /// Verdicts in a row that did not count.
    pub verdicts: u32,
    /// Time of all agents.
    pub agent_ms: u64,
    /// Time of all commands that the Leader ran.
    pub command_ms: u64,
    /// Tokens of all agents.
    pub tokens: u64,
}

/// What the Leader has to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Send an agent out.
    Dispatch(Proposal),
    /// Run the agent that was written down as sent out; if that was another Leader, it is lost.
    Await(Dispatch),
    /// Check something.
    Check(Box<Gate>, Step),
    /// Move the campaign's branch to a verified commit.
    Accept(String, Revision),
    /// Write down what is to be mended.
    Fix(String, Vec<Issue>),
    /// Wait for a person.
    Ask(String),
    /// Write down the end.
    End(Terminal),
    /// Nothing: it is over.
    Stop(Terminal),
}

/// A dispatch without what only the world can give: a nonce and a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// Counts all dispatches.
    pub run: u32,
    /// Counts Workers.
    pub iteration: u32,
    /// Who.
    pub role: Role,
    /// For what.
    pub scope: Scope,
    /// Which engine.
    pub engine: String,
    /// Where it starts.
    pub at: Revision,
}

impl State {
    /// The state after the first event.
    pub fn open(opened: &Opened) -> State {
        let contract = opened.contract.clone();
        let stories = vec![Progress::default(); contract.stories.len()];
        let mut facts = Facts::default();
        facts.note(&crate::event::Event::Opened(Box::new(opened.clone())));
        State {
            base: opened.base.clone(),
            tip: opened.base.clone(),
            stories,
            iteration: 0,
            run: 0,
            phase: Phase::Idle,
            counters: Counters::default(),
            answers: Vec::new(),
            facts,
            contract,
        }
    }

    /// The story that is to be worked on: the first that is not verified.
    pub fn current(&self) -> Option<usize> {
        self.stories.iter().position(|story| story.verified.is_none())
    }

    /// Workers that may be sent out: those of the contract, and one more for each that was lost.
    pub fn iterations_max(&self) -> u32 {
        self.contract.settings.limits.iterations.saturating_add(self.counters.lost_workers)
    }

    /// What the Leader has to do.
    pub fn next(&self) -> Effect {
        match &self.phase {
            Phase::Idle => match self.current() {
                Some(story) => Effect::Dispatch(self.worker(story)),
                None => Effect::Check(Box::new(self.final_gate()), Step::Claim),
            },
            Phase::Out(dispatch, _) => Effect::Await(dispatch.clone()),
            Phase::Gate(gate) => self.next_of(gate),
            Phase::Fix(story, findings) => {
                let id = self.contract.stories[*story].id.clone();
                Effect::Fix(id, numbered(self.iteration, findings))
            }
            Phase::Accept(gate) => Effect::Accept(gate.scope.name().to_string(), gate.at.clone()),
            Phase::Waiting(question, _) => Effect::Ask(question.clone()),
            Phase::Ending(terminal) => Effect::End(terminal.clone()),
            Phase::Ended(terminal) => Effect::Stop(terminal.clone()),
        }
    }

    fn next_of(&self, gate: &Gate) -> Effect {
        if let Some((role, _)) = &gate.pending {
            return Effect::Check(Box::new(gate.clone()), Step::Citations(*role));
        }
        match gate.steps.get(gate.done) {
            Some(step) => Effect::Check(Box::new(gate.clone()), step.clone()),
            None => Effect::Dispatch(self.verifier(gate)),
        }
    }

    fn worker(&self, story: usize) -> Proposal {
        let progress = &self.stories[story];
        let engines = &self.contract.settings.agents.worker;
        let engine = engines.get(progress.level.min(engines.len().saturating_sub(1)));
        Proposal {
            run: self.run + 1,
            iteration: self.iteration + 1,
            role: Role::Worker,
            scope: Scope::Story(self.contract.stories[story].id.clone()),
            engine: engine.cloned().unwrap_or_default(),
            at: progress.work.clone().unwrap_or_else(|| self.tip.clone()),
        }
    }

    fn verifier(&self, gate: &Gate) -> Proposal {
        let agents = &self.contract.settings.agents;
        let needed = self.needed(&gate.scope);
        let role = needed.get(gate.agreed.len()).copied().unwrap_or(Role::Verifier);
        let engine = if role == Role::Second { &agents.second } else { &agents.verifier };
        Proposal {
            run: self.run + 1,
            iteration: self.iteration,
            role,
            scope: gate.scope.clone(),
            engine: engine.clone(),
            at: gate.at.clone(),
        }
    }

    /// Which Verifiers must find nothing.
    pub fn needed(&self, scope: &Scope) -> Vec<Role> {
        needed(&self.contract, scope)
    }

    /// The gate at the end: every story and the suite, at one tree.
    pub(crate) fn final_gate(&self) -> Gate {
        let steps = final_steps(&self.contract);
        self.gate(Scope::Final, self.tip.clone(), self.base.clone(), self.base.clone(), steps)
    }

    /// The gate of a story's claim.
    pub(crate) fn story_gate(&self, index: usize, at: Revision) -> Gate {
        let story = &self.contract.stories[index];
        let progress = &self.stories[index];
        let from = progress.from.clone().unwrap_or_else(|| self.tip.clone());
        let red = progress.red.clone().unwrap_or_else(|| self.tip.clone());
        self.gate(Scope::Story(story.id.clone()), at, from, red, story_steps(story))
    }

    fn gate(
        &self,
        scope: Scope,
        at: Revision,
        from: Revision,
        red: Revision,
        steps: Vec<Step>,
    ) -> Gate {
        let (findings, agreed) = (Vec::new(), Vec::new());
        Gate { scope, at, from, red, steps, done: 0, findings, agreed, pending: None }
    }
}

/// What is checked at the end.
pub(crate) fn final_steps(contract: &Contract) -> Vec<Step> {
    let mut steps = vec![Step::Claim, Step::Gaming];
    for story in &contract.stories {
        steps.extend(story.commands().into_iter().map(|(name, _)| Step::Command(name)));
        steps.push(Step::Tests(story.id.clone()));
    }
    steps.extend([Step::Suite, Step::Kept, Step::Sabotage]);
    if !contract.stories.iter().all(all_existing) {
        steps.push(Step::Red);
    }
    if contract.stories.iter().any(is_critical) {
        steps.push(Step::Mutation);
    }
    steps
}

/// Whether a story needs mutation evidence.
pub(crate) fn is_critical(story: &crate::contract::Story) -> bool {
    story.risk == Risk::Critical
}

/// What is checked of a story's claim.
pub(crate) fn story_steps(story: &crate::contract::Story) -> Vec<Step> {
    let mut steps = vec![Step::Claim, Step::Scope, Step::Gaming];
    steps.extend(story.commands().into_iter().map(|(name, _)| Step::Command(name)));
    steps.extend([Step::Tests(story.id.clone()), Step::Sabotage]);
    if !all_existing(story) {
        steps.push(Step::Red);
    }
    if is_critical(story) {
        steps.push(Step::Mutation);
    }
    steps
}

/// Whether every criterion of a story holds before the work: then there is nothing to see fail.
pub(crate) fn all_existing(story: &crate::contract::Story) -> bool {
    story.criteria.iter().all(|criterion| story.existing.contains_key(&criterion.id))
}

/// Which Verifiers must find nothing before something counts.
pub(crate) fn needed(contract: &Contract, scope: &Scope) -> Vec<Role> {
    let settings = &contract.settings;
    let two = match scope {
        Scope::Story(id) => {
            let critical = contract.story(id).is_some_and(|s| s.risk == Risk::Critical);
            critical || settings.consensus == Consensus::All
        }
        Scope::Final => {
            let critical = contract.stories.iter().any(|story| story.risk == Risk::Critical);
            critical || settings.consensus != Consensus::Critical
        }
    };
    match scope {
        Scope::Final if !settings.final_verifier && !two => Vec::new(),
        _ if two => vec![Role::Verifier, Role::Second],
        _ => vec![Role::Verifier],
    }
}

/// Findings in the order of mending, with numbers.
pub(crate) fn numbered(iteration: u32, findings: &[Finding]) -> Vec<Issue> {
    let mut sorted = findings.to_vec();
    sorted.sort_by_key(|finding| finding.severity);
    let number = |(i, finding)| Issue { id: format!("I{iteration}.{}", i + 1), finding };
    sorted.into_iter().enumerate().map(number).collect()
}
