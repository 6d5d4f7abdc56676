//! Strings that are replaced and appended to.

use super::Client;
use crate::call::Call;
use crate::source::Source;
use serde_json::{Value, json};

/// Every piece is marked at both ends, so that no two pieces can be taken for a third.
pub(super) struct Strings;

impl Client for Strings {
    fn call(&mut self, op: &'static str, source: &mut Source) -> Call {
        let key = source.key();
        let input = match op {
            "get" => Value::Null,
            _ => json!(format!("<{}>", source.value())),
        };
        Call::new(op, Some(key), input)
    }
}
