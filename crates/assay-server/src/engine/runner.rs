//! Starts an engine for each turn, hands answers to it, and stops it.
//!
//! Whatever is done here was durable before: effects come from commits. Whatever an engine says
//! becomes durable before it is seen, and only as long as its turn is its own.

use super::play::play;
use super::script::Script;
use crate::error::ApiError;
use crate::store::{Kernel, Reader, SessionKey, SessionRecord, folder};
use assay_session::{Answer, Body, Effect, Event, EventId, Input, Said, Step, TurnRef};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How often an engine tries to be heard when the disk says no, and how long it waits between.
const TRIES: u32 = 20;
const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Why an engine goes no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Its turn is over: it was interrupted, or the session is gone.
    Stale,
    /// It said what it may not say, or nothing can be written.
    Broken,
}

/// What an engine has of the server.
#[derive(Debug)]
pub struct Host {
    kernel: Kernel,
    key: SessionKey,
    turn: TurnRef,
    answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
    /// The agent, as the session has it.
    pub agent: serde_json::Value,
    /// The text of the message.
    pub text: String,
    /// Where the files are that end holds.
    pub holds: PathBuf,
}

impl Host {
    /// The number of the turn.
    pub fn turn_number(&self) -> u64 {
        self.turn.number
    }

    /// Says something, and gives the events that became of it.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn say(&mut self, said: Vec<Said>) -> Result<Vec<Event>, Stop> {
        for _ in 0..TRIES {
            let input = Input::Engine { turn: self.turn.clone(), said: said.clone() };
            match take(&self.kernel, &self.key, input).await {
                Ok(Some(step)) => return Ok(step.events),
                Ok(None) => return Err(Stop::Stale),
                Err(error) if error.status == 404 => return Err(Stop::Stale),
                Err(error) if error.status == 400 => {
                    eprintln!("assay serve: session {}: {}", self.key.id, error.message);
                    return Err(Stop::Broken);
                }
                Err(_) => tokio::time::sleep(TRY_AGAIN).await,
            }
        }
        Err(Stop::Broken)
    }

    /// The next answer.
    ///
    /// # Errors
    /// If none can come any more.
    pub async fn answer(&mut self) -> Result<(EventId, Answer), Stop> {
        self.answers.recv().await.ok_or(Stop::Stale)
    }
}

/// Takes a step; `None` if it came too late.
async fn take(kernel: &Kernel, key: &SessionKey, input: Input) -> Result<Option<Step>, ApiError> {
    let key = key.clone();
    kernel
        .run(move |unit| match unit.step(&key, &input)? {
            Ok(step) => Ok(Some(step)),
            Err(assay_session::Refusal::Stale) => Ok(None),
            Err(refusal) => Err(ApiError::invalid(refusal.to_string())),
        })
        .await
}

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
    /// What agents do.
    pub script: Arc<Script>,
    /// The name of this process.
    pub owner: String,
    /// Where the files are that end holds.
    pub holds: PathBuf,
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

    fn step_later(&self, key: SessionKey, input: Input) {
        let kernel = self.kernel.clone();
        tokio::spawn(async move {
            for _ in 0..TRIES {
                match take(&kernel, &key, input.clone()).await {
                    Err(error) if error.status >= 500 => tokio::time::sleep(TRY_AGAIN).await,
                    _ => return,
                }
            }
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
        let (kernel, reader) = (self.kernel.clone(), self.reader.clone());
        let (script, holds) = (self.script.clone(), self.holds.clone());
        tokio::spawn(async move {
            let work = async {
                let (agent, text) = read_prompt(&reader, &key, &prompt).await?;
                let (kernel, key, turn) = (kernel.clone(), key.clone(), turn.clone());
                play(&script, Host { kernel, key, turn, answers, agent, text, holds }).await
            };
            tokio::select! {
                played = work => {
                    // What stopped in the middle of its turn has to end it, too.
                    if played == Err(Stop::Broken) {
                        let _tried = fail(&kernel, &key, &turn).await;
                    }
                }
                _ = stopped => {
                    // Nothing of the engine is left: what came after the interrupt may begin.
                    let _late = take(&kernel, &key, Input::Aborted(turn.clone())).await;
                }
            }
            // The runner may be gone.
            let _unheard = ended.send((key, turn));
        });
    }
}

/// The agent of a session, and the text of a message.
async fn read_prompt(
    reader: &Reader,
    key: &SessionKey,
    prompt: &EventId,
) -> Result<(serde_json::Value, String), Stop> {
    let record: Option<SessionRecord> =
        reader.get(key.at(folder::SESSIONS)).await.map_err(|_| Stop::Broken)?;
    let at = format!("{}/{prompt}", key.at(folder::EVENTS));
    let event: Option<Event> = reader.get(at).await.map_err(|_| Stop::Broken)?;
    let (Some(record), Some(event)) = (record, event) else { return Err(Stop::Stale) };
    let Body::UserMessage { content } = event.body else { return Err(Stop::Broken) };
    let texts = content.iter().filter_map(|block| block["text"].as_str());
    Ok((record.agent, texts.collect::<Vec<_>>().join("\n")))
}

async fn fail(kernel: &Kernel, key: &SessionKey, turn: &TurnRef) -> Result<(), ApiError> {
    let error = assay_session::SessionError {
        kind: assay_session::ErrorKind::UnknownError,
        message: "the engine of this turn failed; the log of the server says why".to_string(),
        retry_status: assay_session::RetryStatus::Terminal,
    };
    let input = Input::Engine { turn: turn.clone(), said: vec![Said::Failed(error)] };
    take(kernel, key, input).await.map(drop)
}
