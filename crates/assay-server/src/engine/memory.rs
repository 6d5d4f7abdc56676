//! What an agent remembers of its session: the messages that went to its model and came back.
//!
//! Each is written in the commit that shows the same to clients, one record a message. A turn that
//! ended has an ending; one without was cut off by a restart, and the next turn is told so. What is
//! recalled can always be sent: calls without a result get one that says so.

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
            bytes += value.len();
            if bytes > bytes_max {
                // The oldest may be cut in the middle: it is left out.
                turns.pop();
                return Ok(settled(turns));
            }
            let turn = at.rsplit('/').nth(1).unwrap_or_default().to_string();
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
    let (mut messages, mut note) = (Vec::new(), Some(CUT_OFF.to_string()));
    for entry in entries {
        match entry {
            Entry::Message(message) => messages.push(message),
            Entry::Finished | Entry::Interrupted => note = None,
            Entry::Failed(why) => {
                note = Some(format!("[The turn above ended with an error: {why}]"));
            }
        }
    }
    let mut last = missing_results(messages.last());
    last.extend(note.map(|text| json!({"type": "text", "text": text})));
    if !last.is_empty() {
        messages.push(Message::user(last));
    }
    messages
}

fn missing_results(last: Option<&Message>) -> Vec<Value> {
    let Some(last) = last.filter(|last| last.role == Role::Assistant) else { return Vec::new() };
    let calls = last.content.iter().filter(|block| block["type"] == "tool_use");
    let result = |call: &Value| {
        json!({"type": "tool_result", "tool_use_id": call["id"], "is_error": true,
            "content": [{"type": "text", "text": NO_RESULT}]})
    };
    calls.map(result).collect()
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
        let cases: [(Vec<Entry>, &[&str]); 5] = [
            (vec![asked.clone(), said.clone(), Entry::Finished], &[]),
            (vec![asked.clone(), Entry::Interrupted], &[]),
            (vec![asked.clone()], &[CUT_OFF]),
            (vec![asked.clone(), called.clone(), Entry::Interrupted], &[NO_RESULT]),
            (vec![asked, called, Entry::Failed("no".into())], &[NO_RESULT, "an error: no"]),
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
    fn roles_alternate_after_merging() {
        let one = |role: Role, name: &str| Message { role, content: vec![text(name)] };
        let (user, model) = (Role::User, Role::Assistant);
        let all = merged([one(user, "a"), one(user, "b"), one(model, "c"), one(user, "d")]);
        let roles: Vec<Role> = all.iter().map(|message| message.role).collect();
        assert_eq!((roles, all[0].content.len()), (vec![user, model, user], 2));
    }
}
