//! How much a check may cost. Running out is an answer ("undecided"), never a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Limits shared by all searches of one check. Time is the caller's business: it sets
/// [`Budget::stop`].
#[derive(Debug)]
pub struct Budget {
    /// The most bytes that all searches together may hold.
    pub memory_bytes_max: usize,
    /// The most configurations that all searches together may visit.
    pub configurations_max: u64,
    memory_bytes: AtomicUsize,
    memory_bytes_peak: AtomicUsize,
    configurations: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl Budget {
    /// Limits for memory and for visited configurations.
    pub fn new(memory_bytes_max: usize, configurations_max: u64) -> Budget {
        Budget {
            memory_bytes_max,
            configurations_max,
            memory_bytes: AtomicUsize::new(0),
            memory_bytes_peak: AtomicUsize::new(0),
            configurations: AtomicU64::new(0),
            stop: Arc::new(AtomicBool::new(false)),
        }
    }

    /// An allowance for a part of the work: limits of its own, and it ends when this one is
    /// stopped.
    pub(crate) fn allowance(&self, memory_bytes_max: usize, configurations_max: u64) -> Budget {
        let stop = Arc::clone(&self.stop);
        Budget { stop, ..Budget::new(memory_bytes_max, configurations_max) }
    }

    /// No limits: for tests and small problems.
    pub fn unlimited() -> Budget {
        Budget::new(usize::MAX, u64::MAX)
    }

    /// Ends all searches soon; they answer undecided. A timer calls this.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether searches should end: stopped, or all configurations used up.
    pub fn is_spent(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.configurations.load(Ordering::Relaxed) >= self.configurations_max
    }

    /// Configurations visited so far.
    pub fn configurations(&self) -> u64 {
        self.configurations.load(Ordering::Relaxed)
    }

    /// The most bytes that searches held at one time.
    pub fn memory_bytes_peak(&self) -> usize {
        self.memory_bytes_peak.load(Ordering::Relaxed)
    }

    pub(crate) fn visit(&self, configurations: u64) {
        self.configurations.fetch_add(configurations, Ordering::Relaxed);
    }

    /// Asks for more memory; false when that would pass the limit.
    pub(crate) fn grow(&self, bytes: usize) -> bool {
        let before = self.memory_bytes.fetch_add(bytes, Ordering::Relaxed);
        let now = before.saturating_add(bytes);
        if now > self.memory_bytes_max {
            self.memory_bytes.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.memory_bytes_peak.fetch_max(now, Ordering::Relaxed);
        true
    }

    pub(crate) fn shrink(&self, bytes: usize) {
        self.memory_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}
