//! The labelled lines of a scenario.

use super::Direction;
use super::notes::Notes;
use crate::field::{FIELDS, Field, SEVEN_M, SURFACE_FIELDS};
use crate::place::Text;
use crate::plan::Scenario;
use std::collections::BTreeSet;

/// Lines that are compared elsewhere, as what they mean.
const ELSEWHERE: [Field; 5] =
    [Field::Falsifies, Field::Closes, Field::Smoke, Field::Hardening, Field::Release];

/// Lines that say what is looked at, besides those of 7.M and 7.M.S: without them less is.
const ASKED_FOR: [Field; 5] =
    [Field::Workload, Field::Faults, Field::Oracle, Field::Observability, Field::ExitCriteria];

/// Notes how the lines changed.
pub(super) fn compare(old: &Scenario, new: &Scenario, notes: &mut Notes<'_>) {
    for (field, _) in FIELDS.iter().filter(|(field, _)| !ELSEWHERE.contains(field)) {
        let text = |text: Option<&Text>| text.map_or(String::new(), |text| text.text.clone());
        let (old_text, new_text) = (text(old.field(*field)), text(new.field(*field)));
        if old_text != new_text {
            // What moves from a line into the block, or back, has not gone.
            let in_block =
                field.block_key().is_some() && (old.block.is_some() || new.block.is_some());
            let direction = match in_block {
                true => Direction::Changed,
                false => direction(*field, &old_text, &new_text),
            };
            notes.note(field.label().to_lowercase(), direction, old_text, new_text);
        }
    }
    let code = |text: &Option<Text>| text.as_ref().map_or(String::new(), |text| text.text.clone());
    notes.words("code of the skeleton", &code(&old.skeleton), &code(&new.skeleton));
    let excuses = [
        ("7.M not applicable", &old.not_applicable, &new.not_applicable),
        ("7.M.S not applicable", &old.surfaces_not_applicable, &new.surfaces_not_applicable),
    ];
    for (what, old, new) in excuses {
        let (old, new) = (code(old), code(new));
        let direction = match (old.is_empty(), new.is_empty()) {
            _ if old == new => continue,
            (true, _) => Direction::Weaker,
            (_, true) => Direction::Stronger,
            _ => Direction::Changed,
        };
        notes.note(what, direction, old, new);
    }
}

fn direction(field: Field, old: &str, new: &str) -> Direction {
    let lists = SURFACE_FIELDS.contains(&field);
    if !lists && !SEVEN_M.contains(&field) && !ASKED_FOR.contains(&field) {
        return Direction::Changed;
    }
    let (old, new) = (named(old, lists), named(new, lists));
    match (old.is_superset(&new), new.is_superset(&old)) {
        (true, false) => Direction::Weaker,
        (false, true) => Direction::Stronger,
        _ => Direction::Changed,
    }
}

/// What a line names. One that is not there names nothing; of two sentences nobody knows which says
/// more; a list is separated by commas, semicolons or line ends.
fn named(text: &str, lists: bool) -> BTreeSet<&str> {
    let separators: &[char] = if lists { &[',', ';', '·', '\n'] } else { &[] };
    text.split(separators).map(str::trim).filter(|item| !item.is_empty()).collect()
}
