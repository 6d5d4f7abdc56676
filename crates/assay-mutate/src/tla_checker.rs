//! tla-checker, a checker from crates.io: the program `tla`.
//!
//! It explores past violations and says which were there, as JSON. What it leaves out of a module
//! because it cannot read it is only a warning there, and a refusal here: a property that was not
//! read was not checked. Sets of all numbers are not cut off at 100, as they are by default.

use crate::bounded::{Ended, Memory, Said, run};
use crate::engine::{Answer, CannotCheck, DEADLOCK, Engine, Limits, Question};
use crate::model::Model;
use crate::scratch::{ASKING, laid_out, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// States that are explored at most; the limit on time is usually met first.
const STATES_MAX: &str = "50000000";

/// tla-checker, by its program.
pub struct TlaChecker {
    program: PathBuf,
    version: OnceLock<String>,
}

impl TlaChecker {
    /// A program.
    pub fn new(program: PathBuf) -> TlaChecker {
        TlaChecker { program, version: OnceLock::new() }
    }

    fn start(
        &self,
        directory: &Path,
        configuration: &str,
        more: &[&str],
        limits: &Limits,
    ) -> Result<Run, CannotCheck> {
        let config = directory.join(format!("{ASKING}.cfg"));
        write(&config, configuration)?;
        let mut command = Command::new(&self.program);
        command
            .arg(format!("{ASKING}.tla"))
            .arg("--config")
            .arg(&config)
            .args(["--json", "--symbolic-integers", "--max-depth", STATES_MAX, "--max-states"])
            .arg(limits.states.map_or(STATES_MAX.to_string(), |most| most.to_string()))
            .args(more)
            .current_dir(directory);
        let said = run(command, "tla-checker", limits, Memory::Limited)?;
        self.understood(said, limits)
    }

    fn understood(&self, said: Said, limits: &Limits) -> Result<Run, CannotCheck> {
        let rejected = |why: String| CannotCheck::Rejected { engine: self.name(), why };
        // It goes on without what it cannot read.
        if let Some(line) = said.errors.lines().find(|line| line.contains("failed to parse")) {
            return Err(rejected(line.trim().to_string()));
        }
        let limit = match said.ended {
            Ended::Time => Some(format!("not done after {} s", limits.time.as_secs())),
            Ended::Output => Some(format!("printed more than {} bytes", limits.output_bytes)),
            Ended::Killed => Some(format!("was killed; {} MiB may be too few", limits.memory_mib)),
            Ended::Exit(_) => None,
        };
        if let Some(limit) = limit {
            return Ok(Run { status: "limit".to_string(), value: Value::Null, why: limit });
        }
        let json = said.output.lines().rev().find(|line| line.starts_with('{'));
        let value: Value =
            json.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let Some(status) = value["status"].as_str() else {
            let mut errors = said.errors.lines().filter(|line| line.contains("error"));
            let why = errors.next_back().unwrap_or("it printed no result").trim().to_string();
            return Err(rejected(why));
        };
        let why = value["error"].as_str().unwrap_or_default().replace('\n', " ");
        let unreadable = ["not assigned", "did not parse", "undefined", "unknown operator"];
        if unreadable.iter().any(|sign| why.contains(sign)) {
            return Err(rejected(why));
        }
        Ok(Run { status: status.to_string(), why, value })
    }
}

/// How one start ended.
struct Run {
    status: String,
    value: Value,
    why: String,
}

impl Run {
    /// The claims that were violated.
    fn violated(&self) -> BTreeSet<String> {
        let stats = &self.value["stats"];
        let lists = ["violations_by_invariant", "violations_by_property"];
        let all = lists.iter().filter_map(|list| stats[list].as_array()).flatten();
        let mut names: BTreeSet<String> =
            all.filter_map(|one| one["name"].as_str().map(str::to_string)).collect();
        let single =
            ["invariant_name", "property"].iter().filter_map(|key| self.value[key].as_str());
        names.extend(single.map(str::to_string));
        names
    }

    fn is_violation(&self) -> bool {
        self.status.ends_with("_violation")
    }

    fn is_limit(&self) -> bool {
        self.status == "limit" || self.status.ends_with("exceeded")
    }

    /// Whether it stopped at a limit on states that somebody gave.
    fn is_cut(&self, limits: &Limits) -> bool {
        limits.states.is_some() && self.status.ends_with("exceeded")
    }

    /// An end at which the claims are decided.
    fn is_whole(&self) -> bool {
        self.status == "ok" || self.is_violation()
    }

    fn count(&self, name: &str) -> u64 {
        self.value["stats"][name].as_u64().unwrap_or_default()
    }
}

/// The module that asks.
fn asking(model: &Model, question: &Question) -> String {
    let mut text = format!("---- MODULE {ASKING} ----\nEXTENDS {}\n", model.name);
    for (at, claim) in question.states.iter().enumerate() {
        let _ = writeln!(text, "AssayState{at} == ({})", claim.formula);
    }
    for (at, claim) in question.steps.iter().enumerate() {
        let _ = writeln!(text, "AssayStep{at} == [][{}]_{}", claim.action, claim.variables);
    }
    // A step that changes nothing is one, too: no state may allow it.
    for (at, claim) in question.never.iter().enumerate() {
        let _ = writeln!(text, "AssayNever{at} == ~ENABLED ({})", claim.formula);
    }
    text.push_str("====\n");
    text
}

/// The claims under the names they have in the asking module.
fn numbered(question: &Question) -> Vec<(&'static str, String, String)> {
    let states = question.states.iter().enumerate();
    let states = states.map(|(at, c)| ("INVARIANT", format!("AssayState{at}"), c.name.clone()));
    let steps = question.steps.iter().enumerate();
    let steps = steps.map(|(at, c)| ("PROPERTY", format!("AssayStep{at}"), c.name.clone()));
    let never = question.never.iter().enumerate();
    let never = never.map(|(at, c)| ("INVARIANT", format!("AssayNever{at}"), c.name.clone()));
    states.chain(steps).chain(never).collect()
}

impl Engine for TlaChecker {
    fn name(&self) -> String {
        let version = self.version.get_or_init(|| {
            let said = Command::new(&self.program).arg("--version").output();
            let text = said.map(|said| String::from_utf8_lossy(&said.stdout).to_string());
            text.ok()
                .and_then(|text| text.split_whitespace().last().map(str::to_string))
                .unwrap_or_else(|| "of unknown version".to_string())
        });
        format!("tla-checker {version}")
    }

    fn ask(
        &self,
        model: &Model,
        question: &Question,
        limits: &Limits,
    ) -> Result<Answer, CannotCheck> {
        let scratch = laid_out(model, &asking(model, question))?;
        let directory = scratch.path();
        let mut answer = Answer::default();
        self.claims(directory, model, question, limits, &mut answer)?;
        for name in &question.temporal {
            let configuration = model.configured(&format!("PROPERTY {name}\n"));
            let more = ["--check-liveness", "--allow-deadlock"];
            let run = self.start(directory, &configuration, &more, limits)?;
            match run.is_violation() {
                true => drop(answer.violated.insert(name.clone())),
                false if run.is_cut(limits) => answer.bounded = true,
                false if run.is_limit() => drop(answer.undecided.insert(name.clone())),
                false => {}
            }
        }
        let violated = answer.violated.clone();
        answer.undecided.retain(|name| !violated.contains(name));
        Ok(answer)
    }
}

impl TlaChecker {
    /// Claims of states and steps, and deadlocks.
    fn claims(
        &self,
        directory: &Path,
        model: &Model,
        question: &Question,
        limits: &Limits,
        answer: &mut Answer,
    ) -> Result<(), CannotCheck> {
        let claims = numbered(question);
        let all: BTreeSet<&String> = claims.iter().map(|(_, own, _)| own).collect();
        let configured = |wanted: &dyn Fn(&String) -> bool| {
            let wanted = claims.iter().filter(|(_, own, _)| wanted(own));
            let lines = wanted.map(|(section, own, _)| format!("{section} {own}\n"));
            model.configured(&lines.collect::<String>())
        };
        let whole = configured(&|own| all.contains(own));
        let mut more = vec!["--continue"];
        if !question.deadlock {
            more.push("--allow-deadlock");
        }
        let mut run = self.start(directory, &whole, &more, limits)?;
        if run.status == "deadlock" {
            answer.violated.insert(DEADLOCK.to_string());
            let more = ["--continue", "--allow-deadlock"];
            run = self.start(directory, &whole, &more, limits)?;
        }
        let mut seen = run.violated();
        // Stopped early, it does not say what it saw: the claims fall one after the other.
        while !run.is_whole() && seen.len() < claims.len() {
            let rest = configured(&|own| !seen.contains(own));
            let next = self.start(directory, &rest, &["--allow-deadlock"], limits)?;
            let fresh = next.violated();
            if fresh.is_subset(&seen) {
                break;
            }
            seen.extend(fresh);
        }
        let named =
            |(_, own, name): &(&str, String, String)| seen.contains(own).then(|| name.clone());
        answer.violated.extend(claims.iter().filter_map(named));
        answer.bounded |= run.is_cut(limits);
        if run.is_limit() && !answer.bounded {
            answer.undecided = question.names();
        }
        if !run.is_whole() && !answer.bounded {
            let why =
                if run.why.is_empty() { run.status.replace('_', " ") } else { run.why.clone() };
            answer.stopped = Some(why);
        }
        (answer.distinct, answer.steps) = (run.count("states_explored"), run.count("transitions"));
        Ok(())
    }
}
