//! What happens in a run, as one stream: for the screen, for the log, and for whoever watches.

use assay_nemesis::lock_file;
use assay_verdict::{Outcome, RunVerdict, Verdict};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// Why a trial is run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// To see that the harness works.
    Smoke,
    /// To harden the claim.
    Hardening,
    /// To see a violation again.
    Reproduce,
    /// To make a violation smaller.
    Reduce,
    /// To find out whose fault it is.
    Blame,
}

impl Purpose {
    /// Its word in file names and on screens.
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Smoke => "smoke",
            Purpose::Hardening => "hardening",
            Purpose::Reproduce => "reproduce",
            Purpose::Reduce => "reduce",
            Purpose::Blame => "blame",
        }
    }
}

/// What a run or a trial is doing: the parts that can take long.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Looks what this machine and the project have.
    Surveying,
    /// Starts the nodes, until they answer.
    Starting,
    /// Makes what clients need before they begin.
    SettingUp,
    /// Clients work, faults come and go.
    Working,
    /// Waits until nothing moves any more in the system.
    Resting,
    /// Reads what is there at the end.
    LastReads,
    /// Stops the nodes.
    Stopping,
    /// Has the history judged.
    Judging,
    /// Finds out whether the checkers catch what is planted into copies of the history.
    Calibrating,
    /// Writes the report.
    Reporting,
}

impl Phase {
    /// What is done, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Phase::Surveying => "looking at this machine",
            Phase::Starting => "starting the system",
            Phase::SettingUp => "setting up",
            Phase::Working => "working",
            Phase::Resting => "waiting for the system to come to rest",
            Phase::LastReads => "last reads",
            Phase::Stopping => "stopping the system",
            Phase::Judging => "judging the history",
            Phase::Calibrating => "planting anomalies to see whether the checkers catch them",
            Phase::Reporting => "writing the report",
        }
    }
}

/// An event that a fault has waited for, counted since the start of the workload.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Awaited {
    /// Its name in plans: `acks`, `elections`.
    pub event: String,
    /// How often it had to happen.
    pub wanted: u64,
    /// How often it had happened when the fault began.
    pub seen: u64,
}

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum RunEvent {
    /// A run begins, or goes on after it was interrupted.
    RunStarted {
        /// The plan.
        plan: String,
        /// Where everything is written.
        directory: String,
        /// Scenarios and arms that will be run.
        trials_planned: Vec<String>,
        /// How many trials that makes if nothing is found; what is found is run again.
        trials: u64,
        /// How long clients will work in all of them.
        workload_ms: u64,
        /// Whether an earlier run is taken up again.
        resumed: bool,
    },
    /// Something begins that can take long; what was done before is over.
    PhaseBegan {
        /// What.
        phase: Phase,
        /// When it is given up, at the latest; left out where that depends on the trial.
        #[serde(skip_serializing_if = "Option::is_none")]
        time_max_ms: Option<u64>,
    },
    /// The system was looked through for tools of its own.
    ToolboxDiscovered {
        /// What was found.
        tools: usize,
    },
    /// What this machine can do was found out.
    EnvironmentProbed {
        /// What is missing.
        missing: Vec<String>,
    },
    /// Something a killed run had left behind was put in order.
    Healed {
        /// What.
        what: String,
    },
    /// Something is otherwise than one would think.
    Noticed {
        /// What.
        what: String,
    },
    /// A scenario begins.
    ScenarioStarted {
        /// Its id.
        scenario: String,
        /// Its name.
        name: String,
    },
    /// A trial begins.
    TrialStarted {
        /// The scenario or arm.
        scenario: String,
        /// What for.
        purpose: Purpose,
        /// Its seed.
        seed: u64,
        /// How long clients will work.
        expected_ms: u64,
        /// Where it stands among the planned ones; left out of those that look into a violation.
        #[serde(skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        /// How many are planned, with those that are behind.
        of: u64,
        /// How long clients will work in the planned ones that come after it.
        later_ms: u64,
    },
    /// The system answers.
    SystemReady {
        /// How many nodes.
        nodes: usize,
        /// How long that took.
        took_ms: u64,
    },
    /// How far a trial is. Not written to the log: there are many.
    Progress {
        /// Since the start of the workload.
        elapsed_ms: u64,
        /// How long the workload is to last.
        total_ms: u64,
        /// Operations a second, of late.
        rate: u64,
        /// Operations that took effect.
        ok: u64,
        /// Operations that did not.
        fail: u64,
        /// Operations of unknown outcome.
        unknown: u64,
        /// Faults that are on.
        faults: Vec<String>,
    },
    /// A fault begins.
    FaultOpened {
        /// Its name.
        id: String,
        /// Whom it is meant for.
        target: String,
        /// The event it has waited for; left out of one that begins at a time.
        #[serde(skip_serializing_if = "Option::is_none")]
        awaited: Option<Awaited>,
    },
    /// The injector's own counter has moved as far as it has to: the fault is not only announced.
    FaultCounted {
        /// Its name.
        id: String,
        /// What is counted, and the numbers so far.
        counted: String,
    },
    /// A fault is healed.
    FaultClosed {
        /// Its name.
        id: String,
        /// Whom it hit.
        target: String,
        /// Whether it landed, in a word.
        landing: String,
        /// The numbers, or what went wrong.
        evidence: String,
    },
    /// The workload is over; whether the system came to rest.
    Quiescent {
        /// No operation in flight.
        in_flight: String,
        /// Nothing pending.
        pending: String,
        /// Replicas equal.
        converged: String,
    },
    /// Checkers have looked at the history.
    Judged {
        /// What they say.
        outcome: Outcome,
        /// Operations they consumed.
        consumed: u64,
        /// Anomalies they found.
        anomalies: u64,
        /// Planted anomalies they caught, and how many were planted.
        caught: Option<[u64; 2]>,
    },
    /// A trial is over.
    TrialEnded {
        /// The scenario or arm.
        scenario: String,
        /// What for.
        purpose: Purpose,
        /// Its seed.
        seed: u64,
        /// How it ended.
        result: String,
        /// Whether it was taken from an earlier, interrupted run.
        reused: bool,
    },
    /// A violation is made smaller.
    Reducing {
        /// What is tried.
        what: String,
        /// Whether it still fails; `None` before it is known.
        still_fails: Option<bool>,
    },
    /// A scenario is over.
    ScenarioEnded {
        /// Its id.
        scenario: String,
        /// Its verdict.
        verdict: Verdict,
        /// Why.
        sentence: String,
    },
    /// The run is over.
    RunEnded {
        /// Its verdict.
        verdict: RunVerdict,
        /// How long it took.
        took_ms: u64,
    },
}

/// A line of the log.
#[derive(Serialize)]
struct Line<'e> {
    at: String,
    #[serde(flatten)]
    event: &'e RunEvent,
}

/// Where events go: to a file, line by line, and to whoever watches.
pub struct Events<'w> {
    file: Mutex<File>,
    watcher: &'w (dyn Fn(&RunEvent) + Sync),
}

impl<'w> Events<'w> {
    /// Appends to this file, and keeps it locked: who else wants to write to it is told that it is
    /// busy. So no two runs work in one directory.
    pub fn open(path: &Path, watcher: &'w (dyn Fn(&RunEvent) + Sync)) -> io::Result<Events<'w>> {
        let file = File::options().append(true).create(true).open(path)?;
        lock_file(&file)?;
        Ok(Events { file: Mutex::new(file), watcher })
    }

    /// Something happened. A log that cannot be written does not stop a run: what counts as
    /// evidence is written elsewhere, and its errors do.
    pub fn emit(&self, event: &RunEvent) {
        if !matches!(event, RunEvent::Progress { .. }) {
            let line = Line { at: crate::time::utc_now(), event };
            let mut text = serde_json::to_string(&line).expect("an event is JSON");
            text.push('\n');
            let mut file = self.file.lock().expect("nothing panics while it holds the log");
            let _unwritten = file.write_all(text.as_bytes());
        }
        (self.watcher)(event);
    }

    /// Something begins that can take long.
    pub fn begin(&self, phase: Phase, time_max: Option<Duration>) {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.emit(&RunEvent::PhaseBegan { phase, time_max_ms: time_max.map(ms) });
    }
}
