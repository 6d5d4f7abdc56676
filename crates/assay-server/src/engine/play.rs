//! Plays a script: the engine that always does the same.

use super::runner::{Host, Stop};
use super::script::{CallStep, Script, Step};
use crate::api::{ToolAccess, tool_access};
use assay_session::{
    Answer, Body, Call, CallKind, ErrorKind, EventId, RetryStatus, Said, SessionError, ToolAnswer,
    Usage,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often a hold looks whether it has ended.
const HOLD_LOOKS: Duration = Duration::from_millis(10);

struct Player {
    host: Host,
    /// Said, but not yet written: it goes with what comes next.
    pending: Vec<Said>,
    /// What the last tool gave.
    answer: String,
}

/// Plays the turn that fits the message.
pub async fn play(script: &Script, host: Host) -> Result<(), Stop> {
    let agent = host.agent["name"].as_str().unwrap_or_default();
    let turn = script.find(agent, &host.text).cloned();
    let mut player = Player { host, pending: Vec::new(), answer: String::new() };
    let Some(turn) = turn else {
        let error = error(ErrorKind::UnknownError, Some("the script has no turn for this"), false);
        return player.end(Said::Failed(error)).await;
    };
    for step in &turn.steps {
        if player.step(step).await? == Flow::Ended {
            return Ok(());
        }
    }
    player.end(Said::Finished).await
}

#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Ended,
}

fn error(kind: ErrorKind, message: Option<&str>, exhausted: bool) -> SessionError {
    let retry_status = if exhausted { RetryStatus::Exhausted } else { RetryStatus::Terminal };
    let message = message.unwrap_or("the script says so").to_string();
    SessionError { kind, message, retry_status }
}

fn words(text: &str) -> u64 {
    u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX)
}

impl Player {
    async fn step(&mut self, step: &Step) -> Result<Flow, Stop> {
        if let Some(text) = &step.say {
            let text = self.fill(text);
            self.request(&text);
            self.pending.push(Said::Message(text));
        } else if let Some(name) = &step.call {
            let (input, result) = (step.input.clone(), step.result.clone());
            let is_error = step.is_error;
            let call = CallStep { call: name.clone(), input, result, is_error };
            return self.calls(std::slice::from_ref(&call)).await;
        } else if let Some(calls) = &step.calls {
            return self.calls(calls).await;
        } else if let Some(kind) = step.retry {
            let mut error = error(kind, step.message.as_deref(), false);
            error.retry_status = RetryStatus::Retrying;
            self.pending.push(Said::Rescheduled(error));
            self.flush().await?;
            self.pending.push(Said::Resumed);
        } else if let Some(kind) = step.fail {
            let error = error(kind, step.message.as_deref(), step.exhausted);
            self.end(Said::Failed(error)).await?;
            return Ok(Flow::Ended);
        } else if let Some(name) = &step.hold {
            self.hold(name).await?;
        } else {
            self.pending.push(Said::Thinking);
        }
        Ok(Flow::On)
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{turn}", &self.host.turn_number().to_string())
            .replace("{answer}", &self.answer)
            .replace("{text}", &self.host.text)
    }

    /// What a model would have been asked, with numbers that are always the same.
    fn request(&mut self, output: &str) {
        let usage = Usage {
            input_tokens: 1 + words(&self.host.text),
            output_tokens: 1 + words(output),
            ..Usage::default()
        };
        self.pending.extend([Said::RequestStart, Said::RequestEnd { is_error: false, usage }]);
    }

    async fn flush(&mut self) -> Result<Vec<assay_session::Event>, Stop> {
        let said = std::mem::take(&mut self.pending);
        if said.is_empty() { Ok(Vec::new()) } else { self.host.say(said).await }
    }

    async fn end(&mut self, said: Said) -> Result<(), Stop> {
        self.pending.push(said);
        self.flush().await.map(drop)
    }

    /// Within a request, so that an interrupt finds one open.
    async fn hold(&mut self, name: &str) -> Result<(), Stop> {
        self.pending.push(Said::RequestStart);
        self.flush().await?;
        let path = self.host.holds.join(name);
        while !tokio::fs::try_exists(&path).await.unwrap_or(false) {
            tokio::time::sleep(HOLD_LOOKS).await;
        }
        self.pending.push(Said::RequestEnd { is_error: false, usage: Usage::default() });
        Ok(())
    }

    /// Tools that run, and those somebody has to be asked for: the latter all at once.
    async fn calls(&mut self, calls: &[CallStep]) -> Result<Flow, Stop> {
        self.request("");
        let mut asked = Vec::new();
        for call in calls {
            let kind = match tool_access(&self.host.agent, &call.call) {
                Some(ToolAccess::Custom) => CallKind::Custom,
                Some(ToolAccess::Ask) => CallKind::Ask,
                Some(ToolAccess::Allow) => {
                    self.run_tool(call).await?;
                    continue;
                }
                None => {
                    let what = format!("the agent has no tool `{}` that is enabled", call.call);
                    let error = error(ErrorKind::UnknownError, Some(&what), false);
                    self.end(Said::Failed(error)).await?;
                    return Ok(Flow::Ended);
                }
            };
            asked.push((kind, call));
        }
        if !asked.is_empty() {
            self.ask(&asked).await?;
        }
        Ok(Flow::On)
    }

    async fn run_tool(&mut self, call: &CallStep) -> Result<(), Stop> {
        let (name, input) = (call.call.clone(), call.input.clone());
        self.pending.push(Said::ToolUse { name, input });
        let events = self.flush().await?;
        let used = events.last().ok_or(Stop::Broken)?;
        self.give(used.id.clone(), call);
        Ok(())
    }

    /// The result that the script has for a built-in tool.
    fn give(&mut self, id: EventId, call: &CallStep) {
        self.answer = call.result.clone().unwrap_or_else(|| "done".to_string());
        let content = vec![json!({"type": "text", "text": self.answer})];
        self.pending.push(Said::ToolResult { call: id, content, is_error: call.is_error });
    }

    async fn ask(&mut self, asked: &[(CallKind, &CallStep)]) -> Result<(), Stop> {
        let calls = asked.iter().map(|(kind, call)| {
            let (name, input) = (call.call.clone(), call.input.clone());
            Call { kind: *kind, name, input }
        });
        self.pending.push(Said::Calls(calls.collect()));
        let events = self.flush().await?;
        let is_call =
            |body: &Body| matches!(body, Body::CustomToolUse { .. } | Body::ToolUse { .. });
        let ids = events.iter().filter(|event| is_call(&event.body)).map(|event| event.id.clone());
        // Tools that ran before stand in front of those that are asked for.
        let ids: Vec<EventId> = ids.collect();
        let ids = &ids[ids.len().saturating_sub(asked.len())..];
        let mut open: BTreeMap<&EventId, &CallStep> =
            ids.iter().zip(asked.iter().map(|(_, call)| *call)).collect();
        while !open.is_empty() {
            let (id, answer) = self.host.answer().await?;
            let Some(call) = open.remove(&id) else { continue };
            match answer {
                Answer::Result { content, .. } => self.answer = text_of(&content),
                Answer::Decision { result: ToolAnswer::Allow, .. } => self.give(id, call),
                Answer::Decision { deny_message, .. } => {
                    self.answer = deny_message.unwrap_or_else(|| "not allowed".to_string());
                }
            }
        }
        Ok(())
    }
}

fn text_of(content: &[Value]) -> String {
    let texts = content.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}
