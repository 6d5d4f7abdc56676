//! Collects what an oracle finds and computes its answer, in one place for all of them.

use crate::contract::{Anomaly, Answer, Certificate, CheckReport, Fact};
use crate::table::{Table, count};
use assay_history::{History, OpIndex};

/// A report being written.
pub(crate) struct Tally {
    report: CheckReport,
    anomalies_max: usize,
}

impl Tally {
    pub fn new(checker: &'static str, history: &History, anomalies_max: usize) -> Tally {
        let mut tally = Tally { report: CheckReport::new(checker, history.len()), anomalies_max };
        let meta = &history.meta;
        let len = history.len() as u64;
        let counts = [("sent", meta.sent), ("recorded", meta.recorded)];
        for (name, number) in counts {
            if let Some(number) = number.filter(|&number| number != len) {
                let number = count(number as usize);
                tally.undecided(format!(
                    "the history is not whole: {number} operations were {name}, {} are here",
                    count(history.len())
                ));
            }
        }
        if let Some(record) = meta.torn_tail {
            tally.undecided(format!("the history is cut off in record {record}"));
        }
        tally
    }

    /// Counts operations that had something to say.
    pub fn checked(&mut self, ops: usize) {
        self.report.ops_checked += ops;
    }

    /// Counts work.
    pub fn steps(&mut self, steps: usize) {
        self.report.budget_used.steps += steps as u64;
    }

    /// Counts memory held beside the history.
    pub fn memory(&mut self, bytes: usize) {
        let used = &mut self.report.budget_used.memory_bytes;
        *used = (*used).max(bytes);
    }

    /// Says what the answer rests on.
    pub fn evidence(&mut self, line: impl Into<String>) {
        self.report.evidence.push(line.into());
    }

    /// Says what was not looked at.
    pub fn not_covered(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.report.scope_not_covered.contains(&line) {
            self.report.scope_not_covered.push(line);
        }
    }

    /// Says why no answer can be given, unless something is refuted.
    pub fn undecided(&mut self, line: impl Into<String>) {
        let line = line.into();
        if !self.report.undecided_because.contains(&line) {
            self.report.undecided_because.push(line);
        }
    }

    /// Adds an anomaly; what is beyond the number asked for is only counted.
    pub fn anomaly(
        &mut self,
        kind: &'static str,
        ops: &[OpIndex],
        facts: impl FnOnce() -> Vec<Fact>,
        explanation: impl FnOnce() -> String,
    ) {
        if self.report.anomalies.len() >= self.anomalies_max {
            self.report.anomalies_not_shown += 1;
            return;
        }
        self.report.anomalies.push(Anomaly {
            kind: kind.into(),
            ops: ops.to_vec(),
            explanation: explanation(),
            certificate: Certificate { kind: kind.into(), facts: facts() },
        });
    }

    /// The finished report. Order matters: what is refuted stays refuted, and what consumed
    /// nothing never passes.
    pub fn finish(mut self) -> CheckReport {
        let report = &mut self.report;
        // An operation that several states or groups were asked about is still one operation.
        report.ops_checked = report.ops_checked.min(report.ops_in);
        report.answer = if report.anomaly_count() > 0 {
            Answer::Refuted
        } else if !report.undecided_because.is_empty() {
            Answer::Undecided
        } else if report.ops_checked == 0 {
            Answer::NothingChecked
        } else {
            Answer::Upheld
        };
        self.report
    }
}

/// The margin for comparing times of different processes, or the reason why that is impossible.
pub(crate) fn real_time(table: &Table<'_>, skew_ns: Option<i64>, tally: &mut Tally) -> Option<i64> {
    let margin = table.margin(skew_ns);
    if margin.is_none() {
        tally.undecided(
            "times come from wall clocks that may differ between processes, and no clock skew \
             is declared: which of two operations came first cannot be known",
        );
    }
    margin
}
