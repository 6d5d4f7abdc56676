//! The course of one turn: what it begins with, and that it ends, whatever happens to its engine.

use super::Engines;
use super::host::{Host, Luggage, Stop, Voice};
use super::keyring::Keyring;
use super::memory::Entry;
use super::outputs::Outputs;
use super::room::Room;
use crate::arranging::Arranger;
use crate::error::ApiError;
use crate::net::Reach;
use crate::store::{LentRecord, SessionRecord, SessionSkill, Stored, folder};
use assay_session::{
    Answer, Body, ErrorKind, Event, EventId, Input, RetryStatus, Said, SessionError,
};
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tokio::sync::{mpsc, oneshot};

const NOT_ALLOWED: &str = "this session is not allowed here any more";
const FAILED: &str = "the engine of this turn failed; the log of the server says why";
const NO_FILES: &str =
    "the files of this session could not be put in their place; the log of the server says why";
const TOO_LARGE: &str = "the turn was ended: it had more to say in one event than can be kept";

/// A turn that is played.
#[derive(Clone)]
pub(super) struct Course {
    /// What it may write.
    pub voice: Voice,
    /// What answers.
    pub engines: Arc<Engines>,
    /// The message it answers.
    pub prompt: EventId,
    /// Where the files are that end holds.
    pub holds: PathBuf,
    /// Puts the files of its session where its tools look.
    pub arranger: Arc<Arranger>,
    /// Where its tools run, once it has begun.
    pub room: Arc<OnceLock<Arc<Room>>>,
}

impl Course {
    /// Plays it to its end, whichever comes first: its own, or that of somebody's patience.
    pub async fn run(
        self,
        answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
        stopped: oneshot::Receiver<()>,
    ) {
        let ended = watched(self.clone().begin(answers, stopped)).await;
        let room = self.room.get();
        match (ended, room) {
            (Ok(()), None) => {}
            (Ok(()), Some(room)) => drop(room.close().await),
            (Err(end), None) => finish(&self.voice, end, None).await,
            (Err(end), Some(room)) => {
                let outputs = self.voice.leave(room).await;
                finish(&self.voice, end, outputs).await;
            }
        }
    }

    async fn begin(
        self,
        answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
        stopped: oneshot::Receiver<()>,
    ) -> Result<(), End> {
        let Course { voice, engines, prompt, holds, arranger, room } = self;
        let known = read_turn(&voice, &prompt).await?;
        let model = known.agent["model"]["id"].as_str().unwrap_or_default().to_string();
        // No other one stands in for it.
        let gone = || End::Broken(format!("this server has no model `{model}` any more"));
        let engine = engines.engine(&model).ok_or_else(gone)?;
        // The server and the environment may allow less than when the session began.
        let allowed = engines.check_session(&known.agent, &known.config, &known.vault_ids);
        allowed.map_err(|error| End::Broken(format!("{NOT_ALLOWED}: {}", error.message)))?;
        let settled = arranger.settle(&voice.key).await;
        settled.map_err(|_| End::Broken(NO_FILES.to_string()))?;
        let reach = Reach::of(&known.config);
        let opened = Room::new(engines.sandboxes.clone(), voice.key.clone(), reach, known.lent);
        let opened = Arc::new(opened.map_err(|_| Stop::Broken)?);
        let opened = room.get_or_init(|| opened).clone();
        let texts = known.prompt.iter().filter_map(|block| block["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        let host = Host {
            keyring: keyring(&voice, known.vault_ids),
            voice,
            answers,
            system: system(&known.agent, &known.skills),
            agent: known.agent,
            prompt: known.prompt,
            text,
            holds,
            room: opened,
            servers: Arc::default(),
            servers_reach: Reach::of_servers(&known.config),
            unwritten: Vec::new(),
            remembered: 0,
        };
        tokio::select! {
            played = engine.play(host) => Ok(played?),
            _ = stopped => Err(End::Stopped),
        }
    }
}

/// Waits for the end of a turn, also of one that panics.
async fn watched(turn: impl Future<Output = Result<(), End>> + Send + 'static) -> Result<(), End> {
    let ended = tokio::spawn(turn).await;
    // What it panicked with is in the log.
    ended.unwrap_or_else(|_| Err(End::Broken(FAILED.to_string())))
}

/// Ends a turn that did not end itself, as soon as there is a disk: nobody else would.
async fn finish(voice: &Voice, end: End, mut outputs: Option<Outputs>) {
    if let End::Broken(why) = end {
        // What stopped in the middle of its turn has to end it, too.
        let error = SessionError::new(ErrorKind::UnknownError, why.clone(), RetryStatus::Terminal);
        let said = vec![Said::Failed(error)];
        let input = Input::Engine { turn: voice.turn.clone(), said };
        let luggage =
            Luggage { memory: voice.ending(Entry::Failed(why)), outputs: outputs.clone() };
        let mut ended = voice.persist(input.clone(), luggage).await;
        if matches!(ended, Err(Stop::Broken | Stop::TooLarge)) {
            // An end without what it leaves is better than none.
            voice.discard_unless_kept(&ended, outputs.take()).await;
            ended = voice.persist(input, Luggage::default()).await;
        }
        if ended != Err(Stop::Stale) {
            return;
        }
    }
    // Nothing of the engine is left: what came after the interrupt may begin. If there was none,
    // nobody waits for this.
    let luggage = Luggage { memory: voice.ending(Entry::Interrupted), outputs: outputs.clone() };
    let ended = voice.persist(Input::Aborted(voice.turn.clone()), luggage).await;
    voice.discard_unless_kept(&ended, outputs).await;
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
            Stop::TooLarge => End::Broken(TOO_LARGE.to_string()),
        }
    }
}

fn keyring(voice: &Voice, vaults: Vec<String>) -> Keyring {
    let (renewer, workspace) = (voice.renewer.clone(), voice.key.workspace.clone());
    Keyring { renewer, workspace, vaults }
}

/// What a turn begins with.
struct Known {
    agent: serde_json::Value,
    skills: Vec<SessionSkill>,
    vault_ids: Vec<String>,
    prompt: Vec<serde_json::Value>,
    lent: Option<LentRecord>,
    /// That of the environment, as it is now.
    config: serde_json::Value,
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
    let SessionRecord { agent, skills, vault_ids, lent, .. } = record;
    let config = config.unwrap_or_default();
    Ok(Known { agent, skills, vault_ids, prompt: content, lent, config })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_turn_that_panics_is_one_that_cannot_go_on() {
        let ended = watched(async { panic!("on purpose") }).await;
        assert!(matches!(ended, Err(End::Broken(why)) if why == FAILED));
        assert!(watched(async { Ok(()) }).await.is_ok());
        let stopped = watched(async { Err(Stop::Stale.into()) }).await;
        assert!(matches!(stopped, Err(End::Stopped)));
    }
}
