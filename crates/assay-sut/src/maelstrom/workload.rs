//! Our operations as messages of Maelstrom's workloads, and their answers as outcomes.
//!
//! One table in two functions: [`Workload::request`] and [`Workload::reply`]. Both are pure. The
//! same table in words is in docs/formats/maelstrom.md.

use super::errors::{Code, is_definite, name};
use super::message::{Body, body, kind};
use assay_workload::{Call, Reply};
use serde_json::{Value, json};

/// What the nodes do, by Maelstrom's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Workload {
    /// `lin-kv`: registers by key.
    LinKv,
    /// `g-set`: a set that only grows.
    GSet,
    /// `g-counter`: a counter that only grows.
    GCounter,
    /// `pn-counter`: a counter.
    PnCounter,
    /// `broadcast`: a set of messages that all nodes are to have.
    Broadcast,
    /// `unique-ids`: numbers that are given out once.
    UniqueIds,
    /// `echo`: what is sent comes back.
    Echo,
    /// `txn-list-append` and `txn-rw-register`: transactions.
    Txn,
}

use Workload::{Broadcast, Echo, GCounter, GSet, LinKv, PnCounter, Txn, UniqueIds};

impl Workload {
    /// Every name, and the workload it means.
    pub const NAMES: [(&'static str, Workload); 9] = [
        ("lin-kv", LinKv),
        ("g-set", GSet),
        ("g-counter", GCounter),
        ("pn-counter", PnCounter),
        ("broadcast", Broadcast),
        ("unique-ids", UniqueIds),
        ("echo", Echo),
        ("txn-list-append", Txn),
        ("txn-rw-register", Txn),
    ];

    /// The workload with this name.
    pub fn named(name: &str) -> Option<Workload> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, workload)| *workload)
    }

    /// What nodes must be asked before the first operation, beside `init`: `broadcast` nodes are
    /// told who their neighbours are, here all the others.
    pub fn setup(self, node_names: &[String]) -> Vec<Body> {
        if self != Broadcast {
            return Vec::new();
        }
        let neighbours = |node: &String| -> Vec<&String> {
            node_names.iter().filter(|other| *other != node).collect()
        };
        let topology: serde_json::Map<String, Value> =
            node_names.iter().map(|node| (node.clone(), json!(neighbours(node)))).collect();
        vec![body(json!({"type": "topology", "topology": topology}))]
    }

    /// Whether it has many objects, told apart by key. All others have a single one.
    pub(crate) fn has_keys(self) -> bool {
        self == LinKv
    }

    /// The body for a call, without `msg_id`. The error says why there is none.
    pub(crate) fn request(self, call: &Call) -> Result<Body, String> {
        let (key, input) = (&call.key, &call.input);
        Ok(body(match (self, call.op.as_str()) {
            (LinKv, "read" | "get") => json!({"type": "read", "key": key}),
            (LinKv, "write" | "put") => json!({"type": "write", "key": key, "value": input}),
            (LinKv, "cas") => match input.as_array().map(Vec::as_slice) {
                Some([from, to]) => json!({"type": "cas", "key": key, "from": from, "to": to}),
                _ => return Err(format!("the input of cas is [from, to], not {input}")),
            },
            (GSet, "add") => json!({"type": "add", "element": input}),
            (GCounter | PnCounter, "add" | "inc" | "increment") => {
                json!({"type": "add", "delta": self.delta(input, 1)?})
            }
            (PnCounter, "dec" | "decrement") => {
                json!({"type": "add", "delta": self.delta(input, -1)?})
            }
            (Broadcast, "broadcast" | "add") => json!({"type": "broadcast", "message": input}),
            (GSet | GCounter | PnCounter | Broadcast, "read" | "get") => json!({"type": "read"}),
            (UniqueIds, "generate") => json!({"type": "generate"}),
            (Echo, "echo") => json!({"type": "echo", "echo": input}),
            (Txn, "txn") if input.is_array() => json!({"type": "txn", "txn": input}),
            (Txn, "txn") => return Err(format!("a transaction is a list, not {input}")),
            (_, other) => return Err(format!("{self:?} has no operation `{other}`")),
        }))
    }

    /// How much a counter changes.
    fn delta(self, input: &Value, sign: i64) -> Result<i64, String> {
        let amount = if input.is_null() { Some(1) } else { input.as_i64() };
        let delta = amount.and_then(|amount| amount.checked_mul(sign));
        match delta.ok_or_else(|| format!("a counter takes a whole number, not {input}"))? {
            delta if delta < 0 && self == GCounter => {
                Err("a g-counter only grows; use pn-counter".to_string())
            }
            delta => Ok(delta),
        }
    }

    /// What an answer says about the call it answers.
    pub(crate) fn reply(self, call: &Call, asked: &Body, answer: &Body, node: &str) -> Reply {
        let from = Some(node.to_string());
        if kind(answer) == "error" {
            return self.error(asked, answer, from);
        }
        let expected = format!("{}_ok", kind(asked));
        let field = match (self, kind(asked)) {
            (LinKv | GSet | GCounter | PnCounter, "read") => Some("value"),
            (Broadcast, "read") => Some("messages"),
            (UniqueIds, _) => Some("id"),
            (Echo, _) => Some("echo"),
            (Txn, _) => Some("txn"),
            (LinKv | GSet | GCounter | PnCounter | Broadcast, _) => None,
        };
        let output = match field {
            // A swap that was acknowledged has compared equal.
            None if call.op == "cas" => Some(Value::Bool(true)),
            None => Some(Value::Null),
            Some(field) => answer.get(field).cloned(),
        };
        match output.filter(|_| kind(answer) == expected) {
            Some(output) => Reply::Ok { output, node: from, revision: None },
            None => {
                let got = Value::from(answer.clone());
                let error = format!("{expected} with {field:?} was expected, and this came: {got}");
                Reply::Unknown { error, node: from }
            }
        }
    }

    fn error(self, asked: &Body, answer: &Body, node: Option<String>) -> Reply {
        let code = answer.get("code").and_then(Value::as_u64);
        let text = answer.get("text").and_then(Value::as_str).unwrap_or_default();
        let Some(code) = code else {
            return Reply::Unknown { error: format!("an error without a code: {text}"), node };
        };
        if self == LinKv && kind(asked) == "read" && code == Code::KeyDoesNotExist.number() {
            // A register that was never written: the read has seen that, and saying so makes a
            // lost write visible.
            return Reply::Ok { output: Value::Null, node, revision: None };
        }
        let error = format!("error {code} ({}): {text}", name(code));
        if is_definite(code) { Reply::Fail { error, node } } else { Reply::Unknown { error, node } }
    }
}

#[cfg(test)]
mod tests;
