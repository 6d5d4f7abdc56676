//! Every rule of the lint: its code, how bad it is to break it, and its page.
//!
//! The table is the only place where a code gets its meaning. `assay explain P012` shows a page,
//! docs/plan-lint.md is made from all of them, and a test demands that each has a case that breaks
//! it, one that does not, and one on the edge.

mod argument;
mod document;
mod machine;
mod scenario;

use crate::diagnostic::{Code, Severity};

/// A rule and its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// `P012`.
    pub code: Code,
    /// Whether breaking it makes the plan unusable.
    pub severity: Severity,
    /// In a few words.
    pub title: &'static str,
    /// What is asked.
    pub what: &'static str,
    /// Why it is asked.
    pub why: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// A line or two that keep the rule.
    pub example: &'static str,
}

impl Rule {
    /// The rule of a code.
    pub(crate) fn of(code: Code) -> &'static Rule {
        RULES[code.0 as usize - 1]
    }

    /// The rule with this code, such as `P012`; capitals do not matter.
    pub fn named(code: &str) -> Option<&'static Rule> {
        RULES.iter().copied().find(|rule| rule.code.to_string().eq_ignore_ascii_case(code))
    }

    /// Its page.
    pub fn page(&self) -> String {
        format!(
            "{}\n\nWhy: {}\n\nFix: {}\n\nExample:\n\n{}",
            self.what,
            self.why,
            self.fix,
            self.example.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
        )
    }
}

/// The rules under their names, for the code that enforces them.
macro_rules! rules {
    ($($name:ident $number:literal $severity:ident $title:literal
       what $what:literal why $why:literal fix $fix:literal example $example:literal)+) => {
        /// The codes of these rules.
        pub mod codes {
            use crate::diagnostic::Code;
            $(#[doc = $title] pub const $name: Code = Code($number);)+
        }
        pub(super) static ALL: &[crate::rules::Rule] = &[$(crate::rules::Rule {
            code: codes::$name,
            severity: crate::diagnostic::Severity::$severity,
            title: $title,
            what: $what,
            why: $why,
            fix: $fix,
            example: $example,
        },)+];
    };
}
pub(crate) use rules;

/// All codes by name.
pub mod codes {
    pub use super::argument::codes::*;
    pub use super::document::codes::*;
    pub use super::machine::codes::*;
    pub use super::scenario::codes::*;
}

/// All rules, by code.
pub static RULES: std::sync::LazyLock<Vec<&'static Rule>> = std::sync::LazyLock::new(|| {
    let parts = [document::ALL, scenario::ALL, argument::ALL, machine::ALL];
    let mut rules: Vec<&'static Rule> = parts.into_iter().flatten().collect();
    rules.sort_by_key(|rule| rule.code);
    rules
});

#[cfg(test)]
mod tests {
    use super::{RULES, Rule};

    #[test]
    fn codes_count_up_from_one_and_every_page_is_written() {
        for (i, rule) in RULES.iter().enumerate() {
            assert_eq!(usize::from(rule.code.0), i + 1, "{}", rule.title);
            for text in [rule.title, rule.what, rule.why, rule.fix, rule.example] {
                assert!(!text.trim().is_empty(), "{}", rule.code);
            }
        }
        assert_eq!(Rule::named("p001").map(|rule| rule.code.0), Some(1));
        assert_eq!(Rule::named("P999"), None);
    }
}
