//! A call as a request of the store, and its answer as an output.

use assay_workload::Call;
use serde_json::{Value, json};

/// The one map of a workload, whose fields are the keys of the history.
pub(super) const MAP: &str = "map";

/// What the calls of a generator are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Register,
    Map,
    Strings,
    Txn,
    Set,
    Queue,
    Log,
    Counter,
    Lock,
    Lease,
    Bank,
    Ledger,
    Membership,
}

impl Kind {
    /// Every generator the store has something for.
    pub(super) const GENERATORS: &[&str] = &[
        "register",
        "session",
        "map",
        "kv-append",
        "rw-register",
        "list-append",
        "set",
        "queue",
        "log",
        "counter",
        "lock",
        "lease",
        "bank",
        "ledger",
        "membership",
    ];

    /// Of a generator.
    pub(super) fn named(generator: &str) -> Option<Kind> {
        Some(match generator {
            "register" | "session" => Kind::Register,
            "map" => Kind::Map,
            "kv-append" => Kind::Strings,
            "rw-register" | "list-append" => Kind::Txn,
            "set" => Kind::Set,
            "queue" => Kind::Queue,
            "log" => Kind::Log,
            "counter" => Kind::Counter,
            "lock" => Kind::Lock,
            "lease" => Kind::Lease,
            "bank" => Kind::Bank,
            "ledger" => Kind::Ledger,
            "membership" => Kind::Membership,
            _ => return None,
        })
    }
}

/// What is sent, and how its answer is read.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) body: Value,
    /// Whether the log index of the answer is the version of what was read or written. It is of
    /// single values. Elements that are written together share an index, which is no position.
    pub(super) positioned: bool,
    reading: Reading,
}

/// How an answer becomes an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    AsItIs,
    /// A write to a string is a transaction here; its answer says nothing more.
    Nothing,
    /// The pieces of a string.
    Joined,
}

impl Request {
    pub(super) fn new(kind: Kind, call: &Call) -> Result<Request, String> {
        let (op, key, input) = translate(kind, call)?;
        let mut body = json!({ "op": op, "input": input });
        if !key.is_null() {
            body["key"] = key;
        }
        if let Some(id) = &call.id {
            body["id"] = json!(id);
        }
        let positioned = matches!(kind, Kind::Register | Kind::Map);
        let reading = match (kind, call.op.as_str()) {
            (Kind::Strings, "get") => Reading::Joined,
            (Kind::Strings, _) => Reading::Nothing,
            _ => Reading::AsItIs,
        };
        Ok(Request { body, positioned, reading })
    }

    /// The output in the shape of docs/models.md; `None` if it has another shape.
    pub(super) fn output(&self, ok: &Value) -> Option<Value> {
        match self.reading {
            Reading::AsItIs => Some(ok.clone()),
            Reading::Nothing => Some(Value::Null),
            Reading::Joined => joined(&ok[0][2]),
        }
    }
}

/// The pieces of a string, put together.
pub(super) fn joined(pieces: &Value) -> Option<Value> {
    match pieces {
        Value::Null => Some(json!("")),
        Value::Array(pieces) => {
            let pieces: Option<Vec<&str>> = pieces.iter().map(Value::as_str).collect();
            Some(json!(pieces?.concat()))
        }
        _ => None,
    }
}

/// Operation, key and input of the request.
fn translate(kind: Kind, call: &Call) -> Result<(String, Value, Value), String> {
    let key = call.key.clone().unwrap_or_default();
    let input = call.input.clone();
    let plain = |object: &str| Ok((format!("{object}.{}", call.op), key.clone(), input.clone()));
    match (kind, call.op.as_str()) {
        (Kind::Register, "read" | "write" | "cas") => plain("register"),
        (Kind::Map, "read") => Ok(("map.get".to_string(), json!(MAP), key)),
        (Kind::Map, "write") => Ok(("map.put".to_string(), json!(MAP), json!([key, input]))),
        (Kind::Txn, "txn") => Ok(("txn".to_string(), Value::Null, input)),
        // A string is kept as the list of its pieces: to append is then one request.
        (Kind::Strings, op @ ("get" | "put" | "append")) => {
            let micro = match op {
                "get" => json!(["r", key, null]),
                "put" => json!(["w", key, [input]]),
                _ => json!(["append", key, input]),
            };
            Ok(("txn".to_string(), Value::Null, json!([micro])))
        }
        (Kind::Set, "add" | "remove" | "contains" | "read") => plain("set"),
        (Kind::Queue, "enqueue" | "dequeue") => plain("queue"),
        (Kind::Log, "append" | "read") => plain("log"),
        (Kind::Counter, "read") => plain("counter"),
        (Kind::Counter, op @ ("add" | "inc" | "dec")) => {
            let amount = if input.is_null() { Some(1) } else { input.as_i64() };
            let signed = amount.and_then(|n| if op == "dec" { n.checked_neg() } else { Some(n) });
            let signed = signed.ok_or_else(|| format!("{op} of {input}"))?;
            Ok(("counter.add".to_string(), key, json!(signed)))
        }
        (Kind::Lock, "acquire" | "release") => plain("lock"),
        (Kind::Lease, "acquire" | "renew" | "use" | "release") => plain("lease"),
        (Kind::Bank, "open" | "transfer" | "read") => plain("bank"),
        (Kind::Ledger, "credit" | "debit" | "balance") => plain("ledger"),
        (Kind::Membership, op @ ("join" | "leave")) => {
            Err(format!("{op}: the members of kv cannot be changed"))
        }
        (kind, op) => Err(format!("there is no `{op}` of {kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(generator: &str, op: &str, key: Option<&str>, input: Value) -> String {
        let call = Call::new(op, key.map(|key| json!(key)), input);
        let kind = Kind::named(generator).expect(generator);
        Request::new(kind, &call).map_or_else(|why| why, |request| request.body.to_string())
    }

    #[test]
    fn calls_become_requests() {
        let cases = [
            ("register", "write", json!(5), r#"{"input":5,"key":"k","op":"register.write"}"#),
            ("map", "read", json!(null), r#"{"input":"k","key":"map","op":"map.get"}"#),
            ("map", "write", json!(5), r#"{"input":["k",5],"key":"map","op":"map.put"}"#),
            ("counter", "dec", json!(null), r#"{"input":-1,"key":"k","op":"counter.add"}"#),
            ("counter", "add", json!("x"), r#"add of "x""#),
            ("kv-append", "put", json!("a"), r#"{"input":[["w","k",["a"]]],"op":"txn"}"#),
            ("set", "write", json!(1), "there is no `write` of Set"),
            ("membership", "join", json!("m"), "join: the members of kv cannot be changed"),
        ];
        for (generator, op, input, expected) in cases {
            let found = sent(generator, op, Some("k"), input);
            let parsed = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            assert_eq!(parsed(&found), parsed(expected), "{generator} {op}");
        }
        assert!(Kind::named("tree").is_none());
    }

    #[test]
    fn strings_are_put_together_and_other_shapes_are_not_understood() {
        let call = Call::new("get", Some(json!("k")), Value::Null);
        let request = Request::new(Kind::Strings, &call).expect("a get");
        assert_eq!(request.output(&json!([["r", "k", ["a", "b"]]])), Some(json!("ab")));
        assert_eq!(request.output(&json!([["r", "k", null]])), Some(json!("")));
        assert_eq!(request.output(&json!([["r", "k", 7]])), None);
    }
}
