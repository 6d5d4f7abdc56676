//! The fields of a JSON body. Every field has an effect, or is refused by its name.

use crate::error::ApiError;
use crate::nesting::{LEVELS_MAX, is_too_deep};
use serde_json::{Map, Value};

/// Pairs of metadata, and the length of each part.
const METADATA_PAIRS_MAX: usize = 16;
const METADATA_KEY_MAX: usize = 64;
const METADATA_VALUE_MAX: usize = 512;

/// The fields that nobody has asked for yet.
#[derive(Clone, Debug)]
pub struct Fields {
    left: Map<String, Value>,
    /// Where in the request they stand, with a dot behind.
    place: String,
}

impl Fields {
    /// Reads a body; none is like an empty object.
    ///
    /// # Errors
    /// If it is no JSON object, or one that could not be read again.
    pub fn parse(body: &[u8]) -> Result<Fields, ApiError> {
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Fields { left: Map::new(), place: String::new() });
        }
        let too_deep = || {
            let what = format!("Request body must not be nested deeper than {LEVELS_MAX} levels");
            Err(ApiError::invalid(what))
        };
        match serde_json::from_slice(body) {
            Ok(value) if is_too_deep(&value) => too_deep(),
            Ok(Value::Object(left)) => Ok(Fields { left, place: String::new() }),
            Ok(_) => Err(ApiError::invalid("Request body must be a JSON object")),
            // The reader stops at a depth of its own.
            Err(error) if error.to_string().starts_with("recursion limit") => too_deep(),
            Err(_) => Err(ApiError::invalid("Request body must be valid JSON")),
        }
    }

    /// The fields of an object within a body.
    ///
    /// # Errors
    /// If it is none.
    pub fn of(value: Value, place: &str) -> Result<Fields, ApiError> {
        match value {
            Value::Object(left) => Ok(Fields { left, place: format!("{place}.") }),
            _ => Err(ApiError::invalid(format!("{place}: must be an object"))),
        }
    }

    /// One field of a body, to be looked at by itself.
    pub fn one(field: &str, value: Value) -> Fields {
        let left = Map::from_iter([(field.to_string(), value)]);
        Fields { left, place: String::new() }
    }

    /// An error about a field.
    pub fn bad(&self, field: &str, what: &str) -> ApiError {
        ApiError::invalid(format!("{}{field}: {what}", self.place))
    }

    /// Where a field stands, for the fields within it.
    pub fn place_of(&self, field: &str) -> String {
        format!("{}{field}", self.place)
    }

    /// A field as it is: absent, null or something.
    pub fn take(&mut self, field: &str) -> Option<Value> {
        self.left.remove(field)
    }

    /// A field; null is like absent.
    pub fn value(&mut self, field: &str) -> Option<Value> {
        self.take(field).filter(|value| !value.is_null())
    }

    /// Text of a bounded length.
    ///
    /// # Errors
    /// If it is something else.
    pub fn text(&mut self, field: &str, max: usize) -> Result<Option<String>, ApiError> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::String(text)) if text.chars().count() <= max => Ok(Some(text)),
            Some(Value::String(_)) => {
                Err(self.bad(field, &format!("must have at most {max} characters")))
            }
            Some(_) => Err(self.bad(field, "must be text")),
        }
    }

    /// Text that must be there.
    ///
    /// # Errors
    /// If it is not.
    pub fn required_text(&mut self, field: &str, max: usize) -> Result<String, ApiError> {
        match self.text(field, max)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.bad(field, "Field required")),
        }
    }

    /// An array; absent and null are empty.
    ///
    /// # Errors
    /// If it is something else.
    pub fn array(&mut self, field: &str) -> Result<Vec<Value>, ApiError> {
        match self.value(field) {
            None => Ok(Vec::new()),
            Some(Value::Array(values)) => Ok(values),
            Some(_) => Err(self.bad(field, "must be an array")),
        }
    }

    /// Yes, no, or nothing.
    ///
    /// # Errors
    /// If it is something else.
    pub fn flag(&mut self, field: &str) -> Result<Option<bool>, ApiError> {
        match self.value(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(self.bad(field, "must be true or false")),
        }
    }

    /// Metadata that is changed key by key: null takes one away, and `null` all.
    ///
    /// # Errors
    /// If something is no text, or there is too much of it.
    pub fn metadata(
        &mut self,
        mut known: Map<String, Value>,
    ) -> Result<Map<String, Value>, ApiError> {
        match self.take("metadata") {
            None => return Ok(known),
            Some(Value::Null) => return Ok(Map::new()),
            Some(Value::Object(changes)) => {
                for (key, value) in changes {
                    self.metadata_pair(&mut known, key, value)?;
                }
            }
            Some(_) => return Err(self.bad("metadata", "must be an object")),
        }
        match known.len() <= METADATA_PAIRS_MAX {
            true => Ok(known),
            false => Err(self.bad("metadata", "must have at most 16 pairs")),
        }
    }

    fn metadata_pair(
        &self,
        known: &mut Map<String, Value>,
        key: String,
        value: Value,
    ) -> Result<(), ApiError> {
        match value {
            Value::Null => drop(known.remove(&key)),
            Value::String(_) if key.chars().count() > METADATA_KEY_MAX || key.is_empty() => {
                return Err(self.bad("metadata", "keys must have 1 to 64 characters"));
            }
            Value::String(text) if text.chars().count() > METADATA_VALUE_MAX => {
                return Err(self.bad("metadata", "values must have at most 512 characters"));
            }
            Value::String(_) => drop(known.insert(key, value)),
            _ => return Err(self.bad("metadata", "values must be text")),
        }
        Ok(())
    }

    /// Must be absent, null or empty: it would have no effect.
    ///
    /// # Errors
    /// If it is there.
    pub fn unsupported(&mut self, field: &str) -> Result<(), ApiError> {
        match self.value(field) {
            None => Ok(()),
            Some(Value::Array(values)) if values.is_empty() => Ok(()),
            Some(_) => Err(ApiError::unsupported(&format!("{}{field}", self.place))),
        }
    }

    /// Nothing else may be left.
    ///
    /// # Errors
    /// Names the first that is.
    pub fn finish(self) -> Result<(), ApiError> {
        match self.left.keys().next() {
            Some(field) => Err(ApiError::unsupported(&format!("{}{field}", self.place))),
            None => Ok(()),
        }
    }
}
