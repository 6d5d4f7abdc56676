//! Random clients, engines and restarts, against the invariants. A failure names its seed.

use super::invariants::Observer;
use super::support::{Bench, call, confirm, message, result};
use assay_session::{
    Call, CallKind, Effect, ErrorKind, EventId, Inbound, Input, RetryStatus, Said, SessionError,
    Status, ToolAnswer, TurnRef, Usage, WaitKind,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SEEDS: u64 = 400;
const STEPS: usize = 120;

/// A world of one session: who works for it, and what is known to clients.
struct World {
    bench: Bench,
    observer: Observer,
    /// The engine that runs, as the shell knows it.
    engine: Option<TurnRef>,
    /// Engines that were told to stop and have not yet.
    stopping: Option<TurnRef>,
    calls: Vec<EventId>,
    dispatch: bool,
    processes: u32,
}

impl World {
    fn new() -> World {
        World {
            bench: Bench::default(),
            observer: Observer::default(),
            engine: None,
            stopping: None,
            calls: Vec::new(),
            dispatch: false,
            processes: 1,
        }
    }

    fn take(&mut self, input: Input) -> bool {
        let Ok(step) = self.bench.take(input) else { return false };
        self.observer.see(&step);
        assert_eq!(self.observer.broken, [""; 0]);
        for event in &step.events {
            if event.body.type_name().ends_with("tool_use") {
                self.calls.push(event.id.clone());
            }
        }
        for effect in step.effects {
            match effect {
                Effect::Dispatch => self.dispatch = true,
                Effect::Start { turn, .. } => self.engine = Some(turn),
                Effect::Abort(_) => self.stopping = self.engine.take(),
                Effect::Answer { .. } => {}
            }
        }
        true
    }

    fn random_step(&mut self, rng: &mut impl Rng) {
        match rng.random_range(0..100) {
            0..15 => {
                self.take(Input::Send(vec![message("m")]));
            }
            15..22 => {
                self.take(Input::Send(vec![Inbound::Interrupt]));
            }
            22..38 => self.client_answers(rng),
            38..40 => self.client_answers_all(ToolAnswer::Allow),
            40..55 => self.shell_dispatches(),
            55..85 => self.engine_speaks(rng),
            85..92 => self.engine_stops(),
            92..95 => self.process_dies(),
            95..97 => self.stale_engine_speaks(),
            97 => {
                self.take(Input::Archive);
            }
            98 => {
                self.take(Input::Update { title: Some("t".into()), metadata: None });
            }
            _ => {
                self.take(Input::Send(vec![message("a"), message("b")]));
            }
        }
    }

    fn client_answers(&mut self, rng: &mut impl Rng) {
        if self.calls.is_empty() {
            return;
        }
        // One call, one twice, or several different ones.
        let count = rng.random_range(1..=3);
        let mut events: Vec<Inbound> = (0..count).map(|_| self.any_answer(rng)).collect();
        if rng.random_range(0..4) == 0 {
            events.push(events[0].clone());
        }
        self.take(Input::Send(events));
    }

    fn any_answer(&self, rng: &mut impl Rng) -> Inbound {
        let call = self.calls[rng.random_range(0..self.calls.len())].clone();
        let decision = if rng.random() { ToolAnswer::Allow } else { ToolAnswer::Deny };
        let answers = [result(&call, "4"), result(&call, "5"), confirm(&call, decision)];
        answers[rng.random_range(0..3)].clone()
    }

    /// Answers everything that waits, in one request: nobody is told that it does not.
    fn client_answers_all(&mut self, decision: ToolAnswer) {
        let answers: Vec<Inbound> = self
            .bench
            .session
            .waits
            .iter()
            .map(|wait| match wait.kind {
                WaitKind::Custom => result(&wait.id, "4"),
                WaitKind::Confirmation => confirm(&wait.id, decision),
            })
            .collect();
        if !answers.is_empty() {
            assert!(self.take(Input::Send(answers)), "all of them wait");
        }
    }

    fn shell_dispatches(&mut self) {
        if self.dispatch {
            self.dispatch = false;
            let owner = format!("p{}", self.processes);
            assert!(self.take(Input::Dispatch { owner }));
        }
    }

    fn engine_speaks(&mut self, rng: &mut impl Rng) {
        let Some(turn) = self.engine.clone() else { return };
        let error =
            |retry_status| SessionError::new(ErrorKind::UnknownError, "e".into(), retry_status);
        let of_server = Call { server: Some("s".into()), ..call(CallKind::Ask) };
        let calls = vec![call(CallKind::Custom), call(CallKind::Ask), of_server];
        let tool = self.bench.session.open_tools.first().cloned();
        let said = match rng.random_range(0..12) {
            0 => Said::RequestStart,
            1 => Said::RequestEnd { is_error: false, usage: Usage::default(), cost_nanos: None },
            2 => Said::Message("x".into()),
            3 => Said::ToolUse {
                server: rng.random_bool(0.5).then(|| "s".into()),
                name: "t".into(),
                input: serde_json::Map::new(),
            },
            4 => Said::Calls(calls),
            5 => Said::Rescheduled(error(RetryStatus::Retrying)),
            6 => Said::Resumed,
            7 => Said::Failed(error(RetryStatus::Exhausted)),
            8 => Said::Finished,
            9 => Said::Refused {
                server: rng.random_bool(0.5).then(|| "s".into()),
                name: "t".into(),
                input: serde_json::Map::new(),
                why: "there is none".into(),
            },
            _ => match tool {
                Some(call) => Said::ToolResult { call, content: Vec::new(), is_error: false },
                None => Said::Thinking,
            },
        };
        let fails = matches!(said, Said::Failed(_));
        if !fails && said != Said::Finished {
            self.take(Input::Engine { turn, said: vec![said] });
        } else if fails || self.bench.session.waits.is_empty() {
            self.engine = None;
            self.observer.run_ended();
            assert!(self.take(Input::Engine { turn, said: vec![said] }));
        }
    }

    fn engine_stops(&mut self) {
        if let Some(turn) = self.stopping.take() {
            self.observer.run_ended();
            // An archived session does not wait for it; then this is not heard.
            self.take(Input::Aborted(turn));
        }
    }

    fn stale_engine_speaks(&mut self) {
        let Some(turn) = self.stopping.clone() else { return };
        let said = vec![Said::Message("too late".into())];
        assert!(!self.take(Input::Engine { turn, said }), "an interrupted engine is not heard");
    }

    fn process_dies(&mut self) {
        (self.engine, self.stopping, self.dispatch) = (None, None, false);
        self.processes += 1;
        self.observer.run_ended();
        assert!(self.take(Input::Recover));
        self.observer.recovered(&self.bench.session);
        assert_eq!(self.observer.broken, [""; 0]);
    }

    /// Lets everything that is owed happen, and nothing else.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            self.engine_stops();
            self.shell_dispatches();
            self.client_answers_all(ToolAnswer::Deny);
            if let Some(turn) = self.engine.take() {
                self.observer.run_ended();
                assert!(self.take(Input::Engine { turn, said: vec![Said::Finished] }));
            }
            if self.bench.session.turns.is_empty() && !self.dispatch {
                return;
            }
        }
        panic!("it never comes to rest: {:?}", self.bench.session);
    }
}

#[test]
fn whatever_happens_the_invariants_hold_and_every_message_gets_its_turn() {
    for seed in 0..SEEDS {
        let ended = std::panic::catch_unwind(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut world = World::new();
            for _ in 0..STEPS {
                world.random_step(&mut rng);
            }
            world.settle();
            let status = world.bench.session.status;
            assert!(matches!(status, Status::Idle | Status::Terminated), "{status:?}");
            assert!(world.observer.owed().is_empty(), "swallowed: {:?}", world.observer.owed());
        });
        ended.unwrap_or_else(|_| panic!("seed {seed}"));
    }
}

#[test]
fn a_restart_after_any_step_of_a_turn_leaves_a_usable_session() {
    let script: [fn(&mut World); 6] = [
        |world| assert!(world.take(Input::Send(vec![message("m"), message("n")]))),
        World::shell_dispatches,
        |world| world.say(vec![Said::RequestStart]),
        |world| {
            let end =
                Said::RequestEnd { is_error: false, usage: Usage::default(), cost_nanos: None };
            let calls = vec![call(CallKind::Custom), call(CallKind::Ask)];
            world.say(vec![Said::Calls(calls), end]);
        },
        |world| {
            let id = world.bench.last_id("agent.custom_tool_use");
            assert!(world.take(Input::Send(vec![result(&id, "4")])));
        },
        |world| assert!(world.take(Input::Send(vec![Inbound::Interrupt]))),
    ];
    for crash_after in 0..=script.len() {
        let mut world = World::new();
        for part in &script[..crash_after] {
            part(&mut world);
        }
        world.process_dies();
        world.process_dies();
        world.settle();
        assert!(world.take(Input::Send(vec![message("after")])), "crash after {crash_after}");
        world.settle();
        assert!(world.observer.owed().is_empty(), "crash after {crash_after}");
        assert_eq!(world.bench.session.status, Status::Idle);
    }
}

impl World {
    fn say(&mut self, said: Vec<Said>) {
        let turn = self.engine.clone().expect("it runs");
        assert!(self.take(Input::Engine { turn, said }));
    }
}
