//! Blocks of content, as far as a server has to look at them.

use crate::error::BadEvent;
use serde_json::{Map, Value};

/// Blocks in one event; the size of the event bounds them too.
const BLOCKS_MAX: usize = 1000;
/// The longest address, and the longest id of a file.
const URL_BYTES_MAX: usize = 2048;
const FILE_ID_BYTES_MAX: usize = 128;
/// Images that can be shown.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which blocks are allowed where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKinds {
    /// Text, images, documents.
    Message,
    /// These, and search results.
    ToolResult,
}

impl BlockKinds {
    fn names(self) -> &'static [&'static str] {
        match self {
            BlockKinds::Message => &["text", "image", "document"],
            BlockKinds::ToolResult => &["text", "image", "document", "search_result"],
        }
    }
}

/// Checks an array of blocks and hands them on, without fields that are null.
///
/// # Errors
/// Names the place of the first thing that is wrong, or that would have no effect.
pub fn check_blocks(value: &Value, kinds: BlockKinds, place: &str) -> Result<Vec<Value>, BadEvent> {
    let blocks = value.as_array().ok_or_else(|| BadEvent::new(place, "must be an array"))?;
    if blocks.len() > BLOCKS_MAX {
        return Err(BadEvent::new(place, format!("must have at most {BLOCKS_MAX} blocks")));
    }
    let check = |(index, block)| check_block(block, kinds.names(), &format!("{place}[{index}]"));
    blocks.iter().enumerate().map(check).collect()
}

/// An object whose fields are looked at one after the other. What nobody asked for is refused.
struct Object<'a> {
    fields: &'a Map<String, Value>,
    place: &'a str,
    taken: Map<String, Value>,
}

impl<'a> Object<'a> {
    fn of(value: &'a Value, place: &'a str) -> Result<Object<'a>, BadEvent> {
        match value {
            Value::Object(fields) => Ok(Object { fields, place, taken: Map::new() }),
            _ => Err(BadEvent::new(place, "must be an object")),
        }
    }

    fn bad(&self, field: &str, what: impl Into<String>) -> BadEvent {
        BadEvent::new(format!("{}.{field}", self.place), what)
    }

    fn get(&self, field: &str) -> &'a Value {
        self.fields.get(field).unwrap_or(&Value::Null)
    }

    fn take(&mut self, field: &str, value: Value) {
        self.taken.insert(field.to_string(), value);
    }

    /// A text of which something is true.
    fn text(
        &mut self,
        field: &str,
        is_good: impl Fn(&str) -> bool,
        what: &str,
    ) -> Result<(), BadEvent> {
        match self.get(field).as_str().filter(|text| is_good(text)) {
            Some(text) => {
                self.take(field, text.into());
                Ok(())
            }
            None => Err(self.bad(field, what)),
        }
    }

    /// A text, if it is there.
    fn optional_text(&mut self, field: &str) -> Result<(), BadEvent> {
        match self.get(field) {
            Value::Null => Ok(()),
            _ => self.text(field, |_| true, "must be text"),
        }
    }

    /// One of these.
    fn kind(&mut self, kinds: &[&str]) -> Result<&'a str, BadEvent> {
        let what = format!("must be one of {}", kinds.join(", "));
        self.text("type", |kind| kinds.contains(&kind), &what)?;
        Ok(self.get("type").as_str().unwrap_or_default())
    }

    /// Nothing else may be there.
    fn finish(self) -> Result<Value, BadEvent> {
        let is_left =
            |(name, value): &(&String, &Value)| !self.taken.contains_key(*name) && !value.is_null();
        match self.fields.iter().find(is_left) {
            Some((name, _)) => {
                let name: String = name.chars().take(64).collect();
                Err(self.bad(&name, "is not yet supported by this server"))
            }
            None => Ok(Value::Object(self.taken)),
        }
    }
}

/// White space alone is nothing that a model could be told: it would refuse it.
fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}

const EMPTY: &str = "must be text that is not empty";

fn check_block(block: &Value, kinds: &[&str], place: &str) -> Result<Value, BadEvent> {
    let mut object = Object::of(block, place)?;
    match object.kind(kinds)? {
        "text" => object.text("text", says_something, EMPTY)?,
        kind @ ("image" | "document") => {
            let source = check_source(object.get("source"), kind, &format!("{place}.source"))?;
            object.take("source", source);
            if kind == "document" {
                object.optional_text("title")?;
                object.optional_text("context")?;
            }
        }
        _ => search_result(&mut object)?,
    }
    object.finish()
}

fn search_result(object: &mut Object) -> Result<(), BadEvent> {
    object.text("source", says_something, EMPTY)?;
    object.text("title", |_| true, "must be text")?;
    let place = format!("{}.citations", object.place);
    let mut citations = Object::of(object.get("citations"), &place)?;
    match citations.get("enabled") {
        enabled @ Value::Bool(_) => citations.take("enabled", enabled.clone()),
        _ => return Err(citations.bad("enabled", "must be true or false")),
    }
    let citations = citations.finish()?;
    object.take("citations", citations);
    let place = format!("{}.content", object.place);
    let content = object.get("content").as_array();
    let content = content.ok_or_else(|| BadEvent::new(&place, "must be an array"))?;
    let check = |(index, block)| check_block(block, &["text"], &format!("{place}[{index}]"));
    let content: Result<Vec<Value>, BadEvent> = content.iter().enumerate().map(check).collect();
    object.take("content", content?.into());
    Ok(())
}

fn check_source(source: &Value, block: &str, place: &str) -> Result<Value, BadEvent> {
    let mut object = Object::of(source, place)?;
    let kinds: &[&str] = match block {
        "image" => &["base64", "url", "file"],
        _ => &["base64", "text", "url", "file"],
    };
    match object.kind(kinds)? {
        "base64" => {
            object.text("data", is_base64, "must be base64 that is not empty")?;
            match block {
                "image" => {
                    let what = format!("must be one of {}", IMAGES.join(", "));
                    object.text("media_type", |kind| IMAGES.contains(&kind), &what)?;
                }
                _ => object.text("media_type", is_media_type, "must be such as application/pdf")?,
            }
        }
        "text" => {
            object.text("data", says_something, EMPTY)?;
            object.text("media_type", |kind| kind == "text/plain", "must be text/plain")?;
        }
        "url" => {
            let what = format!("must be http(s)://…, of at most {URL_BYTES_MAX} bytes");
            object.text("url", is_url, &what)?;
        }
        _ => {
            let is_id = |id: &str| !id.is_empty() && id.len() <= FILE_ID_BYTES_MAX;
            object.text("file_id", is_id, "must be the id of a file")?;
        }
    }
    object.finish()
}

/// Whether a text is base64 with its padding, as endpoints and programs want it, and not empty.
pub fn is_base64(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    !body.is_empty() && padding <= 2 && text.len().is_multiple_of(4) && body.bytes().all(is_plain)
}

/// The document of the API has the same characters.
fn is_media_type(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    let is_word = |word: &str| (1..=127).contains(&word.len()) && word.bytes().all(is_plain);
    text.split_once('/').is_some_and(|(kind, sort)| is_word(kind) && is_word(sort))
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    text.len() <= URL_BYTES_MAX
        && rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control())
}
