//! The Leader: a loop that asks what comes next, does it, and writes it down.

use super::campaign::{Campaign, CampaignError, Recorded};
use super::checks::Cache;
use super::desk::Desk;
use super::dispatch::{Engines, EnginesError};
use super::git::GitError;
use super::trees::{self, TreeError};
use crate::contract::{Contract, Score, sha256};
use crate::event::{Event, Opened, Revision, Step, Terminal};
use crate::state::{Effect, State};
use assay_ledger::BlobRef;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What people see while a campaign runs.
pub trait Screen {
    /// Something was written down.
    fn recorded(&mut self, entry: &Recorded, state: &State);
    /// An agent did something.
    fn activity(&mut self, text: &str);
    /// An agent waits for a person.
    fn waits(&mut self, text: &str);
}

/// Why the Leader stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pause {
    /// It is over.
    Ended(Terminal),
    /// A person has to answer.
    Waiting(String),
}

/// Why the Leader cannot go on. What is written down stays; it can be started again.
#[derive(Debug, thiserror::Error)]
pub enum LeaderError {
    /// The record.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// Git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A working tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The two trees of a claim.
    #[error("comparing what tests and requirements ask for: {0}")]
    Compare(#[from] assay_guard::repository::ReadError),
    /// An engine that cannot be used.
    #[error(transparent)]
    Engines(#[from] EnginesError),
    /// A file.
    #[error("{0}")]
    File(String),
    /// The contract was edited by hand.
    #[error("{0} differs from the contract that was frozen: `assay desk amend`, or restore it")]
    Edited(String),
    /// Protected files changed, and whoever was at work cannot have done it.
    #[error(
        "while {who} was at work somebody else changed what is protected: {}; nothing of the \
         campaign is lost: look at it, then go on with `assay desk run {slug}` (an edited contract \
         needs `assay desk amend {slug}` first, or has to be restored)",
        what.join(", ")
    )]
    Changed {
        /// Who was at work.
        who: String,
        /// What changed.
        what: Vec<String>,
        /// The campaign.
        slug: String,
    },
    /// The campaign's branch is checked out, so moving it would change what stands there.
    #[error(
        "{place}: desk/{slug} is checked out there, and is to be moved to verified work: its files \
         would look changed; nothing is lost: `git checkout` another branch there, then go on with \
         `assay desk run {slug}`"
    )]
    Standing {
        /// Where.
        place: String,
        /// The campaign.
        slug: String,
    },
    /// There is no campaign to lead.
    #[error("nothing was begun: `assay desk run`")]
    NotBegun,
}

/// Leads one campaign.
pub struct Leader<'a> {
    pub(super) desk: &'a Desk,
    pub(super) campaign: Campaign,
    pub(super) engines: &'a dyn Engines,
    pub(super) screen: &'a mut dyn Screen,
    /// The dispatch that this process itself has written down and not yet run.
    pub(super) sent: Option<u32>,
    pub(super) cache: Cache,
    /// The toolchain as the last agent left it, or as it was when this Leader first looked.
    pub(super) toolchain: Option<BTreeMap<PathBuf, String>>,
}

impl<'a> Leader<'a> {
    /// A Leader for a campaign; `engines` runs agents.
    pub fn new(
        desk: &'a Desk,
        campaign: Campaign,
        engines: &'a dyn Engines,
        screen: &'a mut dyn Screen,
    ) -> Leader<'a> {
        let (sent, cache, toolchain) = (None, Cache::default(), None);
        Leader { desk, campaign, engines, screen, sent, cache, toolchain }
    }

    /// Freezes a contract and begins.
    pub fn begin(
        &mut self,
        contract: Contract,
        source: &str,
        scores: Vec<Score>,
        base: Revision,
    ) -> Result<(), LeaderError> {
        let blob = self.campaign.put(source.as_bytes())?;
        let sandbox = self.engines.protection();
        let opened = Opened { contract, source: blob.sha256.to_string(), scores, base, sandbox };
        self.record(Event::Opened(Box::new(opened)), vec![blob])
    }

    /// Where the campaign stands.
    pub fn state(&self) -> Option<&State> {
        self.campaign.state()
    }

    /// All events.
    pub fn events(&self) -> &[Recorded] {
        &self.campaign.events
    }

    /// Goes on until the end, or until a person is needed.
    pub fn lead(&mut self) -> Result<Pause, LeaderError> {
        self.desk.git.settle();
        loop {
            let effect = self.campaign.state().ok_or(LeaderError::NotBegun)?.next();
            match effect {
                Effect::Stop(terminal) => {
                    self.rest()?;
                    return Ok(Pause::Ended(terminal));
                }
                Effect::Ask(question) => {
                    self.rest()?;
                    return Ok(Pause::Waiting(question));
                }
                // An end that was computed is written down, whatever happened to the contract.
                effect => {
                    let acted = match effect {
                        Effect::End(_) => self.act(effect),
                        _ => self.act_and_tell(effect),
                    };
                    if acted.is_err() {
                        self.project()?;
                    }
                    acted?;
                }
            }
        }
    }

    /// Acts, if the contract is the one that was frozen. What stands in files is what was written
    /// down, before anything that takes its time; steps of a moment are told with the next.
    fn act_and_tell(&mut self, effect: Effect) -> Result<(), LeaderError> {
        self.check_contract()?;
        if !is_of_a_moment(&effect) {
            self.project()?;
        }
        self.act(effect)
    }

    /// Somebody else changed what is protected: a person looks, and goes on.
    pub(super) fn changed(&self, who: &str, what: Vec<String>) -> LeaderError {
        LeaderError::Changed { who: who.to_string(), what, slug: self.desk.slug.clone() }
    }

    fn act(&mut self, effect: Effect) -> Result<(), LeaderError> {
        match effect {
            Effect::Dispatch(proposal) => {
                let (event, blobs) = self.dispatch(proposal)?;
                let run = match &event {
                    Event::Dispatched(dispatch) => Some(dispatch.run),
                    _ => None,
                };
                self.record(event, blobs)?;
                self.sent = run;
                Ok(())
            }
            Effect::Await(dispatch)
                if self.sent == Some(dispatch.run) || self.is_still_out(&dispatch) =>
            {
                self.sent = None;
                let (event, blobs) = self.run_agent(&dispatch)?;
                let elsewhere = elsewhere(&event);
                self.record(event, blobs)?;
                match elsewhere.is_empty() {
                    true => Ok(()),
                    false => Err(self.changed(&format!("the {}", dispatch.role.word()), elsewhere)),
                }
            }
            Effect::Await(dispatch) => {
                self.set_aside(&dispatch);
                self.record(Event::Lost { run: dispatch.run }, Vec::new())
            }
            Effect::Check(gate, step) => {
                let (event, blobs) = self.check(&gate, &step)?;
                self.record(event, blobs)
            }
            Effect::Accept(story, at) => {
                let branch = self.desk.branch();
                if let Some(place) = self.desk.git.standing_on(&branch)? {
                    let (place, slug) = (place.display().to_string(), self.desk.slug.clone());
                    return Err(LeaderError::Standing { place, slug });
                }
                // Moving a branch twice is moving it once: a Leader that died here does it again.
                self.desk.git.point(&branch, &at.commit)?;
                self.record(Event::Verified { story, at }, Vec::new())
            }
            Effect::Fix(story, issues) => {
                self.record(Event::FixIssued { story, issues }, Vec::new())
            }
            Effect::End(terminal) => self.record(Event::Ended(terminal), Vec::new()),
            Effect::Ask(_) | Effect::Stop(_) => Ok(()),
        }
    }

    /// Writes down what happened, shows it, and forgets nothing.
    pub fn record(&mut self, event: Event, blobs: Vec<BlobRef>) -> Result<(), LeaderError> {
        self.campaign.record(event, blobs)?;
        if let (Some(entry), Some(state)) = (self.campaign.events.last(), self.campaign.state()) {
            self.screen.recorded(entry, state);
        }
        Ok(())
    }

    /// The contract on disk must be the one that was frozen.
    fn check_contract(&self) -> Result<(), LeaderError> {
        let path = self.desk.contract();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let frozen = self.campaign.state().map(|state| state.contract.hash.as_str());
        if frozen != Some(sha256(&bytes).as_str()) {
            return Err(LeaderError::Edited(path.display().to_string()));
        }
        Ok(())
    }

    /// Leaves nothing behind that nobody needs while nobody leads.
    fn rest(&self) -> Result<(), LeaderError> {
        self.project()?;
        trees::sweep(&self.desk.tree("check"));
        Ok(())
    }

    fn project(&self) -> Result<(), LeaderError> {
        self.campaign.project(self.desk).map_err(|error| LeaderError::File(error.to_string()))
    }
}

/// Whether an effect runs nothing but the Leader's own code, and git.
fn is_of_a_moment(effect: &Effect) -> bool {
    match effect {
        Effect::Dispatch(_) | Effect::Accept(..) | Effect::Fix(..) => true,
        Effect::Check(_, step) => matches!(step, Step::Scope | Step::Gaming),
        _ => false,
    }
}

/// What somebody else changed while an agent was out; nothing if the agent ended the campaign.
fn elsewhere(event: &Event) -> Vec<String> {
    match event {
        Event::Returned(back) if back.tampered.is_empty() => back.elsewhere.clone(),
        _ => Vec::new(),
    }
}
