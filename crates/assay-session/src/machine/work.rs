//! A step while it is taken: what all inputs share.

use super::{Context, Echo, Effect, Session, Status, Step};
use crate::event::{Body, Event, StopReason, Usage};
use crate::id::EventId;
use crate::time::rfc3339;
use crate::turn::{Turn, TurnState};
use crate::wait::{CLOSED_WAITS_MAX, CloseReason, ClosedWait, Wait};
use serde_json::{Value, json};

pub(super) struct Work<'a, 'b> {
    pub(super) session: Session,
    pub(super) effects: Vec<Effect>,
    pub(super) echoes: Vec<Echo>,
    /// A turn without an engine was answered, and has to end.
    pub(super) lost_is_answered: bool,
    events: Vec<Event>,
    context: &'a mut Context<'b>,
}

impl<'a, 'b> Work<'a, 'b> {
    pub(super) fn new(session: &Session, context: &'a mut Context<'b>) -> Work<'a, 'b> {
        Work {
            session: session.clone(),
            effects: Vec::new(),
            echoes: Vec::new(),
            lost_is_answered: false,
            events: Vec::new(),
            context,
        }
    }

    pub(super) fn done(self) -> Step {
        Step {
            session: self.session,
            events: self.events,
            effects: self.effects,
            echoes: self.echoes,
        }
    }

    /// Appends an event; status events are also the status.
    pub(super) fn append(&mut self, body: Body) -> Event {
        match &body {
            Body::StatusRunning {} => self.status(Status::Running),
            Body::StatusRescheduled {} => self.status(Status::Rescheduling),
            Body::StatusIdle { .. } => self.status(Status::Idle),
            Body::StatusTerminated {} => self.status(Status::Terminated),
            _ => {}
        }
        let id = (self.context.ids)();
        let event = Event { id, processed_at: rfc3339(self.context.now_ms), body };
        self.session.last_event = Some(event.id.clone());
        self.events.push(event.clone());
        event
    }

    fn status(&mut self, status: Status) {
        let now = self.context.now_ms;
        if let Some(since) = self.session.running_since_ms.take() {
            let ran = now.saturating_sub(since);
            self.session.active_ms = self.session.active_ms.saturating_add(ran);
        }
        self.session.running_since_ms = (status == Status::Running).then_some(now);
        self.session.status = status;
    }

    /// The turn that was given to an engine, if there is one.
    pub(super) fn active(&self) -> Option<&Turn> {
        self.session.turns.front().filter(|turn| turn.state != TurnState::Accepted)
    }

    /// Says that somebody has to answer.
    pub(super) fn requires_action(&mut self) {
        let event_ids = self.session.waits.iter().map(|wait| wait.id.clone()).collect();
        let stop_reason = StopReason::RequiresAction { event_ids };
        self.append(Body::StatusIdle { stop_reason });
    }

    /// Ends what the active turn has begun: its request, its tools, its waits. Each that was
    /// started ends exactly once, whatever ends the turn.
    pub(super) fn close_open(&mut self, why: &str) {
        self.close_request();
        for wait in std::mem::take(&mut self.session.waits) {
            if wait.kind == crate::wait::WaitKind::Confirmation {
                self.failed_tool(wait.id.clone(), why);
            }
            self.remember(wait, CloseReason::Ended);
        }
        self.close_tools(why);
    }

    /// Ends the request of the active turn.
    pub(super) fn close_request(&mut self) {
        if let Some(start) = self.session.open_span.take() {
            self.append(Body::ModelRequestEnd {
                model_request_start_id: start,
                is_error: true,
                model_usage: Usage::default(),
            });
        }
    }

    /// Ends the tools of the active turn that run, and none that waits.
    pub(super) fn close_tools(&mut self, why: &str) {
        for call in std::mem::take(&mut self.session.open_tools) {
            self.failed_tool(call, why);
        }
    }

    pub(super) fn failed_tool(&mut self, call: EventId, why: &str) {
        let content = vec![json!({"type": "text", "text": why})];
        self.tool_result(call, content, true);
    }

    /// What a tool gave, in the form of its kind.
    pub(super) fn tool_result(&mut self, call: EventId, content: Vec<Value>, is_error: bool) {
        let is_mcp = self.session.mcp_calls.remove(&call);
        self.append(match is_mcp {
            true => Body::McpToolResult { mcp_tool_use_id: call, content, is_error },
            false => Body::ToolResult { tool_use_id: call, content, is_error },
        });
    }

    pub(super) fn remember(&mut self, wait: Wait, reason: CloseReason) {
        self.session.closed.push_back(ClosedWait { wait, reason });
        while self.session.closed.len() > CLOSED_WAITS_MAX {
            self.session.closed.pop_front();
        }
    }

    /// The first turn is over. The next one goes on without a pause, so that who sent several
    /// messages sees one end.
    pub(super) fn end_turn(&mut self, stop_reason: StopReason) {
        self.session.turns.pop_front();
        if self.session.turns.is_empty() {
            self.append(Body::StatusIdle { stop_reason });
            return;
        }
        if self.session.status != Status::Running {
            self.append(Body::StatusRunning {});
        }
        self.effects.push(Effect::Dispatch);
    }
}
