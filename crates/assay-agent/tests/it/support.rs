//! Places and tasks for agents.

use assay_agent::{
    Agent, AgentConfig, AgentEvent, Engine, Helper, Limits, Outcome, ProcessAgent, Ran, Task,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A silence that is waited for: longer than it takes a busy machine to start a program and to hear
/// the first word of it.
pub const SILENCE: Duration = Duration::from_secs(5);

/// This program, which is a keeper and a player of scripts, too.
pub fn helper() -> Helper {
    Helper::this_program().expect("this program has a path")
}

/// This program, to be named in a configuration.
pub fn itself() -> String {
    helper().program.to_str().expect("a plain path").to_string()
}

/// A directory to work in, a drop box and a log.
pub struct Place {
    pub root: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let root = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(root.path().join("work")).expect("a directory");
        Place { root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A task that must not run into a limit.
    pub fn task(&self) -> Task {
        let limits = Limits { wall: PATIENCE, idle: PATIENCE, output_bytes: 64 << 20 };
        let (work, drop_box, log) = (self.path("work"), self.path("drop"), self.path("log"));
        Task::new("the prompt", &work, &drop_box, &log).limits(limits)
    }

    /// An agent that plays these actions.
    pub fn script(&self, actions: &str) -> ProcessAgent {
        self.steps(&format!("[[step]]\n{actions}"))
    }

    /// An agent that plays this script.
    pub fn steps(&self, text: &str) -> ProcessAgent {
        let script = self.path("script.toml");
        std::fs::write(&script, text).expect("ours");
        agent(Engine::Scripted { script })
    }
}

pub fn agent(engine: Engine) -> ProcessAgent {
    ProcessAgent::new(AgentConfig::of(engine), helper())
}

/// An agent that is a line of shell.
pub fn shell(line: &str) -> ProcessAgent {
    agent(Engine::Command { command: ["sh", "-c", line].map(str::to_string).to_vec() })
}

/// Runs, and keeps what happened.
pub fn run(agent: &dyn Agent, task: &Task) -> (Ran, Vec<AgentEvent>) {
    let mut events = Vec::new();
    let ran = agent.run(task, &mut |event| events.push(event));
    (ran, events)
}

#[track_caller]
pub fn assert_exited(ran: &Ran, code: i32) {
    let tails = (&ran.stdout_tail, &ran.stderr_tail);
    assert_eq!(ran.outcome, Outcome::Exited { code }, "{tails:?}");
}

#[track_caller]
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < until, "waited {PATIENCE:?} for: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Whether there is no such process, or only its remains.
pub fn is_gone(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
}

/// The number in a file.
pub fn pid_in(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

pub fn git(work: &Path, args: &[&str]) -> String {
    let output = Command::new("git").current_dir(work).args(args).output().expect("git");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_string()
}
