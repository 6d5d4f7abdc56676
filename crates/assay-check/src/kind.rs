//! The built-in models by name.

use serde::Serialize;

/// A built-in model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Read, write and compare-and-swap, one value per key.
    Register,
    /// Get, put and append, one string per key.
    Kv,
    /// Add and read an integer.
    Counter,
    /// Add, remove, contains and read.
    Set,
    /// First in, first out.
    Queue,
    /// Last in, first out.
    Stack,
    /// Append and read.
    Log,
    /// Acquire and release, one holder at a time.
    Mutex,
    /// A lease with fencing tokens.
    Lease,
}

/// A model's entry in the list: names, operation types with their canonical names.
pub struct ModelInfo {
    /// The model.
    pub kind: ModelKind,
    /// Its name on the command line, then its aliases.
    pub names: &'static [&'static str],
    /// Operation types as histories spell them, and what they are called here.
    pub verbs: &'static [(&'static str, &'static str)],
    /// One line about it.
    pub about: &'static str,
}

/// All built-in models.
pub const MODELS: [ModelInfo; 9] = [
    ModelInfo {
        kind: ModelKind::Register,
        names: &["register", "cas-register", "multi-register", "map"],
        verbs: &[
            ("read", "read"),
            ("get", "read"),
            ("write", "write"),
            ("put", "write"),
            ("cas", "cas"),
        ],
        about: "one value per key: read, write, compare-and-swap",
    },
    ModelInfo {
        kind: ModelKind::Kv,
        names: &["kv", "kv-append"],
        verbs: &[
            ("get", "get"),
            ("read", "get"),
            ("put", "put"),
            ("write", "put"),
            ("append", "append"),
        ],
        about: "one string per key: get, put, append",
    },
    ModelInfo {
        kind: ModelKind::Counter,
        names: &["counter"],
        verbs: &[
            ("add", "add"),
            ("inc", "add"),
            ("increment", "add"),
            ("dec", "dec"),
            ("decrement", "dec"),
            ("read", "read"),
            ("get", "read"),
        ],
        about: "an integer per key: add, dec, read",
    },
    ModelInfo {
        kind: ModelKind::Set,
        names: &["set"],
        verbs: &[("add", "add"), ("remove", "remove"), ("contains", "contains"), ("read", "read")],
        about: "a set per key: add, remove, contains, read",
    },
    ModelInfo {
        kind: ModelKind::Queue,
        names: &["queue", "fifo-queue"],
        verbs: &[("enqueue", "enqueue"), ("dequeue", "dequeue")],
        about: "first in, first out: enqueue, dequeue",
    },
    ModelInfo {
        kind: ModelKind::Stack,
        names: &["stack"],
        verbs: &[("push", "push"), ("pop", "pop")],
        about: "last in, first out: push, pop",
    },
    ModelInfo {
        kind: ModelKind::Log,
        names: &["log"],
        verbs: &[("append", "append"), ("read", "read")],
        about: "an append-only list per key: append, read",
    },
    ModelInfo {
        kind: ModelKind::Mutex,
        names: &["mutex", "lock"],
        verbs: &[("acquire", "acquire"), ("release", "release")],
        about: "one holder at a time: acquire, release",
    },
    ModelInfo {
        kind: ModelKind::Lease,
        names: &["lease"],
        verbs: &[
            ("acquire", "acquire"),
            ("renew", "renew"),
            ("release", "release"),
            ("use", "use"),
        ],
        about: "a lease with fencing tokens: acquire, renew, release, use",
    },
];

impl ModelKind {
    /// The model with this name or alias.
    pub fn named(name: &str) -> Option<ModelKind> {
        MODELS.iter().find(|info| info.names.contains(&name)).map(|info| info.kind)
    }

    /// Its entry in [`MODELS`].
    pub fn info(self) -> &'static ModelInfo {
        MODELS.iter().find(|info| info.kind == self).expect("every kind is listed")
    }

    /// Its first name.
    pub fn name(self) -> &'static str {
        self.info().names[0]
    }

    /// The canonical name of an operation type, if this model has it.
    pub fn verb(self, op_type: &str) -> Option<&'static str> {
        self.info().verbs.iter().find(|(name, _)| *name == op_type).map(|&(_, verb)| verb)
    }
}
