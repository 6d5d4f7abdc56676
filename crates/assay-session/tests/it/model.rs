//! Everything that can happen to one session in a small world: clients that send, interrupt,
//! answer twice, archive and delete; an engine that is slow to hear that it should stop; effects
//! that are durable and not yet done; and a process that dies at any moment. All of it is explored.

use super::broken::Mistake;
use super::invariants::{Observer, TAKEN_TOGETHER};
use super::support::{call, confirm, message, result};
use assay_session::{
    CallKind, Context, Effect, ErrorKind, EventId, Inbound, Input, RetryStatus, Said, Session,
    SessionError, Status, ToolAnswer, TurnRef, Usage, WaitKind,
};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

pub const NOT_SWALLOWED: &str = "every message gets its turn, if it was not interrupted";
pub const NOT_HEARD: &str = "an interrupted engine is not heard";
pub const NOT_WHILE_IT_RUNS: &str = "what runs is neither archived nor deleted";
pub const ALWAYS_RECOVERS: &str = "a restart is always possible";

/// The invariants of steps, all of them: which one is broken stands in the state.
pub const EVERY_STEP: &str = "what must hold after every step";

/// How often each of these may happen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Budget {
    pub messages: u8,
    pub interrupts: u8,
    pub answers: u8,
    pub says: u8,
    pub crashes: u8,
    pub archives: u8,
    pub deletes: u8,
}

/// A world, and a mistake in its machine, to see whether it is found.
#[derive(Clone, Debug)]
pub struct Small {
    pub budget: Budget,
    /// Kinds of calls that the engine makes at once.
    pub calls: Vec<CallKind>,
    pub mistake: Option<Mistake>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct World {
    session: Session,
    observer: Observer,
    ids: u32,
    /// Durable, and not yet done.
    effects: VecDeque<Effect>,
    /// A dispatch is on its way.
    is_dispatching: bool,
    engine: Option<TurnRef>,
    /// Told to stop, and not stopped yet.
    stopping: Option<TurnRef>,
    calls: Vec<(EventId, WaitKind)>,
    left: Budget,
    is_deleted: bool,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Its parts have no hash of their own; the text has all of them.
        format!("{self:?}").hash(state);
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Action {
    Message,
    Interrupt,
    /// The call, and whether it is the usual answer or another one.
    Answer(usize, bool),
    /// Two different calls at once, each answered in the usual way.
    Answers(usize, usize),
    Archive,
    Delete,
    /// The shell does the next thing that is durable.
    Deliver,
    Dispatch,
    EngineSays(Voice),
    EngineStops,
    Crash,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Voice {
    Request,
    RequestEnd,
    Tool,
    ToolResult,
    Calls,
    Retry,
    Resumed,
    Fail,
    Finish,
}

const VOICES: [Voice; 9] = [
    Voice::Request,
    Voice::RequestEnd,
    Voice::Tool,
    Voice::ToolResult,
    Voice::Calls,
    Voice::Retry,
    Voice::Resumed,
    Voice::Fail,
    Voice::Finish,
];

impl World {
    fn take(&mut self, mistake: Option<Mistake>, input: Input) -> bool {
        let mut ids = || {
            self.ids += 1;
            EventId(format!("sevt_{:04}", self.ids))
        };
        let mut context = Context { now_ms: 0, ids: &mut ids };
        let taken = match mistake {
            None => assay_session::step(&self.session, &input, &mut context),
            Some(mistake) => mistake.step(&self.session, &input, &mut context),
        };
        let Ok(step) = taken else { return false };
        self.observer.see(&step);
        for event in &step.events {
            match event.body.type_name() {
                "agent.custom_tool_use" => self.calls.push((event.id.clone(), WaitKind::Custom)),
                "agent.tool_use" => self.calls.push((event.id.clone(), WaitKind::Confirmation)),
                _ => {}
            }
        }
        self.effects.extend(step.effects);
        self.session = step.session;
        true
    }

    fn said(&self, voice: Voice, calls: &[CallKind]) -> Option<Said> {
        let error = |status| SessionError::new(ErrorKind::UnknownError, String::new(), status);
        Some(match voice {
            Voice::Request => Said::RequestStart,
            Voice::RequestEnd => {
                Said::RequestEnd { is_error: false, usage: Usage::default(), cost_nanos: None }
            }
            Voice::Tool => {
                Said::ToolUse { server: None, name: "t".into(), input: serde_json::Map::new() }
            }
            Voice::ToolResult => {
                let call = self.session.open_tools.first()?.clone();
                Said::ToolResult { call, content: Vec::new(), is_error: false }
            }
            Voice::Calls => Said::Calls(calls.iter().map(|kind| call(*kind)).collect()),
            Voice::Retry => Said::Rescheduled(error(RetryStatus::Retrying)),
            Voice::Resumed => Said::Resumed,
            Voice::Fail => Said::Failed(error(RetryStatus::Exhausted)),
            Voice::Finish => Said::Finished,
        })
    }

    /// An engine that is not heard any more stops by itself; one that said its last word, too.
    fn engine_says(&mut self, small: &Small, voice: Voice) -> Option<()> {
        let turn = self.engine.clone().or(self.stopping.clone())?;
        let said = self.said(voice, &small.calls)?;
        let ends = matches!(voice, Voice::Fail | Voice::Finish);
        if voice == Voice::Finish && !self.session.waits.is_empty() {
            return None;
        }
        if !ends {
            self.left.says = self.left.says.checked_sub(1)?;
        }
        let is_interrupted = self.session.aborting.as_ref() == Some(&turn);
        let before = self.observer.clone();
        if ends {
            self.observer.run_ended();
        }
        let is_heard = self.take(small.mistake, Input::Engine { turn, said: vec![said] });
        self.observer.check(!is_heard || !is_interrupted, NOT_HEARD);
        if is_heard && ends {
            self.engine = None;
        } else if !is_heard {
            // What does not fit is not said. Who is not heard any more stops by itself.
            self.observer = before;
            self.engine.take_if(|_| is_interrupted)?;
            self.observer.run_ended();
        }
        Some(())
    }

    fn answer_to(&self, index: usize, is_usual: bool) -> Option<Inbound> {
        let (id, kind) = self.calls.get(index)?;
        Some(match (kind, is_usual) {
            (WaitKind::Custom, true) => result(id, "4"),
            (WaitKind::Custom, false) => result(id, "5"),
            (WaitKind::Confirmation, true) => confirm(id, ToolAnswer::Allow),
            (WaitKind::Confirmation, false) => confirm(id, ToolAnswer::Deny),
        })
    }

    fn answer(&mut self, small: &Small, index: usize, is_usual: bool) -> Option<()> {
        let answer = self.answer_to(index, is_usual)?;
        self.left.answers = self.left.answers.checked_sub(1)?;
        self.take(small.mistake, Input::Send(vec![answer])).then_some(())
    }

    fn answer_both(&mut self, small: &Small, one: usize, other: usize) -> Option<()> {
        let waits = |at: usize| self.session.waits.iter().any(|wait| wait.id == self.calls[at].0);
        let both_wait = waits(one) && waits(other);
        let answers = vec![self.answer_to(one, true)?, self.answer_to(other, true)?];
        self.left.answers = self.left.answers.checked_sub(1)?;
        let is_taken = self.take(small.mistake, Input::Send(answers));
        self.observer.check(is_taken || !both_wait, TAKEN_TOGETHER);
        (is_taken || both_wait).then_some(())
    }

    fn deliver(&mut self, small: &Small) -> Option<()> {
        match self.effects.pop_front()? {
            Effect::Dispatch => self.is_dispatching = true,
            Effect::Start { turn, .. } => self.engine = Some(turn),
            Effect::Answer { .. } => {}
            Effect::Abort(turn) if self.engine.as_ref() == Some(&turn) => {
                self.stopping = self.engine.take();
            }
            Effect::Abort(turn) => drop(self.take(small.mistake, Input::Aborted(turn))),
        }
        Some(())
    }

    fn end(&mut self, small: &Small, input: Input) -> Option<()> {
        let ran = matches!(self.session.status, Status::Running | Status::Rescheduling);
        if !self.take(small.mistake, input) {
            return None;
        }
        self.observer.check(!ran, NOT_WHILE_IT_RUNS);
        Some(())
    }

    /// Whatever was not durable is gone. Before anybody is served, what was left is taken up.
    fn crash(&mut self, small: &Small) -> Option<()> {
        self.left.crashes = self.left.crashes.checked_sub(1)?;
        self.effects.clear();
        (self.is_dispatching, self.engine, self.stopping) = (false, None, None);
        self.observer.run_ended();
        let recovered = self.take(small.mistake, Input::Recover);
        self.observer.check(recovered, ALWAYS_RECOVERS);
        self.observer.recovered(&self.session);
        Some(())
    }

    fn act(&mut self, small: &Small, action: Action) -> Option<()> {
        match action {
            Action::Message => {
                self.left.messages = self.left.messages.checked_sub(1)?;
                self.take(small.mistake, Input::Send(vec![message("m")])).then_some(())
            }
            Action::Interrupt => {
                self.left.interrupts = self.left.interrupts.checked_sub(1)?;
                self.take(small.mistake, Input::Send(vec![Inbound::Interrupt])).then_some(())
            }
            Action::Answer(index, is_usual) => self.answer(small, index, is_usual),
            Action::Answers(one, other) => self.answer_both(small, one, other),
            Action::Archive => {
                self.left.archives = self.left.archives.checked_sub(1)?;
                self.end(small, Input::Archive)
            }
            Action::Delete => {
                self.left.deletes = self.left.deletes.checked_sub(1)?;
                self.is_deleted = true;
                self.end(small, Input::Delete)
            }
            Action::Deliver => self.deliver(small),
            Action::Dispatch => {
                self.is_dispatching = !std::mem::replace(&mut self.is_dispatching, false);
                (!self.is_dispatching).then_some(())?;
                self.take(small.mistake, Input::Dispatch { owner: "p".into() }).then_some(())
            }
            Action::EngineSays(voice) => self.engine_says(small, voice),
            Action::EngineStops => {
                let turn = self.stopping.take()?;
                self.observer.run_ended();
                // A session that is deleted does not wait for it; then this is not heard.
                self.take(small.mistake, Input::Aborted(turn));
                Some(())
            }
            Action::Crash => self.crash(small),
        }
    }

    /// Nobody but a client can do anything now.
    fn is_quiet(&self) -> bool {
        let nobody = self.engine.is_none() && self.stopping.is_none() && !self.is_dispatching;
        nobody && self.effects.is_empty()
    }

    /// Then nothing is left to be done, but what waits for a client since an earlier process.
    fn has_swallowed(&self) -> bool {
        let first = self.session.turns.front();
        let waits = first.is_some_and(|turn| turn.lost) && !self.session.waits.is_empty();
        self.is_quiet() && !waits && (first.is_some() || !self.observer.owed().is_empty())
    }
}

impl Model for Small {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            session: Session::default(),
            observer: Observer::default(),
            ids: 0,
            effects: VecDeque::new(),
            is_dispatching: false,
            engine: None,
            stopping: None,
            calls: Vec::new(),
            left: self.budget,
            is_deleted: false,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        use Action::*;
        // A deleted session has no one any more; a broken world need not go on.
        if world.is_deleted || !world.observer.broken.is_empty() {
            return;
        }
        actions.extend([
            Message,
            Interrupt,
            Archive,
            Delete,
            Deliver,
            Dispatch,
            EngineStops,
            Crash,
        ]);
        actions.extend(VOICES.map(EngineSays));
        let answers = (0..world.calls.len()).flat_map(|n| [Answer(n, true), Answer(n, false)]);
        actions.extend(answers);
        let calls = 0..world.calls.len();
        let pairs = calls.clone().flat_map(|one| calls.clone().map(move |n| (one, n)));
        let pairs = pairs.filter(|(one, other)| one != other).map(|(one, n)| Answers(one, n));
        actions.extend(pairs);
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        world.act(self, action)?;
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Small>> {
        vec![
            Property::always(NOT_SWALLOWED, |_, world: &World| {
                world.is_deleted || !world.has_swallowed()
            }),
            Property::always(EVERY_STEP, |_, world: &World| world.observer.broken.is_empty()),
        ]
    }
}

/// What is broken, if anything is, and how many states were looked at.
pub fn explore(small: Small) -> (Vec<&'static str>, usize) {
    let checked = small.checker().finish_when(HasDiscoveries::Any).spawn_bfs().join();
    let mut broken = Vec::new();
    for (property, way) in checked.discoveries() {
        let world = way.last_state();
        match property {
            EVERY_STEP => broken.extend(&world.observer.broken),
            other => broken.push(other),
        }
        println!("{property}: {:?}", way.into_actions());
    }
    (broken, checked.unique_state_count())
}

/// Each world is small in another way; together they have everything.
pub fn worlds() -> [(&'static str, Small); 4] {
    let small = |budget, calls: &[CallKind]| Small { budget, calls: calls.to_vec(), mistake: None };
    let none = Budget::default();
    [
        (
            "messages, interrupts and restarts",
            small(Budget { messages: 3, interrupts: 2, says: 1, crashes: 2, ..none }, &[]),
        ),
        (
            "a custom tool, answered twice",
            small(
                Budget { messages: 2, interrupts: 1, answers: 3, says: 1, crashes: 1, ..none },
                &[CallKind::Custom],
            ),
        ),
        (
            "two calls at once, and an end",
            small(
                Budget { messages: 1, answers: 3, says: 2, crashes: 1, archives: 2, ..none },
                &[CallKind::Custom, CallKind::Ask],
            ),
        ),
        (
            "archive and delete",
            small(
                Budget {
                    messages: 2,
                    interrupts: 1,
                    says: 2,
                    crashes: 1,
                    archives: 2,
                    deletes: 1,
                    ..none
                },
                &[CallKind::Ask],
            ),
        ),
    ]
}

#[test]
fn whatever_a_small_world_can_do_the_invariants_hold() {
    for (name, small) in worlds() {
        let (broken, states) = explore(small);
        println!("{name}: {states} states");
        assert_eq!(broken, [""; 0], "{name}");
        assert!(states > 1000, "{name}: too small a world to say anything: {states} states");
    }
}
