//! What test runners print, as names with an outcome.
//!
//! Every reader is a pure function of text and never guesses: what it does not understand is not a
//! test, and a run without tests is not a pass.
//!
//! ```
//! use assay_desk::contract::ResultFormat;
//! let results = assay_desk::results::read(ResultFormat::Tap, "ok 1 - adds\nnot ok 2 - divides\n");
//! assert_eq!((results.counts().passed, results.counts().failed), (1, 1));
//! ```

mod golang;
mod jest;
mod junit;
mod libtest;
mod python;
mod tap;

use crate::contract::ResultFormat;
use crate::event::Counts;
use std::collections::BTreeMap;

/// More tests than this are not kept apart.
const TESTS_MAX: usize = 200_000;

/// How a test ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// It passed.
    Passed,
    /// It was not run, or its result does not count.
    Skipped,
    /// It failed.
    Failed,
}

/// Tests by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Results {
    tests: BTreeMap<String, Status>,
}

impl Results {
    /// Notes a test. One that ran several times has its worst outcome.
    pub fn add(&mut self, name: impl Into<String>, status: Status) {
        if self.tests.len() < TESTS_MAX {
            let name = name.into();
            let entry = self.tests.entry(name).or_insert(status);
            *entry = (*entry).max(status);
        }
    }

    /// All tests of another run besides.
    pub fn extend(&mut self, other: Results) {
        for (name, status) in other.tests {
            self.add(name, status);
        }
    }

    /// How a test ended, by its full name.
    pub fn status(&self, name: &str) -> Option<Status> {
        self.tests.get(name).copied()
    }

    /// How many ran.
    pub fn executed(&self) -> usize {
        self.tests.values().filter(|status| **status != Status::Skipped).count()
    }

    /// Names of those that were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        self.of(Status::Skipped)
    }

    /// Names of those that ended like this.
    pub fn of(&self, wanted: Status) -> impl Iterator<Item = &str> {
        let own = self.tests.iter().filter(move |(_, status)| **status == wanted);
        own.map(|(name, _)| name.as_str())
    }

    /// In numbers.
    pub fn counts(&self) -> Counts {
        let count = |wanted| self.tests.values().filter(|status| **status == wanted).count() as u64;
        Counts {
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            skipped: count(Status::Skipped),
        }
    }
}

/// Reads what a runner printed (or the file it wrote).
pub fn read(format: ResultFormat, text: &str) -> Results {
    let plain = without_colours(text);
    match format {
        ResultFormat::Libtest => libtest::read(&plain),
        ResultFormat::Nextest => libtest::read_nextest(&plain),
        ResultFormat::Pytest => python::read_pytest(&plain),
        ResultFormat::Unittest => python::read_unittest(&plain),
        ResultFormat::Go => golang::read(&plain),
        ResultFormat::Jest => jest::read(&plain),
        ResultFormat::Tap => tap::read(&plain),
        ResultFormat::Junit => junit::read(text),
    }
}

/// Runners colour their output when somebody tells them to.
fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let end = after.find(|c: char| c.is_ascii_alphabetic()).map_or(after.len(), |i| i + 1);
        rest = &after[end..];
    }
    plain.push_str(rest);
    plain
}
