//! What fits into one request.
//!
//! Tokens are counted by their bytes, on the safe side. What does not fit is left out from the
//! oldest: first whole turns, then results of tools of the turn itself.

use super::super::memory::{Message, Role, merged};
use serde_json::{Value, json};

/// Bytes of JSON that are sure to be one token, on the average.
const TOKEN_BYTES: u64 = 3;
const LEFT_OUT: &str = "[Earlier parts of this conversation are left out: they do not fit.]";
const RESULT_LEFT_OUT: &str = "[This result is left out: it does not fit any more.]";

/// What stands around the messages of a turn.
#[derive(Debug)]
pub struct Frame {
    /// Who the agent is.
    pub system: Option<String>,
    /// What it may use.
    pub tools: Vec<Value>,
    /// The turns before, oldest first.
    pub earlier: Vec<Vec<Message>>,
    /// How many tokens all of it may have.
    pub tokens_max: u64,
}

fn tokens(messages: &[Message]) -> u64 {
    let bytes: usize = messages.iter().map(|message| json!(message).to_string().len()).sum();
    u64::try_from(bytes).unwrap_or(u64::MAX) / TOKEN_BYTES
}

impl Frame {
    /// The messages of a request; `None` if not even this turn fits. What is left out stays so.
    pub fn fit(&mut self, turn: &mut [Message]) -> Option<Vec<Message>> {
        let fixed = json!([self.system, self.tools]).to_string().len();
        let fixed = u64::try_from(fixed).unwrap_or(u64::MAX) / TOKEN_BYTES;
        let left = self.tokens_max.checked_sub(fixed)?;
        let mut has_lost = false;
        loop {
            let earlier: u64 = self.earlier.iter().map(|turn| tokens(turn)).sum();
            let over = (earlier + tokens(turn)).checked_sub(left).filter(|over| *over > 0);
            if over.is_none() {
                break;
            }
            if !self.earlier.is_empty() {
                self.earlier.remove(0);
                has_lost = true;
            } else if !shorten(turn) {
                return None;
            }
        }
        if has_lost {
            let note = vec![json!({"type": "text", "text": LEFT_OUT})];
            self.earlier.insert(0, vec![Message::user(note)]);
        }
        Some(merged(self.earlier.iter().flatten().chain(turn.iter()).cloned()))
    }
}

/// Takes the oldest result of a tool away that is still there, but for those of the last message.
fn shorten(turn: &mut [Message]) -> bool {
    let count = turn.len().saturating_sub(1);
    let short = json!([{"type": "text", "text": RESULT_LEFT_OUT}]);
    for message in turn.iter_mut().take(count).filter(|message| message.role == Role::User) {
        let is_result =
            |block: &&mut Value| block["type"] == "tool_result" && block["content"] != short;
        if let Some(block) = message.content.iter_mut().find(is_result) {
            block["content"] = short;
            return true;
        }
    }
    false
}

/// A block as a model can read it: files of this server mean nothing to it.
pub fn readable(block: &Value) -> Value {
    match block["source"]["type"].as_str() {
        Some("file") => {
            let text = format!("[The file {} cannot be shown here.]", block["source"]["file_id"]);
            json!({"type": "text", "text": text})
        }
        _ => block.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(role: Role, text: &str) -> Message {
        Message { role, content: vec![json!({"type": "text", "text": text})] }
    }

    fn exchange(name: &str) -> Vec<Message> {
        let long = format!("{name} {}", "x".repeat(300));
        vec![text(Role::User, &long), text(Role::Assistant, name)]
    }

    fn frame(tokens_max: u64) -> Frame {
        let earlier = vec![exchange("first"), exchange("second"), exchange("third")];
        Frame { system: None, tools: Vec::new(), earlier, tokens_max }
    }

    #[test]
    fn whole_turns_are_left_out_oldest_first_and_said_so() {
        let mut turn = vec![text(Role::User, "now")];
        let all = frame(10_000).fit(&mut turn).expect("fits");
        assert_eq!(all.len(), 7);
        let mut tight = frame(400);
        let some = json!(tight.fit(&mut turn).expect("fits")).to_string();
        assert!(some.contains("left out") && some.contains("third") && some.contains("now"));
        assert!(!some.contains("first"), "{some}");
        assert!(some.find("[Earlier") < some.find("third"), "{some}");
        // The next request of the turn says so once more, not twice.
        let again = json!(tight.fit(&mut turn).expect("fits")).to_string();
        assert_eq!(again, some);
    }

    #[test]
    fn results_of_the_turn_itself_go_last_and_a_prompt_that_is_too_long_is_an_error() {
        let result = |text: &str| {
            let content = json!([{"type": "text", "text": text.repeat(400)}]);
            Message::user(vec![json!({"type": "tool_result", "content": content})])
        };
        let said = text(Role::Assistant, "call");
        let mut turn =
            vec![text(Role::User, "now"), said.clone(), result("old"), said, result("new")];
        let fitted = json!(frame(700).fit(&mut turn).expect("fits")).to_string();
        assert!(fitted.contains("newnew") && !fitted.contains("oldold"), "{fitted}");
        assert_eq!(frame(20).fit(&mut [text(Role::User, &"y".repeat(300))]), None);
    }
}
