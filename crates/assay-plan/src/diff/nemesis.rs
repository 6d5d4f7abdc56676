//! Faults: which, when, how strong, and what proves that they landed.

use super::Direction;
use super::notes::{Notes, same, shown};
use crate::machine::{Landing, Machine, Nemesis, Setting, Settings};
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Of these, more is harder on a system.
const MORE_IS_STRONGER: [&str; 10] = [
    "delay",
    "jitter",
    "loss",
    "drop",
    "duplicate",
    "reorder",
    "offset",
    "flips",
    "bytes",
    "count",
];
/// Of these, less is: a cap on bytes a second, the size of a piece.
const LESS_IS_STRONGER: [&str; 2] = ["rate", "slice"];

/// Notes how the faults changed.
pub(super) fn compare(old: &Machine, new: &Machine, notes: &mut Notes<'_>) {
    let (old, new) = (grouped(&old.nemesis), grouped(&new.nemesis));
    notes.lists("faults", &named(&old), &named(&new));
    for (key, before) in &old {
        let after = new.get(key).map_or(&[][..], Vec::as_slice);
        for (before, after) in paired(before, after) {
            one(before, after, notes);
        }
    }
}

/// The entries by fault and target: a plan may have several of the same.
type Grouped<'m> = BTreeMap<(&'m str, &'m str), Vec<&'m Nemesis>>;

fn grouped(entries: &[Nemesis]) -> Grouped<'_> {
    let mut grouped = Grouped::new();
    for entry in entries {
        grouped.entry((&entry.fault, &entry.target)).or_default().push(entry);
    }
    grouped
}

/// `pause on n1`, and `pause on n1 (2)` for the second of the same: the fewer, the weaker.
fn named(grouped: &Grouped<'_>) -> BTreeSet<String> {
    let names = grouped.iter().flat_map(|((fault, target), entries)| {
        (1..=entries.len()).map(move |n| match n {
            1 => format!("{fault} on {target}"),
            n => format!("{fault} on {target} ({n})"),
        })
    });
    names.collect()
}

/// Which entry became which: first those that did not change, the others in their order.
fn paired<'m>(old: &[&'m Nemesis], new: &[&'m Nemesis]) -> Vec<(&'m Nemesis, &'m Nemesis)> {
    let mut new: Vec<&Nemesis> = new.to_vec();
    let mut changed = Vec::new();
    for before in old {
        match new.iter().position(|after| same(*before, *after)) {
            Some(at) => _ = new.remove(at),
            None => changed.push(*before),
        }
    }
    changed.into_iter().zip(new).collect()
}

fn one(old: &Nemesis, new: &Nemesis, notes: &mut Notes<'_>) {
    let fault = &old.fault;
    let start = |entry: &Nemesis| {
        let at = entry.at.map(|at| format!("at {at}"));
        let on = entry.on.as_ref().map(|event| format!("on {event}"));
        at.into_iter().chain(on).collect::<Vec<_>>().join(" ")
    };
    notes.words(&format!("start of {fault}"), &start(old), &start(new));
    if old.lasts != new.lasts {
        let direction =
            by_bounds(old.lasts.min.cmp(&new.lasts.min), old.lasts.max.cmp(&new.lasts.max));
        let (old, new) = (old.lasts.to_string(), new.lasts.to_string());
        notes.note(format!("duration of {fault}"), direction, old, new);
    }
    if old.every != new.every {
        let direction = match (old.every, new.every) {
            // The longer the period, the fewer windows.
            (Some(old), Some(new)) => by_bounds(new.min.cmp(&old.min), new.max.cmp(&old.max)),
            (Some(_), None) => Direction::Weaker,
            _ => Direction::Stronger,
        };
        let every = |entry: &Nemesis| entry.every.map_or("once".to_string(), |e| e.to_string());
        notes.note(format!("period of {fault}"), direction, every(old), every(new));
    }
    strength(old, new, notes);
    landing(old, new, notes);
}

/// The direction of a range whose bounds were so much greater before.
fn by_bounds(min: std::cmp::Ordering, max: std::cmp::Ordering) -> Direction {
    if min.is_ge() && max.is_ge() {
        Direction::Weaker
    } else if min.is_le() && max.is_le() {
        Direction::Stronger
    } else {
        Direction::Changed
    }
}

fn strength(old: &Nemesis, new: &Nemesis, notes: &mut Notes<'_>) {
    let names: BTreeSet<&String> = old.strength.keys().chain(new.strength.keys()).collect();
    for name in names {
        let (before, after) = (old.strength.get(name), new.strength.get(name));
        if same(&before, &after) {
            continue;
        }
        let direction = match (before.and_then(magnitude), after.and_then(magnitude)) {
            (Some((unit, before)), Some((other, after))) if unit == other => {
                harder(name, before, after)
            }
            // What stands in for a strength that is not given is not known here, nor is how long a
            // bare number lasts.
            _ => Direction::Changed,
        };
        let text = |value: Option<&Setting>| {
            let table = |value: &Setting| Settings::from([(name.clone(), value.clone())]);
            value.map_or(String::new(), |value| shown(&table(value)))
        };
        notes.note(format!("{name} of {}", old.fault), direction, text(before), text(after));
    }
}

fn harder(name: &str, before: f64, after: f64) -> Direction {
    let grows = match name {
        _ if MORE_IS_STRONGER.contains(&name) => after.abs() > before.abs(),
        _ if LESS_IS_STRONGER.contains(&name) => after.abs() < before.abs(),
        _ => return Direction::Changed,
    };
    // A clock that goes ahead and one that stays behind are two faults, and so is a number that is
    // written in another way and means the same.
    if before.signum() != after.signum() || before == after {
        return Direction::Changed;
    }
    if grows { Direction::Stronger } else { Direction::Weaker }
}

/// What a strength is measured in.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    /// Seconds.
    Time,
    /// Bytes, or just a number.
    Number,
}

/// A number, a time, a share in percent or a size in bytes.
fn magnitude(setting: &Setting) -> Option<(Unit, f64)> {
    let (unit, number) = match setting {
        Setting::Integer(number) => (Unit::Number, *number as f64),
        Setting::Number(number) => (Unit::Number, *number),
        Setting::Text(text) => {
            let text = text.trim();
            let (sign, text) = match text.strip_prefix('-') {
                Some(rest) => (-1.0, rest),
                None => (1.0, text.strip_prefix('+').unwrap_or(text)),
            };
            match Time::parse(text) {
                Ok(time) => (Unit::Time, sign * time.0.as_secs_f64()),
                Err(_) => (Unit::Number, sign * sized(text)?),
            }
        }
        Setting::Flag(_) | Setting::List(_) | Setting::Table(_) => return None,
    };
    number.is_finite().then_some((unit, number))
}

/// `64KiB`, `5%`, `12`.
fn sized(text: &str) -> Option<f64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let unit = match text[split..].trim().trim_end_matches("/s") {
        "" | "B" => 1.0,
        "%" => 0.01,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    text[..split].parse::<f64>().ok().map(|number| number * unit)
}

fn landing(old: &Nemesis, new: &Nemesis, notes: &mut Notes<'_>) {
    if old.landing == new.landing {
        return;
    }
    let predicates =
        |landing: &Option<Landing>| landing.as_ref().and_then(|landing| landing.predicates().ok());
    let direction = match (predicates(&old.landing), predicates(&new.landing)) {
        (Some(old), Some(new)) => {
            let weaker = new.0.is_implied_by(&old.0) && new.1.is_implied_by(&old.1);
            let stronger = old.0.is_implied_by(&new.0) && old.1.is_implied_by(&new.1);
            match (weaker, stronger) {
                (true, true) => return,
                (true, false) => Direction::Weaker,
                (false, true) => Direction::Stronger,
                (false, false) => Direction::Changed,
            }
        }
        (Some(_), None) => Direction::Weaker,
        (None, Some(_)) => Direction::Stronger,
        (None, None) => Direction::Changed,
    };
    let text = |landing: &Option<Landing>| {
        landing.as_ref().map_or("none".to_string(), |l| format!("{}; {}", l.injector, l.victim))
    };
    notes.note(
        format!("landing of {}", old.fault),
        direction,
        text(&old.landing),
        text(&new.landing),
    );
}
