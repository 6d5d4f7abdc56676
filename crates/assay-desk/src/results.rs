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
    tests: BTreeMap<String, Ended>,
}

/// How the tests of one name ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Ended {
    worst: Status,
    /// How many there are: one name can stand in several binaries, packages or files.
    times: usize,
    /// How many of them passed.
    passed: usize,
}

impl Results {
    /// Notes a test. Of several of one name the worst outcome is that of the name.
    pub fn add(&mut self, name: impl Into<String>, status: Status) {
        self.note(name.into(), status, 1);
    }

    /// Notes what is said again of a test that was noted: it is no second one.
    pub fn again(&mut self, name: impl Into<String>, status: Status) {
        self.note(name.into(), status, 0);
    }

    fn note(&mut self, name: String, status: Status, more: usize) {
        let passes = usize::from(status == Status::Passed);
        if let Some(ended) = self.tests.get_mut(&name) {
            ended.worst = ended.worst.max(status);
            ended.times += more;
            ended.passed += more * passes;
            // The one that is spoken of may be the one that passed.
            ended.passed = ended.passed.min(ended.times - usize::from(passes == 0));
        } else if self.tests.len() < TESTS_MAX {
            self.tests.insert(name, Ended { worst: status, times: 1, passed: passes });
        }
    }

    /// All tests of another run besides. The same name in both is the same test.
    pub fn extend(&mut self, other: Results) {
        for (name, new) in other.tests {
            let Some(old) = self.tests.get_mut(&name) else {
                if self.tests.len() < TESTS_MAX {
                    self.tests.insert(name, new);
                }
                continue;
            };
            old.worst = old.worst.max(new.worst);
            old.times = old.times.max(new.times);
            old.passed = old.passed.min(new.passed);
        }
    }

    /// How a test ended, by its full name.
    pub fn status(&self, name: &str) -> Option<Status> {
        self.tests.get(name).map(|ended| ended.worst)
    }

    /// How many tests of a name there are.
    pub fn times(&self, name: &str) -> usize {
        self.tests.get(name).map_or(0, |ended| ended.times)
    }

    /// How many tests of a name passed.
    pub fn passed(&self, name: &str) -> usize {
        self.tests.get(name).map_or(0, |ended| ended.passed)
    }

    /// How many ran.
    pub fn executed(&self) -> usize {
        self.tests.values().filter(|ended| ended.worst != Status::Skipped).count()
    }

    /// Names of those that were skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        self.of(Status::Skipped)
    }

    /// Names of those that ended like this.
    pub fn of(&self, wanted: Status) -> impl Iterator<Item = &str> {
        let own = self.tests.iter().filter(move |(_, ended)| ended.worst == wanted);
        own.map(|(name, _)| name.as_str())
    }

    /// In numbers; tests of one name count as one.
    pub fn counts(&self) -> Counts {
        let count =
            |wanted| self.tests.values().filter(|ended| ended.worst == wanted).count() as u64;
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
