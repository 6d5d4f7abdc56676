//! What people see while a campaign runs: one line for each thing that was written down.

use crate::args::OutputFormat;
use assay_desk::event::{Event, Role, Step};
use assay_desk::shell::{Recorded, Screen};
use assay_desk::state::State;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often an agent's doings may change the screen.
const ACTIVITY_EVERY: Duration = Duration::from_millis(500);

/// Lines on standard output.
pub(super) struct Lines {
    format: OutputFormat,
    begun: Instant,
    last: Option<Instant>,
    live: bool,
    drawn: bool,
}

impl Lines {
    /// For people or for programs.
    pub(super) fn new(format: OutputFormat) -> Lines {
        let live = format == OutputFormat::Human && std::io::stderr().is_terminal();
        Lines { format, begun: Instant::now(), last: None, live, drawn: false }
    }

    /// Says that a campaign goes on, and what protects this run of it. Programs read events on
    /// standard output, and this is none.
    pub(super) fn goes_on(&mut self, slug: &str, protection: &str) {
        match self.format {
            OutputFormat::Json => anstream::eprintln!("goes on   {slug}; {protection}"),
            OutputFormat::Human => {
                let elapsed = self.begun.elapsed().as_secs_f64();
                anstream::println!("{elapsed:>7.1}s  goes on   {slug}; {protection}");
            }
        }
    }

    fn wipe(&mut self) {
        if std::mem::take(&mut self.drawn) {
            anstream::eprint!("\r\x1b[2K");
        }
    }
}

impl Screen for Lines {
    fn recorded(&mut self, entry: &Recorded, state: &State) {
        self.wipe();
        match self.format {
            OutputFormat::Json => {
                let line = serde_json::json!({
                    "seq": entry.seq, "at_ms": entry.at_ms, "event": entry.event,
                });
                anstream::println!("{line}");
            }
            OutputFormat::Human => {
                let elapsed = self.begun.elapsed().as_secs_f64();
                anstream::println!("{elapsed:>7.1}s  {}", line(entry, state));
            }
        }
        // Whoever follows this wants to know it now.
        _ = std::io::stdout().flush();
    }

    fn activity(&mut self, text: &str) {
        if !self.live || self.last.is_some_and(|last| last.elapsed() < ACTIVITY_EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        self.wipe();
        let text: String = text.chars().take(80).collect();
        anstream::eprint!("         … {text}");
        self.drawn = true;
        _ = std::io::stderr().flush();
    }

    /// Never left out: nothing goes on before somebody has read it.
    fn waits(&mut self, text: &str) {
        self.wipe();
        match self.format {
            OutputFormat::Json => anstream::eprintln!("waits     {text}"),
            OutputFormat::Human => {
                let elapsed = self.begun.elapsed().as_secs_f64();
                anstream::println!("{elapsed:>7.1}s  waits     {text}");
            }
        }
        _ = std::io::stdout().flush();
    }
}

/// An event in a line.
pub(super) fn line(entry: &Recorded, state: &State) -> String {
    match &entry.event {
        Event::Opened(opened) => format!(
            "begun     {} at {}; contract {}; {}",
            opened.contract.slug,
            short(&opened.base.commit),
            short(&opened.contract.hash),
            opened.sandbox
        ),
        Event::Amended(amended) => {
            let hash = short(&amended.contract.hash);
            format!("amended   by {}: {} (contract {hash})", amended.who, amended.why)
        }
        Event::Dispatched(dispatch) => format!(
            "{:<9} {} iteration {}/{}: {} sent out",
            dispatch.role.word(),
            dispatch.scope.name(),
            dispatch.iteration,
            state.iterations_max(),
            dispatch.engine
        ),
        Event::Returned(returned) => {
            let what = match &returned.artifact {
                assay_desk::artifact::Artifact::Signal(signal) => {
                    format!("says {:?}", signal.status).to_lowercase()
                }
                assay_desk::artifact::Artifact::Verdict(_) => "gives a verdict".to_string(),
                assay_desk::artifact::Artifact::Missing => "left no artifact".to_string(),
                assay_desk::artifact::Artifact::Rejected(why) => {
                    format!("artifact rejected: {why}")
                }
            };
            let void = returned.void.as_ref().map_or(String::new(), |v| format!("; void: {v}"));
            let tampered = returned.tampered.first();
            let tampered = tampered.map_or(String::new(), |t| format!("; TAMPERED: {t}"));
            let others = returned.elsewhere.first();
            let others = others.map_or(String::new(), |t| format!("; by somebody else {t}"));
            let seconds = returned.ms / 1000;
            format!(
                "returned  {:?} after {seconds} s, {what}{void}{tampered}{others}",
                returned.outcome
            )
        }
        Event::Lost { run } => format!("lost      run {run}: the Leader died meanwhile"),
        Event::Checked(checked) => {
            let word = if checked.passed() { "ok" } else { "FAILED" };
            let first = checked.findings.iter().find(|finding| finding.blocks());
            let why = checked.refuted.as_ref().map(|why| format!("verdict refuted: {why}"));
            let tampered = checked.tampered.first().map(|t| format!("TAMPERED: {t}"));
            let why = tampered.or(checked.stuck.clone()).or(why);
            let why = why.or(first.map(|finding| finding.text.clone()));
            let note = why.unwrap_or_else(|| checked.note.clone());
            format!("{:<9} {} {}: {note}", word, checked.scope.name(), step(&checked.step))
        }
        Event::Verified { story, at } => format!("VERIFIED  {story} at {}", short(&at.commit)),
        Event::FixIssued { story, issues } => {
            format!("fix       {story}: {} issues for the next Worker", issues.len())
        }
        Event::Answered { who, text } => format!("answered  {who}: {text}"),
        Event::Ended(terminal) => format!("{}  {}", terminal.word(), terminal.reason()),
    }
}

fn step(step: &Step) -> String {
    match step {
        Step::Claim => "claim".to_string(),
        Step::Scope => "scope lock".to_string(),
        Step::Gaming => "anti-gaming".to_string(),
        Step::Command(name) => name.clone(),
        Step::Suite => "suite".to_string(),
        Step::Kept => "tests from before".to_string(),
        Step::Tests(story) => format!("GREEN and listing of {story}"),
        Step::Sabotage => "sabotage".to_string(),
        Step::Red => "RED".to_string(),
        Step::Mutation => "mutation".to_string(),
        Step::Citations(Role::Second) => "citations of the second Verifier".to_string(),
        Step::Citations(_) => "citations".to_string(),
    }
}

pub(super) fn short(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}
