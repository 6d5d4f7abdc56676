//! The machine block: is everything there, and can it be meant?

use super::{Lint, listed};
use crate::block::Block;
use crate::faults::{FAULTS, Fault, ROLES};
use crate::landing::{Predicate, SIGNALS, Side, Signal};
use crate::machine::{Ambiguity, CLIENTS_MAX, KEYS_MAX, Machine, NODES_MAX, Nemesis, Tier};
use crate::models::Model;
use crate::place::Span;
use crate::plan::Scenario;
use crate::rules::codes;
use crate::time::{Time, show};
use crate::words::nearest;

/// The columns of a history.
#[rustfmt::skip]
const COLUMNS: [&str; 12] = [
    "op_id", "process_id", "invoke_ts", "complete_ts", "op_type", "key", "input", "output",
    "error", "timeout_marker", "node_seen", "fault_epoch",
];

/// Checks the block of a scenario, or of one of its arms.
pub(super) fn check(lint: &mut Lint<'_>, whole: &Scenario, part: &Scenario) {
    let Some(block) = &part.block else { return };
    let is_arm = !std::ptr::eq(whole, part);
    let machine = match (is_arm, whole.machine()) {
        (true, Some(own)) => own.overlaid(&block.machine),
        _ => block.machine.clone(),
    };
    if is_arm || whole.arms.is_empty() {
        complete(lint, block, &machine, part);
    }
    numbers(lint, block);
    for (i, nemesis) in block.machine.nemesis.iter().enumerate() {
        fault(lint, block, i, nemesis);
        schedule(lint, block, i, nemesis);
        landing(lint, block, i, nemesis);
    }
    recording(lint, block);
    mix(lint, block, &machine);
    windows(lint, block, &machine);
}

fn complete(lint: &mut Lint<'_>, block: &Block, machine: &Machine, part: &Scenario) {
    let mut missing = Vec::new();
    for (name, there) in [
        ("[system]", machine.system.is_some()),
        ("[workload]", machine.workload.is_some()),
        ("[checker]", machine.checker.is_some()),
        ("[budget]", machine.budget.is_some()),
    ] {
        if !there {
            missing.push(name);
        }
    }
    if !missing.is_empty() {
        let message = format!("the block of {} lacks {}", part.id, listed(&missing));
        lint.add(codes::BLOCK_INCOMPLETE, block.span, message);
    }
    for (i, _) in machine.nemesis.iter().enumerate().filter(|(_, n)| n.landing.is_none()) {
        let message = "the fault says nothing about how one knows that it landed";
        let found =
            lint.add(codes::BLOCK_INCOMPLETE, block.place(&format!("nemesis.{i}.fault")), message);
        found.help = Some("add landing = { injector = \"…\", victim = \"…\" }".to_string());
    }
}

fn value(lint: &mut Lint<'_>, block: &Block, path: &str, message: impl Into<String>) {
    lint.add(codes::VALUE, block.place(path), message);
}

fn numbers(lint: &mut Lint<'_>, block: &Block) {
    let machine = &block.machine;
    let mut range = |path: &str, number: Option<u64>, max: u64| {
        if let Some(number) = number.filter(|n| !(1..=max).contains(n)) {
            value(lint, block, path, format!("{number} is not between 1 and {max}"));
        }
    };
    range("system.nodes", machine.system.as_ref().and_then(|s| s.nodes), NODES_MAX);
    if let Some(workload) = &machine.workload {
        range("workload.clients", Some(workload.clients), CLIENTS_MAX);
        range("workload.keys", workload.keys, KEYS_MAX);
    }
    range("reduction.nodes", machine.reduction.as_ref().and_then(|r| r.nodes), NODES_MAX);
    range("reduction.reruns", machine.reduction.as_ref().and_then(|r| r.reruns), 100_000);
    if let Some(budget) = &machine.budget {
        let release = match &budget.release {
            Some(crate::machine::Release::Tier(tier)) => Some(tier),
            _ => None,
        };
        let tiers = [("smoke", &budget.smoke), ("hardening", &budget.hardening)];
        let named = tiers.into_iter().filter_map(|(name, tier)| Some((name, tier.as_ref()?)));
        for (name, tier) in named.chain(release.map(|tier| ("release", tier))) {
            tier_numbers(lint, block, name, tier);
        }
    }
    if let Some(system) = &machine.system
        && system.name.trim().is_empty()
    {
        value(lint, block, "system.name", "the system has no name");
    }
    if let Some(workload) = &machine.workload {
        if workload.rate.is_some_and(|rate| !(rate > 0.0 && rate <= 1e7)) {
            value(lint, block, "workload.rate", "a rate is more than 0 and at most 10,000,000");
        }
        if workload.timeout == Time::default() {
            value(lint, block, "workload.timeout", "with no time to wait, nothing is ever known");
        }
        if !workload.mix.is_empty() && workload.mix.values().all(|share| *share == 0) {
            value(lint, block, "workload.mix", "no operation has a share");
        }
    }
    ambiguity(lint, block);
}

fn tier_numbers(lint: &mut Lint<'_>, block: &Block, name: &str, tier: &Tier) {
    let max = [
        ("seeds", tier.seeds, 100_000),
        ("nodes", tier.nodes, NODES_MAX),
        ("clients", tier.clients, CLIENTS_MAX),
        ("keys", tier.keys, KEYS_MAX),
        ("groups", tier.groups, 1_000_000),
    ];
    for (key, number, max) in max {
        if let Some(number) = number.filter(|n| !(1..=max).contains(n)) {
            let path = format!("budget.{name}.{key}");
            value(lint, block, &path, format!("{number} is not between 1 and {max}"));
        }
    }
    if tier.duration == Some(Time::default()) {
        value(lint, block, &format!("budget.{name}.duration"), "a run has to take some time");
    }
}

fn ambiguity(lint: &mut Lint<'_>, block: &Block) {
    let Some(ambiguity) = &block.machine.ambiguity else { return };
    for ((key, sound), found) in Ambiguity::SOUND.iter().zip(ambiguity.values()) {
        if found != *sound {
            let path = format!("ambiguity.{key}");
            let message =
                format!("`{}` makes checkers unsound; only `{sound}` does not", show(found));
            value(lint, block, &path, message);
        }
    }
}

fn fault(lint: &mut Lint<'_>, block: &Block, i: usize, nemesis: &Nemesis) {
    if Fault::named(&nemesis.fault).is_none() && !nemesis.fault.contains('{') {
        let names = FAULTS.iter().flat_map(|f| std::iter::once(f.id).chain(f.aliases.to_vec()));
        let near = nearest(&nemesis.fault, names);
        let message = format!("there is no fault `{}`", show(&nemesis.fault));
        let place = block.place(&format!("nemesis.{i}.fault"));
        let found = lint.add(codes::FAULT_UNKNOWN, place, message);
        found.help = Some(near.map_or("`assay explain fault` lists them".to_string(), |near| {
            format!("did you mean `{near}`?")
        }));
    }
    if let Some(known) = Fault::named(&nemesis.fault) {
        for problem in known.problems(&nemesis.strength) {
            let place = format!("nemesis.{i}.with.{}", problem.option);
            value(lint, block, &place, problem.why);
        }
    }
    if let Some(why) = target_fault(&nemesis.target).filter(|_| !nemesis.target.contains('{')) {
        value(lint, block, &format!("nemesis.{i}.target"), why);
    }
}

/// Why a target picks no nodes: it is neither a role, nor a node such as `n1`, nor a link.
fn target_fault(target: &str) -> Option<String> {
    let parts = target.replace("<->", ",").replace("->", ",");
    for part in parts.split(',').map(str::trim) {
        let is_node = part.bytes().any(|b| b.is_ascii_digit())
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
        if !is_node && !ROLES.contains(&part) {
            let near = nearest(part, ROLES).map(|near| format!("; did you mean `{near}`?"));
            return Some(format!(
                "`{}` is neither a role ({}) nor a node such as n1{}",
                show(part),
                ROLES.join(", "),
                near.unwrap_or_default()
            ));
        }
    }
    None
}

/// Events that can begin a fault.
const EVENTS: [&str; 5] = ["acks", "ops", "elections", "restarts", "timeouts"];

fn schedule(lint: &mut Lint<'_>, block: &Block, i: usize, nemesis: &Nemesis) {
    let path = |key: &str| format!("nemesis.{i}.{key}");
    match (&nemesis.at, &nemesis.on) {
        (Some(_), Some(_)) => {
            value(lint, block, &path("on"), "a fault begins at a time or on an event, not both");
        }
        (None, None) => {
            value(lint, block, &path("fault"), "it is not said when the fault begins: at or on");
        }
        (None, Some(event)) => {
            let words: Vec<&str> = event.split_whitespace().collect();
            let good = match words[..] {
                [name, ">=", count] => {
                    EVENTS.contains(&name) && count.parse::<u64>().is_ok_and(|n| n > 0)
                }
                _ => false,
            };
            if !good {
                let message =
                    format!("`{}` is no event: {} >= NUMBER", show(event), EVENTS.join("|"));
                value(lint, block, &path("on"), message);
            }
        }
        (Some(_), None) => {}
    }
    if nemesis.on.is_some() && nemesis.every.is_some() {
        let message = "a fault that begins on an event happens once: `every` goes with `at`";
        value(lint, block, &path("every"), message);
    }
    if nemesis.lasts.max == Time::default() {
        value(lint, block, &path("for"), "a fault that lasts no time does not happen");
    }
    if let Some(every) = nemesis.every.filter(|every| every.min <= nemesis.lasts.max) {
        let message = format!("the next fault may begin ({every}) before this one is healed");
        value(lint, block, &path("every"), message);
    }
}

fn landing(lint: &mut Lint<'_>, block: &Block, i: usize, nemesis: &Nemesis) {
    let Some(landing) = &nemesis.landing else { return };
    for (key, text, side) in
        [("injector", &landing.injector, Side::Injector), ("victim", &landing.victim, Side::Victim)]
    {
        let span = block.place(&format!("nemesis.{i}.landing.{key}"));
        match Predicate::parse(text) {
            Err(_) if text.contains('{') => {}
            Err(error) => predicate_error(lint, span, text, &error.to_string()),
            Ok(predicate) => {
                if let Some(name) = wrong_side(&predicate, side) {
                    let message = format!("`{name}` is not seen by the {key}");
                    lint.add(codes::LANDING_PREDICATE, span, message);
                }
            }
        }
    }
}

/// What the injector says about itself has a rule of its own; everything else is a bad predicate.
fn predicate_error(lint: &mut Lint<'_>, span: Span, text: &str, error: &str) {
    let word = crate::prose::landing_fault(text).filter(|why| why.contains('`'));
    match word {
        Some(why) => lint.add(codes::LANDING_VAGUE, span, why),
        None => lint.add(codes::LANDING_PREDICATE, span, error),
    };
}

fn wrong_side(predicate: &Predicate, side: Side) -> Option<&'static str> {
    predicate.terms.iter().find_map(|term| match &term.signal {
        Signal::Known(name) => {
            let info = SIGNALS.iter().find(|signal| signal.name == *name)?;
            (info.side != side).then_some(info.name)
        }
        Signal::Log(_) => (side == Side::Injector).then_some("log"),
        Signal::Metric(_) => (side == Side::Injector).then_some("metric"),
    })
}

fn recording(lint: &mut Lint<'_>, block: &Block) {
    let Some(history) = &block.machine.history else { return };
    const HOW: [&str; 3] = ["in-process", "external-probe", "server-side"];
    for (i, how) in history.recording.iter().enumerate() {
        if !HOW.contains(&how.as_str()) {
            let path = match history.recording.len() {
                1 => "history.recording".to_string(),
                _ => format!("history.recording.{i}"),
            };
            let message = format!("`{}` is none of {}", show(how), HOW.join(", "));
            value(lint, block, &path, message);
        }
    }
    if history.recording.is_empty() {
        value(lint, block, "history", "it is not said who records: recording = \"in-process\"");
    }
    for column in &history.without {
        if !COLUMNS.contains(&column.as_str()) {
            let message = format!("`{}` is no column of a history", show(column));
            value(lint, block, "history.without", message);
        }
    }
}

fn mix(lint: &mut Lint<'_>, block: &Block, machine: &Machine) {
    let model = machine.model.as_ref().and_then(|model| Model::named(&model.name));
    let (Some(Model::Known(model)), Some(workload)) = (model, &block.machine.workload) else {
        return;
    };
    for name in workload.mix.keys().filter(|name| !model.ops.contains(&name.as_str())) {
        let place = block.place(&format!("workload.mix.{name}"));
        let message = format!("a {} does not know `{}`", model.name, show(name));
        let found = lint.add(codes::MIX, place, message);
        found.help = Some(match nearest(name, model.ops.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its operations are {}", model.ops.join(", ")),
        });
    }
}

fn windows(lint: &mut Lint<'_>, block: &Block, machine: &Machine) {
    let Some(budget) = &machine.budget else { return };
    for (name, tier) in [("smoke", &budget.smoke), ("hardening", &budget.hardening)] {
        let Some(tier) = tier else { continue };
        let (Some(duration), Some(faults)) = (tier.duration, tier.faults) else { continue };
        let windows: Option<Vec<u64>> =
            machine.nemesis.iter().map(|nemesis| nemesis.windows_min(duration)).collect();
        let Some(sum) =
            windows.map(|windows| windows.iter().fold(0, |a: u64, b| a.saturating_add(*b)))
        else {
            continue;
        };
        if sum < faults {
            let message = format!(
                "{faults} faults are asked for, but only {sum} are sure to fit into {duration}"
            );
            let found = lint.add(codes::SCHEDULE, block.place(&format!("budget.{name}")), message);
            found.help = Some("repeat with `every`, run longer, or ask for fewer".to_string());
        }
    }
}
