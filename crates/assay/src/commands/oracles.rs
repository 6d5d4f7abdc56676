//! `assay check --checker NAME`: promises other than linearizability and isolation.

use super::check::{not_calibrated, refuse_unsound};
use super::{Outcome, Trouble, each_file, open, pick, write_whole};
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::output::oracles::{self, Judged, Judgement};
use crate::progress;
use assay_history::{ValidateOptions, validate};
use assay_oracle::{Answer, Options, calibrate, merge, named, run_guarded, self_test, verify};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Runs every checker on every file; the worst result is the exit code.
pub fn run(args: &CheckArgs, checkers: &[&'static str]) -> Exit {
    let options = match prepare(args, checkers) {
        Ok(options) => options,
        Err(trouble) => return trouble.report(),
    };
    let (exit, pages) = each_file(args, |file| check_file(file, args, checkers, &options));
    let Some(path) = &args.html else { return exit };
    let html = oracles::page(&pages);
    match write_whole(path, |out| out.write_all(html.as_bytes())) {
        Ok(()) => {
            anstream::eprintln!("report: {}", path.display());
            exit
        }
        Err(trouble) => exit.worse(trouble.report()),
    }
}

impl Outcome for Judged {
    fn exit(&self) -> Exit {
        self.exit
    }

    fn human(&self) {
        oracles::human(self);
    }

    fn json(&self) -> serde_json::Value {
        oracles::json(self)
    }
}

/// Settings, and the proof that every checker can fail.
fn prepare(args: &CheckArgs, checkers: &[&'static str]) -> Result<Options, Trouble> {
    pick::refuse_unfit(args, checkers)?;
    let usage = |message: String| Trouble { message, exit: Exit::Usage };
    let mut options = Options { anomalies_max: args.witnesses, ..Options::default() };
    for setting in &args.oracles.settings {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            usage(format!("--set {setting}: expected NAME=VALUE; see assay explain settings"))
        })?;
        options.set(name.trim(), value.trim()).map_err(|why| usage(format!("--set {why}")))?;
    }
    if let Some(path) = &args.oracles.reference {
        options.reference = Some(Arc::new(open(path, args.input)?));
    }
    for checker in checkers {
        let oracle = named(checker).expect("names were looked up");
        self_test(oracle).map_err(|why| Trouble {
            message: format!("{why}. This is a bug in Assay: please report it."),
            exit: Exit::Bug,
        })?;
    }
    Ok(options)
}

fn check_file(
    path: &Path,
    args: &CheckArgs,
    checkers: &[&'static str],
    options: &Options,
) -> Result<Judged, Trouble> {
    let begun = Instant::now();
    let history = open(path, args.input)?;
    let read_time = begun.elapsed();
    let findings = validate(&history, &ValidateOptions::default());
    refuse_unsound(path, &findings)?;
    let mut judgements = Vec::new();
    for checker in checkers {
        let oracle = named(checker).expect("names were looked up");
        let unfit = |error: assay_oracle::OracleError| {
            Trouble::bad_history(format!(
                "{}: {checker}: {error}\nhelp: assay explain {checker}",
                path.display()
            ))
        };
        let message = || format!("checking {}: {checker}", path.display());
        let begun = Instant::now();
        let mut report =
            progress::while_running(message, || run_guarded(oracle, &history, options))
                .map_err(unfit)?;
        report.seconds = Some(begun.elapsed().as_secs_f64());
        let reference = options.reference.as_deref();
        let verified = report.anomalies.iter().map(|anomaly| {
            verify(&history, reference, &anomaly.certificate).map_err(|why| why.to_string())
        });
        let verified = verified.collect();
        let calibration = match args.calibrate {
            Some(_) if report.answer == Answer::Refuted => {
                not_calibrated(path);
                None
            }
            Some(count) => {
                Some(calibrate(oracle, &history, options, count, args.seed).map_err(unfit)?)
            }
            None => None,
        };
        judgements.push(Judgement { report, verified, calibration });
    }
    let reports: Vec<_> = judgements.iter().map(|one| one.report.clone()).collect();
    let exit = verdict(path, merge(&reports).answer, &judgements);
    let mut command = format!("assay check {}", path.display());
    checkers.iter().for_each(|name| command += &format!(" --checker {name}"));
    args.oracles.settings.iter().for_each(|setting| command += &format!(" --set '{setting}'"));
    let path = path.to_path_buf();
    Ok(Judged { path, command, exit, history, judgements, findings, read_time })
}

fn verdict(path: &Path, answer: Answer, judgements: &[Judgement]) -> Exit {
    let mut failed = judgements.iter().flat_map(|one| &one.verified);
    if let Some(why) = failed.find_map(|verified| verified.as_ref().err()) {
        anstream::eprintln!(
            "error: {}: a certificate does not hold ({why}). This is a bug in Assay: please report \
             it with this history.",
            path.display()
        );
        return Exit::Bug;
    }
    match answer {
        Answer::Upheld => Exit::Upheld,
        Answer::Refuted => Exit::Refuted,
        Answer::Undecided => Exit::Undecided,
        Answer::NothingChecked => Exit::NothingChecked,
    }
}
