//! Files that are folds of the record: for people and scripts, read by nobody here.

use super::campaign::Recorded;
use super::desk::Desk;
use crate::event::{Blocked, Issue, Terminal};
use crate::invariants::DeskPromises;
use crate::state::{Phase, State};
use assay_invariant::Registry;
use std::fmt::Write;
use std::path::Path;

/// The list of things to mend, as a Worker gets it.
pub fn fix_text(issues: &[Issue]) -> String {
    let mut text = String::from(
        "# Fix contract\nThe last claim did not hold. Mend these, in this order; change nothing \
         that none of them asks for.\n",
    );
    for issue in issues {
        let finding = &issue.finding;
        _ = writeln!(
            text,
            "- {} [{:?}] {}: {}",
            issue.id, finding.severity, finding.about, finding.text
        );
        if let Some(hint) = &finding.hint {
            let hint: Vec<String> = hint.lines().map(|line| format!("      {line}")).collect();
            _ = writeln!(text, "  (suggestion, non-authoritative)\n{}", hint.join("\n"));
        }
    }
    text
}

/// What a person needs to know when patching has to stop.
pub fn escalation(state: &State) -> String {
    let mut text = format!("# Escalation: {}\n", state.contract.slug);
    for (story, progress) in state.contract.stories.iter().zip(&state.stories) {
        if progress.attempts.is_empty() || progress.verified.is_some() {
            continue;
        }
        _ = writeln!(text, "\n## {}: {}\nWhat was tried and kept failing:", story.id, story.title);
        for attempt in &progress.attempts {
            _ = writeln!(text, "- {attempt}");
        }
        if !progress.issues.is_empty() {
            _ = write!(text, "\nThe last {}", fix_text(&progress.issues));
        }
    }
    let slug = &state.contract.slug;
    _ = write!(
        text,
        "\n## What to do\nNo further fix without a person: rearrange the code, simplify or split \
         the story. This campaign has ended; edit the contract, put its record aside with `assay \
         desk clean {slug}`, and begin again with `assay desk run {slug}`.\n",
    );
    text
}

/// Writes `status.json`, `invariants.prom`, `result.json` and, if it came to that, `escalation.md`.
pub(super) fn write(desk: &Desk, state: &State, events: &[Recorded]) -> std::io::Result<()> {
    let mut status = status(state, events);
    let home = desk.home();
    let text = |value: &serde_json::Value| format!("{value:#}\n");
    put(home, "status.json", &text(&status))?;
    // What this Leader checked before it wrote: a directory that Prometheus collects from will do.
    put(home, "invariants.prom", &DeskPromises::prometheus())?;
    let terminal = match &state.phase {
        Phase::Ended(terminal) => terminal,
        _ => return Ok(()),
    };
    status["result"] = serde_json::to_value(terminal).unwrap_or_default();
    put(home, "result.json", &text(&status))?;
    if let Terminal::Blocked { category: Blocked::Architecture | Blocked::RepeatAxis, .. } =
        terminal
    {
        put(home, "escalation.md", &escalation(state))?;
    }
    Ok(())
}

/// Writes a file that is whole at any time: a Leader may be killed, and scripts read along.
fn put(home: &Path, name: &str, text: &str) -> std::io::Result<()> {
    let new = home.join(format!("{name}.new"));
    std::fs::write(&new, text)?;
    std::fs::rename(new, home.join(name))
}

/// Where a campaign stands, for programs.
pub fn status(state: &State, events: &[Recorded]) -> serde_json::Value {
    let stories: Vec<_> = state
        .contract
        .stories
        .iter()
        .zip(&state.stories)
        .map(|(story, progress)| {
            serde_json::json!({
                "id": story.id, "title": story.title, "risk": story.risk,
                "criteria": story.criterion_ids(),
                "verified": progress.verified, "attempts": progress.attempts,
                "issues": progress.issues,
            })
        })
        .collect();
    let counters = &state.counters;
    serde_json::json!({
        "slug": state.contract.slug,
        "contract": state.contract.hash,
        "phase": phase(&state.phase),
        "iteration": state.iteration,
        "iterations": state.iterations_max(),
        "events": events.len(),
        "stories": stories,
        "counters": {
            "failures": counters.failures, "stale": counters.stale,
            "infrastructure": counters.infrastructure, "violations": counters.violations,
            "blocks": counters.blocks, "questions": counters.questions,
            "verdicts": counters.verdicts, "lost": counters.lost,
            "agent_ms": counters.agent_ms, "command_ms": counters.command_ms,
            "tokens": counters.tokens,
        },
        "updated_ms": events.last().map(|entry| entry.at_ms),
    })
}

/// The phase in a few words.
pub fn phase(phase: &Phase) -> String {
    match phase {
        Phase::Idle => "a Worker is next".to_string(),
        Phase::Out(dispatch, _) => {
            format!("{} is out for {}", dispatch.role.word(), dispatch.scope.name())
        }
        Phase::Gate(gate) => match gate.steps.get(gate.done) {
            Some(_) => format!("gate of {}", gate.scope.name()),
            None => format!("verification of {}", gate.scope.name()),
        },
        Phase::Fix(..) => "a fix contract is next".to_string(),
        Phase::Accept(gate) => format!("{} is shown", gate.scope.name()),
        Phase::Waiting(question, _) => format!("waiting for an answer: {question}"),
        Phase::Ending(terminal) | Phase::Ended(terminal) => terminal.word().to_string(),
    }
}
