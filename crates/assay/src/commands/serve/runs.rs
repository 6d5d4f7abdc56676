//! Runs of plans. Their verdicts are computed from the facts in their records; what a record says
//! about itself is not believed here either.

use assay_report::run::{Judged, JudgedScenario, RunRecord, one_line, read};
use assay_server::console::{Exhibit, ExhibitKind, Part, ShelfError, Tone};
use assay_verdict::{Family, RunVerdict};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const RECORD: &str = "results.json";
const REPORT: &str = "report.html";
/// Records that are read for the list; they hold counts and texts.
const RECORD_BYTES_MAX: u64 = 64 << 20;
/// Reports that are shown; larger ones open from disk.
const REPORT_BYTES_MAX: u64 = 256 << 20;
/// Scenarios that are listed, and runs whose records are kept.
const PARTS_MAX: usize = 100;
const KNOWN_MAX: usize = 1000;

/// What was read of records, for as long as these have the same time and size.
pub type Known = BTreeMap<PathBuf, (SystemTime, u64, Summary)>;

/// What a list says of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    name: String,
    state: String,
    tone: Tone,
    text: String,
    parts: Vec<Part>,
}

/// Whether a directory is that of a run: it was begun, or its results are there.
pub fn is_run(directory: &Path) -> bool {
    let has = |name: &str| own_file(&directory.join(name)).is_some();
    (has("run.json") && has("plan.md")) || (has(RECORD) && has(REPORT))
}

/// A file that is one, and no link to one elsewhere.
fn own_file(path: &Path) -> Option<Metadata> {
    path.symlink_metadata().ok().filter(Metadata::is_file)
}

/// How a run ended; nothing if it is gone.
pub fn exhibit(id: &str, directory: &Path, known: &mut Known) -> Option<Exhibit> {
    let record = own_file(&directory.join(RECORD));
    let begun = own_file(&directory.join("run.json"));
    let changed = record.as_ref().or(begun.as_ref())?.modified().ok()?;
    let Summary { name, state, tone, text, parts } = match &record {
        Some(meta) => summary(directory, changed, meta.len(), known),
        None => plain(directory, "not finished", "`assay run --resume` goes on with it"),
    };
    Some(Exhibit {
        id: id.to_string(),
        kind: ExhibitKind::Run,
        name,
        place: directory.display().to_string(),
        state,
        tone,
        summary: text,
        changed_at: moment(changed),
        has_report: own_file(&directory.join(REPORT)).is_some(),
        parts,
    })
}

fn plain(directory: &Path, state: &str, text: &str) -> Summary {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (state, text) = (state.to_string(), text.to_string());
    Summary { name, state, tone: Tone::Unknown, text, parts: Vec::new() }
}

fn summary(directory: &Path, changed: SystemTime, size: u64, known: &mut Known) -> Summary {
    if let Some((at, bytes, summary)) = known.get(directory)
        && (*at, *bytes) == (changed, size)
    {
        return summary.clone();
    }
    let summary = match record(directory) {
        Ok(record) => of_record(&record),
        Err(why) => plain(directory, "cannot be read", &why),
    };
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    known.insert(directory.to_path_buf(), (changed, size, summary.clone()));
    summary
}

fn record(directory: &Path) -> Result<RunRecord, String> {
    let bytes = read_own(&directory.join(RECORD), RECORD_BYTES_MAX)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{RECORD} is no text"))?;
    read(&text).map_err(|error| format!("{RECORD}: {error}"))
}

fn of_record(record: &RunRecord) -> Summary {
    let judged = Judged::of(record);
    let tone = match judged.verdict {
        RunVerdict::Done => Tone::Ok,
        RunVerdict::Fail => Tone::Fail,
        _ => Tone::Unknown,
    };
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let scenarios = counted(judged.scenarios.len(), "scenario");
    let findings = counted(record.findings.len(), "finding");
    Summary {
        name: one_line(&record.sut),
        state: judged.verdict.to_string(),
        tone,
        text: format!("{} ({scenarios}, {findings})", judged.verdict.meaning()),
        parts: judged.scenarios.iter().map(part).take(PARTS_MAX).collect(),
    }
}

fn part(judged: &JudgedScenario<'_>) -> Part {
    let tone = match (judged.is_canary(), judged.as_expected(), judged.verdict.family()) {
        (true, true, _) | (false, _, Family::Pass) => Tone::Ok,
        (true, false, _) | (false, _, Family::Fail) => Tone::Fail,
        _ => Tone::Unknown,
    };
    let planted = if judged.is_canary() { ", planted" } else { "" };
    let name = format!("{} {}", judged.scenario.id, one_line(&judged.scenario.name));
    Part { name, state: format!("{}{planted}", judged.verdict), tone }
}

/// The report of a run, as it is on disk.
pub fn report(directory: &Path) -> Result<Vec<u8>, ShelfError> {
    let path = directory.join(REPORT);
    if own_file(&path).is_none() {
        return Err(ShelfError::NoReport);
    }
    read_own(&path, REPORT_BYTES_MAX).map_err(ShelfError::Unreadable)
}

/// Reads a file of limited size that is one at this very place: no link leads elsewhere, also not
/// one that was put there a moment ago.
fn read_own(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let broken = |error: std::io::Error| error.to_string();
    let mut file = File::open(path).map_err(broken)?;
    let (opened, named) = (file.metadata().map_err(broken)?, path.symlink_metadata());
    let is_same = |named: &Metadata| {
        named.is_file() && (named.dev(), named.ino()) == (opened.dev(), opened.ino())
    };
    if !named.as_ref().is_ok_and(is_same) {
        return Err("it is a link".to_string());
    }
    let mut bytes = Vec::new();
    file.by_ref().take(bytes_max + 1).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("it is larger than {bytes_max} bytes"));
    }
    Ok(bytes)
}

fn moment(at: SystemTime) -> Option<String> {
    let at = jiff::Timestamp::try_from(at).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
