//! What engines say, and when they are started.

use super::work::Work;
use super::{Call, CallKind, Effect, Said, Status};
use crate::cost::Cost;
use crate::error::Refusal;
use crate::event::{Body, ErrorKind, Permission, RetryStatus, SessionError, StopReason, Usage};
use crate::id::EventId;
use crate::turn::{TurnRef, TurnState};
use crate::wait::{WAITS_OPEN_MAX, Wait, WaitKind};
use serde_json::{Map, Value, json};

/// What a tool that an engine left behind is told to have given.
const LEFT_BEHIND: &str = "the turn ended before it did";

impl Work<'_, '_> {
    /// Gives the next turn to an engine, if there is one and nothing is in its way. From here on
    /// it is never started again.
    pub(super) fn dispatch(&mut self, owner: &str) {
        if self.session.aborting.is_some() || self.session.status == Status::Terminated {
            return;
        }
        let generation = self.session.generation + 1;
        let Some(turn) = self.session.turns.front_mut() else { return };
        if turn.state != TurnState::Accepted {
            return;
        }
        turn.state = TurnState::Dispatching;
        turn.owner = owner.to_string();
        turn.generation = generation;
        let start = Effect::Start { turn: turn.reference(), prompt: turn.prompt.clone() };
        self.session.generation = generation;
        self.effects.push(start);
    }

    /// The engine of an interrupted turn has stopped: what came after the interrupt may begin.
    pub(super) fn aborted(&mut self, turn: &TurnRef) -> Result<(), Refusal> {
        if self.session.aborting.as_ref() != Some(turn) {
            return Err(Refusal::Stale);
        }
        self.session.aborting = None;
        if !self.session.turns.is_empty() {
            self.effects.push(Effect::Dispatch);
        }
        Ok(())
    }

    pub(super) fn engine(&mut self, turn: &TurnRef, said: &[Said]) -> Result<(), Refusal> {
        // Who says nothing may still want something kept with it: that is fenced, too.
        self.is_current(turn)?;
        for one in said {
            self.is_current(turn)?;
            if self.session.waits.is_empty() {
                self.set_state(TurnState::Running);
            }
            self.said(one)?;
        }
        let has_asked = said.iter().any(|one| matches!(one, Said::Calls(_)));
        if has_asked && !self.session.waits.is_empty() { self.pause() } else { Ok(()) }
    }

    /// Waits for answers, once all is said that came with the questions.
    fn pause(&mut self) -> Result<(), Refusal> {
        if self.session.open_span.is_some() {
            return Err(Refusal::Engine("a wait within a request"));
        }
        self.set_state(TurnState::Paused);
        self.requires_action();
        Ok(())
    }

    fn is_current(&self, turn: &TurnRef) -> Result<(), Refusal> {
        let is_current = |active: &crate::Turn| active.reference() == *turn && !active.lost;
        match self.active().is_some_and(is_current) {
            true => Ok(()),
            false => Err(Refusal::Stale),
        }
    }

    fn said(&mut self, said: &Said) -> Result<(), Refusal> {
        match said {
            Said::RequestStart if self.session.open_span.is_some() => {
                return Err(Refusal::Engine("a request within a request"));
            }
            Said::RequestStart => {
                let start = self.append(Body::ModelRequestStart {});
                self.session.open_span = Some(start.id);
            }
            Said::RequestEnd { is_error, usage, cost_nanos } => {
                self.request_end(*is_error, *usage, *cost_nanos)?;
            }
            Said::Message(text) => {
                let content = vec![json!({"type": "text", "text": text})];
                self.append(Body::AgentMessage { content });
            }
            Said::Thinking => drop(self.append(Body::AgentThinking {})),
            Said::ToolUse { server, name, input } => {
                let used = self.use_tool(server, name, input, Permission::Allow);
                self.session.open_tools.insert(used);
            }
            Said::Refused { server, name, input, why } => {
                let used = self.use_tool(server, name, input, Permission::Deny);
                self.failed_tool(used, why);
            }
            Said::ToolResult { call, content, is_error } => {
                if !self.session.open_tools.remove(call) {
                    return Err(Refusal::Engine("a result of a tool that does not run"));
                }
                self.tool_result(call.clone(), content.clone(), *is_error);
            }
            Said::Calls(calls) => self.calls(calls)?,
            Said::Trouble(error) => {
                self.append(Body::SessionError { error: error.clone() });
            }
            Said::Rescheduled(error) => {
                self.nobody_waits()?;
                self.append(Body::SessionError { error: error.clone() });
                self.append(Body::StatusRescheduled {});
            }
            Said::Resumed if self.session.status != Status::Rescheduling => {
                return Err(Refusal::Engine("resumed what was not rescheduled"));
            }
            Said::Resumed => drop(self.append(Body::StatusRunning {})),
            Said::Failed(error) => self.failed(error),
            Said::Finished => {
                self.nobody_waits()?;
                self.close_open(LEFT_BEHIND);
                self.end_turn(StopReason::EndTurn);
            }
        }
        Ok(())
    }

    fn request_end(
        &mut self,
        is_error: bool,
        usage: Usage,
        cost_nanos: Option<u64>,
    ) -> Result<(), Refusal> {
        let Some(start) = self.session.open_span.take() else {
            return Err(Refusal::Engine("the end of a request that has no start"));
        };
        // Records of earlier servers have tokens, and nobody knows what they cost.
        let is_known = self.session.cost != Cost::Nothing;
        let is_first = self.session.usage == Usage::default();
        let cost_nanos = cost_nanos.filter(|_| is_known || is_first);
        self.session.cost = self.session.cost.plus(cost_nanos);
        self.session.usage = self.session.usage.plus(usage);
        self.append(Body::ModelRequestEnd {
            model_request_start_id: start,
            is_error,
            model_usage: usage,
        });
        Ok(())
    }

    fn calls(&mut self, calls: &[Call]) -> Result<(), Refusal> {
        if calls.is_empty() {
            return Err(Refusal::Engine("a wait for nothing"));
        }
        if self.session.waits.len() + calls.len() > WAITS_OPEN_MAX {
            return Err(Refusal::TooManyWaits);
        }
        for Call { kind, server, name, input } in calls {
            let (id, kind) = match kind {
                CallKind::Custom => {
                    let (name, input) = (name.clone(), input.clone());
                    (self.append(Body::CustomToolUse { name, input }).id, WaitKind::Custom)
                }
                CallKind::Ask => {
                    let id = self.use_tool(server, name, input, Permission::Ask);
                    (id, WaitKind::Confirmation)
                }
            };
            self.session.waits.push(Wait { id, kind });
        }
        Ok(())
    }

    fn use_tool(
        &mut self,
        server: &Option<String>,
        name: &str,
        input: &Map<String, Value>,
        evaluated_permission: Permission,
    ) -> EventId {
        let (name, input) = (name.to_string(), input.clone());
        let Some(mcp_server_name) = server.clone() else {
            return self.append(Body::ToolUse { name, input, evaluated_permission }).id;
        };
        let body = Body::McpToolUse { mcp_server_name, name, input, evaluated_permission };
        let id = self.append(body).id;
        self.session.mcp_calls.insert(id.clone());
        id
    }

    /// An engine may fail at any moment; what was asked for meanwhile is asked for no more.
    fn failed(&mut self, error: &SessionError) {
        self.close_open(LEFT_BEHIND);
        self.append(Body::SessionError { error: error.clone() });
        let exhausted = error.retry_status == RetryStatus::Exhausted;
        self.end_turn(if exhausted { StopReason::RetriesExhausted } else { StopReason::EndTurn });
    }

    fn nobody_waits(&self) -> Result<(), Refusal> {
        match self.session.waits.is_empty() {
            true => Ok(()),
            false => Err(Refusal::Engine("a good end of a turn, or a new try, with open calls")),
        }
    }
}

/// What a restart says about a turn that was at work.
pub(super) fn restarted() -> SessionError {
    let message = "the server was restarted while this turn ran; it was ended and is not tried \
                   again, because what it had already done is unknown";
    SessionError::new(ErrorKind::UnknownError, message.to_string(), RetryStatus::Terminal)
}
