//! A module with a configuration, and what a checker is given of it.

use crate::engine::{CannotCheck, Claim, DEADLOCK, Question, StepClaim};
use assay_guard::tla::probes::{Shape, shape};
use assay_guard::tla::{Cfg, parse, parse_cfg};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file cannot be read.
    #[error("{place}: cannot be read: {why}")]
    Read {
        /// The file.
        place: PathBuf,
        /// What the system said.
        why: String,
    },
    /// Not a module.
    #[error("{place}:{line}: is not TLA+ from here on; correct it first")]
    NotTla {
        /// The file.
        place: PathBuf,
        /// The line.
        line: usize,
    },
    /// Too large, binary, or without a module.
    #[error("{place}: {why}")]
    NoModule {
        /// The file.
        place: PathBuf,
        /// What is wrong.
        why: &'static str,
    },
    /// No configuration.
    #[error(
        "{place}: there is no configuration beside it; write {name}.cfg, or name one with --config"
    )]
    NoConfiguration {
        /// The module.
        place: PathBuf,
        /// Its name.
        name: String,
    },
    /// A configuration that checks nothing.
    #[error("{place}: lists no INVARIANT and no PROPERTY; there is nothing to be noticed")]
    ChecksNothing {
        /// The configuration.
        place: PathBuf,
    },
}

/// A module with a configuration.
#[derive(Clone, Debug)]
pub struct Model {
    /// The module's file.
    pub file: PathBuf,
    /// Its name.
    pub name: String,
    /// Its text.
    pub source: String,
    /// The configuration's file.
    pub cfg_file: PathBuf,
    /// What it says.
    pub cfg: Cfg,
}

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 4 << 20;

fn text(place: &Path) -> Result<String, ModelError> {
    let unreadable = |error: std::io::Error| ModelError::Read {
        place: place.to_path_buf(),
        why: error.to_string(),
    };
    let why = "is larger than 4 MiB; a module of that size is not read";
    if std::fs::metadata(place).map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(ModelError::NoModule { place: place.to_path_buf(), why });
    }
    let bytes = std::fs::read(place).map_err(unreadable)?;
    let why = "is binary or not UTF-8; name a module, a text file that ends in .tla";
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(ModelError::NoModule { place: place.to_path_buf(), why }),
    }
}

impl Model {
    /// Reads a module and a configuration; without one, the smallest beside the module:
    /// `NAME_small.cfg`, else `NAME.cfg`.
    ///
    /// # Errors
    /// When either cannot be read or checks nothing.
    pub fn read(file: &Path, config: Option<&Path>) -> Result<Model, ModelError> {
        let source = text(file)?;
        let why = "has no module in it: `---- MODULE Name ----` to `====`";
        let empty = || ModelError::NoModule { place: file.to_path_buf(), why };
        let module = parse(&source).ok_or_else(empty)?;
        if let Some(line) = module.error {
            return Err(ModelError::NotTla { place: file.to_path_buf(), line });
        }
        if module.name.is_empty() {
            return Err(empty());
        }
        let cfg_file = match config {
            Some(config) => config.to_path_buf(),
            None => beside(file, &module.name)?,
        };
        let cfg = parse_cfg(&text(&cfg_file)?);
        if cfg.checked().next().is_none() {
            return Err(ModelError::ChecksNothing { place: cfg_file });
        }
        let file = file.to_path_buf();
        Ok(Model { file, name: module.name, source, cfg_file, cfg })
    }

    /// The name of the configuration's file.
    pub fn configuration(&self) -> String {
        self.cfg_file.file_name().map_or(String::new(), |name| name.to_string_lossy().to_string())
    }

    /// The same model with another text.
    #[must_use]
    pub fn with(&self, source: String) -> Model {
        Model { source, ..self.clone() }
    }

    /// Everything the configuration checks, as a question.
    pub fn question(&self) -> Question {
        let mut question = Question { deadlock: self.checks_deadlock(), ..Question::default() };
        for entry in &self.cfg.entries {
            let name = entry.name.clone();
            match entry.section {
                "INVARIANT" => {
                    question.states.push(Claim { formula: name.clone(), name });
                }
                "PROPERTY" => match shape(&self.source, &self.cfg, &name) {
                    Shape::Step { action, variables } => {
                        question.steps.push(StepClaim { name, action, variables });
                    }
                    // A formula of states under PROPERTY speaks of the first state only.
                    Shape::State | Shape::Temporal => question.temporal.push(name),
                },
                _ => {}
            }
        }
        question
    }

    /// The names of everything that is checked.
    pub fn checked(&self) -> Vec<String> {
        let mut names: Vec<String> = self.cfg.checked().map(|(name, _)| name.to_string()).collect();
        if self.checks_deadlock() {
            names.push(DEADLOCK.to_string());
        }
        names
    }

    fn checks_deadlock(&self) -> bool {
        self.cfg.deadlock.is_none_or(|(wanted, _)| wanted)
    }

    /// A configuration with the constants and the behaviour of this one, and what else is given.
    pub fn configured(&self, more: &str) -> String {
        let mut text = String::new();
        for constant in &self.cfg.constants {
            let sign = if constant.replaced { "<-" } else { "=" };
            let value = with_commas(&constant.value);
            let _ = writeln!(text, "CONSTANT {} {sign} {value}", constant.name);
        }
        let behaviour = |section: &str| {
            !matches!(section, "INVARIANT" | "PROPERTY" | "ALIAS" | "POSTCONDITION")
        };
        for entry in self.cfg.entries.iter().filter(|entry| behaviour(entry.section)) {
            let _ = writeln!(text, "{} {}", entry.section, entry.name);
        }
        text.push_str(more);
        text
    }

    /// Writes the module and the other modules beside it into a directory.
    pub(crate) fn lay_out(&self, directory: &Path) -> Result<(), CannotCheck> {
        let failed = |doing: &'static str, place: &Path, error: &std::io::Error| {
            CannotCheck::Scratch { place: place.to_path_buf(), doing, why: error.to_string() }
        };
        let source = match self.file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let entries = std::fs::read_dir(source).map_err(|e| failed("list", source, &e))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let small = entry.metadata().is_ok_and(|m| m.is_file() && m.len() <= FILE_BYTES_MAX);
            if path.extension().is_some_and(|e| e == "tla") && small {
                let to = directory.join(entry.file_name());
                std::fs::copy(&path, &to).map_err(|e| failed("copy a module to", &to, &e))?;
            }
        }
        let own = directory.join(format!("{}.tla", self.name));
        std::fs::write(&own, &self.source).map_err(|e| failed("write", &own, &e))
    }
}

/// Words of a value with the commas between elements that were left out when it was read.
fn with_commas(value: &str) -> String {
    let words: Vec<&str> = value.split(' ').collect();
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        text.push_str(word);
        let next = words.get(at + 1);
        let apart = |word: &str| !matches!(word, "{" | ".." | "[" | "(");
        let open = |word: &str| !matches!(word, "}" | ".." | "]" | ")");
        if next.is_some_and(|next| apart(word) && open(next)) {
            text.push(',');
        }
        text.push(' ');
    }
    text.trim_end().to_string()
}

fn beside(file: &Path, name: &str) -> Result<PathBuf, ModelError> {
    let stem = file.file_stem().map_or(name.to_string(), |s| s.to_string_lossy().to_string());
    let candidates = [format!("{stem}_small.cfg"), format!("{stem}.cfg")];
    let found = candidates.iter().map(|own| file.with_file_name(own)).find(|path| path.is_file());
    found.ok_or_else(|| ModelError::NoConfiguration { place: file.to_path_buf(), name: stem })
}
