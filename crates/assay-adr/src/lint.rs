//! The rules over all records at once.

mod changes;
mod citations;
mod fields;
mod index;
mod links;
mod names;
mod relations;

use crate::config::{Config, Level};
use crate::finding::{Finding, Rated, Report};
use crate::record::{Files, Record, Records};

/// What lies around the records: the files that they link and cite.
pub trait World {
    /// Whether there is such a file or directory, by its path from the root.
    fn exists(&self, path: &str) -> bool;
    /// The text of a file; nothing if there is none, or none that can be read.
    fn text(&self, path: &str) -> Option<String>;
}

impl World for Files {
    fn exists(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let next = self.range(below.clone()..).next();
        path.is_empty()
            || self.contains_key(path)
            || next.is_some_and(|(path, _)| path.starts_with(&below))
    }

    fn text(&self, path: &str) -> Option<String> {
        self.get(path).cloned()
    }
}

/// What is looked at.
#[derive(Clone, Copy)]
pub struct Input<'i> {
    /// All files below the directory of records.
    pub files: &'i Files,
    /// Everything else.
    pub world: &'i dyn World,
    /// Files that differ from an older revision, as they were; for the rules about changes.
    pub before: Option<&'i Files>,
    /// Files below the directory that could not be read, and why.
    pub unreadable: &'i [(String, String)],
}

impl<'i> Input<'i> {
    /// These files and nothing else.
    pub fn of(files: &'i Files) -> Input<'i> {
        Input { files, world: files, before: None, unreadable: &[] }
    }
}

/// What the rules share.
struct Lint<'i> {
    input: Input<'i>,
    config: &'i Config,
    records: &'i Records,
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn add(&mut self, rule: &'static str, path: &str, line: usize, message: String) {
        self.findings.push(Finding::new(rule, path, line, message));
    }

    fn at(&mut self, rule: &'static str, record: &Record, line: usize, message: String) {
        self.add(rule, &record.path, line, message);
    }

    /// Whether there is such a file or directory.
    fn exists(&self, path: &str) -> bool {
        self.input.files.exists(path) || self.input.world.exists(path)
    }

    /// The text of a file, of the records or around them.
    fn text(&self, path: &str) -> Option<String> {
        self.input.files.get(path).cloned().or_else(|| self.input.world.text(path))
    }
}

/// Looks at all records.
pub fn lint(input: &Input<'_>, config: &Config) -> Report {
    let records = Records::read(input.files, config);
    let mut lint = Lint { input: *input, config, records: &records, findings: Vec::new() };
    for (path, why) in input.unreadable {
        lint.add("A23", path, 1, format!("cannot be read: {why}"));
    }
    names::check(&mut lint);
    fields::check(&mut lint);
    index::check(&mut lint);
    links::check(&mut lint);
    citations::check(&mut lint);
    relations::check(&mut lint);
    changes::check(&mut lint);
    let mut findings = lint.findings;
    findings.sort();
    findings.dedup();
    let rated = |finding: Finding| Rated { level: config.level(finding.rule), finding };
    Report {
        records: records.all.iter().map(|r| (r.id.kind, r.path.clone())).collect(),
        findings: findings
            .into_iter()
            .map(rated)
            .filter(|rated| rated.level != Level::Off)
            .collect(),
    }
}

/// The path that a link leads to, as written, if it is one of this repository.
pub(crate) fn target(link: &str) -> Option<String> {
    links::parts(link).map(|(path, _)| path).filter(|path| !path.is_empty())
}
