//! The contract that `assay desk new` writes.

/// What a contract has to say, in the order of the template; the test of the template and the
/// questions of the guide are made from it.
pub const ITEMS: [&str; 9] =
    ["objective", "suite", "tests", "agents", "limits", "stories", "criteria", "layers", "paths"];

/// A commented contract that can be read as it stands.
pub fn template(slug: &str) -> String {
    TEXT.replace("SLUG", slug)
}

const TEXT: &str = r#"# Contract: SLUG

<!-- What a machine reads stands in the `toml` blocks; everything else is for people and agents.
     `assay desk lint` says with line numbers what is wrong. Running freezes this file by its hash;
     afterwards only `assay desk amend` changes it. -->

## Objective
A shopper sees what a basket costs before paying.

## Campaign
```toml
# Which files are tests (globs: * stays within a directory, ** does not).
tests = ["tests/**"]
# Files that any story may change besides its own.
shared = []
# Files that nobody may change. The contract, .assay/, CI and agent settings always are protected.
protected = []
# Programs a Verifier may cite besides the commands of this contract.
citable = []
# Ignored directories that survive from one check of a story to the next: "target",
# "node_modules". At the end each command begins without them, and makes what it needs.
cache = []
# Tests that may be skipped, by name.
skips = []
# Mapped tests that are made at run time, by name: no function can be made to fail for them.
generated = []
# Files in which the work may set up runners: hooks, "conftest.py", "package.json", "tox.ini".
runners = []
# Tests from before that need not pass any more, by name, and test files that the work may replace.
outdated = []
# Variables of your environment that agents and commands need, such as an API key.
environment = []
# Places outside their tree that they may write to, such as "~/.cargo/registry" and "~/.cargo/git".
# Never where programs are: they would be run by whoever judges. At the end they are empty.
writable = []
# Services of others (then L2 needs commands); deployments (then L4 does).
external = false
deploys = false
# CRITICAL stories: a mutation tool, such as { run = ["cargo", "mutants"] }; without one each change
# is taken back and some command must notice (docs/formats/contract.md, Mutants).
# mutation = { run = ["sh", "-c", "mutmut run && mutmut export-cicd-stats"] }
# Two Verifiers must agree: "critical" (on CRITICAL stories, and at the end if there is one),
# "final" (always at the end), or "all".
consensus = "critical"

# The whole suite. results: libtest, nextest, pytest, unittest, go, jest, tap or junit. A runner
# that is wrapped in a script needs `list = [...]`, a command that names its tests.
[suite]
run = ["python3", "-m", "unittest", "discover", "-v", "-s", "tests"]
results = "unittest"

# Who works. The Worker's list is the table of upgrades: the next when a story keeps failing.
[agents]
worker = ["claude:sonnet", "claude:opus"]
verifier = "claude:opus"
second = "codex"

# When to give up; everything has a default (docs/formats/contract.md).
[limits]
iterations = 30
```

## Stories

### US-001: The total of a basket
<!-- A story fits one Worker: at most four criteria, few files, one or two iterations. -->

- AC-1
  - Given a basket with apples at 2.50 and pears at 1.50
  - When a shopper asks for the total
  - Then the shopper sees 4.00
- AC-2
  - Given a basket with a price of -1.00
  - When a shopper asks for the total
  - Then the shopper sees the message "a price is below zero"

```toml
# LOW (documents), MEDIUM (a feature), HIGH (deployment, migration), CRITICAL (money, safety).
risk = "MEDIUM"
# What may change besides tests.
paths = ["basket.py"]

# A layer has commands or a reason why it does not apply.
[layers.L1]
commands = [
  { run = ["python3", "-m", "unittest", "discover", "-v", "-s", "tests"], results = "unittest" },
]
[layers.L2]
not_applicable = "no other service takes part"
# End to end: one command that works and one that is refused.
[layers.L3]
commands = [
  { run = ["python3", "basket.py", "2.50", "1.50"], prints = "4.00" },
  { run = ["python3", "basket.py", "-1.00"], exit = 2 },
]

# Which tests speak for which criterion: at least three each, in two of the categories happy,
# negative and boundary. What is not listed here the Worker has to name.
[[tests]]
criterion = "AC-1"
name = "test_basket.Total.test_two_items"
category = "happy"
```
"#;

#[cfg(test)]
mod tests {
    use super::{ITEMS, template};
    use crate::contract::{Level, lint, read, scores};

    #[test]
    fn the_template_is_a_contract_without_errors_that_says_everything() {
        let text = template("basket");
        let contract = read(&text).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(contract.slug, "basket");
        let complaints = lint(&contract, &scores(&contract));
        assert!(complaints.iter().all(|c| c.level == Level::Warning), "{complaints:?}");
        let lower = text.to_lowercase();
        for item in ITEMS {
            assert!(lower.contains(item), "{item}");
        }
    }
}
