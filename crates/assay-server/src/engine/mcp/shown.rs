//! What a tool of an MCP server gave, as it stands in events and is told to a model.
//!
//! A server may give anything, and much of it: what is kept is bounded, and says what is not.

use super::super::fetch::SHOWN_BYTES_MAX;
use super::super::room::Gave;
use super::super::toolbox::cut;
use assay_session::is_base64;
use serde_json::{Value, json};

/// Blocks of one result.
const BLOCKS_MAX: usize = 100;
/// Images of one result together, in base64: more than that fits into no context.
const IMAGES_BYTES_MAX: usize = 400_000;
/// The kinds of images that models take.
const IMAGES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];
const REST: &str = "[the rest is left out]";

/// A result.
pub fn shown(result: &Value) -> Gave {
    let none = Vec::new();
    let blocks = result["content"].as_array().unwrap_or(&none);
    let is_error = result["isError"] == true;
    let (mut texts, mut images) = (SHOWN_BYTES_MAX, IMAGES_BYTES_MAX);
    let mut content: Vec<Value> = Vec::new();
    for block in blocks.iter().take(BLOCKS_MAX) {
        content.push(match image(block, &mut images) {
            Some(image) => image,
            None => text(&words(block), &mut texts),
        });
    }
    if blocks.len() > BLOCKS_MAX {
        content.push(json!({"type": "text", "text": REST}));
    }
    let structured = &result["structuredContent"];
    match (content.is_empty(), structured.is_null()) {
        (false, _) => Gave { content, is_error },
        (true, false) => {
            Gave { content: vec![text(&structured.to_string(), &mut texts)], is_error }
        }
        (true, true) => Gave::text("", is_error),
    }
}

/// An image that can be shown.
fn image(block: &Value, left: &mut usize) -> Option<Value> {
    let (kind, data) = (block["mimeType"].as_str()?, block["data"].as_str()?);
    let is_image = block["type"] == "image" && IMAGES.contains(&kind) && is_base64(data);
    if !is_image || data.len() > *left {
        return None;
    }
    *left -= data.len();
    let source = json!({"type": "base64", "data": data, "media_type": kind});
    Some(json!({"type": "image", "source": source}))
}

/// A block that is no image, or none that can be shown.
fn words(block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or_default().to_string(),
        Some(kind @ ("image" | "audio")) => {
            let (data, mime) = (block["data"].as_str().unwrap_or_default(), &block["mimeType"]);
            format!("[{kind} {mime}, {} bytes of base64: cannot be shown here]", data.len())
        }
        _ => block.to_string(),
    }
}

fn text(words: &str, left: &mut usize) -> Value {
    let kept = cut(words, *left);
    *left -= kept.len();
    let rest = if kept.len() < words.len() { REST } else { "" };
    Gave::text(format!("{kept}{rest}"), false).content.remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_gives_is_shown_as_far_as_it_can_be() {
        let block = |text: &str| json!({"type": "text", "text": text});
        let image = |kind: &str, count: usize| {
            let data = "A".repeat(count);
            json!({"type": "image", "mimeType": kind, "data": data})
        };
        let png = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png",
            "data": "AAAA"}});
        let cases = [
            (
                json!({"content": [block("a"), block(" ")]}),
                json!([block("a"), block("(no output)")]),
            ),
            (json!({"content": [], "structuredContent": {"a": 1}}), json!([block("{\"a\":1}")])),
            (json!({"content": [block("a")], "structuredContent": {"a": 1}}), json!([block("a")])),
            (json!({}), json!([block("(no output)")])),
            (json!({"content": [image("image/png", 4)]}), json!([png])),
            // An event with that would be none.
            (
                json!({"content": [image("image/png", 5), image("image/gif", 0)]}),
                json!([
                    block("[image \"image/png\", 5 bytes of base64: cannot be shown here]"),
                    block("[image \"image/gif\", 0 bytes of base64: cannot be shown here]"),
                ]),
            ),
            (
                json!({"content": [image("image/tiff", 4)]}),
                json!([block("[image \"image/tiff\", 4 bytes of base64: cannot be shown here]")]),
            ),
            (
                json!({"content": [image("image/png", IMAGES_BYTES_MAX + 1)]}),
                json!([block(
                    "[image \"image/png\", 400001 bytes of base64: cannot be shown here]"
                )]),
            ),
        ];
        for (result, expected) in cases {
            assert_eq!(json!(shown(&result).content), expected);
        }
        assert!(shown(&json!({"isError": true})).is_error);
    }

    #[test]
    fn a_result_has_an_end() {
        let long = "ü".repeat(SHOWN_BYTES_MAX);
        let block = json!({"type": "text", "text": long});
        let image = json!({"type": "image", "mimeType": "image/png", "data": "A".repeat(300_000)});
        let blocks: Vec<Value> = [block, image].into_iter().cycle().take(1000).collect();
        let gave = json!(shown(&json!({"content": blocks})).content).to_string();
        assert!(gave.len() < SHOWN_BYTES_MAX + IMAGES_BYTES_MAX + 20_000, "{}", gave.len());
        assert!(gave.contains(REST) && gave.contains("üüü") && gave.contains("AAAA"));
    }
}
