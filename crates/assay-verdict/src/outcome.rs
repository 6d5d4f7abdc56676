//! What checkers answer, and what several answers are together.

use crate::named::named;

named! {
    /// The answer of a checker.
    pub enum Outcome {
        /// What was checked holds.
        Upheld = "upheld",
        /// There was nothing to check; never a pass.
        NothingChecked = "nothing-checked",
        /// It came to no answer.
        Undecided = "undecided",
        /// It does not hold.
        Refuted = "refuted",
    }
}

impl Outcome {
    /// Two answers as one: refuted beats undecided beats upheld. Beside anything else, a part that
    /// checked nothing leaves the whole undecided. Associative, commutative, idempotent.
    #[must_use]
    pub fn merge(self, other: Outcome) -> Outcome {
        match (self, other) {
            (a, b) if a == b => a,
            (Outcome::Refuted, _) | (_, Outcome::Refuted) => Outcome::Refuted,
            _ => Outcome::Undecided,
        }
    }

    /// Any number of answers as one; of no answers, nothing was checked.
    pub fn merge_all(outcomes: impl IntoIterator<Item = Outcome>) -> Outcome {
        outcomes.into_iter().reduce(Outcome::merge).unwrap_or(Outcome::NothingChecked)
    }
}
