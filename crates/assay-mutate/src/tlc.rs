//! TLC, the checker of the TLA+ tools: a jar for Java.
//!
//! TLC stops at the first violation and does not say which property of behaviours is violated. So
//! each claim becomes a formula that is always true and says once that it was not (`TLCSet`,
//! `PrintT`): one exploration answers all of them. Configurations are written anew, without
//! `CHECK_DEADLOCK`, which older versions do not know.
//!
//! A limit on states is a constraint of the model. With one worker states are found in the same
//! order each time, so the same states are cut off. What is cut off is no behaviour: a property of
//! behaviours can be missed there, and is never violated by the cut.

use crate::bounded::{Ended, Memory, run};
use crate::engine::{Answer, CannotCheck, DEADLOCK, Engine, Limits, Question};
use crate::model::Model;
use crate::scratch::{ASKING, laid_out, write};
use crate::tlc_messages::{Printed, codes, read};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The first register of TLC that is used; modules use small ones, if any.
const REGISTER_FIRST: usize = 910_000;

/// TLC, by its jar.
pub struct Tlc {
    jar: PathBuf,
    java: PathBuf,
    version: OnceLock<String>,
}

impl Tlc {
    /// TLC of a jar.
    pub fn new(jar: PathBuf, java: PathBuf) -> Tlc {
        Tlc { jar, java, version: OnceLock::new() }
    }

    fn start(&self, directory: &Path, ask: &Ask<'_>, limits: &Limits) -> Result<Run, CannotCheck> {
        let config = directory.join(format!("{ASKING}.cfg"));
        write(&config, &ask.configuration())?;
        let mut command = Command::new(&self.java);
        command
            .args(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"])
            .arg(format!("-Xmx{}m", limits.memory_mib))
            .arg(format!("-Djava.io.tmpdir={}", directory.display()))
            .arg("-cp")
            .arg(&self.jar)
            .args(["tlc2.TLC", "-tool", "-workers", "1", "-metadir"])
            .arg(directory.join("meta"))
            .arg("-config")
            .arg(&config);
        if !ask.deadlock {
            command.arg("-deadlock");
        }
        command.arg(format!("{ASKING}.tla")).current_dir(directory);
        let said = run(command, "TLC", limits, Memory::Own)?;
        let printed = read(&said.output);
        if let Some(version) = printed.version() {
            // Another thread may have been first.
            let _known = self.version.set(version);
        } else if said.ended != Ended::Time {
            let why = format!("no version; {}", first_line(&said.errors));
            return Err(CannotCheck::Babble {
                engine: format!("TLC ({})", self.jar.display()),
                why,
            });
        }
        Ok(Run { seen: seen(&printed), printed, ended: said.ended })
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("it printed nothing")
}

/// The numbers of claims that were seen to be false.
fn seen(printed: &Printed) -> BTreeSet<usize> {
    let number =
        |line: &String| line.trim().strip_prefix("<<\"assay\", ")?.strip_suffix(">>")?.parse().ok();
    printed.lines.iter().filter_map(number).collect()
}

/// What one start of TLC is to look for.
#[derive(Clone)]
struct Ask<'a> {
    model: &'a Model,
    question: &'a Question,
    claims: bool,
    temporal: Vec<&'a str>,
    deadlock: bool,
    states_max: Option<u64>,
}

impl Ask<'_> {
    fn configuration(&self) -> String {
        let mut more = String::new();
        if self.claims {
            for at in 0..self.question.states.len() {
                let _ = writeln!(more, "INVARIANT AssayState{at}");
            }
            for at in 0..self.question.steps.len() {
                let _ = writeln!(more, "ACTION_CONSTRAINT AssayStep{at}");
            }
            for at in 0..self.question.never.len() {
                let _ = writeln!(more, "ACTION_CONSTRAINT AssayNever{at}");
            }
        }
        if self.states_max.is_some() {
            more.push_str("CONSTRAINT AssayFew\n");
        }
        for name in &self.temporal {
            let _ = writeln!(more, "PROPERTY {name}");
        }
        self.model.configured(&more)
    }
}

struct Run {
    printed: Printed,
    seen: BTreeSet<usize>,
    ended: Ended,
}

impl Run {
    fn said(&self, code: u32) -> bool {
        self.printed.last(code).is_some()
    }

    fn temporal(&self) -> bool {
        self.said(codes::TEMPORAL)
            || self.printed.errors().any(|error| codes::VIOLATED.contains(&error.code))
    }

    /// Whether a limit kept it from an end.
    fn limit(&self, limits: &Limits) -> Option<String> {
        let out_of_memory = self.printed.errors().any(|e| codes::MEMORY.contains(&e.code));
        match self.ended {
            Ended::Time => Some(format!("not done after {} s", limits.time.as_secs())),
            Ended::Output => Some(format!("printed more than {} bytes", limits.output_bytes)),
            Ended::Killed => Some("was killed".to_string()),
            Ended::Exit(_) if out_of_memory => {
                Some(format!("needs more than {} MiB", limits.memory_mib))
            }
            Ended::Exit(_) => None,
        }
    }
}

/// The module that asks: claims that are true and say once that they were not.
fn asking(model: &Model, question: &Question, states_max: Option<u64>) -> String {
    let mut text = format!("---- MODULE {ASKING} ----\nEXTENDS {}\n", model.name);
    text.push_str("AssayTLC == INSTANCE TLC\n");
    if let Some(most) = states_max {
        let _ = writeln!(text, "AssayFew == AssayTLC!TLCGet(\"distinct\") < {most}");
    }
    let told = |number: usize| {
        let register = REGISTER_FIRST + number;
        format!(
            "\\/ AssayTLC!TLCGet({register}) = 1 \\/ (AssayTLC!TLCSet({register}, 1) \
             /\\ AssayTLC!PrintT(<<\"assay\", {number}>>))\n"
        )
    };
    for (at, claim) in question.states.iter().enumerate() {
        let _ = writeln!(text, "AssayState{at} == ({}) {}", claim.formula, told(at));
    }
    for (at, claim) in question.steps.iter().enumerate() {
        let number = question.states.len() + at;
        let formula = format!("[{}]_{}", claim.action, claim.variables);
        let _ = writeln!(text, "AssayStep{at} == ({formula}) {}", told(number));
    }
    let before = question.states.len() + question.steps.len();
    for (at, claim) in question.never.iter().enumerate() {
        let formula = &claim.formula;
        let _ = writeln!(text, "AssayNever{at} == (~({formula})) {}", told(before + at));
    }
    for number in 0..before + question.never.len() {
        let _ = writeln!(text, "ASSUME AssayTLC!TLCSet({}, 0)", REGISTER_FIRST + number);
    }
    text.push_str("====\n");
    text
}

impl Engine for Tlc {
    fn name(&self) -> String {
        format!("TLC {}", self.version.get().map_or("of unknown version", String::as_str))
    }

    fn ask(
        &self,
        model: &Model,
        question: &Question,
        limits: &Limits,
    ) -> Result<Answer, CannotCheck> {
        let scratch = laid_out(model, &asking(model, question, limits.states))?;
        let directory = scratch.path();
        let temporal: Vec<&str> = question.temporal.iter().map(String::as_str).collect();
        let (deadlock, states_max) = (question.deadlock, limits.states);
        let mut ask = Ask { model, question, claims: true, temporal, deadlock, states_max };
        let mut answer = Answer::default();
        let mut run = self.start(directory, &ask, limits)?;
        if run.said(codes::DEADLOCK) {
            answer.violated.insert(DEADLOCK.to_string());
            ask.deadlock = false;
            run = self.start(directory, &ask, limits)?;
        }
        let mut undecided_temporal = BTreeSet::new();
        if run.temporal() {
            match ask.temporal[..] {
                [only] => drop(answer.violated.insert(only.to_string())),
                _ => {
                    self.one_by_one(directory, &ask, limits, &mut answer, &mut undecided_temporal)?
                }
            }
            // It may have stopped before it saw everything.
            if run.printed.states().is_none_or(|(_, _, left)| left > 0) {
                ask.temporal.clear();
                run = self.start(directory, &ask, limits)?;
            }
        }
        self.conclude(&run, question, limits, &mut answer)?;
        answer.undecided.extend(undecided_temporal);
        let violated = answer.violated.clone();
        answer.undecided.retain(|name| !violated.contains(name));
        Ok(answer)
    }
}

impl Tlc {
    /// Which of several properties of behaviours are violated.
    fn one_by_one(
        &self,
        directory: &Path,
        ask: &Ask<'_>,
        limits: &Limits,
        answer: &mut Answer,
        undecided: &mut BTreeSet<String>,
    ) -> Result<(), CannotCheck> {
        for name in &ask.temporal {
            let one = Ask { claims: false, temporal: vec![name], ..ask.clone() };
            let run = self.start(directory, &one, limits)?;
            if run.temporal() {
                answer.violated.insert((*name).to_string());
            } else if run.limit(limits).is_some() {
                undecided.insert((*name).to_string());
            }
        }
        Ok(())
    }

    fn conclude(
        &self,
        run: &Run,
        question: &Question,
        limits: &Limits,
        answer: &mut Answer,
    ) -> Result<(), CannotCheck> {
        let names: Vec<&String> = question
            .states
            .iter()
            .map(|claim| &claim.name)
            .chain(question.steps.iter().map(|claim| &claim.name))
            .chain(question.never.iter().map(|claim| &claim.name))
            .collect();
        let violated = run.seen.iter().filter_map(|number| names.get(*number));
        answer.violated.extend(violated.map(|name| (*name).clone()));
        let rejected = |why: String| CannotCheck::Rejected { engine: self.name(), why };
        if let Some(limit) = run.limit(limits) {
            answer.undecided = question.names();
            answer.stopped = Some(limit);
            return Ok(());
        }
        let incomplete = codes::NOT_SPECIFIED.iter().find_map(|code| run.printed.last(*code));
        if let Some(incomplete) = incomplete {
            return Err(rejected(first_line(&incomplete.text).to_string()));
        }
        if !run.said(codes::EXPLORING) {
            return Err(rejected(run.printed.complaint()));
        }
        let mut other = run.printed.errors().filter(|error| {
            error.code != codes::TEMPORAL
                && error.code != codes::DEADLOCK
                && !codes::VIOLATED.contains(&error.code)
        });
        answer.stopped = other.next().map(|error| first_line(&error.text).to_string());
        match run.printed.states() {
            Some((steps, distinct, _)) => {
                (answer.steps, answer.distinct) = (steps, distinct);
                answer.bounded = limits.states.is_some_and(|most| distinct >= most);
            }
            None if answer.stopped.is_none() => {
                let why = "no count of states".to_string();
                return Err(CannotCheck::Babble { engine: self.name(), why });
            }
            None => {}
        }
        Ok(())
    }
}
