//! A call as a command of Redis, and its answer as an output.
//!
//! Values are kept as JSON text, so that what is read is what was written. Keys begin with the kind
//! of object, by which a dump finds them.

use super::jobs::waiting;
use super::locks::Locks;
use crate::trouble::{Trouble, key_name};
use assay_workload::Call;
use redis::{Cmd, Value, cmd};
use serde_json::{Value as Json, json};

/// Compares the text of a value, of which an absent one is `null`, and swaps.
const CAS: &str = "\
local now = redis.call('GET', KEYS[1]) or 'null'
if now ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1";

/// What the calls of a generator are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Register,
    Set,
    Counter,
    Queue,
    Lock,
    Lease,
}

impl Kind {
    /// Every generator there are commands for.
    pub(super) const GENERATORS: &[&str] =
        &["register", "map", "session", "set", "counter", "queue", "lock", "lease"];

    /// Of a generator.
    pub(super) fn named(generator: &str) -> Option<Kind> {
        Some(match generator {
            "register" | "map" | "session" => Kind::Register,
            "set" => Kind::Set,
            "counter" => Kind::Counter,
            "queue" => Kind::Queue,
            "lock" => Kind::Lock,
            "lease" => Kind::Lease,
            _ => return None,
        })
    }

    /// How the keys of its objects begin.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Kind::Register => "register:",
            Kind::Set => "set:",
            Kind::Counter => "counter:",
            Kind::Queue => "queue:",
            Kind::Lock => "lock:",
            Kind::Lease => "lease:",
        }
    }
}

/// What is sent, and how its answer is read.
pub(super) struct Request {
    pub(super) command: Cmd,
    pub(super) reading: Reading,
}

/// How an answer becomes an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reading {
    /// JSON text; nil is null.
    Json,
    /// The same, of an element that was taken out.
    Taken,
    /// A list of JSON texts.
    Elements,
    /// A number as text; nil is 0.
    Count,
    /// Nothing but that it was done.
    Done,
    /// 1 or 0, of a question.
    Truth,
    /// 1 or 0, of something that changes the state if it is 1.
    Changed,
    /// nil if the lock is taken; otherwise it is held.
    Acquired,
    /// The same, with the fencing token.
    Fenced,
    /// 1 if it was held.
    Released,
    /// 1 if the resource took the token.
    Accepted,
}

impl Request {
    pub(super) fn new(kind: Kind, call: &Call, locks: &mut Locks) -> Result<Request, Trouble> {
        let name = key_name(call.key.as_ref().unwrap_or(&Json::Null));
        let key = format!("{}{name}", kind.prefix());
        let input = call.input.to_string();
        let one = |word: &str| cmd(word).arg(&key).to_owned();
        let two = |word: &str| cmd(word).arg(&key).arg(&input).to_owned();
        let (command, reading) = match (kind, call.op.as_str()) {
            (Kind::Register, "read") => (one("GET"), Reading::Json),
            (Kind::Register, "write") => (two("SET"), Reading::Done),
            (Kind::Register, "cas") => {
                let (from, to) = (call.input[0].to_string(), call.input[1].to_string());
                (script(CAS, &[&key], &[from, to]), Reading::Changed)
            }
            (Kind::Set, "add") => (two("SADD"), Reading::Changed),
            (Kind::Set, "remove") => (two("SREM"), Reading::Changed),
            (Kind::Set, "contains") => (two("SISMEMBER"), Reading::Truth),
            (Kind::Set, "read") => (one("SMEMBERS"), Reading::Elements),
            (Kind::Counter, "read") => (one("GET"), Reading::Count),
            (Kind::Counter, op @ ("add" | "inc" | "dec")) => {
                let amount = if call.input.is_null() { Some(1) } else { call.input.as_i64() };
                let word = if op == "dec" { "DECRBY" } else { "INCRBY" };
                let amount = amount.ok_or_else(|| mistake(&format!("{op} of {input}")))?;
                (cmd(word).arg(&key).arg(amount).to_owned(), Reading::Done)
            }
            (Kind::Queue, "enqueue") => {
                (cmd("RPUSH").arg(waiting(&name)).arg(&input).to_owned(), Reading::Done)
            }
            // Not LPOP: what was taken is kept, for a dump is of all that was ever accepted.
            (Kind::Queue, "dequeue") => {
                let command = cmd("LMOVE").arg(waiting(&name)).arg(taken(&name)).to_owned();
                (command.clone().arg("LEFT").arg("RIGHT").to_owned(), Reading::Taken)
            }
            (Kind::Lock, "acquire") => return Ok(locks.acquire(&key, &name, &call.input)),
            (Kind::Lock, "release") => return Ok(locks.release(&key)),
            (kind, op) => return Err(mistake(&format!("there is no `{op}` of {kind:?}"))),
        };
        Ok(Request { command, reading })
    }

    /// The output in the shape of docs/models.md.
    pub(super) fn output(&self, answer: &Value) -> Result<Json, Trouble> {
        let output = match (self.reading, answer) {
            (Reading::Json | Reading::Taken, Value::Nil) => Some(Json::Null),
            (Reading::Json | Reading::Taken, answer) => json_of(answer),
            (Reading::Elements, answer) => elements(answer),
            (Reading::Count, Value::Nil) => Some(json!(0)),
            (Reading::Count, answer) => json_of(answer).filter(Json::is_i64),
            (Reading::Done, _) => Some(Json::Null),
            (Reading::Truth | Reading::Changed, Value::Int(found)) => Some(json!(*found == 1)),
            (Reading::Acquired | Reading::Fenced, Value::Nil) => {
                return Err(Trouble::Fail("held by another".to_string()));
            }
            (Reading::Acquired, _) => Some(Json::Null),
            (Reading::Fenced, Value::Int(token)) => Some(json!(token)),
            (Reading::Released | Reading::Accepted, Value::Int(1)) => Some(Json::Null),
            (Reading::Accepted, Value::Int(0)) => {
                return Err(Trouble::Fail("refused: it has seen a newer token".to_string()));
            }
            (Reading::Released, Value::Int(0)) => {
                return Err(Trouble::Fail("not held".to_string()));
            }
            _ => None,
        };
        output.ok_or_else(|| Trouble::Unknown(format!("not understood: {answer:?}")))
    }

    /// Whether nothing is changed, whatever the answer will be.
    pub(super) fn only_reads(&self) -> bool {
        use Reading::{Count, Elements, Json, Truth};
        matches!(self.reading, Json | Elements | Count | Truth)
    }

    /// Whether an output says that something was changed, which replicas have to hear of.
    pub(super) fn has_written(&self, output: &Json) -> bool {
        match self.reading {
            Reading::Changed => *output == json!(true),
            Reading::Taken => !output.is_null(),
            _ => !self.only_reads(),
        }
    }
}

/// The list of what was taken out of it.
fn taken(name: &str) -> String {
    format!("{}taken:{name}", Kind::Queue.prefix())
}

/// A script with its keys and arguments. Sent whole: to send its digest and then, if need be, the
/// text would be to send a call twice.
pub(super) fn script(text: &str, keys: &[&str], arguments: &[String]) -> Cmd {
    cmd("EVAL").arg(text).arg(keys.len()).arg(keys).arg(arguments).to_owned()
}

pub(super) fn mistake(why: &str) -> Trouble {
    Trouble::Fail(format!("a call the client of redis has no words for: {why}"))
}

/// A JSON text.
pub(super) fn json_of(answer: &Value) -> Option<Json> {
    match answer {
        Value::BulkString(bytes) => serde_json::from_slice(bytes).ok(),
        _ => None,
    }
}

/// JSON texts, in the order of the texts: Redis has sets in no order.
pub(super) fn elements(answer: &Value) -> Option<Json> {
    let Value::Array(texts) = answer else { return None };
    let mut texts: Vec<&Value> = texts.iter().collect();
    texts.sort_by_key(|text| match text {
        Value::BulkString(bytes) => Some(bytes.clone()),
        _ => None,
    });
    texts.into_iter().map(json_of).collect::<Option<Vec<Json>>>().map(Json::Array)
}
