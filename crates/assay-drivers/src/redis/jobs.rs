//! Queues of jobs: who takes one out has to do it, which takes time, and acknowledges it before or
//! after.
//!
//! A consumer has one connection. If it breaks in the middle of a job, the consumer is gone with
//! what it knew, and the next call is another consumer's. A job that was acknowledged before is
//! forgotten then. One that was not is handed to somebody else when nobody has acknowledged it for
//! so long as the option `redelivery` says.
//!
//! Each time a job is handed out has a number of its own, which what was done carries as `handed`:
//! so it can be told whether a job was done more often than it was handed out.

use super::RedisClient;
use super::link::LinkError;
use super::request::{Kind, json_of, script};
use crate::client::ClientError;
use crate::options::Options;
use crate::trouble::{Trouble, key_name};
use assay_workload::Call;
use redis::{Cmd, Value, cmd};
use serde_json::Value as Json;
use std::time::{Duration, Instant};

/// The longest a job may take, or wait to be handed out again: a minute.
const TIME_MS_MAX: u64 = 60_000;
const WORK_MS_DEFAULT: u64 = 20;
const REDELIVERY_MS_DEFAULT: u64 = 500;
/// How long a consumer waits before it looks again for what others may have left.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Where times of handing out are counted, for all queues at once.
const HANDED: &str = "handed";

/// Hands out what waits and forgets it, with the number of this time.
const TAKE_AND_FORGET: &str = "\
local job = redis.call('LPOP', KEYS[1])
if not job then return 0 end
return {job, redis.call('INCR', KEYS[2])}";

/// Hands out what nobody acknowledged in time, else what waits, with the number of this time; how
/// many are with others, if there is neither.
const TAKE: &str = "\
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local late = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[1], 'LIMIT', 0, 1)
local job = late[1] or redis.call('LPOP', KEYS[1])
if not job then return redis.call('ZCARD', KEYS[2]) end
redis.call('ZADD', KEYS[2], now, job)
return {job, redis.call('INCR', KEYS[3])}";

/// When a consumer says that a job need not be handed out again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Acknowledge {
    /// There is no work: to take an element out is all that happens.
    AtOnce,
    BeforeWork,
    AfterWork,
}

/// How jobs are done.
pub(super) struct Jobs {
    pub(super) acknowledge: Acknowledge,
    work: Duration,
    redelivery_ms: u64,
}

/// What there is to do.
#[derive(Clone, PartialEq, Debug)]
enum Taken {
    /// A job, as it was put in, and the number of this time.
    Job(Vec<u8>, i64),
    /// Nothing, and nobody is at work.
    Nothing,
    /// Nothing, but others are at work and may not finish.
    WithOthers,
}

impl Jobs {
    pub(super) fn new(options: &Options<'_>) -> Result<Jobs, ClientError> {
        let known = [
            ("at-once", Acknowledge::AtOnce),
            ("before-work", Acknowledge::BeforeWork),
            ("after-work", Acknowledge::AfterWork),
        ];
        let work_ms = options.natural("work", 0..=TIME_MS_MAX, WORK_MS_DEFAULT)?;
        let range = 1..=TIME_MS_MAX;
        Ok(Jobs {
            acknowledge: options.one_of("acknowledge", &known)?,
            work: Duration::from_millis(work_ms),
            redelivery_ms: options.natural("redelivery", range, REDELIVERY_MS_DEFAULT)?,
        })
    }

    /// How the keys begin that a dump shows: of jobs, those that were done.
    pub(super) fn dumped(&self) -> String {
        let prefix = Kind::Queue.prefix();
        match self.acknowledge {
            Acknowledge::AtOnce => prefix.to_string(),
            Acknowledge::BeforeWork | Acknowledge::AfterWork => format!("{prefix}done:"),
        }
    }

    /// Takes a job.
    fn take(&self, name: &str) -> Cmd {
        match self.acknowledge {
            Acknowledge::AfterWork => {
                let (waiting, pending) = (waiting(name), pending(name));
                script(TAKE, &[&waiting, &pending, HANDED], &[self.redelivery_ms.to_string()])
            }
            _ => script(TAKE_AND_FORGET, &[&waiting(name), HANDED], &[]),
        }
    }
}

impl RedisClient {
    /// Takes a job, does it, and says so, in the order that was asked for.
    pub(super) fn job(&mut self, call: &Call, deadline: Instant) -> Result<Json, Trouble> {
        let name = key_name(call.key.as_ref().unwrap_or(&Json::Null));
        let gone = |error: LinkError| Trouble::Unknown(format!("gone in the middle: {error:?}"));
        let (job, handed) = loop {
            let take = self.jobs.take(&name);
            let answer = self.deciding(deadline)?.ask(&take, deadline)?;
            match taken(&answer) {
                Some(Taken::Job(job, handed)) => break (job, handed),
                Some(Taken::Nothing) => return Ok(Json::Null),
                Some(Taken::WithOthers) if Instant::now() + LOOK_AGAIN < deadline => {
                    std::thread::sleep(LOOK_AGAIN);
                }
                Some(Taken::WithOthers) => {
                    return Err(Trouble::Fail("others are at work on all there is".to_string()));
                }
                None => return Err(Trouble::Unknown(format!("not understood: {answer:?}"))),
            }
        };
        std::thread::sleep(self.jobs.work.min(deadline.saturating_duration_since(Instant::now())));
        let when = self.jobs.acknowledge;
        let link = self.deciding(deadline)?;
        link.ask_next(&work(&name, &job, handed), deadline).map_err(gone)?;
        if when == Acknowledge::AfterWork {
            link.ask_next(&acknowledge(&name, &job), deadline).map_err(gone)?;
        }
        serde_json::from_slice(&job).map_err(|_| Trouble::Unknown("not understood".to_string()))
    }
}

/// What the answer to [`Jobs::take`] says; `None`: not understood.
fn taken(answer: &Value) -> Option<Taken> {
    match answer {
        Value::Int(0) => Some(Taken::Nothing),
        Value::Int(_) => Some(Taken::WithOthers),
        Value::Array(both) => match both.as_slice() {
            [text @ Value::BulkString(job), Value::Int(handed)] => {
                json_of(text).map(|_| Taken::Job(job.clone(), *handed))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Does a job: what it leaves behind is an entry in a list, the job with the number under which it
/// was handed out. One that has no room for a number stays as it is.
fn work(name: &str, job: &[u8], handed: i64) -> Cmd {
    let done = match serde_json::from_slice(job) {
        Ok(Json::Object(mut job)) => {
            job.insert("handed".to_string(), handed.into());
            Json::Object(job).to_string().into_bytes()
        }
        _ => job.to_vec(),
    };
    cmd("RPUSH").arg(format!("{}done:{name}", Kind::Queue.prefix())).arg(done).to_owned()
}

/// Says that it is done.
fn acknowledge(name: &str, job: &[u8]) -> Cmd {
    cmd("ZREM").arg(pending(name)).arg(job).to_owned()
}

/// The list of what waits in a queue.
pub(super) fn waiting(name: &str) -> String {
    format!("{}waiting:{name}", Kind::Queue.prefix())
}

/// What was handed out and not acknowledged, by the time it was handed out. Not a list, so its name
/// must not begin as those of lists do.
fn pending(name: &str) -> String {
    format!("pending:{name}")
}
