//! Tools as an engine uses them: what it may use, who is asked, what runs where.
//!
//! Each call is durable before anything runs, and its result before anybody is told. Tools that
//! need no leave run at once and beside each other; then somebody is asked for the others, for all
//! of them together, and each runs when it is allowed.

use super::fetch::{WEB_FETCH, fetch, fetch_definition};
use super::host::{Host, Stop};
use super::mcp::Servers;
use super::room::{Gave, Room};
use crate::api::{ToolAccess, mcp_access, tool_access};
use crate::net::Reach;
use assay_sandbox::Tools;
use assay_session::{Answer, Body, Call, CallKind, Event, EventId, Permission, Said, ToolAnswer};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
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
    /// What it gives, if that is known beforehand: then nothing runs.
    pub written: Option<Gave>,
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

/// Whether an event is a call.
fn is_call(body: &Body) -> bool {
    matches!(body, Body::CustomToolUse { .. } | Body::ToolUse { .. } | Body::McpToolUse { .. })
}

fn result(call: &EventId, gave: &Gave) -> Said {
    let (content, is_error) = (gave.content.clone(), gave.is_error);
    Said::ToolResult { call: call.clone(), content, is_error }
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
        let (mut said, mut runs, mut asks) = (before, Vec::new(), Vec::new());
        for (index, call) in wanted.into_iter().enumerate() {
            let (name, input) = (call.name.clone(), call.input.clone());
            let access = match &call.server {
                Some(server) => mcp_access(&self.agent, server, &name),
                None => tool_access(&self.agent, &name),
            };
            match access {
                Some(ToolAccess::Allow) => {
                    said.push(Said::ToolUse { server: call.server.clone(), name, input });
                    runs.push((index, call));
                }
                Some(ToolAccess::Ask) => asks.push((index, CallKind::Ask, call)),
                Some(ToolAccess::Custom) => asks.push((index, CallKind::Custom, call)),
                None => {
                    let why = no_such_tool(&name);
                    gave[index] = Some(Gave::text(why.clone(), true));
                    said.push(Said::Refused { server: call.server, name, input, why });
                }
            }
        }
        let events = if said.is_empty() { Vec::new() } else { self.say(said).await? };
        self.run_all(&events, runs, &mut gave).await?;
        if !asks.is_empty() {
            self.ask_all(asks, &mut gave).await?;
        }
        gave.into_iter().map(|gave| gave.ok_or(Stop::Broken)).collect()
    }

    async fn run_all(
        &mut self,
        events: &[Event],
        runs: Vec<(usize, Wanted)>,
        gave: &mut [Option<Gave>],
    ) -> Result<(), Stop> {
        let ids = events.iter().filter(|event| is_run(&event.body)).map(|event| event.id.clone());
        let mut running: FuturesUnordered<_> = ids
            .zip(runs)
            .map(|(id, (index, wanted))| {
                let (room, servers) = (self.room.clone(), self.servers.clone());
                async move { (index, id, run(room, servers, wanted).await) }
            })
            .collect();
        while let Some((index, id, one)) = running.next().await {
            self.say(vec![result(&id, &one)]).await?;
            gave[index] = Some(one);
        }
        Ok(())
    }

    async fn ask_all(
        &mut self,
        asks: Vec<(usize, CallKind, Wanted)>,
        gave: &mut [Option<Gave>],
    ) -> Result<(), Stop> {
        let call = |(_, kind, wanted): &(usize, CallKind, Wanted)| Call {
            kind: *kind,
            server: wanted.server.clone(),
            name: wanted.name.clone(),
            input: wanted.input.clone(),
        };
        let events = self.say(vec![Said::Calls(asks.iter().map(call).collect())]).await?;
        let ids = events.iter().filter(|event| is_call(&event.body)).map(|event| event.id.clone());
        let mut open: BTreeMap<EventId, (usize, CallKind, Wanted)> = ids.zip(asks).collect();
        while !open.is_empty() {
            let (id, answer) = self.answer().await?;
            let Some((index, _, wanted)) = open.remove(&id) else { continue };
            gave[index] = Some(match answer {
                Answer::Result { content, is_error } => Gave { content, is_error },
                Answer::Decision { result: ToolAnswer::Allow, .. } => {
                    let one = run(self.room.clone(), self.servers.clone(), wanted).await;
                    self.say(vec![result(&id, &one)]).await?;
                    one
                }
                Answer::Decision { deny_message, .. } => {
                    Gave::text(deny_message.unwrap_or_else(|| "not allowed".to_string()), true)
                }
            });
        }
        Ok(())
    }
}
