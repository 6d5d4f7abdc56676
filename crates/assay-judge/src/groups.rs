//! Between how many groups a fairness checker compared: what the audit of broken-down figures asks.

use crate::seat::{DUMPS, Settings};
use assay_history::{History, ValueId, View};
use assay_oracle::Group;
use std::collections::HashSet;

/// The groups of a history, as the settings tell them apart. Operations without one do not count,
/// nor do reads of the final state, which belong to nobody.
pub(crate) fn count(history: &History, settings: &Settings) -> u64 {
    let group = &settings.oracle.group;
    let ops = history.ops().filter(|op| !DUMPS.contains(&history.type_name(op.op_type)));
    let of = ops.map(|op| match group {
        Group::Key => history.key(op.key),
        Group::Process => history.process(op.process),
        Group::Node => op.node_seen,
        Group::Input(path) => at_path(history, op.input, path).unwrap_or(ValueId::NULL),
    });
    let different: HashSet<ValueId> = of.filter(|group| !group.is_null()).collect();
    different.len() as u64
}

/// A field of a value: `user.region`, `0.account`.
fn at_path(history: &History, value: ValueId, path: &str) -> Option<ValueId> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(value, |at, part| {
        match history.values.view(at) {
            View::List(items) => items.get(part.parse::<usize>().ok()?).copied(),
            View::Map(_) => history.values.field(at, part),
            _ => None,
        }
    })
}
