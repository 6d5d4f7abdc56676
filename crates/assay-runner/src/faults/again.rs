//! Who is to run again when a fault is healed.
//!
//! Some faults end their nodes. Others only make life hard for them, and many a server gives up:
//! one that cannot sync its log has to. For both the fault is over when they run again.
//!
//! Windows of several entries are open at the same time, and two of them may want the same node to
//! run. Whoever ends a node, or is about to start one, marks it; a node that is marked is left to
//! whoever did.

use assay_nemesis::{Guard, Process};
use assay_sut::{Cluster, Revived, SutError};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for a node that another fault has ended, until that has started it again. What
/// has not by then has a window of its own that says so.
const AWAY_TIME_MAX: Duration = Duration::from_secs(20);
/// How often to look whether it has.
const LOOK_STEP: Duration = Duration::from_millis(20);

/// Nodes by their number, known to several windows.
pub type Away = Arc<Mutex<BTreeSet<usize>>>;

/// Reads or changes who is away.
pub(super) fn with<T>(away: &Away, what: impl FnOnce(&mut BTreeSet<usize>) -> T) -> T {
    what(&mut away.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Marks all of these nodes or, if somebody else has marked one of them, none: then which.
pub(super) fn mark(away: &Away, nodes: &[usize]) -> Result<(), usize> {
    with(away, |away| match nodes.iter().find(|node| away.contains(node)) {
        Some(taken) => Err(*taken),
        None => {
            away.extend(nodes);
            Ok(())
        }
    })
}

/// Takes back the marks of nodes that were marked by [`mark`].
pub(super) fn unmark(away: &Away, nodes: &[usize]) {
    with(away, |away| away.retain(|node| !nodes.contains(node)));
}

/// What starts nodes.
pub(super) trait Nodes: Send + Sync {
    /// Starts one that has ended.
    fn restart(&self, node: usize) -> Result<Process, SutError>;

    /// Starts one if it has ended; whether it may is asked right before.
    fn revive(&self, node: usize, may: &dyn Fn() -> bool) -> Result<Revived, SutError>;
}

impl Nodes for Cluster {
    fn restart(&self, node: usize) -> Result<Process, SutError> {
        Cluster::restart(self, node)
    }

    fn revive(&self, node: usize, may: &dyn Fn() -> bool) -> Result<Revived, SutError> {
        Cluster::revive(self, node, may)
    }
}

/// Nodes that are to run when a fault is healed.
pub(super) struct Again {
    pub(super) nodes: Arc<dyn Nodes>,
    /// Nodes that it ended, which it has marked.
    pub(super) killed: Vec<usize>,
    /// Nodes that may have ended of it.
    pub(super) may_end: Vec<usize>,
    /// Nodes that somebody sees to.
    pub(super) away: Away,
    /// Counts what was started.
    pub(super) started: Arc<AtomicU64>,
    /// How long to wait for those that others see to.
    pub(super) away_time_max: Duration,
}

impl Again {
    /// Nobody yet, and with the usual patience.
    pub(super) fn nobody(nodes: Arc<dyn Nodes>, away: &Away, started: &Arc<AtomicU64>) -> Again {
        Again {
            nodes,
            killed: Vec::new(),
            may_end: Vec::new(),
            away: Arc::clone(away),
            started: Arc::clone(started),
            away_time_max: AWAY_TIME_MAX,
        }
    }

    /// Has healing start them.
    pub(super) fn when_healed(self, guard: &mut Guard) {
        if !self.killed.is_empty() || !self.may_end.is_empty() {
            guard.restart_with(move || self.start().map_err(|error| error.to_string()));
        }
    }

    /// Starts what was killed and what has ended meanwhile, and gives the processes of all. One
    /// that does not start keeps no other from being started.
    pub(super) fn start(&self) -> Result<Vec<Process>, SutError> {
        let mut all = Vec::new();
        for &node in &self.killed {
            let again = self.nodes.restart(node);
            // From here on nobody sees to it: whoever waits for that looks for itself.
            unmark(&self.away, &[node]);
            self.started.fetch_add(u64::from(again.is_ok()), Ordering::Relaxed);
            all.push(again);
        }
        all.extend(self.may_end.iter().filter_map(|&node| self.revived(node).transpose()));
        all.into_iter().collect()
    }

    /// Sees to it that a node runs, unless others do and are not done in time.
    fn revived(&self, node: usize) -> Result<Option<Process>, SutError> {
        let until = Instant::now() + self.away_time_max;
        loop {
            while with(&self.away, |away| away.contains(&node)) {
                if Instant::now() > until {
                    return Ok(None);
                }
                std::thread::sleep(LOOK_STEP);
            }
            // Its mark says to those who end nodes that it is being started.
            let ours = std::cell::Cell::new(false);
            let may = || {
                ours.set(ours.get() || mark(&self.away, &[node]).is_ok());
                ours.get()
            };
            let revived = self.nodes.revive(node, &may);
            if ours.get() {
                unmark(&self.away, &[node]);
            }
            match revived? {
                Revived::Lives(process) => return Ok(Some(process)),
                Revived::Anew(process) => {
                    self.started.fetch_add(1, Ordering::Relaxed);
                    return Ok(Some(process));
                }
                Revived::NotOurs if Instant::now() > until => return Ok(None),
                Revived::NotOurs => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was done to nodes, in order; while one is looked at, something may happen.
    #[derive(Default)]
    struct Said {
        lines: Mutex<Vec<String>>,
        meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
        fails: Option<usize>,
    }

    impl Said {
        fn line(&self, line: String) {
            self.lines.lock().expect("no panic").push(line);
        }

        fn us() -> Process {
            Process::of(std::process::id()).expect("we run")
        }
    }

    impl Nodes for Said {
        fn restart(&self, node: usize) -> Result<Process, SutError> {
            self.line(format!("restart {node}"));
            match self.fails == Some(node) {
                true => Err(SutError::StillRunning { node: format!("n{node}") }),
                false => Ok(Said::us()),
            }
        }

        fn revive(&self, node: usize, may: &dyn Fn() -> bool) -> Result<Revived, SutError> {
            if let Some(happens) = self.meanwhile.lock().expect("no panic").take() {
                happens();
            }
            let may = may();
            self.line(format!("revive {node}: {}", if may { "started" } else { "not ours" }));
            Ok(if may { Revived::Anew(Said::us()) } else { Revived::NotOurs })
        }
    }

    fn again(nodes: &Arc<Said>, away: &Away, killed: &[usize], may_end: &[usize]) -> Again {
        let (killed, may_end) = (killed.to_vec(), may_end.to_vec());
        let nodes: Arc<dyn Nodes> = Arc::clone(nodes) as Arc<dyn Nodes>;
        let away_time_max = Duration::from_millis(50);
        let nobody = Again::nobody(nodes, away, &Arc::default());
        Again { killed, may_end, away_time_max, ..nobody }
    }

    fn lines(nodes: &Said) -> Vec<String> {
        nodes.lines.lock().expect("no panic").clone()
    }

    #[test]
    fn a_node_that_another_fault_has_ended_is_left_to_it() {
        let (nodes, away) = (Arc::new(Said::default()), Away::default());
        mark(&away, &[1]).expect("nobody else");
        let ours = again(&nodes, &away, &[], &[0, 1]);
        assert_eq!(ours.start().expect("started").len(), 1);
        assert_eq!(lines(&nodes), ["revive 0: started"]);
        assert_eq!(with(&away, |away| away.clone()), BTreeSet::from([1]), "its mark stays");
    }

    #[test]
    fn a_node_that_is_ended_while_it_is_looked_at_is_not_started() {
        let (nodes, away) = (Arc::new(Said::default()), Away::default());
        let ends = Arc::clone(&away);
        *nodes.meanwhile.lock().expect("no panic") =
            Some(Box::new(move || mark(&ends, &[0]).expect("nobody else")));
        assert_eq!(again(&nodes, &away, &[], &[0]).start().expect("left alone").len(), 0);
        assert_eq!(lines(&nodes), ["revive 0: not ours"]);
    }

    #[test]
    fn a_node_is_looked_at_again_when_its_owner_has_let_go_of_it() {
        let (nodes, away) = (Arc::new(Said::default()), Away::default());
        mark(&away, &[0]).expect("nobody else");
        let patient = Again { away_time_max: AWAY_TIME_MAX, ..again(&nodes, &away, &[], &[0]) };
        let failed = Arc::new(Said { fails: Some(0), ..Said::default() });
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| patient.start());
            again(&failed, &away, &[0], &[]).start().expect_err("it cannot start it");
            assert_eq!(waits.join().expect("no panic").expect("started").len(), 1);
        });
        assert_eq!(lines(&nodes), ["revive 0: started"]);
        assert!(with(&away, |away| away.is_empty()), "nobody sees to it any more");
    }

    #[test]
    fn one_that_does_not_start_keeps_no_other_from_being_started() {
        let (nodes, away) = (Arc::new(Said { fails: Some(0), ..Said::default() }), Away::default());
        mark(&away, &[0, 1]).expect("nobody else");
        again(&nodes, &away, &[0, 1], &[2]).start().expect_err("one does not start");
        assert_eq!(lines(&nodes), ["restart 0", "restart 1", "revive 2: started"]);
    }

    #[test]
    fn a_mark_of_somebody_else_is_neither_taken_nor_taken_back() {
        let away = Away::default();
        mark(&away, &[1]).expect("nobody else");
        assert_eq!(mark(&away, &[0, 1]), Err(1));
        assert_eq!(with(&away, |away| away.clone()), BTreeSet::from([1]));
        unmark(&away, &[1]);
        assert_eq!(mark(&away, &[0, 1]), Ok(()));
    }
}
