//! JSON with one spelling: members sorted by name, no white space.
//!
//! A hash is taken of text, so one value must have one text. Whether `serde_json` keeps or sorts
//! members depends on a feature that any crate of a build can switch on: here they are sorted by
//! hand.

use serde_json::Value;

/// Arrays and objects in each other; events are flat things.
pub(crate) const NESTING_MAX: usize = 64;

/// The canonical text; `None` if it is nested deeper than [`NESTING_MAX`].
pub(crate) fn text(value: &Value) -> Option<String> {
    let mut text = String::new();
    write(value, 0, &mut text).then_some(text)
}

fn write(value: &Value, depth: usize, text: &mut String) -> bool {
    if depth > NESTING_MAX {
        return false;
    }
    match value {
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                if !write(item, depth + 1, text) {
                    return false;
                }
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (i, (name, member)) in sorted.into_iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                text.push_str(&string(name));
                text.push(':');
                if !write(member, depth + 1, text) {
                    return false;
                }
            }
            text.push('}');
        }
        // `serde_json` writes these in one way only.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&value.to_string());
        }
    }
    true
}

/// A string with its quotes and escapes.
pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_are_sorted_and_nothing_is_spaced() {
        let value: Value =
            serde_json::from_str(r#" {"b": [1, 2.5, {"z":null,"a":true}], "a": "x\n\"é"} "#)
                .expect("JSON");
        let expected = r#"{"a":"x\n\"é","b":[1,2.5,{"a":true,"z":null}]}"#;
        assert_eq!(text(&value).as_deref(), Some(expected));
        assert_eq!(text(&json!([])).as_deref(), Some("[]"));
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        assert!(text(&nested(NESTING_MAX)).is_some());
        assert!(text(&nested(NESTING_MAX + 1)).is_none());
    }
}
