//! How much there may be at once, and how often one may ask.
//!
//! What one workspace has too much of is a 429: others are not touched. What the process has too
//! much of is a 529. Both say when to try again. A place is taken before anything expensive is
//! done, and given back when it is over, however it ends.

use crate::error::ApiError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The limits of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Requests of a workspace in a second; as many may come at once.
    pub requests_per_second: u32,
    /// Sessions of a workspace with a turn that is not over.
    pub active_sessions: usize,
    /// Turns of a workspace that are not over.
    pub turns: usize,
    /// Open streams of a workspace.
    pub streams: usize,
    /// Uploads of a workspace at once.
    pub uploads: usize,
    /// Downloads of a workspace at once.
    pub downloads: usize,
    /// Requests of the process at once, of which one workspace can have three quarters.
    pub requests: usize,
    /// Open streams of the process.
    pub all_streams: usize,
    /// How long a client may take nothing of what it is sent before its connection is given up.
    pub stalled: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            requests_per_second: 10_000,
            active_sessions: 1000,
            turns: 10_000,
            streams: 2048,
            uploads: 8,
            downloads: 64,
            requests: 2048,
            all_streams: 4096,
            stalled: Duration::from_secs(60),
        }
    }
}

/// What a place is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A request, of the process.
    Request,
    /// A stream.
    Stream,
    /// An upload.
    Upload,
    /// The bytes of a file or a skill.
    Download,
}

/// A place that somebody has. It is given back when this goes.
#[derive(Debug)]
pub struct Place {
    admission: Arc<Admission>,
    kind: Kind,
    workspace: String,
}

impl Place {
    /// Gives a place that nobody was known to have to a workspace. Who asks is known only after
    /// the store was asked, and that needs a place already.
    ///
    /// # Errors
    /// If the workspace has its share; the place is given back with this.
    pub fn belongs_to(&mut self, workspace: &str) -> Result<(), ApiError> {
        let (own_max, _, what) = self.admission.limits_of(self.kind, workspace);
        let mut state = self.admission.state();
        let own = (self.kind, Some(workspace.to_string()));
        let taken = state.taken.get(&own).copied().unwrap_or_default();
        if taken >= own_max {
            return Err(ApiError::too_many(format!("too many {what} in this workspace")));
        }
        let before = std::mem::replace(&mut self.workspace, workspace.to_string());
        give_back(&mut state, (self.kind, Some(before)));
        state.taken.insert(own, taken + 1);
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let workspace = std::mem::take(&mut self.workspace);
        let mut state = self.admission.state();
        for key in [(self.kind, Some(workspace)), (self.kind, None)] {
            give_back(&mut state, key);
        }
    }
}

fn give_back(state: &mut State, key: (Kind, Option<String>)) {
    match state.taken.get(&key).copied().unwrap_or_default().saturating_sub(1) {
        0 => drop(state.taken.remove(&key)),
        left => drop(state.taken.insert(key, left)),
    }
}

#[derive(Default, Debug)]
struct State {
    /// Places by kind and workspace, and of all workspaces.
    taken: HashMap<(Kind, Option<String>), usize>,
    buckets: HashMap<String, Bucket>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// Who may come in.
#[derive(Debug)]
pub struct Admission {
    limits: Limits,
    state: Mutex<State>,
}

impl Admission {
    /// With these limits, and nobody in.
    pub fn new(limits: Limits) -> Admission {
        Admission { limits, state: Mutex::default() }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// One more request of a workspace, at this moment.
    ///
    /// # Errors
    /// If there were too many in the last second.
    pub fn ask(&self, workspace: &str, now: Instant) -> Result<(), ApiError> {
        let rate = f64::from(self.limits.requests_per_second);
        let mut state = self.state();
        // Workspaces have keys: there are no more of them than of those.
        let bucket =
            state.buckets.entry(workspace.to_string()).or_insert(Bucket { left: rate, at: now });
        let since_s = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.left, bucket.at) = ((bucket.left + since_s * rate).min(rate), now);
        if bucket.left < 1.0 {
            let error = ApiError::too_many("too many requests of this workspace in a second");
            return Err(ApiError { retry_after_s: Some(1), ..error });
        }
        bucket.left -= 1.0;
        Ok(())
    }

    /// Takes a place.
    ///
    /// # Errors
    /// If there is none left.
    pub fn enter(self: &Arc<Admission>, kind: Kind, workspace: &str) -> Result<Place, ApiError> {
        let (own_max, all_max, what) = self.limits_of(kind, workspace);
        let mut state = self.state();
        let keys = [(kind, Some(workspace.to_string())), (kind, None)];
        let [own, all] =
            [0, 1].map(|index| state.taken.get(&keys[index]).copied().unwrap_or_default());
        if all >= all_max {
            return Err(ApiError::overloaded(format!("too many {what}")));
        }
        if own >= own_max {
            return Err(ApiError::too_many(format!("too many {what} in this workspace")));
        }
        state.taken.extend(keys.into_iter().zip([own + 1, all + 1]));
        Ok(Place { admission: self.clone(), kind, workspace: workspace.to_string() })
    }

    /// How many of a kind one workspace and all of them can have, and what they are called.
    fn limits_of(&self, kind: Kind, workspace: &str) -> (usize, usize, &'static str) {
        let Limits { streams, all_streams, uploads, downloads, requests, .. } = self.limits;
        // Who is not known yet is nobody in particular.
        let share = if workspace.is_empty() { usize::MAX } else { requests - requests / 4 };
        match kind {
            Kind::Request => (share, requests, "requests are being answered"),
            Kind::Stream => (streams, all_streams, "streams are open"),
            Kind::Upload => (uploads, usize::MAX, "uploads are on their way"),
            Kind::Download => (downloads, requests, "downloads are on their way"),
        }
    }

    /// How many places are taken.
    pub fn taken(&self, kind: Kind) -> usize {
        self.state().taken.get(&(kind, None)).copied().unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_with_time_and_belongs_to_one_workspace() {
        let limits = Limits { requests_per_second: 2, ..Limits::default() };
        let admission = Admission::new(limits);
        let start = Instant::now();
        let ask = |workspace: &str, ms: u64| {
            let asked = admission.ask(workspace, start + Duration::from_millis(ms));
            asked.map_err(|error| (error.status, error.retry_after_s))
        };
        let cases = [
            ("a", 0, Ok(())),
            ("a", 0, Ok(())),
            ("a", 0, Err((429, Some(1)))),
            ("b", 0, Ok(())),
            ("a", 499, Err((429, Some(1)))),
            ("a", 500, Ok(())),
            ("a", 500, Err((429, Some(1)))),
            ("a", 60_000, Ok(())),
            ("a", 60_000, Ok(())),
            ("a", 60_000, Err((429, Some(1)))),
        ];
        for (index, (workspace, ms, expected)) in cases.into_iter().enumerate() {
            assert_eq!(ask(workspace, ms), expected, "{index}");
        }
    }

    #[test]
    fn places_are_counted_apart_and_given_back() {
        let limits =
            Limits { streams: 1, all_streams: 2, uploads: 1, requests: 2, ..Limits::default() };
        let admission = Arc::new(Admission::new(limits));
        let status = |kind, workspace| admission.enter(kind, workspace).map_err(|e| e.status);
        let first = status(Kind::Stream, "a").expect("free");
        assert_eq!(status(Kind::Stream, "a").map(drop), Err(429));
        let second = status(Kind::Stream, "b").expect("of its own");
        assert_eq!(status(Kind::Stream, "c").map(drop), Err(529));
        let upload = status(Kind::Upload, "a").expect("another kind");
        assert_eq!(admission.taken(Kind::Stream), 2);
        drop(first);
        status(Kind::Stream, "a").expect("given back");
        let requests = [(); 2].map(|()| status(Kind::Request, "").expect("two"));
        drop(requests);
        let slow = status(Kind::Request, "").expect("free");
        drop(status(Kind::Request, "").expect("free"));
        assert_eq!(admission.taken(Kind::Request), 1, "only its own is given back");
        drop((second, upload, slow));
        assert!(admission.state().taken.is_empty(), "nothing is left behind");
    }

    #[test]
    fn one_workspace_leaves_places_for_requests_of_others() {
        let limits = Limits { requests: 8, ..Limits::default() };
        let admission = Arc::new(Admission::new(limits));
        let ask = |workspace: &str| {
            let mut place = admission.enter(Kind::Request, "").map_err(|error| error.status)?;
            place.belongs_to(workspace).map_err(|error| error.status)?;
            Ok::<Place, u16>(place)
        };
        let busy: Vec<Place> = (0..6).map(|_| ask("a").expect("its share")).collect();
        assert_eq!(ask("a").map(drop), Err(429));
        let others = ["b", "c"].map(|workspace| ask(workspace).expect("a place of its own"));
        assert_eq!(ask("b").map(drop), Err(529), "all are taken");
        drop(busy);
        drop(ask("a").expect("given back"));
        drop(others);
        assert!(admission.state().taken.is_empty(), "nothing is left behind");
    }
}
