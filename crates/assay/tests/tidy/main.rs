//! The house rules that a program can hold, one test per rule.
//!
//! HOUSE_STYLE.md gives the reasons; this test keeps the rules from being forgotten. Each rule is a
//! function from a [`Tree`] of files to the [`Finding`]s in it. Each test first runs its rule over
//! small trees made up on the spot, some of which break it: a rule that cannot go red is worth
//! nothing. Only then does it look at the repository.
//!
//! To add a rule: write the function in the file it fits, add a test beside it with at least one
//! made-up tree that breaks the rule and one that does not, and end with [`enforce`].

mod docs;
mod hygiene;
mod layers;
mod links;
mod modules;
mod size;
mod tokens;
mod tree;

use tree::Tree;

/// One place that breaks a rule.
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: path.to_string(), line, what: what.into() }
    }
}

/// A rule: its name, why it is there, what to do about a finding, and the function that looks.
struct Rule {
    name: &'static str,
    why: &'static str,
    fix: &'static str,
    find: fn(&Tree) -> Vec<Finding>,
}

/// Runs `rule` over made-up files; `expected` are the places it must find, as `path:line`.
#[track_caller]
fn check(rule: &Rule, files: &[(&str, &str)], expected: &[&str]) {
    let mut found: Vec<String> = (rule.find)(&Tree::made_up(files))
        .iter()
        .map(|finding| format!("{}:{}", finding.path, finding.line))
        .collect();
    found.sort();
    assert_eq!(found, expected, "the canary of `{}` does not sing", rule.name);
}

/// Runs `rule` over the repository.
#[track_caller]
fn enforce(rule: &Rule) {
    let tree = Tree::repository();
    let findings = (rule.find)(&tree);
    if findings.is_empty() {
        return;
    }
    let mut report = format!("tidy: {} broken in {} place(s)\n", rule.name, findings.len());
    for Finding { path, line, what } in &findings {
        report += &format!("  {path}:{line}: {what}\n");
    }
    panic!("{report}  why: {}\n  fix: {}\n", rule.why, rule.fix);
}
