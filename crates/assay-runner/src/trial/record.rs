//! What is known about a trial once it is over: numbers, and where the rest of it is.

use crate::event::Purpose;
use crate::faults::window::WindowRecord;
use crate::spec::TrialSpec;
use assay_history::{History, OpIndex};
use assay_judge::{Certificate, Judgement, Sharpness};
use assay_report::run::Planted;
use assay_verdict::{Calibration, Checker, HistoryFields, Outcome, Undecided};
use serde::{Deserialize, Serialize};

/// Checkers of how long operations take and how many fail, whoever is to blame for that.
const OF_TIME: [&str; 3] = ["slo", "fairness", "baseline"];

/// A frame that our own switch lost is a packet lost: TCP sends it again, and somebody waits for a
/// fifth of a second. Where a fault has thrown away, delayed or doubled more packets than this many
/// times as many, what its victim noticed is the fault's doing.
const FRAMES_OUTNUMBERED: u64 = 10;
/// Faults that do nothing to packets are not told by a lost packet, unless their victim counts
/// what TCP repairs. So many cannot silence or stop anybody: TCP repairs them without a word.
const FRAMES_REPAIRED: u64 = 10;
/// What TCP counts when it repairs a loss.
const OF_REPAIRS: [&str; 3] = ["retransmits", "duplicates", "out-of-order"];

/// Everything that was measured in a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialRecord {
    /// What was done.
    pub spec: TrialSpec,
    /// What for.
    pub purpose: Purpose,
    /// When it started, for people.
    pub started: String,
    /// When it ended.
    pub ended: String,
    /// When clients began, in nanoseconds of the trial.
    pub start_ns: i64,
    /// How long clients worked.
    pub workload_ms: u64,
    /// Operations, by how they ended.
    pub operations: OperationCounts,
    /// What became of each fault window, in the order of the spec.
    pub windows: Vec<WindowRecord>,
    /// Answers a second before the first fault and after the last.
    pub health: Option<HealthRecord>,
    /// Whether the system came to rest.
    pub quiescence: QuiescenceRecord,
    /// Connections that went around the proxies.
    pub bypasses: Vec<String>,
    /// Connections that proxies had no room for.
    #[serde(default)]
    pub turned_away: u64,
    /// Frames that the switch between nodes lost by itself.
    #[serde(default)]
    pub frames_lost: u64,
    /// Clients that were given up, and nodes whose words could not be carried: a sentence each.
    #[serde(default)]
    pub lost: Vec<String>,
    /// Nodes that did not run when it was over, and no fault was on any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub down: Vec<String>,
    /// Why nobody knows whether something went around the proxies.
    #[serde(default)]
    pub unwatched: Option<String>,
    /// How long a client of a closed loop had done nothing when the planned time was over, in
    /// milliseconds: the longest of all.
    #[serde(default)]
    pub silent_ms: Option<u64>,
    /// The last reads were given up, because the system did not answer for too long.
    #[serde(default)]
    pub finals_cut: bool,
    /// How often the clock of the recorder jumped.
    pub clock_jumps: u64,
    /// The search of the system's log.
    pub log: LogRecord,
    /// Changes of leader, where the system tells.
    pub elections: Option<u64>,
    /// What the checkers say.
    pub judged: JudgedRecord,
    /// How sharp they are on this very history.
    pub sharpness: Option<SharpnessRecord>,
}

/// Operations of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationCounts {
    /// Sent, by the driver's count.
    pub sent: u64,
    /// Sent in the time that was planned.
    pub sent_in_time: u64,
    /// Found in the history.
    pub recorded: u64,
    /// Took effect.
    pub ok: u64,
    /// Did not.
    pub fail: u64,
    /// Nobody knows.
    pub unknown: u64,
    /// Overlapped a fault.
    pub in_fault: u64,
    /// Sent later than they were due.
    pub late: u64,
    /// The latest, in milliseconds.
    pub late_ms_max: u64,
}

/// Answers a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HealthRecord {
    /// Before the first fault.
    pub baseline: u64,
    /// After the last was healed.
    pub after: u64,
}

/// Three things that make up rest, each with what was seen.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuiescenceRecord {
    /// No operation in flight.
    pub in_flight: String,
    /// Nothing pending in the background.
    pub pending: String,
    /// All replicas hold the same.
    pub converged: String,
    /// Whether all three were shown.
    pub shown: bool,
}

/// The search of the system's log.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogRecord {
    /// Lines that were read.
    pub lines: u64,
    /// Lines that look like a hidden error.
    pub suspicious: u64,
    /// The first of them.
    pub samples: Vec<String>,
}

/// What the checkers say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgedRecord {
    /// All together.
    pub outcome: Outcome,
    /// How they ended.
    pub checker: Checker,
    /// Operations in the history.
    pub ops_in: u64,
    /// Operations they consumed.
    pub consumed: u64,
    /// Whether the history has what they need.
    pub history: HistoryFields,
    /// What they did not look at.
    pub not_covered: Vec<String>,
    /// Why there is no answer.
    pub undecided_because: Vec<String>,
    /// What the answer rests on.
    pub evidence: Vec<String>,
    /// What was found.
    pub anomalies: Vec<AnomalyRecord>,
    /// How much was found, shown or not.
    pub anomalies_total: u64,
    /// Groups that have figures of their own, where a checker compares groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
}

/// One anomaly.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnomalyRecord {
    /// Who found it.
    pub checker: String,
    /// What kind.
    pub kind: String,
    /// One line.
    pub title: String,
    /// What happened.
    pub explanation: Vec<String>,
    /// About which object.
    pub key: Option<String>,
    /// The operations that show it, by their place in the history.
    pub ops: Vec<u32>,
    /// When the last of them ended, in nanoseconds of the trial.
    pub until_ns: Option<i64>,
    /// Whether the separate verifier agrees; `None` if it would take it too long to tell.
    pub verified: Option<bool>,
    /// A picture of it, as SVG.
    pub picture: Option<String>,
}

/// How sharp the checkers are on a history.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharpnessRecord {
    /// What counts for the verdict.
    pub calibration: Calibration,
    /// By checker and kind of anomaly.
    pub rows: Vec<Planted>,
    /// What was left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl TrialRecord {
    /// Whether a claim was broken here. A history whose clock jumped cannot show it; nor can one
    /// whose connections our proxies turned away, or whose clients were lost, show that the system
    /// was too slow.
    pub fn is_violation(&self) -> bool {
        let anomalies = &self.judged.anomalies;
        let only_slow = !anomalies.is_empty()
            && anomalies.iter().all(|found| OF_TIME.contains(&found.checker.as_str()));
        let cut_off = self.turned_away > 0 || !self.lost.is_empty() || self.in_question().is_some();
        let is_ours = self.clock_jumps > 0 || (cut_off && only_slow);
        self.judged.outcome == Outcome::Refuted && !is_ours
    }

    /// A fault whose effect may have been that of frames our own switch lost while it was on, and
    /// how many. What a busy machine loses otherwise is repaired by TCP and told in the report, but
    /// costs no result: systems have to live with networks that lose a packet.
    fn in_question(&self) -> Option<(&str, u64)> {
        let one = |window: &'_ WindowRecord| {
            let injectors = window.landings.iter().map(|landing| &landing.injector);
            let of_packets = injectors.filter(|injector| injector.what.starts_with("packets"));
            let moved =
                of_packets.filter_map(|signal| Some(signal.during?.abs_diff(signal.before?)));
            let spec = self.spec.windows.iter().find(|spec| spec.id == window.id);
            let is_of_repairs =
                spec.is_some_and(|spec| OF_REPAIRS.iter().any(|name| spec.victim.contains(name)));
            let allowed = match moved.min() {
                Some(moved) => moved / FRAMES_OUTNUMBERED,
                None if is_of_repairs => 0,
                None => FRAMES_REPAIRED,
            };
            window.frames_lost > allowed
        };
        let found = self.windows.iter().find(|window| one(window))?;
        Some((&found.id, found.frames_lost))
    }

    /// What its history cannot show because of what the harness did, whatever is asked of it.
    pub fn spoiled(&self) -> Vec<String> {
        let mut lacks = Vec::new();
        if self.clock_jumps > 0 {
            lacks.push(format!("a clock that never jumps ({} jumps were seen)", self.clock_jumps));
        }
        if self.turned_away > 0 {
            lacks.push(format!(
                "room for every connection (proxies turned {} away, which no fault did: fewer \
                 clients, or more descriptors by `ulimit -n`)",
                self.turned_away
            ));
        }
        if let Some((fault, frames)) = self.in_question() {
            lacks.push(format!(
                "a switch that keeps up (it lost {frames} frames during {fault}, which may be what \
                 its victim noticed: fewer clients, or a machine with less to do)"
            ));
        }
        if !self.lost.is_empty() {
            lacks.push(format!("clients and nodes that can be heard ({})", self.lost.join("; ")));
        }
        if self.judged.outcome == Outcome::Refuted && !self.is_violation() {
            lacks.push("a cause of what was found that is not the harness itself".to_string());
        }
        lacks
    }

    /// Whether this trial would have shown a violation: it was judged to the end, every fault
    /// landed and was healed, and nothing was in the way.
    pub fn could_have_shown(&self) -> Result<(), String> {
        let judged = &self.judged;
        if judged.outcome != Outcome::Upheld {
            return Err(match judged.undecided_because.first() {
                Some(why) => format!("it was not judged to the end: {why}"),
                None => "it was not judged to the end".to_string(),
            });
        }
        if let Some(first) = self.spoiled().into_iter().next() {
            return Err(format!("its history lacks {first}"));
        }
        if let HistoryFields::Lacks(fields) = &judged.history {
            return Err(format!("its history lacks {}", fields.join(", ")));
        }
        if let Some(way) = self.bypasses.first().or(self.unwatched.as_ref()) {
            return Err(format!("the faults were not under control: {way}"));
        }
        let missed = |window: &&WindowRecord| !window.has_landed();
        if let Some(window) = self.windows.iter().find(missed) {
            let state = assay_verdict::landing_of(&window.landings);
            let why = window.trouble().map(|why| format!(" ({why})")).unwrap_or_default();
            return Err(format!("the fault {} did not land: {state}{why}", window.id));
        }
        match self.windows.iter().find_map(|w| Some((&w.id, w.unhealed.as_ref()?))) {
            Some((id, why)) => Err(format!("the fault {id} was not healed: {why}")),
            None => match self.down.first() {
                Some(node) => Err(format!("{node} does not run at the end")),
                None => Ok(()),
            },
        }
    }

    /// Windows that landed on both sides.
    pub fn landed(&self) -> u64 {
        self.windows.iter().filter(|window| window.has_landed()).count() as u64
    }

    /// When the first anomaly was complete, in milliseconds since clients began.
    pub fn violation_ms(&self) -> Option<u64> {
        let ends = self.judged.anomalies.iter().filter_map(|anomaly| anomaly.until_ns);
        let end = ends.min()?;
        u64::try_from((end - self.start_ns) / 1_000_000).ok()
    }

    /// A word about how it ended.
    pub fn result(&self) -> String {
        match self.judged.outcome {
            Outcome::Refuted => {
                let first = self.judged.anomalies.first().map_or("", |a| a.title.as_str());
                format!("refuted: {first}")
            }
            outcome => format!(
                "{outcome}: {} operations, {} of {} faults landed",
                self.judged.consumed,
                self.landed(),
                self.windows.len()
            ),
        }
    }
}

impl AnomalyRecord {
    /// What happened, line by line, without saying anything twice.
    pub fn story(&self) -> Vec<String> {
        let new = |line: &&String| !self.title.contains(line.as_str());
        std::iter::once(&self.title).chain(self.explanation.iter().filter(new)).cloned().collect()
    }
}

impl JudgedRecord {
    /// What is kept of a judgement.
    pub fn of(judgement: &Judgement, history: &History) -> JudgedRecord {
        let until_ns = |ops: &[OpIndex]| {
            let ends = ops.iter().map(|&op| history.op(op));
            ends.map(|op| op.complete_ts.unwrap_or(op.invoke_ts)).max()
        };
        let anomaly = |anomaly: &assay_judge::Anomaly| AnomalyRecord {
            checker: anomaly.checker.clone(),
            kind: anomaly.kind.clone(),
            title: anomaly.title.clone(),
            explanation: anomaly.explanation.clone(),
            key: anomaly.key.clone(),
            ops: anomaly.ops.iter().map(|op| op.0).collect(),
            until_ns: until_ns(&anomaly.ops),
            verified: match anomaly.certificate {
                Certificate::Verified => Some(true),
                Certificate::TooLarge => None,
                Certificate::DoesNotHold(_) => Some(false),
            },
            picture: anomaly.picture.as_ref().map(|picture| picture.svg()),
        };
        JudgedRecord {
            outcome: judgement.outcome,
            checker: judgement.checker(),
            ops_in: judgement.ops_in,
            consumed: judgement.ops_checked,
            history: judgement.history.clone(),
            not_covered: judgement.scope_not_covered.clone(),
            undecided_because: judgement.undecided_because.clone(),
            evidence: judgement.evidence.clone(),
            anomalies: judgement.anomalies.iter().map(anomaly).collect(),
            anomalies_total: judgement.anomalies_total,
            groups: None,
        }
    }

    /// Of a history that could not even be read.
    pub fn unreadable(why: String) -> JudgedRecord {
        JudgedRecord {
            outcome: Outcome::Undecided,
            checker: Checker::Undecided(Undecided::HistoryCutShort),
            ops_in: 0,
            consumed: 0,
            history: HistoryFields::Unknown,
            not_covered: Vec::new(),
            undecided_because: vec![why],
            evidence: Vec::new(),
            anomalies: Vec::new(),
            anomalies_total: 0,
            groups: None,
        }
    }
}

impl SharpnessRecord {
    /// What is kept of a calibration.
    pub fn of(sharpness: &Sharpness) -> SharpnessRecord {
        let row = |row: &assay_judge::SharpnessRow| Planted {
            checker: row.checker.clone(),
            kind: row.kind.clone(),
            planted: row.planted,
            caught: row.caught,
            certain: row.certain,
            certain_caught: row.certain_caught,
        };
        let cut = sharpness.cut.iter().map(|checker| {
            format!("{checker}: fewer than the {} rounds asked for, time was up", sharpness.asked)
        });
        SharpnessRecord {
            calibration: sharpness.verdict(),
            rows: sharpness.rows.iter().map(row).collect(),
            left_out: cut.chain(sharpness.notes.iter().cloned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Depth;
    use crate::samples::{clean, machine, refuted, spec};

    #[test]
    fn what_a_calibration_left_out_is_kept() {
        let sharpness = Sharpness {
            seed: 1,
            asked: 10,
            rows: Vec::new(),
            cut: vec!["slo".to_string()],
            notes: vec!["set: undecided on the history itself".to_string()],
        };
        let kept = SharpnessRecord::of(&sharpness);
        let cut = "slo: fewer than the 10 rounds asked for, time was up";
        assert_eq!(kept.left_out, [cut, "set: undecided on the history itself"]);
    }

    #[test]
    fn frames_the_switch_lost_count_where_they_may_be_taken_for_a_fault() {
        let packets = |during| assay_verdict::Signal::counted("packets dropped", 0, during, during);
        let stopped = || assay_verdict::Signal::counted("processes stopped", 0, 1, 1);
        let silent = "heartbeat-gap >= 2s";
        let rows = [
            (packets(100), "timeouts >= 1", 10, false),
            (packets(100), "timeouts >= 1", 11, true),
            (packets(9), "retransmits >= 1", 1, true),
            (stopped(), silent, 10, false),
            (stopped(), silent, 11, true),
            (stopped(), "retransmits >= 1", 1, true),
            (stopped(), "retransmits >= 1", 0, false),
        ];
        for (injector, victim, frames, expected) in rows {
            let mut record = clean(&spec(&machine("slo"), Depth::Hardening, 1));
            record.frames_lost = 1_000;
            record.spec.windows[0].victim = victim.to_string();
            record.windows[0].frames_lost = frames;
            record.windows[0].landings[0].injector = injector;
            let said = record.spoiled().join("; ");
            assert_eq!(said.contains("a switch that keeps up"), expected, "{victim}: {said}");
            assert_eq!(record.could_have_shown().is_err(), expected, "{victim}");
        }
    }

    #[test]
    fn connections_that_proxies_turned_away_are_no_violation_of_a_service_level() {
        // Who found something; how many were turned away; whether the system is accused.
        let rows: [(&[&str], u64, bool); 7] = [
            (&["slo"], 0, true),
            (&["slo"], 3, false),
            (&["fairness", "baseline", "slo"], 1, false),
            (&["linearizability:register"], 3, true),
            (&["slo", "linearizability:register"], 3, true),
            (&["no-lost-ack"], 3, true),
            (&[], 3, true),
        ];
        let first = refuted(&spec(&machine("slo"), Depth::Hardening, 1), 500);
        for (checkers, turned_away, expected) in rows {
            let mut record = TrialRecord { turned_away, ..first.clone() };
            let anomaly = record.judged.anomalies.remove(0);
            let found =
                |name: &&str| AnomalyRecord { checker: name.to_string(), ..anomaly.clone() };
            record.judged.anomalies = checkers.iter().map(found).collect();
            assert_eq!(record.is_violation(), expected, "{checkers:?}, {turned_away}");
        }
    }
}
