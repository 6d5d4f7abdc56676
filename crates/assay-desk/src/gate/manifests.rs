//! Which targets of a Cargo package are tested, and by whom: a target with a runner of its own
//! prints what it likes, and one that is not tested fails nowhere.

use super::{Finding, Severity};
use assay_guard::{Tree, tree};
use std::collections::BTreeSet;
use toml_edit::{DocumentMut, Item, TableLike};

/// Kinds of targets that hold tests; benches have runners of their own for good reasons.
const KINDS: [&str; 4] = ["lib", "bin", "test", "example"];
const SETTINGS: [&str; 3] = ["harness", "test", "doctest"];

/// What manifests of `after` switch off that those of `before` did not.
pub fn check(before: &Tree, after: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in after.keys().filter(|path| tree::file_name(path) == "Cargo.toml") {
        let old = tree::text(before, path).map(off).unwrap_or_default();
        let new = tree::text(after, path).map(off).unwrap_or_default();
        for (target, setting) in new.difference(&old) {
            let text = format!(
                "{path}: `{setting} = false` was added to {target}: the runner must be cargo's, \
                 and every test must be run: remove it"
            );
            findings.push(Finding::new("gaming", Severity::Critical, text));
        }
    }
    findings
}

/// Targets and what is switched off in each. What is no TOML builds nothing.
fn off(text: &str) -> BTreeSet<(String, &'static str)> {
    let mut all = BTreeSet::new();
    let Ok(document) = text.parse::<DocumentMut>() else { return all };
    let is_off = |table: &dyn TableLike, setting: &str| {
        table.get(setting).and_then(Item::as_bool) == Some(false)
    };
    for kind in KINDS {
        for table in tables(document.get(kind)) {
            let name = table.get("name").and_then(Item::as_str).unwrap_or("");
            let target = format!("{kind} {name}").trim_end().to_string();
            let own = SETTINGS.into_iter().filter(|setting| is_off(table, setting));
            all.extend(own.map(|setting| (target.clone(), setting)));
        }
    }
    let package = document.get("package").and_then(Item::as_table_like);
    if package.is_some_and(|package| is_off(package, "autotests")) {
        all.insert(("package".to_string(), "autotests"));
    }
    all
}

/// `[lib]` is one table, `[[test]]` are several.
fn tables(item: Option<&Item>) -> Vec<&dyn TableLike> {
    match item {
        Some(Item::ArrayOfTables(all)) => all.iter().map(|one| one as &dyn TableLike).collect(),
        Some(item) => item.as_table_like().into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use assay_guard::Tree;

    #[test]
    fn a_target_that_is_not_tested_by_cargo_any_more_is_found() {
        let tree = |text: &str| Tree::from([("a/Cargo.toml".to_string(), text.into())]);
        let harness = "[[test]]\nname = \"it\"\nharness = false\n";
        for (before, after, wanted) in [
            ("", harness, Some("`harness = false` was added to test it")),
            (harness, harness, None),
            ("", "[lib]\ntest = false\n", Some("`test = false` was added to lib")),
            ("", "[package]\nautotests = false\n", Some("`autotests = false` was added")),
            ("", "[[bench]]\nname = \"b\"\nharness = false\n", None),
            (harness, "[[test]]\nname = \"it\"\n", None),
            ("", "[[test]\n", None),
        ] {
            let found = check(&tree(before), &tree(after));
            assert_eq!(found.len(), usize::from(wanted.is_some()), "{after}: {found:?}");
            assert!(wanted.is_none_or(|what| found[0].text.contains(what)), "{found:?}");
        }
        let new = check(&Tree::new(), &tree(harness));
        assert_eq!(new.len(), 1, "a package of its own: {new:?}");
    }
}
