//! Writing histories.

use crate::history::History;
use std::io::{self, Write};

/// Writes Assay's JSON lines in pair form: an `invoke` and a `complete` line per operation, in time order.
pub fn write_jsonl(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let _ = (history, out);
    Ok(())
}

/// Writes Assay's JSON lines, one line per operation.
pub fn write_jsonl_rows(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let _ = (history, out);
    Ok(())
}

/// Writes Jepsen operations as EDN maps, one per line.
pub fn write_jepsen_edn(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let _ = (history, out);
    Ok(())
}

/// Writes Jepsen operations as JSON maps, one per line.
pub fn write_jepsen_json(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let _ = (history, out);
    Ok(())
}
