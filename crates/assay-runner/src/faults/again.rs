//! Who is to run again when a fault is healed.
//!
//! Some faults end their nodes. Others only make life hard for them, and many a server gives up:
//! one that cannot sync its log has to. For both the fault is over when they run again.

use assay_nemesis::{Guard, Process};
use assay_sut::{Cluster, Revived, SutError};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Nodes by their number, known to several windows.
pub type Away = Arc<Mutex<BTreeSet<usize>>>;

/// Reads or changes who is away.
pub(super) fn with<T>(away: &Away, what: impl FnOnce(&mut BTreeSet<usize>) -> T) -> T {
    what(&mut away.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Nodes that are to run when a fault is healed.
pub(super) struct Again {
    pub(super) cluster: Arc<Cluster>,
    /// Nodes that it ended.
    pub(super) killed: Vec<usize>,
    /// Nodes that may have ended of it.
    pub(super) may_end: Vec<usize>,
    /// Nodes that other faults have ended: those see to them.
    pub(super) away: Away,
    /// Counts what was started.
    pub(super) started: Arc<AtomicU64>,
}

impl Again {
    /// Has healing start them.
    pub(super) fn when_healed(self, guard: &mut Guard) {
        if !self.killed.is_empty() || !self.may_end.is_empty() {
            guard.restart_with(move || self.start().map_err(|error| error.to_string()));
        }
    }

    /// Starts what was killed and what has ended meanwhile, and gives the processes of all.
    fn start(&self) -> Result<Vec<Process>, SutError> {
        let mut all = Vec::new();
        for &node in &self.killed {
            all.push(self.cluster.restart(node)?);
            self.started.fetch_add(1, Ordering::Relaxed);
        }
        let away = with(&self.away, |away| away.clone());
        for &node in self.may_end.iter().filter(|node| !away.contains(node)) {
            all.push(match self.cluster.revive(node)? {
                Revived::Lives(process) => process,
                Revived::Anew(process) => {
                    self.started.fetch_add(1, Ordering::Relaxed);
                    process
                }
            });
        }
        Ok(all)
    }
}
