//! `assay check --model list-append` and its like: which isolation did the transactions have?

use super::check::{command_line, not_calibrated};
use super::{Outcome, Trouble, each_file, open_txns, write_whole};
use crate::args::{CheckArgs, SearchWhen};
use crate::exit::Exit;
use crate::output::isolation::{self, Isolation, Shown};
use crate::progress;
use assay_history::{Style, Txns};
use assay_txn::{
    Assume, CheckOptions, Limits, Report, calibrate, dot, explain, prove, self_test, verify,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Checks every file; the worst result is the exit code.
pub fn run(args: &CheckArgs, style: Style) -> Exit {
    if let Some(why) = unusable(args, style) {
        return Trouble { message: why.to_string(), exit: Exit::Usage }.report();
    }
    if let Err(why) = self_test(style) {
        let message = format!("{why}. This is a bug in Assay: please report it.");
        return Trouble { message, exit: Exit::Bug }.report();
    }
    let (exit, pages) = each_file(args, |file| check_file(file, args, style));
    match write_pictures(args, &pages) {
        Ok(()) => exit,
        Err(trouble) => exit.worse(trouble.report()),
    }
}

impl Outcome for Isolation {
    fn exit(&self) -> Exit {
        self.exit
    }

    fn human(&self) {
        isolation::human(self);
    }

    fn json(&self) -> serde_json::Value {
        isolation::json(self)
    }
}

/// Options that mean nothing for transactions: better an error than no effect.
fn unusable(args: &CheckArgs, style: Style) -> Option<&'static str> {
    let isolation = &args.isolation;
    let about_registers =
        isolation.linearizable_keys || isolation.sequential_keys || isolation.recording_complete;
    let why = match style {
        Style::RwRegister => None,
        Style::CounterInc if !about_registers => None,
        Style::CounterInc => Some(
            "--linearizable-keys, --sequential-keys and --recording-complete are for rw-register: \
             the versions of counters are ordered by value; --wfr-keys is for counters, too",
        ),
        _ if !about_registers && !isolation.wfr_keys => None,
        Style::SetAdd => Some(
            "--linearizable-keys, --sequential-keys, --wfr-keys and --recording-complete are for \
             rw-register: of sets no order of versions is needed",
        ),
        Style::ListAppend => Some(
            "--linearizable-keys, --sequential-keys, --wfr-keys and --recording-complete are for \
             rw-register: lists show the order of their versions",
        ),
    };
    if why.is_some() {
        return why;
    }
    if style != Style::RwRegister && isolation.search == SearchWhen::Always {
        return Some(
            "--search is for rw-register: the others show the order of what was read, so there is \
             nothing left to search for",
        );
    }
    if args.initial != "null" {
        return Some("--initial is for registers checked one by one; transactions begin with null");
    }
    args.input.independent.then_some(
        "--independent is for objects checked one by one; transactions name their keys themselves",
    )
}

fn check_file(path: &Path, args: &CheckArgs, style: Style) -> Result<Isolation, Trouble> {
    let begun = Instant::now();
    let txns = open_txns(path, args.input, style)?;
    let read_time = begun.elapsed();
    let begun = Instant::now();
    let assume = Assume {
        writes_follow_reads: args.isolation.wfr_keys,
        sequential_keys: args.isolation.sequential_keys,
        linearizable_keys: args.isolation.linearizable_keys,
    };
    let options = CheckOptions {
        assume,
        no_realtime: args.isolation.no_realtime,
        recording_complete: args.isolation.recording_complete,
        bytes_max: args.memory,
    };
    let message = || format!("checking {}: {} transactions", path.display(), txns.len());
    let report = progress::while_running(message, || assay_txn::check(&txns, &options));
    let mut report =
        report.map_err(|error| Trouble::bad_history(format!("{}: {error}", path.display())))?;
    search(path, args, &txns, &mut report)?;
    let check_time = begun.elapsed();
    let shown = shown(&txns, &report, args.witnesses);
    let exit = verdict(path, args, &report, &shown);
    let calibration = match args.calibrate {
        Some(_) if exit == Exit::Refuted => {
            not_calibrated(path);
            None
        }
        Some(count) => {
            let message = || format!("calibrating: {count} anomalies of each kind");
            let claim = args.isolation.consistency_model;
            let rows = progress::while_running(message, || {
                calibrate(&txns, &options, claim, count, args.seed)
            });
            Some(rows.map_err(|error| Trouble::bad_history(error.to_string()))?)
        }
        None => None,
    };
    Ok(Isolation {
        path: path.to_path_buf(),
        command: command(path, args, style),
        exit,
        claim: args.isolation.consistency_model,
        txns,
        report,
        shown,
        calibration,
        read_time,
        check_time,
    })
}

/// Looks for an order that proves the claim, if that was asked for.
fn search(path: &Path, args: &CheckArgs, txns: &Txns, report: &mut Report) -> Result<(), Trouble> {
    match args.isolation.search {
        SearchWhen::Never => return Ok(()),
        SearchWhen::Auto if report.assume != Assume::default() => return Ok(()),
        SearchWhen::Auto | SearchWhen::Always => {}
    }
    let stop = AtomicBool::new(false);
    let limits = Limits { steps_max: args.states, bytes_max: args.memory, stop: &stop };
    let claim = args.isolation.consistency_model;
    let message = || format!("looking for an order of {} transactions", txns.len());
    let proven = assay_judge::within(
        args.budget,
        || stop.store(true, Ordering::Relaxed),
        || {
            progress::while_running(message, || {
                prove(txns, args.isolation.no_realtime, report, claim, limits)
            })
        },
    );
    proven.map_err(|why| {
        let message = format!(
            "{}: {why}: an order that was found does not hold. This is a bug in Assay: please \
             report it with this history.",
            path.display()
        );
        Trouble { message, exit: Exit::Bug }
    })
}

/// The first anomalies of each kind, told and re-checked.
fn shown(txns: &Txns, report: &Report, of_each_kind: usize) -> Vec<Shown> {
    let mut shown = Vec::new();
    for &(kind, _) in &report.counts {
        let of_kind = report.anomalies.iter().filter(|anomaly| anomaly.kind == kind);
        shown.extend(of_kind.take(of_each_kind).map(|anomaly| Shown {
            anomaly: anomaly.clone(),
            story: explain(txns, anomaly),
            verified: verify(txns, report.assume, anomaly),
        }));
    }
    shown
}

fn verdict(path: &Path, args: &CheckArgs, report: &Report, shown: &[Shown]) -> Exit {
    let wrong = |why: &&String| !why.starts_with("too large");
    if let Some(why) = shown.iter().filter_map(|one| one.verified.as_ref().err()).find(wrong) {
        anstream::eprintln!(
            "error: {}: an anomaly does not hold when it is looked at again ({why}). This is a bug \
             in Assay: please report it with this history.",
            path.display()
        );
        return Exit::Bug;
    }
    let claim = args.isolation.consistency_model;
    if report.ruled_out.has(claim) {
        Exit::Refuted
    } else if report.reads == 0 {
        Exit::NothingChecked
    } else if report.undecided.iter().any(|&model| claim.implied().has(model)) {
        Exit::Undecided
    } else {
        Exit::Upheld
    }
}

fn command(path: &Path, args: &CheckArgs, style: Style) -> String {
    let mut line = command_line(path, args, style.name());
    line += &format!(" --consistency-model {}", args.isolation.consistency_model.name());
    for (given, flag) in [
        (args.isolation.linearizable_keys, " --linearizable-keys"),
        (args.isolation.sequential_keys, " --sequential-keys"),
        (args.isolation.wfr_keys, " --wfr-keys"),
        (args.isolation.no_realtime, " --no-realtime"),
        (args.isolation.recording_complete, " --recording-complete"),
    ] {
        line += if given { flag } else { "" };
    }
    line += match args.isolation.search {
        SearchWhen::Auto => "",
        SearchWhen::Always => " --search always",
        SearchWhen::Never => " --search never",
    };
    line
}

fn write_pictures(args: &CheckArgs, pages: &[Isolation]) -> Result<(), Trouble> {
    if let Some(path) = &args.html {
        let html = isolation::page(pages);
        write_whole(path, |out| out.write_all(html.as_bytes()))?;
        anstream::eprintln!("report: {}", path.display());
    }
    let mut shown = pages.iter().flat_map(|one| &one.shown);
    let cycle = shown.clone().find(|one| !one.story.steps.is_empty());
    let first = cycle.or_else(|| shown.next());
    let name = |one: &Shown| one.anomaly.kind.name().to_string();
    for (path, text) in [
        (&args.svg, first.map(|one| assay_report::ring_svg(&isolation::ring(one)))),
        (&args.dot, cycle.map(|one| dot(&name(one), &one.story))),
    ] {
        match (path, text) {
            (Some(path), Some(text)) => {
                write_whole(path, |out| out.write_all(text.as_bytes()))?;
                anstream::eprintln!("picture: {}", path.display());
            }
            (Some(_), None) => anstream::eprintln!("no picture: there is nothing to draw"),
            (None, _) => {}
        }
    }
    Ok(())
}
