//! How deep JSON of others may be nested.
//!
//! What is kept stands within records of our own, which are read with a limit of 128 levels: a
//! value just below that would be written, and never be read again. So whatever comes in has a
//! limit that leaves room for everything it is wrapped in.

use serde_json::Value;

/// Levels of arrays and objects in a value that comes in.
pub const LEVELS_MAX: usize = 64;

/// Whether a value has more levels than may come in.
pub fn is_too_deep(value: &Value) -> bool {
    has_more_than(value, LEVELS_MAX)
}

fn has_more_than(value: &Value, levels: usize) -> bool {
    let below = |value: &Value| has_more_than(value, levels - 1);
    match value {
        Value::Array(values) => levels == 0 || values.iter().any(below),
        Value::Object(fields) => levels == 0 || fields.values().any(below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arrays_and_objects_are_levels_and_nothing_else_is() {
        let nested = |levels: usize, wrap: fn(Value) -> Value| {
            (0..levels).fold(json!("x"), |value, _| wrap(value))
        };
        for wrap in [|value| json!([1, value]), |value| json!({"a": 1, "b": value})] {
            assert!(!is_too_deep(&nested(LEVELS_MAX, wrap)));
            assert!(is_too_deep(&nested(LEVELS_MAX + 1, wrap)));
        }
        // What is beside does not add up.
        assert!(!is_too_deep(&json!(vec![json!([]); 100])));
        assert!(!is_too_deep(&json!("[".repeat(100))));
    }
}
