//! Events as clients send them.

use crate::content::{BlockKinds, check_blocks};
use crate::error::BadEvent;
use crate::event::{Body, ToolAnswer};
use crate::id::EventId;
use serde_json::{Map, Value};

/// The size of one event in a request, as compact JSON.
pub const EVENT_BYTES_MAX: usize = 64 * 1024;
/// Calls are named by ids of events; nothing longer is one.
const ID_BYTES_MAX: usize = 128;

/// An event from a client, understood.
#[derive(Clone, PartialEq, Debug)]
pub enum Inbound {
    /// `user.message`
    Message {
        /// Its blocks.
        content: Vec<Value>,
    },
    /// `user.interrupt`
    Interrupt,
    /// `user.custom_tool_result`
    Result {
        /// The call it answers.
        call: EventId,
        /// What came out.
        content: Vec<Value>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// `user.tool_confirmation`
    Confirmation {
        /// The call it is about.
        call: EventId,
        /// The decision.
        result: ToolAnswer,
        /// Why not.
        deny_message: Option<String>,
    },
}

impl Inbound {
    /// Reads one event of a request; `place` is where it stands there.
    ///
    /// # Errors
    /// Names the field that is missing, wrong or not supported.
    pub fn parse(value: &Value, place: &str) -> Result<Inbound, BadEvent> {
        let Value::Object(object) = value else {
            return Err(BadEvent::new(place, "must be an object"));
        };
        if json_bytes(value) > EVENT_BYTES_MAX {
            let what = format!("is larger than {EVENT_BYTES_MAX} bytes");
            return Err(BadEvent::new(place, what));
        }
        let fields = Fields { object, place };
        match object.get("type").and_then(Value::as_str) {
            Some("user.message") => fields.message(),
            Some("user.interrupt") => fields.only(&[]).map(|()| Inbound::Interrupt),
            Some("user.custom_tool_result") => fields.result(),
            Some("user.tool_confirmation") => fields.confirmation(),
            Some(other) => {
                let what = format!("`{}` is not supported by this server", short(other));
                Err(BadEvent::new(format!("{place}.type"), what))
            }
            None => Err(BadEvent::new(format!("{place}.type"), "must be text")),
        }
    }

    /// The event that is appended for it.
    pub(crate) fn body(&self) -> Body {
        match self.clone() {
            Inbound::Message { content } => Body::UserMessage { content },
            Inbound::Interrupt => Body::UserInterrupt {},
            Inbound::Result { call, content, is_error } => {
                Body::CustomToolResult { custom_tool_use_id: call, content, is_error }
            }
            Inbound::Confirmation { call, result, deny_message } => {
                Body::ToolConfirmation { tool_use_id: call, result, deny_message }
            }
        }
    }
}

/// How long a value is as compact JSON, without writing it anywhere.
fn json_bytes(value: &Value) -> usize {
    struct Counter(usize);

    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut counter = Counter(0);
    // A value can always be written, and counting takes no room: too long is the safe answer.
    serde_json::to_writer(&mut counter, value).map_or(usize::MAX, |()| counter.0)
}

struct Fields<'a> {
    object: &'a Map<String, Value>,
    place: &'a str,
}

impl Fields<'_> {
    fn bad(&self, field: &str, what: impl Into<String>) -> BadEvent {
        BadEvent::new(format!("{}.{field}", self.place), what)
    }

    /// Refuses what is not in `known`: a field that is accepted has an effect.
    fn only(&self, known: &[&str]) -> Result<(), BadEvent> {
        for (field, value) in self.object {
            let is_known = field == "type" || known.contains(&field.as_str());
            if field == "session_id" {
                return Err(self.bad(field, "is not allowed: the path names the session"));
            }
            if !is_known && !value.is_null() {
                let field = short(field);
                return Err(self.bad(&field, "is not yet supported by this server"));
            }
        }
        Ok(())
    }

    fn present(&self, field: &str) -> Option<&Value> {
        self.object.get(field).filter(|value| !value.is_null())
    }

    fn id(&self, field: &str) -> Result<EventId, BadEvent> {
        match self.present(field).and_then(Value::as_str) {
            Some(id) if id.len() <= ID_BYTES_MAX => Ok(EventId(id.to_string())),
            _ => Err(self.bad(field, "must be the id of a call")),
        }
    }

    fn message(&self) -> Result<Inbound, BadEvent> {
        self.only(&["content"])?;
        let place = format!("{}.content", self.place);
        let content = self.present("content").unwrap_or(&Value::Null);
        let content = check_blocks(content, BlockKinds::Message, &place)?;
        if content.is_empty() {
            return Err(BadEvent::new(place, "must have at least one block"));
        }
        Ok(Inbound::Message { content })
    }

    fn result(&self) -> Result<Inbound, BadEvent> {
        self.only(&["custom_tool_use_id", "content", "is_error"])?;
        let place = format!("{}.content", self.place);
        let content = match self.present("content") {
            Some(content) => check_blocks(content, BlockKinds::ToolResult, &place)?,
            None => Vec::new(),
        };
        let is_error = match self.present("is_error") {
            None => false,
            Some(Value::Bool(is_error)) => *is_error,
            Some(_) => return Err(self.bad("is_error", "must be true or false")),
        };
        Ok(Inbound::Result { call: self.id("custom_tool_use_id")?, content, is_error })
    }

    fn confirmation(&self) -> Result<Inbound, BadEvent> {
        self.only(&["tool_use_id", "result", "deny_message"])?;
        let result = match self.present("result").and_then(Value::as_str) {
            Some("allow") => ToolAnswer::Allow,
            Some("deny") => ToolAnswer::Deny,
            _ => return Err(self.bad("result", "must be allow or deny")),
        };
        let deny_message = match self.present("deny_message") {
            None => None,
            Some(Value::String(_)) if result == ToolAnswer::Allow => {
                return Err(self.bad("deny_message", "is only allowed with result deny"));
            }
            Some(Value::String(message)) => Some(message.clone()),
            Some(_) => return Err(self.bad("deny_message", "must be text")),
        };
        Ok(Inbound::Confirmation { call: self.id("tool_use_id")?, result, deny_message })
    }
}

/// Names from requests stand in messages; nobody needs all of a long one.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}
