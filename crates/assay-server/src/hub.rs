//! Who listens to which session.
//!
//! A session that somebody listens to has one bounded channel. A listener that is slow finds that
//! it missed something, and reads the log from where it stands: so no listener makes anything grow,
//! and none keeps a writer waiting.

use crate::store::{Line, SessionKey};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// Events a session keeps for listeners that are not at the end.
const BUFFER_EVENTS: usize = 256;

type Channels = HashMap<SessionKey, broadcast::Sender<Arc<Line>>>;

/// The channels of all sessions that somebody listens to.
#[derive(Default, Debug)]
pub struct Hub {
    channels: Mutex<Channels>,
}

/// A listener. When it goes, and is the last, the channel goes too.
#[derive(Debug)]
pub struct Listener {
    /// Where events come.
    pub events: broadcast::Receiver<Arc<Line>>,
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
        if let Some(channel) = self.channels().get(key) {
            for line in lines {
                // Nobody may be left.
                let _unheard = channel.send(line);
            }
        }
    }

    /// Tells all who listen, and that this was all.
    pub(crate) fn close(&self, key: &SessionKey, lines: Vec<Arc<Line>>) {
        self.publish(key, lines);
        self.channels().remove(key);
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
mod tests {
    use super::*;

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
        let heard = second.events.try_recv().map(|line| line.as_ref().clone());
        assert_eq!(heard, Ok(line), "only its own session");
        second.events.try_recv().expect_err("closed");
        drop(second);
        drop(hub.listen(&key));
        assert!(hub.channels().is_empty());
    }
}
