//! Events as they happen, by server-sent events.
//!
//! A stream listens first, then reads the log, then goes on with what it hears and has not read:
//! nothing is missed and nothing comes twice. It does something only when its reader takes
//! something: one piece of the log, or one event, is all that is ever held for one.

use super::reply::Reply;
use super::serve::{App, Call};
use crate::error::ApiError;
use crate::hub::Listener;
use crate::limits::{Kind, Place};
use crate::store::{Line, Reader, SessionKey, folder};
use assay_session::prefix;
use axum::body::{Body, Bytes};
use std::convert::Infallible;
use std::fmt::Write;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// How often a stream that has nothing to say says so, to be known to live.
pub const HEARTBEAT: Duration = Duration::from_secs(15);

struct Tail {
    reader: Reader,
    listener: Listener,
    key: SessionKey,
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
    let key = SessionKey { workspace: call.workspace, id: call.id };
    let listener = app.hub.listen(&key);
    app.reader.session_state(&key).await?;
    let last = own_event(&app.reader, &key, wanted).await?;
    let (reader, is_replaying) = (app.reader.clone(), true);
    let tail = Tail { reader, listener, key, last, is_replaying, _place: place };
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
                Ok(Ok(line)) if self.last.as_ref() < Some(&line.id) => {
                    self.last = Some(line.id.clone());
                    return Some(frame(String::new(), &line));
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
