//! Writing down what changed, with its direction.

use super::{Change, Direction};
use crate::ids::Id;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Where the changes of one claim, hypothesis or scenario are noted.
pub(super) struct Notes<'c> {
    id: &'c Id,
    changes: &'c mut Vec<Change>,
}

impl<'c> Notes<'c> {
    pub(super) fn new(id: &'c Id, changes: &'c mut Vec<Change>) -> Notes<'c> {
        Notes { id, changes }
    }

    /// Notes a change.
    pub(super) fn note(
        &mut self,
        what: impl Into<String>,
        direction: Direction,
        old: impl Into<String>,
        new: impl Into<String>,
    ) {
        let (id, what, old, new) = (self.id.clone(), what.into(), old.into(), new.into());
        self.changes.push(Change { id, what, direction, old, new });
    }

    /// Notes a change of plain words.
    pub(super) fn words(&mut self, what: &str, old: &str, new: &str) {
        if old != new {
            self.note(what, Direction::Changed, old, new);
        }
    }

    /// Notes what was taken out of a list and what was put in.
    pub(super) fn lists(&mut self, what: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) {
        if old == new {
            return;
        }
        let direction = match (old.is_superset(new), new.is_superset(old)) {
            (true, _) => Direction::Weaker,
            (_, true) => Direction::Stronger,
            _ => Direction::Changed,
        };
        let joined = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        self.note(what, direction, joined(old), joined(new));
    }

    /// Notes a change of something nobody can put in order.
    pub(super) fn value<T: Debug + PartialEq + Serialize>(&mut self, what: &str, old: &T, new: &T) {
        if !same(old, new) {
            self.note(what, Direction::Changed, shown(old), shown(new));
        }
    }

    /// Notes a change of something of which more is stronger; nothing is weaker than something.
    pub(super) fn amount<T: PartialOrd + Copy + ToString>(
        &mut self,
        what: &str,
        old: Option<T>,
        new: Option<T>,
    ) {
        // Two numbers that are neither equal nor in an order are not numbers, and unchanged.
        let direction = match old.partial_cmp(&new) {
            Some(std::cmp::Ordering::Greater) => Direction::Weaker,
            Some(std::cmp::Ordering::Less) => Direction::Stronger,
            Some(std::cmp::Ordering::Equal) | None => return,
        };
        let text = |amount: Option<T>| amount.map_or(String::new(), |amount| amount.to_string());
        self.note(what, direction, text(old), text(new));
    }

    /// Calls `both` if there is something before and after, and notes what came or went.
    pub(super) fn tables<T: Debug + Serialize>(
        &mut self,
        what: &str,
        (old, new): (Option<&T>, Option<&T>),
        both: impl FnOnce(&T, &T, &mut Notes<'c>),
    ) {
        match (old, new) {
            (Some(old), Some(new)) => both(old, new, self),
            (Some(old), None) => self.note(what, Direction::Weaker, shown(old), ""),
            (None, Some(new)) => self.note(what, Direction::Stronger, "", shown(new)),
            (None, None) => {}
        }
    }
}

/// Whether nothing changed. A plan may say `nan`, which equals not even itself, so what looks the
/// same is the same.
pub(super) fn same<T: Debug + PartialEq>(old: &T, new: &T) -> bool {
    old == new || format!("{old:?}") == format!("{new:?}")
}

/// A value of the block on one line. What TOML cannot say by itself, a bare number for example, is
/// shown as the code sees it: an empty text would look like something that is not there.
pub(super) fn shown<T: Debug + Serialize>(value: &T) -> String {
    match toml_edit::ser::to_string(value) {
        Ok(text) => text.trim().replace("\n\n", "\n").replace('\n', ", "),
        Err(_) => format!("{value:?}"),
    }
}
