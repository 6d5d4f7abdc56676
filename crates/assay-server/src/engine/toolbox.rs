//! Tools as an engine uses them: what it may use, who is asked, what runs where.
//!
//! Each call is durable before anything runs, and its result before anybody is told, in one commit
//! with what the model will remember of it. Tools that need no leave run first, beside each other
//! as far as their [order](super::order) does not count; then somebody is asked for the others, for
//! all of them together, and each runs when it is allowed. Where nothing runs first, the questions
//! stand within the request that asked them.

use super::fetch::{WEB_FETCH, fetch, fetch_definition};
use super::host::{Host, Stop};
use super::mcp::Servers;
use super::memory::Entry;
use super::order::{Place, waves};
use super::room::{Gave, Room};
use crate::api::{ToolAccess, mcp_access, tool_access};
use crate::net::Reach;
use assay_sandbox::Tools;
use assay_session::{
    Answer, Body, Call, CallKind, DENIED, Event, EventId, Permission, Said, ToolAnswer,
    WAITS_OPEN_MAX,
};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A call that an engine wants.
#[derive(Clone, PartialEq, Debug)]
pub struct Wanted {
    /// Of which MCP server, if it is of one.
    pub server: Option<String>,
    /// Which tool.
    pub name: String,
    /// With what.
    pub input: Map<String, Value>,
    /// What a model calls this call, if one made it: its result is remembered under this name.
    pub call_id: Option<String>,
    /// What it gives, if that is known beforehand: then nothing runs.
    pub written: Option<Gave>,
    /// Why it is none: then nobody is asked and nothing runs.
    pub refused: Option<String>,
}

/// The tools of an agent, in the words for a model: those that are enabled and can run here.
pub fn offered(agent: &Value, room: &Room, servers: &Servers) -> Vec<Value> {
    let built_in = Tools::definitions().into_iter().map(|tool| json!(tool));
    let fetches = (room.reach != Reach::Nothing).then(fetch_definition);
    let is_enabled = |tool: &Value| {
        let access = tool["name"].as_str().and_then(|name| tool_access(agent, name));
        matches!(access, Some(ToolAccess::Allow | ToolAccess::Ask))
    };
    let mut tools: Vec<Value> = built_in.chain(fetches).filter(is_enabled).collect();
    let custom = agent["tools"].as_array().into_iter().flatten();
    for tool in custom.filter(|tool| tool["type"] == "custom") {
        tools.push(json!({"name": tool["name"], "description": tool["description"],
            "input_schema": tool["input_schema"]}));
    }
    tools.extend(servers.offered(agent));
    // Agents of earlier servers may have names that collide, and no model takes two of one.
    let mut names = BTreeSet::new();
    tools.retain(|tool| names.insert(tool["name"].to_string()));
    tools
}

fn no_such_tool(name: &str) -> String {
    format!("there is no tool `{name}` that is enabled")
}

async fn run(room: Arc<Room>, servers: Arc<Servers>, wanted: Wanted) -> Gave {
    if let (None, Some(server)) = (&wanted.written, &wanted.server) {
        return servers.call(server, &wanted.name, wanted.input).await;
    }
    match wanted.written {
        Some(gave) => gave,
        None if Room::has(&wanted.name) => room.call(&wanted.name, &wanted.input).await,
        None if wanted.name == WEB_FETCH => fetch(&room, &wanted.input).await,
        None => Gave::text(format!("this server cannot run `{}`", wanted.name), true),
    }
}

/// What a call has to do with the others of its answer.
fn place(wanted: &Wanted) -> Place {
    let is_in_room = wanted.written.is_none() && wanted.server.is_none();
    match is_in_room && Room::has(&wanted.name) {
        false => Place::Apart,
        true if Tools::only_looks(&wanted.name) => Place::Looks,
        true => Place::Changes,
    }
}

/// Whether an event is a call that runs at once.
fn is_run(body: &Body) -> bool {
    match body {
        Body::ToolUse { evaluated_permission, .. }
        | Body::McpToolUse { evaluated_permission, .. } => {
            *evaluated_permission == Permission::Allow
        }
        _ => false,
    }
}

/// Whether an event is a call that waits for an answer.
fn is_question(body: &Body) -> bool {
    match body {
        Body::CustomToolUse { .. } => true,
        Body::ToolUse { evaluated_permission, .. }
        | Body::McpToolUse { evaluated_permission, .. } => *evaluated_permission == Permission::Ask,
        _ => false,
    }
}

/// All of them at once, for whoever has to answer.
fn questions(asks: &[Asked]) -> Said {
    let call = |(_, kind, wanted): &Asked| Call {
        kind: *kind,
        server: wanted.server.clone(),
        name: wanted.name.clone(),
        input: wanted.input.clone(),
    };
    Said::Calls(asks.iter().map(call).collect())
}

/// The same with questions before the end of the latest request: what it says comes first, then
/// what it asks for.
fn within_request(mut said: Vec<Said>, questions: Said) -> Vec<Said> {
    let end = said.iter().rposition(|one| matches!(one, Said::RequestEnd { .. }));
    let end = end.map(|at| said.remove(at));
    said.push(questions);
    said.extend(end);
    said
}

fn result(call: &EventId, gave: &Gave) -> Said {
    let (content, is_error) = (gave.content.clone(), gave.is_error);
    Said::ToolResult { call: call.clone(), content, is_error }
}

/// The beginning of a text, no longer than so many bytes.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What a model is told of a call.
pub fn tool_result(call_id: &str, gave: &Gave) -> Value {
    let mut content: Vec<Value> = gave.content.clone();
    if content.is_empty() {
        content = Gave::text("", gave.is_error).content;
    }
    json!({"type": "tool_result", "tool_use_id": call_id, "is_error": gave.is_error,
        "content": content})
}

/// A call that somebody is asked for: its place among the others, and who is asked.
type Asked = (usize, CallKind, Wanted);

/// What becomes of a call before anything runs.
enum Fate {
    Run,
    Ask(CallKind),
    Refuse(String),
}

impl Host {
    /// Uses tools, after saying something, and gives what each of them gave, in the same order.
    ///
    /// # Errors
    /// If nobody listens any more.
    pub async fn use_tools(
        &mut self,
        before: Vec<Said>,
        wanted: Vec<Wanted>,
    ) -> Result<Vec<Gave>, Stop> {
        let mut gave: Vec<Option<Gave>> = vec![None; wanted.len()];
        let (mut said, mut runs, mut asks) = (Vec::new(), Vec::new(), Vec::new());
        for (index, call) in wanted.into_iter().enumerate() {
            let (server, name) = (call.server.clone(), call.name.clone());
            let input = call.input.clone();
            match self.fate(&call, asks.len()) {
                Fate::Run => {
                    said.push(Said::ToolUse { server, name, input });
                    runs.push((index, call));
                }
                Fate::Ask(kind) => asks.push((index, kind, call)),
                Fate::Refuse(why) => {
                    let one = Gave::text(why.clone(), true);
                    self.remember_result(&call.call_id, &one);
                    gave[index] = Some(one);
                    said.push(Said::Refused { server, name, input, why });
                }
            }
        }
        let needs_leave = asks.iter().any(|(_, kind, _)| *kind == CallKind::Ask);
        if runs.is_empty() && needs_leave {
            let said = [within_request(before, questions(&asks)), said].concat();
            let events = self.say(said).await?;
            self.hear_all(&events, asks, &mut gave).await?;
        } else {
            let said = [before, said].concat();
            let events = if said.is_empty() { Vec::new() } else { self.say(said).await? };
            self.run_all(&events, runs, &mut gave).await?;
            if !asks.is_empty() {
                let events = self.say(vec![questions(&asks)]).await?;
                self.hear_all(&events, asks, &mut gave).await?;
            }
        }
        gave.into_iter().map(|gave| gave.ok_or(Stop::Broken)).collect()
    }

    fn fate(&self, call: &Wanted, asks: usize) -> Fate {
        if let Some(why) = &call.refused {
            return Fate::Refuse(why.clone());
        }
        let access = match &call.server {
            Some(server) => mcp_access(&self.agent, server, &call.name),
            None => tool_access(&self.agent, &call.name),
        };
        match access {
            Some(ToolAccess::Allow) => Fate::Run,
            Some(_) if asks >= WAITS_OPEN_MAX => {
                Fate::Refuse(format!("at most {WAITS_OPEN_MAX} calls can wait for an answer"))
            }
            Some(ToolAccess::Ask) => Fate::Ask(CallKind::Ask),
            Some(ToolAccess::Custom) => Fate::Ask(CallKind::Custom),
            None => Fate::Refuse(no_such_tool(&call.name)),
        }
    }

    /// Remembers a result with what is said next, which is the result itself.
    fn remember_result(&mut self, call_id: &Option<String>, gave: &Gave) {
        if let Some(id) = call_id {
            self.remember(Entry::Result(tool_result(id, gave)));
        }
    }

    /// Runs calls, in waves.
    async fn run_all(
        &mut self,
        events: &[Event],
        runs: Vec<(usize, Wanted)>,
        gave: &mut [Option<Gave>],
    ) -> Result<(), Stop> {
        let ids = events.iter().filter(|event| is_run(&event.body)).map(|event| event.id.clone());
        let calls =
            ids.zip(runs).map(|(id, (index, wanted))| (place(&wanted), (id, index, wanted)));
        let (apart, mut waves) = waves(calls);
        let (room, servers) = (self.room.clone(), self.servers.clone());
        let begin = |is_apart: bool, (id, index, wanted): (EventId, usize, Wanted)| {
            let (room, servers) = (room.clone(), servers.clone());
            let call_id = wanted.call_id.clone();
            async move { (is_apart, index, id, call_id, run(room, servers, wanted).await) }
        };
        let mut running: FuturesUnordered<_> =
            apart.into_iter().map(|call| begin(true, call)).collect();
        let mut of_wave = 0;
        loop {
            if of_wave == 0
                && let Some(wave) = waves.pop_front()
            {
                of_wave = wave.len();
                running.extend(wave.into_iter().map(|call| begin(false, call)));
            }
            let Some((is_apart, index, id, call_id, one)) = running.next().await else {
                return Ok(());
            };
            of_wave -= usize::from(!is_apart);
            self.remember_result(&call_id, &one);
            self.say(vec![result(&id, &one)]).await?;
            gave[index] = Some(one);
        }
    }

    /// Waits until all questions are answered, and does what is allowed.
    async fn hear_all(
        &mut self,
        events: &[Event],
        asks: Vec<Asked>,
        gave: &mut [Option<Gave>],
    ) -> Result<(), Stop> {
        let events = events.iter().filter(|event| is_question(&event.body));
        let mut open: BTreeMap<EventId, Asked> =
            events.map(|event| event.id.clone()).zip(asks).collect();
        while !open.is_empty() {
            let (id, answer) = self.answer().await?;
            let Some((index, _, wanted)) = open.remove(&id) else { continue };
            let call_id = wanted.call_id.clone();
            // What clients sent stands in the log already: then there is nothing to say.
            let (one, said) = match answer {
                Answer::Result { content, is_error } => (Gave { content, is_error }, Vec::new()),
                Answer::Decision { result: ToolAnswer::Allow, .. } => {
                    let one = run(self.room.clone(), self.servers.clone(), wanted).await;
                    let said = vec![result(&id, &one)];
                    (one, said)
                }
                Answer::Decision { deny_message, .. } => {
                    let why = deny_message.unwrap_or_else(|| DENIED.to_string());
                    (Gave::text(why, true), Vec::new())
                }
            };
            self.remember_result(&call_id, &one);
            if !(said.is_empty() && self.unwritten.is_empty()) {
                self.say(said).await?;
            }
            gave[index] = Some(one);
        }
        Ok(())
    }
}
