//! Looks through a system's log for errors that nobody was told about.

use super::record::LogRecord;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Words that stand in lines of programs that went wrong and went on.
const SUSPICIOUS: [&str; 8] = [
    "panicked at",
    "panic:",
    "internal error",
    "exception",
    "fatal",
    "assertion failed",
    "traceback (most recent call last)",
    "segmentation fault",
];
/// Bytes of one log that are looked at.
const LOG_BYTES_MAX: u64 = 1 << 30;
/// Bytes of one line.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Lines that are kept to be shown.
const SAMPLES_MAX: usize = 5;
/// Characters of a line that are shown.
const SAMPLE_CHARS_MAX: usize = 300;

/// Looks through all logs. Lines with one of the texts `ordinary` are not suspicious: the system
/// says such things when nothing is wrong with it.
pub fn scan<'p>(paths: impl IntoIterator<Item = &'p Path>, ordinary: &[String]) -> LogRecord {
    let mut found = LogRecord::default();
    for path in paths {
        // A log that is not there has no lines; that nothing was read is seen in the count.
        let _unread = scan_one(path, ordinary, &mut found);
    }
    found
}

fn scan_one(path: &Path, ordinary: &[String], found: &mut LogRecord) -> io::Result<()> {
    let mut reader = BufReader::new(File::open(path)?.take(LOG_BYTES_MAX));
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut reader).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        found.lines += 1;
        let text = String::from_utf8_lossy(&line);
        let lower = text.to_lowercase();
        let is_ordinary = ordinary.iter().any(|known| text.contains(known));
        if SUSPICIOUS.iter().any(|word| lower.contains(word)) && !is_ordinary {
            found.suspicious += 1;
            if found.samples.len() < SAMPLES_MAX {
                let name =
                    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into());
                let shown: String = text.trim().chars().take(SAMPLE_CHARS_MAX).collect();
                found.samples.push(format!("{name}: {shown}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_errors_are_found_and_ordinary_lines_are_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("n1.log");
        let cases = [
            ("node 1: follower -> leader, term 3", false),
            ("thread 'main' panicked at src/lib.rs:3", true),
            ("java.lang.NullPointerException: x", true),
            ("INTERNAL ERROR: code 7", true),
            ("request failed: not leader", false),
        ];
        let text: String = cases.iter().map(|(line, _)| format!("{line}\n")).collect();
        std::fs::write(&path, text).expect("written");
        let found = scan([path.as_path()], &[]);
        let bad = cases.iter().filter(|(_, bad)| *bad).count() as u64;
        assert_eq!((found.lines, found.suspicious), (cases.len() as u64, bad));
        assert_eq!(scan([Path::new("/nowhere/at/all")], &[]).lines, 0);
        let known = scan([path.as_path()], &["NullPointerException: x".to_string()]);
        assert_eq!((known.lines, known.suspicious), (found.lines, found.suspicious - 1));
    }
}
