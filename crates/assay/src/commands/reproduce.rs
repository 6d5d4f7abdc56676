//! `assay reproduce`: one trial again, exactly as a finding describes it.

use super::run::{Stop, executable, read_plan};
use super::{Trouble, inside};
use crate::args::{OutputFormat, ReproduceArgs};
use crate::exit::Exit;
use crate::output::run::Screen;
use assay_runner::event::{Events, Purpose, RunEvent};
use assay_runner::frozen::Frozen;
use assay_runner::heal::{below, heal_trial, is_abandoned};
use assay_runner::scenario::lacks;
use assay_runner::spec::TrialSpec;
use assay_runner::trial::{Surroundings, TrialError, TrialRecord};
use std::path::Path;

/// How temporary directories begin whose trials a killed process may have left as they were.
const TEMPORARY: &str = "assay-reproduce-";

/// Runs one trial again.
pub fn reproduce(args: &ReproduceArgs) -> Exit {
    try_again(args).unwrap_or_else(Trouble::report)
}

fn try_again(args: &ReproduceArgs) -> Result<Exit, Trouble> {
    let text = read_plan(&args.file)?;
    let spec: TrialSpec = serde_json::from_str(&text).map_err(|error| {
        let (path, line) = (args.file.display(), error.line());
        Trouble::bad_history(format!("{path}:{line}: not a trial: {error}"))
    })?;
    let path = args.file.display();
    spec.check().map_err(|why| Trouble::bad_history(format!("{path}: not a trial: {why}")))?;
    let frozen = assay_runner::frozen::system_of_a_file(&args.file, &spec.system.name)
        .map_err(|message| Trouble { message, exit: Exit::MissingCapability })?;
    if spec.system.digest.as_ref().is_some_and(|digest| *digest != frozen.digest) {
        let name = &spec.system.name;
        anstream::eprintln!("note: {name} is not described as it was when this trial was written");
    }
    inside::go_if(!spec.system.network.is_default(), heal_killed)?;
    // As before a run: a fault that nobody can inject would never land, and prove nothing.
    let missing = lacks(&spec, &frozen.system);
    if !missing.is_empty() {
        let message = format!("{}: cannot be tried: {}", args.file.display(), missing.join("; "));
        return Err(Trouble { message, exit: Exit::MissingCapability });
    }
    heal_killed();
    let temporary = tempfile::Builder::new().prefix(TEMPORARY).tempdir();
    let temporary = temporary
        .map_err(|error| Trouble::unavailable(&std::env::temp_dir(), "make a directory", &error))?;
    let root = args.directory.as_deref().unwrap_or(temporary.path());
    std::fs::create_dir_all(root).map_err(|e| Trouble::unavailable(root, "make", &e))?;
    // Whoever is killed in the middle leaves faults there, which can be healed.
    anstream::eprintln!("the trial runs in {}", root.display());
    tries(args, &spec, &frozen, root)
}

/// Tries until it shows. That it did not show means something only if every try could have shown
/// it: 0 then, and else 2.
fn tries(
    args: &ReproduceArgs,
    spec: &TrialSpec,
    frozen: &Frozen,
    root: &Path,
) -> Result<Exit, Trouble> {
    let stop = Stop::listen()?;
    let executable = executable()?;
    let screen = Screen::new(args.output.format);
    let watcher = |event: &RunEvent| screen.tell(event);
    let events = Events::open(&root.join("events.jsonl"), &watcher)
        .map_err(|error| Trouble::unavailable(root, "write", &error))?;
    let around = Surroundings {
        system: &frozen.system,
        executable: &executable,
        events: &events,
        interrupted: stop.flag(),
        sabotage: None,
        plants: 1,
    };
    let mut weak = None;
    for number in 1..=args.tries {
        let directory = root.join(format!("reproduce-{number}-{}", std::process::id()));
        let tried = assay_runner::trial::run(spec, Purpose::Reproduce, &directory, &around);
        screen.clear();
        let record = tried.map_err(|error| match error {
            TrialError::Interrupted => {
                Trouble { message: "interrupted".to_string(), exit: stop.exit() }
            }
            error => Trouble { message: error.to_string(), exit: Exit::MissingCapability },
        })?;
        if record.is_violation() {
            show_trial(&record, number, None, args.output.format);
            return Ok(Exit::Refuted);
        }
        weak = weak.or(record.could_have_shown().err());
        if number == args.tries {
            show_trial(&record, number, weak.as_deref(), args.output.format);
        }
    }
    Ok(if weak.is_some() { Exit::Undecided } else { Exit::Upheld })
}

/// Undoes what killed processes of this kind have left.
fn heal_killed() {
    if inside::has_gone() {
        return;
    }
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let ours = |path: &std::path::PathBuf| {
        name(path).is_some_and(|name| name.starts_with(TEMPORARY)) && is_abandoned(path)
    };
    for directory in below(&std::env::temp_dir()).into_iter().filter(ours) {
        for line in below(&directory).iter().flat_map(|trial| heal_trial(trial)) {
            anstream::eprintln!("healed what a killed process left: {line}");
        }
        // If it cannot be removed it is looked at again, and nothing is found.
        let _looked_at_again = std::fs::remove_dir_all(&directory);
    }
}

fn show_trial(record: &TrialRecord, tries: u32, weak: Option<&str>, format: OutputFormat) {
    if format == OutputFormat::Json {
        let mut value = serde_json::to_value(record).expect("a record is JSON");
        value["reproduced"] = record.is_violation().into();
        value["could_not_have_shown"] = weak.into();
        value["tries"] = tries.into();
        anstream::println!("{value}");
        return;
    }
    let word = match (record.is_violation(), weak) {
        (true, _) => "REPRODUCED",
        (false, None) => "NOT REPRODUCED",
        (false, Some(_)) => "UNDECIDED",
    };
    anstream::println!("{word}  in {tries} tries: {}", record.result());
    if let Some(why) = weak {
        anstream::println!("it could not have shown in every try: {why}");
    }
    for anomaly in &record.judged.anomalies {
        anstream::println!();
        anomaly.story().iter().for_each(|line| anstream::println!("{line}"));
    }
}
