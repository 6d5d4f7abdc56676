//! Events as they happen, by server-sent events.
//!
//! A stream listens first, then reads the log, then goes on with what it hears and has not read:
//! nothing is missed and nothing comes twice. It does something only when its reader takes
//! something: one piece of the log, or one event, is all that is ever held for one.

use super::reply::Reply;
use super::serve::{App, Call};
use crate::error::ApiError;
use crate::hub::{Listener, News};
use crate::limits::{Kind, Place};
use crate::store::{Line, Reader, SessionKey, folder, is_key_good};
use assay_session::prefix;
use axum::body::{Body, Bytes};
use std::convert::Infallible;
use std::fmt::Write;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::error::RecvError;

/// How often a stream that has nothing to say says so, to be known to live.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

/// For how long a key that was good is taken to be so. Keys are revoked by other programs, too, so
/// that the store has to be asked.
const KEY_GOOD_MAX: Duration = Duration::from_secs(1);

struct Tail {
    reader: Reader,
    listener: Listener,
    key: SessionKey,
    /// The key that opened it: when that is revoked, it ends.
    opened_by: String,
    /// When that key was last seen to be good.
    checked: Instant,
    /// The last event that was given out.
    last: Option<String>,
    is_replaying: bool,
    /// Given back when the stream ends.
    _place: Place,
}

/// `GET /v1/sessions/{id}/events/stream`
pub async fn open(app: &App, mut call: Call) -> Result<Reply, ApiError> {
    if !call.query.all("event_deltas[]").is_empty() {
        return Err(ApiError::unsupported("event_deltas"));
    }
    let wanted = call.header("last-event-id").map(str::to_string);
    call.query.finish()?;
    let place = app.admission.enter(Kind::Stream, &call.workspace)?;
    let (opened_by, checked) = (call.key_id, Instant::now());
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let listener = app.hub.listen(&key);
    app.reader.session_state(&key).await?;
    let last = own_event(&app.reader, &key, wanted).await?;
    let (reader, is_replaying) = (app.reader.clone(), true);
    let _place = place;
    let tail = Tail { reader, listener, key, opened_by, checked, last, is_replaying, _place };
    let frames = futures_util::stream::unfold(tail, |mut tail| async move {
        let frames = tail.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(frames)), tail))
    });
    Ok(Reply {
        status: 200,
        content_type: "text/event-stream",
        headers: vec![("cache-control", "no-cache".to_string())],
        body: Body::from_stream(frames),
    })
}

/// Where to go on. Ids are ordered in time across sessions: one that is not this session's own
/// would skip what nobody has seen, so it counts as none.
async fn own_event(
    reader: &Reader,
    key: &SessionKey,
    wanted: Option<String>,
) -> Result<Option<String>, ApiError> {
    let is_id = |id: &String| id.starts_with(prefix::EVENT) && !id.contains('/');
    let Some(id) = wanted.filter(is_id) else { return Ok(None) };
    let at = format!("{}/{id}", key.at(folder::EVENTS));
    let is_own = reader.ask(move |store| Ok(store.get(&at)?.is_some())).await?;
    Ok(is_own.then_some(id))
}

impl Tail {
    /// What comes next; nothing if this was all.
    async fn next(&mut self) -> Option<String> {
        let next = self.read_on().await?;
        // Nothing is given to a key that was revoked while this was waited for.
        self.is_allowed().await.then_some(next)
    }

    async fn is_allowed(&mut self) -> bool {
        if self.checked.elapsed() < KEY_GOOD_MAX {
            return true;
        }
        self.checked = Instant::now();
        // One that cannot be asked about opens nothing.
        is_key_good(&self.reader, &self.opened_by).await.unwrap_or(false)
    }

    async fn read_on(&mut self) -> Option<String> {
        loop {
            if self.is_replaying {
                let read = self.reader.events_after(&self.key, self.last.clone());
                // Clients take the end of a stream as a reason to open it again.
                let piece = read.await.ok()?;
                self.is_replaying = piece.has_more;
                if let Some(last) = piece.lines.last() {
                    self.last = Some(last.id.clone());
                    return Some(piece.lines.iter().fold(String::new(), frame));
                }
            }
            match tokio::time::timeout(HEARTBEAT, self.listener.events.recv()).await {
                Err(_) => return Some(": still here\n\n".to_string()),
                Ok(Ok(News::Line(kept))) if self.last.as_ref() < Some(&kept.line.id) => {
                    self.last = Some(kept.line.id.clone());
                    return Some(frame(String::new(), &kept.line));
                }
                Ok(Ok(News::Announced(id))) if self.last.as_ref() < Some(&id) => {
                    self.is_replaying = true;
                }
                Ok(Ok(_)) => {}
                Ok(Err(RecvError::Lagged(_))) => self.is_replaying = true,
                Ok(Err(RecvError::Closed)) => return None,
            }
        }
    }
}

/// JSON has no line breaks of its own: one line of data is enough.
fn frame(mut frames: String, line: &Line) -> String {
    let Line { id, kind, json } = line;
    // Writing to text cannot fail.
    let _written = write!(frames, "id: {id}\nevent: {kind}\ndata: {json}\n\n");
    frames
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::Hub;
    use crate::limits::{Admission, Limits};
    use crate::store::{add_key, new_key};
    use assay_ledger::keyed::{SqliteStore, Store, Writes};
    use std::sync::Arc;

    /// More than a channel holds.
    const LINES: usize = 300;

    fn line(number: usize) -> Line {
        let id = format!("sevt_{number:04}");
        Line { id, kind: "t".to_string(), json: r#"{"type":"t"}"#.to_string() }
    }

    /// Lines that are in the log, and then told to all who listen.
    fn append(store: &mut SqliteStore, hub: &Hub, key: &SessionKey, numbers: Vec<usize>) {
        let at = |line: &Line| format!("{}/{}", key.at(folder::EVENTS), line.id);
        let lines = numbers.into_iter().map(line);
        let lines: Vec<Arc<Line>> = lines.map(Arc::new).collect();
        let pairs = lines.iter().map(|line| (at(line), Some(line.json.clone().into_bytes())));
        store.commit(&pairs.collect::<Writes>()).expect("room");
        hub.publish(key, lines);
    }

    #[test]
    fn a_stream_that_was_overrun_reads_what_it_missed_each_once_and_in_order() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || SqliteStore::open(directory.path()).expect("a store");
        let mut store = open();
        let api_key = add_key(&mut store, &new_key().expect("chance"), "w", "k").expect("a key");
        let reader = Reader::start(Box::new(open())).expect("a thread");
        let hub = Arc::new(Hub::default());
        let key = SessionKey { workspace: "w".into(), id: "s".into() };
        let admission = Arc::new(Admission::new(Limits::default()));
        let mut tail = Tail {
            reader,
            listener: hub.listen(&key),
            key: key.clone(),
            opened_by: api_key.id,
            checked: Instant::now(),
            last: None,
            is_replaying: true,
            _place: admission.enter(Kind::Stream, "w").expect("a place"),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime");
        let mut heard = String::new();
        // It stands at the end of the log, and listens.
        append(&mut store, &hub, &key, vec![0]);
        heard += &runtime.block_on(tail.next()).expect("the first");
        append(&mut store, &hub, &key, (1..=LINES).collect());
        let last = format!("id: {}\n", line(LINES).id);
        while !heard.contains(&last) {
            heard += &runtime.block_on(tail.next()).expect("the rest");
        }
        let ids: Vec<&str> = heard.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
        let all: Vec<String> = (0..=LINES).map(|number| line(number).id).collect();
        assert_eq!(ids, all);
        // One that is too large to be kept for listeners is looked up.
        let large = "x".repeat(100_000);
        let json = format!(r#"{{"type":"t","x":"{large}"}}"#);
        let large = Line { id: format!("{}-large", line(LINES).id), kind: "t".to_string(), json };
        let at = format!("{}/{}", key.at(folder::EVENTS), large.id);
        let pair = (at, Some(large.json.clone().into_bytes()));
        store.commit(&Writes::from_iter([pair])).expect("room");
        hub.publish(&key, vec![Arc::new(large.clone())]);
        let next = runtime.block_on(tail.next()).expect("the large one");
        assert!(next.contains(&large.id) && next.len() > 100_000, "{}", next.len());
        // What was missed is told by the channel, too, and skipped.
        append(&mut store, &hub, &key, vec![LINES + 1]);
        let next = runtime.block_on(tail.next()).expect("one more");
        assert!(next.contains(&line(LINES + 1).id), "{next}");
    }
}
