//! Recording what happened, and asking a checker by name.

use crate::twin::Twin;
use assay_check::ModelKind;
use assay_history::{History, ReadOptions, Style, read, read_txns};
use assay_oracle::{Answer, Options, named};
use assay_workload::{Call, Reply, Workload};
use proptest::prelude::ProptestConfig;
use serde_json::{Value, json};

/// So many cases, and no file for those that failed: the seed is printed.
pub fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Rows of a history, one call after the other.
#[derive(Default)]
pub struct Recorder {
    rows: Vec<Value>,
}

impl Recorder {
    /// Has a call done by the twin, and writes it down.
    pub fn act(&mut self, twin: &mut Twin, process: usize, call: &Call) -> Reply {
        let reply = twin.call(call);
        let (output, error, node, revision) = match &reply {
            Reply::Ok { output, node, revision } => (output.clone(), Value::Null, node, *revision),
            Reply::Fail { error, node } => (Value::Null, json!(error), node, None),
            Reply::Unknown { .. } => panic!("the twin always knows"),
        };
        let (id, at) = (self.rows.len(), self.rows.len() * 10);
        let mut row = json!({
            "event": "op", "op_id": id, "process_id": process, "invoke_ts": at,
            "complete_ts": at + 5, "op_type": call.op, "key": call.key, "input": call.input,
            "output": output, "error": error, "timeout_marker": false, "node_seen": node,
            "fault_epoch": null,
        });
        if let Some(revision) = revision {
            row["revision"] = json!(revision);
        }
        self.rows.push(row);
        reply
    }

    /// The history without operations of these types.
    fn text(&self, without: &[&str]) -> String {
        let header = json!({"event": "header", "format": "assay-history", "version": 1,
            "clock": "monotonic", "time_unit": "ns", "pipelined": false});
        let kept = |row: &&Value| !without.iter().any(|op| row["op_type"] == *op);
        let rows: Vec<&Value> = self.rows.iter().filter(kept).collect();
        let footer = json!({"event": "footer", "sent": rows.len(), "recorded": rows.len()});
        let lines = [&header].into_iter().chain(rows).chain([&footer]);
        lines.map(|line| line.to_string() + "\n").collect()
    }

    /// What a checker says. Operations that belong to no model are left out where models judge.
    pub fn judge(&self, checker: &str, settings: &[(&str, &str)]) -> Answer {
        let aside = ["dump", "reconnect"];
        if let Some(model) = checker.strip_prefix("linearizability:") {
            let history = parsed(&self.text(&aside));
            let kind = ModelKind::named(model).unwrap_or_else(|| panic!("no model {model}"));
            let options = assay_check::CheckOptions::new(kind);
            let report = assay_check::check(&history, &options).expect("the model takes it");
            return match report.answer {
                assay_check::Answer::Linearizable => Answer::Upheld,
                assay_check::Answer::Refuted => Answer::Refuted,
                assay_check::Answer::Undecided => Answer::Undecided,
            };
        }
        let style = match checker {
            "list-append" => Some(Style::ListAppend),
            "rw-register" => Some(Style::RwRegister),
            _ => None,
        };
        if let Some(style) = style {
            let text = self.text(&aside);
            let txns = read_txns(text.as_bytes(), &ReadOptions::default(), style);
            let options =
                assay_txn::CheckOptions { recording_complete: true, ..Default::default() };
            let report = assay_txn::check(&txns.expect("transactions"), &options);
            let clean = report.expect("it is small").ruled_out == assay_txn::Models::default();
            return if clean { Answer::Upheld } else { Answer::Refuted };
        }
        let mut options = Options::default();
        for (name, value) in settings {
            options.set(name, value).expect("a setting");
        }
        let oracle = named(checker).unwrap_or_else(|| panic!("no checker {checker}"));
        let history = parsed(&self.text(&[]));
        oracle.check(&history, &options).expect("the oracle takes it").answer
    }
}

fn parsed(text: &str) -> History {
    read(text.as_bytes(), &ReadOptions::default()).expect("a history")
}

/// A whole run: setup, `calls` calls of clients in turn, finals on three nodes.
pub fn run(workload: &Workload, clients: usize, twin: &mut Twin, calls: usize) -> Recorder {
    for call in workload.setup() {
        twin.call(&call);
    }
    let mut recorder = Recorder::default();
    let mut scripts: Vec<_> = (0..clients).map(|client| workload.script(client)).collect();
    for turn in 0..calls {
        let client = turn % clients;
        let call = scripts[client].next().expect("endless");
        let reply = recorder.act(twin, client, &call);
        scripts[client].observe(&call, &reply);
    }
    let mut finals = workload.finals(3, assay_workload::Dumps::Wanted);
    while let Some(call) = finals.next() {
        let reply = recorder.act(twin, clients, &call);
        finals.observe(&call, &reply);
    }
    recorder
}
