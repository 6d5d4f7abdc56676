//! What got weaker between two revisions.
//!
//! Whoever cannot meet a specification may edit the specification, and green stays green. This
//! crate compares two sets of files and says what asks for less than before: TLA+ modules and their
//! configurations, tests and checks in programs, requirements in prose, and the configuration of
//! what runs them. Every finding names a rule, an object, both places, a direction and a reason,
//! and has hashes of both texts, to which a person's approval can be bound.
//!
//! ```
//! use assay_guard::{compare, Config, Tree, Verdict};
//!
//! let tree = |text: &str| Tree::from([("tests/a.py".to_string(), text.into())]);
//! let before = tree("def test_sum():\n    assert total() == 3\n");
//! let after = tree("def test_sum():\n    assert total()\n");
//! let found = compare(&before, &after, &Config::default());
//! assert_eq!((found[0].rule.0, found[0].verdict), ("R05", Verdict::Weaker));
//! ```
//!
//! A move or a rename with the same meaning is no finding, and what asks for more is never in the
//! way. What it does not do: run anything, or judge why a change was made.

pub mod approval;
pub mod beside;
pub mod checks;
pub mod code;
mod compare;
pub mod config;
pub mod finding;
pub mod formula;
pub mod prose;
pub mod report;
pub mod repository;
pub mod rules;
pub mod scan;
pub mod spoil;
mod syntax;
pub mod tla;
pub mod tree;

pub use compare::compare;
pub use config::Config;
pub use finding::{Finding, Place, Verdict};
pub use report::{Report, Status};
pub use tree::Tree;
