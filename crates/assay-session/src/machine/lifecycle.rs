//! Update, archive, delete, restart.

use super::engine::restarted;
use super::work::Work;
use super::{Effect, Status};
use crate::error::Refusal;
use crate::event::{Body, StopReason};
use crate::turn::{TurnRef, TurnState};
use serde_json::{Map, Value};

const ARCHIVED: &str = "the session was archived before it was answered";
const RESTARTED: &str = "the server was restarted while this tool ran: what it did is unknown";

impl Work<'_, '_> {
    /// Says what has changed; nothing is said about nothing.
    pub(super) fn update(
        &mut self,
        title: &Option<Value>,
        metadata: &Option<Map<String, Value>>,
    ) -> Result<(), Refusal> {
        if self.session.status == Status::Terminated {
            return Err(Refusal::Archived);
        }
        if title.is_some() || metadata.is_some() {
            let (title, metadata) = (title.clone(), metadata.clone());
            self.append(Body::SessionUpdated { title, metadata });
        }
        Ok(())
    }

    /// Looking whether it may and doing it are one step: nothing can come in between.
    pub(super) fn archive(&mut self) -> Result<(), Refusal> {
        if self.session.status == Status::Terminated {
            return Ok(());
        }
        let stopped = self.stop_idle()?;
        // Its engine is waited for as after an interrupt: it brings what the turn has left.
        self.session.aborting = stopped.or(self.session.aborting.take());
        self.append(Body::StatusTerminated {});
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Result<(), Refusal> {
        self.stop_idle()?;
        self.append(Body::SessionDeleted {});
        Ok(())
    }

    /// Ends turns that wait, and gives the one whose engine has to stop; refuses if one is at work.
    fn stop_idle(&mut self) -> Result<Option<TurnRef>, Refusal> {
        let status = self.session.status;
        if matches!(status, Status::Running | Status::Rescheduling) {
            return Err(Refusal::Busy(status));
        }
        let mut stopped = None;
        if let Some(turn) = self.active() {
            let (reference, lost) = (turn.reference(), turn.lost);
            self.close_open(ARCHIVED);
            if !lost {
                self.effects.push(Effect::Abort(reference.clone()));
                stopped = Some(reference);
            }
        }
        self.session.turns.clear();
        Ok(stopped)
    }

    /// Engines of an earlier process are gone. What was accepted runs, once; what was at work is
    /// ended and said so; what waits for an answer goes on waiting, and ends with it.
    pub(super) fn recover(&mut self) {
        self.session.aborting = None;
        match self.active().map(|turn| turn.state) {
            Some(TurnState::Paused) => {
                // Beside what waits, something may have run.
                self.close_request();
                self.close_tools(RESTARTED);
                if let Some(turn) = self.session.turns.front_mut() {
                    turn.lost = true;
                }
            }
            Some(_) => {
                self.close_open(RESTARTED);
                self.append(Body::SessionError { error: restarted() });
                self.end_turn(StopReason::EndTurn);
            }
            None if !self.session.turns.is_empty() => self.effects.push(Effect::Dispatch),
            None => {}
        }
    }
}
