//! One fact, one place: what a line repeats of the machine block, and whether both agree.
//!
//! Prose beside a block is welcome as long as it says what the block cannot: why. A number, a name
//! of a model, checker or fault that the block has as well is a fact written twice; one that
//! differs is a contradiction.

use super::Lint;
use crate::block::Block;
use crate::budget::Budget;
use crate::faults::FAULTS;
use crate::field::{Field, SEVEN_M};
use crate::machine::{Machine, Release};
use crate::models::MODELS;
use crate::place::Text;
use crate::plan::Scenario;
use crate::prose::{checkers_in, quantities};
use crate::rules::codes;
use crate::time::unit_seconds;
use std::collections::BTreeSet;

/// What a line says about something the block says as well.
#[derive(PartialEq)]
enum Agreement {
    /// Nothing that could be compared.
    Silent,
    /// The same.
    Same,
    /// Something else.
    Differs(String),
}

use Agreement::{Differs, Same, Silent};

pub(super) fn check(lint: &mut Lint<'_>, part: &Scenario) {
    let Some(block) = &part.block else { return };
    for (field, text) in &part.fields {
        let Some(key) = field.block_key() else { continue };
        if !has(&block.machine, key) || text.is_blank() {
            continue;
        }
        let span = text.span.of(&lint.plan.source);
        match compare(*field, text, span, &block.machine) {
            Differs(how) => {
                let message = format!("`{}` {how}", field.label());
                let found = lint.add(codes::DISAGREE, text.span, message);
                found.also = Some((block.place(key), "the machine block is here".to_string()));
            }
            Silent if !SEVEN_M.contains(field) => {}
            Same | Silent => written_twice(lint, *field, key, text, block),
        }
    }
}

fn written_twice(lint: &mut Lint<'_>, field: Field, key: &str, text: &Text, block: &Block) {
    let message = format!("`{}` repeats what the machine block says", field.label());
    let found = lint.add(codes::WRITTEN_TWICE, text.span, message);
    found.also = Some((block.place(key), "the machine block is here".to_string()));
    found.help = Some("delete the line, or keep only why".to_string());
}

fn has(machine: &Machine, key: &str) -> bool {
    let budget = machine.budget.as_ref();
    match key {
        "workload" => machine.workload.is_some(),
        "nemesis" => !machine.nemesis.is_empty(),
        "budget.smoke" => budget.is_some_and(|b| b.smoke.is_some()),
        "budget.hardening" => budget.is_some_and(|b| b.hardening.is_some()),
        "budget.release" => budget.is_some_and(|b| b.release.is_some()),
        "model" => machine.model.is_some(),
        "history" => machine.history.is_some(),
        "checker" => machine.checker.is_some(),
        "ambiguity" => machine.ambiguity.is_some(),
        _ => machine.reduction.is_some(),
    }
}

fn compare(field: Field, text: &Text, raw: &str, machine: &Machine) -> Agreement {
    let lower = text.text.to_lowercase();
    match field {
        Field::Model => {
            let block = machine.model.as_ref().map_or("", |model| model.name.as_str());
            let first = lower.split([' ', ',', ';']).next().unwrap_or("").trim_matches(['`', '.']);
            match MODELS.iter().find(|model| model.name == first) {
                Some(model) if model.name != block => {
                    Differs(format!("says `{}`, the block `{block}`", model.name))
                }
                Some(_) => Same,
                None => Silent,
            }
        }
        Field::Checker => {
            let named: BTreeSet<&str> = checkers_in(&lower).into_iter().collect();
            let choice = machine.checker.as_ref();
            let block: BTreeSet<&str> =
                choice.map_or(BTreeSet::new(), |c| c.name.iter().map(String::as_str).collect());
            sets(&named, &block)
        }
        Field::Faults | Field::Nemesis => faults(raw, &lower, machine),
        Field::Workload => workload(&text.text, machine),
        Field::Smoke | Field::Hardening | Field::Release => budget(field, text, machine),
        Field::History => {
            const HOW: [&str; 3] = ["in-process", "external-probe", "server-side"];
            let named: BTreeSet<&str> = HOW.into_iter().filter(|how| lower.contains(how)).collect();
            let history = machine.history.as_ref();
            let block: BTreeSet<&str> = history
                .map_or(BTreeSet::new(), |h| h.recording.iter().map(String::as_str).collect());
            sets(&named, &block)
        }
        Field::Ambiguous => {
            let as_failure = ["as fail", "are fail", "count as fail", "treated as fail", "ignored"];
            match lower.contains("timeout") && as_failure.iter().any(|word| lower.contains(word)) {
                true => Differs("treats timeouts otherwise than the block".to_string()),
                false => Same,
            }
        }
        _ => Silent,
    }
}

fn sets(named: &BTreeSet<&str>, block: &BTreeSet<&str>) -> Agreement {
    match named.difference(block).next() {
        Some(other) => Differs(format!("says `{other}`, the block does not")),
        None if named.is_empty() => Silent,
        None => Same,
    }
}

/// Fault ids in `code`, and times.
fn faults(raw: &str, lower: &str, machine: &Machine) -> Agreement {
    let named: BTreeSet<&str> = raw
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| FAULTS.iter().any(|fault| fault.id == *code))
        .collect();
    let block: BTreeSet<&str> = machine.nemesis.iter().map(|n| n.fault.as_str()).collect();
    let ids = sets(&named, &block);
    let known: Vec<f64> = machine
        .nemesis
        .iter()
        .flat_map(|n| [n.at, Some(n.lasts), n.every])
        .flatten()
        .flat_map(|range| [range.min, range.max])
        .map(|time| time.0.as_secs_f64())
        .collect();
    let times = quantities(lower).into_iter().filter_map(|quantity| {
        let unit = unit_seconds(quantity.words.first()?)?;
        Some((quantity.number * unit, format!("{} {}", quantity.number, quantity.words[0])))
    });
    let mut agreement = ids;
    for (seconds, shown) in times {
        let same = known.iter().any(|time| (time - seconds).abs() < 1e-6);
        match (&agreement, same) {
            (Differs(_), _) => break,
            (_, true) => agreement = Same,
            (_, false) => {
                agreement = Differs(format!("says `{shown}`, the block has no such time"))
            }
        }
    }
    agreement
}

fn workload(text: &str, machine: &Machine) -> Agreement {
    let Some(workload) = &machine.workload else { return Silent };
    let mut agreement = Silent;
    for quantity in quantities(text) {
        let Some(unit) = quantity.words.first() else { continue };
        let block = match unit.as_str() {
            "client" | "clients" => Some(workload.clients as f64),
            "key" | "keys" => workload.keys.map(|keys| keys as f64),
            "op/s" | "ops/s" | "operations/s" => workload.rate,
            _ => continue,
        };
        match block {
            Some(block) if block == quantity.number => agreement = Same,
            block => {
                let block = block.map_or("nothing".to_string(), |block| block.to_string());
                return Differs(format!("says {} {unit}, the block {block}", quantity.number));
            }
        }
    }
    agreement
}

fn budget(field: Field, text: &Text, machine: &Machine) -> Agreement {
    let Some(budgets) = &machine.budget else { return Silent };
    let tier = match field {
        Field::Smoke => budgets.smoke.as_ref(),
        Field::Hardening => budgets.hardening.as_ref(),
        _ => match &budgets.release {
            Some(Release::Tier(tier)) => Some(tier),
            Some(Release::Statement(statement)) => {
                return match statement.trim() == text.text.trim() {
                    true => Same,
                    false => Differs("is another statement than the block's".to_string()),
                };
            }
            None => None,
        },
    };
    let Some(tier) = tier else { return Silent };
    let (line, block) = (Budget::of_text(&text.text), Budget::of_tier(tier, machine));
    if line.is_empty() {
        return Silent;
    }
    let number = |name: &str, line: Option<f64>, block: Option<f64>| match (line, block) {
        (Some(line), block) if Some(line) != block => {
            let block = block.map_or("nothing".to_string(), |block| block.to_string());
            Some(format!("says {line} for {name}, the block {block}"))
        }
        _ => None,
    };
    let seconds = |budget: &Budget| budget.duration.map(|time| time.0.as_secs_f64());
    let sizes = line
        .sizes
        .iter()
        .map(|(name, size)| number(name, Some(*size), block.sizes.get(name).copied()));
    let differs = [
        number("duration", seconds(&line), seconds(&block)),
        number("faults", line.faults, block.faults),
        number("seeds", line.seeds, block.seeds),
    ];
    differs.into_iter().chain(sizes).flatten().next().map_or(Same, Differs)
}
