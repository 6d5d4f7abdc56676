//! The state of a session, and the one function that changes it.

mod client;
mod engine;
mod lifecycle;
mod work;

use crate::cost::Cost;
use crate::error::Refusal;
use crate::event::{Event, SessionError, Usage};
use crate::id::EventId;
use crate::inbound::Inbound;
use crate::turn::{Turn, TurnRef};
use crate::wait::{Answer, ClosedWait, Wait};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeSet, VecDeque};
use work::Work;

pub use client::DENIED;

/// Messages that may wait for their turn in one session.
pub const TURNS_WAITING_MAX: usize = 100;

/// What a session is doing.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing: it waits for a message or an answer.
    #[default]
    Idle,
    /// An agent works.
    Running,
    /// An agent will try again.
    Rescheduling,
    /// Nothing, and never again.
    Terminated,
}

/// All there is to know about a session that is not in its log.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Session {
    /// What it is doing.
    pub status: Status,
    /// Turns that are not over, oldest first. At most the first has left `Accepted`.
    pub turns: VecDeque<Turn>,
    /// How many turns there were.
    pub turns_count: u64,
    /// How often a turn was given to an engine.
    pub generation: u64,
    /// Calls that wait for an answer, oldest first.
    pub waits: Vec<Wait>,
    /// The latest calls that did.
    pub closed: VecDeque<ClosedWait>,
    /// Built-in tools that were started and have no result.
    pub open_tools: BTreeSet<EventId>,
    /// Calls of MCP servers that have no result, whether they run or wait.
    #[serde(default)]
    pub mcp_calls: BTreeSet<EventId>,
    /// A request to a model that has no end.
    pub open_span: Option<EventId>,
    /// A turn that was interrupted and whose engine may still be at work. The next one starts
    /// after it: what came after an interrupt is not done before it.
    pub aborting: Option<TurnRef>,
    /// What all requests to models took.
    pub usage: Usage,
    /// What they cost.
    #[serde(default)]
    pub cost: Cost,
    /// How long it ran, in milliseconds, without what stands in `running_since_ms`.
    pub active_ms: u64,
    /// Since when it runs.
    pub running_since_ms: Option<u64>,
    /// The last event of the log: later ones have larger ids.
    pub last_event: Option<EventId>,
}

/// What happens to a session.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// A client sends events: all of them are taken, or none.
    Send(Vec<Inbound>),
    /// The next turn is to be given to an engine of this process.
    Dispatch {
        /// This process.
        owner: String,
    },
    /// An engine has something to say.
    Engine {
        /// Which run of which turn.
        turn: TurnRef,
        /// What, in order.
        said: Vec<Said>,
    },
    /// The engine of an interrupted turn has stopped.
    Aborted(TurnRef),
    /// What people call it or noted about it has changed.
    Update {
        /// What it is called now, if that changed; null if nothing.
        title: Option<Value>,
        /// All notes, if they changed.
        metadata: Option<Map<String, Value>>,
    },
    /// No more events, ever.
    Archive,
    /// No more session.
    Delete,
    /// The process that ran the engines is gone.
    Recover,
}

/// What an engine says.
#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    /// It asks a model.
    RequestStart,
    /// The model has answered.
    RequestEnd {
        /// Whether it failed.
        is_error: bool,
        /// What it took.
        usage: Usage,
        /// What that cost, in billionths of a US dollar, if anybody knows.
        cost_nanos: Option<u64>,
    },
    /// It has a text for the user.
    Message(String),
    /// It thinks.
    Thinking,
    /// It uses a tool that needs no leave.
    ToolUse {
        /// Of which MCP server, if it is of one.
        server: Option<String>,
        /// Which.
        name: String,
        /// With what.
        input: Map<String, Value>,
    },
    /// It wanted a tool that it does not have: nothing runs.
    Refused {
        /// Of which MCP server, if it is of one.
        server: Option<String>,
        /// Which.
        name: String,
        /// With what.
        input: Map<String, Value>,
        /// Why not.
        why: String,
    },
    /// A tool has ended.
    ToolResult {
        /// Which call.
        call: EventId,
        /// What came out.
        content: Vec<Value>,
        /// Whether it failed.
        is_error: bool,
    },
    /// It waits until all of these are answered. What else is said at the same time comes before
    /// the wait: so a question can stand within the request that asks it.
    Calls(Vec<Call>),
    /// Something failed, and it goes on without.
    Trouble(SessionError),
    /// It failed and will try again.
    Rescheduled(SessionError),
    /// It tries again.
    Resumed,
    /// It failed for good: the turn is over.
    Failed(SessionError),
    /// The turn is over.
    Finished,
}

/// A call somebody has to answer.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// Who.
    pub kind: CallKind,
    /// Of which MCP server the tool is, if it is of one.
    pub server: Option<String>,
    /// Which tool.
    pub name: String,
    /// With what.
    pub input: Map<String, Value>,
}

/// Who answers a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallKind {
    /// The client, which runs the tool.
    Custom,
    /// A user, who is asked whether a built-in tool may run.
    Ask,
}

/// What has to be done once the step is durable, and not before.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// A turn waits: take the step [`Input::Dispatch`].
    Dispatch,
    /// Start an engine.
    Start {
        /// What it has to show.
        turn: TurnRef,
        /// The message it answers.
        prompt: EventId,
    },
    /// Hand an answer to an engine that waits.
    Answer {
        /// Which engine.
        turn: TurnRef,
        /// Which call.
        call: EventId,
        /// What was answered.
        answer: Answer,
    },
    /// Stop an engine, then take the step [`Input::Aborted`].
    Abort(TurnRef),
}

/// What is told to a client about one of its events.
#[derive(Clone, PartialEq, Debug)]
pub enum Echo {
    /// It was appended.
    Appended(Event),
    /// The same was said before, and this is it.
    Known(EventId),
}

/// What came of an input.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The session afterwards.
    pub session: Session,
    /// What is appended to its log.
    pub events: Vec<Event>,
    /// What has to be done then.
    pub effects: Vec<Effect>,
    /// One for each event a client sent.
    pub echoes: Vec<Echo>,
}

/// What a step may not make up by itself.
pub struct Context<'a> {
    /// The time.
    pub now_ms: u64,
    /// Ids for events, each larger than all before.
    pub ids: &'a mut dyn FnMut() -> EventId,
}

/// What an input does to a session.
///
/// # Errors
/// If the input cannot be taken; then nothing has happened.
pub fn step(session: &Session, input: &Input, context: &mut Context) -> Result<Step, Refusal> {
    let mut work = Work::new(session, context);
    match input {
        Input::Send(events) => work.send(events)?,
        Input::Dispatch { owner } => work.dispatch(owner),
        Input::Engine { turn, said } => work.engine(turn, said)?,
        Input::Aborted(turn) => work.aborted(turn)?,
        Input::Update { title, metadata } => work.update(title, metadata)?,
        Input::Archive => work.archive()?,
        Input::Delete => work.delete()?,
        Input::Recover => work.recover(),
    }
    Ok(work.done())
}
