//! What came of one twin, and whether it is what was published.

use super::figures::{Figures, figures};
use crate::gallery::{Entry, TWIN_SECONDS_MAX};
use assay_report::run::{JudgedScenario, one_line};
use assay_runner::files::read_json;
use assay_runner::investigate::Investigation;
use assay_runner::run::Finished;
use assay_verdict::{Facts, Family, Fault, Landing, Verdict};
use serde_json::{Value, json};

/// One run of one twin of one entry.
pub struct Twin {
    pub(super) entry: &'static str,
    pub(super) round: u32,
    pub(super) seed: u64,
    pub(super) scenario: String,
    pub(super) is_red: bool,
    pub(super) verdict: Verdict,
    /// Why it did not end as expected; empty if it did.
    pub(super) because: Vec<String>,
    pub(super) sentence: String,
    /// Kinds of what a red twin found, those of the witness first.
    pub(super) classes: Vec<String>,
    pub(super) anomaly: Option<String>,
    pub(super) operations: u64,
    pub(super) figures: Vec<Figures>,
    pub(super) seconds: Option<f64>,
    pub(super) report: Option<String>,
}

/// Which run of which entry.
#[derive(Clone, Copy)]
pub struct Round<'r> {
    /// The entry.
    pub entry: &'r Entry,
    /// The number of the run, from 1.
    pub number: u32,
    /// The first seed of the run.
    pub seed: u64,
}

impl Twin {
    /// From the record of a run.
    pub fn of(
        round: Round<'_>,
        finished: &Finished,
        judged: &JudgedScenario<'_>,
        seconds: Option<f64>,
    ) -> Twin {
        let id = &judged.scenario.id;
        let findings = &finished.record.findings;
        let finding = findings.iter().find(|finding| finding.scenario == *id);
        let (mut operations, mut landings) = (0, Vec::<&Landing>::new());
        for arm in &judged.scenario.arms {
            let Facts::Ran(run) = &arm.facts else { continue };
            operations += run.operations.consumed.unwrap_or(0);
            if let Fault::Planned { landings: all, .. } = &run.fault {
                landings.extend(all);
            }
        }
        let found = investigations(finished, judged);
        let figures = figures(&landings);
        let is_red = judged.is_canary();
        let mut because = Vec::new();
        if !judged.as_expected() {
            because.push(judged.sentence.clone());
        }
        if is_red && judged.as_expected() {
            because.extend(unpublished(round.entry, &found));
        }
        because.extend(unproven(&figures));
        Twin {
            entry: round.entry.name,
            round: round.number,
            seed: round.seed,
            scenario: judged.scenario.name.clone(),
            is_red,
            verdict: judged.verdict,
            because,
            sentence: judged.sentence.clone(),
            classes: classes(&found),
            anomaly: finding.map(|finding| one_line(&finding.what_happened)),
            operations,
            figures,
            seconds,
            report: Some(finished.directory.join("report.html").display().to_string()),
        }
    }

    /// Both twins of an entry that could not be run, with what to do about it.
    pub fn missing(round: Round<'_>, why: &str) -> Vec<Twin> {
        let plan = assay_plan::parse(round.entry.plan);
        let twin = |(number, scenario): (usize, &assay_plan::plan::Scenario)| Twin {
            entry: round.entry.name,
            round: round.number,
            seed: round.seed,
            scenario: scenario.name.text.clone(),
            // S1 is the green twin, S2 the red one.
            is_red: number > 0,
            verdict: Verdict::InconclusiveEnv,
            because: vec![why.to_string()],
            sentence: why.to_string(),
            classes: Vec::new(),
            anomaly: None,
            operations: 0,
            figures: Vec::new(),
            seconds: None,
            report: None,
        };
        plan.scenarios.iter().enumerate().map(twin).collect()
    }

    pub(super) fn as_expected(&self) -> bool {
        self.because.is_empty()
    }

    /// Whether something was refuted that must hold: worse than anything inconclusive.
    pub(super) fn is_broken(&self) -> bool {
        !self.is_red && self.is_refuted()
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.verdict.family() == Family::Fail
    }

    pub(super) fn is_over_budget(&self) -> bool {
        self.seconds.is_some_and(|seconds| seconds > f64::from(TWIN_SECONDS_MAX))
    }

    pub(super) fn colour(&self) -> &'static str {
        if self.is_red { "red" } else { "green" }
    }

    pub(super) fn json(&self) -> Value {
        let landed: usize = self.figures.iter().map(|one| one.landed).sum();
        let planned: usize = self.figures.iter().map(|one| one.planned).sum();
        json!({
            "entry": self.entry, "round": self.round, "seed": self.seed, "twin": self.colour(),
            "scenario": self.scenario, "verdict": self.verdict,
            "as_expected": self.as_expected(), "because": self.because,
            "sentence": self.sentence, "classes": self.classes, "anomaly": self.anomaly,
            "operations": self.operations, "faults_landed": landed, "faults_planned": planned,
            "faults": self.figures.iter().map(Figures::json).collect::<Vec<Value>>(),
            "seconds": self.seconds, "over_budget": self.is_over_budget(), "report": self.report,
        })
    }
}

/// What was found out about the violations of a scenario, arm by arm.
fn investigations(finished: &Finished, judged: &JudgedScenario<'_>) -> Vec<Investigation> {
    let artifacts = finished.directory.join("artifacts");
    let file = |arm: &str| artifacts.join(arm.replace('/', "-")).join("investigation.json");
    let arms = judged.scenario.arms.iter().map(|arm| file(&arm.id));
    // One that cannot be read shows nothing, and then the twin has no published anomaly.
    arms.filter_map(|path| read_json(&path).ok().flatten()).collect()
}

fn classes(found: &[Investigation]) -> Vec<String> {
    let mut classes = Vec::new();
    for anomaly in found.iter().flat_map(|found| &found.first.judged.anomalies) {
        if !classes.contains(&anomaly.kind) {
            classes.push(anomaly.kind.clone());
        }
    }
    classes
}

/// Why what a red twin found is not what was published: it needs an anomaly of a published kind,
/// with a certificate that holds in the separate verifier.
fn unpublished(entry: &Entry, found: &[Investigation]) -> Option<String> {
    let mut anomalies = found.iter().flat_map(|found| &found.first.judged.anomalies);
    let published = entry.kinds.join(" or ");
    if anomalies.any(|one| one.verified == Some(true) && entry.kinds.contains(&one.kind.as_str())) {
        return None;
    }
    let classes = classes(found);
    let found = if classes.is_empty() { "nothing".to_string() } else { classes.join(", ") };
    Some(format!("published was {published}, with a witness; found was {found}"))
}

/// Why the faults are not all proven on both sides.
fn unproven(figures: &[Figures]) -> Option<String> {
    if figures.is_empty() {
        return Some("no fault was planned that could land".to_string());
    }
    let missed = figures.iter().filter(|one| one.landed < one.planned);
    let words: Vec<String> = missed
        .map(|one| format!("{} of {} {} landed", one.landed, one.planned, one.fault))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::GALLERY;
    use assay_verdict::Signal;

    #[test]
    fn a_fault_that_missed_on_one_side_is_not_as_expected() {
        let landing = |victim| Landing {
            fault: "pause-1 of n1".to_string(),
            injector: Signal::counted("stopped", 0, 1, 0),
            victim: Signal::counted("heartbeat-gap", 0, victim, 0),
        };
        let (good, bad) = (landing(3), landing(0));
        assert_eq!(unproven(&figures(&[&good])), None);
        let missed = unproven(&figures(&[&good, &bad])).unwrap_or_default();
        assert_eq!(missed, "1 of 2 pause landed");
        assert!(unproven(&[]).is_some(), "no fault at all proves nothing");
    }

    #[test]
    fn a_refutation_without_a_witness_of_the_published_kind_is_not_as_expected() {
        for entry in GALLERY {
            let why = unpublished(entry, &[]).expect("nothing was found");
            assert!(entry.kinds.iter().all(|kind| why.contains(kind)), "{why}");
        }
    }

    #[test]
    fn an_entry_that_cannot_be_run_is_inconclusive_and_says_why() {
        let entry = &GALLERY[0];
        let twins = Twin::missing(Round { entry, number: 2, seed: 1_001 }, "no network");
        assert_eq!(twins.iter().map(Twin::colour).collect::<Vec<_>>(), ["green", "red"]);
        assert!(twins.iter().all(|twin| twin.verdict == Verdict::InconclusiveEnv));
        assert!(twins.iter().all(|twin| !twin.as_expected() && !twin.is_broken()));
    }
}
