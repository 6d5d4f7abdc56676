//! The closed lists of words a plan is made of, as types.
//!
//! A word that is not in its list is an error with the nearest word that is. Each list is one call
//! of
//! `words!`: the variants, how they are written, and what they mean.

use serde::Serialize;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// All of them, in the order documents list them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// How it is written.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }

            /// The one that is written like this; capitals do not matter.
            pub fn named(word: &str) -> Option<$name> {
                let word = word.trim();
                $name::ALL.iter().copied().find(|one| one.word().eq_ignore_ascii_case(word))
            }

            /// How all of them are written.
            pub fn list() -> Vec<&'static str> {
                $name::ALL.iter().map(|one| one.word()).collect()
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }
    };
}

words! {
    /// What a plan is about.
    Mode {
        /// One change: the claims it touches.
        ChangeScoped = "change-scoped",
        /// A whole project: with an inventory of tests and a coverage matrix.
        ProjectWide = "project-wide",
    }
}

words! {
    /// How far a plan has come.
    Status {
        /// Being written.
        Draft = "draft",
        /// Read and agreed to.
        Reviewed = "reviewed",
        /// Carried out.
        Executed = "executed",
    }
}

words! {
    /// What a claim is about.
    Category {
        /// Nothing wrong is ever seen.
        Safety = "safety",
        /// Something good happens in the end.
        Liveness = "liveness",
        /// What was acknowledged stays.
        Durability = "durability",
        /// Latency and throughput.
        PerformanceSlo = "performance-SLO",
        /// Upgrades and changes of configuration.
        Operational = "operational",
        /// Retries have one effect.
        Idempotency = "idempotency",
        /// Transactions do not see each other half done.
        Isolation = "isolation",
        /// Order is kept.
        Ordering = "ordering",
        /// Who belongs to the cluster.
        Membership = "membership",
        /// What is separate stays separate: tenants, permissions, namespaces, routes, protocols.
        Boundary = "boundary",
        /// No group starves another.
        Fairness = "fairness",
    }
}

impl Category {
    /// Whether a scenario against such a claim is serious: it needs model, history and checker.
    pub fn is_gated(self) -> bool {
        use Category::{Durability, Idempotency, Isolation, Membership, Ordering, Safety};
        matches!(self, Safety | Durability | Idempotency | Isolation | Ordering | Membership)
    }

    /// Whether it is kept or broken surface by surface.
    pub fn has_surfaces(self) -> bool {
        matches!(self, Category::Boundary | Category::Fairness)
    }

    /// How bad it is when such a claim is false, for sorting: 3 loses or mixes up data, 2 takes the
    /// service away, 1 makes it slow.
    pub fn severity(self) -> u32 {
        match self {
            Category::PerformanceSlo => 1,
            Category::Liveness | Category::Operational | Category::Fairness => 2,
            _ => 3,
        }
    }
}

words! {
    /// How well existing tests cover a claim under a hypothesis.
    Coverage {
        /// A test would fail.
        Covered = "covered",
        /// A test might fail.
        Partial = "partial",
        /// No test would fail.
        NotCovered = "not covered",
    }
}

impl Coverage {
    /// How large the gap is, for sorting.
    pub fn gap(self) -> u32 {
        match self {
            Coverage::Covered => 0,
            Coverage::Partial => 1,
            Coverage::NotCovered => 2,
        }
    }
}

words! {
    /// What is missing where coverage is not full.
    GapKind {
        /// There is no test.
        NoTest = "no test",
        /// There is one, but it does not go deep.
        ShallowTest = "shallow test",
        /// There is one, but it could not tell.
        OracleTooWeak = "oracle too weak",
        /// There is one, but nothing fails while it runs.
        NoFaultVariant = "no fault-injection variant",
        /// There is one, but only for small sizes.
        NoScaleVariant = "no scale variant",
    }
}

words! {
    /// How sure one can be of an aspect of a claim once the plan has passed.
    Confidence {
        /// Tested hard.
        High = "high",
        /// Tested.
        Moderate = "moderate",
        /// Hardly tested.
        Low = "low",
    }
}

words! {
    /// The eight kinds of hypotheses; a plan has some of each, or says why not.
    HypothesisKind {
        /// Wrong answers.
        Correctness = "correctness",
        /// Lost data.
        Durability = "durability",
        /// No answers.
        Liveness = "liveness",
        /// Some parts fail, others do not.
        PartialFailure = "partial failure",
        /// Done twice.
        Idempotency = "idempotency/replay",
        /// Two versions at once.
        Upgrade = "upgrade/rollback",
        /// Settings that differ or do not fit.
        Configuration = "configuration",
        /// Slow, or slow for some.
        Performance = "performance/fairness",
    }
}

words! {
    /// The languages a skeleton may be in.
    Language {
        /// Rust.
        Rust = "rust",
        /// Go.
        Go = "go",
        /// Python.
        Python = "python",
        /// TypeScript.
        TypeScript = "typescript",
        /// A shell script.
        Shell = "shell",
    }
}

/// The nearest of some words, if one is near enough to be a slip of the pen.
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    const WORD_CHARS_MAX: usize = 64;
    let word: Vec<char> = word.trim().to_lowercase().chars().take(WORD_CHARS_MAX).collect();
    let distance_max = word.len().div_ceil(3).min(3);
    let ranked = known.into_iter().map(|candidate| (distance(&word, candidate), candidate));
    ranked.filter(|(d, _)| *d <= distance_max && *d < word.len()).min().map(|(_, known)| known)
}

/// How many letters must be added, dropped, changed or swapped with their neighbour.
fn distance(word: &[char], other: &str) -> usize {
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut before = vec![0; other.len() + 1];
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in word.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let change = row[j] + usize::from(a != b);
            let mut least = change.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && word[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{Category, Coverage, nearest};

    #[test]
    fn words_are_found_whatever_their_capitals() {
        assert_eq!(Category::named(" Performance-slo "), Some(Category::PerformanceSlo));
        assert_eq!(Coverage::named("not covered"), Some(Coverage::NotCovered));
        assert_eq!(Category::named("tenancy"), None);
        assert_eq!(Category::ALL.iter().filter(|category| category.is_gated()).count(), 6);
    }

    #[test]
    fn the_nearest_word_is_near() {
        for (word, expected) in [
            ("saftey", Some("safety")),
            ("isolaton", Some("isolation")),
            ("tenancy", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, Category::list()), expected, "{word}");
        }
    }
}
