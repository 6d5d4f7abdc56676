//! Starts an engine for each turn, hands answers to it, and stops it.
//!
//! Whatever is done here was durable before: effects come from commits.

use super::Engines;
use super::host::{Host, Luggage, Stop, TRIES, TRY_AGAIN, Voice};
use super::keyring::Keyring;
use super::memory::Entry;
use super::room::Room;
use crate::error::ApiError;
use crate::names::Names;
use crate::net::Reach;
use crate::sealing::Sealer;
use crate::store::{Kernel, Reader, SessionKey, SessionRecord, SessionSkill, Stored, folder};
use assay_session::{
    Answer, Body, Effect, ErrorKind, Event, EventId, Input, RetryStatus, Said, SessionError,
    TurnRef,
};
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
    /// Opens secrets.
    pub sealer: Arc<Sealer>,
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
            sealer: self.sealer.clone(),
            key,
            turn,
        }
    }

    fn step_later(&self, key: SessionKey, input: Input) {
        let nobody = TurnRef { number: 0, owner: String::new(), generation: 0 };
        let voice = self.voice(key, nobody);
        tokio::spawn(async move {
            for _ in 0..TRIES {
                match voice.take(input.clone(), Luggage::default()).await {
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
        let voice = self.voice(key.clone(), turn.clone());
        let (engines, holds) = (self.engines.clone(), self.holds.clone());
        tokio::spawn(async move {
            play(&voice, &engines, prompt, holds, answers, stopped).await;
            // The runner may be gone.
            let _unheard = ended.send((key, turn));
        });
    }
}

/// Plays a turn to its end, whichever comes first: its own, or that of somebody's patience.
async fn play(
    voice: &Voice,
    engines: &Engines,
    prompt: EventId,
    holds: PathBuf,
    answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut room = None;
    let ended = begin(voice, engines, prompt, holds, answers, &mut stopped, &mut room).await;
    let (outputs, why) = match (&ended, room) {
        (Ok(()), room) => {
            if let Some(room) = room {
                room.close().await;
            }
            return;
        }
        (Err(end), Some(room)) => (voice.leave(&room).await, end),
        (Err(end), None) => (None, end),
    };
    if let End::Broken(why) = why {
        // What stopped in the middle of its turn has to end it, too.
        let error = SessionError::new(ErrorKind::UnknownError, why.clone(), RetryStatus::Terminal);
        let said = vec![Said::Failed(error)];
        let input = Input::Engine { turn: voice.turn.clone(), said };
        let memory = voice.ending(Entry::Failed(why.clone()));
        let luggage = Luggage { memory, outputs: outputs.clone() };
        if voice.insist(input, luggage).await != Err(Stop::Stale) {
            return;
        }
    }
    // Nothing of the engine is left: what came after the interrupt may begin. If there was none,
    // nobody waits for this.
    let luggage = Luggage { memory: voice.ending(Entry::Interrupted), outputs };
    let _nobody = voice.insist(Input::Aborted(voice.turn.clone()), luggage).await;
}

/// Why a turn ended that did not end itself.
enum End {
    /// It is over, or somebody wants it to be.
    Stopped,
    /// It cannot go on.
    Broken(String),
}

impl From<Stop> for End {
    fn from(stop: Stop) -> End {
        match stop {
            Stop::Stale => End::Stopped,
            Stop::Broken => End::Broken(FAILED.to_string()),
        }
    }
}

async fn begin(
    voice: &Voice,
    engines: &Engines,
    prompt: EventId,
    holds: PathBuf,
    answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
    stopped: &mut oneshot::Receiver<()>,
    room: &mut Option<Arc<Room>>,
) -> Result<(), End> {
    let known = read_turn(voice, &prompt).await?;
    let opened = Room::new(engines.sandboxes.clone(), voice.key.clone(), known.reach);
    let opened = Arc::new(opened.map_err(|_| Stop::Broken)?);
    *room = Some(opened.clone());
    let model = known.agent["model"]["id"].as_str().unwrap_or_default().to_string();
    // No other one stands in for it.
    let gone = || End::Broken(format!("this server has no model `{model}` any more"));
    let engine = engines.engine(&model).ok_or_else(gone)?;
    let texts = known.prompt.iter().filter_map(|block| block["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    let host = Host {
        voice: voice.clone(),
        answers,
        system: system(&known.agent, &known.skills),
        agent: known.agent,
        prompt: known.prompt,
        text,
        holds,
        room: opened,
        servers: Arc::default(),
        keyring: keyring(voice, known.vault_ids),
        servers_reach: known.servers_reach,
        unwritten: Vec::new(),
        remembered: 0,
    };
    tokio::select! {
        played = engine.play(host) => Ok(played?),
        _ = stopped => Err(End::Stopped),
    }
}

fn keyring(voice: &Voice, vaults: Vec<String>) -> Keyring {
    let (reader, sealer) = (voice.reader.clone(), voice.sealer.clone());
    Keyring { reader, sealer, workspace: voice.key.workspace.clone(), vaults }
}

const FAILED: &str = "the engine of this turn failed; the log of the server says why";

/// What a turn begins with.
struct Known {
    agent: serde_json::Value,
    skills: Vec<SessionSkill>,
    vault_ids: Vec<String>,
    prompt: Vec<serde_json::Value>,
    reach: Reach,
    servers_reach: Reach,
}

/// What an agent is told before anything else: who it is, and which skills it has.
fn system(agent: &serde_json::Value, skills: &[SessionSkill]) -> Option<String> {
    let own = agent["system"].as_str().map(str::to_string);
    if skills.is_empty() {
        return own;
    }
    let skill = |skill: &SessionSkill| {
        let words: Vec<&str> = skill.description.split_whitespace().collect();
        let (name, description) = (&skill.name, words.join(" "));
        format!("\n- {name}: {description} (read /workspace/skills/{name}/SKILL.md)")
    };
    let list: String = skills.iter().map(skill).collect();
    let what = "You have skills. Before you use one, read what it says:";
    Some(format!("{}{what}{list}", own.map_or_else(String::new, |own| own + "\n\n")))
}

async fn read_turn(voice: &Voice, prompt: &EventId) -> Result<Known, Stop> {
    let (reader, key) = (&voice.reader, &voice.key);
    let broken = |_: ApiError| Stop::Broken;
    let record: Option<SessionRecord> =
        reader.get(key.at(folder::SESSIONS)).await.map_err(broken)?;
    let at = format!("{}/{prompt}", key.at(folder::EVENTS));
    let event: Option<Event> = reader.get(at).await.map_err(broken)?;
    let (Some(record), Some(event)) = (record, event) else { return Err(Stop::Stale) };
    let Body::UserMessage { content } = event.body else { return Err(Stop::Broken) };
    let at = format!("{}/{}/{}", folder::ENVIRONMENTS, key.workspace, record.environment_id);
    let environment: Option<Stored> = reader.get(at).await.map_err(broken)?;
    let config = environment.and_then(|found| found.wire.get("config").cloned());
    let config = config.unwrap_or_default();
    let (reach, servers_reach) = (Reach::of(&config), Reach::of_servers(&config));
    let SessionRecord { agent, skills, vault_ids, .. } = record;
    Ok(Known { agent, skills, vault_ids, prompt: content, reach, servers_reach })
}
