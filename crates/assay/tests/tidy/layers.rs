//! Which crate may know which.

use super::tree::Tree;
use super::{Finding, Rule, check, enforce};
use toml::Table;

/// Every crate, with the crates of this workspace it may use. A new crate gets a row here and a
/// section in the code map of ARCHITECTURE.md.
const MAY_USE: &[(&str, &[&str])] = &[
    ("assay-adr", &[]),
    ("assay-agent", &[]),
    ("assay-history", &[]),
    ("assay-invariant", &[]),
    ("assay-ledger", &[]),
    ("assay-desk", &["assay-agent", "assay-guard", "assay-invariant", "assay-ledger"]),
    ("assay-session", &[]),
    ("assay-server", &["assay-agent", "assay-ledger", "assay-sandbox", "assay-session"]),
    ("assay-kv", &[]),
    ("assay-check", &["assay-history"]),
    ("assay-txn", &["assay-history"]),
    ("assay-oracle", &["assay-history"]),
    ("assay-verdict", &[]),
    ("assay-report", &["assay-verdict"]),
    ("assay-plan", &[]),
    ("assay-guard", &["assay-plan"]),
    ("assay-mutate", &["assay-guard", "assay-kernel"]),
    ("assay-kernel", &[]),
    ("assay-sandbox", &["assay-kernel"]),
    ("assay-nemesis", &["assay-kernel", "assay-verdict"]),
    ("assay-workload", &[]),
    ("assay-drivers", &["assay-nemesis", "assay-workload"]),
    ("assay-sut", &["assay-drivers", "assay-kernel", "assay-nemesis", "assay-workload"]),
    (
        "assay-judge",
        &[
            "assay-check",
            "assay-history",
            "assay-oracle",
            "assay-report",
            "assay-txn",
            "assay-verdict",
        ],
    ),
    (
        "assay-runner",
        &[
            "assay-history",
            "assay-judge",
            "assay-kernel",
            "assay-nemesis",
            "assay-plan",
            "assay-report",
            "assay-sut",
            "assay-verdict",
            "assay-workload",
        ],
    ),
    (
        "assay",
        &[
            "assay-adr",
            "assay-agent",
            "assay-desk",
            "assay-ledger",
            "assay-history",
            "assay-check",
            "assay-kernel",
            "assay-kv",
            "assay-txn",
            "assay-oracle",
            "assay-verdict",
            "assay-report",
            "assay-plan",
            "assay-guard",
            "assay-mutate",
            "assay-nemesis",
            "assay-workload",
            "assay-sut",
            "assay-judge",
            "assay-runner",
            "assay-server",
            "assay-sandbox",
        ],
    ),
];

/// What a crate's tests may use besides: that what clients do is fit to be judged can only be
/// tested with the judges.
const TESTS_MAY_USE: &[(&str, &[&str])] =
    &[("assay-workload", &["assay-check", "assay-history", "assay-oracle", "assay-txn"])];

const DEPENDENCY_DIRECTION: Rule = Rule {
    name: "dependency direction",
    why: "a crate is small because of what it does not know; one arrow backwards and it knows all",
    fix: "move the code to the crate that may know both, or pass in what is needed; if the picture \
          itself is to change, change MAY_USE in this test and ARCHITECTURE.md with it",
    find: dependency_direction,
};

fn dependency_direction(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in tree.crates() {
        let path = format!("crates/{name}/Cargo.toml");
        let Some(manifest) = tree.text(&path) else {
            findings.push(Finding::new(&path, 1, "a directory in crates/ that is no crate"));
            continue;
        };
        let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
            findings.push(Finding::new(&path, 1, format!("`{name}` is not in the table MAY_USE")));
            continue;
        };
        let in_tests = TESTS_MAY_USE.iter().find(|(known, _)| *known == name);
        let in_tests = in_tests.map_or(&[][..], |(_, allowed)| *allowed);
        for (used, purpose) in used_crates(&path, manifest, name) {
            let in_tests = purpose == Purpose::Tests && in_tests.contains(&used.as_str());
            if !in_tests && !allowed.contains(&used.as_str()) {
                let line = line_naming(manifest, &used);
                let what = format!("`{name}` must not know `{used}`");
                findings.push(Finding::new(&path, line, what));
            }
        }
    }
    findings
}

/// The crates of this workspace in any table of dependencies, also those for tests and platforms.
fn used_crates(path: &str, manifest: &str, own_name: &str) -> Vec<(String, Purpose)> {
    let table: Table =
        manifest.parse().unwrap_or_else(|error| panic!("{path} is not TOML: {error}"));
    let mut used = Vec::new();
    collect(&table, &mut used);
    used.retain(|(name, _)| name != own_name && (name == "assay" || name.starts_with("assay-")));
    used
}

/// What a dependency is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Code,
    Tests,
}

fn collect(table: &Table, used: &mut Vec<(String, Purpose)>) {
    for (key, value) in table {
        let Some(inner) = value.as_table() else { continue };
        if !key.ends_with("dependencies") {
            collect(inner, used);
            continue;
        }
        let purpose = if key == "dev-dependencies" { Purpose::Tests } else { Purpose::Code };
        for (name, value) in inner {
            let renamed = value.get("package").and_then(toml::Value::as_str);
            used.push((renamed.unwrap_or(name).to_string(), purpose));
        }
    }
}

fn line_naming(manifest: &str, name: &str) -> usize {
    // The package's own name and description stand above its dependencies: the last mention counts.
    let mentions = manifest.lines().enumerate().filter(|(_, line)| line.contains(name));
    mentions.last().map_or(1, |(i, _)| i + 1)
}

#[test]
fn crates_depend_in_one_direction() {
    let history = "crates/assay-history/Cargo.toml";
    let workload = "crates/assay-workload/Cargo.toml";
    let cases: [(&str, &str, &[&str]); 11] = [
        (workload, "[dev-dependencies]\nassay-check.workspace = true", &[]),
        (workload, "[dev-dependencies]\nassay-plan.workspace = true", &[":2"]),
        (workload, "[dependencies]\nassay-check.workspace = true", &[":2"]),
        (history, "[dependencies]\nserde = \"1\"", &[]),
        (history, "[dependencies]\nassay-check.workspace = true", &[":2"]),
        (history, "[dev-dependencies]\nassay-check = { path = \"../assay-check\" }", &[":2"]),
        (history, "[target.'cfg(unix)'.dependencies]\nc = { package = \"assay-check\" }", &[":2"]),
        ("crates/assay-check/Cargo.toml", "[dependencies]\nassay-history.workspace = true", &[]),
        ("crates/assay-report/Cargo.toml", "[dependencies]\nassay-check = \"0\"", &[":2"]),
        ("crates/assay/Cargo.toml", "[dependencies]\nassay-report = \"0\"", &[]),
        ("crates/assay-utils/Cargo.toml", "[dependencies]", &[":1"]),
    ];
    for (path, manifest, lines) in cases {
        let found: Vec<String> = lines.iter().map(|line| format!("{path}{line}")).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        check(&DEPENDENCY_DIRECTION, &[(path, manifest)], &found);
    }
    check(&DEPENDENCY_DIRECTION, &[("crates/a/b.rs", "")], &["crates/a/Cargo.toml:1"]);
    enforce(&DEPENDENCY_DIRECTION);
}
