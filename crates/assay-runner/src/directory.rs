//! The directory of a run: where everything is, and how a run that was killed is taken up again.

use crate::arm::Depth;
use crate::files::{read_json, write_json, write_whole};
use crate::sabotage::Sabotage;
use crate::trial::metrics::METRICS_NAME;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// What was asked for; the first thing a run writes, and what a resumed one goes by.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The version of this file.
    pub format: String,
    /// Where the plan was.
    pub plan: String,
    /// The directory it was in, from the root: a run may be resumed from anywhere.
    pub project: PathBuf,
    /// When the run began.
    pub started: String,
    /// Who runs it.
    pub operator: String,
    /// How far it goes.
    pub depth: Depth,
    /// Only these scenarios; all if empty.
    pub only: Vec<String>,
    /// The first seed, in place of the plan's.
    pub seed: Option<u64>,
    /// What the operator says is there.
    pub have: Vec<String>,
    /// How many anomalies of each kind are planted.
    pub plants: u32,
    /// What is done wrong on purpose.
    pub sabotage: Option<Sabotage>,
    /// The commit under test.
    pub commit: String,
}

/// The name of the log of events; it is locked while somebody writes it.
pub const EVENTS_NAME: &str = "events.jsonl";
/// The format of `run.json`.
pub const ASKED_FORMAT: &str = "assay-asked/1";

/// The directory of a run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    root: PathBuf,
}

/// What stands in the README of a run: path, and what it is.
const CONTENTS: [(&str, &str); 14] = [
    ("report.html", "the report, for a browser; it needs no network"),
    ("findings/report.md", "the same in Markdown, for a review"),
    ("session-log.md", "what happened when"),
    ("results.json", "the run record; `assay report results.json` computes all verdicts again"),
    ("plan.md", "the plan as it was when the run began"),
    ("systems/NAME.toml", "the description of a system as it was then, and where it came from"),
    ("run.json", "what was asked for; `assay run --resume DIRECTORY` goes by it"),
    ("events.jsonl", "everything that happened, line by line"),
    ("findings/F1.repro.json", "a trial that shows a violation (`assay reproduce FILE`)"),
    ("artifacts/SCENARIO/TRIAL/history.jsonl.zst", "what clients did and saw (`assay check FILE`)"),
    ("artifacts/SCENARIO/TRIAL/trial.json", "what was measured in the trial"),
    ("artifacts/SCENARIO/TRIAL/nemesis.jsonl", "the journal of faults (`assay heal DIRECTORY`)"),
    ("artifacts/SCENARIO/TRIAL/logs/", "what the nodes said"),
    ("metrics/SCENARIO/TRIAL.csv", "operations and latency of a trial, second by second"),
];

fn readme() -> String {
    let mut text = "# A run of Assay\n\n| file | what it is |\n|---|---|\n".to_string();
    for (path, what) in CONTENTS {
        text += &format!("| `{path}` | {what} |\n");
    }
    text + "\nA trial without `trial.json` was not finished and counts for nothing.\n"
}

impl RunDirectory {
    /// Makes a new one and writes down what was asked for and the plan, before anything else.
    pub fn create(root: &Path, asked: &Asked, plan: &str) -> io::Result<RunDirectory> {
        let directory = RunDirectory { root: root.to_path_buf() };
        for part in ["artifacts", "findings"] {
            std::fs::create_dir_all(root.join(part))?;
        }
        write_whole(&root.join("README.md"), readme().as_bytes())?;
        write_whole(&directory.plan(), plan.as_bytes())?;
        write_json(&root.join("run.json"), asked)?;
        Ok(directory)
    }

    /// Opens one that is there.
    pub fn open(root: &Path) -> io::Result<(RunDirectory, Asked, String)> {
        let directory = RunDirectory { root: root.to_path_buf() };
        let asked: Option<Asked> = read_json(&root.join("run.json"))?;
        let missing = || {
            let message = "this directory holds no run: run.json is missing";
            io::Error::new(io::ErrorKind::NotFound, message)
        };
        let asked = asked.ok_or_else(missing)?;
        if asked.format != ASKED_FORMAT {
            let message = format!("run.json is {}, not {ASKED_FORMAT}", asked.format);
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let plan = std::fs::read_to_string(directory.plan())?;
        Ok((directory, asked, plan))
    }

    /// One that is there, whatever it holds.
    pub fn at(root: &Path) -> RunDirectory {
        RunDirectory { root: root.to_path_buf() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The frozen plan.
    pub fn plan(&self) -> PathBuf {
        self.root.join("plan.md")
    }

    /// The log of events.
    pub fn events(&self) -> PathBuf {
        self.root.join(EVENTS_NAME)
    }

    /// A file of the run, by its path from the root; directories on the way are made.
    pub fn write(&self, path: &str, content: &[u8]) -> io::Result<()> {
        let path = self.root.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        write_whole(&path, content)
    }

    /// The directory of a trial.
    pub fn trial(&self, arm: &str, name: &str) -> PathBuf {
        self.root.join("artifacts").join(arm.replace('/', "-")).join(name)
    }

    /// Puts the figures of a trial beside those of the others.
    pub fn keep_figures(&self, arm: &str, name: &str) -> io::Result<()> {
        let figures = self.trial(arm, name).join(METRICS_NAME);
        if !figures.is_file() {
            return Ok(());
        }
        let directory = self.root.join("metrics").join(arm.replace('/', "-"));
        std::fs::create_dir_all(&directory)?;
        std::fs::rename(figures, directory.join(format!("{name}.csv")))
    }

    /// Every directory of a trial that was begun, with or without a record.
    pub fn trials(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for arm in entries(&self.root.join("artifacts"))? {
            found.extend(entries(&arm)?.into_iter().filter(|path| path.is_dir()));
        }
        Ok(found)
    }
}

fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    if directory.is_dir() {
        for entry in std::fs::read_dir(directory)? {
            paths.push(entry?.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// A new name for a run: the moment it began, and a number if there is one already.
pub fn new_root(sessions: &Path, slug: &str) -> PathBuf {
    let base = sessions.join(slug).join(crate::time::utc_name());
    let numbered = (2..).map(|n| base.with_file_name(format!("{}-{n}", file_name(&base))));
    std::iter::once(base.clone()).chain(numbered).find(|path| !path.exists()).unwrap_or(base)
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
