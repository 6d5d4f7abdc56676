//! 7.M: model, history, checker, nemesis with landing evidence, ambiguous outcomes, reduction.

use super::{Lint, listed};
use crate::faults::{FAULTS, Fault};
use crate::field::{Field, SEVEN_M};
use crate::machine::Machine;
use crate::models::{Model, checker_names, fits, is_checker, pick};
use crate::place::Span;
use crate::plan::Scenario;
use crate::prose;
use crate::rules::codes;
use crate::words::{Category, nearest};
use std::collections::BTreeSet;

pub(super) fn check(lint: &mut Lint<'_>, scenario: &Scenario) {
    let categories = lint.categories(scenario);
    let gated = categories.iter().any(|category| category.is_gated());
    let own = scenario.machine().cloned().unwrap_or_default();
    if scenario.arms.is_empty() {
        let trial = Trial { part: scenario, machine: own.clone(), base: scenario, serious: gated };
        trial.check(lint, &categories);
    }
    for arm in &scenario.arms {
        let machine = arm.machine().map_or(own.clone(), |machine| own.overlaid(machine));
        let mut categories = categories.clone();
        categories.extend(lint.categories(arm));
        Trial { part: arm, machine, base: scenario, serious: true }.check(lint, &categories);
    }
}

/// A scenario or an arm, with what it is run with.
struct Trial<'s> {
    part: &'s Scenario,
    machine: Machine,
    base: &'s Scenario,
    serious: bool,
}

impl Trial<'_> {
    fn check(&self, lint: &mut Lint<'_>, categories: &BTreeSet<Category>) {
        let broken = self.part.broken_block.is_some() || self.base.broken_block.is_some();
        let missing: Vec<&str> =
            SEVEN_M.iter().filter(|field| !self.has(**field)).map(|field| field.label()).collect();
        let id = &self.part.id;
        match (self.serious, &self.part.not_applicable) {
            (true, Some(line)) => {
                let message = format!("{id} falsifies a claim that demands 7.M");
                lint.add(codes::NOT_APPLICABLE, line.span, message);
            }
            (true, None) if !missing.is_empty() && !broken => {
                let message = format!("{id} lacks {}", listed(&missing));
                let found = lint.add(codes::SEVEN_M_MISSING, self.part.span, message);
                found.help = Some("as it is, it cannot support a hardening claim".to_string());
            }
            (false, None) if missing.len() == SEVEN_M.len() && !broken => {
                let message = format!("{id} says nothing about 7.M");
                let found = lint.add(codes::SEVEN_M_SILENT, self.part.span, message);
                found.help =
                    Some("add `7.M: not applicable — no gated claim category falsified.`".into());
            }
            _ => {}
        }
        self.model(lint);
        self.checker(lint, categories);
        self.nemesis(lint);
        self.columns(lint);
    }

    /// Whether a field of 7.M is answered, by the block or by a line.
    fn has(&self, field: Field) -> bool {
        let in_block = match field {
            Field::Model => self.machine.model.is_some(),
            Field::History => self.machine.history.is_some(),
            Field::Checker => self
                .machine
                .checker
                .as_ref()
                .is_some_and(|c| !c.name.is_empty() || c.justification.is_some()),
            Field::Nemesis => {
                let faults = &self.machine.nemesis;
                !faults.is_empty() && faults.iter().all(|nemesis| nemesis.landing.is_some())
            }
            Field::Ambiguous => self.machine.ambiguity.is_some(),
            Field::Reduction => self.machine.reduction.is_some(),
            _ => false,
        };
        in_block || self.part.field(field).is_some_and(|text| !text.is_blank())
    }

    /// Where a value of the block stands, in the arm or in the scenario.
    fn place(&self, path: &str) -> Span {
        let key = path.split('.').next().unwrap_or(path);
        let blocks = [self.part, self.base].into_iter().filter_map(|part| part.block.as_ref());
        let with_key = blocks.clone().find(|block| block.place(key) != block.span);
        with_key.or(blocks.clone().next()).map_or(self.part.span, |block| block.place(path))
    }

    fn model_name(&self) -> Option<(String, Span)> {
        if let Some(model) = &self.machine.model {
            return Some((model.name.clone(), self.place("model.name")));
        }
        let text = self.part.field(Field::Model).filter(|text| !text.is_blank())?;
        let first = text.text.split([' ', ',', ';', '—']).next().unwrap_or("");
        let name = first.trim_matches(['`', '.', ':']);
        Some((name.to_string(), text.span))
    }

    fn model(&self, lint: &mut Lint<'_>) {
        let Some((name, span)) = self.model_name() else { return };
        if Model::named(&name).is_none() && !name.contains('{') {
            let names = crate::models::MODELS.iter().map(|model| model.name);
            let message = format!("there is no model `{}`", crate::time::show(&name));
            let help = match nearest(&name, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("{}, or other(NAME)", names.collect::<Vec<_>>().join(", ")),
            };
            lint.add(codes::MODEL_UNKNOWN, span, message).help = Some(help);
        }
    }

    fn checker(&self, lint: &mut Lint<'_>, categories: &BTreeSet<Category>) {
        let Some(choice) = &self.machine.checker else {
            self.checker_line(lint);
            return;
        };
        let justified = choice.justification.as_ref().is_some_and(|why| why.trim().len() >= 10);
        let model = self.model_name().and_then(|(name, _)| Model::named(&name));
        if choice.name.is_empty() && !justified {
            let message = "neither a checker nor a justification";
            lint.add(codes::CHECKER_UNJUSTIFIED, self.place("checker"), message);
        }
        if let (Some(Model::Other(name)), false) = (&model, justified) {
            let message = format!("no checker is made for `{name}`, so the choice needs a reason");
            lint.add(codes::CHECKER_UNJUSTIFIED, self.place("checker"), message);
        }
        for name in choice.name.iter().filter(|name| !is_checker(name) && !name.contains('{')) {
            let names = checker_names();
            let near = nearest(name, names.iter().map(String::as_str)).map(str::to_string);
            let message = format!("there is no checker `{}`", crate::time::show(name));
            let found = lint.add(codes::CHECKER_UNKNOWN, self.place("checker.name"), message);
            found.help = near.map(|near| format!("did you mean `{near}`?"));
        }
        if let Some(Model::Known(model)) = model {
            self.fitting(lint, model.name, categories, justified);
        }
        self.business_key(lint);
    }

    /// Whether some checker fits each category the scenario is serious about.
    fn fitting(
        &self,
        lint: &mut Lint<'_>,
        model: &str,
        categories: &BTreeSet<Category>,
        justified: bool,
    ) {
        let Some(choice) = &self.machine.checker else { return };
        let known = choice.name.iter().filter(|name| is_checker(name));
        let names: Vec<&String> = known.collect();
        if justified || names.is_empty() {
            return;
        }
        let relevant = categories.iter().filter(|c| c.is_gated() || **c == Category::Fairness);
        for category in relevant {
            let proposed = pick(model, *category);
            if names.iter().any(|name| fits(name, model, *category)) {
                continue;
            }
            let message = format!(
                "{} cannot judge {} of a {model}",
                listed(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>()),
                category.word()
            );
            let help = match proposed.is_empty() {
                true => "the table has no row for this: add a justification".to_string(),
                false => format!("use {}, or add a justification", proposed.join(" or ")),
            };
            let found = lint.add(codes::CHECKER_UNFIT, self.place("checker.name"), message);
            found.help = Some(help);
        }
    }

    /// Effects grouped by operation id have one each: nothing could be found.
    fn business_key(&self, lint: &mut Lint<'_>) {
        let options = self.machine.checker.as_ref().map(|choice| &choice.options);
        let key = options.and_then(|options| options.get("business-key"));
        if let Some(crate::machine::Setting::Text(key)) = key
            && matches!(key.trim(), "op_id" | "op-id" | "opid")
        {
            let message = "every try has its own op_id: nothing could be found twice";
            lint.add(codes::KEY_VACUOUS, self.place("checker.options.business-key"), message);
        }
    }

    /// A checker in prose: one that is known, or a reason.
    fn checker_line(&self, lint: &mut Lint<'_>) {
        let Some(text) = self.part.field(Field::Checker).filter(|text| !text.is_blank()) else {
            return;
        };
        let lower = text.text.to_lowercase();
        let keyed = lower.contains("key") || lower.contains("dedup") || lower.contains("group");
        if keyed && (lower.contains("op_id") || lower.contains("op id")) && !lower.contains("not ")
        {
            let message = "every try has its own op_id: nothing could be found twice";
            lint.add(codes::KEY_VACUOUS, text.span, message);
        }
        let known = prose::oracle(&text.text) == prose::Strength::Checkable;
        let reasoned = lower.contains("because") || lower.contains("justif");
        if !known && !reasoned && !lower.contains('{') {
            let message = "no checker that exists is named, and no reason is given";
            lint.add(codes::CHECKER_UNKNOWN, text.span, message);
        }
    }

    fn nemesis(&self, lint: &mut Lint<'_>) {
        let Some(text) = self.part.field(Field::Nemesis).filter(|text| !text.is_blank()) else {
            return;
        };
        let lower = text.text.to_lowercase();
        if lower.starts_with("none") || lower.contains('{') {
            return;
        }
        if let Some(why) = prose::landing_fault(&text.text) {
            lint.add(codes::LANDING_VAGUE, text.span, why);
        }
        if !names_fault(&lower) {
            let message = "no fault of the taxonomy is named";
            let found = lint.add(codes::FAULT_UNKNOWN, text.span, message);
            found.help = Some("`assay explain fault` lists them".to_string());
        }
    }

    fn columns(&self, lint: &mut Lint<'_>) {
        let Some(history) = &self.machine.history else { return };
        let model = self.model_name().and_then(|(name, _)| Model::named(&name));
        for column in &history.without {
            let critical = match &model {
                Some(Model::Known(info)) => {
                    info.critical.iter().find(|(name, _)| name == column).map(|(_, why)| *why)
                }
                _ => None,
            };
            let always = ["op_id", "process_id", "invoke_ts", "complete_ts", "timeout_marker"];
            let why = critical.or(always.contains(&column.as_str()).then_some("every checker"));
            if let Some(why) = why {
                let message = format!("`{column}` is needed: {why}");
                lint.add(codes::COLUMN_MISSING, self.place("history.without"), message);
            }
        }
    }
}

/// Whether a sentence names a fault, by id or in words.
fn names_fault(lower: &str) -> bool {
    const WORDS: [&str; 22] = [
        "partition",
        "kill",
        "crash",
        "pause",
        "freeze",
        "restart",
        "delay",
        "latency",
        "loss",
        "drop",
        "isolat",
        "skew",
        "fsync",
        "disk",
        "corrupt",
        "duplicat",
        "reorder",
        "upgrade",
        "rebalanc",
        "compaction",
        "bandwidth",
        "split-brain",
    ];
    let by_id = |fault: &Fault| {
        let inside = |c: char| c.is_alphanumeric() || c == '-';
        lower.match_indices(fault.id).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let after = lower[at + fault.id.len()..].chars().next();
            !before.is_some_and(inside) && !after.is_some_and(inside)
        })
    };
    WORDS.iter().any(|word| lower.contains(word)) || FAULTS.iter().any(by_id)
}
