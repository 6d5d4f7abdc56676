//! What must hold after every step, judged from outside: by the log and by the effects.

use assay_session::{
    Body, Effect, Event, EventId, Session, Status, Step, StopReason, TurnRef, TurnState,
};
use std::collections::{BTreeMap, BTreeSet};

pub const IDS_GROW: &str = "ids only grow";
pub const END_IS_THE_END: &str = "nothing follows the end but a delete";
pub const KNOWN_TOOL: &str = "a result belongs to a call";
pub const TOOL_ENDS_ONCE: &str = "a tool ends once";
pub const REQUEST_ENDS_ONCE: &str = "a request to a model ends once";
pub const RUNS_ONCE: &str = "a message runs once";
pub const RUNS_IF_OWED: &str = "only what was sent and not interrupted runs";
pub const ONE_AT_A_TIME: &str = "one turn at a time, also after an interrupt";
pub const ANSWERED_ONCE: &str = "a call is answered once";
pub const ANSWERED_TO_ITS_RUN: &str = "a call is answered to the run that asked";
pub const TAKEN_TOGETHER: &str = "calls that wait can be answered in one request";
pub const ABORTS_WHAT_RUNS: &str = "only what runs is told to stop";
pub const STATUS_IN_LOG: &str = "the log says the status";
pub const RESTS_FOR_A_REASON: &str = "who rests says for what";
pub const REST_IS_REST: &str = "in a session without turns everything has ended";
pub const NOTHING_OUTLIVES_A_RESTART: &str = "after a restart only what waits has not ended";
pub const ONE_LEFT_ACCEPTED: &str = "only the first turn has begun";

/// What was seen of a session.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Observer {
    /// What did not hold.
    pub broken: Vec<&'static str>,
    last_id: Option<EventId>,
    status: Option<Status>,
    stop: Option<StopReason>,
    open_spans: BTreeSet<EventId>,
    /// Whether it is of an MCP server, and how many results it has, by call of a tool.
    tools: BTreeMap<EventId, (bool, usize)>,
    started: BTreeSet<EventId>,
    answered: BTreeSet<EventId>,
    /// The run that was started and not heard to end.
    at_work: Option<TurnRef>,
    owed: BTreeSet<EventId>,
}

impl Observer {
    /// Looks at a step that was taken.
    pub fn see(&mut self, step: &Step) {
        for event in &step.events {
            self.event(event);
        }
        for effect in &step.effects {
            self.effect(effect);
        }
        self.compare(&step.session);
    }

    /// The run has ended: an engine said so, or the process is gone.
    pub fn run_ended(&mut self) {
        self.at_work = None;
    }

    /// The process was started again, and what it had left was taken up.
    pub fn recovered(&mut self, session: &Session) {
        let waits: BTreeSet<&EventId> = session.waits.iter().map(|wait| &wait.id).collect();
        let mut open = self.tools.iter().filter(|(_, (_, results))| *results == 0);
        let all_wait = open.all(|(call, _)| waits.contains(call));
        self.check(all_wait && self.open_spans.is_empty(), NOTHING_OUTLIVES_A_RESTART);
    }

    /// Messages whose turn may still start.
    pub fn owed(&self) -> &BTreeSet<EventId> {
        &self.owed
    }

    pub fn check(&mut self, holds: bool, invariant: &'static str) {
        if !holds && !self.broken.contains(&invariant) {
            self.broken.push(invariant);
        }
    }

    fn event(&mut self, event: &Event) {
        self.check(self.last_id.as_ref() < Some(&event.id), IDS_GROW);
        let is_delete = event.body == Body::SessionDeleted {};
        self.check(self.status != Some(Status::Terminated) || is_delete, END_IS_THE_END);
        self.last_id = Some(event.id.clone());
        match &event.body {
            Body::UserMessage { .. } => drop(self.owed.insert(event.id.clone())),
            // Whatever was not started is not started any more.
            Body::UserInterrupt {} => self.owed.clear(),
            Body::ToolUse { .. } => drop(self.tools.insert(event.id.clone(), (false, 0))),
            Body::McpToolUse { .. } => drop(self.tools.insert(event.id.clone(), (true, 0))),
            Body::ToolResult { tool_use_id, .. } => self.result(tool_use_id, false),
            Body::McpToolResult { mcp_tool_use_id, .. } => self.result(mcp_tool_use_id, true),
            Body::ModelRequestStart {} => drop(self.open_spans.insert(event.id.clone())),
            Body::ModelRequestEnd { model_request_start_id, .. } => {
                let was_open = self.open_spans.remove(model_request_start_id);
                self.check(was_open, REQUEST_ENDS_ONCE);
            }
            Body::StatusRunning {} => self.status = Some(Status::Running),
            Body::StatusRescheduled {} => self.status = Some(Status::Rescheduling),
            Body::StatusIdle { stop_reason } => {
                self.status = Some(Status::Idle);
                self.stop = Some(stop_reason.clone());
            }
            Body::StatusTerminated {} => {
                self.status = Some(Status::Terminated);
                self.owed.clear();
            }
            _ => {}
        }
    }

    fn result(&mut self, call: &EventId, is_mcp: bool) {
        let Some((of_server, results)) = self.tools.get_mut(call) else {
            self.check(false, KNOWN_TOOL);
            return;
        };
        *results += 1;
        let (is_of_its_kind, ends_once) = (*of_server == is_mcp, *results == 1);
        self.check(is_of_its_kind, KNOWN_TOOL);
        self.check(ends_once, TOOL_ENDS_ONCE);
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Start { turn, prompt } => {
                let is_first = self.started.insert(prompt.clone());
                self.check(is_first, RUNS_ONCE);
                let was_owed = self.owed.remove(prompt);
                self.check(was_owed, RUNS_IF_OWED);
                self.check(self.at_work.is_none(), ONE_AT_A_TIME);
                self.at_work = Some(turn.clone());
            }
            Effect::Answer { turn, call, .. } => {
                let is_first = self.answered.insert(call.clone());
                self.check(is_first, ANSWERED_ONCE);
                self.check(self.at_work.as_ref() == Some(turn), ANSWERED_TO_ITS_RUN);
            }
            Effect::Abort(turn) => {
                self.check(self.at_work.as_ref() == Some(turn), ABORTS_WHAT_RUNS);
            }
            Effect::Dispatch => {}
        }
    }

    fn compare(&mut self, session: &Session) {
        self.check(session.status == self.status.unwrap_or_default(), STATUS_IN_LOG);
        let waits: Vec<EventId> = session.waits.iter().map(|wait| wait.id.clone()).collect();
        if session.status == Status::Idle && !session.turns.is_empty() {
            let expected = StopReason::RequiresAction { event_ids: waits };
            self.check(self.stop.as_ref() == Some(&expected), RESTS_FOR_A_REASON);
        } else if session.status != Status::Running {
            self.check(waits.is_empty(), RESTS_FOR_A_REASON);
        }
        if session.turns.is_empty() {
            let is_still = matches!(session.status, Status::Idle | Status::Terminated);
            let all_ended = self.tools.values().all(|(_, results)| *results == 1);
            self.check(is_still && all_ended && self.open_spans.is_empty(), REST_IS_REST);
            // The state has nothing of them either: it does not grow with the log.
            let has_none = session.open_tools.is_empty() && session.mcp_calls.is_empty();
            self.check(has_none && session.open_span.is_none(), REST_IS_REST);
        }
        let mut beyond_first = session.turns.iter().skip(1);
        let all_wait = beyond_first.all(|turn| turn.state == TurnState::Accepted);
        self.check(all_wait, ONE_LEFT_ACCEPTED);
    }
}
