//! The guard of a fault: it measures while the fault is on, and undoes it.

use crate::fault::{Action, Fault};
use crate::injector::Deed;
use crate::journal::Journal;
use crate::meter::{Meter, Signals, farther};
use crate::process::{Process, ProcessState};
use crate::proxy::{Direction, LinkId, Probe, Transport};
use assay_verdict::{Landing, LandingState, Signal};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a guard looks while it waits for its fault to land.
const LOOK_STEP: Duration = Duration::from_millis(2);

/// A number on the side of those who suffer: timeouts of clients, elections, errors in a log.
pub struct Victim {
    what: String,
    moves_by_min: u64,
    read: Box<dyn FnMut() -> Option<u64> + Send>,
}

impl Victim {
    /// Reads a number; `None` means that it cannot be read now.
    pub fn new(what: &str, read: impl FnMut() -> Option<u64> + Send + 'static) -> Victim {
        Victim { what: what.to_string(), moves_by_min: 1, read: Box::new(read) }
    }

    /// Nobody was asked. A fault without a victim's signal has not been shown to land.
    pub fn unasked() -> Victim {
        Victim::new("nobody was asked", || None)
    }

    /// By how much the number has to move to count.
    #[must_use]
    pub fn moving_by(mut self, moves_by_min: u64) -> Victim {
        self.moves_by_min = moves_by_min;
        self
    }

    pub(crate) fn read(&mut self) -> Option<u64> {
        (self.read)()
    }

    /// What it said before, during and after a fault.
    pub(crate) fn signal(&self, [before, during, after]: [Option<u64>; 3]) -> Signal {
        let (what, moves_by_min) = (self.what.clone(), self.moves_by_min);
        Signal { what, before, during, after, moves_by_min }
    }
}

/// Starts again what was killed: whoever runs the system knows how.
pub type Restart = Box<dyn FnMut() -> Result<Vec<Process>, String> + Send>;

/// What is known about a fault once it is healed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Healed {
    /// The numbers of both sides.
    pub landing: Landing,
    /// The injector's numbers one by one: each direction of each link, each process, each file.
    pub parts: Vec<Signal>,
    /// What was undone, line by line.
    pub undone: Vec<String>,
    /// What was looked at to see that all is well, line by line.
    pub proof: Vec<String>,
}

/// A fault that could not be healed, or not be shown to be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{fault}: not healed: {}", troubles.join("; "))]
pub struct HealError {
    /// The fault.
    pub fault: String,
    /// What went wrong.
    pub troubles: Vec<String>,
    /// What was undone nevertheless.
    pub undone: Vec<String>,
    /// Whether trying again may help. A node that does not come back is news, and no bad luck.
    pub may_pass: bool,
}

/// What a guard is made of: a fault that has just been injected.
pub(crate) struct Injected {
    pub(crate) fault: Fault,
    /// Its number in the journal.
    pub(crate) number: u64,
    pub(crate) journal: Arc<Mutex<Journal>>,
    pub(crate) deed: Deed,
    pub(crate) meter: Meter,
    /// The injector's numbers before the deed.
    pub(crate) injector: Signals,
    pub(crate) victim: Victim,
    /// The victim's number before the deed.
    pub(crate) felt: Option<u64>,
}

/// A fault that is on. It is undone by [`Guard::heal`], or when this is dropped.
///
/// Dropping does not start killed processes again: it happens when a run is being torn down.
#[must_use = "a fault is healed as soon as its guard is dropped"]
pub struct Guard {
    fault: Fault,
    number: u64,
    journal: Arc<Mutex<Journal>>,
    deed: Deed,
    meter: Meter,
    injector: Signals,
    victim: Victim,
    felt: Signal,
    restart: Option<Restart>,
    /// Somebody has seen to those that had ended.
    seen_to: bool,
    healed: Option<Healed>,
}

impl Guard {
    pub(crate) fn new(injected: Injected) -> Guard {
        let Injected { fault, number, journal, deed, meter, injector, victim, felt } = injected;
        let felt = victim.signal([felt, None, None]);
        let (restart, seen_to, healed) = (None, false, None);
        Guard {
            fault,
            number,
            journal,
            deed,
            meter,
            injector,
            victim,
            felt,
            restart,
            seen_to,
            healed,
        }
    }

    /// The fault.
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// Starts again on healing what was killed, and what has ended by itself meanwhile.
    pub fn restart_with(
        &mut self,
        restart: impl FnMut() -> Result<Vec<Process>, String> + Send + 'static,
    ) {
        self.restart = Some(Box::new(restart));
    }

    /// Reads both sides now and says what is known so far. Of what is read while the fault is on,
    /// the number farthest from the one before is kept.
    pub fn sample(&mut self) -> Landing {
        if self.healed.is_none() {
            self.injector.during(&self.meter.read());
            self.felt.during = farther(self.felt.before, self.felt.during, self.victim.read());
        }
        self.landing()
    }

    /// Samples until the fault has landed, but not longer than `time_max`.
    pub fn wait_landed(&mut self, time_max: Duration) -> LandingState {
        let until = Instant::now() + time_max;
        loop {
            let state = self.sample().state();
            if state == LandingState::Landed || Instant::now() >= until {
                return state;
            }
            std::thread::sleep(LOOK_STEP);
        }
    }

    /// Samples until the injector's own counter has moved as far as it has to, but not longer than
    /// `time_max` or until it is `over`.
    pub fn wait_counted(&mut self, time_max: Duration, over: impl Fn() -> bool) {
        let until = Instant::now() + time_max;
        while self.sample().injector.state() != LandingState::Landed
            && Instant::now() < until
            && !over()
        {
            std::thread::sleep(LOOK_STEP);
        }
    }

    fn landing(&self) -> Landing {
        Landing {
            fault: self.fault.title(),
            injector: self.injector.sum(self.meter.what(), self.moves_by_min()),
            victim: self.felt.clone(),
        }
    }

    /// Of processes to be ended or stopped, those count that were there: who had gone by itself was
    /// not hit.
    fn moves_by_min(&self) -> u64 {
        match &self.deed.action {
            Action::Kill(_) => self.injector.parts_before(0).max(1),
            Action::Pause(_) => (self.meter.moves_by_min() - self.deed.ended).max(1),
            _ => self.meter.moves_by_min(),
        }
    }

    /// Undoes the fault, proves that it is undone, and says what was measured. A second time it
    /// says the same and does nothing; after an error it tries again.
    pub fn heal(&mut self) -> Result<Healed, HealError> {
        if let Some(healed) = &self.healed {
            return Ok(healed.clone());
        }
        self.sample();
        let (mut proof, worked) = self.meter.idle_lines();
        self.injector.not_hit(&worked);
        let (mut undone, mut troubles) = self.deed.undo();
        let restarted = self.restarted();
        let ended = self.ended();
        let may_pass = restarted.iter().all(Result::is_ok) && ended.is_empty();
        for result in restarted.into_iter().chain(self.verified()).chain(ended) {
            match result {
                Ok(line) => proof.push(line),
                Err(trouble) => troubles.push(trouble),
            }
        }
        self.injector.after(&self.meter.read());
        self.felt.after = self.victim.read();
        if troubles.is_empty() {
            let written = self.journal().healed(self.number, undone.clone());
            troubles.extend(written.err().map(|error| error.to_string()));
        }
        if !troubles.is_empty() {
            undone.append(&mut proof);
            return Err(HealError { fault: self.fault.title(), troubles, undone, may_pass });
        }
        let (landing, parts) = (self.landing(), self.injector.parts());
        let healed = Healed { landing, parts, undone, proof };
        self.healed = Some(healed.clone());
        Ok(healed)
    }

    fn restarted(&mut self) -> Vec<Result<String, String>> {
        // Once only: a restart that has happened need not happen again when healing is repeated.
        let Some(mut restart) = self.restart.take() else { return Vec::new() };
        let processes = match restart() {
            Ok(processes) => processes,
            Err(trouble) => {
                self.restart = Some(restart);
                return vec![Err(format!("restart: {trouble}"))];
            }
        };
        self.seen_to = true;
        let line = |process: Process| match process.state() {
            Ok(ProcessState::Alive) => Ok(format!("process {}: runs", process.pid)),
            Ok(state) => Err(format!("process {}: was restarted and is {state:?}", process.pid)),
            Err(error) => Err(error.to_string()),
        };
        processes.into_iter().map(line).collect()
    }

    /// Victims that ended of the fault and that nobody starts again: for them it is not over.
    fn ended(&self) -> Vec<Result<String, String>> {
        match &self.deed.action {
            Action::By(means) if !self.seen_to => {
                let said = |gone: String| Err(format!("{gone}, and nobody starts it again"));
                means.0.ended().into_iter().map(said).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Looks at the world to see whether the fault is gone from it.
    fn verified(&self) -> Vec<Result<String, String>> {
        match &self.deed.action {
            Action::Links(rules) => {
                let links: BTreeSet<LinkId> = rules.iter().map(|rule| rule.link).collect();
                links.into_iter().map(|link| self.probed(link)).collect()
            }
            Action::Pause(all) => {
                let line = |process: &Process| match process.state() {
                    Ok(ProcessState::Stopped) => {
                        Err(format!("process {}: is still stopped", process.pid))
                    }
                    Ok(state) => Ok(format!("process {}: {state:?}", process.pid)),
                    Err(error) => Err(error.to_string()),
                };
                all.iter().map(line).collect()
            }
            Action::Fill(fill) => {
                let left = self.meter.read().first().and_then(|(_, bytes)| *bytes);
                let directory = fill.directory.display();
                vec![match left {
                    Some(0) => Ok(format!("{directory}: no junk left")),
                    _ => Err(format!("{directory}: there is still junk")),
                }]
            }
            Action::Skew(skew) => vec![match skew.clock.measure() {
                Ok(off) if off.certain_ms() == 0 => {
                    Ok(format!("{}: the clock is right", skew.clock.file().display()))
                }
                Ok(off) => Err(format!("the clock is still off by {} ms", off.certain_ms())),
                Err(error) => Err(error.to_string()),
            }],
            Action::By(means) => means.0.proof(),
            Action::Reset(links) => links.iter().map(|link| self.probed(*link)).collect(),
            Action::Corrupt(_) => self.deed.restored.iter().cloned().map(Ok).collect(),
            // Whoever was ended is healed by running again, which is looked at when it is started.
            Action::Kill(_) | Action::Terminate(_) => Vec::new(),
        }
    }

    fn probed(&self, link: LinkId) -> Result<String, String> {
        let mesh = self.deed.mesh.as_ref().expect("a fault on links has a mesh");
        let name = mesh.name(link);
        if Direction::BOTH.iter().any(|way| mesh.rules(link, *way).changes_anything()) {
            return Ok(format!("{name}: another fault is still on it"));
        }
        let datagrams = mesh.transport(link) == Transport::Datagrams;
        match mesh.probe(link) {
            Ok(Probe::Passed) if datagrams => {
                Ok(format!("{name}: a datagram passes there and back"))
            }
            Ok(Probe::Stuck) if datagrams => Err(format!("{name}: a datagram does not pass")),
            Ok(Probe::Passed) => Ok(format!("{name}: a new connection passes")),
            Ok(Probe::NobodyThere) => Ok(format!("{name}: passes; nobody listens behind it")),
            Ok(Probe::Stuck) => Err(format!("{name}: a new connection does not pass")),
            Err(error) => Err(format!("{name}: cannot be probed: {error}")),
        }
    }

    fn journal(&self) -> std::sync::MutexGuard<'_, Journal> {
        self.journal.lock().expect("nothing panics while it holds the journal")
    }
}

impl Drop for Guard {
    /// Undoes the fault without looking back: this may happen in the middle of a panic.
    fn drop(&mut self) {
        if self.healed.is_some() {
            return;
        }
        let (undone, troubles) = self.deed.undo();
        if let (true, Ok(mut journal)) = (troubles.is_empty(), self.journal.lock()) {
            // If even this fails, the journal still says what is to be healed.
            let _unwritten = journal.healed(self.number, undone);
        }
    }
}
