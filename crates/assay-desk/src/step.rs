//! One step of a campaign: a state and an event in, a state and what to do out.
//!
//! Pure and total: an event that does not follow from the state is refused, and what it refuses
//! never gets into a state. Terminal states absorb everything. Every outcome that is no progress
//! advances a counter with a limit, so every campaign ends.

use crate::artifact::{Artifact, Said, Signal, Status, said};
use crate::contract::Contract;
use crate::event::{
    Amended, Blocked, Checked, Dispatch, Event, Outcome, Returned, Revision, Role, Scope, Step,
    Terminal,
};
use crate::gate::Finding;
use crate::state::{Counters, Effect, Gate, Phase, Progress, Proposal, State};

/// An event that does not follow from the state.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{event} does not follow: {why}")]
pub struct Refusal {
    /// The kind of event.
    pub event: &'static str,
    /// Why.
    pub why: String,
}

/// Leaders that may die in one campaign while an agent is out.
pub(crate) const LOST_MAX: u32 = 200;

/// One step: the new state, and what to do next.
pub fn step(state: State, event: &Event) -> Result<(State, Effect), Refusal> {
    let state = apply(state, event)?;
    let effect = state.next();
    Ok((state, effect))
}

/// One step without asking what comes next.
pub fn apply(mut state: State, event: &Event) -> Result<State, Refusal> {
    let refuse = |why: &str| Refusal { event: event.kind(), why: why.to_string() };
    if let Phase::Ended(terminal) = &state.phase {
        return Err(refuse(&format!("the campaign is {}", terminal.word())));
    }
    let phase = std::mem::replace(&mut state.phase, Phase::Idle);
    match (phase, event) {
        (Phase::Out(dispatch, gate), Event::Returned(returned)) => {
            if returned.run != dispatch.run {
                return Err(refuse("another dispatch is out"));
            }
            state.returned(&dispatch, gate, returned);
        }
        (Phase::Out(dispatch, gate), Event::Lost { run }) => {
            if *run != dispatch.run {
                return Err(refuse("another dispatch is out"));
            }
            state.lost(gate);
        }
        (Phase::Out(..), _) => return Err(refuse("an agent is out")),
        (phase, Event::Ended(terminal)) => state.ended(&phase, terminal).map_err(|w| refuse(&w))?,
        (phase, Event::Amended(amended)) => state.amended(phase, amended).map_err(refuse)?,
        (phase @ (Phase::Idle | Phase::Gate(_)), Event::Dispatched(dispatch)) => {
            state.dispatched(phase, dispatch).map_err(refuse)?;
        }
        (Phase::Idle, Event::Checked(checked)) if state.current().is_none() => {
            let gate = Box::new(state.final_gate());
            state.checked(gate, checked).map_err(refuse)?;
        }
        (Phase::Gate(gate), Event::Checked(checked)) => {
            state.checked(gate, checked).map_err(refuse)?;
        }
        (Phase::Accept(gate), Event::Verified { story, at }) => {
            state.verified(&gate, story, at).map_err(refuse)?;
        }
        (Phase::Fix(index, findings), Event::FixIssued { story, issues }) => {
            let expected = crate::state::numbered(state.iteration, &findings);
            if *story != state.contract.stories[index].id || *issues != expected {
                return Err(refuse("other issues were found"));
            }
            state.stories[index].issues = expected;
            state.settle();
        }
        (Phase::Waiting(_, gate), Event::Answered { text, .. }) => {
            state.answers.push(text.clone());
            state.phase = Phase::Gate(gate);
        }
        (Phase::Waiting(..), _) => return Err(refuse("a person has to answer first")),
        _ => return Err(refuse("something else comes next")),
    }
    state.facts.note(event);
    state.ask_the_facts();
    Ok(state)
}

impl State {
    /// An end that the record does not show is none: the gate at the end failed.
    fn ask_the_facts(&mut self) {
        let Phase::Ending(Terminal::Complete { at }) = &self.phase else {
            return;
        };
        let missing = match self.facts.complete() {
            Ok(shown) if shown == *at => return,
            Ok(shown) => vec![format!("it was shown for {}, not for {}", shown.tree, at.tree)],
            Err(missing) => missing,
        };
        let finding = |what| Finding::new("end", crate::gate::Severity::Critical, what);
        let findings = missing.into_iter().map(finding).collect();
        self.fail_gate(&self.final_gate(), findings);
    }

    /// Between two things: is there a budget to go on with?
    fn settle(&mut self) {
        let limits = &self.contract.settings.limits;
        let counters = &self.counters;
        let reason = if self.current().is_some() && self.iteration >= self.iterations_max() {
            Some(format!("{} iterations are used up", limits.iterations))
        } else if counters.agent_ms >= limits.agent_seconds.saturating_mul(1000) {
            Some(format!("agents worked for {} seconds", limits.agent_seconds))
        } else if counters.command_ms >= limits.gate_seconds.saturating_mul(1000) {
            Some(format!("commands ran for {} seconds", limits.gate_seconds))
        } else if limits.tokens > 0 && counters.tokens >= limits.tokens {
            Some(format!("{} tokens are used up", limits.tokens))
        } else {
            None
        };
        self.phase = match reason {
            Some(reason) => Phase::Ending(Terminal::Timeout { reason }),
            None => Phase::Idle,
        };
    }

    fn block(&mut self, category: Blocked, reason: String) {
        self.phase = Phase::Ending(Terminal::Blocked { category, reason });
    }

    fn dispatched(&mut self, phase: Phase, dispatch: &Dispatch) -> Result<(), &'static str> {
        self.phase = phase;
        let Effect::Dispatch(proposal) = self.next() else {
            return Err("no agent is to be sent out now");
        };
        let Dispatch { run, iteration, role, scope, engine, nonce, at, prompt: _ } = dispatch;
        let given = Proposal {
            run: *run,
            iteration: *iteration,
            role: *role,
            scope: scope.clone(),
            engine: engine.clone(),
            at: at.clone(),
        };
        if given != proposal {
            return Err("another dispatch comes next");
        }
        if nonce.len() < 16 {
            return Err("its nonce can be guessed");
        }
        let gate = match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Gate(gate) => Some(gate),
            _ => None,
        };
        self.run = *run;
        self.iteration = *iteration;
        if *role == Role::Worker
            && let Some(story) = self.current()
        {
            let tip = self.tip.clone();
            let progress = &mut self.stories[story];
            progress.red.get_or_insert_with(|| tip.clone());
            progress.from.get_or_insert(tip);
        }
        self.phase = Phase::Out(dispatch.clone(), gate);
        Ok(())
    }

    fn lost(&mut self, gate: Option<Box<Gate>>) {
        self.counters.lost += 1;
        // Whoever kills the Leader takes nothing from the budget of the work.
        self.counters.lost_workers += u32::from(gate.is_none());
        if self.counters.lost >= LOST_MAX {
            let reason = format!("the Leader died {LOST_MAX} times while an agent was out");
            return self.block(Blocked::InfraFailure, reason);
        }
        match gate {
            Some(gate) => self.phase = Phase::Gate(gate),
            None => self.settle(),
        }
    }

    fn returned(&mut self, dispatch: &Dispatch, gate: Option<Box<Gate>>, returned: &Returned) {
        self.counters.agent_ms = self.counters.agent_ms.saturating_add(returned.ms);
        self.counters.tokens = self.counters.tokens.saturating_add(returned.tokens);
        if let Some(first) = returned.tampered.first() {
            let reason = format!("{:?} of run {}: {first}", dispatch.role, dispatch.run);
            return self.block(Blocked::Integrity, reason);
        }
        if returned.outcome != Outcome::Exited(0) {
            return self.not_run(dispatch, gate, &returned.outcome);
        }
        self.counters.infrastructure = 0;
        match (gate, self.current()) {
            (Some(gate), _) => self.verdict(dispatch.role, gate, returned),
            (None, Some(story)) => self.signal(story, dispatch, returned),
            (None, None) => self.settle(),
        }
    }

    /// The agent's process did not end as it should: neither a pass nor a failure.
    fn not_run(&mut self, dispatch: &Dispatch, gate: Option<Box<Gate>>, outcome: &Outcome) {
        self.counters.infrastructure += 1;
        let limit = self.contract.settings.limits.infrastructure;
        if self.counters.infrastructure >= limit {
            let reason = format!("{limit} agents in a row did not end well, the last: {outcome:?}");
            return self.block(Blocked::InfraFailure, reason);
        }
        match gate {
            Some(gate) => self.phase = Phase::Gate(gate),
            None => {
                if let Some(story) = self.current() {
                    let attempt = format!("run {}: {outcome:?}", dispatch.run);
                    self.stories[story].attempts.push(attempt);
                }
                self.settle();
            }
        }
    }

    fn signal(&mut self, story: usize, dispatch: &Dispatch, returned: &Returned) {
        let signal = match &returned.artifact {
            Artifact::Signal(signal) => signal,
            Artifact::Missing => return self.violation(story, "it wrote no signal.json"),
            Artifact::Rejected(why) => return self.violation(story, why),
            Artifact::Verdict(_) => return self.violation(story, "a Worker gives no verdicts"),
        };
        self.counters.violations = 0;
        self.stories[story].notes = signal.notes.clone();
        if signal.status == Status::Blocked {
            return self.worker_blocked(story, signal);
        }
        let same = returned.claim.as_ref().is_none_or(|claim| claim.tree == dispatch.at.tree);
        self.counters.stale = if same { self.counters.stale + 1 } else { 0 };
        let limit = self.contract.settings.limits.stale;
        if self.counters.stale >= limit {
            let reason = format!("{limit} Workers in a row changed nothing");
            return self.block(Blocked::ContextLimit, reason);
        }
        match (signal.status, &returned.claim) {
            (Status::Verify, None) => {
                self.violation(story, "the commit it claims is not in its repository");
            }
            (Status::Verify, Some(claim)) => {
                // Names that were wrong can be mended: the last word counts.
                self.stories[story].tests = signal.tests.clone();
                self.phase = Phase::Gate(Box::new(self.story_gate(story, claim.clone())));
            }
            (_, claim) => {
                if claim.is_some() {
                    self.stories[story].work = claim.clone();
                }
                self.settle();
            }
        }
    }

    fn violation(&mut self, story: usize, why: &str) {
        self.counters.violations += 1;
        let limit = self.contract.settings.limits.infrastructure;
        if self.counters.violations >= limit {
            let reason = format!("{limit} signals in a row did not count, the last: {why}");
            return self.block(Blocked::ContractViolation, reason);
        }
        let severity = crate::gate::Severity::Major;
        self.failed(story, vec![Finding::new("signal", severity, why)]);
    }

    fn worker_blocked(&mut self, story: usize, signal: &Signal) {
        self.counters.blocks += 1;
        let reason = signal.reason.clone().unwrap_or_default();
        let reason: String = reason.chars().filter(|c| !c.is_control()).take(500).collect();
        if self.counters.blocks >= self.contract.settings.limits.blocks {
            return self.block(Blocked::WorkerBlocked, reason);
        }
        self.stories[story].attempts.push(format!("blocked: {reason}"));
        self.upgrade(story);
        self.settle();
    }

    /// A claim that did not hold: what is wrong goes to the next Worker, unless a breaker trips.
    fn failed(&mut self, story: usize, findings: Vec<Finding>) {
        self.counters.failures += 1;
        let about = findings.iter().filter(|finding| finding.blocks()).map(|f| f.about.clone());
        let failing: std::collections::BTreeSet<String> = about.collect();
        let limits = self.contract.settings.limits.clone();
        let progress = &mut self.stories[story];
        let again = failing.intersection(&progress.failing).next().cloned();
        progress.same = if again.is_some() { progress.same + 1 } else { 1 };
        let list = failing.iter().cloned().collect::<Vec<_>>().join(", ");
        progress.attempts.push(format!("iteration {}: {list}", self.iteration));
        progress.failing = failing;
        if progress.same >= limits.same_criterion {
            if progress.ceiling {
                let what = again.unwrap_or_default();
                let reason = format!("{what} failed again with the strongest engine");
                return self.block(Blocked::Architecture, reason);
            }
            self.upgrade(story);
        }
        if self.counters.failures >= limits.failures {
            let reason = format!("{} failures in a row, the last: {list}", limits.failures);
            return self.block(Blocked::RepeatAxis, reason);
        }
        self.phase = Phase::Fix(story, findings);
    }

    /// The next engine; at the last one a retry is left.
    fn upgrade(&mut self, story: usize) {
        let engines = self.contract.settings.agents.worker.len();
        let progress = &mut self.stories[story];
        if progress.level + 1 < engines {
            progress.level += 1;
            progress.same = 0;
        } else {
            progress.ceiling = true;
        }
    }

    fn verdict(&mut self, role: Role, gate: Box<Gate>, returned: &Returned) {
        if let Some(void) = &returned.void {
            return self.verdict_void(gate, void);
        }
        let verdict = match &returned.artifact {
            Artifact::Verdict(verdict) => verdict,
            Artifact::Missing => return self.verdict_void(gate, "it wrote no verdict.json"),
            Artifact::Rejected(why) => return self.verdict_void(gate, why),
            Artifact::Signal(_) => return self.verdict_void(gate, "a Verifier gives no signals"),
        };
        match said(verdict) {
            Said::Unsupported(why) => self.verdict_void(gate, &why),
            Said::Unmet(findings) => {
                self.counters.verdicts = 0;
                self.fail_gate(&gate, findings);
            }
            Said::Question(question) => {
                self.counters.questions += 1;
                if self.counters.questions > self.contract.settings.limits.questions {
                    return self.block(Blocked::Question, question);
                }
                self.phase = Phase::Waiting(question, gate);
            }
            Said::Met(_) => {
                let pending = Some((role, verdict.clone()));
                self.phase = Phase::Gate(Box::new(Gate { pending, ..*gate }));
            }
        }
    }

    fn verdict_void(&mut self, gate: Box<Gate>, why: &str) {
        self.counters.verdicts += 1;
        let limit = self.contract.settings.limits.verdicts;
        if self.counters.verdicts >= limit {
            let reason = format!("{limit} verdicts in a row did not count, the last: {why}");
            return self.block(Blocked::VerifierUnreliable, reason);
        }
        self.phase = Phase::Gate(gate);
    }

    fn fail_gate(&mut self, gate: &Gate, findings: Vec<Finding>) {
        let story = match &gate.scope {
            Scope::Story(id) => self.contract.stories.iter().position(|story| story.id == *id),
            Scope::Final => {
                let ids = findings.iter().filter(|f| f.blocks()).filter_map(|finding| {
                    let id = finding.about.split('/').next()?;
                    self.contract.stories.iter().position(|story| story.id == id)
                });
                let first = { ids }.next();
                first.or(self.contract.stories.len().checked_sub(1))
            }
        };
        let Some(story) = story else {
            return self.settle();
        };
        let tip = self.tip.clone();
        let progress = &mut self.stories[story];
        if gate.scope == Scope::Final {
            // What was verified is not any more: the story is begun again where the work stands.
            progress.verified = None;
            progress.from = Some(tip);
            progress.work = None;
        }
        self.failed(story, findings);
    }

    fn checked(&mut self, mut gate: Box<Gate>, checked: &Checked) -> Result<(), &'static str> {
        if checked.scope != gate.scope || checked.at != gate.at {
            return Err("the check is about something else");
        }
        self.counters.command_ms = self.counters.command_ms.saturating_add(checked.ms);
        if let Some((role, _)) = &gate.pending {
            if checked.step != Step::Citations(*role) {
                return Err("the verdict's commands come next");
            }
            if !self.spoilt(checked) {
                self.cited(gate, checked);
            }
            return Ok(());
        }
        if gate.steps.get(gate.done) != Some(&checked.step) {
            return Err("another check comes next");
        }
        if self.spoilt(checked) {
            return Ok(());
        }
        gate.done += 1;
        gate.findings.extend(checked.findings.iter().cloned());
        if checked.passed() {
            gate.findings.extend(self.facts.lacking(checked));
        }
        if checked.step == Step::Claim && !checked.passed() {
            // There is no tree that the other checks could look at.
            gate.done = gate.steps.len();
        } else if checked.step == Step::Claim
            && let Scope::Story(_) = &gate.scope
            && let Some(story) = self.current()
        {
            self.stories[story].work = Some(gate.at.clone());
        }
        self.advance(gate);
        Ok(())
    }

    /// A check after which nothing can be believed, or that cannot be done, ends the campaign.
    fn spoilt(&mut self, checked: &Checked) -> bool {
        let end = match (checked.tampered.first(), &checked.stuck) {
            (Some(first), _) => Some((Blocked::Integrity, first.clone())),
            (None, Some(why)) => Some((Blocked::InfraFailure, why.clone())),
            (None, None) => None,
        };
        let is_spoilt = end.is_some();
        if let Some((category, reason)) = end {
            self.block(category, reason);
        }
        is_spoilt
    }

    /// After a check: more checks, a failure, a Verifier, or acceptance.
    fn advance(&mut self, gate: Box<Gate>) {
        if gate.done < gate.steps.len() {
            self.phase = Phase::Gate(gate);
            return;
        }
        if gate.findings.iter().any(Finding::blocks) {
            let findings = gate.findings.clone();
            return self.fail_gate(&gate, findings);
        }
        if gate.agreed.len() < self.needed(&gate.scope).len() {
            self.phase = Phase::Gate(gate);
            return;
        }
        self.phase = match gate.scope {
            Scope::Story(_) => Phase::Accept(gate),
            Scope::Final => Phase::Ending(Terminal::Complete { at: gate.at.clone() }),
        };
    }

    fn cited(&mut self, mut gate: Box<Gate>, checked: &Checked) {
        let pending = gate.pending.take();
        if let Some(why) = &checked.refuted {
            return self.verdict_void(gate, why);
        }
        self.counters.verdicts = 0;
        if !checked.passed() {
            let findings = checked.findings.clone();
            return self.fail_gate(&gate, findings);
        }
        gate.agreed.extend(pending.map(|(role, _)| role));
        self.advance(gate);
    }

    fn verified(&mut self, gate: &Gate, story: &str, at: &Revision) -> Result<(), &'static str> {
        if gate.scope != Scope::Story(story.to_string()) || gate.at != *at {
            return Err("another story was shown");
        }
        let Some(index) = self.contract.stories.iter().position(|s| s.id == story) else {
            return Err("there is no such story");
        };
        self.tip = at.clone();
        self.counters =
            Counters { failures: 0, stale: 0, violations: 0, ..std::mem::take(&mut self.counters) };
        let progress = &mut self.stories[index];
        progress.verified = Some(at.clone());
        progress.issues.clear();
        progress.failing.clear();
        (progress.same, progress.level, progress.ceiling) = (0, 0, false);
        self.settle();
        Ok(())
    }

    fn ended(&mut self, phase: &Phase, terminal: &Terminal) -> Result<(), String> {
        let aborted = matches!(terminal, Terminal::Aborted { .. });
        let due = matches!(phase, Phase::Ending(due) if due == terminal);
        if !aborted && !due {
            return Err("that end has not come".to_string());
        }
        if let Terminal::Complete { at } = terminal {
            let shown = self.facts.complete().map_err(|missing| missing.join("; "))?;
            if shown != *at {
                return Err("it was shown for another tree".to_string());
            }
        }
        self.phase = Phase::Ended(terminal.clone());
        Ok(())
    }

    fn amended(&mut self, phase: Phase, amended: &Amended) -> Result<(), &'static str> {
        if amended.old != self.contract.hash {
            return Err("it changes another contract");
        }
        if amended.who.trim().is_empty() || amended.why.trim().is_empty() {
            return Err("a person and a reason are needed");
        }
        let old = std::mem::replace(&mut self.contract, amended.contract.clone());
        let before = std::mem::take(&mut self.stories);
        let mut touched = false;
        for story in &self.contract.stories {
            let known = old.stories.iter().position(|other| other.id == story.id);
            let kept = known.filter(|_| !changed(&old, &self.contract, &story.id));
            touched |= kept.is_none();
            let progress = match (known, kept) {
                (_, Some(index)) => before[index].clone(),
                // Its tests must still fail where it was begun.
                (Some(index), None) => Progress {
                    red: before[index].red.clone(),
                    work: before[index].work.clone().filter(|_| before[index].verified.is_none()),
                    from: before[index].from.clone().filter(|_| before[index].verified.is_none()),
                    ..Progress::default()
                },
                (None, None) => Progress::default(),
            };
            self.stories.push(progress);
        }
        // Another order is another story that comes first.
        let other = old.stories.iter().zip(&self.contract.stories).any(|(a, b)| a.id != b.id);
        touched |= other || self.contract.stories.len() != old.stories.len();
        // What was shown of the whole does not hold under another contract, not even an end.
        let whole = match &phase {
            Phase::Gate(gate) | Phase::Accept(gate) | Phase::Waiting(_, gate) => {
                gate.scope == Scope::Final
            }
            Phase::Ending(Terminal::Complete { .. }) => true,
            _ => false,
        };
        match phase {
            Phase::Ending(_) if !whole => self.phase = phase,
            _ if touched
                || whole
                || old.sections.get("campaign") != self.contract.sections.get("campaign") =>
            {
                self.settle();
            }
            phase => self.phase = phase,
        }
        Ok(())
    }
}

/// Whether what was shown for a story may not hold under the new contract.
pub(crate) fn changed(old: &Contract, new: &Contract, story: &str) -> bool {
    let differs = |name: &str| old.sections.get(name) != new.sections.get(name);
    let settings = |contract: &Contract| {
        // Who works and for how long says nothing about what was shown.
        let mut settings = contract.settings.clone();
        settings.agents = crate::contract::Agents::default();
        settings.limits = crate::contract::Limits::default();
        settings.cache.clear();
        // What tests from before need not show any more is asked at the end only.
        settings.outdated.clear();
        settings
    };
    differs(story) || settings(old) != settings(new)
}
