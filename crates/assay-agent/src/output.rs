//! Output of an agent: whole lines for the engine's language, a log with both ends, a tail.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// A line that is longer is no message of any engine.
pub(crate) const LINE_BYTES_MAX: usize = 4 << 20;
/// How much of the beginning a log keeps.
const LOG_HEAD_BYTES_MAX: u64 = 8 << 20;
/// How much of the end is kept.
pub(crate) const TAIL_BYTES_MAX: usize = 64 << 10;

/// Makes lines of bytes.
#[derive(Default, Debug)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// The line is too long: the rest of it is dropped.
    dropping: bool,
}

/// A line of output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    Whole(String),
    /// Longer than [`LINE_BYTES_MAX`].
    TooLong,
}

impl Lines {
    /// Takes bytes and hands out the lines they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(Line)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.add(&bytes[..end], &mut take);
            bytes = &bytes[end + 1..];
            self.finish(&mut take);
        }
        self.add(bytes, &mut take);
    }

    /// The last line, if it has no line feed.
    pub(crate) fn finish(&mut self, take: &mut impl FnMut(Line)) {
        let line = std::mem::take(&mut self.begun);
        if !std::mem::take(&mut self.dropping) && !line.is_empty() {
            take(Line::Whole(String::from_utf8_lossy(&line).into_owned()));
        }
    }

    fn add(&mut self, bytes: &[u8], take: &mut impl FnMut(Line)) {
        if self.dropping {
            return;
        }
        if self.begun.len() + bytes.len() > LINE_BYTES_MAX {
            self.begun = Vec::new();
            self.dropping = true;
            return take(Line::TooLong);
        }
        self.begun.extend_from_slice(bytes);
    }
}

/// A file with the beginning and the end of what was written, and how much there was. What counts
/// is in memory, too: whoever was run may be able to change the file.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    pub bytes: u64,
    end: VecDeque<u8>,
    end_bytes_max: usize,
}

/// The end of what was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Written {
    /// As much as was to be kept.
    pub kept: Vec<u8>,
    /// At most [`TAIL_BYTES_MAX`] of it, to be shown.
    pub tail: String,
}

impl Log {
    pub(crate) fn create(path: &Path, kept_bytes: usize) -> io::Result<Log> {
        let (end, end_bytes_max) = (VecDeque::new(), kept_bytes.max(TAIL_BYTES_MAX));
        Ok(Log { file: File::create(path)?, bytes: 0, end, end_bytes_max })
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = LOG_HEAD_BYTES_MAX.saturating_sub(self.bytes);
        let head = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        self.bytes += bytes.len() as u64;
        let fresh = &bytes[bytes.len().saturating_sub(self.end_bytes_max)..];
        let old = (self.end.len() + fresh.len()).saturating_sub(self.end_bytes_max);
        self.end.drain(..old);
        self.end.extend(fresh);
        self.file.write_all(&bytes[..head])
    }

    /// Ends the file with the tail, if the beginning is not all. Gives the end.
    pub(crate) fn finish(mut self) -> io::Result<Written> {
        let kept = Vec::from(self.end);
        let tail = &kept[kept.len().saturating_sub(TAIL_BYTES_MAX)..];
        let left_out = self.bytes.saturating_sub(LOG_HEAD_BYTES_MAX);
        if left_out > 0 {
            let shown = tail.len().min(usize::try_from(left_out).unwrap_or(usize::MAX));
            let gap = left_out - shown as u64;
            write!(self.file, "\n[{gap} bytes are left out here]\n")?;
            self.file.write_all(&tail[tail.len() - shown..])?;
        }
        let tail = String::from_utf8_lossy(tail).into_owned();
        Ok(Written { kept, tail })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_from_any_pieces() {
        let text = "one\n\ntwo é\nthree";
        for size in 1..=text.len() {
            let (mut lines, mut heard) = (Lines::default(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                lines.push(piece, |line| heard.push(line));
            }
            lines.finish(&mut |line| heard.push(line));
            let expected = ["one", "two é", "three"].map(|line| Line::Whole(line.to_string()));
            assert_eq!(heard, expected, "pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_end_is_said_once_and_not_kept() {
        let (mut lines, mut heard) = (Lines::default(), Vec::new());
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..10 {
            lines.push(&piece, |line| heard.push(line));
        }
        lines.push(b"\nnext\n", |line| heard.push(line));
        assert_eq!(heard, [Line::TooLong, Line::Whole("next".to_string())]);
        assert!(lines.begun.capacity() <= LINE_BYTES_MAX);
    }

    #[test]
    fn a_log_keeps_both_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let mut log = Log::create(&path, 0).expect("a file");
        log.push(b"short").expect("written");
        assert_eq!(log.finish().expect("written").tail, "short");
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "short");

        let mut log = Log::create(&path, 0).expect("a file");
        let line = format!("{}\n", "y".repeat(999));
        for _ in 0..20_000 {
            log.push(line.as_bytes()).expect("written");
        }
        log.push(b"the end").expect("written");
        let Written { kept, tail } = log.finish().expect("written");
        assert!(kept.len() == TAIL_BYTES_MAX && kept.ends_with(tail.as_bytes()));
        assert!(tail.len() == TAIL_BYTES_MAX && tail.ends_with("\nthe end"));
        let kept = std::fs::read_to_string(&path).expect("there");
        assert!(kept.len() < (LOG_HEAD_BYTES_MAX as usize) + TAIL_BYTES_MAX + 100);
        let gap = 20_000_007 - LOG_HEAD_BYTES_MAX - TAIL_BYTES_MAX as u64;
        assert!(kept.contains(&format!("[{gap} bytes are left out here]")), "{}", kept.len());
        assert!(kept.ends_with("\nthe end"));
    }

    #[test]
    fn what_is_to_be_kept_has_no_gap_whatever_happens_to_the_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("log");
        let mut log = Log::create(&path, 10 << 20).expect("a file");
        std::fs::remove_file(&path).expect("ours");
        std::fs::write(&path, "something else").expect("ours");
        let mut all = Vec::new();
        for number in 0..150_000_u32 {
            let line = format!("{number} {}\n", "z".repeat(50));
            log.push(line.as_bytes()).expect("written");
            all.extend(line.into_bytes());
        }
        assert!(all.len() as u64 > LOG_HEAD_BYTES_MAX, "more than a file has: {}", all.len());
        assert!(log.finish().expect("written").kept == all);
    }
}
