//! A session under test: its state, its log, and what it asked for.

use assay_session::{
    Call, CallKind, Context, Effect, Event, EventId, Inbound, Input, Mint, Refusal, Said, Session,
    Step, TurnRef, prefix, step,
};
use serde_json::{Map, json};

/// A session, everything it appended, and ids that grow.
#[derive(Clone, Default)]
pub struct Bench {
    pub session: Session,
    pub log: Vec<Event>,
    mint: Mint,
    now_ms: u64,
}

impl Bench {
    /// Takes a step and keeps what came of it, as after a commit. The state goes through its
    /// stored form each time: a restart may happen anywhere.
    pub fn take(&mut self, input: Input) -> Result<Step, Refusal> {
        self.now_ms += 7;
        let now_ms = 1_794_888_306_789 + self.now_ms;
        let mint = &mut self.mint;
        let mut ids = || EventId(mint.next(prefix::EVENT, now_ms, [1, 1]));
        let taken = step(&self.session, &input, &mut Context { now_ms, ids: &mut ids })?;
        let stored = serde_json::to_string(&taken.session).expect("a state is data");
        self.session = serde_json::from_str(&stored).expect("its own text");
        assert_eq!(self.session, taken.session, "the stored form loses something");
        self.log.extend(taken.events.iter().cloned());
        Ok(taken)
    }

    pub fn send(&mut self, events: &[Inbound]) -> Result<Step, Refusal> {
        self.take(Input::Send(events.to_vec()))
    }

    /// Dispatches and gives the run that was started.
    pub fn start(&mut self) -> TurnRef {
        let step = self.take(Input::Dispatch { owner: "p1".into() }).expect("always taken");
        match &step.effects[..] {
            [Effect::Start { turn, .. }] => turn.clone(),
            other => panic!("{other:?}"),
        }
    }

    pub fn say(&mut self, turn: &TurnRef, said: &[Said]) -> Result<Step, Refusal> {
        self.take(Input::Engine { turn: turn.clone(), said: said.to_vec() })
    }

    /// Names of all events after the first `skip`.
    pub fn names(&self, skip: usize) -> Vec<&'static str> {
        self.log[skip..].iter().map(|event| event.body.type_name()).collect()
    }

    pub fn last_id(&self, name: &str) -> EventId {
        let named = self.log.iter().rev().find(|event| event.body.type_name() == name);
        named.unwrap_or_else(|| panic!("no {name}")).id.clone()
    }
}

pub fn message(text: &str) -> Inbound {
    Inbound::Message { content: vec![json!({"type": "text", "text": text})] }
}

pub fn result(call: &EventId, text: &str) -> Inbound {
    let content = vec![json!({"type": "text", "text": text})];
    Inbound::Result { call: call.clone(), content, is_error: false }
}

pub fn confirm(call: &EventId, result: assay_session::ToolAnswer) -> Inbound {
    Inbound::Confirmation { call: call.clone(), result, deny_message: None }
}

pub fn call(kind: CallKind) -> Call {
    Call { kind, server: None, name: "t".into(), input: Map::new() }
}
