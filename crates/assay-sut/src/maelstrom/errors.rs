//! Maelstrom's error codes, and what each says about an operation.
//!
//! A definite error promises that the operation did not happen and never will. Everything else,
//! codes nobody knows among them, promises nothing.

/// The codes that are definite, and that services here give themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    NotSupported,
    TemporarilyUnavailable,
    MalformedRequest,
    KeyDoesNotExist,
    PreconditionFailed,
}

impl Code {
    pub(crate) const fn number(self) -> u64 {
        match self {
            Code::NotSupported => 10,
            Code::TemporarilyUnavailable => 11,
            Code::MalformedRequest => 12,
            Code::KeyDoesNotExist => 20,
            Code::PreconditionFailed => 22,
        }
    }
}

/// Number, name, and whether it is definite.
pub(crate) const ERRORS: [(u64, &str, bool); 11] = [
    (0, "timeout", false),
    (1, "node-not-found", true),
    (10, "not-supported", true),
    (11, "temporarily-unavailable", true),
    (12, "malformed-request", true),
    (13, "crash", false),
    (14, "abort", true),
    (20, "key-does-not-exist", true),
    (21, "key-already-exists", true),
    (22, "precondition-failed", true),
    (30, "txn-conflict", true),
];

/// Whether an operation that ended with this code certainly has no effect.
pub(crate) fn is_definite(code: u64) -> bool {
    ERRORS.iter().any(|(number, _, definite)| *number == code && *definite)
}

/// The code's name, where it has one.
pub(crate) fn name(code: u64) -> &'static str {
    let row = ERRORS.iter().find(|(number, _, _)| *number == code);
    row.map_or("a code of its own", |(_, name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/formats/maelstrom.md");

    #[test]
    fn the_page_lists_every_code_and_what_it_means() {
        for (number, name, definite) in ERRORS {
            let outcome = if definite { "fail" } else { "unknown" };
            let row = format!("| {number} | {name} | {outcome} |");
            assert!(PAGE.contains(&row), "docs/formats/maelstrom.md lacks {row}");
        }
    }

    #[test]
    fn a_code_nobody_knows_promises_nothing() {
        assert!(!is_definite(1000) && !is_definite(2));
        assert_eq!(name(Code::KeyDoesNotExist.number()), "key-does-not-exist");
        assert_eq!(name(Code::PreconditionFailed.number()), "precondition-failed");
    }
}
