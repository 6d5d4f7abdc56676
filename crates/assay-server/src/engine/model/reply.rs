//! An answer of a model, put together from the events of its stream.

use super::sse::SseEvent;
use crate::nesting::is_too_deep;
use assay_session::Usage;
use serde_json::{Map, Value, json};

/// Blocks of one answer, and how large it may be.
const BLOCKS_MAX: usize = 1000;
const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One block of an answer.
#[derive(Clone, PartialEq, Debug)]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// A thought, as it has to be sent back.
    Thinking(Value),
    /// A call of a tool; without an input if that was no JSON object, or one that is nested so
    /// deep that it could be remembered and not recalled.
    Call {
        /// What the model calls it.
        id: String,
        /// Which tool.
        name: String,
        /// With what.
        input: Option<Map<String, Value>>,
    },
}

impl Block {
    /// As it is sent back.
    pub fn wire(&self) -> Option<Value> {
        match self {
            Block::Text(text) if text.trim().is_empty() => None,
            Block::Text(text) => Some(json!({"type": "text", "text": text})),
            Block::Thinking(block) => Some(block.clone()),
            Block::Call { id, name, input } => Some(json!({"type": "tool_use", "id": id,
                "name": name, "input": input.clone().unwrap_or_default()})),
        }
    }
}

/// A whole answer.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Reply {
    /// What it says.
    pub blocks: Vec<Block>,
    /// Why it ends.
    pub stop_reason: String,
    /// What it took.
    pub usage: Usage,
}

/// What is wrong with a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The endpoint says that it failed: a type and a message.
    Said(String, String),
    /// It is no stream of a message.
    Unintelligible(String),
    /// It is more than anybody reads.
    TooLarge,
}

#[derive(Debug)]
struct Open {
    index: u64,
    block: Value,
    text: String,
    signature: String,
}

/// Puts an answer together.
#[derive(Default, Debug)]
pub struct Gatherer {
    open: Option<Open>,
    reply: Reply,
    bytes: usize,
}

impl Gatherer {
    /// Takes an event; gives the answer with its last one.
    ///
    /// # Errors
    /// If it is none, or says that there is none.
    pub fn push(&mut self, event: &SseEvent) -> Result<Option<Reply>, Fault> {
        let wrong = |what: &str| Fault::Unintelligible(what.to_string());
        self.bytes += event.data.len();
        if self.bytes > REPLY_BYTES_MAX || self.reply.blocks.len() > BLOCKS_MAX {
            return Err(Fault::TooLarge);
        }
        let data: Value =
            serde_json::from_str(&event.data).map_err(|_| wrong("an event is no JSON"))?;
        match data["type"].as_str().unwrap_or_default() {
            "message_start" => self.count(&data["message"]["usage"]),
            "content_block_start" => {
                let index = data["index"].as_u64().unwrap_or_default();
                let block = data["content_block"].clone();
                let field = if block["type"] == "thinking" { "thinking" } else { "text" };
                let text = block[field].as_str().unwrap_or_default().to_string();
                if self
                    .open
                    .replace(Open { index, block, text, signature: String::new() })
                    .is_some()
                {
                    return Err(wrong("a block within a block"));
                }
            }
            "content_block_delta" => {
                let is_it = |open: &&mut Open| data["index"].as_u64() == Some(open.index);
                let open = self.open.as_mut().filter(is_it);
                let open = open.ok_or_else(|| wrong("a piece of a block that is not open"))?;
                open.add(&data["delta"]);
            }
            "content_block_stop" => {
                let open = self.open.take().ok_or_else(|| wrong("the end of no block"))?;
                self.reply.blocks.extend(open.close());
            }
            "message_delta" => {
                self.count(&data["usage"]);
                if let Some(reason) = data["delta"]["stop_reason"].as_str() {
                    self.reply.stop_reason = reason.to_string();
                }
            }
            "message_stop" if self.open.is_some() => return Err(wrong("it ends within a block")),
            "message_stop" => return Ok(Some(std::mem::take(&mut self.reply))),
            "error" => {
                let text = |field: &str| {
                    data["error"][field].as_str().unwrap_or_default().chars().take(500).collect()
                };
                return Err(Fault::Said(text("type"), text("message")));
            }
            // Signs of life, and what comes later.
            _ => {}
        }
        Ok(None)
    }

    /// Numbers in later events stand for everything so far.
    fn count(&mut self, usage: &Value) {
        let Usage {
            input_tokens,
            output_tokens,
            cache_creation_input_tokens,
            cache_read_input_tokens,
        } = &mut self.reply.usage;
        for (field, count) in [
            ("input_tokens", input_tokens),
            ("output_tokens", output_tokens),
            ("cache_creation_input_tokens", cache_creation_input_tokens),
            ("cache_read_input_tokens", cache_read_input_tokens),
        ] {
            if let Some(number) = usage[field].as_u64() {
                *count = number;
            }
        }
    }
}

impl Open {
    fn add(&mut self, delta: &Value) {
        let piece = |field: &str| delta[field].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => self.text.push_str(piece("text")),
            "input_json_delta" => self.text.push_str(piece("partial_json")),
            "thinking_delta" => self.text.push_str(piece("thinking")),
            "signature_delta" => self.signature.push_str(piece("signature")),
            _ => {}
        }
    }

    fn close(self) -> Option<Block> {
        let Open { block, text, signature, .. } = self;
        let is_deep = is_too_deep(&block);
        match block["type"].as_str().unwrap_or_default() {
            "text" => Some(Block::Text(text)),
            "thinking" => Some(Block::Thinking(
                json!({"type": "thinking", "thinking": text, "signature": signature}),
            )),
            "redacted_thinking" => Some(Block::Thinking(block)).filter(|_| !is_deep),
            "tool_use" => {
                let word = |field: &str| block[field].as_str().unwrap_or_default().to_string();
                let input = match text.trim() {
                    "" if is_deep => None,
                    "" => Some(block["input"].as_object().cloned().unwrap_or_default()),
                    text => shallow_object(text),
                };
                Some(Block::Call { id: word("id"), name: word("name"), input })
            }
            // A block that nobody here has asked for.
            _ => None,
        }
    }
}

/// A JSON object that can be remembered.
fn shallow_object(text: &str) -> Option<Map<String, Value>> {
    match serde_json::from_str(text).ok().filter(|value| !is_too_deep(value))? {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gather(events: &[Value]) -> Result<Option<Reply>, Fault> {
        let mut gatherer = Gatherer::default();
        for data in events {
            let event = SseEvent { name: String::new(), data: data.to_string() };
            if let Some(reply) = gatherer.push(&event)? {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }

    fn block(block: Value, deltas: &[Value]) -> Vec<Value> {
        let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
        let delta = |d: &Value| json!({"type": "content_block_delta", "index": 0, "delta": d});
        let stop = json!({"type": "content_block_stop", "index": 0});
        [start].into_iter().chain(deltas.iter().map(delta)).chain([stop]).collect()
    }

    #[test]
    fn an_answer_is_put_together_from_its_pieces() {
        let text = |t: &str| json!({"type": "text_delta", "text": t});
        let part = |t: &str| json!({"type": "input_json_delta", "partial_json": t});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
        let usage = json!({"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 4});
        let mut events = vec![json!({"type": "message_start", "message": {"usage": usage}})];
        events.extend(block(json!({"type": "text", "text": ""}), &[text("Hel"), text("lo")]));
        events.extend(block(call("t1"), &[part("{\"command\":"), part("\"ls\"}")]));
        events.extend(block(call("t2"), &[]));
        events.extend(block(call("t3"), &[part("{\"comm")]));
        events.push(json!({"type": "ping"}));
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 20}}));
        events.push(json!({"type": "message_stop"}));
        let reply = gather(&events).expect("well-formed").expect("whole");
        assert_eq!((reply.stop_reason.as_str(), reply.usage.output_tokens), ("tool_use", 20));
        assert_eq!((reply.usage.input_tokens, reply.usage.cache_read_input_tokens), (9, 4));
        let inputs: Vec<Option<Value>> = reply.blocks[1..]
            .iter()
            .map(|block| match block {
                Block::Call { input, .. } => input.clone().map(Value::Object),
                _ => panic!("{block:?}"),
            })
            .collect();
        assert_eq!(reply.blocks[0], Block::Text("Hello".into()));
        assert_eq!(inputs, [Some(json!({"command": "ls"})), Some(json!({})), None]);
    }

    #[test]
    fn what_is_no_answer_is_told_from_one_that_failed() {
        let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}});
        let said = Fault::Said("overloaded_error".into(), "m".into());
        assert_eq!(gather(&[error]), Err(said));
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": {}});
        let start = &block(json!({"type": "text", "text": ""}), &[])[0];
        let stop = json!({"type": "content_block_stop"});
        let end = json!({"type": "message_stop"});
        for events in [vec![delta], vec![stop], vec![start.clone(); 2], vec![start.clone(), end]] {
            let fault = gather(&events);
            assert!(matches!(fault, Err(Fault::Unintelligible(_))), "{fault:?}");
        }
        // What nobody knows is no answer yet.
        assert_eq!(gather(&[json!("x")]), Ok(None));
    }

    #[test]
    fn an_answer_without_end_is_refused_and_not_asked_for_again() {
        let mut gatherer = Gatherer::default();
        let half = "x".repeat(REPLY_BYTES_MAX / 2);
        let data = json!({"type": "ping", "x": half}).to_string();
        let event = SseEvent { name: String::new(), data };
        assert_eq!(gatherer.push(&event), Ok(None));
        assert_eq!(gatherer.push(&event), Err(Fault::TooLarge));
    }
}
