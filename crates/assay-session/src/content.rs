//! Blocks of content, as far as a server has to look at them.

use crate::error::BadEvent;
use serde_json::Value;

/// Blocks in one event; the size of the event bounds them too.
const BLOCKS_MAX: usize = 1000;

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

/// Checks an array of blocks and hands them on as they are.
///
/// # Errors
/// Names the place of the first block that is none.
pub fn check_blocks(value: &Value, kinds: BlockKinds, place: &str) -> Result<Vec<Value>, BadEvent> {
    let blocks = value.as_array().ok_or_else(|| BadEvent::new(place, "must be an array"))?;
    if blocks.len() > BLOCKS_MAX {
        return Err(BadEvent::new(place, format!("must have at most {BLOCKS_MAX} blocks")));
    }
    for (index, block) in blocks.iter().enumerate() {
        check_block(block, kinds, &format!("{place}[{index}]"))?;
    }
    Ok(blocks.clone())
}

fn check_block(block: &Value, kinds: BlockKinds, place: &str) -> Result<(), BadEvent> {
    let kind = block["type"].as_str().unwrap_or_default();
    if !kinds.names().contains(&kind) {
        let what = format!("must be one of {}", kinds.names().join(", "));
        return Err(BadEvent::new(format!("{place}.type"), what));
    }
    // White space alone is nothing that a model could be told: it would refuse it.
    let text = |field: &str| block[field].as_str().is_some_and(|text| !text.trim().is_empty());
    let missing = |field: &str, what: &str| Err(BadEvent::new(format!("{place}.{field}"), what));
    match kind {
        "text" if !text("text") => missing("text", "must be text that is not empty"),
        "image" | "document" => check_source(&block["source"], kind, &format!("{place}.source")),
        "search_result" if !text("source") => missing("source", "must be text"),
        "search_result" if !block["title"].is_string() => missing("title", "must be text"),
        "search_result" if !block["citations"]["enabled"].is_boolean() => {
            missing("citations.enabled", "must be true or false")
        }
        "search_result" if !block["content"].is_array() => missing("content", "must be an array"),
        _ => Ok(()),
    }
}

fn check_source(source: &Value, block: &str, place: &str) -> Result<(), BadEvent> {
    let fields: &[&str] = match (source["type"].as_str().unwrap_or_default(), block) {
        ("base64", _) => &["data", "media_type"],
        ("url", _) => &["url"],
        ("file", _) => &["file_id"],
        ("text", "document") => &["data", "media_type"],
        _ => return Err(BadEvent::new(format!("{place}.type"), "is no source of such a block")),
    };
    match fields.iter().find(|field| !source[**field].is_string()) {
        Some(field) => Err(BadEvent::new(format!("{place}.{field}"), "must be text")),
        None => Ok(()),
    }
}
