//! An agent that is a program and speaks the Agent Client Protocol: it brings model and tools.
//!
//! Each turn is a run of the program in the workspace of the session. It begins with a fresh
//! context, so it is told what was said before. The operator chose it and it works as the server's
//! user with the network of the machine. The kernel keeps it from writing elsewhere, and from
//! reading what is the server's and what is of other sessions. Before it does something it may ask:
//! then it is allowed, or somebody is asked, as the agent says.

use super::attached::Loader;
use super::deeds::{Deed, Deeds};
use super::host::{Host, Stop};
use super::memory::{Entry, Message, Role, merged, recall};
use super::options::{AcpConfig, EngineError};
use super::prices::nanos_of_dollars;
use super::toolbox::cut;
use super::{Engine, Turn};
use crate::api::only_asks;
use crate::log::log;
use assay_agent::{
    Agent, AgentConfig, AgentEvent, Attachment, CallFacts, Cancel, Decision, Helper, Hidden, Leave,
    Outcome, ProcessAgent, ProcessLimits, Protection, Questions, Ran, Sandbox, Task, probe,
    probe_hiding,
};
use assay_sandbox::{Limits, ProviderKind};
use assay_session::{
    Answer, Call, CallKind, ErrorKind, EventId, RetryStatus, Said, SessionError, ToolAnswer, Usage,
    WAITS_OPEN_MAX,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
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
/// How long a call of which nothing is known may be held back.
const HELD_TIME: Duration = Duration::from_secs(1);
/// What becomes of a call that was told as one that needs no leave, and then asked for it.
const ASKED_LATER: &str = "it asks first: see the next call";

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
            (ProviderKind::Local, found) => return Err(unprotected(found.to_string())),
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
    let workspace = host.room.workspace().await.map_err(|error| {
        log(format_args!("session {}: {error}", host.voice.key.id));
        Stop::Broken
    })?;
    let uploads = has_files(&workspace.uploads()).then(|| workspace.uploads());
    let text = contexts(&host.prompt) + &host.text;
    let prompt = prompt(host.system.as_deref(), uploads.as_deref(), earlier, &text);
    let notes = workspace.session().join("agent");
    let mut task = Task::new(&prompt, &workspace.files(), &workspace.outputs(), &notes);
    task.attachments = attachments;
    task.variables = host.room.variables();
    task.sandbox = sandbox;
    task.each = each_process();
    task.hidden = Hidden { places, shown: vec![workspace.uploads(), workspace.skills()] };
    let questions = host.agent["tools"].as_array().filter(|tools| only_asks(tools));
    let questions = questions.map(|_| Questions::default());
    task.leave = questions.clone().map_or(Leave::Given, Leave::Asked);
    // Dropped with the turn, whatever ends it.
    let cancel = CancelOnDrop(task.cancel.clone(), questions.clone());
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
    let deeds = Deeds::new(questions);
    let mut listener = Listener { deeds, is_requesting: true, ..Listener::default() };
    if !listener.listen(&mut host, &mut heard).await? {
        cancel.0.cancel();
    }
    // Nobody hears more: its thread must not wait for that.
    drop(heard);
    let ran = ran.await.map_err(|_| Stop::Broken)?;
    drop(cancel);
    listener.finish(host, &ran).await
}

/// What tools in sandboxes may have, as far as it can be counted for one process: the program runs
/// as the server's user, whose other processes are none of its business.
fn each_process() -> ProcessLimits {
    let limits = Limits::default();
    ProcessLimits {
        memory_bytes: Some(limits.memory_bytes),
        file_bytes: Some(limits.file_bytes),
        open_files: Some(limits.open_files),
    }
}

/// What of the message is no text, with the files that it names.
async fn attachments(host: &Host) -> Result<Vec<Attachment>, String> {
    let is_other = |block: &&Value| block["type"] != "text";
    let mut blocks: Vec<Value> = host.prompt.iter().filter(is_other).cloned().collect();
    Loader::new(&host.voice).fill(&mut blocks).await?;
    Ok(blocks.iter().enumerate().map(|(index, block)| attachment(index + 1, block)).collect())
}

fn attachment_name(number: usize, block: &Value) -> String {
    let title = block["title"].as_str().map(str::to_string);
    title.unwrap_or_else(|| format!("attachment-{number}"))
}

/// What users say about their documents: the protocol has no place for it.
fn contexts(blocks: &[Value]) -> String {
    let others = blocks.iter().filter(|block| block["type"] != "text").enumerate();
    let contexts = others.filter_map(|(index, block)| {
        let context = block["context"].as_str()?;
        let (number, name) = (index + 1, attachment_name(index + 1, block));
        Some(format!("About attachment {number}, `{name}`: {context}\n\n"))
    });
    contexts.collect()
}

fn attachment(number: usize, block: &Value) -> Attachment {
    let source = &block["source"];
    let word = |field: &str| source[field].as_str().unwrap_or_default().to_string();
    let name = attachment_name(number, block);
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

struct CancelOnDrop(Cancel, Option<Questions>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
        if let Some(questions) = &self.1 {
            questions.close();
        }
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
    deeds_count: usize,
    is_thinking: bool,
    deeds: Deeds,
    /// Whether a request is open: none is while somebody is asked.
    is_requesting: bool,
    /// What was said of it when a request ended.
    told: (Usage, u64),
    usage: Usage,
    cost_nanos: Option<u64>,
    failure: Option<String>,
}

impl Listener {
    /// Hears all of it, and the answers of users meanwhile; whether it may end by itself.
    async fn listen(
        &mut self,
        host: &mut Host,
        heard: &mut Receiver<AgentEvent>,
    ) -> Result<bool, Stop> {
        loop {
            tokio::select! {
                event = heard.recv() => {
                    let Some(event) = event else { return Ok(true) };
                    if !self.has_room(&event) {
                        return Ok(false);
                    }
                    self.hear(host, event).await?;
                }
                answer = host.answers.recv() => {
                    let (call, answer) = answer.ok_or(Stop::Stale)?;
                    self.answered(host, &call, &answer).await?;
                }
                () = tokio::time::sleep(HELD_TIME), if self.deeds.holds_for_a_moment() => {
                    let deeds = self.deeds.let_go();
                    self.tell(host, deeds).await?;
                }
            }
        }
    }

    /// Whether the turn may go on, by what becomes an event; text has a limit of its own.
    fn has_room(&mut self, event: &AgentEvent) -> bool {
        let is_deed = match event {
            AgentEvent::ToolUse { .. }
            | AgentEvent::ToolResult { .. }
            | AgentEvent::LeaveAsked { .. } => true,
            AgentEvent::Thought { .. } => !self.is_thinking,
            _ => false,
        };
        self.deeds_count += usize::from(is_deed);
        if self.deeds_count > DEEDS_MAX {
            self.failure = Some(format!("it did more than {DEEDS_MAX} things in one turn"));
        }
        self.deeds_count <= DEEDS_MAX
    }

    async fn hear(&mut self, host: &mut Host, event: AgentEvent) -> Result<(), Stop> {
        let is_thought = matches!(event, AgentEvent::Thought { .. });
        let was_thinking = std::mem::replace(&mut self.is_thinking, is_thought);
        if is_thought || matches!(event, AgentEvent::Text { .. }) {
            let deeds = self.deeds.let_go();
            self.tell(host, deeds).await?;
        }
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
            AgentEvent::ToolUse { id, name, call, .. } => {
                self.deeds.begin(id, name, call);
                self.tell_ready(host).await?;
            }
            AgentEvent::ToolUpdate { id, name, call } => {
                self.deeds.learn(&id, name, call);
                self.tell_ready(host).await?;
            }
            AgentEvent::ToolResult { id, ok, call } => {
                let over = CallFacts { has_begun: true, ..call.map(|c| *c).unwrap_or_default() };
                self.deeds.learn(&id, None, Some(Box::new(over)));
                self.tell_ready(host).await?;
                if let Some((deed, call)) = self.deeds.ended(&id) {
                    let content = deed.result(ok);
                    host.say(vec![Said::ToolResult { call, content, is_error: !ok }]).await?;
                }
            }
            AgentEvent::LeaveAsked { question, id, name, call } => {
                let (deed, earlier) = self.deeds.questioned(id, name, call);
                self.ask(host, question, deed, earlier).await?;
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

    async fn tell_ready(&mut self, host: &mut Host) -> Result<(), Stop> {
        let deeds = self.deeds.ready();
        self.tell(host, deeds).await
    }

    /// Tells of calls, after what was said before them.
    async fn tell(&mut self, host: &mut Host, deeds: Vec<Deed>) -> Result<(), Stop> {
        if deeds.is_empty() {
            return Ok(());
        }
        let mut said = self.flush(host);
        said.extend(deeds.iter().map(Deed::used));
        let events = host.say(said).await?;
        self.deeds.told(deeds, &events);
        Ok(())
    }

    /// Asks somebody for a call. The program waits, and the request with it.
    async fn ask(
        &mut self,
        host: &mut Host,
        question: u64,
        deed: Deed,
        earlier: Option<EventId>,
    ) -> Result<(), Stop> {
        let mut said = self.flush(host);
        said.extend(earlier.map(|call| {
            let content = vec![json!({"type": "text", "text": ASKED_LATER})];
            Said::ToolResult { call, content, is_error: false }
        }));
        let (name, input) = (deed.name.clone(), deed.input());
        if self.deeds.waiting() >= WAITS_OPEN_MAX {
            let why = format!("at most {WAITS_OPEN_MAX} calls can wait for an answer");
            said.push(Said::Refused { server: None, name, input, why });
            host.say(said).await?;
            self.deeds.answer(question, Decision::Deny);
            return Ok(());
        }
        said.push(Said::Calls(vec![Call { kind: CallKind::Ask, server: None, name, input }]));
        if std::mem::take(&mut self.is_requesting) {
            // What is not known yet is said at the end.
            let cost_nanos = Some(self.cost_nanos.unwrap_or_default());
            said.push(self.request_end(false, cost_nanos));
        }
        let events = host.say(said).await?;
        self.deeds.wait(question, deed, &events);
        Ok(())
    }

    /// Hands an answer on. The program goes on when all are there.
    async fn answered(
        &mut self,
        host: &mut Host,
        call: &EventId,
        answer: &Answer,
    ) -> Result<(), Stop> {
        let decision = match answer {
            Answer::Decision { result: ToolAnswer::Allow, .. } => Decision::Allow,
            _ => Decision::Deny,
        };
        let Some(question) = self.deeds.answered(call, decision) else { return Ok(()) };
        if self.deeds.waiting() == 0 {
            host.say(vec![Said::RequestStart]).await?;
            self.is_requesting = true;
        }
        self.deeds.answer(question, decision);
        Ok(())
    }

    /// The end of a request: what the program took since the last one, of what it took in all.
    fn request_end(&mut self, is_error: bool, cost_nanos: Option<u64>) -> Said {
        let (before, cost_before) = self.told;
        self.told = (self.usage, cost_nanos.unwrap_or(cost_before));
        let usage = Usage {
            input_tokens: self.usage.input_tokens.saturating_sub(before.input_tokens),
            output_tokens: self.usage.output_tokens.saturating_sub(before.output_tokens),
            cache_read_input_tokens: self
                .usage
                .cache_read_input_tokens
                .saturating_sub(before.cache_read_input_tokens),
            cache_creation_input_tokens: self
                .usage
                .cache_creation_input_tokens
                .saturating_sub(before.cache_creation_input_tokens),
        };
        let cost_nanos = cost_nanos.map(|all| all.saturating_sub(cost_before));
        Said::RequestEnd { is_error, usage, cost_nanos }
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
        let rest = self.deeds.rest();
        self.tell(&mut host, rest).await?;
        let mut said = self.flush(&mut host);
        if self.deeds.waiting() > 0 && self.failure.is_none() {
            self.failure = Some("nobody had answered what it asked for".to_string());
        }
        let end = match (&ran.outcome, self.failure.take()) {
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
        if self.is_requesting {
            said.push(self.request_end(is_error, self.cost_nanos));
        }
        said.push(end);
        host.end(said).await
    }
}
