//! `assay check`: is this history linearizable?

use super::effect::{Looks, refuse_without};
use super::{Outcome, Trouble, each_file, open, write_whole};
use crate::args::{CheckArgs, Subject};
use crate::exit::Exit;
use crate::output::{self, Calibration, Checked};
use crate::progress;
use assay_check::{Budget, CheckOptions, ModelKind, Report, Thoroughness, Verified};
use assay_history::{Finding, History, Severity, ValidateOptions, ValueId, validate};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Checks every file; the worst result is the exit code.
pub fn run(args: &CheckArgs) -> Exit {
    let looks = match args.model {
        Some(subject) => Looks::At(subject),
        None if args.oracles.checkers.is_empty() => return super::pick::run(args),
        None => Looks::ForAPromise,
    };
    if let Err(trouble) = refuse_without(args, &[looks]) {
        return trouble.report();
    }
    match args.model {
        Some(subject) => run_subject(args, subject),
        None => super::oracles::run(args, &args.oracles.checkers),
    }
}

/// Checks objects or transactions.
pub fn run_subject(args: &CheckArgs, subject: Subject) -> Exit {
    let named = match subject {
        Subject::Object(model) => format!("linearizability:{}", model.name()),
        Subject::Transactions(style) => style.name().to_string(),
    };
    if let Err(trouble) = super::pick::refuse_unfit(args, &[&named]) {
        return trouble.report();
    }
    match subject {
        Subject::Object(model) => run_objects(args, model),
        Subject::Transactions(style) => super::isolation::run(args, style),
    }
}

fn run_objects(args: &CheckArgs, model: ModelKind) -> Exit {
    if let Err(why) = assay_check::self_test(model) {
        let message = format!("{why}. This is a bug in Assay: please report it.");
        return Trouble { message, exit: Exit::Bug }.report();
    }
    let (exit, pages) = each_file(args, |file| check_file(file, args, model));
    match write_pictures(args, &pages) {
        Ok(()) => exit,
        Err(trouble) => exit.worse(trouble.report()),
    }
}

impl Outcome for Checked {
    fn exit(&self) -> Exit {
        self.exit
    }

    fn human(&self) {
        output::human(self);
    }

    fn json(&self) -> serde_json::Value {
        output::json(self)
    }
}

fn check_file(path: &Path, args: &CheckArgs, model: ModelKind) -> Result<Checked, Trouble> {
    let begun = Instant::now();
    let mut history = open(path, args.input)?;
    let read_time = begun.elapsed();
    let initial = initial_value(&mut history, &args.initial)?;
    let verbs: Vec<&str> = model.info().verbs.iter().map(|&(name, _)| name).collect();
    let rules = ValidateOptions { allowed_types: &verbs, ..ValidateOptions::default() };
    let findings = validate(&history, &rules);
    refuse_unsound(path, &findings)?;
    let begun = Instant::now();
    let budget = Budget::new(args.memory, args.states);
    let decided = OnceLock::new();
    let on_decided = || _ = decided.set(begun.elapsed());
    let options = CheckOptions {
        initial,
        budget: Some(&budget),
        witnesses_max: args.witnesses,
        thoroughness: match args.fail_fast {
            true => Thoroughness::FirstRefutation,
            false => Thoroughness::Everything,
        },
        on_decided: Some(&on_decided),
        ..CheckOptions::new(model)
    };
    let report = check_within(path, &history, args.budget, &options, &budget)?;
    let decide_time = decided.get().copied().unwrap_or_default();
    let witness_time = begun.elapsed().saturating_sub(decide_time);
    let (verified, exit) = verify_all(path, &history, &report);
    let calibration = match args.calibrate {
        Some(_) if exit == Exit::Refuted => {
            not_calibrated(path);
            None
        }
        Some(count) => Some(calibrate(&history, args, model, initial, count)?),
        None => None,
    };
    Ok(Checked {
        path: path.to_path_buf(),
        command: command_line(path, args, model.name()),
        exit,
        history,
        findings,
        report,
        verified,
        calibration,
        read_time,
        decide_time,
        witness_time,
        budget: args.budget,
        memory: args.memory,
    })
}

/// A history with a finding that no checker can be sound on is not checked at all.
pub fn refuse_unsound(path: &Path, findings: &[Finding]) -> Result<(), Trouble> {
    let unsound: Vec<&Finding> =
        findings.iter().filter(|finding| finding.severity == Severity::Unsound).collect();
    let Some(first) = unsound.first() else { return Ok(()) };
    let mut message = format!(
        "{}: this history cannot carry a verdict: {}",
        output::place(path, first.line),
        output::finding_text(first)
    );
    for finding in unsound.iter().skip(1).take(9) {
        message += &format!(
            "\n       {}: {}",
            output::place(path, finding.line),
            output::finding_text(finding)
        );
    }
    message += &format!("\nhelp: fix the recorder and run again; assay explain {:?}", first.rule);
    Err(Trouble::bad_history(message))
}

/// Runs the checker under the time budget, with progress.
fn check_within(
    path: &Path,
    history: &History,
    limit: Duration,
    options: &CheckOptions<'_>,
    budget: &Budget,
) -> Result<Report, Trouble> {
    let (ops, parts) = (AtomicU64::new(0), AtomicU64::new(0));
    let options = CheckOptions { ops_done: Some(&ops), parts_done: Some(&parts), ..*options };
    let message = || {
        format!(
            "checking {}: {} of {} operations, {} keys done, {} configurations visited",
            path.display(),
            ops.load(Ordering::Relaxed),
            history.len(),
            parts.load(Ordering::Relaxed),
            budget.configurations()
        )
    };
    let result = assay_judge::within(
        limit,
        || budget.stop(),
        || progress::while_running(message, || assay_check::check(history, &options)),
    );
    result.map_err(|error| {
        Trouble::bad_history(format!(
            "{}: {}\nhelp: assay explain {} says what the model's operations look like",
            output::place(path, Some(error.line)),
            error.message,
            options.model.name()
        ))
    })
}

/// Says why a refuted history is not calibrated with.
pub fn not_calibrated(path: &Path) {
    anstream::eprintln!(
        "note: {}: not calibrated: it is refuted as it is, so whatever is planted would be \
         \"caught\"; --calibrate is for histories that are upheld",
        path.display()
    );
}

/// Plants anomalies into copies of the history; it fits the model, or we would not be here.
fn calibrate(
    history: &History,
    args: &CheckArgs,
    model: ModelKind,
    initial: ValueId,
    count: u32,
) -> Result<Calibration, Trouble> {
    let budget = Budget::new(args.memory, args.states);
    let options = CheckOptions { initial, budget: Some(&budget), ..CheckOptions::new(model) };
    let message = || format!("calibrating: {count} anomalies of each kind, seed {}", args.seed);
    let rows = assay_judge::within(
        args.budget,
        || budget.stop(),
        || {
            progress::while_running(message, || {
                assay_check::calibrate(history, &options, count, args.seed)
            })
        },
    );
    let rows = rows.map_err(|error| Trouble::bad_history(error.to_string()))?;
    Ok(Calibration { seed: args.seed, asked: count, rows, cut: budget.is_spent() })
}

/// Re-checks every certificate with the separate verifier. A certificate that does not hold is a
/// bug in Assay, and then there is no verdict.
fn verify_all(
    path: &Path,
    history: &History,
    report: &Report,
) -> (Vec<Result<Verified, String>>, Exit) {
    let mut exit = crate::exit::of(report);
    let verified: Vec<Result<Verified, String>> = report
        .refutations
        .iter()
        .map(|refutation| assay_check::verify(history, &refutation.certificate))
        .collect();
    for problem in verified.iter().filter_map(|result| result.as_ref().err()) {
        if !problem.starts_with("too large") {
            anstream::eprintln!(
                "error: {}: a certificate does not hold ({problem}). This is a bug in Assay: \
                 please report it with this history.",
                path.display()
            );
            exit = Exit::Bug;
        }
    }
    (verified, exit)
}

fn initial_value(history: &mut History, text: &str) -> Result<ValueId, Trouble> {
    history.values.parse_json(text).map_err(|why| Trouble {
        message: format!("--initial {text}: {why}; give a JSON value such as 0 or '\"a\"'"),
        exit: Exit::Usage,
    })
}

/// The command that gives this result again.
pub fn command_line(path: &Path, args: &CheckArgs, model: &str) -> String {
    let mut line = format!("assay check {} --model {model}", path.display());
    if let Some(format) = args.input.from {
        let name = assay_history::Format::ALL.iter().find(|(known, _)| *known == format);
        line += &format!(" --from {}", name.map_or("", |&(_, name)| name));
    }
    if args.input.independent {
        line += " --independent";
    }
    if args.initial != "null" {
        line += &format!(" --initial '{}'", args.initial);
    }
    if args.fail_fast {
        line += " --fail-fast";
    }
    line
}

fn write_pictures(args: &CheckArgs, pages: &[Checked]) -> Result<(), Trouble> {
    if let Some(path) = &args.html {
        let html = output::page(pages);
        write_whole(path, |out| out.write_all(html.as_bytes()))?;
        anstream::eprintln!("report: {}", path.display());
    }
    if let Some(path) = &args.svg {
        match pages.iter().find_map(output::first_picture) {
            Some(svg) => {
                write_whole(path, |out| out.write_all(svg.as_bytes()))?;
                anstream::eprintln!("picture: {}", path.display());
            }
            None => anstream::eprintln!("no picture: nothing was refuted, so there is no witness"),
        }
    }
    Ok(())
}
