//! A session from its beginning to its end: begun once, heard through whatever breaks, held to its
//! limits, archived.

use super::http::{Line, Reply};
use super::watch::{Stand, Watch};
use super::{Refused, left};
use crate::event::{AgentEvent, Usage};
use crate::outcome::Outcome;
use crate::output::{Line as TextLine, Lines, Log, Written};
use crate::task::Task;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How often to look at limits and at whether the run was called off.
const STEP: Duration = Duration::from_millis(50);
/// How long to wait before the server is asked again, and for how long it may be away.
const AGAIN: Duration = Duration::from_millis(250);
const AWAY_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a session may take to end after it was interrupted.
const END_TIME_MAX: Duration = Duration::from_secs(20);

/// How it went.
pub(super) struct Followed {
    pub outcome: Outcome,
    pub usage: Option<Usage>,
    pub output_bytes: u64,
    pub written: Written,
    /// Whether it is certain that nothing of it runs any more.
    pub is_over: bool,
}

/// Follows one session.
pub(super) struct Follower<'a> {
    line: Line,
    task: &'a Task,
    log: Log,
    say: &'a mut dyn FnMut(AgentEvent),
    watch: Watch,
    started: Instant,
    last_heard: Instant,
    /// The last event that was heard.
    last: Option<String>,
}

/// Why following stopped.
enum Stop {
    /// The session rests.
    Over,
    /// A limit, or whoever runs it.
    Limit(Outcome),
    /// The server says that there is no such session.
    Gone(String),
    /// The server has been away for too long.
    Away(String),
}

impl<'a> Follower<'a> {
    pub(super) fn new(
        line: Line,
        task: &'a Task,
        log: Log,
        say: &'a mut dyn FnMut(AgentEvent),
    ) -> Follower<'a> {
        let now = Instant::now();
        let watch = Watch::default();
        Follower { line, task, log, say, watch, started: now, last_heard: now, last: None }
    }

    /// Begins the session of a name, or finds it, and stays until it is over.
    pub(super) async fn run(mut self, name: &str, wish: &Value) -> Result<Followed, Refused> {
        let id = self.begin(name, wish).await?;
        let model = None;
        (self.say)(AgentEvent::Started { session: Some(id.clone()), model });
        let stop = self.follow(&id, |follower| follower.limit()).await;
        let (outcome, is_over) = match stop {
            Stop::Over => (self.watch.outcome(), true),
            Stop::Gone(why) => (Outcome::Failed { why }, true),
            Stop::Away(why) => (Outcome::Failed { why }, self.end(&id, name).await),
            Stop::Limit(cause) => (cause, self.end(&id, name).await),
        };
        if is_over {
            // One that somebody else has archived or deleted is as good.
            let path = format!("/v1/sessions/{id}/archive");
            let _archived = self.line.ask(&path, Some(&json!({})), None).await;
        }
        let (usage, output_bytes) = (self.watch.usage, self.log.bytes);
        let written = self.log.finish().unwrap_or_default();
        Ok(Followed { outcome, usage, output_bytes, written, is_over })
    }

    /// Asks until there is an answer: the same name never makes a second session.
    async fn begin(&mut self, name: &str, wish: &Value) -> Result<String, Refused> {
        // Whoever lost an answer does not know whether it was made.
        let mut may_be_there = false;
        loop {
            let why = match self.line.ask("/v1/sessions", Some(wish), Some(name)).await {
                Ok(Reply { status: 200, body }) => match body["id"].as_str() {
                    Some(id) => return Ok(id.to_string()),
                    None => "its answer has no id".to_string(),
                },
                Ok(reply) if !reply.is_passing() => {
                    return Err(
                        format!("the server refuses the session: {}", reply.message()).into()
                    );
                }
                Ok(reply) => reply.message(),
                Err(why) => {
                    may_be_there = true;
                    why
                }
            };
            let limit = AWAY_TIME_MAX.min(self.task.limits.wall);
            if left(limit, self.started).is_zero() || self.task.cancel.is_cancelled() {
                return Err(Refused {
                    why: format!("the server begins no session: {why}"),
                    may_be_there,
                });
            }
            sleep(AGAIN).await;
        }
    }

    /// Hears the session until it is over, or `check` has had enough.
    async fn follow(&mut self, id: &str, check: impl Fn(&Follower<'a>) -> Option<Outcome>) -> Stop {
        let path = format!("/v1/sessions/{id}/events/stream");
        let mut away = Instant::now();
        loop {
            let why = match self.line.open(&path, self.last.as_deref()).await {
                Ok(answer) if answer.status() == 200 => {
                    let heard = self.listen(answer.into_body(), &check).await;
                    if let Some(stop) = heard {
                        return stop;
                    }
                    away = Instant::now();
                    "its stream broke off".to_string()
                }
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    if status == 404 {
                        return Stop::Gone("its session was deleted".to_string());
                    }
                    format!("it answers {status}")
                }
                Err(why) => why,
            };
            if let Some(cause) = check(self) {
                return Stop::Limit(cause);
            }
            if left(AWAY_TIME_MAX, away).is_zero() {
                return Stop::Away(format!("the server of its session is away: {why}"));
            }
            sleep(AGAIN).await;
        }
    }

    /// Hears one stream; `None` if it breaks off.
    async fn listen(
        &mut self,
        mut body: Incoming,
        check: &impl Fn(&Follower<'a>) -> Option<Outcome>,
    ) -> Option<Stop> {
        let (mut lines, mut frame) = (Lines::default(), Frame::default());
        loop {
            if let Some(cause) = check(self) {
                return Some(Stop::Limit(cause));
            }
            let Ok(heard) = timeout(STEP, body.frame()).await else { continue };
            let Some(Ok(heard)) = heard else { return None };
            let Ok(bytes) = heard.into_data() else { continue };
            let mut whole = Vec::new();
            lines.push(&bytes, |line| whole.push(line));
            for line in whole {
                // One that is too long has to be heard of again; the next stream begins before it.
                let TextLine::Whole(line) = line else { return None };
                if frame.take(&line) {
                    self.hear(std::mem::take(&mut frame));
                }
                if self.watch.stand == Stand::Over {
                    return Some(Stop::Over);
                }
            }
        }
    }

    fn hear(&mut self, frame: Frame) {
        let Frame { id, kind, data } = frame;
        self.last_heard = Instant::now();
        // A full disk must not keep a session from being watched.
        let _unlogged = self.log.push(format!("{data}\n").as_bytes());
        self.last = id.or(self.last.take());
        let event: Value = serde_json::from_str(&data).unwrap_or_default();
        for said in self.watch.hear(&kind, &event) {
            (self.say)(said);
        }
    }

    /// What has been exceeded. Who waits for a person need not say anything.
    fn limit(&self) -> Option<Outcome> {
        let limits = self.task.limits;
        let is_waiting = self.watch.stand == Stand::Waiting;
        if self.log.bytes > limits.output_bytes {
            Some(Outcome::OutputLimit)
        } else if self.task.cancel.is_cancelled() {
            Some(Outcome::Cancelled)
        } else if left(limits.wall, self.started).is_zero() {
            Some(Outcome::WallTimeout)
        } else if !is_waiting && left(limits.idle, self.last_heard).is_zero() {
            Some(Outcome::IdleTimeout)
        } else {
            None
        }
    }

    /// Interrupts the session and waits until it rests; whether it does.
    async fn end(&mut self, id: &str, name: &str) -> bool {
        let (since, name) = (Instant::now(), format!("{name}-interrupt"));
        let path = format!("/v1/sessions/{id}/events");
        let interrupt = json!({"events": [{"type": "user.interrupt"}]});
        loop {
            match self.line.ask(&path, Some(&interrupt), Some(&name)).await {
                Ok(reply) if reply.status == 200 => break,
                // Nothing runs in a session that is archived or gone.
                Ok(reply) if [400, 404].contains(&reply.status) => return true,
                _ if left(END_TIME_MAX, since).is_zero() => return false,
                _ => sleep(AGAIN).await,
            }
        }
        let late =
            |_: &Follower<'a>| left(END_TIME_MAX, since).is_zero().then_some(Outcome::Cancelled);
        matches!(self.follow(id, late).await, Stop::Over | Stop::Gone(_))
    }
}

/// One event of a stream, as far as it was heard.
#[derive(Default)]
struct Frame {
    id: Option<String>,
    kind: String,
    data: String,
}

impl Frame {
    /// Takes a line; whether the event is whole. `Lines` leaves empty lines out, and the data of an
    /// event is its last line.
    fn take(&mut self, line: &str) -> bool {
        if let Some(id) = line.strip_prefix("id: ") {
            self.id = Some(id.to_string());
        } else if let Some(kind) = line.strip_prefix("event: ") {
            self.kind = kind.to_string();
        } else if let Some(data) = line.strip_prefix("data: ") {
            self.data = data.to_string();
            return true;
        }
        false
    }
}
