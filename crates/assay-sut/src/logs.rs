//! What nodes print: the last lines for people, lines with a text for signals.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Lines shown of a node that did not start.
const TAIL_LINES: usize = 15;
/// Bytes looked at for them.
const TAIL_BYTES: u64 = 16 << 10;
/// Bytes of a log that are searched; the rest of a larger one is not looked at.
const SEARCH_BYTES_MAX: u64 = 1 << 30;

/// How many lines contain a text.
pub(crate) fn lines_with(path: &Path, text: &str) -> u64 {
    let Ok(file) = File::open(path) else { return 0 };
    let mut reader = BufReader::new(file.take(SEARCH_BYTES_MAX));
    let (mut count, mut line) = (0, Vec::new());
    // What cannot be read any more has no more lines.
    while let Ok(1..) = reader.read_until(b'\n', &mut line) {
        let found = String::from_utf8_lossy(&line).contains(text);
        count += u64::from(found);
        line.clear();
    }
    count
}

/// The last lines, for a message.
pub(crate) fn tail(path: &Path) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL_LINES);
    lines[from..].iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_once_and_the_tail_is_short() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        assert_eq!((lines_with(&path, "x"), tail(&path).len()), (0, 0));
        let mut text: String = (0..40).map(|n| format!("line {n} lost lost\n")).collect();
        text.push_str("\u{fffd} not ended, lost");
        std::fs::write(&path, [text.as_bytes(), b"\xff\n"].concat()).expect("it can be written");
        assert_eq!(lines_with(&path, "lost"), 41);
        assert_eq!(lines_with(&path, "line 3"), 11);
        let tail = tail(&path);
        assert_eq!(tail.len(), TAIL_LINES);
        assert_eq!(tail[0], "line 26 lost lost");
    }
}
