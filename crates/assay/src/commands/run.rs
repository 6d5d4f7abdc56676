//! `assay run`: a plan against a system, from the load gate to the report.

use super::{Trouble, inside, write_whole};
use crate::args::{DemoArgs, ExportArgs, OutputFormat, PLANTS_DEFAULT, RunArgs};
use crate::exit::Exit;
use crate::output::plan::visible;
use crate::output::run::{Screen, show_finished};
use assay_report::run::{Refusals, RunRecord};
use assay_runner::arm::Depth;
use assay_runner::directory::{ASKED_FORMAT, Asked, new_root};
use assay_runner::event::RunEvent;
use assay_runner::run::{Finished, Host, Located, RunError, begin, resume};
use assay_runner::{environment, time};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The plan of `assay demo`.
const DEMO_PLAN: &str = include_str!("../../../../examples/plans/demo.md");
/// More errors of a plan are counted, not shown.
const ERRORS_SHOWN_MAX: usize = 200;
/// The largest plan that is read.
const PLAN_BYTES_MAX: u64 = 16 << 20;

/// Which signal ended a run.
pub(super) struct Stop {
    any: Arc<AtomicBool>,
    /// Who asks for it, and what the program then ends with.
    heard: [(i32, Exit, Arc<AtomicBool>); 3],
}

/// Whether a closed terminal is none of our business: so `nohup` starts programs.
pub(super) fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

impl Stop {
    /// The first signal ends a run in good order; a second one of a person ends the program.
    pub(super) fn listen() -> Result<Stop, Trouble> {
        let heard = [
            (SIGHUP, Exit::HungUp, Arc::default()),
            (SIGINT, Exit::Interrupted, Arc::default()),
            (SIGTERM, Exit::Terminated, Arc::default()),
        ];
        let stop = Stop { any: Arc::default(), heard };
        for (signal, _, heard) in &stop.heard {
            let signal = *signal;
            if signal == SIGHUP && ignores_hangup() {
                continue;
            }
            let register = || {
                // A terminal that goes says so more than once: by itself and by its shell. That is
                // nobody's impatience.
                if signal != SIGHUP {
                    signal_hook::flag::register_conditional_shutdown(
                        signal,
                        128 + signal,
                        Arc::clone(&stop.any),
                    )?;
                }
                signal_hook::flag::register(signal, Arc::clone(&stop.any))?;
                signal_hook::flag::register(signal, Arc::clone(heard))?;
                Ok::<(), std::io::Error>(())
            };
            register().map_err(|error| Trouble {
                message: format!("cannot listen for signals: {error}"),
                exit: Exit::MissingCapability,
            })?;
        }
        Ok(stop)
    }

    /// Set by the first signal.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.any
    }

    pub(super) fn exit(&self) -> Exit {
        let heard = self.heard.iter().rev();
        let mut heard = heard.filter(|(_, _, heard)| heard.load(Ordering::Relaxed));
        heard.next().map_or(Exit::Interrupted, |(_, exit, _)| *exit)
    }
}

/// Runs a plan, or goes on with a run.
pub fn run(args: &RunArgs) -> Exit {
    let plan = args.plan.as_deref();
    if let Err(trouble) = writable(&args.exports).and_then(|()| go_inside(args)) {
        return trouble.report();
    }
    hosted(args.output.format, plan, &args.exports, |host| match (&args.resume, plan) {
        (Some(directory), _) => Ok(resume(directory, host)),
        (None, Some(plan)) => {
            let text = read_plan(plan)?;
            let (root, asked) = asked(args, plan, &text)?;
            heal_killed(&args.sessions);
            Ok(begin(&root, &asked, &text, host))
        }
        (None, None) => unreachable!("clap asks for PLAN unless --resume"),
    })
}

/// A fault that a killed run has left on does not stay in its directory: it is undone before
/// another run begins, and told.
pub(super) fn heal_killed(sessions: &Path) {
    if inside::has_gone() {
        return;
    }
    for (run, line) in assay_runner::heal::heal_sessions(sessions) {
        anstream::eprintln!("healed what a killed run left, {}: {line}", run.display());
    }
}

/// A plan with a network of namespaces is run in there, from the beginning.
fn go_inside(args: &RunArgs) -> Result<(), Trouble> {
    let frozen = args.resume.as_ref().map(|directory| directory.join("plan.md"));
    let Some(path) = frozen.as_deref().or(args.plan.as_deref()) else { return Ok(()) };
    // What cannot be read is told by whoever needs it.
    let Ok(text) = read_plan(path) else { return Ok(()) };
    let is_needed = inside::is_needed(&assay_plan::parse(&text));
    inside::go_if(is_needed, || heal_killed(&args.sessions))
}

/// A plan that comes with Assay, and how it is run.
pub(super) struct BuiltIn<'b> {
    pub(super) name: &'b str,
    pub(super) text: &'b str,
    pub(super) sessions: &'b Path,
    pub(super) depth: Depth,
    pub(super) seed: Option<u64>,
    pub(super) format: OutputFormat,
    pub(super) stop: &'b Stop,
    /// Hears every event, besides the screen.
    pub(super) heard: &'b (dyn Fn(&RunEvent) + Sync),
}

/// Runs a plan that comes with Assay.
pub(super) fn built_in(plan: &BuiltIn<'_>) -> Result<Finished, Trouble> {
    let executable = executable()?;
    let screen = Screen::new(plan.format);
    let watcher = |event: &RunEvent| {
        (plan.heard)(event);
        screen.tell(event);
    };
    let host = Host { executable: &executable, interrupted: &plan.stop.any, watcher: &watcher };
    let asked = Asked { depth: plan.depth, seed: plan.seed, ..asked_of_built_in(plan.name) };
    let finished = begin(&new_root(plan.sessions, plan.name), &asked, plan.text, &host);
    screen.clear();
    finished.map_err(|error| ended(error, plan.stop, None))
}

fn asked_of_built_in(name: &str) -> Asked {
    Asked {
        format: ASKED_FORMAT.to_string(),
        plan: format!("{name} (built into assay)"),
        project: absolute(Path::new(".")),
        started: time::utc_now(),
        operator: assay_runner::record::named(&std::env::var("USER").unwrap_or_default()),
        depth: Depth::Hardening,
        only: Vec::new(),
        seed: None,
        have: Vec::new(),
        plants: PLANTS_DEFAULT,
        sabotage: None,
        commit: format!("assay {}", env!("CARGO_PKG_VERSION")),
    }
}

/// Runs the plan of the demonstration.
pub fn demo(args: &DemoArgs) -> Exit {
    heal_killed(&args.sessions);
    let root = new_root(&args.sessions, "demo");
    hosted(args.output.format, None, &ExportArgs::default(), |host| {
        Ok(begin(&root, &asked_of_built_in("demo.md"), DEMO_PLAN, host))
    })
}

/// Lets `work` run with signals listened to and a screen that tells what happens; then shows what
/// came of it.
fn hosted(
    format: OutputFormat,
    plan: Option<&Path>,
    exports: &ExportArgs,
    work: impl FnOnce(&Host<'_>) -> Result<Result<Finished, RunError>, Trouble>,
) -> Exit {
    let go = || {
        let stop = Stop::listen()?;
        let executable = executable()?;
        let screen = Screen::new(format);
        let watcher = |event: &RunEvent| screen.tell(event);
        let host = Host { executable: &executable, interrupted: &stop.any, watcher: &watcher };
        let finished = work(&host)?;
        screen.clear();
        conclude(finished, &stop, plan, exports, format)
    };
    go().unwrap_or_else(Trouble::report)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

pub(super) fn executable() -> Result<PathBuf, Trouble> {
    std::env::current_exe().map_err(|error| Trouble {
        message: format!("cannot find the program itself: {error}"),
        exit: Exit::MissingCapability,
    })
}

pub(super) fn read_plan(path: &Path) -> Result<String, Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(path, "read", &error);
    let size = std::fs::metadata(path).map_err(unavailable)?.len();
    if size > PLAN_BYTES_MAX {
        let message = format!("{}: larger than 16 MiB: not a plan", path.display());
        return Err(Trouble::bad_history(message));
    }
    let bytes = std::fs::read(path).map_err(unavailable)?;
    String::from_utf8(bytes)
        .map_err(|_| Trouble::bad_history(format!("{}: not UTF-8 text", path.display())))
}

fn asked(args: &RunArgs, plan: &Path, text: &str) -> Result<(PathBuf, Asked), Trouble> {
    let parsed = assay_plan::parse(text);
    let slug = parsed.slug.as_ref().map_or("plan", |slug| slug.text.as_str());
    let slug: String =
        slug.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(80).collect();
    let root = match &args.directory {
        Some(root) if root.join("run.json").exists() => {
            let message = format!(
                "{}: holds a run already; go on with it by --resume, or name another directory",
                root.display()
            );
            return Err(Trouble { message, exit: Exit::Usage });
        }
        Some(root) => root.clone(),
        None => new_root(&args.sessions, &slug),
    };
    let project = plan.parent().filter(|parent| !parent.as_os_str().is_empty());
    let project = absolute(project.unwrap_or(Path::new(".")));
    let asked = Asked {
        format: ASKED_FORMAT.to_string(),
        plan: plan.display().to_string(),
        commit: environment::commit(&project),
        project,
        started: time::utc_now(),
        operator: assay_runner::record::named(&args.operator),
        depth: args.tier.into(),
        only: args.scenarios.clone(),
        seed: args.seed,
        have: args.have.clone(),
        plants: args.plants,
        sabotage: args.sabotage,
    };
    Ok((root, asked))
}

fn conclude(
    finished: Result<Finished, RunError>,
    stop: &Stop,
    plan: Option<&Path>,
    exports: &ExportArgs,
    format: OutputFormat,
) -> Result<Exit, Trouble> {
    let finished = finished.map_err(|error| ended(error, stop, plan))?;
    // First: a file that cannot be written must not hide what was found out.
    let exit = show_finished(&finished, format);
    let exported = export(&finished.record, &finished.directory, exports);
    Ok(exported.map_or_else(|trouble| exit.worse(trouble.report()), |()| exit))
}

/// Whether the results can be written where they are wanted: better told before hours of work.
fn writable(exports: &ExportArgs) -> Result<(), Trouble> {
    for path in [&exports.junit, &exports.sarif].into_iter().flatten() {
        can_be_made(path)?;
    }
    match &exports.step_summary {
        // It is appended to.
        Some(path) if path.exists() => {
            let opened = std::fs::File::options().append(true).open(path).map(drop);
            opened.map_err(|error| Trouble::unavailable(path, "write", &error))
        }
        Some(path) => can_be_made(path),
        None => Ok(()),
    }
}

/// Whether a file can be written whole: beside itself, and then renamed.
fn can_be_made(path: &Path) -> Result<(), Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(path, "write", &error);
    if path.is_dir() {
        return Err(unavailable(std::io::ErrorKind::IsADirectory.into()));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let tried = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")));
    tried.map(drop).map_err(unavailable)
}

/// Why there is no result, for people.
fn ended(error: RunError, stop: &Stop, plan: Option<&Path>) -> Trouble {
    match error {
        RunError::Interrupted(directory) => {
            let message = format!(
                "interrupted; finished trials are kept: assay run --resume {}",
                directory.display()
            );
            Trouble { message, exit: stop.exit() }
        }
        error => refused(error, plan),
    }
}

fn refused(error: RunError, plan: Option<&Path>) -> Trouble {
    let path = plan.unwrap_or(Path::new("plan.md"));
    match error {
        RunError::Plan(found) => {
            let is_error =
                |one: &&Located| one.diagnostic.severity() == assay_plan::Severity::Error;
            let errors: Vec<&Located> = found.iter().filter(is_error).collect();
            let path = path.display();
            let mut message =
                format!("{path}: nothing was run, the plan has errors: {}", errors.len());
            for Located { line, diagnostic } in errors.iter().take(ERRORS_SHOWN_MAX) {
                let shown = visible(&diagnostic.message);
                message += &format!("\n{path}:{line}: {} {shown}", diagnostic.code);
            }
            if errors.len() > ERRORS_SHOWN_MAX {
                message += &format!("\nand {} more", errors.len() - ERRORS_SHOWN_MAX);
            }
            message += &format!("\nhelp: assay plan lint {path}");
            Trouble { message, exit: Exit::BadHistory }
        }
        RunError::NoScenario(..) => Trouble { message: error.to_string(), exit: Exit::Usage },
        RunError::File(..) => Trouble { message: error.to_string(), exit: Exit::MissingCapability },
        RunError::Busy(_) => Trouble { message: error.to_string(), exit: Exit::TryLater },
        RunError::Broken(..) => Trouble::bad_history(error.to_string()),
        RunError::Refused(_) => Trouble { message: error.to_string(), exit: Exit::Bug },
        RunError::Interrupted(_) => Trouble { message: error.to_string(), exit: Exit::Interrupted },
    }
}

/// Writes what other programs want to read. The plan of the run lies in its directory, and with it
/// the lines of the scenarios.
pub(super) fn export(
    record: &RunRecord,
    directory: &Path,
    exports: &ExportArgs,
) -> Result<(), Trouble> {
    let write = |path: &Path, text: Result<String, Refusals>| {
        let text = text.map_err(unreportable)?;
        write_whole(path, |out| out.write_all(text.as_bytes()))
    };
    if let Some(path) = &exports.junit {
        write(path, assay_report::run::junit(record))?;
    }
    if let Some(path) = &exports.sarif {
        let lines = read_plan(&directory.join("plan.md")).map(|text| lines_of(&text));
        write(path, assay_report::run::sarif_at(record, &lines.unwrap_or_default()))?;
    }
    if let Some(path) = &exports.step_summary {
        let text = assay_report::run::step_summary(record).map_err(unreportable)?;
        let append = || {
            let mut file = std::fs::File::options().append(true).create(true).open(path)?;
            file.write_all(text.as_bytes())
        };
        append().map_err(|error: std::io::Error| Trouble::unavailable(path, "write", &error))?;
    }
    Ok(())
}

/// On which lines the scenarios of a plan begin.
fn lines_of(plan: &str) -> BTreeMap<String, u32> {
    let plan = assay_plan::parse(plan);
    let line = |scenario: &assay_plan::plan::Scenario| {
        let line = u32::try_from(plan.line(scenario.name.span.start)).ok()?;
        Some((scenario.id.to_string(), line))
    };
    plan.scenarios.iter().filter_map(line).collect()
}

pub(super) fn unreportable(refusals: Refusals) -> Trouble {
    Trouble { message: refusals.to_string(), exit: Exit::Bug }
}
