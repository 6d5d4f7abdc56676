//! What the value in a Jepsen completion means: both the reader and the writers must agree on it.

/// What a completion's value is, by operation type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The input again; anything else is an answer.
    Echo,
    /// The pair of expected and new value again.
    Cas,
    /// The answer.
    Answer,
}

impl Role {
    pub(crate) fn of(op_type: &str) -> Role {
        match op_type {
            "cas" => Role::Cas,
            "write" | "put" | "append" | "enqueue" | "push" | "add" | "inc" | "dec"
            | "increment" | "decrement" | "remove" | "acquire" | "release" | "renew" | "use" => {
                Role::Echo
            }
            _ => Role::Answer,
        }
    }
}
