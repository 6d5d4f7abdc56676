//! Models a scenario may name, and which checkers fit which claims about them.
//!
//! The checkers themselves live in other crates; this one knows their names only. A test of the
//! binary compares the names with the checkers that exist.

use crate::words::Category::{
    self, Durability, Fairness, Idempotency, Isolation, Liveness, Membership, Operational,
    Ordering, PerformanceSlo, Safety,
};
use serde::Serialize;

/// A model of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct ModelInfo {
    /// Its name in plans.
    pub name: &'static str,
    /// What it stands for.
    pub about: &'static str,
    /// The operation types a workload may mix.
    pub ops: &'static [&'static str],
    /// Columns of the history without which its checkers are unsound, and what they are for.
    pub critical: &'static [(&'static str, &'static str)],
}

const fn model(
    name: &'static str,
    about: &'static str,
    ops: &'static [&'static str],
    critical: &'static [(&'static str, &'static str)],
) -> ModelInfo {
    ModelInfo { name, about, ops, critical }
}

/// Every model but `other(NAME)`.
#[rustfmt::skip]
pub const MODELS: [ModelInfo; 10] = [
    model("register", "one value per key that is read and replaced", &["read", "write", "cas"],
        &[("node_seen", "which replica answered")]),
    model("map", "many keys, read and written in transactions", &["read", "write", "txn"],
        &[("key", "which object"), ("node_seen", "which replica answered")]),
    model("queue", "elements that go in and come out", &["enqueue", "dequeue", "drain"],
        &[("invoke_ts", "the order in which elements were offered")]),
    model("log", "entries that are appended and stay", &["append", "read"],
        &[("output", "the offset an entry got or was read at")]),
    model("lock", "one holder at a time", &["acquire", "release"],
        &[("process_id", "who holds it"), ("fault_epoch", "whether a fault was on")]),
    model("lease", "one holder at a time, for a time", &["acquire", "renew", "release", "use"],
        &[("invoke_ts", "finer than the time the lease lasts")]),
    model("session", "what one client sees of its own work", &["read", "write", "reconnect"],
        &[("process_id", "the session"), ("output", "the version a write got")]),
    model("membership-table", "who belongs to the cluster", &["join", "leave", "view"],
        &[("node_seen", "whose view it is")]),
    model("counter", "a number that is added to", &["inc", "dec", "add", "read"],
        &[("input", "what was added"), ("output", "the value after")]),
    model("ledger", "accounts with credits and debits", &["credit", "debit", "balance"],
        &[("key", "the account"), ("input", "amount and idempotency key")]),
];

/// The model of a plan: one of the table, or the author's own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Model {
    /// Of the table.
    Known(&'static ModelInfo),
    /// `other(NAME)`.
    Other(String),
}

impl Model {
    /// Reads `register` or `other(NAME)`.
    pub fn named(text: &str) -> Option<Model> {
        let text = text.trim().trim_matches('`');
        if let Some(known) = MODELS.iter().find(|model| model.name == text) {
            return Some(Model::Known(known));
        }
        let other = text.strip_prefix("other(")?.strip_suffix(')')?.trim();
        (!other.is_empty()).then(|| Model::Other(other.to_string()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Model::Known(info) => info.name,
            Model::Other(name) => name,
        }
    }
}

/// A row of the picker: for this model and category of claim, one of these groups of checkers.
pub struct PickerRow {
    /// The model, or `any`.
    pub model: &'static str,
    /// The category of the claim.
    pub category: Category,
    /// The checkers; the first ones are what a new plan gets.
    pub checkers: &'static [&'static str],
}

const fn row(
    model: &'static str,
    category: Category,
    checkers: &'static [&'static str],
) -> PickerRow {
    PickerRow { model, category, checkers }
}

/// Which checkers can judge what.
#[rustfmt::skip]
pub const PICKER: &[PickerRow] = &[
    row("register", Safety, &["linearizability:register"]),
    row("register", Durability, &["no-lost-ack", "linearizability:register"]),
    row("register", Ordering, &["causal", "linearizability:register"]),
    row("map", Safety, &["linearizability:register", "linearizability:kv"]),
    row("map", Isolation, &["list-append", "rw-register"]),
    row("map", Durability, &["no-lost-ack"]),
    row("queue", Ordering, &["queue", "fifo-producer", "order"]),
    row("queue", Durability, &["at-least-once", "queue"]),
    row("queue", Safety, &["linearizability:queue", "queue"]),
    row("queue", Idempotency, &["exactly-once", "at-most-once", "at-least-once"]),
    row("log", Durability, &["no-lost-ack", "replay-equivalence", "log"]),
    row("log", Safety, &["linearizability:log", "log"]),
    row("log", Ordering, &["log", "order"]),
    row("lock", Safety, &["lock", "invariant", "linearizability:mutex"]),
    row("lease", Safety, &["lease", "invariant", "linearizability:lease"]),
    row("session", Safety, &["read-your-writes", "monotonic-reads", "monotonic-writes",
        "writes-follow-reads"]),
    row("session", Ordering, &["causal", "monotonic-writes"]),
    row("membership-table", Membership, &["membership", "replicas"]),
    row("counter", Safety, &["linearizability:counter", "invariant"]),
    row("counter", Durability, &["invariant", "linearizability:counter"]),
    row("ledger", Idempotency, &["exactly-once", "ledger"]),
    row("ledger", Safety, &["ledger", "bank", "invariant"]),
    row("ledger", Durability, &["ledger", "no-lost-ack"]),
    row("any", Fairness, &["fairness"]),
    row("any", PerformanceSlo, &["slo", "baseline"]),
    row("any", Liveness, &["slo"]),
    row("any", Operational, &["slo"]),
];

/// Checkers that fit any model: they compare states, implementations or assertions.
const GENERAL: [&str; 4] = ["replicas", "replay-equivalence", "differential", "property"];

/// All checkers by name, but for `linearizability:MODEL`.
#[rustfmt::skip]
pub const CHECKERS: [&str; 29] = [
    "read-your-writes", "monotonic-reads", "monotonic-writes", "writes-follow-reads", "causal",
    "no-lost-ack", "exactly-once", "at-least-once", "at-most-once", "order", "set",
    "fifo-producer", "queue", "log", "replay-equivalence", "replicas", "invariant", "bank",
    "ledger", "lock", "lease", "membership", "fairness", "slo", "baseline", "differential",
    "property", "list-append", "rw-register",
];

/// The models of `linearizability:MODEL`.
pub const LINEARIZABLE: [&str; 9] =
    ["register", "kv", "counter", "set", "queue", "stack", "log", "mutex", "lease"];

/// Whether there is a checker of this name.
pub fn is_checker(name: &str) -> bool {
    match name.strip_prefix("linearizability:") {
        Some(model) => LINEARIZABLE.contains(&model),
        None => CHECKERS.contains(&name),
    }
}

/// Every name a checker can have.
pub fn checker_names() -> Vec<String> {
    let linearizable = LINEARIZABLE.iter().map(|model| format!("linearizability:{model}"));
    linearizable.chain(CHECKERS.iter().map(ToString::to_string)).collect()
}

/// The checkers of the picker for a model and a category.
pub fn pick(model: &str, category: Category) -> &'static [&'static str] {
    let fits =
        |row: &&PickerRow| row.category == category && (row.model == model || row.model == "any");
    PICKER.iter().find(fits).map_or(&[], |row| row.checkers)
}

/// Whether a checker can judge claims of a category about a model.
pub fn fits(checker: &str, model: &str, category: Category) -> bool {
    GENERAL.contains(&checker) || pick(model, category).contains(&checker)
}

#[cfg(test)]
mod tests {
    use super::{MODELS, Model, PICKER, is_checker, pick};
    use crate::words::Category;

    #[test]
    fn every_model_has_a_checker_and_every_checker_exists() {
        for model in MODELS {
            assert!(PICKER.iter().any(|row| row.model == model.name), "{}", model.name);
        }
        for row in PICKER {
            assert!(row.checkers.iter().all(|name| is_checker(name)), "{:?}", row.checkers);
        }
        assert_eq!(pick("register", Category::Safety), ["linearizability:register"]);
        assert_eq!(pick("register", Category::Membership), [""; 0]);
        assert_eq!(pick("lock", Category::Fairness), ["fairness"]);
    }

    #[test]
    fn a_model_of_ones_own_has_a_name() {
        assert_eq!(Model::named("other(tree)"), Some(Model::Other("tree".into())));
        assert_eq!(Model::named("`queue`").map(|m| m.name().to_string()), Some("queue".into()));
        for text in ["other()", "other(x", "tree", ""] {
            assert_eq!(Model::named(text), None, "{text}");
        }
    }
}
