//! A call as a request of the gateway, and its answer as a reply.

use super::base64::{decode, encode};
use crate::client::ClientError;
use assay_workload::{Call, Reply};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What the calls of a generator are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Register,
    Set,
}

/// What a description may tell the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Settings {
    /// Reads are answered by the node itself, from what it has applied.
    serializable: bool,
    /// Keys that every add to a set compares with first; they widen the time between its parts.
    pub(super) compares: usize,
}

/// What was asked for, which decides what no answer means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    Read,
    Write,
}

/// How an answer is read.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Reading {
    Nothing,
    Swapped,
    Value,
    /// Elements below a prefix.
    Elements(String),
    Present,
    /// Everything below a prefix, by key.
    Dump(Kind),
}

/// What is sent, and how its answer is read.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) path: &'static str,
    pub(super) body: Value,
    pub(super) asked: Asked,
    reading: Reading,
}

/// Keys to compare with; a name that no register or set has.
const SEEDS: &str = "seed/";
/// Writes in one transaction; etcd takes 128.
const SEEDS_AT_ONCE: usize = 100;
/// Keys to compare with that a client is willing to write.
const COMPARES_MAX: u64 = 10_000;
const REGISTERS: &str = "register/";
const SETS: &str = "set/";

impl Settings {
    pub(super) fn read(options: &BTreeMap<String, Value>) -> Result<Settings, ClientError> {
        let wrong = |message: String| ClientError { message };
        let serializable = match options.get("reads").and_then(Value::as_str) {
            None | Some("linearizable") => false,
            Some("serializable") => true,
            Some(other) => return Err(wrong(format!("reads are not `{other}` in etcd"))),
        };
        let compares = options.get("compares").map_or(Some(0), Value::as_u64);
        match compares.filter(|count| *count <= COMPARES_MAX) {
            Some(compares) => Ok(Settings { serializable, compares: compares as usize }),
            None => Err(wrong(format!("`compares` is a number up to {COMPARES_MAX}"))),
        }
    }
}

/// The first key after everything that begins with a prefix.
fn after(prefix: &str) -> String {
    let mut bytes = prefix.as_bytes().to_vec();
    if let Some(last) = bytes.last_mut() {
        *last += 1;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn below(prefix: &str) -> Map<String, Value> {
    let (key, end) = (encode(prefix.as_bytes()), encode(after(prefix).as_bytes()));
    Map::from_iter([("key".to_string(), json!(key)), ("range_end".to_string(), json!(end))])
}

fn put(key: &str, value: &Value) -> Value {
    json!({ "key": encode(key.as_bytes()), "value": encode(value.to_string().as_bytes()) })
}

/// Writes the keys to compare with.
pub(super) fn seeds(count: usize) -> Vec<Request> {
    let all: Vec<usize> = (0..count).collect();
    let request = |some: &[usize]| {
        let puts = some
            .iter()
            .map(|i| json!({ "request_put": put(&format!("{SEEDS}{i:05}"), &json!(i)) }));
        let body = json!({ "success": puts.collect::<Vec<Value>>() });
        Request { path: "/v3/kv/txn", body, asked: Asked::Write, reading: Reading::Nothing }
    };
    all.chunks(SEEDS_AT_ONCE).map(request).collect()
}

/// Asks how many keys to compare with there are.
pub(super) fn seed_count() -> Request {
    let mut body = below(SEEDS);
    body.insert("count_only".to_string(), json!(true));
    let (path, body) = ("/v3/kv/range", Value::Object(body));
    Request { path, body, asked: Asked::Read, reading: Reading::Nothing }
}

impl Request {
    pub(super) fn new(kind: Kind, settings: &Settings, call: &Call) -> Result<Request, String> {
        let name = match &call.key {
            None => String::new(),
            Some(Value::String(name)) => name.clone(),
            Some(other) => other.to_string(),
        };
        let register = format!("{REGISTERS}{name}");
        let elements = format!("{SETS}{name}/");
        let element = format!("{elements}{}", call.input);
        let write =
            |path, body| Request { path, body, asked: Asked::Write, reading: Reading::Nothing };
        let read = |mut body: Map<String, Value>, reading| {
            body.insert("serializable".to_string(), json!(settings.serializable));
            let body = Value::Object(body);
            Request { path: "/v3/kv/range", body, asked: Asked::Read, reading }
        };
        let one = |key: &str| Map::from_iter([("key".to_string(), json!(encode(key.as_bytes())))]);
        Ok(match (kind, call.op.as_str()) {
            (Kind::Register, "write") => write("/v3/kv/put", put(&register, &call.input)),
            (Kind::Register, "cas") => {
                let body = swap(&register, &call.input).ok_or("cas has an old and a new value")?;
                Request { reading: Reading::Swapped, ..write("/v3/kv/txn", body) }
            }
            (Kind::Register, "read") => read(one(&register), Reading::Value),
            (Kind::Set, "add") if settings.compares > 0 => {
                let mut compare = below(SEEDS);
                compare.insert("target".to_string(), json!("CREATE"));
                compare.insert("result".to_string(), json!("GREATER"));
                compare.insert("create_revision".to_string(), json!("0"));
                let put = json!({ "request_put": put(&element, &call.input) });
                let body = json!({ "compare": [compare], "success": [put] });
                Request { reading: Reading::Swapped, ..write("/v3/kv/txn", body) }
            }
            (Kind::Set, "add") => write("/v3/kv/put", put(&element, &call.input)),
            (Kind::Set, "contains") => read(one(&element), Reading::Present),
            (Kind::Set, "read") => read(below(&elements), Reading::Elements(elements)),
            // The node's own state, whatever the others say.
            (_, "dump") => {
                let prefix = if kind == Kind::Set { SETS } else { REGISTERS };
                let mut body = below(prefix);
                body.insert("serializable".to_string(), json!(true));
                let (path, body) = ("/v3/kv/range", Value::Object(body));
                Request { path, body, asked: Asked::Read, reading: Reading::Dump(kind) }
            }
            (_, "reconnect") => read(one(&register), Reading::Nothing),
            (_, other) => return Err(format!("etcd has no word for `{other}`")),
        })
    }

    /// What an answer means.
    pub(super) fn reply(&self, body: &Value, name: String) -> Reply {
        let node = Some(name);
        let kvs: Vec<(String, Value)> =
            body["kvs"].as_array().into_iter().flatten().filter_map(pair).collect();
        let output = match &self.reading {
            Reading::Nothing => Value::Null,
            Reading::Swapped if body["succeeded"] == json!(true) => Value::Null,
            Reading::Swapped => {
                return Reply::Fail { error: "the comparison failed".to_string(), node };
            }
            Reading::Value => kvs.into_iter().next().map_or(Value::Null, |(_, value)| value),
            Reading::Elements(_) => kvs.into_iter().map(|(_, value)| value).collect(),
            Reading::Present => json!(!kvs.is_empty()),
            Reading::Dump(kind) => dump(*kind, kvs),
        };
        Reply::Ok { output, node, revision: None }
    }
}

/// Compares the value, or that there is none, and writes.
fn swap(key: &str, input: &Value) -> Option<Value> {
    let [old, new] = input.as_array()?.as_slice() else { return None };
    let name = encode(key.as_bytes());
    let compare = match old {
        Value::Null => {
            json!({ "key": name, "target": "CREATE", "result": "EQUAL", "create_revision": "0" })
        }
        old => json!({
            "key": name, "target": "VALUE", "result": "EQUAL",
            "value": encode(old.to_string().as_bytes())
        }),
    };
    Some(json!({ "compare": [compare], "success": [{ "request_put": put(key, new) }] }))
}

/// A key and its value.
fn pair(kv: &Value) -> Option<(String, Value)> {
    let key = String::from_utf8(decode(kv["key"].as_str()?)?).ok()?;
    let value = decode(kv["value"].as_str().unwrap_or_default())?;
    Some((key, serde_json::from_slice(&value).ok()?))
}

fn dump(kind: Kind, kvs: Vec<(String, Value)>) -> Value {
    let mut objects = Map::new();
    for (key, value) in kvs {
        match kind {
            Kind::Register => {
                objects.insert(key.trim_start_matches(REGISTERS).to_string(), value);
            }
            Kind::Set => {
                let name = key.trim_start_matches(SETS).split('/').next().unwrap_or_default();
                let elements = objects.entry(name).or_insert_with(|| json!([]));
                elements.as_array_mut().into_iter().for_each(|list| list.push(value.clone()));
            }
        }
    }
    Value::Object(objects)
}
