//! Campaigns of the desk, as `assay desk list` and `assay desk report` show them.

use crate::commands::desk;
use assay_desk::event::Terminal;
use assay_desk::shell::{self, Desk, Git};
use assay_desk::state::{Phase, State};
use assay_server::console::{Exhibit, ExhibitKind, Part, ShelfError, Tone};
use std::path::Path;

/// Stories that are listed.
const PARTS_MAX: usize = 100;

/// The campaigns of the repository whose top is this directory.
pub fn slugs(directory: &Path) -> Vec<String> {
    let is_directory = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let homes = [directory.join(".assay"), directory.join(".assay/desk")];
    if !homes.iter().all(|home| is_directory(home)) {
        return Vec::new();
    }
    let Ok(git) = Git::find(directory) else { return Vec::new() };
    // Somewhere within a repository is not its top: its campaigns are not here.
    match (directory.canonicalize(), git.root().canonicalize()) {
        (Ok(here), Ok(top)) if here == top => Desk::all(&git),
        _ => Vec::new(),
    }
}

/// How a campaign stands; nothing if it is gone.
pub fn exhibit(id: &str, repository: &Path, slug: &str) -> Option<Exhibit> {
    let desk = Desk::find(repository, slug).ok()?;
    let read = desk::read(&desk).ok();
    let (state, tone, summary, changed_ms) = match &read {
        None => ("not begun".to_string(), Tone::Plain, String::new(), None),
        Some((events, state, _)) => {
            let word = shell::phase(&state.phase);
            let changed = events.last().map(|event| event.at_ms);
            (word, tone(&state.phase), summary(state), changed)
        }
    };
    Some(Exhibit {
        id: id.to_string(),
        kind: ExhibitKind::Campaign,
        name: slug.to_string(),
        place: repository.display().to_string(),
        state,
        tone,
        summary,
        changed_at: changed_ms.and_then(moment),
        has_report: read.is_some(),
        parts: read.map_or_else(Vec::new, |(_, state, _)| parts(&state)),
    })
}

fn tone(phase: &Phase) -> Tone {
    match phase {
        Phase::Ended(Terminal::Complete { .. }) => Tone::Ok,
        Phase::Ended(Terminal::Blocked { .. }) => Tone::Fail,
        Phase::Ended(_) | Phase::Waiting(..) => Tone::Unknown,
        _ => Tone::Plain,
    }
}

fn summary(state: &State) -> String {
    let verified = state.stories.iter().filter(|story| story.verified.is_some()).count();
    let (stories, iteration) = (state.stories.len(), state.iteration);
    let end = match &state.phase {
        Phase::Ended(terminal) => format!("; {}", terminal.reason()),
        _ => String::new(),
    };
    format!("{verified} of {stories} stories verified, iteration {iteration}{end}")
}

fn parts(state: &State) -> Vec<Part> {
    let part = |(story, progress): (&assay_desk::contract::Story, &_)| {
        let progress: &assay_desk::state::Progress = progress;
        let (word, tone) = match progress.verified.is_some() {
            true => ("verified", Tone::Ok),
            false => ("open", Tone::Plain),
        };
        let name = format!("{} {}", story.id, story.title);
        Part { name, state: word.to_string(), tone }
    };
    state.contract.stories.iter().zip(&state.stories).map(part).take(PARTS_MAX).collect()
}

/// The report, made now from the record.
pub fn report(repository: &Path, slug: &str) -> Result<Vec<u8>, ShelfError> {
    let desk = Desk::find(repository, slug).map_err(|_| ShelfError::Missing)?;
    if !desk.ledger().exists() {
        return Err(ShelfError::NoReport);
    }
    let page = desk::page(&desk).map_err(|trouble| ShelfError::Unreadable(trouble.message))?;
    Ok(page.into_bytes())
}

fn moment(ms: u64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
