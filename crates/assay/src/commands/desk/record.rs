//! `assay desk status`, `log`, `report`, `verify` and `list`: what the record says.

use super::super::{Trouble, write_whole};
use super::screen::line;
use super::{campaign_trouble, desk, git, missing};
use crate::args::OutputFormat;
use crate::exit::Exit;
use assay_desk::event::Event;
use assay_desk::shell::{self, Campaign, CampaignError, Desk, Recorded, fold};
use assay_desk::state::{Phase, State};
use assay_ledger::{LedgerError, Reader, Seal};
use std::path::Path;

/// Reads a record that somebody may be writing.
pub(in crate::commands) fn read(desk: &Desk) -> Result<(Vec<Recorded>, State, Reader), Trouble> {
    let none = || missing(format!("{}: nothing was begun: `assay desk run`", desk.slug));
    if !desk.ledger().exists() {
        return Err(none());
    }
    let trouble = |error: LedgerError| campaign_trouble(error.into());
    let mut reader = Reader::open(&desk.ledger()).map_err(trouble)?;
    let entries = reader.more().map_err(trouble)?;
    let (events, state) = fold(&entries).map_err(campaign_trouble)?;
    Ok((events, state.ok_or_else(none)?, reader))
}

/// Where a campaign stands.
pub(super) fn status(slug: &str, format: OutputFormat) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    let (events, state, _) = read(&desk)?;
    if format == OutputFormat::Json {
        anstream::println!("{}", shell::status(&state, &events));
        return Ok(Exit::Upheld);
    }
    anstream::println!("{}  {slug}", shell::phase(&state.phase));
    if let Phase::Ended(terminal) = &state.phase {
        anstream::println!("         {}", terminal.reason());
    }
    let limits = &state.contract.settings.limits;
    let counters = &state.counters;
    anstream::println!(
        "         iteration {} of {}, {} events; failures {}/{}, stale {}/{}, verdicts {}/{}",
        state.iteration,
        state.iterations_max(),
        events.len(),
        counters.failures,
        limits.failures,
        counters.stale,
        limits.stale,
        counters.verdicts,
        limits.verdicts,
    );
    for (story, progress) in state.contract.stories.iter().zip(&state.stories) {
        let word = match (&progress.verified, progress.issues.len()) {
            (Some(at), _) => format!("verified at {}", super::screen::short(&at.commit)),
            (None, 0) => "open".to_string(),
            (None, issues) => format!("open, {issues} issues to mend"),
        };
        anstream::println!("{}  {:<40} {word}", story.id, story.title);
    }
    anstream::println!("next     assay desk log {slug}; assay desk run {slug}");
    Ok(Exit::Upheld)
}

/// Events, or one of them in full.
pub(super) fn log(slug: &str, number: Option<u64>, format: OutputFormat) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    let (events, state, reader) = read(&desk)?;
    let Some(number) = number else {
        for entry in &events {
            match format {
                OutputFormat::Json => anstream::println!("{}", as_json(entry)),
                OutputFormat::Human => {
                    anstream::println!("{:>5}  {}", entry.seq, line(entry, &state));
                }
            }
        }
        return Ok(Exit::Upheld);
    };
    let Some(entry) = events.iter().find(|entry| entry.seq == number) else {
        let message = format!("{slug} has {} events, no number {number}", events.len());
        return Err(Trouble { message, exit: Exit::Usage });
    };
    anstream::println!("{:#}", as_json(entry));
    if format == OutputFormat::Human {
        for (name, sha) in blobs(&entry.event) {
            let bytes = sha.parse().ok().and_then(|digest| reader.blob(digest).ok());
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            anstream::println!("--- {name} {sha}\n{}", text.unwrap_or_default());
        }
    }
    Ok(Exit::Upheld)
}

fn as_json(entry: &Recorded) -> serde_json::Value {
    serde_json::json!({ "seq": entry.seq, "at_ms": entry.at_ms, "event": entry.event })
}

/// The evidence an event names.
fn blobs(event: &Event) -> Vec<(&'static str, String)> {
    match event {
        Event::Opened(opened) => vec![("contract", opened.source.clone())],
        Event::Amended(amended) => vec![("contract", amended.source.clone())],
        Event::Dispatched(dispatch) => vec![("prompt", dispatch.prompt.clone())],
        Event::Returned(returned) => vec![("output", returned.output.clone())],
        Event::Checked(checked) => checked
            .evidence
            .iter()
            .flat_map(|e| [("stdout", e.stdout.clone()), ("stderr", e.stderr.clone())])
            .collect(),
        _ => Vec::new(),
    }
}

/// The report as a page.
pub(in crate::commands) fn page(desk: &Desk) -> Result<String, Trouble> {
    let (state, text) = written(desk)?;
    Ok(assay_desk::report::html(&state, &text))
}

/// The report as Markdown, with the state it is about.
fn written(desk: &Desk) -> Result<(State, String), Trouble> {
    let (events, state, _) = read(desk)?;
    let stat = desk.git.stat(&state.base.commit, &state.tip.commit).unwrap_or_default();
    let text = assay_desk::report::markdown(&state, &events, &stat);
    Ok((state, text))
}

/// Writes the report.
pub(super) fn report(
    slug: &str,
    html: Option<&Path>,
    markdown: Option<&Path>,
    format: OutputFormat,
) -> Result<Exit, Trouble> {
    let (state, text) = written(&desk(slug)?)?;
    let mut files = Vec::new();
    if let Some(path) = markdown {
        write_whole(path, |file| file.write_all(text.as_bytes()))?;
        files.push(path.display().to_string());
    }
    if let Some(path) = html {
        let page = assay_desk::report::html(&state, &text);
        write_whole(path, |file| file.write_all(page.as_bytes()))?;
        files.push(path.display().to_string());
    }
    match format {
        OutputFormat::Json => {
            let printed = files.is_empty().then_some(text);
            let phase = shell::phase(&state.phase);
            let value = serde_json::json!({
                "slug": slug, "phase": phase, "written": files, "markdown": printed,
            });
            anstream::println!("{value}");
        }
        OutputFormat::Human if files.is_empty() => anstream::print!("{text}"),
        OutputFormat::Human => {
            for file in files {
                anstream::println!("written  {file}");
            }
        }
    }
    Ok(Exit::Upheld)
}

/// Checks the record.
pub(super) fn verify(slug: &str, format: OutputFormat) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    if !desk.ledger().exists() {
        return Err(missing(format!("{slug}: nothing was begun")));
    }
    let audit = match shell::audit(&desk.ledger()) {
        Ok(audit) => audit,
        // What cannot be looked at is not broken for that.
        Err(error) if !is_broken(&error) => {
            let message = format!("{slug}: {error}");
            return Err(Trouble { message, exit: Exit::MissingCapability });
        }
        Err(error) => {
            if format == OutputFormat::Json {
                let value = serde_json::json!({ "holds": false, "wrong": [error.to_string()] });
                anstream::println!("{value}");
            } else {
                anstream::println!("BROKEN   {slug}: {error}");
            }
            return Ok(Exit::Refuted);
        }
    };
    let holds = audit.wrong.is_empty();
    let seal = match audit.sealed {
        true => Sealed::Before,
        false if holds && sealed_now(&desk) => Sealed::Now,
        false => Sealed::No,
    };
    if format == OutputFormat::Json {
        let value = serde_json::json!({
            "holds": holds, "events": audit.events, "blobs": audit.blobs, "head": audit.head,
            "sealed": audit.sealed, "sealed_now": seal == Sealed::Now,
            "recomputed": audit.recomputed,
            "terminal": audit.terminal, "wrong": audit.wrong,
        });
        anstream::println!("{value}");
    } else {
        let word = if holds { "HOLDS" } else { "BROKEN" };
        let end = audit.terminal.as_ref().map_or("not ended", |terminal| terminal.word());
        anstream::println!("{word}    {slug}: {end}");
        anstream::println!(
            "         {} events in the chain, {} blobs hashed, {} results computed again",
            audit.events,
            audit.blobs,
            audit.recomputed
        );
        anstream::println!("         {}", covered(seal));
        for wrong in &audit.wrong {
            anstream::println!("         {wrong}");
        }
        anstream::println!("head     {}", audit.head);
    }
    Ok(if holds { Exit::Upheld } else { Exit::Refuted })
}

/// Whether a record was looked at and is not what was written.
fn is_broken(error: &CampaignError) -> bool {
    match error {
        CampaignError::Ledger(error) => matches!(error, LedgerError::Broken { .. }),
        CampaignError::Unreadable { .. }
        | CampaignError::Impossible { .. }
        | CampaignError::Broken { .. } => true,
        CampaignError::Lock(_) => false,
    }
}

/// Whether every byte of a record counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sealed {
    /// The last Leader sealed it, and nothing was changed since.
    Before,
    /// It was killed; what it left holds, and was sealed after that was found.
    Now,
    /// A Leader runs, or it cannot be written here.
    No,
}

/// Seals what a killed Leader left, if nobody leads. Whoever opens a record checks chain and
/// evidence under the lock, and seals it by closing it; where that cannot be, it stays as it is.
fn sealed_now(desk: &Desk) -> bool {
    let opened = Campaign::open(desk).map(drop);
    opened.is_ok() && assay_ledger::verify(&desk.ledger()).is_ok_and(|v| v.seal == Seal::Whole)
}

/// What was compared.
fn covered(seal: Sealed) -> &'static str {
    match seal {
        Sealed::Before => "every byte is what the last Leader left",
        Sealed::Now => {
            "it was not sealed (a Leader was killed): what the events say was checked, and the \
             database was built anew from that; it is sealed now, and every byte counts from here \
             on"
        }
        Sealed::No => {
            "not sealed (a Leader runs, or was killed): what the events say was checked, unused \
             bytes were not"
        }
    }
}

/// All campaigns of this repository. A record that cannot be read is not one that was not begun.
pub(super) fn list(format: OutputFormat) -> Result<Exit, Trouble> {
    let git = git()?;
    for slug in Desk::all(&git) {
        let desk = desk(&slug)?;
        let (phase, wrong) = match read(&desk) {
            Ok((_, state, _)) => (shell::phase(&state.phase), None),
            Err(trouble) if trouble.exit == Exit::MissingCapability => {
                ("not begun".to_string(), None)
            }
            Err(trouble) => ("BROKEN".to_string(), Some(trouble.message)),
        };
        match format {
            OutputFormat::Json => {
                let value = serde_json::json!({ "slug": slug, "phase": phase, "wrong": wrong });
                anstream::println!("{value}");
            }
            OutputFormat::Human => {
                let wrong = wrong
                    .map_or(String::new(), |wrong| format!(": {wrong}; assay desk verify {slug}"));
                anstream::println!("{slug:<30} {phase}{wrong}");
            }
        }
    }
    Ok(Exit::Upheld)
}
