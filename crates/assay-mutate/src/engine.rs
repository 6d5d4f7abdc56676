//! What explores the states of a module: one trait, and what is asked and answered.

use crate::model::Model;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// How much one exploration may take.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// Time by the clock on the wall, for each start of the engine.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// Memory of the engine, in MiB.
    pub memory_mib: u64,
    /// Output of the engine that is read, in bytes.
    pub output_bytes: usize,
    /// Different states that are gone on from; nothing limits them if there is no number.
    pub states: Option<u64>,
}

fn seconds<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

impl Default for Limits {
    fn default() -> Limits {
        let time = Duration::from_secs(60);
        Limits { time, memory_mib: 1024, output_bytes: 64 << 20, states: None }
    }
}

/// A formula that should always be true, with the name it is reported by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The name in the answer.
    pub name: String,
    /// The formula, in terms of the module.
    pub formula: String,
}

/// A formula that should be true of every step that changes something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepClaim {
    /// The name in the answer.
    pub name: String,
    /// The formula `A` of `[A]_v`.
    pub action: String,
    /// The variables `v`: a step that leaves them as they are is not looked at.
    pub variables: String,
}

/// What is asked about a model. All of it is decided together where the engine can.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Formulas of states.
    pub states: Vec<Claim>,
    /// Formulas of steps.
    pub steps: Vec<StepClaim>,
    /// Formulas of steps of which none should ever be taken.
    pub never: Vec<Claim>,
    /// Operators of the module that are formulas of behaviours.
    pub temporal: Vec<String>,
    /// Whether a state without a next one counts, under the name [`DEADLOCK`].
    pub deadlock: bool,
}

impl Question {
    /// The names of everything that is asked.
    pub fn names(&self) -> BTreeSet<String> {
        let states = self.states.iter().map(|claim| claim.name.clone());
        let steps = self.steps.iter().map(|claim| claim.name.clone());
        let never = self.never.iter().map(|claim| claim.name.clone());
        let temporal = self.temporal.iter().cloned();
        let deadlock = self.deadlock.then(|| DEADLOCK.to_string());
        states.chain(steps).chain(never).chain(temporal).chain(deadlock).collect()
    }
}

/// The name under which a deadlock is reported.
pub const DEADLOCK: &str = "(deadlock)";

/// What came out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Answer {
    /// The names of claims that are not always true.
    pub violated: BTreeSet<String>,
    /// The names of claims of which it is not known, for the exploration did not end.
    pub undecided: BTreeSet<String>,
    /// Different states, of an exploration that ended.
    pub distinct: u64,
    /// Steps, as the engine counts them.
    pub steps: u64,
    /// Whether there are more states than the limit on states let it look at. What was not violated
    /// among these may be among others; asking again gives the same answer, unlike with a clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bounded: bool,
    /// Why the exploration stopped early: an error of the model, which is as repeatable as the
    /// rest, or a limit.
    pub stopped: Option<String>,
}

/// Why a model cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CannotCheck {
    /// No engine.
    #[error("{0}")]
    Missing(String),
    /// The engine cannot be started.
    #[error("{engine}: cannot be started: {why}; assay doctor says which engines there are")]
    Start {
        /// Which.
        engine: String,
        /// What the system said.
        why: String,
    },
    /// The module or the configuration is not what the engine reads.
    #[error("{engine} does not accept it: {why}")]
    Rejected {
        /// Which.
        engine: String,
        /// What it said.
        why: String,
    },
    /// What the engine printed is not what this reads.
    #[error("{engine}: what it printed is not understood ({why}); is it another version?")]
    Babble {
        /// Which.
        engine: String,
        /// What was looked for.
        why: String,
    },
    /// The scratch directory.
    #[error("{place}: cannot {doing}: {why}; free some space, or set TMPDIR")]
    Scratch {
        /// Where.
        place: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        why: String,
    },
    /// Somebody stopped it.
    #[error("interrupted; nothing was written")]
    Interrupted,
}

/// Explores the states of models.
pub trait Engine: Send + Sync {
    /// Its name and version.
    fn name(&self) -> String;

    /// Explores a model and answers.
    ///
    /// # Errors
    /// When it cannot be checked at all; a limit that was reached is no error, see
    /// [`Answer::undecided`].
    fn ask(
        &self,
        model: &Model,
        question: &Question,
        limits: &Limits,
    ) -> Result<Answer, CannotCheck>;
}
