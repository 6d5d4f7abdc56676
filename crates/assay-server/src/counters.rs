//! What is counted: for those who watch a server, and for the limits that hold it together.
//!
//! How many sessions there are and how many turns wait is known without looking: it is counted once
//! at the start, and then with every commit that changes it.

use crate::error::ApiError;
use crate::store::{Reader, folder};
use assay_ledger::keyed::{KeyRange, Order};
use assay_session::{Session, Status};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions that are read at once when all are counted.
const COUNT_PAGE: usize = 500;
const STATUSES: [(Status, &str); 4] = [
    (Status::Idle, "idle"),
    (Status::Running, "running"),
    (Status::Rescheduling, "rescheduling"),
    (Status::Terminated, "terminated"),
];

/// What counts of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    status: Status,
    turns: usize,
}

impl From<&Session> for Standing {
    fn from(session: &Session) -> Standing {
        Standing { status: session.status, turns: session.turns.len() }
    }
}

/// A session that came, changed or went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Whose.
    pub workspace: String,
    /// What it was.
    pub before: Option<Standing>,
    /// What it is.
    pub after: Option<Standing>,
}

/// How much a workspace has to do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Load {
    /// Sessions with a turn that is not over.
    pub active: usize,
    /// Turns that are not over.
    pub turns: usize,
}

impl Load {
    /// The same after a change.
    pub fn after(mut self, change: &Change) -> Load {
        let turns = |standing: Option<Standing>| standing.map_or(0, |standing| standing.turns);
        let (before, after) = (turns(change.before), turns(change.after));
        self.turns = (self.turns + after).saturating_sub(before);
        let is_active = |turns: usize| usize::from(turns > 0);
        self.active = (self.active + is_active(after)).saturating_sub(is_active(before));
        self
    }
}

#[derive(Default, Debug)]
struct Tally {
    sessions: [usize; STATUSES.len()],
    loads: HashMap<String, Load>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RouteLabels {
    route: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct StatusLabel {
    status: &'static str,
}

/// Everything that is counted.
#[derive(Debug)]
pub struct Counters {
    registry: Registry,
    requests: Family<RouteLabels, Counter>,
    sessions: Family<StatusLabel, Gauge>,
    streams: Gauge,
    /// Events that were appended to logs.
    pub events: Counter,
    /// Turns that were given to an engine.
    pub turns: Counter,
    /// Commits to the store.
    pub commits: Counter,
    /// Pieces of work in them: more of them in one commit is what group commit gives.
    pub jobs: Counter,
    tally: Mutex<Tally>,
    /// When old answers were last forgotten, in milliseconds since 1970.
    forgotten_ms: AtomicU64,
}

impl Default for Counters {
    fn default() -> Counters {
        let mut registry = Registry::with_prefix("assay");
        let counters = Counters {
            requests: Family::default(),
            sessions: Family::default(),
            streams: Gauge::default(),
            events: Counter::default(),
            turns: Counter::default(),
            commits: Counter::default(),
            jobs: Counter::default(),
            tally: Mutex::default(),
            forgotten_ms: AtomicU64::new(0),
            registry: Registry::default(),
        };
        registry.register("requests", "Requests by route and status", counters.requests.clone());
        registry.register("sessions", "Sessions by status", counters.sessions.clone());
        registry.register("streams", "Streams that are open", counters.streams.clone());
        registry.register("events", "Events appended", counters.events.clone());
        registry.register("turns", "Turns given to an engine", counters.turns.clone());
        registry.register("commits", "Commits to the store", counters.commits.clone());
        registry.register("jobs", "Pieces of work in those commits", counters.jobs.clone());
        Counters { registry, ..counters }
    }
}

impl Counters {
    /// Whether it is time to forget old answers again; whoever asks and hears yes has to do it.
    pub fn may_forget(&self, now_ms: u64, every_ms: u64) -> bool {
        let last = self.forgotten_ms.load(Ordering::Relaxed);
        let is_due = now_ms >= last.saturating_add(every_ms) || now_ms < last;
        if is_due {
            self.forgotten_ms.store(now_ms, Ordering::Relaxed);
        }
        is_due
    }

    /// A request was answered.
    pub fn answered(&self, method: &'static str, route: &'static str, status: u16) {
        self.requests.get_or_create(&RouteLabels { route, method, status }).inc();
    }

    /// A session came, changed or went.
    pub fn count(&self, change: &Change) {
        let mut tally = self.tally();
        for (standing, is_there) in [(change.before, false), (change.after, true)] {
            let Some(standing) = standing else { continue };
            let place = STATUSES.iter().position(|(status, _)| *status == standing.status);
            let place = &mut tally.sessions[place.expect("every status is in the table")];
            *place = if is_there { *place + 1 } else { place.saturating_sub(1) };
        }
        let load = tally.loads.get(&change.workspace).copied().unwrap_or_default().after(change);
        match load == Load::default() {
            true => drop(tally.loads.remove(&change.workspace)),
            false => drop(tally.loads.insert(change.workspace.clone(), load)),
        }
    }

    /// How much a workspace has to do.
    pub fn load(&self, workspace: &str) -> Load {
        self.tally().loads.get(workspace).copied().unwrap_or_default()
    }

    /// All of it, in the format that Prometheus reads.
    pub fn text(&self, streams: usize) -> String {
        let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.streams.set(whole(streams));
        let sessions = self.tally().sessions;
        for ((_, status), count) in STATUSES.into_iter().zip(sessions) {
            self.sessions.get_or_create(&StatusLabel { status }).set(whole(count));
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("text takes everything");
        text
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts the sessions that are there, before anything changes them.
///
/// # Errors
/// If the store cannot be read.
pub async fn count_sessions(reader: &Reader, counters: &Counters) -> Result<(), ApiError> {
    let mut range = KeyRange::below(folder::STATES, Order::Ascending);
    loop {
        let wanted = range.clone();
        let pairs = reader.ask(move |store| Ok(store.scan(&wanted, COUNT_PAGE)?)).await?;
        let Some((last, _)) = pairs.last() else { return Ok(()) };
        range = range.after(last);
        for (key, value) in &pairs {
            let session: Session = serde_json::from_slice(value)?;
            let workspace = key.split('/').nth(1).unwrap_or_default().to_string();
            let after = Some(Standing::from(&session));
            counters.count(&Change { workspace, before: None, after });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_and_goes_is_counted_by_status_and_workspace() {
        let counters = Counters::default();
        let standing = |status, turns| Some(Standing { status, turns });
        let change = |before, after| Change { workspace: "w".into(), before, after };
        let idle = standing(Status::Idle, 0);
        let running = standing(Status::Running, 2);
        for _ in 0..2 {
            counters.count(&change(None, idle));
        }
        counters.count(&change(idle, running));
        assert_eq!(counters.load("w"), Load { active: 1, turns: 2 });
        counters.answered("GET", "/health", 200);
        let text = counters.text(3);
        for line in [
            "assay_sessions{status=\"idle\"} 1\n",
            "assay_sessions{status=\"running\"} 1\n",
            "assay_streams 3\n",
            "assay_requests_total{route=\"/health\",method=\"GET\",status=\"200\"} 1\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        counters.count(&change(running, None));
        assert_eq!(counters.load("w"), Load::default());
        assert!(counters.tally().loads.is_empty(), "nothing is kept for who has nothing to do");
    }
}
