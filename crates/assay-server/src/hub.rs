//! Who listens to which session.
//!
//! A session that somebody listens to has one channel, bounded in events; what all channels hold
//! together is bounded in bytes. A listener that is slow, or to whom an event is only announced,
//! reads the log from where it stands: so no listener makes anything grow, and none keeps a writer
//! waiting.

use crate::store::{Line, SessionKey};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Events a session keeps for listeners that are not at the end.
const BUFFER_EVENTS: usize = 256;
/// Events that are larger are not kept for anybody.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// What is kept for all listeners of all sessions.
const ALL_BYTES_MAX: usize = 64 * 1024 * 1024;

type Channels = HashMap<SessionKey, broadcast::Sender<News>>;

/// What listeners are told.
#[derive(Clone, Debug)]
pub enum News {
    /// An event.
    Line(Arc<Kept>),
    /// That there is one, of this id: it stands in the log.
    Announced(String),
}

/// An event that is kept until all who listen have heard it, or cannot any more.
#[derive(Debug)]
pub struct Kept {
    /// The event.
    pub line: Arc<Line>,
    /// Where it is counted.
    kept_bytes: Arc<AtomicUsize>,
}

impl Kept {
    fn new(line: Arc<Line>, kept_bytes: &Arc<AtomicUsize>) -> Arc<Kept> {
        kept_bytes.fetch_add(line.json.len(), Ordering::SeqCst);
        Arc::new(Kept { line, kept_bytes: kept_bytes.clone() })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.kept_bytes.fetch_sub(self.line.json.len(), Ordering::SeqCst);
    }
}

/// The channels of all sessions that somebody listens to.
#[derive(Default, Debug)]
pub struct Hub {
    channels: Mutex<Channels>,
    /// How much all channels hold.
    kept_bytes: Arc<AtomicUsize>,
}

/// A listener. When it goes, and is the last, the channel goes too.
#[derive(Debug)]
pub struct Listener {
    /// Where events come.
    pub events: broadcast::Receiver<News>,
    key: SessionKey,
    hub: Arc<Hub>,
}

impl Hub {
    /// Listens from now on.
    pub fn listen(self: &Arc<Hub>, key: &SessionKey) -> Listener {
        let mut channels = self.channels();
        let channel =
            channels.entry(key.clone()).or_insert_with(|| broadcast::Sender::new(BUFFER_EVENTS));
        Listener { events: channel.subscribe(), key: key.clone(), hub: self.clone() }
    }

    /// How many listen.
    pub fn listeners(&self) -> usize {
        self.channels().values().map(broadcast::Sender::receiver_count).sum()
    }

    /// Tells all who listen.
    pub(crate) fn publish(&self, key: &SessionKey, lines: Vec<Arc<Line>>) {
        let has_room = |line: &Line| {
            let bytes = line.json.len();
            bytes <= LINE_BYTES_MAX
                && self.kept_bytes.load(Ordering::SeqCst).saturating_add(bytes) <= ALL_BYTES_MAX
        };
        if let Some(channel) = self.channels().get(key) {
            for line in lines {
                let news = match has_room(&line) {
                    true => News::Line(Kept::new(line, &self.kept_bytes)),
                    false => News::Announced(line.id.clone()),
                };
                // Nobody may be left.
                let _unheard = channel.send(news);
            }
        }
    }

    /// Tells all who listen, and that this was all: it cannot be looked up any more.
    pub(crate) fn close(&self, key: &SessionKey, lines: Vec<Arc<Line>>) {
        let channel = self.channels().remove(key);
        for line in lines.into_iter().filter(|_| channel.is_some()) {
            let news = News::Line(Kept::new(line, &self.kept_bytes));
            // Nobody may be left.
            let _unheard = channel.as_ref().map(|channel| channel.send(news));
        }
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut channels = self.hub.channels();
        // Its own receiver is dropped after this.
        let is_last = channels.get(&self.key).is_some_and(|c| c.receiver_count() <= 1);
        if is_last {
            channels.remove(&self.key);
        }
    }
}

#[cfg(test)]
impl Listener {
    /// The next event, or the id of one that was announced, if there is one.
    pub fn heard(&mut self) -> Option<Result<Line, String>> {
        self.events.try_recv().ok().map(|news| match news {
            News::Line(kept) => Ok(kept.line.as_ref().clone()),
            News::Announced(id) => Err(id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_for_listeners_is_bounded_in_bytes_and_given_back() {
        let hub = Arc::new(Hub::default());
        let key = |number: usize| SessionKey { workspace: "w".into(), id: number.to_string() };
        let line = |bytes: usize| {
            Arc::new(Line { id: "1".into(), kind: "k".into(), json: "x".repeat(bytes) })
        };
        let mut first = hub.listen(&key(0));
        hub.publish(&key(0), vec![line(LINE_BYTES_MAX), line(LINE_BYTES_MAX + 1)]);
        assert!(first.heard().is_some_and(|heard| heard.is_ok()));
        assert_eq!(first.heard(), Some(Err("1".to_string())), "too large to keep");
        let kept = || hub.kept_bytes.load(Ordering::SeqCst);
        assert_eq!(kept(), 0, "everybody has heard it");
        // Many sessions, each with a listener that takes nothing.
        let mut listeners: Vec<Listener> = (1..=8).map(|number| hub.listen(&key(number))).collect();
        for number in 1..=8 {
            hub.publish(&key(number), vec![line(LINE_BYTES_MAX); BUFFER_EVENTS]);
            assert!(kept() <= ALL_BYTES_MAX, "{}", kept());
        }
        assert!(kept() > ALL_BYTES_MAX - LINE_BYTES_MAX, "as much as there is room for");
        let last = listeners.last_mut().expect("eight");
        assert_eq!(last.heard(), Some(Err("1".to_string())));
        // The last event of a session cannot be looked up, so it is always told.
        hub.close(&key(8), vec![line(7)]);
        let heard = std::iter::from_fn(|| last.heard()).last();
        assert_eq!(heard.map(|heard| heard.map(|line| line.json.len())), Some(Ok(7)));
        drop(listeners);
        assert_eq!(kept(), 0, "what nobody can hear is not kept");
    }

    #[test]
    fn a_listener_that_goes_leaves_nothing_behind_even_if_nothing_is_said() {
        let hub = Arc::new(Hub::default());
        let key = SessionKey { workspace: "w".into(), id: "s".into() };
        let (first, mut second) = (hub.listen(&key), hub.listen(&key));
        drop(first);
        assert_eq!(hub.listeners(), 1);
        let line = Line { id: "1".into(), kind: "k".into(), json: "{}".into() };
        let elsewhere = SessionKey { workspace: "other".into(), id: "s".into() };
        hub.publish(&elsewhere, vec![Arc::new(line.clone())]);
        hub.close(&key, vec![Arc::new(line.clone())]);
        assert_eq!(second.heard(), Some(Ok(line)), "only its own session");
        second.events.try_recv().expect_err("closed");
        drop(second);
        drop(hub.listen(&key));
        assert!(hub.channels().is_empty());
    }
}
