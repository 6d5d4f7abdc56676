//! An agent that is a program and speaks the Agent Client Protocol: it brings model and tools.
//!
//! Each turn is a run of the program in the workspace of the session. It begins with a fresh
//! context, so it is told what was said before. The operator chose it and it works as the server's
//! user with the network of the machine. The kernel keeps it from writing elsewhere, and from
//! reading what is the server's and what is of other sessions.

use super::attached::Loader;
use super::host::{Host, Stop};
use super::memory::{Entry, Message, Role, merged, recall};
use super::options::{AcpConfig, EngineError};
use super::prices::nanos_of_dollars;
use super::toolbox::cut;
use super::{Engine, Turn};
use crate::log::log;
use assay_agent::{
    Agent, AgentConfig, AgentEvent, Attachment, Cancel, Helper, Hidden, Outcome, ProcessAgent,
    Protection, Ran, Sandbox, Task, probe, probe_hiding,
};
use assay_sandbox::ProviderKind;
use assay_session::{ErrorKind, EventId, RetryStatus, Said, SessionError, Usage};
use serde_json::{Map, Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;

/// How much of what was said before a run is told.
const EARLIER_BYTES_MAX: usize = 200_000;
/// The longest message that is said in one piece, and how much is said in one turn.
const TEXT_BYTES_MAX: usize = 256 * 1024;
const TURN_BYTES_MAX: usize = 4 * 1024 * 1024;
const REST: &str = "\n[the rest is left out]";
/// What a program may be ahead of what is written, and what it may do in one turn beside talking.
const AHEAD_MAX: usize = 256;
const DEEDS_MAX: usize = 10_000;

/// One program.
#[derive(Debug)]
pub struct AcpEngine {
    agent: Arc<ProcessAgent>,
    sandbox: Sandbox,
    /// What is none of its business, but for the directories of its session.
    hidden: Vec<PathBuf>,
}

impl AcpEngine {
    /// A program of this configuration, that cannot read these places.
    ///
    /// # Errors
    /// If it is not there, or nothing could keep it from writing elsewhere, or from reading there.
    pub fn new(
        name: &str,
        config: AcpConfig,
        kind: ProviderKind,
        hidden: Vec<PathBuf>,
    ) -> Result<AcpEngine, EngineError> {
        let program = config.command.first().cloned().unwrap_or_default();
        if !is_there(&program) {
            return Err(EngineError::NoProgram { name: name.to_string(), program });
        }
        let unprotected = |why| EngineError::Unprotected { name: name.to_string(), why };
        let sandbox = match (kind, probe()) {
            (ProviderKind::None, _) => Sandbox::Off,
            (ProviderKind::Local, Protection::Landlock { .. }) => {
                let all = Hidden { places: hidden.clone(), shown: Vec::new() };
                probe_hiding(&all).map_err(unprotected)?;
                Sandbox::Required
            }
            (ProviderKind::Local, Protection::None { why }) => return Err(unprotected(why)),
        };
        let helper = Helper::this_program().map_err(EngineError::ThisProgram)?;
        let engine = assay_agent::Engine::Acp { command: config.command };
        let config = AgentConfig { engine, env: config.env, writable: config.writable };
        Ok(AcpEngine { agent: Arc::new(ProcessAgent::new(config, helper)), sandbox, hidden })
    }
}

/// Whether a program can be run: by its path, or by a name that is found.
fn is_there(program: &str) -> bool {
    let can_run = |path: &Path| {
        let mode = path.metadata().map(|facts| (facts.is_file(), facts.permissions().mode()));
        mode.is_ok_and(|(is_file, mode)| is_file && mode & 0o111 != 0)
    };
    if program.contains('/') {
        return can_run(Path::new(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| can_run(&directory.join(program)))
}

impl Engine for AcpEngine {
    fn play(&self, host: Host) -> Turn {
        let (agent, sandbox, hidden) = (self.agent.clone(), self.sandbox, self.hidden.clone());
        Box::pin(async move { play(agent, sandbox, hidden, host).await })
    }
}

fn failed(kind: ErrorKind, message: String, retry_status: RetryStatus) -> Said {
    Said::Failed(SessionError::new(kind, message, retry_status))
}

async fn play(
    agent: Arc<ProcessAgent>,
    sandbox: Sandbox,
    places: Vec<PathBuf>,
    mut host: Host,
) -> Result<(), Stop> {
    let attachments = match attachments(&host).await {
        Ok(attachments) => attachments,
        Err(what) => {
            let error = failed(ErrorKind::UnknownError, what, RetryStatus::Terminal);
            return host.end(vec![error]).await;
        }
    };
    let earlier = recall(&host.voice.reader, &host.voice.key, EARLIER_BYTES_MAX).await;
    let earlier = earlier.map_err(|_| Stop::Broken)?;
    let workspace = host.room.workspace().map_err(|error| {
        log(format_args!("session {}: {error}", host.voice.key.id));
        Stop::Broken
    })?;
    let uploads = has_files(&workspace.uploads()).then(|| workspace.uploads());
    let prompt = prompt(host.system.as_deref(), uploads.as_deref(), earlier, &host.text);
    let notes = workspace.session().join("agent");
    let mut task = Task::new(&prompt, &workspace.files(), &workspace.outputs(), &notes);
    task.attachments = attachments;
    task.sandbox = sandbox;
    task.hidden = Hidden { places, shown: vec![workspace.uploads(), workspace.skills()] };
    // Dropped with the turn, whatever ends it.
    let cancel = CancelOnDrop(task.cancel.clone());
    let Some(held) = host.room.hold().await else { return Err(Stop::Stale) };
    let Some(seat) = host.room.program_seat().await else { return Err(Stop::Stale) };
    host.remember(Entry::Message(Message::user(host.prompt.iter().map(noted).collect())));
    host.say(vec![Said::RequestStart]).await?;
    let (tell, mut heard) = channel(AHEAD_MAX);
    let (done, ran) = oneshot::channel();
    // It may take hours, so it has a thread of its own.
    let thread = std::thread::Builder::new().name("agent".into()).spawn(move || {
        let _places = (held, seat);
        // The turn may be over.
        let _unheard = done.send(run(&agent, &task, &tell));
    });
    thread.map_err(|error| {
        log(format_args!("session {}: no thread: {error}", host.voice.key.id));
        Stop::Broken
    })?;
    let mut listener = Listener::default();
    while let Some(event) = heard.recv().await {
        if !listener.has_room(&event) {
            cancel.0.cancel();
            break;
        }
        listener.hear(&mut host, event).await?;
    }
    // Nobody hears more: its thread must not wait for that.
    drop(heard);
    let ran = ran.await.map_err(|_| Stop::Broken)?;
    drop(cancel);
    listener.finish(host, &ran).await
}

/// What of the message is no text, with the files that it names.
async fn attachments(host: &Host) -> Result<Vec<Attachment>, String> {
    let is_other = |block: &&Value| block["type"] != "text";
    let mut blocks: Vec<Value> = host.prompt.iter().filter(is_other).cloned().collect();
    Loader::new(&host.voice).fill(&mut blocks).await?;
    Ok(blocks.iter().enumerate().map(|(index, block)| attachment(index + 1, block)).collect())
}

fn attachment(number: usize, block: &Value) -> Attachment {
    let source = &block["source"];
    let word = |field: &str| source[field].as_str().unwrap_or_default().to_string();
    let title = block["title"].as_str().map(str::to_string);
    let name = title.unwrap_or_else(|| format!("attachment-{number}"));
    match (source["type"].as_str(), block["type"].as_str()) {
        (Some("url"), _) => Attachment::Link { uri: word("url") },
        (Some("text"), _) => Attachment::Text { name, text: word("data") },
        (_, Some("image")) => {
            Attachment::Image { data: word("data"), mime_type: word("media_type") }
        }
        _ => Attachment::Blob { name, data: word("data"), mime_type: word("media_type") },
    }
}

/// What later runs are told of a block: they get no attachments of earlier ones.
fn noted(block: &Value) -> Value {
    match block["type"].as_str() {
        Some("text") => block.clone(),
        kind => {
            let kind = kind.unwrap_or("block");
            let text = format!("[Here was an attachment of the kind {kind}.]");
            json!({"type": "text", "text": text})
        }
    }
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A program that says more than is written waits.
fn run(agent: &ProcessAgent, task: &Task, tell: &Sender<AgentEvent>) -> Ran {
    agent.run(task, &mut |event| {
        // The turn may be over.
        let _unheard = tell.blocking_send(event);
    })
}

fn has_files(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}

/// What the program is told: who it is, where its files are, what was said, what is said now. It
/// sees the directories of the machine, not those of a sandbox.
fn prompt(
    system: Option<&str>,
    uploads: Option<&Path>,
    earlier: Vec<Vec<Message>>,
    text: &str,
) -> String {
    let mut prompt = String::new();
    if let Some(system) = system {
        prompt.push_str(&format!("{system}\n\n"));
    }
    if let Some(uploads) = uploads {
        let place = uploads.display();
        prompt.push_str(&format!("The files of /mnt/session/uploads are in {place}.\n\n"));
    }
    if !earlier.is_empty() {
        prompt.push_str("What was said in this conversation before:\n\n");
        for message in merged(earlier.into_iter().flatten()) {
            let who = if message.role == Role::User { "User" } else { "You" };
            let words = message.content.iter().filter_map(|block| block["text"].as_str());
            prompt.push_str(&format!("{who}: {}\n\n", words.collect::<Vec<_>>().join("\n")));
        }
        prompt.push_str("What is said now:\n\n");
    }
    prompt + text
}

/// What was heard of a run, and not yet said.
#[derive(Default)]
struct Listener {
    text: String,
    /// How much was heard, up to the most that is said.
    bytes: usize,
    /// How often it did something else.
    deeds: usize,
    is_thinking: bool,
    /// Calls that have no result, oldest first, with what the program calls them.
    tools: Vec<(Option<String>, EventId)>,
    usage: Usage,
    cost_nanos: Option<u64>,
    failure: Option<String>,
}

impl Listener {
    /// Whether the turn may go on, by what becomes an event; text has a limit of its own.
    fn has_room(&mut self, event: &AgentEvent) -> bool {
        let is_deed = match event {
            AgentEvent::ToolUse { .. } | AgentEvent::ToolResult { .. } => true,
            AgentEvent::Thought { .. } => !self.is_thinking,
            _ => false,
        };
        self.deeds += usize::from(is_deed);
        if self.deeds > DEEDS_MAX {
            self.failure = Some(format!("it did more than {DEEDS_MAX} things in one turn"));
        }
        self.deeds <= DEEDS_MAX
    }

    async fn hear(&mut self, host: &mut Host, event: AgentEvent) -> Result<(), Stop> {
        let is_thought = matches!(event, AgentEvent::Thought { .. });
        let was_thinking = std::mem::replace(&mut self.is_thinking, is_thought);
        match event {
            AgentEvent::Text { text } => {
                self.add(&text);
                while self.text.len() > TEXT_BYTES_MAX {
                    let rest = self.text.split_off(cut(&self.text, TEXT_BYTES_MAX).len());
                    let said = self.flush(host);
                    self.text = rest;
                    host.say(said).await?;
                }
            }
            AgentEvent::Thought { .. } if !was_thinking => {
                let mut said = self.flush(host);
                said.push(Said::Thinking);
                host.say(said).await?;
            }
            // A call that is told again is the same one.
            AgentEvent::ToolUse { id, .. } if id.is_some() && self.is_open(&id) => {}
            AgentEvent::ToolUse { id, name, detail } => {
                let mut said = self.flush(host);
                let mut input = Map::new();
                if !detail.is_empty() {
                    input.insert("detail".to_string(), Value::String(detail));
                }
                said.push(Said::ToolUse { server: None, name, input });
                let events = host.say(said).await?;
                self.tools.extend(events.last().map(|event| (id, event.id.clone())));
            }
            AgentEvent::ToolResult { id, ok } => {
                if let Some(call) = self.ended(&id) {
                    let text = if ok { "done" } else { "failed" };
                    let content = vec![json!({"type": "text", "text": text})];
                    host.say(vec![Said::ToolResult { call, content, is_error: !ok }]).await?;
                }
            }
            AgentEvent::Usage(usage) => {
                let cached = usage.cached_input_tokens;
                self.usage = Usage {
                    input_tokens: usage.input_tokens.saturating_sub(cached),
                    output_tokens: usage.output_tokens,
                    cache_read_input_tokens: cached,
                    cache_creation_input_tokens: 0,
                };
                self.cost_nanos = usage.cost_usd.and_then(nanos_of_dollars);
            }
            AgentEvent::Failed { message, .. } => self.failure = Some(message),
            AgentEvent::Finished { ok: false, message } => self.failure = Some(message),
            _ => {}
        }
        Ok(())
    }

    fn is_open(&self, id: &Option<String>) -> bool {
        self.tools.iter().any(|(open, _)| open == id)
    }

    /// The call that has ended: the oldest of those with this name, or without any if it has none.
    fn ended(&mut self, id: &Option<String>) -> Option<EventId> {
        let index = self.tools.iter().position(|(open, _)| open == id)?;
        Some(self.tools.remove(index).1)
    }

    fn add(&mut self, text: &str) {
        let kept = cut(text, TURN_BYTES_MAX - self.bytes);
        let is_cut = kept.len() < text.len() && self.bytes < TURN_BYTES_MAX;
        self.bytes = if is_cut { TURN_BYTES_MAX } else { self.bytes + kept.len() };
        self.text.push_str(kept);
        self.text.push_str(if is_cut { REST } else { "" });
    }

    /// What is said next, and remembered with it: so nothing is shown that is forgotten.
    fn flush(&mut self, host: &mut Host) -> Vec<Said> {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return Vec::new();
        }
        let block = json!({"type": "text", "text": text});
        host.remember(Entry::Message(Message::assistant(vec![block])));
        vec![Said::Message(text)]
    }

    async fn finish(mut self, mut host: Host, ran: &Ran) -> Result<(), Stop> {
        let mut said = self.flush(&mut host);
        let end = match (&ran.outcome, self.failure) {
            (Outcome::Exited { code: 0 }, None) => Said::Finished,
            (limited @ Outcome::RateLimited { .. }, _) => {
                let kind = ErrorKind::ModelRateLimitedError;
                failed(kind, limited.to_string(), RetryStatus::Exhausted)
            }
            (outcome, failure) => {
                let why = failure.map_or_else(String::new, |why| format!(": {why}"));
                let message = format!("the agent did not finish its turn: {outcome}{why}");
                failed(ErrorKind::UnknownError, message, RetryStatus::Terminal)
            }
        };
        let is_error = end != Said::Finished;
        let (usage, cost_nanos) = (self.usage, self.cost_nanos);
        said.extend([Said::RequestEnd { is_error, usage, cost_nanos }, end]);
        host.end(said).await
    }
}
