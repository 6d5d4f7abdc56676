//! The processes of all clients of a cluster: whom a fault on clients can hit.

use assay_nemesis::Process;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Those that run now; each leads a process group.
#[derive(Clone, Default, Debug)]
pub(crate) struct ClientProcesses(Arc<Mutex<BTreeSet<Process>>>);

/// A process is listed as long as this lives.
#[derive(Debug)]
pub(crate) struct Listed {
    list: ClientProcesses,
    process: Process,
}

impl ClientProcesses {
    /// Lists the process with this number; not one that has ended already.
    pub(crate) fn list(&self, pid: u32) -> Option<Listed> {
        let process = Process::of(pid).ok()?;
        self.lock().insert(process);
        Some(Listed { list: self.clone(), process })
    }

    /// The processes of each client, the one that was started first.
    pub(crate) fn groups(&self) -> Vec<Vec<Process>> {
        let leaders = self.lock().clone();
        let group = |leader: Process| {
            let all = Process::of_group(leader.pid).unwrap_or_default();
            let is_there = all.contains(&leader);
            let others = all.into_iter().filter(|process| *process != leader);
            is_there.then(|| std::iter::once(leader).chain(others).collect())
        };
        leaders.into_iter().filter_map(group).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Process>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.list.lock().remove(&self.process);
    }
}
