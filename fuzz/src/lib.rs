//! What every reader target does with its bytes.
//!
//! A reader may refuse its input, with an error that can be shown. It must never panic, and what it
//! accepts must survive everything the rest of Assay does with a history: validation, all writers,
//! and a round trip through Assay's own rows. A target is one line: which format to read. What the
//! checker's target does is in [`checks`].

mod adrs;

pub use adrs::lint_records;

mod checks;

pub use checks::check_and_verify;

mod guards;

pub use guards::guard_file;

mod plans;

pub use plans::read_plan;

mod promises;

pub use promises::{check_transactions, run_oracles};

use assay_history::{
    Format, History, ReadOptions, ValidateOptions, read, validate, write_jepsen_edn,
    write_jepsen_json, write_jsonl, write_jsonl_rows,
};

/// Reads `bytes` in `format` (`None`: by the first bytes) and uses the history, if there is one.
pub fn read_and_use(bytes: &[u8], format: Option<Format>) {
    for independent in [false, true] {
        match read(bytes, &ReadOptions { format, independent, progress: None }) {
            Ok(history) => use_history(&history),
            Err(error) => assert!(!error.to_string().is_empty(), "an error says what is wrong"),
        }
    }
}

fn use_history(history: &History) {
    let strict = ValidateOptions {
        allowed_types: &["read", "write"],
        nodes_needed: true,
        ..ValidateOptions::default()
    };
    for finding in validate(history, &strict) {
        assert!(!finding.what.is_empty() && !finding.consequence.is_empty(), "{finding:?}");
    }
    rows_survive_a_round_trip(history);
    other_writers_are_readable(history);
}

/// Rows are the lossless form: reading them back and writing them again gives the same bytes.
fn rows_survive_a_round_trip(history: &History) {
    let first = written(history, write_jsonl_rows);
    let again = read(&first[..], &options(Format::Jsonl)).expect("rows that were written are read");
    assert_eq!(history.len(), again.len(), "every operation comes back");
    for (before, after) in history.ops().zip(again.ops()) {
        assert_eq!(before.outcome(), after.outcome(), "with the outcome it had");
    }
    assert_eq!(text(&first), text(&written(&again, write_jsonl_rows)), "and as the same row");
}

/// The other forms cannot carry every history (two open operations with one id, say), so a reader
/// may refuse them; it may not panic.
fn other_writers_are_readable(history: &History) {
    let _ = read(&written(history, write_jsonl)[..], &options(Format::Jsonl));
    let _ = read(&written(history, write_jepsen_edn)[..], &options(Format::JepsenEdn));
    let _ = read(&written(history, write_jepsen_json)[..], &options(Format::JepsenJson));
}

fn options(format: Format) -> ReadOptions<'static> {
    ReadOptions { format: Some(format), independent: false, progress: None }
}

fn written(
    history: &History,
    write: fn(&History, &mut dyn std::io::Write) -> std::io::Result<()>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A writer may refuse a history that its format cannot say; memory itself never fails.
    let _ = write(history, &mut bytes);
    bytes
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("rows are UTF-8")
}
