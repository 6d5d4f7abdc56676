//! `assay report`: a run record as documents, with every verdict computed again.

use super::{Trouble, write_whole};
use crate::args::{OutputFormat, ReportArgs};
use crate::exit::Exit;
use assay_report::run::{self, Document, Judged, JudgedScenario, Refusals, RunRecord};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Records hold counts and texts, no histories: more than this is a mistake.
const RECORD_BYTES_MAX: u64 = 256 << 20;

/// Renders a run record; the exit code is that of the run, or 65 if it cannot be reported.
pub fn run(args: &ReportArgs) -> Exit {
    if args.schema {
        anstream::print!("{}", run::schema());
        return Exit::Upheld;
    }
    let Some(file) = &args.file else { unreachable!("clap asks for FILE unless --schema") };
    report(args, file).unwrap_or_else(Trouble::report)
}

fn report(args: &ReportArgs, file: &Path) -> Result<Exit, Trouble> {
    let text = read(file)?;
    let record = run::read(&text).map_err(|error| {
        Trouble::bad_history(format!("{}:{}: {}", file.display(), error.line, error.message))
    })?;
    let rendered = run::render(&record);
    let judged = Judged::of(&record);
    if args.output.format == OutputFormat::Json {
        anstream::println!("{}", as_json(&judged, rendered.as_ref().err()));
    }
    match rendered {
        Err(refusals) => {
            for refusal in &refusals.0 {
                anstream::eprintln!("error: {}: {refusal}", file.display());
            }
            let count = refusals.0.len();
            anstream::eprintln!("not reported, for {count} reason(s); nothing was written");
            Ok(Exit::BadHistory)
        }
        Ok(documents) => {
            // What lies beside the record: its plan, and its trials.
            let directory = file.parent().unwrap_or(Path::new("."));
            super::run::export(&record, directory, &args.exports)?;
            if let Some(path) = &args.html {
                let view = assay_runner::page::view_of_old(&record, directory);
                let page = run::page(&view).map_err(super::run::unreportable)?;
                write_whole(path, |out| out.write_all(page.as_bytes()))?;
            }
            show(args, &record, &judged, &documents)?;
            Ok(judged.verdict.exit())
        }
    }
}

fn read(file: &Path) -> Result<String, Trouble> {
    let unavailable = |error: std::io::Error| Trouble::unavailable(file, "read", &error);
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(File::open(file).map_err(unavailable)?),
    };
    source.take(RECORD_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unavailable)?;
    if bytes.len() as u64 > RECORD_BYTES_MAX {
        let message = format!("{}: larger than 256 MiB: not a run record", file.display());
        return Err(Trouble::bad_history(message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|b| *b == b'\n');
        let message = format!("{}:{}: not UTF-8 text", file.display(), line.count());
        Trouble::bad_history(message)
    })
}

/// Files if a directory is given, else the report itself.
fn show(
    args: &ReportArgs,
    record: &RunRecord,
    judged: &Judged,
    documents: &[Document],
) -> Result<(), Trouble> {
    let human = args.output.format == OutputFormat::Human;
    let Some(directory) = &args.out else {
        let report = documents.iter().find(|document| document.path == "findings/report.md");
        if let (true, Some(report)) = (human, report) {
            anstream::print!("{}", report.text);
        }
        return Ok(());
    };
    let findings = directory.join("findings");
    std::fs::create_dir_all(&findings)
        .map_err(|error| Trouble::unavailable(&findings, "create", &error))?;
    for document in documents {
        let path = directory.join(&document.path);
        write_whole(&path, |out| out.write_all(document.text.as_bytes()))?;
    }
    if human {
        let (verdict, count) = (judged.verdict, judged.scenarios.len());
        let sut = run::one_line(&record.sut);
        anstream::println!("{verdict}  {sut}: {count} scenarios, {}", verdict.meaning());
        for scenario in &judged.scenarios {
            anstream::println!("  {:<8} {}", scenario.scenario.id, scenario.sentence);
        }
        anstream::println!("next: read {}", findings.join("report.md").display());
    }
    Ok(())
}

fn as_json(judged: &Judged, refusals: Option<&Refusals>) -> Value {
    let scenarios: Vec<Value> = judged.scenarios.iter().map(scenario_json).collect();
    let refusals: Vec<String> =
        refusals.map_or(Vec::new(), |all| all.0.iter().map(ToString::to_string).collect());
    json!({
        "verdict": judged.verdict,
        "exit": judged.verdict.exit().code(),
        "scenarios": scenarios,
        "refusals": refusals,
    })
}

fn scenario_json(judged: &JudgedScenario) -> Value {
    let arms: Vec<Value> = judged
        .arms
        .iter()
        .map(|arm| {
            let mut value = json!(arm.judgement);
            value["id"] = json!(arm.arm.id);
            value
        })
        .collect();
    json!({
        "id": judged.scenario.id,
        "verdict": judged.verdict,
        "sentence": judged.sentence,
        "arms": arms,
    })
}
