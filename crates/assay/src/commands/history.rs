//! `assay history`: validate, convert, stats.

use super::{Trouble, open, write_whole};
use crate::args::{HistoryCommand, InputArgs, OutputArgs, OutputFormat, TargetFormat};
use crate::exit::Exit;
use crate::output;
use assay_check::ModelKind;
use assay_history::{History, Packing, Severity, ValidateOptions, validate, write_packed};
use std::cell::Cell;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Runs one of the history commands.
pub fn run(command: HistoryCommand) -> Exit {
    let result = match command {
        HistoryCommand::Validate { file, model, nodes, input, output } => {
            validate_file(&file, model, nodes, input, output)
        }
        HistoryCommand::Convert { file, to, output, input } => {
            convert(&file, to, output.as_deref(), input)
        }
        HistoryCommand::Stats { file, input, output } => stats(&file, input, output),
    };
    result.unwrap_or_else(Trouble::report)
}

fn validate_file(
    path: &Path,
    model: Option<ModelKind>,
    nodes: bool,
    input: InputArgs,
    output: OutputArgs,
) -> Result<Exit, Trouble> {
    let history = open(path, input)?;
    let verbs: Vec<&str> = model
        .map(|model| model.info().verbs.iter().map(|&(name, _)| name).collect())
        .unwrap_or_default();
    let rules = ValidateOptions {
        allowed_types: &verbs,
        nodes_needed: nodes,
        ..ValidateOptions::default()
    };
    let findings = validate(&history, &rules);
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    let unsound = count(Severity::Unsound);
    match output.format {
        OutputFormat::Json => {
            anstream::println!("{}", output::findings_json(path, &history, &findings));
        }
        OutputFormat::Human => {
            let answer = match (unsound, count(Severity::Weak)) {
                (0, 0) => "VALID: this history can carry a verdict",
                (0, _) => "WEAK: some checkers cannot be sound on this history",
                _ => "UNSOUND: no checker can be sound on this history",
            };
            anstream::println!("{answer} ({} operations)", output::grouped(history.len() as u64));
            for finding in &findings {
                let place = output::place(path, finding.line);
                anstream::println!("{place}: {}", output::finding_text(finding));
            }
            if let Some(first) = findings.first() {
                anstream::println!("next: assay explain {:?}", first.rule);
            }
        }
    }
    Ok(if unsound > 0 { Exit::BadHistory } else { Exit::Upheld })
}

fn convert(
    path: &Path,
    to: TargetFormat,
    target: Option<&Path>,
    input: InputArgs,
) -> Result<Exit, Trouble> {
    let history = open(path, input)?;
    // What the format cannot carry is the history's fault, not the disk's.
    let unfit = Cell::new(None);
    let write = |out: &mut dyn Write| {
        let written = match to {
            TargetFormat::Jsonl => assay_history::write_jsonl(&history, out),
            TargetFormat::JsonlRows => assay_history::write_jsonl_rows(&history, out),
            TargetFormat::JepsenEdn => assay_history::write_jepsen_edn(&history, out),
            TargetFormat::JepsenJson => assay_history::write_jepsen_json(&history, out),
            TargetFormat::PorcupineLog => assay_history::write_porcupine_log(&history, out),
        };
        written.inspect_err(|error| {
            let ours = error.kind() == ErrorKind::InvalidInput && error.raw_os_error().is_none();
            unfit.set(ours.then(|| format!("{}: {error}", path.display())));
        })
    };
    let blamed = |trouble: Trouble| unfit.take().map_or(trouble, Trouble::bad_history);
    match target {
        Some(target) => {
            write_whole(target, |out| write_packed(packing(target), out, write)).map_err(blamed)?;
            let count = output::grouped(history.len() as u64);
            anstream::eprintln!("{count} operations written to {}", target.display());
        }
        None => {
            let mut out = std::io::BufWriter::new(std::io::stdout().lock());
            match write(&mut out).and_then(|()| out.flush()) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    std::process::exit(crate::exit::BROKEN_PIPE)
                }
                result => result
                    .map_err(|e| Trouble::unavailable(Path::new("-"), "write", &e))
                    .map_err(blamed)?,
            }
        }
    }
    Ok(Exit::Upheld)
}

/// The compression that a file's name asks for, if any.
fn packing(target: &Path) -> Packing {
    match target.extension().and_then(|extension| extension.to_str()) {
        Some("zst") => Packing::Zstd,
        Some("gz") => Packing::Gzip,
        _ => Packing::Plain,
    }
}

fn stats(path: &Path, input: InputArgs, output: OutputArgs) -> Result<Exit, Trouble> {
    let history: History = open(path, input)?;
    let stats = output::Stats::of(&history);
    match output.format {
        OutputFormat::Json => anstream::println!("{}", stats.json(path)),
        OutputFormat::Human => anstream::print!("{}", stats.text(path)),
    }
    Ok(if history.is_empty() { Exit::NothingChecked } else { Exit::Upheld })
}
