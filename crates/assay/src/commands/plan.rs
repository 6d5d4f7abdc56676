//! `assay plan`: new, lint, show, matrix, diff.

use super::{Trouble, write_whole};
use crate::args::{LintFormat, OutputFormat, PlanCommand, PlanMode};
use crate::exit::Exit;
use crate::output::{plan as human, plan_machine as machine};
use assay_plan::template::{Request, new_plan};
use assay_plan::words::Mode;
use assay_plan::{Diagnostic, Plan, parse};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A plan that was read and checked.
pub struct Linted {
    /// The file.
    pub path: PathBuf,
    /// The plan.
    pub plan: Plan,
    /// What is wrong with it.
    pub found: Vec<Diagnostic>,
}

/// Runs a command about plans.
pub fn run(command: PlanCommand) -> Exit {
    let done = match command {
        PlanCommand::New { slug, sut, mode, model, out } => new(&slug, &sut, mode, model, out),
        PlanCommand::Lint { files, format, deny } => lint(&files, format, deny.is_some()),
        PlanCommand::Show { file, results, output } => {
            show(&file, results.as_deref(), output.format)
        }
        PlanCommand::Matrix { file, output } => matrix(&file, output.format),
        PlanCommand::Diff { old, new, output } => diff(&old, &new, output.format),
    };
    done.unwrap_or_else(Trouble::report)
}

fn new(
    slug: &str,
    sut: &str,
    mode: PlanMode,
    model: &str,
    out: Option<PathBuf>,
) -> Result<Exit, Trouble> {
    let named = slug.split('-').all(|word| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    });
    if !named {
        let message =
            format!("--slug {}: lower-case words joined by dashes, please", human::visible(slug));
        return Err(Trouble { message, exit: Exit::Usage });
    }
    let mode = match mode {
        PlanMode::ChangeScoped => Mode::ChangeScoped,
        PlanMode::ProjectWide => Mode::ProjectWide,
    };
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let text = new_plan(&Request { slug, sut, mode, model, date: &date });
    let home = || Path::new("docs").join("testing-plans").join(format!("{slug}.md"));
    let path = out.unwrap_or_else(home);
    if path.exists() {
        let message = format!(
            "{}: is there already and is left alone; name another file with --out",
            path.display()
        );
        return Err(Trouble { message, exit: Exit::MissingCapability });
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)
            .map_err(|error| Trouble::unavailable(parent, "create", &error))?;
    }
    write_whole(&path, |file| file.write_all(text.as_bytes()))?;
    let left = assay_plan::lint(&parse(&text)).len();
    anstream::println!("{}: a {} plan, {left} places to fill in", path.display(), mode.word());
    anstream::println!("next: assay plan lint {}", path.display());
    Ok(Exit::Upheld)
}

/// Reads a file, or standard input.
fn read(path: &Path) -> Result<String, Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(path, "read", &error);
    // One byte more than is read: the parser then says that it is too much.
    let limit = assay_plan::read::SOURCE_BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    match path == Path::new("-") {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|f| f.take(limit).read_to_end(&mut bytes)),
    }
    .map_err(unavailable)?;
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        Trouble::bad_history(format!("{}:{line}: is not UTF-8 text", path.display()))
    })
}

fn read_plan(path: &Path) -> Result<Linted, Trouble> {
    let plan = parse(&read(path)?);
    let found = assay_plan::lint(&plan);
    Ok(Linted { path: path.to_path_buf(), plan, found })
}

fn lint(files: &[PathBuf], format: LintFormat, deny_warnings: bool) -> Result<Exit, Trouble> {
    let (mut exit, mut all) = (Exit::Upheld, Vec::new());
    for file in files {
        match read_plan(file) {
            Ok(linted) => {
                let (errors, warnings) = assay_plan::count(&linted.found);
                if errors > 0 || (deny_warnings && warnings > 0) {
                    exit = exit.worse(Exit::BadHistory);
                }
                match format {
                    LintFormat::Human => human::lint(&linted),
                    LintFormat::Json => anstream::println!("{}", machine::json(&linted)),
                    LintFormat::Github => machine::github(&linted),
                    LintFormat::Sarif => {}
                }
                all.push(linted);
            }
            Err(trouble) => exit = exit.worse(trouble.report()),
        }
    }
    if format == LintFormat::Sarif {
        anstream::println!("{}", machine::sarif(&all));
    }
    Ok(exit)
}

/// A plan that is only shown may have mistakes; the reader must know.
fn note_errors(linted: &Linted) {
    let (errors, _) = assay_plan::count(&linted.found);
    if errors > 0 {
        let path = linted.path.display();
        anstream::eprintln!("note: {path} has {errors} errors: assay plan lint {path}");
    }
}

fn show(file: &Path, results: Option<&Path>, format: OutputFormat) -> Result<Exit, Trouble> {
    let linted = read_plan(file)?;
    let verdicts = results.map_or(Ok(BTreeMap::new()), verdicts)?;
    let claims = assay_plan::view::claims(&linted.plan, &verdicts);
    match format {
        OutputFormat::Json => {
            let slug = linted.plan.slug.as_ref().map(|slug| slug.text.clone());
            anstream::println!("{}", json!({"plan": slug, "claims": claims}));
        }
        OutputFormat::Human => {
            human::show(&linted, &claims);
            note_errors(&linted);
        }
    }
    Ok(Exit::Upheld)
}

/// `{"S1": "PASS-hardening"}`.
fn verdicts(path: &Path) -> Result<BTreeMap<String, String>, Trouble> {
    serde_json::from_str(&read(path)?).map_err(|error| {
        let message = format!(
            "{}:{}: expected an object of scenario ids and verdicts, such as \
             {{\"S1\": \"PASS-hardening\"}}: {error}",
            path.display(),
            error.line()
        );
        Trouble::bad_history(message)
    })
}

fn matrix(file: &Path, format: OutputFormat) -> Result<Exit, Trouble> {
    let linted = read_plan(file)?;
    let matrix = assay_plan::view::matrix(&linted.plan);
    match format {
        OutputFormat::Json => anstream::println!("{}", json!(matrix)),
        OutputFormat::Human => {
            human::matrix(&linted, &matrix);
            note_errors(&linted);
        }
    }
    Ok(Exit::Upheld)
}

fn diff(old: &Path, new: &Path, format: OutputFormat) -> Result<Exit, Trouble> {
    let (old, new) = (read_plan(old)?, read_plan(new)?);
    let changes = assay_plan::diff::diff(&old.plan, &new.plan);
    match format {
        OutputFormat::Json => anstream::println!("{}", json!({"changes": changes})),
        OutputFormat::Human => {
            human::diff(&old, &new, &changes);
            note_errors(&old);
            note_errors(&new);
        }
    }
    Ok(Exit::Upheld)
}
