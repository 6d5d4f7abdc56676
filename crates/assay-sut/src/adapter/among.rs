//! The processes of all clients of a cluster: whom a fault on clients can hit.

use super::AdapterWatch;
use crate::processes::Mark;
use assay_nemesis::Process;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Those that run now, each of which leads a process group; and how all of them are doing, those
/// that have ended among them.
#[derive(Clone, Default, Debug)]
pub(crate) struct ClientProcesses {
    clients: Arc<Mutex<Clients>>,
    /// By which they are found if Assay is killed; none for a client that belongs to no cluster.
    mark: Option<Mark>,
}

#[derive(Default, Debug)]
struct Clients {
    running: BTreeSet<Process>,
    watches: Vec<AdapterWatch>,
}

/// A process is listed as long as this lives.
#[derive(Debug)]
pub(crate) struct Listed {
    list: ClientProcesses,
    process: Process,
}

impl ClientProcesses {
    /// Nobody yet; all get this mark.
    pub(crate) fn marked(mark: Mark) -> ClientProcesses {
        ClientProcesses { clients: Arc::default(), mark: Some(mark) }
    }

    /// Has what is about to be started carry the mark.
    pub(crate) fn mark(&self, command: &mut Command) {
        command.envs(self.mark.iter().map(Mark::variable));
    }

    /// Lists the process with this number; not one that has ended already.
    pub(crate) fn list(&self, pid: u32) -> Option<Listed> {
        let process = Process::of(pid).ok()?;
        self.lock().running.insert(process);
        Some(Listed { list: self.clone(), process })
    }

    /// The processes of each client, the one that was started first.
    pub(crate) fn groups(&self) -> Vec<Vec<Process>> {
        let leaders = self.lock().running.clone();
        let group = |leader: Process| {
            let all = Process::of_group(leader.pid).unwrap_or_default();
            let is_there = all.contains(&leader);
            let others = all.into_iter().filter(|process| *process != leader);
            is_there.then(|| std::iter::once(leader).chain(others).collect())
        };
        leaders.into_iter().filter_map(group).collect()
    }

    /// Remembers how a client is doing.
    pub(super) fn watch(&self, watch: &AdapterWatch) {
        self.lock().watches.push(watch.clone());
    }

    /// Why clients were given up, a sentence each.
    pub(crate) fn given_up(&self) -> Vec<String> {
        self.lock().watches.iter().filter_map(AdapterWatch::given_up).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Clients> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.list.lock().running.remove(&self.process);
    }
}
