//! Whether conditions of properties ever hold, and whether each kind of step is ever taken.

use crate::engine::{Answer, CannotCheck, Claim, Engine, Limits, Question, StepClaim};
use crate::model::Model;
use assay_guard::tla::probes::{About, Probe, probes, variables};
use serde::Serialize;

/// What was asked, and whether it is reached.
#[derive(Clone, Debug, Serialize)]
pub struct Asked {
    /// The question.
    #[serde(flatten)]
    pub probe: Probe,
    /// Reached, never reached, or not known because a limit was met first.
    pub reached: Option<bool>,
}

/// What came out.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// Conditions of properties.
    pub conditions: Vec<Asked>,
    /// Kinds of steps.
    pub steps: Vec<Asked>,
    /// What could not be asked, and why.
    pub notes: Vec<String>,
    /// The module as it is.
    pub base: Answer,
    /// What explored it.
    pub engine: String,
}

/// Asks.
///
/// # Errors
/// When the module cannot be checked.
pub fn run(engine: &dyn Engine, model: &Model, limits: &Limits) -> Result<Reached, CannotCheck> {
    let found = probes(&model.source, &model.cfg);
    let subscript = variables(&model.source, &model.cfg);
    let mut question = Question::default();
    for (at, probe) in found.antecedents.iter().enumerate() {
        let name = format!("condition {at}");
        match probe.about {
            About::State => {
                question.states.push(Claim { name, formula: format!("~({})", probe.formula) });
            }
            About::Step => question.steps.push(StepClaim {
                name,
                action: format!("~({})", probe.formula),
                variables: subscript.clone(),
            }),
        }
    }
    for (at, probe) in found.steps.iter().enumerate() {
        let formula = probe.formula.clone();
        question.never.push(Claim { name: format!("step {at}"), formula });
    }
    let base = engine.ask(model, &question, limits)?;
    let judged = |kind: &str, probes: Vec<Probe>| -> Vec<Asked> {
        let one = |(at, probe): (usize, Probe)| {
            let name = format!("{kind} {at}");
            let reached = match base.violated.contains(&name) {
                true => Some(true),
                false if base.undecided.contains(&name) || base.stopped.is_some() => None,
                false => Some(false),
            };
            Asked { probe, reached }
        };
        probes.into_iter().enumerate().map(one).collect()
    };
    Ok(Reached {
        conditions: judged("condition", found.antecedents),
        steps: judged("step", found.steps),
        notes: found.notes,
        engine: engine.name(),
        base,
    })
}
