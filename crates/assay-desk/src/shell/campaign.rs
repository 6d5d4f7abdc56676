//! The record of a campaign and the state it folds to.

use super::desk::Desk;
use super::projections;
use crate::event::Event;
use crate::invariants::{View, kept};
use crate::state::State;
use crate::step::{Refusal, apply};
use assay_ledger::{BlobRef, Entry, Ledger, LedgerError, Lock, LockError, NewEvent, UnixMillis};
use std::collections::BTreeMap;

/// An event with its place and time.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// Its place in the chain, from 1.
    pub seq: u64,
    /// When it was written down, in milliseconds since 1970.
    pub at_ms: u64,
    /// What happened.
    pub event: Event,
}

/// A campaign that this process leads: nobody else can.
#[derive(Debug)]
pub struct Campaign {
    ledger: Ledger,
    /// All events so far.
    pub events: Vec<Recorded>,
    state: Option<State>,
    /// Evidence that this process has put, by its hash.
    put: BTreeMap<String, BlobRef>,
    /// The state as the invariants see it.
    view: Option<View>,
    _lock: Lock,
}

/// Why a campaign cannot be opened or written.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Somebody else leads.
    #[error("{0}; one Leader at a time: wait, or stop that one")]
    Lock(#[from] LockError),
    /// The record is broken or cannot be written.
    #[error("the record: {0}")]
    Ledger(#[from] LedgerError),
    /// An event that is no event of a campaign.
    #[error("event {seq} of the record cannot be read: {why}")]
    Unreadable {
        /// Its place.
        seq: u64,
        /// Why.
        why: String,
    },
    /// An event that does not follow.
    #[error("event {seq} of the record: {refusal}")]
    Impossible {
        /// Its place.
        seq: u64,
        /// Why.
        refusal: Refusal,
    },
    /// An event after which a promise of the desk would be broken.
    #[error("event {seq} was not written: {violation}; this is a defect of Assay: report it")]
    Broken {
        /// Its place.
        seq: u64,
        /// What would not hold.
        violation: assay_invariant::Violation,
    },
}

/// Reads entries and folds them: all events, and the state if there is one.
pub fn fold(entries: &[Entry]) -> Result<(Vec<Recorded>, Option<State>), CampaignError> {
    let mut events = Vec::with_capacity(entries.len());
    let mut state: Option<State> = None;
    for (entry, event) in entries.iter().zip(parsed(entries)) {
        let (seq, event) = (entry.seq.0, event?);
        state = Some(
            next(state, &event).map_err(|refusal| CampaignError::Impossible { seq, refusal })?,
        );
        events.push(Recorded { seq, at_ms: entry.at.0, event });
    }
    Ok((events, state))
}

/// What entries say, read in two halves at once: that takes longer than all that follows from it.
fn parsed(entries: &[Entry]) -> impl Iterator<Item = Result<Event, CampaignError>> {
    let parse = |entry: &Entry| {
        serde_json::from_str(&entry.payload)
            .map_err(|error| CampaignError::Unreadable { seq: entry.seq.0, why: error.to_string() })
    };
    let all = |some: &[Entry]| some.iter().map(parse).collect::<Vec<_>>();
    let (first, second) = entries.split_at(entries.len() / 2);
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| all(second));
        let first = all(first);
        // Who panicked has said why.
        (first, second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    first.into_iter().chain(second)
}

fn next(state: Option<State>, event: &Event) -> Result<State, Refusal> {
    match (state, event) {
        (Some(state), event) => apply(state, event),
        (None, Event::Opened(opened)) => Ok(State::open(opened)),
        (None, event) => {
            Err(Refusal { event: event.kind(), why: "nothing was opened".to_string() })
        }
    }
}

impl Campaign {
    /// Opens the record to go on with it; takes the locks of the repository and the campaign.
    pub fn open(desk: &Desk) -> Result<Campaign, CampaignError> {
        let lock = Lock::take(&desk.lock())?;
        let opened = match Ledger::open(&desk.ledger()) {
            Err(LedgerError::Lock(error)) => return Err(CampaignError::Lock(error)),
            other => other?,
        };
        let (events, state) = fold(&opened.entries)?;
        let view = state.as_ref().map(View::of);
        let put = BTreeMap::new();
        Ok(Campaign { ledger: opened.ledger, events, state, put, view, _lock: lock })
    }

    /// Where it stands, if it was begun.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Puts evidence beside the events.
    pub fn put(&mut self, bytes: &[u8]) -> Result<BlobRef, CampaignError> {
        let blob = self.ledger.put_blob(bytes)?;
        self.put.insert(blob.sha256.to_string(), blob);
        Ok(blob)
    }

    /// Evidence that this process has put.
    pub fn named(&self, sha256: &str) -> Option<BlobRef> {
        self.put.get(sha256).copied()
    }

    /// What evidence says.
    pub fn blob(&self, sha256: &str) -> Result<Vec<u8>, CampaignError> {
        let digest = sha256.parse().map_err(|_| CampaignError::Unreadable {
            seq: 0,
            why: format!("`{sha256}` names no blob"),
        })?;
        Ok(self.ledger.blob(digest)?)
    }

    /// Writes the files that are folds of the record, if anything was begun.
    pub fn project(&self, desk: &Desk) -> std::io::Result<()> {
        match &self.state {
            Some(state) => projections::write(desk, state, &self.events),
            None => Ok(()),
        }
    }

    /// Writes an event down. It happened when this returns, and the state knows it.
    pub fn record(&mut self, event: Event, blobs: Vec<BlobRef>) -> Result<(), CampaignError> {
        let seq = self.events.len() as u64 + 1;
        let state = next(self.state.clone(), &event)
            .map_err(|refusal| CampaignError::Impossible { seq, refusal })?;
        let view = View::of(&state);
        kept(self.view.as_ref(), &view)
            .map_err(|violation| CampaignError::Broken { seq, violation })?;
        let at_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0);
        let new = NewEvent::new(event.kind(), &event)
            .map_err(|error| CampaignError::Unreadable { seq, why: error.to_string() })?;
        let seq = self.ledger.append(UnixMillis(at_ms), new.naming_all(blobs))?.0;
        self.events.push(Recorded { seq, at_ms, event });
        self.state = Some(state);
        self.view = Some(view);
        Ok(())
    }
}
