//! Which trials a page carries, and what their tabs say.

use super::super::view::{RunView, TrialView};
use super::columns::{self, MARKS_MAX, WINDOWS_MAX};
use super::grid::{grouped, name, text};

/// A page with more operations than this would be slow to open. Trials with an anomaly come
/// first, the others in their order; one that does not fit is left out as a whole.
pub const OPS_MAX: usize = 4_000_000;

/// A trial as the reader chooses it.
pub(super) struct Tab {
    /// The number of its block in the page; `None` if its operations are left out.
    pub block: Option<usize>,
    pub label: String,
    pub ops: String,
    pub ok: String,
    pub fail: String,
    pub unknown: String,
    pub marks: usize,
}

/// The tab of each trial, beside its scenario, and the blocks for the script.
pub(super) fn pack(view: &RunView, left: &mut Vec<String>) -> (Vec<(String, Tab)>, Vec<String>) {
    let mut order: Vec<usize> = (0..view.trials.len()).collect();
    order.sort_by_key(|&at| view.trials[at].marks.is_empty());
    let mut room = OPS_MAX;
    let mut carried = vec![false; view.trials.len()];
    for at in order {
        let ops = view.trials[at].ops.len();
        carried[at] = ops > 0 && ops <= room;
        room -= if carried[at] { ops } else { 0 };
    }
    let (mut tabs, mut blocks) = (Vec::new(), Vec::new());
    for (trial, carried) in view.trials.iter().zip(carried) {
        let block = carried.then_some(blocks.len());
        if carried {
            blocks.push(columns::packed(trial));
        }
        say(trial, carried, left);
        tabs.push((trial.scenario.clone(), tab(trial, block)));
    }
    (tabs, blocks)
}

fn tab(trial: &TrialView, block: Option<usize>) -> Tab {
    let arm = if trial.arm == trial.scenario { "" } else { &trial.arm };
    let label = format!("{arm} seed {} {}", trial.seed, trial.purpose);
    let counts = trial.op_counts();
    Tab {
        block,
        label: name(&label),
        ops: grouped(counts.all()),
        ok: grouped(counts.ok),
        fail: grouped(counts.fail),
        unknown: grouped(counts.unknown),
        marks: trial.marks.iter().filter(|mark| mark.op < known(trial)).count(),
    }
}

/// How many operations a mark can point to: those that are here, or, where none are, those that
/// were counted.
fn known(trial: &TrialView) -> usize {
    let counted = usize::try_from(trial.op_counts().all()).unwrap_or(usize::MAX);
    if trial.ops.is_empty() { counted } else { trial.ops.len() }
}

/// Says what is left out of a timeline.
fn say(trial: &TrialView, carried: bool, left: &mut Vec<String>) {
    let place =
        format!("{} seed {}", super::super::cells::place(&trial.scenario, &trial.arm), trial.seed);
    let ops = trial.op_counts().all();
    if !carried && ops > 0 {
        let most = grouped(OPS_MAX as u64);
        let why = match trial.ops_left_out.trim() {
            "" => format!("a page carries at most {most}"),
            why => text(why),
        };
        left.push(format!("{place}, {}: its {} operations; {why}.", trial.purpose, grouped(ops)));
    }
    let stray = trial.marks.iter().filter(|mark| mark.op >= known(trial)).count();
    let many = trial.marks.len().saturating_sub(stray).saturating_sub(MARKS_MAX);
    let windows = trial.windows.len().saturating_sub(WINDOWS_MAX);
    for (count, what) in [
        (stray, "marks of operations that are not there"),
        (many, "further marks"),
        (windows, "fault windows"),
    ] {
        if count > 0 {
            left.push(format!("{place}: {} {what}.", grouped(count as u64)));
        }
    }
}

/// A time of a trial in seconds, to the millisecond.
pub(super) fn seconds(ns: u64) -> String {
    let ms = ns / 1_000_000;
    format!("{}.{:03} s", grouped(ms / 1_000), ms % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_to_the_millisecond() {
        assert_eq!(seconds(0), "0.000 s");
        assert_eq!(seconds(1_234_567_890_123), "1,234.567 s");
    }
}
