//! The file `head`: the last event that was acknowledged.
//!
//! A chain says of each event that those before it are there, and nothing of those behind it: cut
//! off its end, and it is a chain. SQLite does just that when a byte of its write-ahead log is
//! wrong. So place and hash of the last event are written down a second time, after the commit: if
//! the chain ends before, something is gone. The file is not synced each time. A power failure may
//! leave an older one, and that is no contradiction: the chain may be longer than it says.
//!
//! One line: the place in 20 digits, a space, the hash, a line feed.

use crate::chain::Tip;
use crate::error::{Break, LedgerError};
use crate::event::Seq;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) const HEAD_NAME: &str = "head";
const PLACE_DIGITS: usize = 20;

/// The file, open for writing.
#[derive(Debug)]
pub(crate) struct Head {
    file: File,
}

impl Head {
    pub(crate) fn open(directory: &Path) -> Result<Head, LedgerError> {
        let path = directory.join(HEAD_NAME);
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        Ok(Head { file: file.map_err(LedgerError::io(&path, "open"))? })
    }

    /// Notes the end of the chain. Short and in one page: a kill does not tear it.
    pub(crate) fn note(&self, directory: &Path, tip: Tip) -> Result<(), LedgerError> {
        let written = self.file.write_all_at(line(tip).as_bytes(), 0);
        written.map_err(LedgerError::io(&directory.join(HEAD_NAME), "write"))
    }

    pub(crate) fn sync(&self, directory: &Path) -> Result<(), LedgerError> {
        let synced = self.file.sync_all();
        synced.map_err(LedgerError::io(&directory.join(HEAD_NAME), "sync"))
    }
}

/// What the file says; `None` if there is none.
pub(crate) fn read(directory: &Path) -> Result<Option<Result<Tip, Break>>, LedgerError> {
    let path = directory.join(HEAD_NAME);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(Some(parse(&bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LedgerError::io(&path, "read")(error)),
    }
}

fn line(tip: Tip) -> String {
    format!("{:0PLACE_DIGITS$} {}\n", tip.seq.0, tip.hash)
}

fn parse(bytes: &[u8]) -> Result<Tip, Break> {
    let tip = || {
        let text = std::str::from_utf8(bytes).ok()?;
        let (seq, hash) = text.strip_suffix('\n')?.split_once(' ')?;
        let tip = Tip { seq: Seq(seq.parse().ok()?), hash: hash.parse().ok()? };
        (line(tip) == text).then_some(tip)
    };
    tip().ok_or_else(|| Break::Head { what: "cannot be read".to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;

    #[test]
    fn a_head_has_one_spelling() {
        let tip = Tip { seq: Seq(42), hash: Digest::of(b"x") };
        assert_eq!(parse(line(tip).as_bytes()), Ok(tip));
        let text = line(tip);
        for wrong in ["", &text[1..], text.trim_end(), &text.replacen('0', "+", 1), "0 0\n"] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
