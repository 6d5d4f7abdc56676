//! Documents that say what is there, all of it, and nothing else.

use super::links::{code_paths, is_there, links, source_paths};
use super::tokens::{Token, reads, tokens};
use super::tree::Tree;
use super::{Finding, Rule, check, enforce};
use std::collections::BTreeSet;

const MISSING_FILES: Rule = Rule {
    name: "documents name files that exist",
    why: "a reader who follows a dead link stops trusting the rest",
    fix: "mend the path (links count from the document, `code` from the root), or drop the mention",
    find: missing_files,
};

fn missing_files(tree: &Tree) -> Vec<Finding> {
    let in_documents = tree
        .ending(".md")
        .flat_map(|(path, text)| [links(path, text), code_paths(text)].map(|all| (path, all)));
    let in_source = tree.ending(".rs").map(|(path, text)| (path, source_paths(path, text)));
    let mut findings = Vec::new();
    for (path, mentions) in in_documents.chain(in_source) {
        for mention in mentions.iter().filter(|mention| !is_there(tree, mention)) {
            let what = format!("there is no `{}`", mention.written);
            findings.push(Finding::new(path, mention.line, what));
        }
    }
    findings
}

#[test]
fn documents_name_files_that_exist() {
    let there = [("docs/a.md", ""), ("docs/adr/0002-b.md", "")];
    let cases: [(&str, &str, &[&str]); 13] = [
        ("README.md", "\n[a](docs/a.md#part) [b](https://x.org/y) [c](#here)", &[]),
        ("README.md", "\n[a](docs/b.md)", &["README.md:2"]),
        ("README.md", "![a](a.svg)", &["README.md:1"]),
        ("docs/c.md", "[a](a.md) [up](../docs) [out](../../x.md)", &["docs/c.md:1"]),
        ("README.md", "`docs/a.md`, `docs/`, `docs/*.md`, `docs/…`, `fuzz/corpus/x`", &[]),
        ("README.md", "\n\n`docs/b.md`", &["README.md:3"]),
        ("README.md", "`MISSING_PAGE.md` but `plan.md`", &["README.md:1"]),
        ("README.md", "```\ncat docs/b.md\n```", &[]),
        ("crates/a/src/b.rs", "//! See docs/b.md.", &["crates/a/src/b.rs:1"]),
        ("crates/a/src/b.rs", "//! See docs/a.md.\n// As in `crates/a/src/b.rs`.", &[]),
        ("crates/a/src/b.rs", "const A: &str =\n    \"see docs/b.md\";", &["crates/a/src/b.rs:2"]),
        ("crates/a/src/b.rs", "// docs/adr/0002, docs/adr/0003", &["crates/a/src/b.rs:1"]),
        ("crates/a/tests/b.rs", "const A: &str = \"docs/b.md\";", &[]),
    ];
    for (path, text, found) in cases {
        check(&MISSING_FILES, &[&there[..], &[(path, text)]].concat(), found);
    }
    enforce(&MISSING_FILES);
}

const ORPHANS: Rule = Rule {
    name: "every document is linked",
    why: "a page that nothing links to is found by nobody and updated by nobody",
    fix: "link it from the page whose reader needs it, or delete it",
    find: orphans,
};

fn orphans(tree: &Tree) -> Vec<Finding> {
    let mut linked = BTreeSet::new();
    for (path, text) in tree.ending(".md") {
        let targets = links(path, text).into_iter().filter_map(|mention| mention.path);
        linked.extend(targets.filter(|target| target != path));
    }
    let orphan = |path: &&str| path.starts_with("docs/") && !linked.contains(*path);
    let finding = |path| Finding::new(path, 1, "no other document links here");
    tree.files().map(|(path, _)| path).filter(orphan).map(finding).collect()
}

#[test]
fn every_document_is_linked() {
    let page = ("docs/a.md", "[itself](a.md)");
    check(&ORPHANS, &[page, ("README.md", "docs/a.md")], &["docs/a.md:1"]);
    check(&ORPHANS, &[page, ("README.md", "[a](docs/a.md#part)")], &[]);
    check(
        &ORPHANS,
        &[page, ("docs/b.svg", ""), ("README.md", "[a](docs/a.md)")],
        &["docs/b.svg:1"],
    );
    enforce(&ORPHANS);
}

const CODE_MAP: Rule = Rule {
    name: "the code map lists every crate",
    why: "ARCHITECTURE.md is where a newcomer looks first, so it must be true",
    fix: "add a section `crates/NAME` to the code map: its one job, and what it does not know",
    find: code_map,
};

fn code_map(tree: &Tree) -> Vec<Finding> {
    let map = tree.text("ARCHITECTURE.md").unwrap_or("");
    let missing = |name: &&str| !map.contains(&format!("`crates/{name}`"));
    let what = |name| format!("the code map does not speak of `crates/{name}`");
    let finding = |name| Finding::new("ARCHITECTURE.md", 1, what(name));
    tree.crates().into_iter().filter(missing).map(finding).collect()
}

#[test]
fn the_code_map_lists_every_crate() {
    let code = ("crates/a/src/lib.rs", "");
    check(&CODE_MAP, &[code, ("ARCHITECTURE.md", "`crates/ab`")], &["ARCHITECTURE.md:1"]);
    check(&CODE_MAP, &[code, ("ARCHITECTURE.md", "### `crates/a`")], &[]);
    enforce(&CODE_MAP);
}

const CRATE_DOCS: Rule = Rule {
    name: "every crate introduces itself",
    why: "the crate's page is the first that a user of the crate reads",
    fix: "begin the file with `//!`: what the crate is for, an example, what it does not do",
    find: crate_docs,
};

fn crate_docs(tree: &Tree) -> Vec<Finding> {
    let is_root = |path: &str| {
        let parts: Vec<&str> = path.split('/').collect();
        matches!(parts[..], ["crates", _, "src", "lib.rs" | "main.rs"])
    };
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs").filter(|(path, _)| is_root(path)) {
        let words = inner_doc_words(path, text);
        if words < CRATE_DOC_WORDS_MIN {
            let what = format!("{words} words of `//!`, at least {CRATE_DOC_WORDS_MIN} are wanted");
            findings.push(Finding::new(path, 1, what));
        }
    }
    findings
}

/// One sentence.
const CRATE_DOC_WORDS_MIN: usize = 5;

fn inner_doc_words(path: &str, text: &str) -> usize {
    let tokens = tokens(path, text);
    let docs = (0..tokens.len()).filter(|at| reads(&tokens, *at, "# ! [ doc ="));
    docs.filter_map(|at| match &tokens.get(at + 5)?.token {
        Token::Literal(doc) => Some(doc.trim_matches('"').split_whitespace().count()),
        _ => None,
    })
    .sum()
}

#[test]
fn every_crate_introduces_itself() {
    let lib = "crates/a/src/lib.rs";
    check(
        &CRATE_DOCS,
        &[(lib, "// A plain comment of many words.\nfn a() {}")],
        &["crates/a/src/lib.rs:1"],
    );
    check(&CRATE_DOCS, &[(lib, "//! x\n")], &["crates/a/src/lib.rs:1"]);
    check(&CRATE_DOCS, &[(lib, "//! What clients did.\n//!\n//! And saw.\n")], &[]);
    check(&CRATE_DOCS, &[("crates/a/src/b.rs", "")], &[]);
    enforce(&CRATE_DOCS);
}

const CHANGELOG: Rule = Rule {
    name: "the changelog has an Unreleased section",
    why: "users learn of a change from the changelog, so there must be a place to write it down",
    fix: "add a heading `## Unreleased` above the newest release",
    find: changelog,
};

fn changelog(tree: &Tree) -> Vec<Finding> {
    let is_heading = |line: &str| ["## Unreleased", "## [Unreleased]"].contains(&line.trim_end());
    let mut changelogs: Vec<(&str, &str)> = tree.ending("CHANGELOG.md").collect();
    if !tree.has("CHANGELOG.md") {
        changelogs.push(("CHANGELOG.md", ""));
    }
    changelogs
        .into_iter()
        .filter(|(_, text)| !text.lines().any(is_heading))
        .map(|(path, _)| Finding::new(path, 1, "there is no `## Unreleased`"))
        .collect()
}

#[test]
fn the_changelog_has_an_unreleased_section() {
    let found = ["CHANGELOG.md:1"];
    check(&CHANGELOG, &[("README.md", "")], &found);
    check(&CHANGELOG, &[("CHANGELOG.md", "# Changelog\n## 0.1.0\nUnreleased")], &found);
    check(&CHANGELOG, &[("CHANGELOG.md", "# Changelog\n\n## Unreleased\n")], &[]);
    let of_crate = ("crates/a/CHANGELOG.md", "");
    let root = ("CHANGELOG.md", "## Unreleased");
    check(&CHANGELOG, &[root, of_crate], &["crates/a/CHANGELOG.md:1"]);
    enforce(&CHANGELOG);
}
