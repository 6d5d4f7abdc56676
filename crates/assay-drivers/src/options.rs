//! What the system was told, as far as a client has to know it.
//!
//! A description may have options that only its nodes understand: names that no client asks for
//! are none of its business. A value that a client cannot follow is an error.

use crate::client::ClientError;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The options of a target.
pub(crate) struct Options<'a>(pub(crate) &'a BTreeMap<String, Value>);

impl Options<'_> {
    pub(crate) fn text(&self, name: &str, default: &str) -> Result<String, ClientError> {
        match self.0.get(name) {
            None => Ok(default.to_string()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(wrong(name, other, "a text")),
        }
    }

    /// A text of a few; the first is the default.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &str,
        known: &[(&str, T)],
    ) -> Result<T, ClientError> {
        let text = self.text(name, known[0].0)?;
        let found = known.iter().find(|(word, _)| *word == text);
        found.map(|(_, meant)| *meant).ok_or_else(|| {
            let words: Vec<String> = known.iter().map(|(word, _)| format!("`{word}`")).collect();
            wrong(name, &text.into(), &format!("one of {}", words.join(", ")))
        })
    }

    pub(crate) fn natural(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
        default: u64,
    ) -> Result<u64, ClientError> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        value.as_u64().filter(|number| range.contains(number)).ok_or_else(|| {
            wrong(name, value, &format!("a number from {} to {}", range.start(), range.end()))
        })
    }

    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, ClientError> {
        match self.0.get(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(name, other, "true or false")),
        }
    }
}

fn wrong(name: &str, found: &Value, wanted: &str) -> ClientError {
    ClientError { message: format!("the option `{name}` is {found}; the client wants {wanted}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_have_defaults_and_wrong_values_are_named() {
        let given = json!({ "t": "x", "n": 3, "f": true, "unknown": [] });
        let given: BTreeMap<String, Value> = serde_json::from_value(given).expect("a map");
        let options = Options(&given);
        assert_eq!(options.text("t", "").expect("a text"), "x");
        assert_eq!(options.natural("n", 0..=3, 0).expect("a number"), 3);
        assert!(options.flag("f", false).expect("a flag"));
        assert_eq!(options.one_of("t", &[("y", 1), ("x", 2)]).expect("a word"), 2);
        assert_eq!(options.one_of("absent", &[("y", 1), ("x", 2)]).expect("a default"), 1);
        let messages = [
            options.text("n", "").expect_err("no text").message,
            options.natural("n", 0..=2, 0).expect_err("too large").message,
            options.flag("t", false).expect_err("no flag").message,
            options.one_of("t", &[("y", 1)]).expect_err("another word").message,
        ];
        let expected = [
            "the option `n` is 3; the client wants a text",
            "the option `n` is 3; the client wants a number from 0 to 2",
            "the option `t` is \"x\"; the client wants true or false",
            "the option `t` is \"x\"; the client wants one of `y`",
        ];
        assert_eq!(messages, expected);
    }
}
