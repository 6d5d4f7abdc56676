//! What a measurement says against a module: compared with the record, and by itself.

use crate::campaign::Matrix;
use crate::engine::Answer;
use crate::model::Model;
use crate::vacuity::{Asked, Reached};
use assay_guard::Finding;
use assay_guard::finding::{Side, finding};
use assay_guard::rules::find;
use assay_guard::tla::records::{Kills, Ledger, Placed, States, compare_kills, compare_states};
use assay_guard::{Verdict, rules::RuleId};

/// A record as it is in the repository.
#[derive(Clone, Debug)]
pub struct Recorded<T> {
    /// The file.
    pub file: String,
    /// Its text.
    pub text: String,
    /// What it says.
    pub record: T,
}

fn rule(name: &'static str) -> RuleId {
    find(name).map_or(RuleId(name), |rule| rule.id)
}

fn place(model: &Model) -> String {
    model.file.display().to_string()
}

/// The line of an operator's definition.
fn line_of(model: &Model, name: &str) -> usize {
    let module = assay_guard::tla::parse(&model.source);
    module.and_then(|module| module.operator(name).map(|own| own.line)).unwrap_or(1)
}

/// What a kill matrix says.
pub fn of_matrix(
    model: &Model,
    matrix: &Matrix,
    recorded: Option<&Recorded<Kills>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(recorded) = recorded {
        let now = matrix.kills();
        let text = now.to_toml();
        let old = Placed { record: &recorded.record, file: &recorded.file, text: &recorded.text };
        findings = compare_kills(old, Placed { record: &now, file: &recorded.file, text: &text });
        // A quick look tries few of those on record on purpose.
        let count = format!("{}!mutants", recorded.record.module);
        findings.retain(|finding| !(matrix.is_quick && finding.object == count));
        findings.retain(|finding| finding.verdict != Verdict::Stronger);
        if matrix.is_quick {
            findings.iter_mut().for_each(|finding| outdated(finding, &recorded.record, &now));
        }
    }
    for property in matrix.idle() {
        let object = format!("{}!{property}", matrix.module);
        if findings.iter().any(|finding| finding.object == object) {
            continue;
        }
        let tried = matrix.rows.len();
        let (verdict, reason) = match tried < matrix.mutants_total {
            true => (
                Verdict::Suspect,
                format!(
                    "notices none of the {tried} mutants that were tried, of {}",
                    matrix.mutants_total
                ),
            ),
            false => (
                Verdict::Weaker,
                format!("notices none of all {tried} mutants: nothing shows that it can fail"),
            ),
        };
        let file = place(model);
        let side = Side { file: &file, line: line_of(model, property), text: property };
        findings.push(finding(rule("S03"), object, verdict, (None, Some(side)), reason));
    }
    findings
}

/// A property of whose mutants none is there any more was not looked at: the actions changed.
fn outdated(finding: &mut Finding, record: &Kills, now: &Kills) {
    let property = finding.object.split_once('!').map_or("", |(_, name)| name);
    let known = record.kills.get(property);
    let tried = known.is_some_and(|list| list.iter().any(|id| now.mutants.contains_key(id)));
    if finding.rule.0 == "S02" && now.kills.contains_key(property) && !tried {
        finding.verdict = Verdict::Suspect;
        finding.reason = "none of its mutants on record is there any more; measure anew with \
                          --record"
            .to_string();
    }
}

/// What counts of states say.
pub fn of_states(
    model: &Model,
    engine: &str,
    base: &Answer,
    recorded: Option<&Recorded<Ledger>>,
) -> Vec<Finding> {
    let Some(recorded) = recorded else { return Vec::new() };
    let name = model.configuration();
    let Some(own) = recorded.record.get(&name) else { return Vec::new() };
    let before = Ledger::from([(name.clone(), own.clone())]);
    let after = Ledger::from([(name, counted(model, engine, base))]);
    let old = Placed { record: &before, file: &recorded.file, text: &recorded.text };
    let new = Placed { record: &after, file: &recorded.file, text: &recorded.text };
    let mut findings = compare_states(old, new);
    findings.retain(|finding| finding.verdict != Verdict::Stronger);
    findings
}

/// The entry of the ledger.
pub fn counted(model: &Model, engine: &str, base: &Answer) -> States {
    States {
        module: model.name.clone(),
        distinct: base.distinct,
        steps: base.steps,
        engine: engine.to_string(),
    }
}

/// What is never reached.
pub fn of_reached(model: &Model, reached: &Reached) -> Vec<Finding> {
    let file = place(model);
    let one = |asked: &Asked, never: &str, open: &str| {
        let (verdict, words) = match asked.reached {
            Some(true) => return None,
            Some(false) => (Verdict::Weaker, never),
            None => (Verdict::Suspect, open),
        };
        let probe = &asked.probe;
        let side = Side { file: &file, line: probe.line, text: &probe.text };
        let object = format!("{}!{}", model.name, probe.name);
        let reason = format!("{words}: {}", probe.text);
        Some(finding(rule("S03"), object, verdict, (None, Some(side)), reason))
    };
    let conditions = reached.conditions.iter().filter_map(|asked| {
        one(asked, "its condition never holds", "whether its condition ever holds is not known")
    });
    let steps = reached.steps.iter().filter_map(|asked| {
        one(asked, "this step is never taken", "whether this step is ever taken is not known")
    });
    conditions.chain(steps).collect()
}
