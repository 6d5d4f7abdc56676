//! Reading a file, with numbers of lines.

use super::path::ToolPath;
use super::{ANSWER_BYTES_MAX, FileResult, shortened};
use crate::job::Places;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// How much of a file is looked through for the lines that are wanted.
const SCAN_BYTES_MAX: u64 = 64 << 20;
/// Where a file is looked at to see whether it is text.
const SAMPLE_BYTES: usize = 8192;

pub(super) fn read(seen: &Places, path: &str, offset: u64, limit: u64) -> FileResult {
    let path = ToolPath::parse(path)?;
    let file = path.open(seen)?;
    show(file, offset, limit).map_err(|error| match error {
        Problem::Io(error) => path.says(&error),
        Problem::Binary => format!("{}: is not text", path.shown()),
        Problem::Beyond { lines } => {
            format!("{}: has {lines} lines, none from {offset} on", path.shown())
        }
    })
}

enum Problem {
    Io(std::io::Error),
    Binary,
    Beyond { lines: u64 },
}

fn show(file: File, offset: u64, limit: u64) -> Result<String, Problem> {
    let mut lines = BufReader::with_capacity(SAMPLE_BYTES, file.take(SCAN_BYTES_MAX));
    if lines.fill_buf().map_err(Problem::Io)?.contains(&0) {
        return Err(Problem::Binary);
    }
    let (first, last) = (offset.max(1), offset.max(1).saturating_add(limit));
    let (mut text, mut number, mut line) = (String::new(), 0_u64, Vec::new());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(Problem::Io)? == 0 {
            break;
        }
        number += 1;
        if number < first {
            continue;
        }
        if number >= last || text.len() > ANSWER_BYTES_MAX {
            let _written = write!(text, "[more from line {number} on; use offset to read it]");
            return Ok(text);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = shortened(&String::from_utf8_lossy(line));
        let _written = writeln!(text, "{number:>6}\t{line}");
    }
    match (number, text.is_empty()) {
        (0, _) => Ok("[the file is empty]".to_string()),
        (lines, true) => Err(Problem::Beyond { lines }),
        _ => Ok(text),
    }
}
