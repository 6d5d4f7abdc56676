//! Faults by answering the system calls of nodes: disks that fail, fill up, refuse or dawdle, and
//! clocks that are wrong.
//!
//! A node has to be started under watch ([`assay_kernel::notify::Tapped`]); one that was not is
//! refused before anything is done. The injector counts the calls it has answered otherwise than
//! the kernel would have, one number for each node.
//!
//! If Assay is killed, nobody answers any more, and every watched call of such a node fails. Such a
//! node cannot be healed, only ended, so that is what the journal says.

use crate::journal::Undo;
use crate::means::{Means, Reading};
use crate::process::{Process, ProcessState};
use assay_kernel::notify::{CallRule, Calls, ClockRule, Counts, Deed, Imposed, NotifyError, Tap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A node whose system calls may be answered.
#[derive(Clone, Debug)]
pub struct WatchedNode {
    /// Its name.
    pub node: String,
    /// Its process.
    pub process: Process,
    /// The handle on its calls; `None` if it was started without.
    pub tap: Option<Arc<Tap>>,
}

impl WatchedNode {
    /// The handle, if this node is there and its calls are answered.
    fn ready(&self) -> Result<&Tap, String> {
        let WatchedNode { node, process, tap } = self;
        let pid = process.pid;
        let Some(tap) = tap else {
            return Err(format!("{node} was not started under watch: start it with a tap"));
        };
        if tap.pid() != pid {
            return Err(format!("{node} is process {pid}, its tap is one of {}", tap.pid()));
        }
        match process.state() {
            Ok(ProcessState::Gone) => return Err(format!("{node}: there is no process {pid}")),
            Ok(_) => {}
            Err(error) => return Err(format!("{node}: {error}")),
        }
        if !tap.is_served() {
            return Err(format!("{node}: nobody answers its system calls any more"));
        }
        Ok(tap)
    }
}

/// How rules of a kind are imposed and lifted, and which calls they could hit.
trait Kind: Clone + std::fmt::Debug + Send + Sync {
    fn check(&self, tap: &Tap) -> Result<(), NotifyError>;
    fn impose(&self, tap: &Tap) -> Result<Arc<Imposed<Self>>, NotifyError>;
    fn lift(tap: &Tap, imposed: &Imposed<Self>) -> bool;
    fn seen(&self, counts: &Counts) -> u64;
    /// What those calls are called.
    fn calls(&self) -> &'static str;
}

impl Kind for CallRule {
    fn check(&self, tap: &Tap) -> Result<(), NotifyError> {
        tap.check(self)
    }

    fn impose(&self, tap: &Tap) -> Result<Arc<Imposed<CallRule>>, NotifyError> {
        tap.impose(self.clone())
    }

    fn lift(tap: &Tap, imposed: &Imposed<CallRule>) -> bool {
        tap.lift(imposed)
    }

    fn seen(&self, counts: &Counts) -> u64 {
        match self.calls {
            Calls::Syncs => counts.syncs,
            Calls::Writes => counts.writes,
        }
    }

    fn calls(&self) -> &'static str {
        match self.calls {
            Calls::Syncs => "syncs",
            Calls::Writes => "writes",
        }
    }
}

impl Kind for ClockRule {
    fn check(&self, tap: &Tap) -> Result<(), NotifyError> {
        tap.check_clock(*self)
    }

    fn impose(&self, tap: &Tap) -> Result<Arc<Imposed<ClockRule>>, NotifyError> {
        tap.impose_clock(*self)
    }

    fn lift(tap: &Tap, imposed: &Imposed<ClockRule>) -> bool {
        tap.lift_clock(imposed)
    }

    fn seen(&self, counts: &Counts) -> u64 {
        counts.clock_reads
    }

    fn calls(&self) -> &'static str {
        "looks at the clock"
    }
}

/// A rule that was imposed on a node.
#[derive(Debug)]
struct Deeds<R> {
    imposed: Arc<Imposed<R>>,
    /// The numbers when it was lifted.
    lifted: Option<Lifted>,
}

/// What had been seen and hit when a rule was lifted.
#[derive(Clone, Copy, Debug)]
struct Lifted {
    seen: u64,
    hits: u64,
}

/// A rule for one node, and what became of it.
#[derive(Debug)]
struct Part<R> {
    node: WatchedNode,
    rule: R,
    on: Mutex<Option<Deeds<R>>>,
}

impl<R: Kind> Part<R> {
    fn new(node: WatchedNode, rule: R) -> Part<R> {
        Part { node, rule, on: Mutex::new(None) }
    }

    fn on(&self) -> MutexGuard<'_, Option<Deeds<R>>> {
        self.on.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn preflight(&self) -> Result<(), String> {
        let tap = self.node.ready()?;
        self.rule.check(tap).map_err(|error| self.said(&error))
    }

    fn begin(&self) -> Result<(), String> {
        let tap = self.node.ready()?;
        let imposed = self.rule.impose(tap).map_err(|error| self.said(&error))?;
        *self.on() = Some(Deeds { imposed, lifted: None });
        Ok(())
    }

    fn said(&self, what: &dyn std::fmt::Display) -> String {
        format!("{}: {what}", self.node.node)
    }

    fn hits(&self) -> u64 {
        self.on().as_ref().map_or(0, |deeds| deeds.imposed.hits())
    }

    fn undo(&self) -> Option<Result<String, String>> {
        let mut on = self.on();
        let (deeds, tap) = (on.as_mut()?, self.node.tap.as_ref()?);
        if !R::lift(tap, &deeds.imposed) {
            return Some(Ok(self.said(&"the rule was lifted before")));
        }
        let (seen, hits) = (self.rule.seen(&tap.counts()), deeds.imposed.hits());
        deeds.lifted = Some(Lifted { seen, hits });
        let calls = self.rule.calls();
        Some(Ok(self.said(&format!("the rule was lifted; {hits} {calls} were hit"))))
    }

    /// Whether calls pass again: those that were made since, if there were any.
    fn proof(&self) -> Option<Result<String, String>> {
        let on = self.on();
        let (deeds, tap) = (on.as_ref()?, self.node.tap.as_ref()?);
        let calls = self.rule.calls();
        let Some(Lifted { seen, hits }) = deeds.lifted else {
            return Some(Err(self.said(&"the rule is still on")));
        };
        let hit_since = deeds.imposed.hits() - hits;
        if hit_since > 0 {
            return Some(Err(self.said(&format!("{hit_since} {calls} were hit since"))));
        }
        let since = self.rule.seen(&tap.counts()).saturating_sub(seen);
        Some(Ok(self.said(&match (since, tap.is_served(), tap.is_idle()) {
            (_, false, _) => "the process has ended, and its rules with it".to_string(),
            (_, _, false) => format!("another rule is still on; {since} {calls} since"),
            (0, ..) => format!("no rule is on; no {calls} since"),
            _ => format!("no rule is on; {since} {calls} since, and none was hit"),
        })))
    }

    /// The process, if it has ended since it was hit.
    fn ended(&self) -> Option<String> {
        let (process, was_hit) = (&self.node.process, self.on().is_some());
        let is_gone = was_hit && matches!(process.state(), Ok(ProcessState::Gone));
        is_gone.then(|| self.said(&format!("process {} has ended", process.pid)))
    }
}

/// What all faults of this kind do.
#[derive(Debug)]
struct Parts<R>(Vec<Part<R>>);

impl<R: Kind> Parts<R> {
    fn preflight(&self) -> Result<(), String> {
        if self.0.is_empty() {
            return Err("hits nobody: no node was given".to_string());
        }
        self.0.iter().try_for_each(Part::preflight)
    }

    fn undo_steps(&self) -> Vec<Undo> {
        self.0.iter().map(|part| Undo::end_unanswered(&part.node.process)).collect()
    }

    fn begin(&self) -> Result<(), String> {
        self.0.iter().try_for_each(Part::begin)
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.0.iter().rev().filter_map(Part::undo).collect()
    }

    /// Each node has to show it.
    fn moves_by_min(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self) -> Vec<Reading> {
        self.0.iter().map(|part| (part.node.node.clone(), Some(part.hits()))).collect()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.0.iter().filter_map(Part::proof).collect()
    }

    fn ended(&self) -> Vec<String> {
        self.0.iter().filter_map(Part::ended).collect()
    }
}

/// Syncs or writes that fail or take long, each node with its own rule: nodes have directories of
/// their own.
#[derive(Debug)]
pub struct CallFault(Parts<CallRule>);

impl CallFault {
    /// Nothing is done yet.
    pub fn new(nodes: impl IntoIterator<Item = (WatchedNode, CallRule)>) -> CallFault {
        CallFault(Parts(nodes.into_iter().map(|(node, rule)| Part::new(node, rule)).collect()))
    }
}

impl Means for CallFault {
    fn preflight(&self) -> Result<(), String> {
        self.0.preflight()
    }

    fn undo_steps(&self) -> Vec<Undo> {
        self.0.undo_steps()
    }

    fn begin(&self) -> Result<(), String> {
        self.0.begin()
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.0.undo()
    }

    fn counted(&self) -> &'static str {
        match self.0.0.first().map(|part| part.rule.deed) {
            Some(Deed::Delay(_)) => "calls delayed",
            _ => "calls failed",
        }
    }

    fn moves_by_min(&self) -> u64 {
        self.0.moves_by_min()
    }

    fn read(&self) -> Vec<Reading> {
        self.0.read()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.0.proof()
    }

    fn ended(&self) -> Vec<String> {
        self.0.ended()
    }
}

/// Clocks that are wrong, or run at a wrong rate.
#[derive(Debug)]
pub struct ClockFault(Parts<ClockRule>);

impl ClockFault {
    /// Nothing is done yet.
    pub fn new(nodes: impl IntoIterator<Item = WatchedNode>, rule: ClockRule) -> ClockFault {
        ClockFault(Parts(nodes.into_iter().map(|node| Part::new(node, rule)).collect()))
    }
}

impl Means for ClockFault {
    fn preflight(&self) -> Result<(), String> {
        let idle = |part: &Part<ClockRule>| part.rule == ClockRule::default();
        if self.0.0.iter().any(idle) {
            return Err("a clock that is off by nothing is right".to_string());
        }
        self.0.preflight()
    }

    fn undo_steps(&self) -> Vec<Undo> {
        self.0.undo_steps()
    }

    fn begin(&self) -> Result<(), String> {
        self.0.begin()
    }

    fn undo(&self) -> Vec<Result<String, String>> {
        self.0.undo()
    }

    fn counted(&self) -> &'static str {
        "looks at a moved clock"
    }

    fn moves_by_min(&self) -> u64 {
        self.0.moves_by_min()
    }

    fn read(&self) -> Vec<Reading> {
        self.0.read()
    }

    fn proof(&self) -> Vec<Result<String, String>> {
        self.0.proof()
    }

    fn ended(&self) -> Vec<String> {
        self.0.ended()
    }
}
