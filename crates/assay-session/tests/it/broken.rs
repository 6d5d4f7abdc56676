//! Machines with one mistake each. The model has to find all of them: otherwise that it finds
//! nothing in the real one says nothing.

use super::invariants::{
    ANSWERED_ONCE, END_IS_THE_END, NOTHING_OUTLIVES_A_RESTART, ONE_AT_A_TIME, REST_IS_REST,
    RESTS_FOR_A_REASON, RUNS_IF_OWED, RUNS_ONCE, TAKEN_TOGETHER, TOOL_ENDS_ONCE,
};
use super::model::{NOT_HEARD, NOT_SWALLOWED, NOT_WHILE_IT_RUNS, Small, explore, worlds};
use assay_session::{
    Context, Effect, Inbound, Input, Refusal, Session, Status, Step, TurnState, step,
};

/// A mistake somebody could make.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Mistake {
    /// An interrupt does not wait for the engine to stop.
    InterruptForgetsTheEngine,
    /// What comes after an interrupt goes with it, once the engine has stopped.
    InterruptSwallows,
    /// An interrupt leaves what was sent before it.
    InterruptLeavesMessages,
    /// An interrupted engine may go on.
    InterruptedEngineIsHeard,
    /// A turn that was given to an engine is given to another one after a restart.
    RestartRunsAgain,
    /// A message that was accepted is forgotten by a restart.
    RestartForgets,
    /// A call goes on waiting after its answer.
    AnswerLeavesTheWait,
    /// What runs can be archived.
    ArchiveWhileItRuns,
    /// An archived session takes messages.
    ArchiveIsNotTheEnd,
    /// A turn ends without its tools.
    ToolsAreLeftOpen,
    /// A tool that ran beside a wait has no end until the wait has one.
    RestartLeavesTools,
    /// The first answer after a restart ends the turn, and the others of its request find nobody.
    FirstLostAnswerEnds,
}

/// Each mistake, and what it breaks first.
const MISTAKES: [(Mistake, &[&str]); 12] = [
    (Mistake::InterruptForgetsTheEngine, &[ONE_AT_A_TIME]),
    (Mistake::InterruptSwallows, &[NOT_SWALLOWED]),
    (Mistake::InterruptLeavesMessages, &[RUNS_IF_OWED, RESTS_FOR_A_REASON]),
    (Mistake::InterruptedEngineIsHeard, &[NOT_HEARD]),
    (Mistake::RestartRunsAgain, &[RUNS_ONCE, RUNS_IF_OWED]),
    (Mistake::RestartForgets, &[NOT_SWALLOWED, REST_IS_REST]),
    (Mistake::AnswerLeavesTheWait, &[ANSWERED_ONCE]),
    (Mistake::ArchiveWhileItRuns, &[NOT_WHILE_IT_RUNS]),
    (Mistake::ArchiveIsNotTheEnd, &[END_IS_THE_END]),
    (Mistake::ToolsAreLeftOpen, &[REST_IS_REST, TOOL_ENDS_ONCE]),
    (Mistake::RestartLeavesTools, &[NOTHING_OUTLIVES_A_RESTART]),
    (Mistake::FirstLostAnswerEnds, &[TAKEN_TOGETHER]),
];

/// Whether the answers to a turn without an engine are taken if each comes alone.
fn alone(session: &Session, sent: &[Inbound], context: &mut Context) -> Result<(), Refusal> {
    let mut session = session.clone();
    let is_lost = session.turns.front().is_some_and(|turn| turn.lost);
    for one in sent.iter().filter(|_| is_lost) {
        session = step(&session, &Input::Send(vec![one.clone()]), context)?.session;
    }
    Ok(())
}

impl Mistake {
    /// Whether a world has what the mistake is about: all of a large one is explored in vain.
    fn can_show(self, small: &Small) -> bool {
        let needs_two = [Mistake::RestartLeavesTools, Mistake::FirstLostAnswerEnds];
        !needs_two.contains(&self) || small.calls.len() > 1
    }

    /// The step of a machine that has it.
    pub fn step(
        self,
        session: &Session,
        input: &Input,
        context: &mut Context,
    ) -> Result<Step, Refusal> {
        let mut before = session.clone();
        let is_interrupt = matches!(input, Input::Send(sent) if sent[..] == [Inbound::Interrupt]);
        match (self, input) {
            (Mistake::InterruptSwallows, Input::Aborted(_)) => {
                before.turns.clear();
                before.status = Status::Idle;
            }
            (Mistake::InterruptedEngineIsHeard, Input::Engine { turn, .. })
                if before.aborting.as_ref() == Some(turn) =>
            {
                before.turns.push_front(assay_session::Turn {
                    number: turn.number,
                    state: TurnState::Running,
                    prompt: assay_session::EventId(String::new()),
                    owner: turn.owner.clone(),
                    generation: turn.generation,
                    lost: false,
                });
            }
            (Mistake::RestartRunsAgain, Input::Recover) => {
                for turn in &mut before.turns {
                    turn.state = TurnState::Accepted;
                }
                before.waits.clear();
            }
            (Mistake::RestartForgets, Input::Recover) => {
                before.turns.retain(|turn| turn.state != TurnState::Accepted);
            }
            (Mistake::ArchiveWhileItRuns, Input::Archive) if before.status == Status::Running => {
                before.status = Status::Idle;
            }
            (Mistake::ArchiveIsNotTheEnd, Input::Send(_))
                if before.status == Status::Terminated =>
            {
                before.status = Status::Idle;
            }
            (Mistake::ToolsAreLeftOpen, _) => before.open_tools.clear(),
            (Mistake::RestartLeavesTools, Input::Recover) if !before.waits.is_empty() => {
                before.open_tools.clear();
            }
            (Mistake::FirstLostAnswerEnds, Input::Send(sent)) => alone(session, sent, context)?,
            _ => {}
        }
        let mut taken = step(&before, input, context)?;
        match (self, input) {
            (Mistake::InterruptForgetsTheEngine, _) => taken.session.aborting = None,
            (Mistake::RestartLeavesTools, Input::Recover) if !session.waits.is_empty() => {
                taken.session.open_tools = session.open_tools.clone();
            }
            (Mistake::InterruptLeavesMessages, _) if is_interrupt => {
                let accepted = session.turns.iter().filter(|t| t.state == TurnState::Accepted);
                taken.session.turns.extend(accepted.cloned());
                taken.effects.push(Effect::Dispatch);
            }
            (Mistake::AnswerLeavesTheWait, Input::Send(_))
                if taken.effects.iter().any(|effect| matches!(effect, Effect::Answer { .. })) =>
            {
                taken.session.waits = session.waits.clone();
            }
            _ => {}
        }
        Ok(taken)
    }
}

#[test]
fn every_mistake_is_found() {
    for (mistake, expected) in MISTAKES {
        let mut found = Vec::new();
        // One world in which it shows is enough.
        let mut worlds = worlds().into_iter().filter(|(_, small)| mistake.can_show(small));
        let shows = worlds.any(|(_, mut small)| {
            small.mistake = Some(mistake);
            found.extend(explore(small).0);
            found.iter().any(|name| expected.contains(name))
        });
        assert!(shows, "{mistake:?} breaks {expected:?}; found {found:?}");
    }
}
