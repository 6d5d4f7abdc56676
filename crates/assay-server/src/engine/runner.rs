//! Starts an engine for each turn, hands answers to it, and stops it.
//!
//! Whatever is done here was durable before: effects come from commits.

use super::Engines;
use super::course::Course;
use super::host::{Luggage, Voice};
use crate::arranging::Arranger;
use crate::names::Names;
use crate::oauth::Renewer;
use crate::store::{Kernel, Reader, SessionKey};
use assay_session::{Answer, Effect, EventId, Input, TurnRef};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// An engine at work.
struct Running {
    turn: TurnRef,
    answers: mpsc::UnboundedSender<(EventId, Answer)>,
    /// Dropped to stop it.
    _stop: oneshot::Sender<()>,
}

/// Starts and stops engines.
pub struct Runner {
    /// Writes.
    pub kernel: Kernel,
    /// Reads.
    pub reader: Reader,
    /// New ids.
    pub names: Arc<Names>,
    /// What answers.
    pub engines: Arc<Engines>,
    /// The name of this process.
    pub owner: String,
    /// Where the files are that end holds.
    pub holds: PathBuf,
    /// Where the bytes of files are.
    pub objects: PathBuf,
    /// Puts the files of sessions where tools look.
    pub(crate) arranger: Arc<Arranger>,
    /// Opens and renews secrets.
    pub(crate) renewer: Arc<Renewer>,
}

impl Runner {
    /// Does what commits ask for, until there are none any more.
    pub async fn run(self, mut effects: mpsc::UnboundedReceiver<(SessionKey, Effect)>) {
        let (ended, mut endings) = mpsc::unbounded_channel::<(SessionKey, TurnRef)>();
        let mut running: HashMap<SessionKey, Running> = HashMap::new();
        loop {
            tokio::select! {
                effect = effects.recv() => match effect {
                    Some((key, effect)) => self.effect(key, effect, &mut running, &ended),
                    None => return,
                },
                Some((key, turn)) = endings.recv() => {
                    if running.get(&key).is_some_and(|engine| engine.turn == turn) {
                        running.remove(&key);
                    }
                }
            }
        }
    }

    fn effect(
        &self,
        key: SessionKey,
        effect: Effect,
        running: &mut HashMap<SessionKey, Running>,
        ended: &mpsc::UnboundedSender<(SessionKey, TurnRef)>,
    ) {
        match effect {
            Effect::Dispatch => self.step_later(key, Input::Dispatch { owner: self.owner.clone() }),
            Effect::Start { turn, prompt } => {
                let (answers, heard) = mpsc::unbounded_channel();
                let (stop, stopped) = oneshot::channel();
                let engine = Running { turn: turn.clone(), answers, _stop: stop };
                running.insert(key.clone(), engine);
                self.start(key, turn, prompt, heard, stopped, ended.clone());
            }
            Effect::Answer { turn, call, answer } => {
                if let Some(engine) = running.get(&key).filter(|engine| engine.turn == turn) {
                    // One that has just ended needs no answer.
                    let _unheard = engine.answers.send((call, answer));
                }
            }
            Effect::Abort(turn) => {
                let is_it = running.get(&key).is_some_and(|engine| engine.turn == turn);
                match is_it {
                    // Its task says when it has stopped.
                    true => drop(running.remove(&key)),
                    false => self.step_later(key, Input::Aborted(turn)),
                }
            }
        }
    }

    fn voice(&self, key: SessionKey, turn: TurnRef) -> Voice {
        Voice {
            kernel: self.kernel.clone(),
            reader: self.reader.clone(),
            names: self.names.clone(),
            objects: self.objects.clone(),
            renewer: self.renewer.clone(),
            key,
            turn,
        }
    }

    fn step_later(&self, key: SessionKey, input: Input) {
        let nobody = TurnRef { number: 0, owner: String::new(), generation: 0 };
        let voice = self.voice(key, nobody);
        tokio::spawn(async move {
            // One that comes too late is none.
            let _late = voice.persist(input, Luggage::default()).await;
        });
    }

    fn start(
        &self,
        key: SessionKey,
        turn: TurnRef,
        prompt: EventId,
        answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
        stopped: oneshot::Receiver<()>,
        ended: mpsc::UnboundedSender<(SessionKey, TurnRef)>,
    ) {
        let voice = self.voice(key.clone(), turn.clone());
        let (engines, holds) = (self.engines.clone(), self.holds.clone());
        let (arranger, room) = (self.arranger.clone(), Arc::default());
        tokio::spawn(async move {
            let course = Course { voice, engines, prompt, holds, arranger, room };
            course.run(answers, stopped).await;
            // The runner may be gone.
            let _unheard = ended.send((key, turn));
        });
    }
}
