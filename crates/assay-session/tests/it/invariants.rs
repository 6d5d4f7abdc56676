//! What must hold after every step, judged from outside: by the log and by the effects.

use assay_session::{Body, Effect, Event, EventId, Session, Status, Step, StopReason, TurnRef};
use std::collections::{BTreeMap, BTreeSet};

/// What was seen of a session.
#[derive(Default)]
pub struct Observer {
    last_id: Option<EventId>,
    status: Option<Status>,
    stop: Option<StopReason>,
    open_spans: BTreeSet<EventId>,
    /// Results by call of a built-in tool.
    tools: BTreeMap<EventId, usize>,
    started: BTreeSet<EventId>,
    answered: BTreeSet<EventId>,
    /// The run that was started and not heard to end.
    at_work: Option<TurnRef>,
    /// Messages whose turn may still start.
    pub owed: BTreeSet<EventId>,
    terminated: usize,
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

    fn event(&mut self, event: &Event) {
        assert!(self.last_id.as_ref() < Some(&event.id), "ids only grow");
        assert_eq!(self.terminated, 0, "nothing follows the end but a delete");
        self.last_id = Some(event.id.clone());
        match &event.body {
            Body::UserMessage { .. } => drop(self.owed.insert(event.id.clone())),
            // Whatever was not started is not started any more.
            Body::UserInterrupt {} => self.owed.clear(),
            Body::ToolUse { .. } => drop(self.tools.insert(event.id.clone(), 0)),
            Body::ToolResult { tool_use_id, .. } => {
                let results = self.tools.get_mut(tool_use_id).expect("a result of a known call");
                *results += 1;
                assert_eq!(*results, 1, "a tool ends once");
            }
            Body::ModelRequestStart {} => drop(self.open_spans.insert(event.id.clone())),
            Body::ModelRequestEnd { model_request_start_id, .. } => {
                assert!(self.open_spans.remove(model_request_start_id), "a request ends once");
            }
            Body::StatusRunning {} => self.status = Some(Status::Running),
            Body::StatusRescheduled {} => self.status = Some(Status::Rescheduling),
            Body::StatusIdle { stop_reason } => {
                self.status = Some(Status::Idle);
                self.stop = Some(stop_reason.clone());
            }
            Body::StatusTerminated {} => {
                self.status = Some(Status::Terminated);
                self.terminated += 1;
                self.owed.clear();
            }
            _ => {}
        }
    }

    fn effect(&mut self, effect: &Effect) {
        match effect {
            Effect::Start { turn, prompt } => {
                assert!(self.started.insert(prompt.clone()), "a message runs once");
                assert!(self.owed.remove(prompt), "only what was sent and not interrupted runs");
                assert_eq!(self.at_work, None, "one turn at a time, also after an interrupt");
                self.at_work = Some(turn.clone());
            }
            Effect::Answer { turn, call, .. } => {
                assert!(self.answered.insert(call.clone()), "a call is answered once");
                assert_eq!(self.at_work.as_ref(), Some(turn), "by the run that asked");
            }
            Effect::Abort(turn) => assert_eq!(self.at_work.as_ref(), Some(turn)),
            Effect::Dispatch => {}
        }
    }

    fn compare(&self, session: &Session) {
        assert_eq!(session.status, self.status.unwrap_or_default(), "the log says the status");
        let waits: Vec<EventId> = session.waits.iter().map(|wait| wait.id.clone()).collect();
        if session.status == Status::Idle && !session.turns.is_empty() {
            let expected = StopReason::RequiresAction { event_ids: waits };
            assert_eq!(self.stop.as_ref(), Some(&expected), "who rests says for what");
        } else if session.status != Status::Running {
            assert_eq!(waits, [], "nobody waits in a session that is at rest");
        }
        let rests = session.turns.is_empty();
        if rests {
            assert!(self.open_spans.is_empty(), "every request has ended");
            assert!(self.tools.values().all(|results| *results == 1), "every tool has ended");
            let is_still = matches!(session.status, Status::Idle | Status::Terminated);
            assert!(is_still, "no turn, no work");
        }
        let beyond_first = session.turns.iter().skip(1);
        let accepted = assay_session::TurnState::Accepted;
        assert!(beyond_first.clone().all(|turn| turn.state == accepted), "one at a time");
    }
}
