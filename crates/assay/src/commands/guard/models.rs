//! `assay guard mutate`, `vacuity` and `states`: what a checker has to explore.

use super::written;
use crate::args::{
    EngineArg, ModelArgs, MutateArgs, OutputArgs, OutputFormat, StatesArgs, VacuityArgs,
};
use crate::commands::Trouble;
use crate::exit::Exit;
use crate::progress::while_running;
use assay_guard::tla::records::{
    Kills, Ledger, STATES_FILE, kills_path, parse_states, states_to_toml,
};
use assay_guard::{Finding, Verdict};
use assay_mutate::campaign::{self, Effort, Matrix, Progress};
use assay_mutate::findings::{self, Recorded};
use assay_mutate::{
    Answer, CannotCheck, Engine, EngineChoice, Limits, Model, ModelError, choose, picture, show,
    vacuity,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Mutants that `vacuity` tries where there is no record.
const VACUITY_MUTANTS_MAX: usize = 40;

fn bad_model(error: &ModelError) -> Trouble {
    let exit = match error {
        ModelError::Read { .. } => Exit::MissingCapability,
        ModelError::NoConfiguration { .. } => Exit::Usage,
        _ => Exit::BadHistory,
    };
    Trouble { message: error.to_string(), exit }
}

fn cannot(error: &CannotCheck) -> Trouble {
    let exit = match error {
        CannotCheck::Rejected { .. } => Exit::BadHistory,
        CannotCheck::Interrupted => Exit::Undecided,
        _ => Exit::MissingCapability,
    };
    Trouble { message: error.to_string(), exit }
}

/// A model with what explores it and what is on record about it.
struct Subject {
    model: Model,
    engine: Box<dyn Engine>,
    limits: Limits,
    kills_file: PathBuf,
    states_file: PathBuf,
    kills: Option<Recorded<Kills>>,
    states: Option<Recorded<Ledger>>,
}

/// How much is tried.
struct Tried {
    mutants_max: usize,
    states_max: Option<u64>,
    quick: bool,
    /// Whether it is to be written down, and so not to be measured as what is.
    fresh: bool,
}

fn record<T>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<Recorded<T>>, Trouble> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Trouble::unavailable(path, "read", &error)),
    };
    let file = path.display().to_string();
    let bad = |why| Trouble::bad_history(format!("{file}: {why}; write it anew with --record"));
    let record = parse(&text).map_err(bad)?;
    Ok(Some(Recorded { file, text, record }))
}

impl Subject {
    fn of(args: &ModelArgs) -> Result<Subject, Trouble> {
        stop_when_asked();
        let model = Model::read(&args.spec, args.config.as_deref()).map_err(|e| bad_model(&e))?;
        let choice = match (args.engine, &args.tlc) {
            (EngineArg::Tlc, jar) | (EngineArg::Any, jar @ Some(_)) => {
                EngineChoice::Tlc(jar.clone())
            }
            (EngineArg::TlaChecker, _) => EngineChoice::TlaChecker,
            (EngineArg::Any, None) => EngineChoice::Any,
        };
        let engine = choose(&choice).map_err(|error| cannot(&error))?;
        let kills_file = PathBuf::from(kills_path(&model.cfg_file.display().to_string()));
        let states_file = model.file.with_file_name(STATES_FILE);
        let kills = record(&kills_file, Kills::parse)?;
        let states = record(&states_file, parse_states)?;
        let limits = Limits { time: args.time, memory_mib: args.memory, ..Limits::default() };
        Ok(Subject { model, engine, limits, kills_file, states_file, kills, states })
    }

    fn matrix(&self, tried: &Tried) -> Result<Matrix, Trouble> {
        let Tried { mutants_max, states_max, quick, fresh } = *tried;
        let known = self.kills.as_ref().map(|recorded| &recorded.record);
        let as_before = known.filter(|_| !fresh).and_then(|record| record.states_max);
        let states_max = states_max.or(as_before);
        let only = known.filter(|_| quick);
        let effort = Effort { mutants_max, only, states_max, limits: self.limits };
        let progress = Progress::default();
        let done = while_running(
            || progress.words(),
            || campaign::run(&*self.engine, &self.model, &effort, &progress),
        );
        done.map_err(|error| cannot(&error))
    }

    /// A module that is broken as it is says nothing about its mutants.
    fn sound(&self, base: &Answer) -> Result<(), Trouble> {
        let place = format!("{} with {}", self.model.file.display(), self.model.configuration());
        if let Some(name) = base.violated.iter().next() {
            let message = format!("{place}: {name} is violated as it is; mend that first");
            return Err(Trouble { message, exit: Exit::Refuted });
        }
        let Some(why) = &base.stopped else { return Ok(()) };
        let (what, exit) = match base.undecided.is_empty() {
            true => ("cannot be explored; correct it first", Exit::BadHistory),
            false => ("take a smaller configuration, or raise --time or --memory", Exit::Undecided),
        };
        Err(Trouble { message: format!("{place}: {why}; {what}"), exit })
    }

    fn write_states(&self, base: &Answer) -> Result<(), Trouble> {
        let mut ledger = self.states.as_ref().map_or(Ledger::new(), |own| own.record.clone());
        let own = findings::counted(&self.model, &self.engine.name(), base);
        ledger.insert(self.model.configuration(), own);
        written(&self.states_file, &states_to_toml(&ledger))
    }
}

fn stop_when_asked() {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Without it a signal ends the process, and what it started ends at its limits.
        let _unavailable = signal_hook::flag::register(signal, assay_mutate::stop_flag());
    }
}

fn exit_of(findings: &[Finding], open: bool) -> Exit {
    match findings.iter().map(|finding| finding.verdict).min() {
        Some(Verdict::Weaker) => Exit::Refuted,
        Some(Verdict::Suspect | Verdict::Changed) => Exit::Undecided,
        _ if open => Exit::Undecided,
        _ => Exit::Upheld,
    }
}

fn told(findings: &[Finding]) {
    for finding in findings {
        let Finding { rule, object, verdict, reason, .. } = finding;
        anstream::println!("{verdict} [{rule}] {object}\n    {reason}");
        if let Some(place) = finding.place() {
            anstream::println!("    at {place}");
        }
    }
}

/// Runs `mutate`.
pub fn mutate(args: &MutateArgs) -> Result<Exit, Trouble> {
    let subject = Subject::of(&args.model)?;
    if args.quick && subject.kills.is_none() {
        let file = subject.kills_file.display();
        let message = format!("{file}: there is no record yet; run once with --record");
        return Err(Trouble { message, exit: Exit::Usage });
    }
    let matrix = subject.matrix(&Tried {
        mutants_max: args.mutants,
        states_max: args.states,
        quick: args.quick,
        fresh: args.record,
    })?;
    subject.sound(&matrix.base)?;
    let compared = subject.kills.as_ref().filter(|_| !args.record);
    let counted = subject.states.as_ref().filter(|_| !args.record);
    let mut found = findings::of_matrix(&subject.model, &matrix, compared);
    found.extend(findings::of_states(&subject.model, &matrix.engine, &matrix.base, counted));
    if let Some(path) = &args.html {
        written(path, &picture::html(&matrix))?;
    }
    if args.record {
        written(&subject.kills_file, &matrix.kills().to_toml())?;
        subject.write_states(&matrix.base)?;
    }
    let file = subject.kills_file.display().to_string();
    let exit = exit_of(&found, false);
    match args.output.format {
        OutputFormat::Json => anstream::println!(
            "{}",
            json!({ "matrix": matrix, "findings": found, "record": file, "recorded": args.record })
        ),
        OutputFormat::Human => {
            anstream::print!("{}", show::text(&matrix, args.all));
            told(&found);
            if found.is_empty() {
                anstream::println!(
                    "every property notices a mutant{}",
                    match compared {
                        Some(_) => ", and none notices less than before",
                        None => "",
                    }
                );
            }
            anstream::println!(
                "{}",
                match (args.record, compared) {
                    (true, _) =>
                        format!("next: read {file} and {STATES_FILE} beside it, commit both"),
                    (false, None) => format!("next: --record writes {file}, to compare with"),
                    (false, Some(_)) => format!("compared with {file}"),
                }
            );
        }
    }
    Ok(exit)
}

/// Runs `vacuity`.
pub fn vacuity(args: &VacuityArgs) -> Result<Exit, Trouble> {
    let subject = Subject::of(&args.model)?;
    let asked = while_running(
        || "asking what is reached".to_string(),
        || vacuity::run(&*subject.engine, &subject.model, &subject.limits),
    );
    let reached = asked.map_err(|error| cannot(&error))?;
    let mut found = findings::of_reached(&subject.model, &reached);
    let matrix = subject.matrix(&Tried {
        mutants_max: VACUITY_MUTANTS_MAX,
        states_max: None,
        quick: subject.kills.is_some(),
        fresh: false,
    })?;
    subject.sound(&matrix.base)?;
    found.extend(findings::of_matrix(&subject.model, &matrix, subject.kills.as_ref()));
    let counted = subject.states.as_ref();
    found.extend(findings::of_states(&subject.model, &matrix.engine, &matrix.base, counted));
    match args.output.format {
        OutputFormat::Json => anstream::println!(
            "{}",
            json!({ "reached": reached, "matrix": matrix, "findings": found })
        ),
        OutputFormat::Human => {
            anstream::println!(
                "{} with {}: {} conditions, {} kinds of steps, {} properties; {} states, by {}",
                matrix.module,
                matrix.configuration,
                reached.conditions.len(),
                reached.steps.len(),
                matrix.properties.len(),
                matrix.base.distinct,
                matrix.engine
            );
            reached.notes.iter().for_each(|note| anstream::println!("note: {note}"));
            told(&found);
            if found.is_empty() {
                anstream::println!(
                    "every condition holds somewhere, every step is taken, every property \
                     notices a mutant ({} tried)",
                    matrix.rows.len()
                );
            }
        }
    }
    Ok(exit_of(&found, false))
}

/// Runs `states`.
pub fn states(args: &StatesArgs) -> Result<Exit, Trouble> {
    let subject = Subject::of(&args.model)?;
    let question = subject.model.question();
    let asked = while_running(
        || format!("exploring {}", subject.model.file.display()),
        || subject.engine.ask(&subject.model, &question, &subject.limits),
    );
    let base = asked.map_err(|error| cannot(&error))?;
    subject.sound(&base)?;
    let engine = subject.engine.name();
    let before = subject.states.as_ref().filter(|_| !args.record);
    let found = findings::of_states(&subject.model, &engine, &base, before);
    if args.record {
        subject.write_states(&base)?;
    }
    counted(&args.output, &subject, &base, &found, args.record);
    Ok(exit_of(&found, false))
}

fn counted(
    output: &OutputArgs,
    subject: &Subject,
    base: &Answer,
    found: &[Finding],
    recorded: bool,
) {
    let (name, engine) = (subject.model.configuration(), subject.engine.name());
    let file = subject.states_file.display();
    let known = subject.states.as_ref().is_some_and(|own| own.record.contains_key(&name));
    match output.format {
        OutputFormat::Json => anstream::println!(
            "{}",
            json!({ "configuration": name, "engine": engine, "states": base, "findings": found,
                "record": file.to_string(), "recorded": recorded })
        ),
        OutputFormat::Human => {
            let Answer { distinct, steps, .. } = base;
            anstream::println!("{name}: {distinct} states, {steps} steps, counted by {engine}");
            told(found);
            match (recorded, known) {
                (true, _) => anstream::println!("next: read {file} and commit it"),
                (false, true) => anstream::println!("compared with {file}"),
                (false, false) => anstream::println!("next: --record writes {file}"),
            }
        }
    }
}
