//! Agents as processes, by the names that contracts give them; and the contract's commands, which
//! run under the same keeper: what they start ends with them, and they write in their tree only.

use super::dispatch::{Engines, EnginesError, Execution, Order, Ran, Seen};
use super::{confine, prompt};
use crate::contract::Contract;
use crate::event::Outcome;
use assay_agent::{
    Agent, AgentConfig, AgentEvent, Backoff, Engine, Helper, Hidden, Limits, ProcessAgent,
    Protection, Sandbox, SessionAgent, Task, probe, probe_hiding, run_patiently,
};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// Nobody is there to be asked for permission; what holds these agents is the kernel.
const CLAUDE_UNASKED: &str = "--permission-mode bypassPermissions";
const CODEX_UNASKED: &str = "--dangerously-bypass-approvals-and-sandbox";
/// What an agent does that is not shown yet; it waits when nobody is quick enough.
const ACTIVITY_WAITING_MAX: usize = 64;
/// What is kept of each of an agent's streams as evidence, in bytes, from its end.
const OUTPUT_BYTES_KEPT: usize = 1 << 20;

/// Real processes on this machine.
pub struct Processes {
    helper: Helper,
    root: PathBuf,
    protection: Protection,
    sandbox: Sandbox,
    /// Found out once, by trying.
    hides: OnceLock<bool>,
}

impl Processes {
    /// Processes that are kept by `helper`; scripts are named relative to `root`.
    pub fn new(helper: Helper, root: &Path, sandbox: Sandbox) -> Processes {
        let protection = match sandbox {
            Sandbox::Off => Protection::None { why: "it was switched off".to_string() },
            _ => probe(),
        };
        let (root, hides) = (root.to_path_buf(), OnceLock::new());
        Processes { helper, root, protection, sandbox, hides }
    }

    /// The configuration that a name stands for.
    fn config(&self, contract: &Contract, name: &str) -> Result<AgentConfig, EnginesError> {
        let wrong = |why: &str| EnginesError { name: name.to_string(), why: why.to_string() };
        if let Some(config) = contract.settings.agents.engines.get(name) {
            let mut config = config.clone();
            if let Engine::Scripted { script } = &mut config.engine {
                *script = self.root.join(&script);
            }
            return Ok(config);
        }
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        let model = (!rest.is_empty()).then(|| rest.to_string());
        let program = kind.to_string();
        let words = words_of(rest);
        let engine = match kind {
            "claude" => Engine::Claude { program, model, args: words_of(CLAUDE_UNASKED) },
            "codex" => Engine::Codex { program, model, args: words_of(CODEX_UNASKED) },
            "scripted" if !rest.is_empty() => Engine::Scripted { script: self.root.join(rest) },
            "command" if !words.is_empty() => Engine::Command { command: words },
            "acp" if !words.is_empty() => Engine::Acp { command: words },
            "session" => {
                return Err(wrong(
                    "a session has a server, an agent and a key: describe it under \
                    [agents.engines]",
                ));
            }
            "" => return Err(wrong("no agent is named: fill in [agents], or --worker and so on")),
            _ => {
                return Err(wrong(
                    "neither in [agents.engines] nor one of claude:MODEL, codex:MODEL, \
                     acp:PROGRAM, command:PROGRAM and scripted:FILE",
                ));
            }
        };
        Ok(AgentConfig::of(engine))
    }
}

impl Processes {
    /// Why an engine need not be tried.
    fn unusable(&self, contract: &Contract, name: &str, engine: &Engine) -> Option<String> {
        let short = !contract.settings.agents.engines.contains_key(name);
        let program = match engine {
            Engine::Scripted { script } if script.is_file() => return None,
            Engine::Scripted { script } => {
                return Some(format!("{} is not there", script.display()));
            }
            Engine::Claude { program, .. } | Engine::Codex { program, .. } => {
                if short && !self.confined() {
                    return Some(format!(
                        "it would work without asking, and {}: describe it with arguments of your \
                         own under [agents.engines]",
                        self.protection
                    ));
                }
                program
            }
            Engine::Acp { command } | Engine::Command { command } => command.first()?,
            Engine::Session(session) => {
                let is_set = std::env::var_os(&session.key).is_some();
                let what = format!("the variable {} has to have a key of its server", session.key);
                return (!is_set).then_some(what);
            }
        };
        // A path that begins with a dot is looked for in the working tree, which is not there yet.
        let found = program.starts_with('.')
            || if program.contains('/') { Path::new(program).exists() } else { on_path(program) };
        (!found).then(|| format!("there is no program `{program}` here: install it, or name it"))
    }
}

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

fn words_of(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

impl Engines for Processes {
    fn check(&self, contract: &Contract) -> Result<(), EnginesError> {
        for name in prompt::engines(contract) {
            let config = self.config(contract, &name)?;
            if let Some(why) = self.unusable(contract, &name, &config.engine) {
                return Err(EnginesError { name, why });
            }
        }
        if contract.settings.agents.worker.is_empty() {
            let why = "no Worker is named: fill in [agents], or give --worker".to_string();
            return Err(EnginesError { name: "worker".to_string(), why });
        }
        Ok(())
    }

    fn protection(&self) -> String {
        self.protection.to_string()
    }

    fn confined(&self) -> bool {
        self.protection.refuses_writes()
    }

    fn hides(&self) -> bool {
        let is_asked = matches!(self.protection, Protection::Landlock { .. });
        let tried = || {
            let places = vec![self.root.join(".assay")];
            probe_hiding(&Hidden { places, shown: Vec::new() }).is_ok()
        };
        is_asked && *self.hides.get_or_init(tried)
    }

    fn outlives(&self, contract: &Contract, engine: &str) -> bool {
        let config = self.config(contract, engine);
        config.is_ok_and(|config| matches!(config.engine, Engine::Session(_)))
    }

    fn run(&self, order: &Order<'_>, seen: &mut dyn FnMut(Seen<'_>)) -> Ran {
        let mut config = match self.config(order.contract, order.engine) {
            Ok(config) => config,
            Err(error) => {
                return Ran {
                    outcome: Outcome::SpawnFailed(error.to_string()),
                    ms: 0,
                    tokens: 0,
                    protection: self.protection(),
                    confined: false,
                    is_over: true,
                    output: Vec::new(),
                };
            }
        };
        let mut task = task(order);
        if let Engine::Session(session) = &config.engine {
            let place = session.url.clone();
            let ran = SessionAgent::new(session.clone()).run(&task, &mut |event| {
                if let Some(text) = waits(&event, &place) {
                    seen(Seen::Waiting(&text));
                } else if let Some(text) = shown(&event) {
                    seen(Seen::Doing(&text));
                }
            });
            return returned(ran, order.since, "");
        }
        config.env.extend(order.contract.settings.environment.iter().cloned());
        config.writable.extend(order.contract.settings.writable.iter().cloned());
        let named = config.writable.clone();
        let agent = ProcessAgent::new(config, self.helper.clone());
        task.sandbox = self.sandbox;
        let (ran, held) = match order.read_only && self.sandbox != Sandbox::Off {
            true => looking(order, &named, &agent, &task, seen),
            false => {
                let ran = run_patiently(&agent, &task, Backoff::default(), &mut |event| {
                    if let Some(text) = shown(&event) {
                        seen(Seen::Doing(&text));
                    }
                });
                (ran, false)
            }
        };
        returned(ran, order.since, if held { ", and in its tree" } else { "" })
    }

    fn execute(&self, execution: &Execution<'_>) -> super::dispatch::Executed {
        let engine = Engine::Command { command: execution.argv.to_vec() };
        let mut config = AgentConfig::of(engine);
        config.env.extend(execution.environment.iter().cloned());
        config.writable.extend(execution.writable.iter().cloned());
        let agent = ProcessAgent::new(config, self.helper.clone());
        let drop_box = execution.log.join("out");
        let mut task = Task::new("", execution.work, &drop_box, execution.log);
        task.environment.extend(execution.variables.iter().cloned());
        task.writable.extend(execution.own.iter().cloned());
        if self.hides() {
            task.hidden.places = execution.hidden.to_vec();
        }
        task.sandbox = self.sandbox;
        task.kept_bytes = usize::try_from(execution.output_bytes).unwrap_or(usize::MAX);
        task.limits = Limits {
            wall: execution.limit,
            idle: execution.limit,
            output_bytes: execution.output_bytes,
        };
        let ran = agent.run(&task, &mut |_| {});
        let confined = ran.protection.refuses_writes();
        let (stdout, mut stderr) = (ran.stdout, ran.stderr);
        let is_whole = ran.output_bytes == (stdout.len() + stderr.len()) as u64;
        let (exit, why) = match ran.outcome {
            assay_agent::Outcome::Exited { code } if is_whole => (Some(code), None),
            // Nobody knows what stood in the gap.
            assay_agent::Outcome::Exited { .. } => {
                (None, Some("part of what it printed was not kept".to_string()))
            }
            other => (None, Some(other.to_string())),
        };
        stderr.extend(why.into_iter().flat_map(|why| format!("{why}\n").into_bytes()));
        super::dispatch::Executed { exit, ms: millis(ran.time), stdout, stderr, confined }
    }
}

/// What an agent is asked to do, and what is left of its time.
fn task(order: &Order<'_>) -> Task {
    let mut task = Task::new(order.prompt, order.work, order.drop_box, order.log);
    task.kept_bytes = OUTPUT_BYTES_KEPT;
    task.limits = Limits {
        wall: Duration::from_secs(order.limits.wall_seconds).saturating_sub(order.since),
        idle: Duration::from_secs(order.limits.idle_seconds),
        output_bytes: order.limits.output_bytes,
    };
    for (name, value) in &order.variables {
        task = task.variable(name, value);
    }
    task
}

/// How an agent ended, for the record; `also` is what kept it in its place besides.
fn returned(ran: assay_agent::Ran, since: Duration, also: &str) -> Ran {
    let usage = ran.usage.unwrap_or_default();
    Ran {
        outcome: outcome(ran.outcome),
        ms: millis(ran.time.saturating_add(since)),
        tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        protection: format!("{}{also}", ran.protection),
        confined: ran.protection.refuses_writes(),
        is_over: ran.is_over,
        // Of the last try, if there were several.
        output: [ran.stdout, ran.stderr].concat(),
    }
}

/// Runs an agent that must not write where it works. What it does is told from the thread that is
/// held to that to the one that shows it.
fn looking(
    order: &Order<'_>,
    named: &[String],
    agent: &ProcessAgent,
    task: &Task,
    seen: &mut dyn FnMut(Seen<'_>),
) -> (assay_agent::Ran, bool) {
    let cache = &order.contract.settings.cache;
    for name in cache {
        // A rule is about a directory that is there.
        _ = std::fs::create_dir_all(order.work.join(name));
    }
    let lookup = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let own = [order.drop_box, order.log];
    let writable = confine::places(order.work, cache, &own, named, lookup);
    let (tell, heard) = std::sync::mpsc::sync_channel::<String>(ACTIVITY_WAITING_MAX);
    let work = move || {
        run_patiently(agent, task, Backoff::default(), &mut |event| {
            if let Some(text) = shown(&event) {
                // Nobody listens any more: then it does not matter.
                _ = tell.send(text);
            }
        })
    };
    let meanwhile = || heard.iter().for_each(|text| seen(Seen::Doing(&text)));
    confine::writing_only(&writable, work, meanwhile).unwrap_or_else(|| {
        let why = "the thread that runs agents panicked".to_string();
        let ran = assay_agent::Ran {
            outcome: assay_agent::Outcome::SpawnFailed { why: why.clone() },
            protection: Protection::None { why },
            usage: None,
            output_bytes: 0,
            stdout_tail: String::new(),
            stderr_tail: String::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
            stragglers: 0,
            is_over: true,
            time: Duration::ZERO,
        };
        (ran, false)
    })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn outcome(of: assay_agent::Outcome) -> Outcome {
    match of {
        assay_agent::Outcome::Exited { code } => Outcome::Exited(code),
        assay_agent::Outcome::Signalled { signal } => Outcome::Signalled(signal),
        assay_agent::Outcome::IdleTimeout => Outcome::IdleTimeout,
        // The desk calls nobody off; whoever did wanted no more time spent.
        assay_agent::Outcome::WallTimeout | assay_agent::Outcome::Cancelled => Outcome::WallTimeout,
        assay_agent::Outcome::OutputLimit => Outcome::OutputLimit,
        assay_agent::Outcome::SpawnFailed { why } => Outcome::SpawnFailed(why),
        assay_agent::Outcome::Failed { why } => Outcome::Failed(why),
        assay_agent::Outcome::Unintelligible { why } => Outcome::Unintelligible(why),
        limited @ assay_agent::Outcome::RateLimited { .. } => {
            Outcome::RateLimited(limited.to_string())
        }
    }
}

/// A session that waits for a person, and where that person finds it.
fn waits(event: &AgentEvent, place: &str) -> Option<String> {
    match event {
        AgentEvent::LeaveAsked { name, .. } => {
            let name = name.as_deref().unwrap_or("a tool");
            Some(format!("waits for somebody to allow or to answer {name}: {place}/console/"))
        }
        _ => None,
    }
}

/// What people see of an agent's doings: one line.
fn shown(event: &AgentEvent) -> Option<String> {
    let text = match event {
        AgentEvent::Text { text } | AgentEvent::Noise { text } => text.clone(),
        AgentEvent::ToolUse { name, detail, .. } => format!("{name} {detail}"),
        AgentEvent::Failed { message, .. } => format!("failed: {message}"),
        AgentEvent::Waiting { millis, attempt } => {
            format!("asked to come back later: attempt {attempt} in {} s", millis / 1000)
        }
        _ => return None,
    };
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(200).collect())
}
