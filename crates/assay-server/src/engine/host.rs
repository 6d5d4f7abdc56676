//! What an engine has of the server: a voice, a memory, a room for tools.
//!
//! Whatever an engine says becomes durable before it is seen, and only as long as its turn is its
//! own. What it wants to remember, and the files its turn leaves, are part of the same commit: so
//! there is no turn that ended without its outputs, and no memory of what nobody was told.

use super::keyring::Keyring;
use super::mcp::Servers;
use super::memory::{Entry, end_key, entry_key};
use super::outputs::{Kept, gather, replace};
use super::room::Room;
use crate::error::ApiError;
use crate::names::Names;
use crate::net::Reach;
use crate::sealing::Sealer;
use crate::store::{Kernel, Reader, SessionKey};
use assay_session::{Answer, Event, EventId, Input, Said, Step, TurnRef};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often an engine tries to be heard when the disk says no, and how long it waits between.
pub(super) const TRIES: u32 = 20;
pub(super) const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Why an engine goes no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Its turn is over: it was interrupted, or the session is gone.
    Stale,
    /// It said what it may not say, or nothing can be written.
    Broken,
}

/// What goes with a step into the same commit.
#[derive(Clone, Default, Debug)]
pub(super) struct Luggage {
    /// Entries of the memory, by their keys.
    pub memory: Vec<(String, Entry)>,
    /// The files of the session, all of them, if they were looked at.
    pub outputs: Option<Vec<Kept>>,
}

/// One run of one turn, and everything that it may write.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    pub kernel: Kernel,
    pub reader: Reader,
    pub names: Arc<Names>,
    pub objects: PathBuf,
    pub sealer: Arc<Sealer>,
    pub key: SessionKey,
    pub turn: TurnRef,
}

impl Voice {
    /// Takes a step; `None` if it came too late.
    pub async fn take(&self, input: Input, luggage: Luggage) -> Result<Option<Step>, ApiError> {
        let key = self.key.clone();
        let taken = self.kernel.run(move |unit| {
            let step = match unit.step(&key, &input)? {
                Ok(step) => step,
                Err(assay_session::Refusal::Stale) => return Ok(None),
                Err(refusal) => return Err(ApiError::invalid(refusal.to_string())),
            };
            for (at, entry) in luggage.memory {
                unit.put(at, &entry)?;
            }
            let removed = match luggage.outputs {
                Some(outputs) => replace(unit, &key, &outputs)?,
                None => Vec::new(),
            };
            Ok(Some((step, removed)))
        });
        let Some((step, removed)) = taken.await? else { return Ok(None) };
        for object in removed {
            // What stays behind goes at the next start.
            let _left = tokio::fs::remove_file(self.objects.join(&object)).await;
        }
        Ok(Some(step))
    }

    /// Takes a step that must be taken, as long as there is a disk.
    pub async fn insist(&self, input: Input, luggage: Luggage) -> Result<Vec<Event>, Stop> {
        for _ in 0..TRIES {
            match self.take(input.clone(), luggage.clone()).await {
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

    /// Closes the room of the turn, and gives the files that are in it afterwards.
    pub async fn leave(&self, room: &Room) -> Option<Vec<Kept>> {
        match room.close().await {
            true => gather(self, room).await,
            false => None,
        }
    }

    /// What the end of the turn is remembered by.
    pub fn ending(&self, entry: Entry) -> Vec<(String, Entry)> {
        vec![(end_key(&self.key, self.turn.number), entry)]
    }
}

/// What an engine has of the server.
#[derive(Debug)]
pub struct Host {
    pub(super) voice: Voice,
    pub(super) answers: mpsc::UnboundedReceiver<(EventId, Answer)>,
    /// The agent, as the session has it.
    pub agent: serde_json::Value,
    /// What it is told before anything else.
    pub system: Option<String>,
    /// The blocks of the message.
    pub prompt: Vec<serde_json::Value>,
    /// The text of the message.
    pub text: String,
    /// Where the files are that end holds.
    pub holds: PathBuf,
    /// Where tools run.
    pub room: Arc<Room>,
    /// The MCP servers of the agent, once they were asked.
    pub(super) servers: Arc<Servers>,
    /// Who the session is for them.
    pub(super) keyring: Keyring,
    /// What the environment lets them be.
    pub(super) servers_reach: Reach,
    /// To be remembered with what is said next.
    pub(super) unwritten: Vec<(String, Entry)>,
    /// How much of this turn is remembered.
    pub(super) remembered: u32,
}

impl Host {
    /// The number of the turn.
    pub fn turn_number(&self) -> u64 {
        self.voice.turn.number
    }

    /// Remembers something, together with what is said next.
    pub fn remember(&mut self, entry: Entry) {
        let at = entry_key(&self.voice.key, self.voice.turn.number, self.remembered);
        self.remembered += 1;
        self.unwritten.push((at, entry));
    }

    /// Says something, and gives the events that became of it.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn say(&mut self, said: Vec<Said>) -> Result<Vec<Event>, Stop> {
        let input = Input::Engine { turn: self.voice.turn.clone(), said };
        let memory = std::mem::take(&mut self.unwritten);
        self.voice.insist(input, Luggage { memory, outputs: None }).await
    }

    /// Says something that ends the turn. Nothing of its tools is left then, and what they made is
    /// there.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn end(&mut self, said: Vec<Said>) -> Result<(), Stop> {
        let ending = match said.last() {
            Some(Said::Failed(error)) => Entry::Failed(error.message.clone()),
            _ => Entry::Finished,
        };
        let mut memory = std::mem::take(&mut self.unwritten);
        // Engines that remember nothing do not remember its end.
        if self.remembered > 0 {
            memory.extend(self.voice.ending(ending));
        }
        let outputs = self.voice.leave(&self.room).await;
        let input = Input::Engine { turn: self.voice.turn.clone(), said };
        self.voice.insist(input, Luggage { memory, outputs }).await.map(drop)
    }

    /// The next answer.
    ///
    /// # Errors
    /// If none can come any more.
    pub async fn answer(&mut self) -> Result<(EventId, Answer), Stop> {
        self.answers.recv().await.ok_or(Stop::Stale)
    }
}
