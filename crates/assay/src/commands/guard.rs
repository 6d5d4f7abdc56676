//! `assay guard`: what got weaker, approvals, and how it is installed.

mod models;

use super::{Trouble, write_whole};
use crate::args::{
    ApproveArgs, CauseArg, CompareArgs, GuardArgs, GuardCommand, GuardFormat, InitArgs,
    OutputFormat,
};
use crate::exit::Exit;
use assay_guard::approval::{self, Approval, Cause};
use assay_guard::report::{self, Outcome};
use assay_guard::repository::{self, Pair, ReadError, Request};
use assay_guard::{Config, Report};
use std::path::{Path, PathBuf};

const HOOK: &str = include_str!("guard/pre-commit.sh");
const WORKFLOW: &str = include_str!("guard/workflow.yml");

/// Runs the guard.
pub fn run(args: GuardArgs) -> Exit {
    let done = match args.command {
        None => compare(&args.compare, args.format, args.all),
        Some(GuardCommand::Approve(args)) => approve(&args),
        Some(GuardCommand::Init(args)) => init(&args),
        Some(GuardCommand::Mutate(args)) => models::mutate(&args),
        Some(GuardCommand::Vacuity(args)) => models::vacuity(&args),
        Some(GuardCommand::States(args)) => models::states(&args),
        Some(GuardCommand::Rules { output }) => {
            rules(output.format);
            Ok(Exit::Upheld)
        }
        Some(GuardCommand::Schema) => {
            let mut schema = assay_guard::config::schema();
            schema["properties"]["adr"] = assay_adr::config::schema();
            anstream::println!("{}", serde_json::to_string_pretty(&schema).unwrap_or_default());
            Ok(Exit::Upheld)
        }
    };
    done.unwrap_or_else(Trouble::report)
}

pub(super) fn trouble(error: &ReadError) -> Trouble {
    let exit = match error {
        ReadError::NoRevision { .. } => Exit::Usage,
        _ => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

fn config(root: Option<&Path>, given: Option<&Path>) -> Result<Config, Trouble> {
    let path = match (given, root) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(root)) => root.join("assay.toml"),
        (None, None) => return Ok(Config::default()),
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if given.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Config::default());
        }
        Err(error) => return Err(Trouble::unavailable(&path, "read", &error)),
    };
    let bad = |error| Trouble::bad_history(format!("{}: {error}", path.display()));
    Config::parse(&text).map_err(bad)
}

fn read(args: &CompareArgs) -> Result<(Pair, Config), Trouble> {
    let here = Path::new(".");
    let root = repository::root(here).ok();
    let config = config(root.as_deref(), args.config.as_deref())?;
    let request = Request {
        base: args.base.clone(),
        head: Some(args.head.clone()),
        paths: args.paths.clone(),
    };
    let pair = repository::read(here, &request, &config).map_err(|error| trouble(&error))?;
    Ok((pair, config))
}

fn compare(args: &CompareArgs, format: GuardFormat, all: bool) -> Result<Exit, Trouble> {
    let (pair, config) = read(args)?;
    let report = Report::of(&pair, &config);
    match format {
        GuardFormat::Text => anstream::print!("{}", report::text(&report, all)),
        GuardFormat::Json => anstream::println!("{}", serde_json::json!(report)),
        GuardFormat::Sarif => anstream::println!("{}", report::sarif(&report)),
        GuardFormat::Github => anstream::print!("{}", report::github(&report)),
        GuardFormat::Markdown => anstream::print!("{}", report::markdown(&report)),
    }
    Ok(match report.outcome() {
        Outcome::Clean => Exit::Upheld,
        Outcome::Unclear => Exit::Undecided,
        Outcome::Weakened => Exit::Refuted,
    })
}

fn approve(args: &ApproveArgs) -> Result<Exit, Trouble> {
    let compared = CompareArgs {
        base: args.base.clone(),
        head: args.head.clone(),
        paths: Vec::new(),
        config: args.config.clone(),
    };
    let (pair, config) = read(&compared)?;
    let report = Report::of(&pair, &config);
    let wanted = |key: &str| key.eq_ignore_ascii_case(&args.finding);
    let Some(found) = report.findings.iter().find(|reported| wanted(&reported.key)) else {
        let keys: Vec<&str> = report.open().map(|reported| reported.key.as_str()).collect();
        let there = match keys.is_empty() {
            true => "nothing is to be approved".to_string(),
            false => format!("there are {}", keys.join(", ")),
        };
        let message = format!("{}: no such finding; {there}", args.finding);
        return Err(Trouble { message, exit: Exit::Usage });
    };
    let finding = &found.finding;
    let snippet = |place: &Option<assay_guard::Place>| {
        place.as_ref().map_or(String::new(), |place| place.snippet.clone())
    };
    let record = Approval {
        rule: finding.rule.0.to_string(),
        object: finding.object.clone(),
        old_hash: finding.old_hash.clone(),
        new_hash: finding.new_hash.clone(),
        old_text: snippet(&finding.old),
        new_text: snippet(&finding.new),
        cause: match args.cause {
            CauseArg::Bug => Cause::Bug,
            CauseArg::OverStrong => Cause::OverStrong,
            CauseArg::Unknown => Cause::Unknown,
        },
        because: args.because.clone(),
        meant: args.meant.clone(),
        trace: args.trace.clone(),
        replaced_by: args.replaced_by.clone(),
        by: args.by.clone(),
        date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
        quote: args.quote.clone(),
        source: args.source.clone(),
    };
    let plans: Vec<(String, String)> = pair
        .after
        .iter()
        .filter(|(path, _)| path.to_lowercase().contains("plan"))
        .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).to_string()))
        .collect();
    if let Some(refusal) = record.refusal(&pair.authors, &plans, &config) {
        let message = format!("the approval {refusal}; nothing was written");
        return Err(Trouble { message, exit: Exit::BadHistory });
    }
    let root = repository::root(Path::new(".")).map_err(|error| trouble(&error))?;
    let path = root.join(&config.approvals).join(approval::file_name(finding));
    written(&path, &record.to_toml())?;
    anstream::println!("{}: approved by {}", path.display(), record.by);
    anstream::println!("next: commit it; it holds until either text changes");
    Ok(Exit::Upheld)
}

fn written(path: &Path, text: &str) -> Result<(), Trouble> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|error| Trouble::unavailable(parent, "create", &error))?;
    }
    write_whole(path, |file| file.write_all(text.as_bytes()))
}

fn init(args: &InitArgs) -> Result<Exit, Trouble> {
    let root = repository::root(Path::new(".")).map_err(|error| trouble(&error))?;
    let hooks = repository::hooks(&root).map_err(|error| trouble(&error))?;
    let mut files: Vec<(PathBuf, &str)> = vec![(hooks.join("pre-commit"), HOOK)];
    if !args.hook_only {
        files.push((root.join(".github/workflows/assay-guard.yml"), WORKFLOW));
    }
    for (path, text) in files {
        if path.exists() {
            anstream::println!("{}: is there already and is left alone", path.display());
            continue;
        }
        written(&path, text)?;
        executable(&path, text.starts_with("#!"))?;
        anstream::println!("{}: written", path.display());
    }
    anstream::println!("next: assay guard; what assay.toml can tell it: assay guard schema");
    Ok(Exit::Upheld)
}

#[cfg(unix)]
fn executable(path: &Path, wanted: bool) -> Result<(), Trouble> {
    use std::os::unix::fs::PermissionsExt;
    if !wanted {
        return Ok(());
    }
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode)
        .map_err(|error| Trouble::unavailable(path, "make executable", &error))
}

#[cfg(not(unix))]
fn executable(_: &Path, _: bool) -> Result<(), Trouble> {
    Ok(())
}

fn rules(format: OutputFormat) {
    let all = assay_guard::rules::RULES;
    match format {
        OutputFormat::Json => anstream::println!("{}", serde_json::json!({"rules": all})),
        OutputFormat::Human => {
            for rule in all {
                anstream::println!("{}  {}\n     {}", rule.id, rule.title, rule.why);
            }
        }
    }
}
