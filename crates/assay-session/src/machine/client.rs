//! What clients send: messages, interrupts, answers.

use super::work::Work;
use super::{Echo, Effect, Status, TURNS_WAITING_MAX};
use crate::error::Refusal;
use crate::event::{Body, ErrorKind, RetryStatus, SessionError, StopReason, ToolAnswer};
use crate::id::EventId;
use crate::inbound::Inbound;
use crate::turn::{Turn, TurnState};
use crate::wait::{Answer, CloseReason, Wait, WaitKind};

/// What a tool is said to have given that a user denied without a message.
pub const DENIED: &str = "the user did not allow this tool";
const INTERRUPTED: &str = "interrupted by the user before it ended";
const LOST_CALL: &str = "the answer was accepted, but the state of the agent was lost with an \
                         earlier process: what the tool did is unknown to it";

impl Work<'_, '_> {
    pub(super) fn send(&mut self, events: &[Inbound]) -> Result<(), Refusal> {
        if self.session.status == Status::Terminated {
            return Err(Refusal::Archived);
        }
        for event in events {
            match event {
                Inbound::Message { .. } => self.message(event)?,
                Inbound::Interrupt => {
                    // It counts from its place: what was answered before it has had its end.
                    self.end_lost();
                    self.interrupt(event);
                }
                Inbound::Result { call, content, is_error } => {
                    let answer = Answer::Result { content: content.clone(), is_error: *is_error };
                    self.answer(event, call, WaitKind::Custom, answer)?;
                }
                Inbound::Confirmation { call, result, deny_message } => {
                    let deny_message = deny_message.clone();
                    let answer = Answer::Decision { result: *result, deny_message };
                    self.answer(event, call, WaitKind::Confirmation, answer)?;
                }
            }
        }
        self.end_lost();
        Ok(())
    }

    fn echo(&mut self, event: &Inbound) -> EventId {
        let event = self.append(event.body());
        let id = event.id.clone();
        self.echoes.push(Echo::Appended(event));
        id
    }

    /// A turn of its own. The session runs from here on, not from when an engine is found: so
    /// nobody archives it in between.
    fn message(&mut self, event: &Inbound) -> Result<(), Refusal> {
        if self.session.turns.len() > TURNS_WAITING_MAX {
            return Err(Refusal::TooManyTurns);
        }
        let prompt = self.echo(event);
        self.session.turns_count += 1;
        self.session.turns.push_back(Turn {
            number: self.session.turns_count,
            state: TurnState::Accepted,
            prompt,
            owner: String::new(),
            generation: 0,
            lost: false,
        });
        if self.session.turns.len() == 1 {
            self.append(Body::StatusRunning {});
            self.effects.push(Effect::Dispatch);
        }
        Ok(())
    }

    /// Ends every turn whose message came before it, and no other.
    fn interrupt(&mut self, event: &Inbound) {
        self.echo(event);
        if self.session.turns.is_empty() {
            return;
        }
        if let Some(turn) = self.active() {
            let (reference, lost) = (turn.reference(), turn.lost);
            self.close_open(INTERRUPTED);
            if !lost {
                self.session.aborting = Some(reference.clone());
                self.effects.push(Effect::Abort(reference));
            }
        }
        self.session.turns.clear();
        self.append(Body::StatusIdle { stop_reason: StopReason::EndTurn });
    }

    fn answer(
        &mut self,
        event: &Inbound,
        call: &EventId,
        kind: WaitKind,
        answer: Answer,
    ) -> Result<(), Refusal> {
        let is_it = |wait: &Wait| wait.id == *call && wait.kind == kind;
        let Some(index) = self.session.waits.iter().position(is_it) else {
            return self.answer_again(event, call, kind, &answer);
        };
        let wait = self.session.waits.remove(index);
        let by = self.echo(event);
        self.remember(wait, CloseReason::Answered { answer: answer.fingerprint(), by });
        let turn = self.session.turns.front().map(|turn| (turn.reference(), turn.lost));
        let (turn, lost) = turn.expect("waits belong to the first turn");
        if lost {
            // Its turn ends after all answers that came together: each of them is kept.
            self.lost_is_answered = true;
            if kind == WaitKind::Confirmation {
                self.failed_tool(call.clone(), LOST_CALL);
            }
            return Ok(());
        }
        self.append(Body::StatusRunning {});
        match (kind, &answer) {
            (_, Answer::Decision { result: ToolAnswer::Allow, .. }) => {
                self.session.open_tools.insert(call.clone());
            }
            (_, Answer::Decision { result: ToolAnswer::Deny, deny_message }) => {
                let why = deny_message.clone().unwrap_or_else(|| DENIED.to_string());
                self.failed_tool(call.clone(), &why);
            }
            _ => {}
        }
        self.effects.push(Effect::Answer { turn, call: call.clone(), answer });
        if self.session.waits.is_empty() {
            self.set_state(TurnState::Running);
        } else {
            self.requires_action();
        }
        Ok(())
    }

    /// Answers come twice when a client did not hear that the first arrived. A result becomes a
    /// second event that does nothing, a decision is answered with the first one.
    fn answer_again(
        &mut self,
        event: &Inbound,
        call: &EventId,
        kind: WaitKind,
        answer: &Answer,
    ) -> Result<(), Refusal> {
        let nobody = || match kind {
            WaitKind::Custom => Refusal::NoPendingCall(call.clone()),
            WaitKind::Confirmation => Refusal::NoPendingConfirmation(call.clone()),
        };
        let is_it = |wait: &Wait| wait.id == *call && wait.kind == kind;
        let known = self.session.closed.iter().rev().find(|closed| is_it(&closed.wait));
        let Some(CloseReason::Answered { answer: first, by }) = known.map(|known| &known.reason)
        else {
            return Err(nobody());
        };
        if *first != answer.fingerprint() {
            return Err(Refusal::AnsweredDifferently(call.clone()));
        }
        let by = by.clone();
        match kind {
            WaitKind::Custom => drop(self.echo(event)),
            WaitKind::Confirmation => self.echoes.push(Echo::Known(by)),
        }
        Ok(())
    }

    /// The engine that asked is gone: what was answered is kept, and the turn says that it ends.
    fn end_lost(&mut self) {
        if !std::mem::take(&mut self.lost_is_answered) {
            return;
        }
        self.close_open(LOST_CALL);
        self.append(Body::SessionError {
            error: SessionError::new(
                ErrorKind::UnknownError,
                LOST_CALL.to_string(),
                RetryStatus::Terminal,
            ),
        });
        self.end_turn(StopReason::EndTurn);
    }

    pub(super) fn set_state(&mut self, state: TurnState) {
        if let Some(turn) = self.session.turns.front_mut() {
            turn.state = state;
        }
    }
}
