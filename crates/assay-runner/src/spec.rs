//! What one trial does, with nothing left to decide: the same file gives the same trial again.
//!
//! A plan says "a window every 9 to 11 seconds"; a [`TrialSpec`] says when each of them opens. It
//! is what a finding is reproduced from, and what is made smaller when a finding is reduced.

use assay_plan::machine::Network;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Options by name.
pub type Options = BTreeMap<String, Value>;

/// One trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// The scenario or arm it belongs to: `S1`, `S5/api`.
    pub scenario: String,
    /// Where every random choice comes from.
    pub seed: u64,
    /// How long clients work, in milliseconds.
    pub duration_ms: u64,
    /// What is tested.
    pub system: SystemChoice,
    /// What clients do.
    pub workload: WorkloadChoice,
    /// What goes wrong meanwhile, in order.
    pub windows: Vec<WindowSpec>,
    /// What judges it.
    pub check: CheckChoice,
}

/// No time in a trial is longer: what is, was written by somebody who edits such files, and sums of
/// times would overflow.
const TIME_MS_MAX: u64 = 366 * 86_400 * 1_000;

impl TrialSpec {
    /// What no plan would give: times that are longer than a year.
    ///
    /// # Errors
    /// The first of them, in a sentence.
    pub fn check(&self) -> Result<(), String> {
        let own = [
            ("duration_ms".to_string(), self.duration_ms),
            ("workload.timeout_ms".to_string(), self.workload.timeout_ms),
        ];
        let of_windows = self.windows.iter().flat_map(|window| {
            let at = match window.opens {
                Opening::AtMs(at) => at,
                Opening::On { .. } => 0,
            };
            let named = |what: &str| format!("{what} of {}", window.id);
            [(named("opens.at-ms"), at), (named("hold_ms"), window.hold_ms)]
        });
        match own.into_iter().chain(of_windows).find(|(_, ms)| *ms > TIME_MS_MAX) {
            Some((what, ms)) => Err(format!(
                "{what} is {ms}: no trial is longer than a year, {TIME_MS_MAX} milliseconds"
            )),
            None => Ok(()),
        }
    }
}

/// The system of a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemChoice {
    /// Its name.
    pub name: String,
    /// The digest of its description, so that a trial with another one is another trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How many nodes.
    pub nodes: usize,
    /// What is between them.
    #[serde(default, skip_serializing_if = "Network::is_default")]
    pub network: Network,
    /// What it is told.
    pub options: Options,
}

/// The workload of a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadChoice {
    /// Which operations.
    pub generator: String,
    /// How many clients.
    pub clients: usize,
    /// Operations a second, all clients together; `None`: each waits for its answer.
    pub rate: Option<f64>,
    /// How many keys.
    pub keys: u64,
    /// Whether a few keys are hot.
    pub zipf: bool,
    /// Shares of operation types.
    pub mix: BTreeMap<String, u64>,
    /// When a client gives up waiting.
    pub timeout_ms: u64,
    /// More for the generator.
    pub options: Options,
}

/// The checkers of a trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckChoice {
    /// Their names.
    pub names: Vec<String>,
    /// What they are told.
    pub options: Options,
    /// What the objects promise.
    pub model: Option<String>,
    /// What the model is told.
    pub model_options: Options,
}

/// When a window opens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Opening {
    /// So many milliseconds after the start of the workload.
    AtMs(u64),
    /// When something has happened so often: 1,000 × `acks`.
    On {
        /// What.
        event: String,
        /// How often.
        count: u64,
    },
}

/// One fault, once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowSpec {
    /// Its name, unique in the trial: `leader-iso-2`. Operations carry it as their fault epoch.
    pub id: String,
    /// The `[[nemesis]]` entry it comes from, from 0; windows of one entry follow each other.
    pub entry: usize,
    /// The fault.
    pub fault: String,
    /// Whom it hits, as the plan says it.
    pub target: String,
    /// When it opens.
    pub opens: Opening,
    /// How long it stays open.
    pub hold_ms: u64,
    /// How strong it is.
    pub strength: Options,
    /// What the injector must have counted, as a predicate; empty: whatever the fault counts.
    pub injector: String,
    /// What a victim must have noticed, as a predicate; empty: nobody was asked, and nothing is
    /// proven.
    pub victim: String,
}
