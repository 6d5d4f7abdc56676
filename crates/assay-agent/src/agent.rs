//! The one trait, and agents that are processes.

use crate::backoff::Backoff;
use crate::config::{AgentConfig, Engine};
use crate::decode::{Claude, Codex, Plain, Scripted};
use crate::environment;
use crate::event::{AgentEvent, Usage};
use crate::keeper::{Helper, Plan, REPORT_NAME};
use crate::outcome::Outcome;
use crate::output::Written;
use crate::sandbox::Protection;
use crate::session::SessionAgent;
use crate::supervise::{Run, Talk, supervise};
use crate::task::Task;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// Something that can be asked to do a task.
pub trait Agent {
    /// Does a task once, with a fresh context; what it does comes as events while it does it. Never
    /// takes longer than the limits of the task allow, and leaves no process behind.
    fn run(&self, task: &Task, events: &mut dyn FnMut(AgentEvent)) -> Ran;
}

/// How a run went.
#[derive(Clone, PartialEq, Debug)]
pub struct Ran {
    /// How it ended.
    pub outcome: Outcome,
    /// What kept it from writing elsewhere.
    pub protection: Protection,
    /// What it cost, if it said so.
    pub usage: Option<Usage>,
    /// How much it wrote to its standard streams.
    pub output_bytes: u64,
    /// The end of its standard output. The rest is in `stdout.log` of the task's log directory.
    pub stdout_tail: String,
    /// The end of its standard error; `stderr.log`.
    pub stderr_tail: String,
    /// The end of its standard output, as much as the task keeps, byte by byte. No file that the
    /// run could have changed.
    pub stdout: Vec<u8>,
    /// The same of its standard error.
    pub stderr: Vec<u8>,
    /// Processes it had left running, which were ended.
    pub stragglers: u32,
    /// Whether nothing of it runs any more. A session may go on where its server cannot be asked.
    pub is_over: bool,
    /// How long it took.
    pub time: Duration,
}

/// The agent of a configuration; `helper` is this program, for those that are processes.
pub fn agent_of(config: AgentConfig, helper: Helper) -> Box<dyn Agent + Send + Sync> {
    match config.engine {
        Engine::Session(session) => Box::new(SessionAgent::new(session)),
        _ => Box::new(ProcessAgent::new(config, helper)),
    }
}

/// An agent that is a program on this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessAgent {
    config: AgentConfig,
    helper: Helper,
}

impl ProcessAgent {
    /// An agent of this configuration. `helper` is this program: see [`Helper::this_program`].
    pub fn new(config: AgentConfig, helper: Helper) -> ProcessAgent {
        ProcessAgent { config, helper }
    }

    fn try_run(&self, task: &Task, events: &mut dyn FnMut(AgentEvent)) -> io::Result<Run> {
        let takes_more_than_text = matches!(self.config.engine, Engine::Acp { .. });
        if !task.attachments.is_empty() && !takes_more_than_text {
            return Err(io::Error::other("this agent takes nothing but text"));
        }
        std::fs::create_dir_all(&task.drop_box)?;
        std::fs::create_dir_all(&task.log)?;
        let task = &Task {
            work: real(&task.work)?,
            drop_box: real(&task.drop_box)?,
            log: real(&task.log)?,
            ..task.clone()
        };
        // Nothing of an earlier run that was kept here.
        let temporary = task.log.join("tmp");
        absent(std::fs::remove_file(task.log.join(REPORT_NAME)))?;
        absent(std::fs::remove_dir_all(&temporary))?;
        std::fs::create_dir(&temporary)?;
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let writable = environment::writable(&self.config, task, &temporary, home.as_deref());
        let mut hidden = task.hidden.clone();
        hidden.shown.extend(writable.iter().cloned());
        let plan = Plan {
            parent: std::process::id(),
            argv: self.argv()?,
            writable,
            hidden,
            sandbox: task.sandbox,
            each: task.each,
        };
        plan.write(&task.log)?;
        let lookup = |name: &str| std::env::var_os(name);
        let mut keeper = Command::new(&self.helper.program);
        keeper
            .args(&self.helper.args)
            .arg("keep")
            .arg(&task.log)
            .current_dir(&task.work)
            .env_clear()
            .envs(environment::variables(&self.config, task, &temporary, lookup));
        let run = supervise(keeper, self.talk(), task, events);
        // An agent may leave what cannot be removed; how its run went is known all the same.
        let _left = std::fs::remove_dir_all(&temporary);
        run
    }

    fn argv(&self) -> io::Result<Vec<String>> {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let with_model = |flag: &str, model: &Option<String>| {
            model.iter().flat_map(|model| [flag.to_string(), model.clone()]).collect::<Vec<_>>()
        };
        Ok(match &self.config.engine {
            Engine::Claude { program, model, args } => {
                let fixed = words(&[program, "-p", "--output-format", "stream-json", "--verbose"]);
                [fixed, with_model("--model", model), args.clone()].concat()
            }
            Engine::Codex { program, model, args } => {
                let fixed = words(&[program, "exec", "--json"]);
                [fixed, with_model("--model", model), args.clone(), words(&["-"])].concat()
            }
            Engine::Acp { command } | Engine::Command { command } => command.clone(),
            Engine::Session(_) => {
                return Err(io::Error::other(
                    "a session is no program: `agent_of` makes its agent",
                ));
            }
            Engine::Scripted { script } => {
                let text = |path: &Path| {
                    let utf8 = path.to_str().map(str::to_string);
                    utf8.ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))
                };
                let program = vec![text(&self.helper.program)?];
                let script = text(&real(script)?)?;
                [program, self.helper.args.clone(), vec!["scripted".to_string(), script]].concat()
            }
        })
    }

    fn talk(&self) -> Talk {
        match &self.config.engine {
            Engine::Claude { .. } => Talk::Prompt(Box::new(Claude::default())),
            Engine::Codex { .. } => Talk::Prompt(Box::new(Codex::default())),
            Engine::Command { .. } => Talk::Prompt(Box::new(Plain)),
            Engine::Scripted { .. } => Talk::Silent(Box::new(Scripted)),
            Engine::Acp { .. } => Talk::Acp,
            // Not started: it has no arguments.
            Engine::Session(_) => Talk::Silent(Box::new(Plain)),
        }
    }
}

impl Agent for ProcessAgent {
    fn run(&self, task: &Task, events: &mut dyn FnMut(AgentEvent)) -> Ran {
        let start = Instant::now();
        let run = self.try_run(task, events).unwrap_or_else(|error| Run {
            outcome: Outcome::SpawnFailed { why: error.to_string() },
            protection: Protection::None { why: "it was not started".to_string() },
            usage: None,
            output_bytes: 0,
            stdout: Written::default(),
            stderr: Written::default(),
            stragglers: 0,
        });
        Ran {
            outcome: run.outcome,
            protection: run.protection,
            usage: run.usage,
            output_bytes: run.output_bytes,
            stdout_tail: run.stdout.tail,
            stderr_tail: run.stderr.tail,
            stdout: run.stdout.kept,
            stderr: run.stderr.kept,
            stragglers: run.stragglers,
            is_over: true,
            time: start.elapsed(),
        }
    }
}

/// What is not there is removed already.
fn absent(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The whole path, with links followed: the kernel's rules are about files, not names.
fn real(path: &Path) -> io::Result<PathBuf> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    path.canonicalize().map_err(named)
}

/// Runs an agent, and again if its service asked to come back later, as often and as late as the
/// back-off allows. Each further try has a log directory of its own, `again-2` and so on. Time and
/// usage are those of all tries; the waits between them are nobody's work.
pub fn run_patiently(
    agent: &dyn Agent,
    task: &Task,
    backoff: Backoff,
    events: &mut dyn FnMut(AgentEvent),
) -> Ran {
    let mut attempts = 0;
    let (mut time, mut usage) = (Duration::ZERO, None::<Usage>);
    loop {
        let log = match attempts {
            0 => task.log.clone(),
            before => task.log.join(format!("again-{}", before + 1)),
        };
        let mut ran = agent.run(&Task { log, ..task.clone() }, events);
        attempts += 1;
        time = time.saturating_add(ran.time);
        usage = match (usage, ran.usage) {
            (Some(before), Some(now)) => Some(before.and(now)),
            (before, now) => before.or(now),
        };
        (ran.time, ran.usage) = (time, usage);
        let Outcome::RateLimited { limit } = &ran.outcome else { return ran };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let Some(wait) = backoff.wait(attempts, limit.wait(now.as_secs())) else { return ran };
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        events(AgentEvent::Waiting { millis, attempt: attempts + 1 });
        std::thread::sleep(wait);
    }
}
