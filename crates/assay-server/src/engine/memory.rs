//! What an agent remembers of its session: the messages that went to its model and came back.
//!
//! Each is written in the commit that shows the same to clients, one record a message or a result
//! of a tool. A turn that ended has an ending; one without was cut off by a restart, and the next
//! turn is told so. What is recalled can always be sent: calls without a result get one that says
//! so, and of a turn that ended with an error only text is left: the rest may have been why.

use crate::error::ApiError;
use crate::store::{Reader, SessionKey, folder};
use assay_ledger::keyed::{KeyRange, Order};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Records that are read at a time.
const PAGE: usize = 100;
/// What is left of a call whose turn ended before it did.
const NO_RESULT: &str = "there is no result: the turn ended before the tool did";
const CUT_OFF: &str = "[The turn above was cut off by a restart of the server. What it had begun \
                       may or may not have been done.]";

/// One record of a memory.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// Something was said.
    Message(Message),
    /// What a tool gave that the message before called, as a block.
    Result(Value),
    /// The turn ended.
    Finished,
    /// The turn ended with this error.
    Failed(String),
    /// Somebody ended the turn.
    Interrupted,
}

/// Something that was said.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Message {
    /// By whom: `user` or `assistant`.
    pub role: Role,
    /// In blocks.
    pub content: Vec<Value>,
}

/// Who said something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user, or a tool.
    User,
    /// The model.
    Assistant,
}

impl Message {
    /// By a user.
    pub fn user(content: Vec<Value>) -> Message {
        Message { role: Role::User, content }
    }

    /// By a model.
    pub fn assistant(content: Vec<Value>) -> Message {
        Message { role: Role::Assistant, content }
    }
}

/// Where an entry of a turn is.
pub(super) fn entry_key(key: &SessionKey, turn: u64, number: u32) -> String {
    format!("{}/{turn:010}/{number:06}", key.at(folder::MEMORY))
}

/// Where the ending of a turn is: behind its entries.
pub(super) fn end_key(key: &SessionKey, turn: u64) -> String {
    format!("{}/{turn:010}/end", key.at(folder::MEMORY))
}

/// The turns before this one, oldest first, each as messages that can be sent; no more than
/// `bytes_max` of them, and the latest ones.
///
/// # Errors
/// If the store cannot be read.
pub async fn recall(
    reader: &Reader,
    key: &SessionKey,
    bytes_max: usize,
) -> Result<Vec<Vec<Message>>, ApiError> {
    let mut range = KeyRange::below(&key.at(folder::MEMORY), Order::Descending);
    let (mut turns, mut bytes): (Vec<(String, Vec<Entry>)>, usize) = (Vec::new(), 0);
    loop {
        let wanted = range.clone();
        let pairs = reader.ask(move |store| Ok(store.scan(&wanted, PAGE)?)).await?;
        let is_last = pairs.len() < PAGE;
        for (at, value) in pairs {
            let turn = at.rsplit('/').nth(1).unwrap_or_default().to_string();
            bytes += value.len();
            if bytes > bytes_max {
                // The oldest is left out if it is cut in the middle.
                turns.pop_if(|(last, _)| *last == turn);
                return Ok(settled(turns));
            }
            let entry = serde_json::from_slice(&value)?;
            match turns.last_mut() {
                Some((last, entries)) if *last == turn => entries.push(entry),
                _ => turns.push((turn, vec![entry])),
            }
            range = range.after(&at);
        }
        if is_last {
            return Ok(settled(turns));
        }
    }
}

fn settled(turns: Vec<(String, Vec<Entry>)>) -> Vec<Vec<Message>> {
    let oldest_first = turns.into_iter().rev();
    oldest_first.map(|(_, entries)| settle(entries.into_iter().rev().collect())).collect()
}

/// One turn as messages that can be sent, whatever ended it.
fn settle(entries: Vec<Entry>) -> Vec<Message> {
    let (mut messages, mut results) = (Vec::new(), Vec::new());
    let (mut note, mut has_failed) = (Some(CUT_OFF.to_string()), false);
    for entry in entries {
        match entry {
            Entry::Result(result) => results.push(result),
            Entry::Message(message) => {
                // Only a model goes on after results; a user begins.
                if message.role == Role::Assistant {
                    messages.extend(answered(messages.last(), &mut results));
                }
                messages.push(message);
            }
            Entry::Finished | Entry::Interrupted => note = None,
            Entry::Failed(why) => {
                note = Some(format!("[The turn above ended with an error: {why}]"));
                has_failed = true;
            }
        }
    }
    messages.extend(answered(messages.last(), &mut results));
    if has_failed {
        for message in messages.iter_mut().filter(|message| message.role == Role::User) {
            message.content.iter_mut().for_each(only_text);
        }
    }
    messages.extend(note.map(|text| Message::user(vec![json!({"type": "text", "text": text})])));
    messages
}

/// The results of all calls of a message, in their order: those that are there, and a word on those
/// that are not.
fn answered(last: Option<&Message>, results: &mut Vec<Value>) -> Option<Message> {
    let results = std::mem::take(results);
    let last = last.filter(|last| last.role == Role::Assistant)?;
    let calls = last.content.iter().filter(|block| block["type"] == "tool_use");
    let result = |call: &Value| {
        let found = results.iter().find(|result| result["tool_use_id"] == call["id"]);
        found.cloned().unwrap_or_else(|| {
            json!({"type": "tool_result", "tool_use_id": call["id"], "is_error": true,
                "content": [{"type": "text", "text": NO_RESULT}]})
        })
    };
    let content: Vec<Value> = calls.map(result).collect();
    (!content.is_empty()).then(|| Message::user(content))
}

/// Leaves text, and results of tools with nothing but text in them.
fn only_text(block: &mut Value) {
    match block["type"].as_str() {
        Some("text") => {}
        Some("tool_result") => {
            let content = block["content"].as_array_mut().into_iter().flatten();
            content.for_each(only_text);
        }
        kind => {
            let text = format!("[Here was a block of the kind {}.]", kind.unwrap_or("unknown"));
            *block = json!({"type": "text", "text": text});
        }
    }
}

/// The same with one message where there were several of one role in a row.
pub fn merged(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
    let mut merged: Vec<Message> = Vec::new();
    for message in messages {
        match merged.last_mut() {
            Some(last) if last.role == message.role => last.content.extend(message.content),
            _ => merged.push(message),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    #[test]
    fn whatever_ended_a_turn_it_can_be_sent_again() {
        let asked = Entry::Message(Message::user(vec![text("go")]));
        let call = json!({"type": "tool_use", "id": "t1", "name": "bash", "input": {}});
        let called = Entry::Message(Message::assistant(vec![text("ok"), call]));
        let said = Entry::Message(Message::assistant(vec![text("done")]));
        let gave = |id: &str| {
            Entry::Result(json!({"type": "tool_result", "tool_use_id": id,
                "content": [text("gave")]}))
        };
        let before = Entry::Message(Message::user(vec![
            json!({"type": "tool_result", "tool_use_id": "t1", "content": [text("gave")]}),
        ]));
        let cases: [(Vec<Entry>, &[&str]); 9] = [
            (vec![asked.clone(), said.clone(), Entry::Finished], &[]),
            (vec![asked.clone(), Entry::Interrupted], &[]),
            (vec![asked.clone()], &[CUT_OFF]),
            (vec![asked.clone(), called.clone(), Entry::Interrupted], &[NO_RESULT]),
            (
                vec![asked.clone(), called.clone(), Entry::Failed("no".into())],
                &[NO_RESULT, "an error: no"],
            ),
            (vec![asked.clone(), called.clone(), gave("t1"), Entry::Interrupted], &["gave"]),
            (vec![asked.clone(), called.clone(), gave("t1")], &["gave", CUT_OFF]),
            (vec![asked.clone(), called.clone(), gave("t9"), Entry::Interrupted], &[NO_RESULT]),
            // As earlier servers wrote it.
            (vec![asked, called, before, said, Entry::Finished], &[]),
        ];
        for (entries, expected) in cases {
            let count = entries.iter().filter(|e| matches!(e, Entry::Message(_))).count();
            let messages = settle(entries);
            let added = messages[count..].iter().flat_map(|message| &message.content);
            let added: Vec<String> = added.map(Value::to_string).collect();
            assert_eq!(added.len(), expected.len(), "{added:?}");
            for (added, expected) in added.iter().zip(expected) {
                assert!(added.contains(expected), "{added}");
            }
        }
    }

    #[test]
    fn results_stand_behind_their_calls_in_one_message_whenever_they_came() {
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": []});
        let entries = vec![
            Entry::Message(Message::user(vec![text("go")])),
            Entry::Message(Message::assistant(vec![call("a"), call("b"), call("c")])),
            Entry::Result(result("c")),
            Entry::Result(result("a")),
            Entry::Result(result("b")),
            Entry::Message(Message::assistant(vec![call("d"), call("e")])),
            Entry::Result(result("e")),
            Entry::Interrupted,
        ];
        let messages = settle(entries);
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        let (user, model) = (Role::User, Role::Assistant);
        assert_eq!(roles, [user, model, user, model, user]);
        assert_eq!(messages[2].content, [result("a"), result("b"), result("c")]);
        let ids: Vec<&Value> = messages[4].content.iter().map(|one| &one["tool_use_id"]).collect();
        assert_eq!(ids, ["d", "e"]);
        assert_eq!(
            (&messages[4].content[0]["is_error"], &messages[4].content[1]),
            (&json!(true), &result("e"))
        );
    }

    #[test]
    fn of_a_turn_that_failed_only_text_is_left() {
        let image = json!({"type": "image", "source": {"type": "base64", "data": "?"}});
        let call = json!({"type": "tool_use", "id": "a", "name": "bash", "input": {}});
        let result = json!({"type": "tool_result", "tool_use_id": "a", "content": [image]});
        let entries = |end: Entry| {
            vec![
                Entry::Message(Message::user(vec![text("look"), image.clone()])),
                Entry::Message(Message::assistant(vec![call.clone()])),
                Entry::Result(result.clone()),
                end,
            ]
        };
        let kept = json!(settle(entries(Entry::Finished))).to_string();
        assert_eq!(kept.matches("base64").count(), 2, "{kept}");
        let left = json!(settle(entries(Entry::Failed("no".into())))).to_string();
        assert!(!left.contains("base64") && left.contains("look"), "{left}");
        assert_eq!(left.matches("[Here was a block of the kind image.]").count(), 2, "{left}");
        assert!(left.contains("tool_use_id"), "{left}");
    }

    #[test]
    fn roles_alternate_after_merging() {
        let one = |role: Role, name: &str| Message { role, content: vec![text(name)] };
        let (user, model) = (Role::User, Role::Assistant);
        let all = merged([one(user, "a"), one(user, "b"), one(model, "c"), one(user, "d")]);
        let roles: Vec<Role> = all.iter().map(|message| message.role).collect();
        assert_eq!((roles, all[0].content.len()), (vec![user, model, user], 2));
    }
}
