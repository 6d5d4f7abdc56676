//! Counters that are there from the start, and how they are shown.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// What became of the checks of one invariant. Static: nobody has to install anything.
#[derive(Debug, Default)]
pub struct Counters {
    passes: AtomicU64,
    violations: AtomicU64,
    skipped: AtomicU64,
}

impl Counters {
    /// Nothing was checked so far.
    pub const fn new() -> Counters {
        let (passes, violations) = (AtomicU64::new(0), AtomicU64::new(0));
        Counters { passes, violations, skipped: AtomicU64::new(0) }
    }

    pub(crate) fn passed(&self) {
        self.passes.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of violations with this one.
    pub(crate) fn violated(&self) -> u64 {
        self.violations.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> (u64, u64, u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&self.passes), read(&self.violations), read(&self.skipped))
    }
}

/// Something that counts: invariants over any state.
pub trait Counted: Sync {
    /// The id.
    fn id(&self) -> &'static str;
    /// Checks that passed.
    fn passes(&self) -> u64;
    /// Checks that did not.
    fn violations(&self) -> u64;
    /// Checks that sampling left out.
    fn skipped(&self) -> u64;
}

/// The metrics: name, help, and how to read one.
type Metric = (&'static str, &'static str, fn(&dyn Counted) -> u64);

const METRICS: [Metric; 3] = [
    ("assay_invariant_passes_total", "Checks of an invariant that passed.", |one| one.passes()),
    ("assay_invariant_violations_total", "Checks of an invariant that did not pass.", |one| {
        one.violations()
    }),
    ("assay_invariant_skipped_total", "Checks of an invariant that sampling left out.", |one| {
        one.skipped()
    }),
];

/// All counters as Prometheus reads them, one line for each invariant even if it is 0.
pub fn prometheus<'a>(all: impl IntoIterator<Item = &'a dyn Counted>) -> String {
    let all: Vec<&dyn Counted> = all.into_iter().collect();
    let mut text = String::new();
    for (name, help, read) in METRICS {
        // Writing to a string cannot fail.
        _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        for one in &all {
            _ = writeln!(text, "{name}{{invariant=\"{}\"}} {}", escaped(one.id()), read(*one));
        }
    }
    text
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
