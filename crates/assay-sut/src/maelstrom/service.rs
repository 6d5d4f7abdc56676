//! The services that Maelstrom offers to its nodes: `lin-kv`, `seq-kv`, `lww-kv` and `lin-tso`.
//!
//! A node reaches them by their name, like another node. Here they live in Assay's own process and
//! are shared by all nodes of a cluster: a message to them crosses no link, so no fault reaches
//! them. All three stores are linearizable. For `seq-kv` and `lww-kv` that is more than they
//! promise: a node that relies on no more than the promise is right here as well, but one that
//! relies on too much is not caught.
//!
//! ```
//! use assay_sut::Services;
//! use serde_json::json;
//!
//! let services = Services::default();
//! let ask = |value: serde_json::Value| {
//!     let answer = services.answer("lin-kv", value.as_object().expect("an object"));
//!     serde_json::Value::from(answer.expect("lin-kv is a service"))
//! };
//! assert_eq!(ask(json!({"type": "read", "key": "x", "msg_id": 1}))["code"], 20);
//! ask(json!({"type": "cas", "key": "x", "from": 0, "to": 1, "create_if_not_exists": true}));
//! let read = ask(json!({"type": "read", "key": "x", "msg_id": 7}));
//! assert_eq!(read, json!({"type": "read_ok", "value": 1, "in_reply_to": 7}));
//! ```

use super::errors::Code;
use super::message::{Body, body, kind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

/// The stores, by the names nodes call them.
const STORES: [&str; 3] = ["lin-kv", "seq-kv", "lww-kv"];
/// A source of numbers that rise.
const TIMESTAMPS: &str = "lin-tso";
/// Keys of all stores together; a write of one more is refused as temporarily unavailable.
pub const SERVICE_KEYS_MAX: usize = 1_000_000;

/// The services of one cluster; a clone is another handle on the same.
#[derive(Clone, Debug, Default)]
pub struct Services(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// By store and key; a key is any JSON value, and told apart by how it is written.
    values: BTreeMap<(String, String), Value>,
    timestamp: u64,
}

/// Why a request is not fulfilled.
type Refused = (Code, String);

impl Services {
    /// What a service answers to a body, `in_reply_to` included; `None` if there is no such
    /// service.
    pub fn answer(&self, service: &str, request: &Body) -> Option<Body> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match service {
            TIMESTAMPS => state.timestamp(request),
            store if STORES.contains(&store) => state.store(store, request),
            _ => return None,
        };
        let mut answer = match answer {
            Ok(answer) => answer,
            Err((code, text)) => {
                body(json!({"type": "error", "code": code.number(), "text": text}))
            }
        };
        if let Some(id) = request.get("msg_id") {
            answer.insert("in_reply_to".to_string(), id.clone());
        }
        Some(answer)
    }

    /// Whether there is a service of this name.
    pub(crate) fn has(service: &str) -> bool {
        service == TIMESTAMPS || STORES.contains(&service)
    }
}

impl State {
    fn timestamp(&mut self, request: &Body) -> Result<Body, Refused> {
        match kind(request) {
            "ts" => {
                self.timestamp += 1;
                Ok(body(json!({"type": "ts_ok", "ts": self.timestamp - 1})))
            }
            other => Err(not_supported(other)),
        }
    }

    fn store(&mut self, store: &str, request: &Body) -> Result<Body, Refused> {
        let key = field(request, "key")?.to_string();
        let full = self.values.len() >= SERVICE_KEYS_MAX;
        let entry = self.values.entry((store.to_string(), key));
        match (kind(request), entry) {
            ("read", Entry::Occupied(entry)) => {
                Ok(body(json!({"type": "read_ok", "value": entry.get()})))
            }
            ("read", Entry::Vacant(_)) => Err(missing()),
            ("write", Entry::Occupied(mut entry)) => {
                entry.insert(field(request, "value")?.clone());
                Ok(body(json!({"type": "write_ok"})))
            }
            ("write", Entry::Vacant(_)) if full => Err(no_room()),
            ("write", Entry::Vacant(entry)) => {
                entry.insert(field(request, "value")?.clone());
                Ok(body(json!({"type": "write_ok"})))
            }
            ("cas", entry) => cas(entry, request, full),
            (other, _) => Err(not_supported(other)),
        }
    }
}

fn cas(
    entry: Entry<'_, (String, String), Value>,
    request: &Body,
    full: bool,
) -> Result<Body, Refused> {
    let (from, to) = (field(request, "from")?, field(request, "to")?);
    let create = request.get("create_if_not_exists") == Some(&Value::Bool(true));
    match entry {
        Entry::Occupied(mut entry) if entry.get() == from => {
            entry.insert(to.clone());
        }
        Entry::Occupied(entry) => {
            let text = format!("expected {from}, but had {}", entry.get());
            return Err((Code::PreconditionFailed, text));
        }
        Entry::Vacant(_) if !create => return Err(missing()),
        Entry::Vacant(_) if full => return Err(no_room()),
        Entry::Vacant(entry) => {
            entry.insert(to.clone());
        }
    }
    Ok(body(json!({"type": "cas_ok"})))
}

fn field<'a>(request: &'a Body, name: &str) -> Result<&'a Value, Refused> {
    let missing = || (Code::MalformedRequest, format!("the request has no `{name}`"));
    request.get(name).ok_or_else(missing)
}

fn missing() -> Refused {
    (Code::KeyDoesNotExist, "the key does not exist".to_string())
}

fn no_room() -> Refused {
    (Code::TemporarilyUnavailable, format!("the services hold {SERVICE_KEYS_MAX} keys at most"))
}

fn not_supported(kind: &str) -> Refused {
    (Code::NotSupported, format!("the service knows no `{kind}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_answer_as_maelstroms_do() {
        let services = Services::default();
        let cases = [
            ("lin-kv", json!({"type": "read", "key": 1}), json!(20)),
            ("lin-kv", json!({"type": "cas", "key": 1, "from": 0, "to": 1}), json!(20)),
            ("lin-kv", json!({"type": "write", "key": 1, "value": 5}), json!("write_ok")),
            ("lin-kv", json!({"type": "read", "key": 1}), json!("read_ok")),
            // A number and its text are two keys, and each store has its own.
            ("lin-kv", json!({"type": "read", "key": "1"}), json!(20)),
            ("seq-kv", json!({"type": "read", "key": 1}), json!(20)),
            ("lin-kv", json!({"type": "cas", "key": 1, "from": 4, "to": 6}), json!(22)),
            ("lin-kv", json!({"type": "cas", "key": 1, "from": 5, "to": 6}), json!("cas_ok")),
            ("lin-kv", json!({"type": "cas", "key": 1, "from": 5, "to": 7}), json!(22)),
            (
                "lww-kv",
                json!({"type": "cas", "key": 1, "from": 0, "to": 9, "create_if_not_exists": true}),
                json!("cas_ok"),
            ),
            ("lww-kv", json!({"type": "cas", "key": 1, "from": 9, "to": 8}), json!("cas_ok")),
            ("lin-kv", json!({"type": "write", "key": 1}), json!(12)),
            ("lin-kv", json!({"type": "read"}), json!(12)),
            ("lin-kv", json!({"type": "delete", "key": 1}), json!(10)),
            ("lin-tso", json!({"type": "ts"}), json!("ts_ok")),
            ("lin-tso", json!({"type": "read"}), json!(10)),
        ];
        for (service, request, expected) in cases {
            let answer = services.answer(service, &body(request.clone())).expect("a service");
            let kind = answer.get("code").or(answer.get("type"));
            assert_eq!(kind, Some(&expected), "{service} {request}");
            assert!(Services::has(service));
        }
        assert_eq!(services.answer("n1", &Body::new()), None);
        assert!(!Services::has("n1"));
    }
}
