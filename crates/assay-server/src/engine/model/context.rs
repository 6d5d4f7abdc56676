//! What fits into one request.
//!
//! Tokens are counted by their bytes, on the safe side. What does not fit is left out from the
//! oldest: first whole turns, then results of tools of the turn itself, then half of the largest of
//! the latest results, and half of that.

use super::super::memory::{Message, merged};
use super::super::toolbox::cut;
use serde_json::{Value, json};

/// Bytes of JSON that are sure to be one token, on the average.
const TOKEN_BYTES: u64 = 3;
/// The most tokens that an image costs, however large it is.
const IMAGE_TOKENS_MAX: u64 = 5000;
const LEFT_OUT: &str = "[Earlier parts of this conversation are left out: they do not fit.]";
const REST_LEFT_OUT: &str = "\n[The rest is left out: it does not fit.]";
/// What is not made smaller any more.
const PIECE_BYTES_MIN: usize = 2000;
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
    /// Whether some of `earlier` was forgotten because the model did not take it.
    pub has_forgotten: bool,
}

/// The bytes of a message, as far as they are tokens.
fn bytes(message: &Message) -> u64 {
    let all = u64::try_from(json!(message).to_string().len()).unwrap_or(u64::MAX);
    all.saturating_sub(message.content.iter().map(unread_bytes).sum())
}

/// The bytes of images that cost nothing: a model sees an image, and does not read its bytes.
fn unread_bytes(block: &Value) -> u64 {
    if block["type"] == "tool_result" {
        return block["content"].as_array().into_iter().flatten().map(unread_bytes).sum();
    }
    let data = block["source"]["data"].as_str().filter(|_| block["type"] == "image");
    let length = data.map_or(0, |data| u64::try_from(data.len()).unwrap_or(u64::MAX));
    length.saturating_sub(IMAGE_TOKENS_MAX * TOKEN_BYTES)
}

fn left_out() -> Vec<Message> {
    vec![Message::user(vec![json!({"type": "text", "text": LEFT_OUT})])]
}

impl Frame {
    /// The messages of a request; `None` if not even this turn fits. What is left out stays so.
    pub fn fit(&mut self, turn: &mut [Message]) -> Option<Vec<Message>> {
        let fixed = json!([self.system, self.tools]).to_string().len();
        let fixed = u64::try_from(fixed).unwrap_or(u64::MAX) / TOKEN_BYTES;
        let left = self.tokens_max.checked_sub(fixed)?.saturating_mul(TOKEN_BYTES);
        // Each is counted once: there may be many, and they may be long.
        let mut now: Vec<u64> = turn.iter().map(bytes).collect();
        let earlier: Vec<u64> = self.earlier.iter().map(|t| t.iter().map(bytes).sum()).collect();
        let (mut sum, mut gone) = (earlier.iter().sum::<u64>() + now.iter().sum::<u64>(), 0);
        while sum > left && gone < earlier.len() {
            sum -= earlier[gone];
            gone += 1;
        }
        self.earlier.drain(..gone);
        while sum > left {
            let index = shorten(turn).or_else(|| shorten_last(turn))?;
            let after = bytes(&turn[index]);
            sum = sum - now[index] + after;
            now[index] = after;
        }
        if gone > 0 {
            self.earlier.insert(0, left_out());
        }
        Some(merged(self.earlier.iter().flatten().chain(turn.iter()).cloned()))
    }

    /// Forgets the older half of what came earlier, then all of it; whether there was anything.
    pub fn forget(&mut self) -> bool {
        let is_note = self.earlier.first() == Some(&left_out());
        let count = self.earlier.len() - usize::from(is_note);
        if count == 0 {
            return false;
        }
        // Half of it once: a request that stays refused is not worth more than two others.
        let kept = if self.has_forgotten { 0 } else { count / 2 };
        self.has_forgotten = true;
        self.earlier.drain(..self.earlier.len() - kept);
        self.earlier.insert(0, left_out());
        true
    }
}

/// Takes the oldest result of a tool away that is still there, but for those of the last message.
/// In which message it was.
fn shorten(turn: &mut [Message]) -> Option<usize> {
    let count = turn.len().saturating_sub(1);
    let short = json!([{"type": "text", "text": RESULT_LEFT_OUT}]);
    for (index, message) in turn.iter_mut().take(count).enumerate() {
        let is_result =
            |block: &&mut Value| block["type"] == "tool_result" && block["content"] != short;
        if let Some(block) = message.content.iter_mut().find(is_result) {
            block["content"] = short;
            return Some(index);
        }
    }
    None
}

/// Makes the largest piece of a result in the last message smaller, if there is one worth it: half
/// a text is better than no turn. In which message it was.
fn shorten_last(turn: &mut [Message]) -> Option<usize> {
    let index = turn.len().checked_sub(1)?;
    let results = turn[index].content.iter_mut().filter(|block| block["type"] == "tool_result");
    let pieces = results.filter_map(|block| block["content"].as_array_mut()).flatten();
    let sized = pieces.map(|piece| (piece.to_string().len(), piece));
    let (_, piece) =
        sized.filter(|(size, _)| *size > PIECE_BYTES_MIN).max_by_key(|(size, _)| *size)?;
    *piece = match piece["text"].as_str() {
        Some(text) => {
            let text = text.strip_suffix(REST_LEFT_OUT).unwrap_or(text);
            let half = format!("{}{REST_LEFT_OUT}", cut(text, text.len() / 2));
            json!({"type": "text", "text": half})
        }
        None => json!({"type": "text", "text": RESULT_LEFT_OUT}),
    };
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::super::super::memory::Role;
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
        Frame { system: None, tools: Vec::new(), earlier, tokens_max, has_forgotten: false }
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

    #[test]
    fn the_latest_results_are_cut_until_they_fit_and_what_is_small_stays() {
        let result = |content: Value| json!({"type": "tool_result", "content": [content]});
        let words = |text: &str| json!({"type": "text", "text": text});
        let image = json!({"type": "image", "source": {"data": "i".repeat(50_000)}});
        let last = vec![
            result(words("small")),
            result(words(&"ü".repeat(100_000))),
            result(words(&"b".repeat(30_000))),
            result(image),
        ];
        let said = text(Role::Assistant, "call");
        let mut turn = vec![text(Role::User, "now"), said, Message::user(last)];
        let fitted = json!(frame(5000).fit(&mut turn).expect("fits")).to_string();
        assert!(fitted.len() < 15_000 && fitted.len() > 5000, "{}", fitted.len());
        for part in ["small", "üüü", "bbb", "[The rest", "[This result"] {
            assert!(fitted.contains(part), "{part}: {fitted}");
        }
        assert_eq!(frame(100).fit(&mut turn), None, "a little of each is left, or nothing fits");
    }

    #[test]
    fn what_is_refused_is_forgotten_by_halves_and_not_for_ever() {
        let mut frame = frame(10_000);
        let turn = &mut [text(Role::User, "now")];
        let shown = |frame: &mut Frame, turn: &mut [Message]| {
            json!(frame.fit(turn).expect("fits")).to_string()
        };
        assert!(frame.forget());
        let some = shown(&mut frame, turn);
        assert!(some.contains("left out") && some.contains("third"), "{some}");
        assert!(!some.contains("first") && !some.contains("second"), "{some}");
        assert!(frame.forget());
        let none = shown(&mut frame, turn);
        assert!(none.contains("left out") && !none.contains("third"), "{none}");
        assert!(!frame.forget(), "only the note is left");
    }
}
