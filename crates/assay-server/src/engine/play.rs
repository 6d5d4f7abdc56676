//! Plays a script: the engine that always does the same.

use super::host::{Host, Stop};
use super::mcp::{MCP_PREFIX, named_call};
use super::room::Gave;
use super::script::{CallStep, Script, Step};
use super::toolbox::Wanted;
use super::{Engine, Turn};
use crate::api::tool_access;
use assay_session::{ErrorKind, RetryStatus, Said, SessionError, Usage};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// How often a hold looks whether it has ended.
const HOLD_LOOKS: Duration = Duration::from_millis(10);

/// Plays one script for all agents.
#[derive(Debug)]
pub struct ScriptedEngine {
    script: Arc<Script>,
}

impl ScriptedEngine {
    /// With this script.
    pub fn new(script: Script) -> ScriptedEngine {
        ScriptedEngine { script: Arc::new(script) }
    }
}

impl Engine for ScriptedEngine {
    fn play(&self, host: Host) -> Turn {
        let script = self.script.clone();
        Box::pin(async move { play(&script, host).await })
    }
}

struct Player {
    host: Host,
    /// Said, but not yet written: it goes with what comes next.
    pending: Vec<Said>,
    /// What the last tool gave.
    answer: String,
}

/// Plays the turn that fits the message.
async fn play(script: &Script, host: Host) -> Result<(), Stop> {
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
    SessionError::new(kind, message, retry_status)
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

    /// What a tool is given, with the number of the turn in its texts: so that what it did can be
    /// told from what it did in another turn. Nothing that somebody else wrote is put in.
    fn numbered(&self, input: &Map<String, Value>) -> Map<String, Value> {
        let number = self.host.turn_number().to_string();
        let filled = |value: &Value| match value {
            Value::String(text) => Value::String(text.replace("{turn}", &number)),
            other => other.clone(),
        };
        input.iter().map(|(name, value)| (name.clone(), filled(value))).collect()
    }

    /// What a model would have been asked, with numbers that are always the same.
    fn request(&mut self, output: &str) {
        let usage = Usage {
            input_tokens: 1 + words(&self.host.text),
            output_tokens: 1 + words(output),
            ..Usage::default()
        };
        let end = Said::RequestEnd { is_error: false, usage, cost_nanos: None };
        self.pending.extend([Said::RequestStart, end]);
    }

    async fn flush(&mut self) -> Result<(), Stop> {
        let said = std::mem::take(&mut self.pending);
        if said.is_empty() { Ok(()) } else { self.host.say(said).await.map(drop) }
    }

    async fn end(&mut self, said: Said) -> Result<(), Stop> {
        self.pending.push(said);
        self.host.end(std::mem::take(&mut self.pending)).await
    }

    /// Within a request, so that an interrupt finds one open.
    async fn hold(&mut self, name: &str) -> Result<(), Stop> {
        self.pending.push(Said::RequestStart);
        self.flush().await?;
        let path = self.host.holds.join(name);
        while !tokio::fs::try_exists(&path).await.unwrap_or(false) {
            tokio::time::sleep(HOLD_LOOKS).await;
        }
        let usage = Usage::default();
        self.pending.push(Said::RequestEnd { is_error: false, usage, cost_nanos: None });
        Ok(())
    }

    /// Uses tools; what the script has no result for is run.
    async fn calls(&mut self, calls: &[CallStep]) -> Result<Flow, Stop> {
        self.request("");
        let asks = |call: &CallStep| call.call.starts_with(MCP_PREFIX) && call.result.is_none();
        if calls.iter().any(asks) {
            self.host.reach_servers().await?;
        }
        let is_missing = |call: &&CallStep| {
            !call.call.starts_with(MCP_PREFIX)
                && tool_access(&self.host.agent, &call.call).is_none()
        };
        if let Some(call) = calls.iter().find(is_missing) {
            let what = format!("the agent has no tool `{}` that is enabled", call.call);
            let error = error(ErrorKind::UnknownError, Some(&what), false);
            self.end(Said::Failed(error)).await?;
            return Ok(Flow::Ended);
        }
        let wanted = calls.iter().map(|call| Wanted {
            written: call.result.as_ref().map(|text| Gave::text(text.clone(), call.is_error)),
            ..named_call(&self.host.agent, &call.call, self.numbered(&call.input))
        });
        let wanted = wanted.collect();
        let gave = self.host.use_tools(std::mem::take(&mut self.pending), wanted).await?;
        self.answer = gave.last().map(Gave::words).unwrap_or_default();
        Ok(Flow::On)
    }
}
