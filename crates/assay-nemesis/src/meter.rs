//! Reading the injector's own counters: its half of the proof that a fault landed.

use crate::clock::Measured;
use crate::fault::Action;
use crate::files::junk_bytes;
use crate::means::Reading;
use crate::process::{Process, ProcessState};
use crate::proxy::{Admission, Direction, Flow, LinkCounts, LinkRule, Mesh, Rules, Share};
use assay_verdict::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a process may use while it is stopped, in ticks of the kernel's clock: a thread that was in
/// the middle of a system call is stopped, and accounted for, when that is over.
const IDLE_TICKS_MAX: u64 = 2;

/// Where the numbers of a fault are read.
#[derive(Debug)]
pub(crate) struct Meter {
    mesh: Option<Arc<Mesh>>,
    action: Action,
    junk: Option<PathBuf>,
    idle: Mutex<Idle>,
}

/// What is known about processes that are stopped.
#[derive(Default, Debug)]
struct Idle {
    /// The processor time that they had used when they were first seen stopped.
    stopped_at: BTreeMap<Process, u64>,
    /// Those that have used more since: somebody let them work.
    worked: BTreeSet<Process>,
}

impl Meter {
    pub(crate) fn new(mesh: Option<Arc<Mesh>>, action: Action, junk: Option<PathBuf>) -> Meter {
        Meter { mesh, action, junk, idle: Mutex::default() }
    }

    /// What is counted, with its unit.
    pub(crate) fn what(&self) -> &'static str {
        match &self.action {
            Action::Links(rules) => rules.first().map_or("chunks", |rule| counted(&rule.rules)),
            Action::Reset(_) => "connections reset",
            Action::Pause(_) => "processes stopped",
            Action::Kill(_) | Action::Terminate(_) => "processes gone",
            Action::Corrupt(_) => "bits and bytes different",
            Action::Fill(_) => "bytes of junk",
            Action::Skew(_) => "milliseconds a clock is off",
            Action::By(means) => means.0.counted(),
        }
    }

    /// By how much it has to move: with processes every one of them has to show it.
    pub(crate) fn moves_by_min(&self) -> u64 {
        match &self.action {
            Action::Pause(all) | Action::Kill(all) | Action::Terminate(all) => all.len() as u64,
            Action::By(means) => means.0.moves_by_min(),
            _ => 1,
        }
    }

    /// The numbers now, one for each link direction, process or file.
    pub(crate) fn read(&self) -> Vec<Reading> {
        match &self.action {
            Action::Links(rules) => self.of_links(rules),
            Action::Reset(links) => {
                let mesh = self.mesh.as_ref();
                let reset = |link| mesh.map(|mesh| mesh.counts(link).connections.reset);
                let name = |link| mesh.map_or(String::new(), |mesh| mesh.name(link));
                links.iter().map(|link| (name(*link), reset(*link))).collect()
            }
            Action::Pause(all) => {
                let one =
                    |process: &Process| (part(process), self.stands_still(process).map(u64::from));
                all.iter().map(one).collect()
            }
            Action::Kill(all) | Action::Terminate(all) => of_processes(all, ProcessState::Gone),
            Action::Corrupt(corruption) => {
                vec![(corruption.path.display().to_string(), corruption.measure())]
            }
            Action::Fill(fill) => {
                let bytes = self.junk.as_deref().and_then(junk_bytes);
                vec![(fill.directory.display().to_string(), bytes)]
            }
            Action::Skew(skew) => {
                let off = skew.clock.measure().ok().map(Measured::certain_ms);
                vec![(skew.clock.file().display().to_string(), off)]
            }
            Action::By(means) => means.0.read(),
        }
    }

    /// Whether a process is stopped and uses no processor time: the state alone is what the kernel
    /// was told, the time is what came of it.
    fn stands_still(&self, process: &Process) -> Option<bool> {
        if process.state().ok()? != ProcessState::Stopped {
            return Some(false);
        }
        let ticks = process.cpu_ticks().ok()??;
        let mut idle = self.idle();
        let before = *idle.stopped_at.entry(*process).or_insert(ticks);
        Some(ticks.saturating_sub(before) <= IDLE_TICKS_MAX && !idle.worked.contains(process))
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the processor time of those that are stopped has done since, line by line, and the
    /// parts that were not hit after all, because they worked meanwhile. Asked once, before they
    /// are resumed.
    pub(crate) fn idle_lines(&self) -> (Vec<String>, BTreeSet<String>) {
        let mut idle = self.idle();
        let (mut lines, mut worked) = (Vec::new(), BTreeSet::new());
        for (process, before) in std::mem::take(&mut idle.stopped_at) {
            let now = process.cpu_ticks().ok().flatten();
            let used = now.map(|now| now.saturating_sub(before));
            let said = match used {
                Some(0) => format!("stood still at {before} ticks of processor time"),
                Some(used) => format!("used {used} ticks of processor time while it was stopped"),
                None => "ended while it was stopped".to_string(),
            };
            lines.push(format!("{}: {said}", part(&process)));
            if used.is_some_and(|used| used > IDLE_TICKS_MAX) {
                worked.insert(part(&process));
                idle.worked.insert(process);
            }
        }
        (lines, worked)
    }

    fn of_links(&self, rules: &[LinkRule]) -> Vec<Reading> {
        let Some(mesh) = &self.mesh else { return Vec::new() };
        let one = |rule: &LinkRule| {
            let name = format!("{} {}", mesh.name(rule.link), rule.direction.name());
            (name, Some(moved(&mesh.counts(rule.link), rule.direction, &rule.rules)))
        };
        rules.iter().map(one).collect()
    }
}

/// The counter that a rule moves, in words; the harshest part of the rule counts.
fn counted(rules: &Rules) -> &'static str {
    match rules {
        Rules { flow: Flow::Drop, .. } => "chunks dropped",
        Rules { flow: Flow::Hold, .. } => "chunks held",
        Rules { admission: Admission::Refuse, .. } => "connections refused",
        Rules { rate: Some(_), .. } => "chunks limited",
        Rules { delay: Some(_), .. } => "chunks delayed",
        Rules { slice: Some(_), .. } => "chunks sliced",
        Rules { odds, .. } if odds.lose > Share::NONE => "chunks dropped",
        Rules { odds, .. } if odds.duplicate > Share::NONE => "chunks duplicated",
        Rules { odds, .. } if odds.reorder > Share::NONE => "chunks reordered",
        _ => "chunks",
    }
}

fn moved(counts: &LinkCounts, direction: Direction, rules: &Rules) -> u64 {
    let flow = counts.of(direction);
    match counted(rules) {
        // A link may be cut and lossy at once: what the cut drops is no loss, and no loss a cut.
        "chunks dropped" if rules.flow == Flow::Drop => {
            flow.chunks_dropped.saturating_sub(flow.chunks_lost)
        }
        "chunks dropped" => flow.chunks_lost,
        "chunks held" => flow.chunks_held,
        "connections refused" => counts.connections.refused,
        "chunks limited" => flow.chunks_limited,
        "chunks delayed" => flow.chunks_delayed,
        "chunks sliced" => flow.chunks_sliced,
        "chunks duplicated" => flow.chunks_duplicated,
        "chunks reordered" => flow.chunks_reordered,
        // A rule that changes nothing can land nowhere.
        _ => 0,
    }
}

/// The name of a process among the numbers of a fault.
fn part(process: &Process) -> String {
    format!("process {}", process.pid)
}

fn of_processes(processes: &[Process], wanted: ProcessState) -> Vec<Reading> {
    let one = |process: &Process| {
        let state = process.state().ok();
        (part(process), state.map(|state| u64::from(state == wanted)))
    };
    processes.iter().map(one).collect()
}

/// Signals that keep, of all numbers read during a fault, the one farthest from before: a number
/// that went up and came back has moved.
#[derive(Clone, Debug)]
pub(crate) struct Signals(Vec<Signal>);

impl Signals {
    pub(crate) fn before(readings: &[Reading]) -> Signals {
        let signal = |(what, before): &Reading| Signal {
            what: what.clone(),
            before: *before,
            ..Signal::default()
        };
        Signals(readings.iter().map(signal).collect())
    }

    pub(crate) fn during(&mut self, readings: &[Reading]) {
        for (signal, (_, now)) in self.0.iter_mut().zip(readings) {
            signal.during = farther(signal.before, signal.during, *now);
        }
    }

    /// Of these parts it turned out that they were not hit, whatever was read meanwhile.
    pub(crate) fn not_hit(&mut self, parts: &BTreeSet<String>) {
        for signal in self.0.iter_mut().filter(|signal| parts.contains(&signal.what)) {
            signal.during = signal.before;
        }
    }

    pub(crate) fn after(&mut self, readings: &[Reading]) {
        for (signal, (_, now)) in self.0.iter_mut().zip(readings) {
            signal.after = *now;
        }
    }

    /// All together; a sum of which a part is unknown is unknown. So many parts have to move: as
    /// long as fewer have, only parts are counted, for one of them may have moved for all.
    pub(crate) fn sum(&self, what: &str, moves_by_min: u64) -> Signal {
        let sum = |of: fn(&Signal) -> Option<u64>| {
            self.0.iter().map(of).try_fold(0_u64, |sum, one| Some(sum.saturating_add(one?)))
        };
        let (before, during) = (sum(|signal| signal.before), sum(|signal| signal.during));
        let moved = self.0.iter().filter(|signal| signal.during != signal.before).count() as u64;
        let during = match (before, during) {
            (Some(before), Some(_)) if moved < moves_by_min => Some(before.saturating_add(moved)),
            _ => during,
        };
        Signal {
            what: what.to_string(),
            before,
            during,
            after: sum(|signal| signal.after),
            moves_by_min,
        }
    }

    /// How many had this number before the fault.
    pub(crate) fn parts_before(&self, number: u64) -> u64 {
        self.0.iter().filter(|signal| signal.before == Some(number)).count() as u64
    }

    pub(crate) fn parts(&self) -> Vec<Signal> {
        self.0.clone()
    }
}

pub(crate) fn farther(before: Option<u64>, kept: Option<u64>, now: Option<u64>) -> Option<u64> {
    match (before, kept, now) {
        (Some(before), Some(kept), Some(now)) if now.abs_diff(before) < kept.abs_diff(before) => {
            Some(kept)
        }
        (_, kept, now) => now.or(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_verdict::LandingState;

    #[test]
    fn a_cut_and_a_loss_on_one_link_count_their_own() {
        let mut counts = LinkCounts::default();
        (counts.request.chunks_dropped, counts.request.chunks_lost) = (7, 2);
        let lose = crate::proxy::Odds { lose: Share::ALL, ..Default::default() };
        let of = |rules: &Rules| moved(&counts, Direction::Request, rules);
        assert_eq!(of(&Rules::flow(Flow::Drop)), 5);
        assert_eq!(of(&Rules::odds(lose)), 2);
    }

    #[test]
    fn one_part_that_moved_far_does_not_stand_for_the_others() {
        let signals = |during: &[u64]| {
            let named = |numbers: &[u64]| -> Vec<Reading> {
                numbers.iter().map(|number| ("n".to_string(), Some(*number))).collect()
            };
            let mut signals = Signals::before(&named(&vec![5; during.len()]));
            signals.during(&named(during));
            signals
        };
        let cases: [(&[u64], u64, LandingState, u64); 6] = [
            (&[5, 5], 2, LandingState::Missed, 10),
            (&[90, 5], 2, LandingState::Missed, 11),
            (&[90, 6], 2, LandingState::Landed, 96),
            (&[90, 5], 1, LandingState::Landed, 95),
            (&[6, 6, 5], 2, LandingState::Landed, 17),
            (&[90, 5, 5], 3, LandingState::Missed, 16),
        ];
        for (during, least, state, number) in cases {
            let sum = signals(during).sum("hits", least);
            assert_eq!((sum.state(), sum.during), (state, Some(number)), "{during:?} of {least}");
        }
    }
}
