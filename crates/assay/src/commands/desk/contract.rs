//! `assay desk new`, `lint` and `import`: contracts before they are frozen.

use super::super::{Trouble, write_whole};
use super::{desk, missing};
use crate::args::OutputFormat;
use crate::exit::Exit;
use assay_desk::contract::{
    self, Band, Complaint, Contract, ContractErrors, DIMENSIONS, Level, POINTS_MAX, Score,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Scores are short; a longer file is something else.
const SCORES_BYTES_MAX: u64 = 1 << 20;

/// Writes a contract to fill in.
pub(super) fn new(slug: &str, format: OutputFormat) -> Result<Exit, Trouble> {
    let desk = desk(slug)?;
    desk.make().map_err(|error| missing(error.to_string()))?;
    let path = desk.contract();
    if path.exists() {
        let message = format!("{}: is there already; edit it", path.display());
        return Err(Trouble { message, exit: Exit::Usage });
    }
    write_whole(&path, |file| file.write_all(contract::template(slug).as_bytes()))?;
    match format {
        OutputFormat::Json => {
            let value = serde_json::json!({ "slug": slug, "written": path.display().to_string() });
            anstream::println!("{value}");
        }
        OutputFormat::Human => {
            anstream::println!("written  {}", path.display());
            anstream::println!("next     edit it, then: assay desk lint {slug}");
        }
    }
    Ok(Exit::Upheld)
}

/// A contract that was read, with what there is to say about it.
pub(super) struct Read {
    pub path: PathBuf,
    pub source: String,
    pub contract: Contract,
    pub scores: Vec<Score>,
    pub complaints: Vec<Complaint>,
}

impl Read {
    /// Takes a reader's scores into account, which can only lower.
    pub(super) fn scored(&mut self, score: Option<&Path>) -> Result<(), Trouble> {
        let Some(score) = score else {
            return Ok(());
        };
        contract::lower(&mut self.scores, &given(score, &self.contract)?);
        self.complaints = remarks(&self.contract, &self.scores);
        Ok(())
    }

    /// Looks again, after something was given on the command line.
    pub(super) fn again(&mut self) {
        self.complaints = remarks(&self.contract, &self.scores);
    }

    /// Keeps what readers took away from a contract before, where its words are the same.
    pub(super) fn keep_lower(&mut self, old: &Contract, before: &[Score]) {
        let same = |criterion: &str| {
            let story = criterion.split('/').next().unwrap_or("");
            old.sections.get(story) == self.contract.sections.get(story)
        };
        contract::keep(&mut self.scores, before, same);
        self.complaints = remarks(&self.contract, &self.scores);
    }

    /// Why it cannot be run, if it cannot.
    pub(super) fn refused(&self) -> Result<(), Trouble> {
        match self.rejected() {
            false => Ok(()),
            true => Err(Trouble::bad_history(format!(
                "{}: not clear enough to be run (IL-2): sharpen the criteria above",
                self.path.display()
            ))),
        }
    }

    pub(super) fn rejected(&self) -> bool {
        self.complaints.iter().any(|complaint| complaint.level == Level::Error)
    }
}

/// Reads the contract of a campaign or a file.
pub(super) fn read(path: &Path) -> Result<Read, Trouble> {
    let bytes = std::fs::read(path).map_err(|e| Trouble::unavailable(path, "read", &e))?;
    let Ok(source) = String::from_utf8(bytes) else {
        return Err(Trouble::bad_history(format!("{}:1: it is not UTF-8", path.display())));
    };
    let contract = contract::read(&source).map_err(|errors| bad(path, &errors))?;
    let scores = contract::scores(&contract);
    let complaints = remarks(&contract, &scores);
    Ok(Read { path: path.to_path_buf(), source, contract, scores, complaints })
}

/// What there is to say about a contract, on this machine.
fn remarks(contract: &Contract, scores: &[Score]) -> Vec<Complaint> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut all = contract::reach(contract, home.as_deref(), &programs);
    all.extend(contract::lint(contract, scores));
    all.sort_by_key(|complaint| complaint.line);
    all
}

fn bad(path: &Path, errors: &ContractErrors) -> Trouble {
    let lines = errors.0.iter().map(|m| format!("{}:{}: {}", path.display(), m.line, m.message));
    Trouble::bad_history(lines.collect::<Vec<_>>().join("\nerror: "))
}

/// Says what is wrong with a contract.
pub(super) fn lint(
    named: &str,
    score: Option<&Path>,
    format: OutputFormat,
) -> Result<Exit, Trouble> {
    let file = Path::new(named);
    let path = if file.is_file() { file.to_path_buf() } else { desk(named)?.contract() };
    let mut read = read(&path)?;
    read.scored(score)?;
    match format {
        OutputFormat::Json => anstream::println!(
            "{}",
            serde_json::json!({
                "slug": read.contract.slug, "hash": read.contract.hash,
                "accepted": !read.rejected(), "scores": read.scores,
                "complaints": read.complaints,
            })
        ),
        OutputFormat::Human => {
            let word = if read.rejected() { "REFUSED" } else { "ACCEPTED" };
            let stories = read.contract.stories.len();
            let criteria = read.contract.criteria().len();
            anstream::println!(
                "{word}  {}: {stories} stories, {criteria} criteria",
                read.path.display()
            );
            table(&read.scores);
            complaints(&read);
        }
    }
    Ok(if read.rejected() { Exit::BadHistory } else { Exit::Upheld })
}

/// Scores of a file: six numbers from 0 to 2 for criteria of the contract.
fn given(path: &Path, contract: &Contract) -> Result<BTreeMap<String, [u8; 6]>, Trouble> {
    let wrong = |why: String| Trouble::bad_history(format!("{}: {why}", path.display()));
    let length = std::fs::metadata(path).map_or(0, |meta| meta.len());
    if length > SCORES_BYTES_MAX {
        return Err(wrong("too long for scores".to_string()));
    }
    let text = std::fs::read_to_string(path).map_err(|e| Trouble::unavailable(path, "read", &e))?;
    let given: BTreeMap<String, [u8; 6]> =
        serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let known = contract.criteria();
    for (criterion, points) in &given {
        if !known.contains(criterion) {
            let name: String = criterion.chars().filter(|c| !c.is_control()).take(40).collect();
            return Err(wrong(format!("`{name}` is no criterion: write `US-001/AC-1`")));
        }
        if points.iter().any(|point| *point > POINTS_MAX) {
            return Err(wrong(format!("{criterion}: a dimension has at most {POINTS_MAX}")));
        }
    }
    Ok(given)
}

/// The points of each criterion.
pub(super) fn table(scores: &[Score]) {
    anstream::println!(
        "\n{:<14} {}  total",
        "IL-2",
        DIMENSIONS.map(|d| format!("{d:>12}")).concat()
    );
    for score in scores {
        let points = score.points.map(|point| format!("{point:>12}")).concat();
        let word = match score.band() {
            Band::Reject => "REJECT",
            Band::Warn => "WARN",
            Band::Pass => "pass",
        };
        anstream::println!("{:<14} {points}  {:>5} {word}", score.criterion, score.total());
    }
}

/// What there is to say, by line.
pub(super) fn complaints(read: &Read) {
    for complaint in &read.complaints {
        let word = match complaint.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        anstream::eprintln!(
            "{word}: {}:{}: {}",
            read.path.display(),
            complaint.line,
            complaint.message
        );
    }
}

/// Makes a contract of documents of rlp-desk.
pub(super) fn import(
    prd: &Path,
    test_spec: Option<&Path>,
    format: OutputFormat,
) -> Result<Exit, Trouble> {
    let text = |path: &Path| {
        std::fs::read_to_string(path).map_err(|e| Trouble::unavailable(path, "read", &e))
    };
    let spec = test_spec.map(text).transpose()?;
    let imported = assay_desk::import(&text(prd)?, spec.as_deref())
        .map_err(|error| Trouble::bad_history(format!("{}: {error}", prd.display())))?;
    let desk = desk(&imported.slug)?;
    desk.make().map_err(|error| missing(error.to_string()))?;
    let path = desk.contract();
    if path.exists() {
        let message = format!("{}: is there already", path.display());
        return Err(Trouble { message, exit: Exit::Usage });
    }
    write_whole(&path, |file| file.write_all(imported.text.as_bytes()))?;
    if format == OutputFormat::Json {
        let value = serde_json::json!({
            "slug": imported.slug, "written": path.display().to_string(), "open": imported.notes,
        });
        anstream::println!("{value}");
        return Ok(Exit::Upheld);
    }
    anstream::println!("written  {}", path.display());
    for note in &imported.notes {
        anstream::println!("open     {note}");
    }
    anstream::println!("next     fill these in, then: assay desk lint {}", imported.slug);
    Ok(Exit::Upheld)
}
