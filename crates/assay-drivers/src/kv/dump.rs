//! A dump of the store, in the shape that checkers read: a map by key of the objects in question.
//!
//! | objects | under each key |
//! |---|---|
//! | registers, maps, counters, logs, locks, leases | the value as it is |
//! | strings | the string |
//! | sets | list of elements |
//! | queues | list of all elements that were ever accepted, those handed out first |
//! | accounts of a ledger | list of entries, records with id and amount |
//!
//! Of the bank it is the map of balances by account.

use super::request::{Kind, MAP, joined};
use serde_json::{Map, Value, json};

/// What `state` holds of a kind, or only what it holds under `key`.
pub(super) fn shaped(kind: Kind, state: &Value, key: Option<&Value>) -> Value {
    let objects = match kind {
        Kind::Register | Kind::Txn => state["registers"].clone(),
        Kind::Map => state["maps"][MAP].clone(),
        Kind::Strings => each(&state["registers"], |pieces| joined(pieces).unwrap_or_default()),
        Kind::Set => each(&state["sets"], elements),
        Kind::Queue => each(&state["queues"], accepted),
        Kind::Log => state["logs"].clone(),
        Kind::Counter => state["counters"].clone(),
        Kind::Lock => state["locks"].clone(),
        Kind::Lease => state["leases"].clone(),
        Kind::Bank => state["banks"]["bank"].clone(),
        Kind::Ledger => each(&state["accounts"], |account| account["entries"].clone()),
        Kind::Membership => Value::Null,
    };
    let objects = if objects.is_null() { json!({}) } else { objects };
    match key {
        None => objects,
        Some(key) => {
            let name = key.as_str().map_or_else(|| key.to_string(), str::to_string);
            match (objects.get(&name), kind) {
                (Some(object), _) => object.clone(),
                (None, Kind::Set | Kind::Queue | Kind::Log | Kind::Ledger) => json!([]),
                (None, _) => Value::Null,
            }
        }
    }
}

fn each(objects: &Value, shape: impl Fn(&Value) -> Value) -> Value {
    let objects = objects.as_object().into_iter().flatten();
    Value::Object(Map::from_iter(objects.map(|(key, object)| (key.clone(), shape(object)))))
}

/// Elements of sets are kept as JSON text.
fn elements(set: &Value) -> Value {
    let texts = set.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text))).collect()
}

fn accepted(queue: &Value) -> Value {
    let parts = [&queue["taken"], &queue["waiting"]].into_iter();
    parts.flat_map(|part| part.as_array().into_iter().flatten()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dumps_have_the_shape_that_checkers_read() {
        let state = json!({
            "registers": {"k0": ["a", "b"]},
            "maps": {"map": {"k0": 3}},
            "sets": {"k0": ["1", "\"x\""]},
            "queues": {"k0": {"taken": [1], "waiting": [2, 3]}},
            "accounts": {"k0": {"balance": 5, "entries": [{"id": "a", "amount": 5}]}},
            "banks": {"bank": {"a0": 7}},
        });
        let cases = [
            (Kind::Register, json!({"k0": ["a", "b"]})),
            (Kind::Strings, json!({"k0": "ab"})),
            (Kind::Map, json!({"k0": 3})),
            (Kind::Set, json!({"k0": [1, "x"]})),
            (Kind::Queue, json!({"k0": [1, 2, 3]})),
            (Kind::Ledger, json!({"k0": [{"id": "a", "amount": 5}]})),
            (Kind::Bank, json!({"a0": 7})),
            (Kind::Log, json!({})),
        ];
        for (kind, expected) in cases {
            assert_eq!(shaped(kind, &state, None), expected, "{kind:?}");
        }
        assert_eq!(shaped(Kind::Queue, &state, Some(&json!("k0"))), json!([1, 2, 3]));
        assert_eq!(shaped(Kind::Queue, &state, Some(&json!("k1"))), json!([]));
        assert_eq!(shaped(Kind::Map, &state, Some(&json!("k1"))), json!(null));
    }
}
