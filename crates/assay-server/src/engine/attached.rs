//! Blocks that name a file of this server, with the file in them: nobody else could open it.
//!
//! What is remembered names files, so a memory stays small and a file that is deleted is gone. They
//! are read when a turn begins, those of the turn itself first.

use super::host::Voice;
use super::memory::Message;
use crate::store::{Reader, Stored, folder};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Bytes of files in one request: endpoints take no more than that in base64.
const BYTES_MAX: u64 = 20 * 1024 * 1024;
const NO_IMAGE: &str = "is no image that can be shown: those are PNG, JPEG, GIF and WebP";
const NO_DOCUMENT: &str = "is no document that can be shown: those are PDF and text";
/// What of an id is told.
const ID_CHARS_MAX: usize = 64;

/// The file that a block names, if it names one.
pub fn named_file(block: &Value) -> Option<&str> {
    let source = &block["source"];
    source["file_id"].as_str().filter(|_| source["type"] == "file")
}

/// Whether a file of this type can stand in such a block, as far as its name says.
///
/// # Errors
/// Says why not.
pub fn check_type(block: &Value, mime_type: &str) -> Result<(), &'static str> {
    let family = mime_type.split('/').next().unwrap_or_default();
    match block["type"].as_str() {
        _ if mime_type == "application/octet-stream" => Ok(()),
        Some("image") if family == "image" => Ok(()),
        Some("image") => Err(NO_IMAGE),
        _ if matches!(family, "image" | "audio" | "video" | "font") => Err(NO_DOCUMENT),
        _ => Ok(()),
    }
}

/// Reads the files of a session's workspace, up to a number of bytes.
#[derive(Debug)]
pub struct Loader {
    reader: Reader,
    objects: PathBuf,
    workspace: String,
    left: u64,
}

impl Loader {
    /// For one turn.
    pub(super) fn new(voice: &Voice) -> Loader {
        let (reader, objects) = (voice.reader.clone(), voice.objects.clone());
        Loader { reader, objects, workspace: voice.key.workspace.clone(), left: BYTES_MAX }
    }

    /// Puts files where they are named, also within results of tools.
    ///
    /// # Errors
    /// Says which one cannot be shown, and why.
    pub async fn fill(&mut self, blocks: &mut [Value]) -> Result<(), String> {
        for block in flat(blocks) {
            *block = self.load(block).await?;
        }
        Ok(())
    }

    /// The same with what was said before, the latest first. What cannot be shown any more is no
    /// reason to say nothing: a note stands in its place.
    pub async fn fill_earlier(&mut self, turns: &mut [Vec<Message>]) {
        for message in turns.iter_mut().rev().flat_map(|turn| turn.iter_mut().rev()) {
            for block in flat(&mut message.content) {
                let loaded = self.load(block).await;
                let note = |why: String| json!({"type": "text", "text": format!("[{why}.]")});
                *block = loaded.unwrap_or_else(note);
            }
        }
    }

    /// A block with its file in it.
    async fn load(&mut self, block: &Value) -> Result<Value, String> {
        let Some(id) = named_file(block) else { return Ok(block.clone()) };
        let shown: String = id.chars().take(ID_CHARS_MAX).collect();
        let bad = |what: &str| format!("The file {shown} {what}");
        let gone = || bad("is not there any more");
        let at = format!("{}/{}/{id}", folder::FILES, self.workspace);
        let record: Option<Stored> = self.reader.get(at).await.map_err(|_| gone())?;
        let record = record.ok_or_else(gone)?;
        let size = record.wire.get("size_bytes").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let left = self.left.checked_sub(size);
        self.left = left.ok_or_else(|| bad("is left out: there is too much in all files"))?;
        let bytes = tokio::fs::read(self.objects.join(id)).await.map_err(|_| gone())?;
        let source = source(block["type"] == "image", bytes).map_err(bad)?;
        let mut block = block.clone();
        block["source"] = source;
        Ok(block)
    }
}

/// The blocks that may name files.
fn flat(blocks: &mut [Value]) -> Vec<&mut Value> {
    let mut all = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block["type"] == "tool_result" {
            true => all.extend(block["content"].as_array_mut().into_iter().flatten()),
            false => all.push(block),
        }
    }
    all
}

/// By what it is, and not by what it was called.
fn source(is_image: bool, bytes: Vec<u8>) -> Result<Value, &'static str> {
    let encoded = |media_type: &str, bytes: &[u8]| {
        let data = STANDARD.encode(bytes);
        json!({"type": "base64", "media_type": media_type, "data": data})
    };
    if is_image {
        return image_type(&bytes).map(|kind| encoded(kind, &bytes)).ok_or(NO_IMAGE);
    }
    if bytes.starts_with(b"%PDF-") {
        return Ok(encoded("application/pdf", &bytes));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.trim().is_empty());
    let text = text.ok_or(NO_DOCUMENT)?;
    Ok(json!({"type": "text", "media_type": "text/plain", "data": text}))
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_shown_by_what_it_is() {
        let cases: [(bool, &[u8], &str); 10] = [
            (true, b"\x89PNG\r\n", "image/png"),
            (true, b"\xff\xd8\xff\xe0", "image/jpeg"),
            (true, b"GIF89a", "image/gif"),
            (true, b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (true, b"RIFF\0\0\0\0WAVE", ""),
            (true, b"%PDF-1.7", ""),
            (false, b"%PDF-1.7", "application/pdf"),
            (false, "gr\u{fc}n".as_bytes(), "text/plain"),
            (false, b"\xff\xfe", ""),
            (false, b" \n", ""),
        ];
        for (is_image, bytes, expected) in cases {
            let source = source(is_image, bytes.to_vec()).unwrap_or_default();
            let found = source["media_type"].as_str().unwrap_or_default();
            assert_eq!(found, expected, "{bytes:?}");
        }
    }

    #[test]
    fn what_a_type_rules_out_is_refused_before_anybody_looks_at_bytes() {
        let cases = [
            ("image", "image/png", true),
            ("image", "application/octet-stream", true),
            ("image", "text/plain", false),
            ("document", "text/x-rust", true),
            ("document", "application/pdf", true),
            ("document", "application/octet-stream", true),
            ("document", "image/png", false),
            ("document", "video/mp4", false),
        ];
        for (kind, mime_type, expected) in cases {
            let checked = check_type(&json!({"type": kind}), mime_type);
            assert_eq!(checked.is_ok(), expected, "{kind} {mime_type}");
        }
    }
}
