//! Arms: one scenario, several surfaces, each with a verdict of its own.

use crate::state::{Family, Verdict};
use serde::Serialize;

/// The verdict of a scenario that has arms, with the reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Aggregate {
    /// The verdict of the whole.
    pub verdict: Verdict,
    /// Why, in one sentence.
    pub sentence: String,
}

/// The verdict of all arms together, in the order of the plan.
///
/// A violation in one arm is one of the whole. An arm that did not run, or ran in part, leaves a
/// surface in the dark: the whole is then at most PARTIAL-surface. Else the first inconclusive arm
/// speaks, else the weakest pass. No arms, or none that ran, is NOT-RUN: nothing was looked at, so
/// not even the surface.
///
/// ```
/// use assay_verdict::{Verdict, aggregate};
/// use Verdict::*;
/// let whole = aggregate(&[PassHardening, PassSmoke, NotRun, PartialSurface]);
/// assert_eq!(whole.verdict, PartialSurface);
/// assert_eq!(whole.sentence, "PARTIAL-surface: 1 NOT-RUN arm, 1 PARTIAL arm.");
/// ```
pub fn aggregate(arms: &[Verdict]) -> Aggregate {
    let count = |wanted: fn(&Verdict) -> bool| arms.iter().filter(|arm| wanted(arm)).count();
    let not_run = count(|arm| *arm == Verdict::NotRun);
    let partial = count(|arm| arm.family() == Family::Partial);
    let inconclusive = arms.iter().position(|arm| arm.family() == Family::Inconclusive);
    let first = |wanted: Verdict| arms.iter().position(|arm| *arm == wanted);
    let (verdict, because) = if let Some(at) = first(Verdict::FailReproducible) {
        (Verdict::FailReproducible, format!("arm {} of {} broke the claim", at + 1, arms.len()))
    } else if let Some(at) = first(Verdict::FailNondeterministic) {
        let because = format!("arm {} of {} broke the claim once", at + 1, arms.len());
        (Verdict::FailNondeterministic, because)
    } else if not_run == arms.len() {
        (Verdict::NotRun, "no arm was attempted".to_string())
    } else if not_run + partial > 0 {
        let part = |number: usize, name: &str| match number {
            0 => None,
            1 => Some(format!("1 {name} arm")),
            _ => Some(format!("{number} {name} arms")),
        };
        let parts: Vec<String> =
            [part(not_run, "NOT-RUN"), part(partial, "PARTIAL")].into_iter().flatten().collect();
        (Verdict::PartialSurface, parts.join(", "))
    } else if let Some(at) = inconclusive {
        (arms[at], format!("arm {} of {} decided nothing", at + 1, arms.len()))
    } else if first(Verdict::PassSmoke).is_some() {
        (Verdict::PassSmoke, "the weakest arm is a smoke pass".to_string())
    } else {
        (Verdict::PassHardening, format!("all {} arms are hardened", arms.len()))
    };
    Aggregate { verdict, sentence: format!("{verdict}: {because}.") }
}
