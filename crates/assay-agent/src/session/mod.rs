//! An agent that is a session of `assay serve` on this machine.
//!
//! The server runs the agent, keeps what it does durable, and lends it the directory and the drop
//! box of the [`Task`] (`--lend`). What is done here: a session is begun under a name that only
//! this task has, so that whoever asks again, even another process, finds the same one; its events
//! are followed through lost connections and restarts; its limits are held. When that is over the
//! session is archived: it can be read, and takes no more messages.
//!
//! *Believes* the server how the session stands, and nothing else: what was made is judged by
//! whoever reads the drop box.

mod follow;
mod http;
mod watch;

use crate::agent::{Agent, Ran};
use crate::config::SessionConfig;
use crate::event::AgentEvent;
use crate::outcome::Outcome;
use crate::output::{Log, Written};
use crate::sandbox::Protection;
use crate::task::Task;
use follow::{Followed, Follower};
use http::Line;
use serde_json::{Map, Value, json};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Variables that are noted with the session, for people.
const NOTED: [&str; 5] = ["campaign", "story", "role", "iteration", "run"];
/// The longest prompt: the most that an event of a session may have, less what stands around it.
const PROMPT_BYTES_MAX: usize = 60 * 1024;
/// Where a repository says from which others it borrows objects.
const ALTERNATES: &str = ".git/objects/info/alternates";
/// Of such a file, and how many of them a session is lent.
const ALTERNATES_BYTES_MAX: u64 = 64 << 10;
const ALTERNATES_MAX: usize = 8;

/// An agent that is a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionAgent {
    config: SessionConfig,
}

impl SessionAgent {
    /// Sessions of this configuration.
    pub fn new(config: SessionConfig) -> SessionAgent {
        SessionAgent { config }
    }

    fn try_run(&self, task: &Task, say: &mut dyn FnMut(AgentEvent)) -> Result<Followed, Refused> {
        let key = std::env::var(&self.config.key).map_err(|_| {
            format!(
                "the variable {} is not set; it has to have a key of the server",
                self.config.key
            )
        })?;
        if !task.attachments.is_empty() {
            return Err("a session of a task takes nothing but text".to_string().into());
        }
        let made = |path: &Path| {
            let made = std::fs::create_dir_all(path).and_then(|()| path.canonicalize());
            made.map_err(|error| format!("{}: {error}", path.display()))
        };
        let task = &Task {
            work: made(&task.work)?,
            drop_box: made(&task.drop_box)?,
            log: made(&task.log)?,
            ..task.clone()
        };
        let log = Log::create(&task.log.join("stdout.log"), task.kept_bytes);
        let log = log.map_err(|error| format!("{}: {error}", task.log.display()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("no runtime: {error}"))?;
        let body = wish(&self.config, task)?;
        let line = Line::new(&self.config.url, key).map_err(|why| why.to_string())?;
        runtime.block_on(Follower::new(line, task, log, say).run(&name(task), &body))
    }
}

/// Why there is no session, and whether that is certain.
pub(crate) struct Refused {
    why: String,
    /// Its answer was lost: it may be there all the same.
    may_be_there: bool,
}

impl From<String> for Refused {
    fn from(why: String) -> Refused {
        Refused { why, may_be_there: false }
    }
}

impl Agent for SessionAgent {
    fn run(&self, task: &Task, events: &mut dyn FnMut(AgentEvent)) -> Ran {
        let start = Instant::now();
        let followed = self.try_run(task, events).unwrap_or_else(|refused| Followed {
            outcome: Outcome::SpawnFailed { why: refused.why },
            usage: None,
            output_bytes: 0,
            written: Written::default(),
            is_over: !refused.may_be_there,
        });
        let who = format!("assay serve at {}", self.config.url);
        Ran {
            outcome: followed.outcome,
            protection: Protection::Server { who },
            usage: followed.usage,
            output_bytes: followed.output_bytes,
            stdout_tail: followed.written.tail,
            stderr_tail: String::new(),
            stdout: followed.written.kept,
            stderr: Vec::new(),
            stragglers: 0,
            is_over: followed.is_over,
            time: start.elapsed(),
        }
    }
}

/// What the session of a task is called, and nothing else ever: its nonce is nobody else's.
fn name(task: &Task) -> String {
    let nonce = task.variables.get("nonce").cloned();
    let random = || format!("{:016x}{:016x}", RandomState::new().hash_one(0), std::process::id());
    format!("assay-task-{}", nonce.unwrap_or_else(random))
}

/// The request that begins it, byte by byte the same for the same task.
fn wish(config: &SessionConfig, task: &Task) -> Result<Value, String> {
    let prompt = format!("{}{}", task.prompt, places(task));
    if prompt.len() > PROMPT_BYTES_MAX {
        let bytes = prompt.len();
        return Err(format!(
            "a prompt for a session has at most {PROMPT_BYTES_MAX} bytes, not {bytes}"
        ));
    }
    let known = |name: &&str| Some((name.to_string(), task.variables.get(*name)?.clone().into()));
    let metadata: Map<String, Value> = NOTED.iter().filter_map(known).collect();
    let words = ["campaign", "story", "role"].map(|name| task.variables.get(name));
    let title: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
    let readable = borrowed(&task.work);
    let readable = readable.iter().map(|path| text(path)).collect::<Result<Vec<_>, _>>()?;
    let content = json!([{"type": "text", "text": prompt}]);
    let mut wish = json!({
        "agent": config.agent,
        "environment_id": config.environment,
        "metadata": metadata,
        "initial_events": [{"type": "user.message", "content": content}],
        "workspace": {
            "type": "lent",
            "path": text(&task.work)?,
            "outputs": text(&task.drop_box)?,
            "readable": readable,
            "variables": task.variables,
        },
    });
    if !title.is_empty() {
        wish["title"] = title.join(" ").into();
    }
    Ok(wish)
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{}: a path of a session has to be UTF-8", path.display()))
}

/// Where the files are for tools that know them by other names.
fn places(task: &Task) -> String {
    format!(
        "\n# Where files are\nThe working tree is {}. Tools that take only paths below /workspace \
         know it as that, and the drop box {} as /mnt/session/outputs.\n",
        task.work.display(),
        task.drop_box.display()
    )
}

/// The objects that the repository in a directory borrows: without them no git works there.
fn borrowed(work: &Path) -> Vec<PathBuf> {
    let path = work.join(ALTERNATES);
    let is_short = |path: &PathBuf| {
        let facts = std::fs::symlink_metadata(path);
        facts.is_ok_and(|facts| facts.is_file() && facts.len() <= ALTERNATES_BYTES_MAX)
    };
    let read = Some(path).filter(is_short).and_then(|path| std::fs::read_to_string(path).ok());
    let lines = read.unwrap_or_default();
    let there = lines.lines().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_dir());
    there.take(ALTERNATES_MAX).collect()
}

/// The time that something may still take.
fn left(limit: Duration, since: Instant) -> Duration {
    limit.saturating_sub(since.elapsed())
}
