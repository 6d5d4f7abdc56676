//! Source files that no build ever sees.

use super::tokens::{Placed, Token, closing, reads, tokens, word};
use super::tree::{Tree, resolve};
use super::{Finding, Rule, check, enforce};
use std::collections::BTreeSet;
use toml::{Table, Value};

const DEAD_SOURCES: Rule = Rule {
    name: "no dead source files",
    why: "a file that no `mod` leads to is not compiled: it rots, and readers take it for code",
    fix: "declare it with `mod` where it belongs, or delete it",
    find: dead_sources,
};

fn dead_sources(tree: &Tree) -> Vec<Finding> {
    let mut alive = BTreeSet::new();
    for (manifest, text) in tree.ending("Cargo.toml") {
        for root in targets(tree, manifest, text) {
            reach(tree, &root, &mut alive);
        }
    }
    let dead = |path: &&str| !alive.contains(*path);
    let finding = |path| Finding::new(path, 1, "no target and no `mod` leads to this file");
    tree.ending(".rs").map(|(path, _)| path).filter(dead).map(finding).collect()
}

/// The files cargo starts from: those it finds by itself, and those the manifest names.
fn targets(tree: &Tree, manifest: &str, text: &str) -> Vec<String> {
    let directory = manifest.trim_end_matches("Cargo.toml");
    let found_by_cargo = |path: &str| {
        let Some(path) = path.strip_prefix(directory) else { return false };
        let parts: Vec<&str> = path.split('/').collect();
        matches!(
            parts[..],
            ["build.rs"]
                | ["src", "lib.rs" | "main.rs"]
                | ["src", "bin", _]
                | ["src", "bin", _, "main.rs"]
                | ["tests" | "examples" | "benches", _]
                | ["tests" | "examples" | "benches", _, "main.rs"]
        )
    };
    let by_cargo = tree.ending(".rs").map(|(path, _)| path).filter(|path| found_by_cargo(path));
    let table: Table =
        text.parse().unwrap_or_else(|error| panic!("{manifest} is not TOML: {error}"));
    let named = ["lib", "bin", "test", "example", "bench"]
        .into_iter()
        .filter_map(|kind| table.get(kind))
        .flat_map(|value| match value {
            Value::Array(entries) => entries.as_slice(),
            one => std::slice::from_ref(one),
        })
        .filter_map(|entry| resolve(manifest, entry.get("path")?.as_str()?));
    by_cargo.map(str::to_string).chain(named).collect()
}

/// Marks `root` and every file its `mod` declarations lead to.
fn reach(tree: &Tree, root: &str, alive: &mut BTreeSet<String>) {
    let directory = root.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut waiting = vec![(root.to_string(), directory.to_string())];
    while let Some((path, directory)) = waiting.pop() {
        let Some(text) = tree.text(&path) else { continue };
        if !alive.insert(path.clone()) {
            continue;
        }
        let tokens = tokens(&path, text);
        for file in declared(&path, &tokens, &directory) {
            // The modules of `a/mod.rs` and those of `a.rs` both live in `a/`.
            let inner = file.trim_end_matches(".rs").trim_end_matches("/mod").to_string();
            waiting.push((file, inner));
        }
    }
}

/// The files that `mod` declarations in these tokens may mean; not all of them need to exist.
fn declared(path: &str, tokens: &[Placed], directory: &str) -> Vec<String> {
    let mut files = Vec::new();
    // The inline modules around the current token: their names, and where they close.
    let mut around: Vec<(&str, usize)> = Vec::new();
    for at in 0..tokens.len() {
        around.retain(|(_, close)| at < *close);
        let (Some("mod"), Some(name)) = (word(tokens, at), word(tokens, at + 1)) else { continue };
        if let (true, Some(close)) = (reads(tokens, at + 2, "{"), closing(tokens, at + 2)) {
            around.push((name, close));
        } else if reads(tokens, at + 2, ";") {
            if let Some(named) = path_attribute(tokens, at) {
                files.extend(resolve(path, &named));
                continue;
            }
            let inline = around.iter().map(|(name, _)| *name);
            let parts: Vec<&str> = [directory].into_iter().chain(inline).chain([name]).collect();
            let module = parts.join("/").trim_start_matches('/').to_string();
            files.push(format!("{module}.rs"));
            files.push(format!("{module}/mod.rs"));
        }
    }
    files
}

/// The file that `#[path = "…"]` right before the declaration names.
fn path_attribute(tokens: &[Placed], at: usize) -> Option<String> {
    let from = at.checked_sub(7)?;
    let start = (from..at).rev().find(|i| reads(tokens, *i, "# [ path ="))?;
    match &tokens[start + 4].token {
        Token::Literal(literal) => Some(literal.trim_matches('"').to_string()),
        _ => None,
    }
}

#[test]
fn every_source_file_is_compiled() {
    let manifest = ("crates/a/Cargo.toml", "[package]\nname = \"a\"");
    let with = |files: &[(&'static str, &'static str)], expected: &[&str]| {
        check(&DEAD_SOURCES, &[&[manifest], files].concat(), expected);
    };
    let lib = "crates/a/src/lib.rs";
    with(&[(lib, ""), ("crates/a/src/b.rs", "")], &["crates/a/src/b.rs:1"]);
    with(&[(lib, "// mod b;"), ("crates/a/src/b.rs", "")], &["crates/a/src/b.rs:1"]);
    with(&[(lib, "pub mod b;"), ("crates/a/src/b.rs", "")], &[]);
    with(
        &[
            (lib, "#[cfg(test)]\nmod b;\nmod c { mod d; }"),
            ("crates/a/src/b/mod.rs", "mod e;"),
            ("crates/a/src/b/e.rs", "mod f;"),
            ("crates/a/src/b/e/f.rs", ""),
            ("crates/a/src/c/d.rs", ""),
            ("crates/a/src/e.rs", ""),
        ],
        &["crates/a/src/e.rs:1"],
    );
    with(&[(lib, "#[path = \"x/y.rs\"]\npub mod z;"), ("crates/a/src/x/y.rs", "")], &[]);
    let common = ("crates/a/tests/common/mod.rs", "");
    with(&[("crates/a/tests/t.rs", "mod common;"), common], &[]);
    with(&[("crates/a/tests/t.rs", ""), common], &["crates/a/tests/common/mod.rs:1"]);
    check(
        &DEAD_SOURCES,
        &[("fuzz/Cargo.toml", "[[bin]]\npath = \"t.rs\""), ("fuzz/t.rs", "")],
        &[],
    );
    enforce(&DEAD_SOURCES);
}

const DEAD_TEMPLATES: Rule = Rule {
    name: "no dead templates",
    why: "a template that no code renders looks like part of the report and is not",
    fix: "render it, include it from another template, or delete it",
    find: dead_templates,
};

fn dead_templates(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, _) in tree.files().filter(|(path, _)| path.starts_with("crates/")) {
        let Some((home, name)) =
            path.split_once("/templates/").or_else(|| path.split_once("/assets/"))
        else {
            continue;
        };
        let elsewhere = |(other, text): (&str, &str)| {
            other != path && other.starts_with(&format!("{home}/")) && text.contains(name)
        };
        if !tree.files().any(elsewhere) {
            let what = format!("nothing in {home} names `{name}`");
            findings.push(Finding::new(path, 1, what));
        }
    }
    findings
}

#[test]
fn every_template_is_used() {
    let template = ("crates/a/templates/page.html", "");
    let code = ("crates/a/src/lib.rs", "#[template(path = \"page.html\")]");
    check(&DEAD_TEMPLATES, &[template, code], &[]);
    check(&DEAD_TEMPLATES, &[template], &["crates/a/templates/page.html:1"]);
    enforce(&DEAD_TEMPLATES);
}

const IDLE_FUZZ_TARGETS: Rule = Rule {
    name: "every fuzz target runs",
    why: "a target that `make fuzz` does not start finds nothing and looks as if it did",
    fix: "add it to TARGETS in scripts/fuzz.sh, and a first input to fuzz/seeds/NAME/",
    find: idle_fuzz_targets,
};

fn idle_fuzz_targets(tree: &Tree) -> Vec<Finding> {
    let script = tree.text("scripts/fuzz.sh").unwrap_or("");
    let mut findings = Vec::new();
    for (path, _) in tree.ending(".rs") {
        let name = path.strip_prefix("fuzz/targets/").and_then(|name| name.strip_suffix(".rs"));
        let Some(name) = name else { continue };
        if !script.contains(&format!("\"{name} ")) {
            findings.push(Finding::new(path, 1, "scripts/fuzz.sh does not run this target"));
        } else if !tree.exists(&format!("fuzz/seeds/{name}")) {
            findings.push(Finding::new(path, 1, "this target has no seeds to start from"));
        }
    }
    findings
}

#[test]
fn every_fuzz_target_runs() {
    let target = ("fuzz/targets/a.rs", "");
    let (script, seed) = (("scripts/fuzz.sh", "    \"a json\"\n"), ("fuzz/seeds/a/b.json", ""));
    check(&IDLE_FUZZ_TARGETS, &[target, script, seed], &[]);
    check(&IDLE_FUZZ_TARGETS, &[target, seed], &["fuzz/targets/a.rs:1"]);
    check(&IDLE_FUZZ_TARGETS, &[target, script], &["fuzz/targets/a.rs:1"]);
    enforce(&IDLE_FUZZ_TARGETS);
}
