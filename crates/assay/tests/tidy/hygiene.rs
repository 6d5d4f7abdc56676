//! Code that is unfinished, tests that do not test, and words that must not leave this machine.

use super::tokens::{Placed, Token, body, closing, reads, tokens, word};
use super::tree::Tree;
use super::{Finding, Rule, check, enforce};

/// The lines of all Rust files where `broken` holds for the token at an index.
fn where_tokens(tree: &Tree, broken: fn(&[Placed], usize) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let tokens = tokens(path, text);
        for at in 0..tokens.len() {
            if let Some(what) = broken(&tokens, at) {
                findings.push(Finding::new(path, tokens[at].line, what));
            }
        }
    }
    findings
}

const IGNORED_TESTS: Rule = Rule {
    name: "no ignored tests",
    why: "an ignored test is green when its subject is broken",
    fix: "mend the test or delete it; a test that needs what a machine may lack says so and fails \
          by name, and an example in a doc comment that must not run is `no_run` or `text`",
    find: |tree| where_tokens(tree, ignored_test),
};

fn ignored_test(tokens: &[Placed], at: usize) -> Option<String> {
    if !reads(tokens, at, "# [") {
        return None;
    }
    let end = closing(tokens, at + 1)?;
    let ignores = match word(tokens, at + 2)? {
        "ignore" => true,
        "cfg_attr" => (at + 3..end).any(|i| reads(tokens, i, "ignore")),
        _ => false,
    };
    if ignores {
        return Some("a test is ignored".to_string());
    }
    let doc = match &tokens.get(at + 4)?.token {
        Token::Literal(doc) if reads(tokens, at, "# [ doc =") => doc,
        _ => return None,
    };
    let fence = doc.split_once("```").is_some_and(|(_, info)| info.contains("ignore"));
    fence.then(|| "an example in a doc comment is ignored".to_string())
}

#[test]
fn no_test_is_ignored() {
    let cases: [(&str, &[&str]); 6] = [
        ("#[test]\n#[ignore]\nfn a() {}", &["a.rs:2"]),
        ("#[test]\n#[ignore = \"slow\"]\nfn a() {}", &["a.rs:2"]),
        ("#[cfg_attr(miri, ignore)]\nfn a() {}", &["a.rs:1"]),
        ("/// A.\n/// ```rust,ignore\n/// b\n/// ```\nfn a() {}", &["a.rs:2"]),
        ("/// Words to ignore.\n/// ```no_run\n/// ```\nfn a() {}", &[]),
        ("fn ignore() { \"#[ignore]\"; } // #[ignore]", &[]),
    ];
    for (text, found) in cases {
        check(&IGNORED_TESTS, &[("a.rs", text)], found);
    }
    enforce(&IGNORED_TESTS);
}

const UNFINISHED: Rule = Rule {
    name: "no unfinished code",
    why: "what is committed is finished: a `todo!` is a crash that waits for a user",
    fix: "write it, or leave the feature out until it is written; use a debugger or `tracing`",
    find: |tree| where_tokens(tree, unfinished),
};

fn unfinished(tokens: &[Placed], at: usize) -> Option<String> {
    let name = word(tokens, at)?;
    let called = reads(tokens, at + 1, "!") && closing(tokens, at + 2).is_some();
    let bad = ["todo", "unimplemented", "dbg"].contains(&name) && called;
    bad.then(|| format!("`{name}!` is left in the code"))
}

#[test]
fn no_code_is_unfinished() {
    check(&UNFINISHED, &[("a.rs", "fn a() {\n    todo!()\n}")], &["a.rs:2"]);
    check(&UNFINISHED, &[("a.rs", "fn a() { unimplemented!(\"b\") }")], &["a.rs:1"]);
    check(&UNFINISHED, &[("a.rs", "proptest! { fn a() { dbg![1]; } }")], &["a.rs:1"]);
    check(&UNFINISHED, &[("a.rs", "fn todo() { \"todo!()\"; } // dbg!(1)")], &[]);
    enforce(&UNFINISHED);
}

const SLEEPING_TESTS: Rule = Rule {
    name: "no sleeping in tests",
    why: "a fixed wait is too short on a slow day and too long on all others",
    fix: "wait for the event itself, with a bound: a channel's recv_timeout, a process's exit, a \
          line of output",
    find: sleeping_tests,
};

fn sleeping_tests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let tokens = tokens(path, text);
        let whole_file = path.split('/').any(|part| part == "tests" || part == "tests.rs");
        let mut test_until = if whole_file { tokens.len() } else { 0 };
        for at in 0..tokens.len() {
            if reads(&tokens, at, "# [ cfg ( test ) ]") || reads(&tokens, at, "# [ test ]") {
                test_until = test_until.max(item_end(&tokens, at).unwrap_or(0));
            }
            if at < test_until && sleeps(&tokens, at) {
                findings.push(Finding::new(path, tokens[at].line, "a test sleeps"));
            }
        }
    }
    findings
}

/// Where the item that follows the attribute at `at` ends, if it has braces.
fn item_end(tokens: &[Placed], at: usize) -> Option<usize> {
    closing(tokens, body(tokens, closing(tokens, at + 1)? + 1)?)
}

/// `thread::sleep`, `time::sleep`, or either of them in a list of imports.
fn sleeps(tokens: &[Placed], at: usize) -> bool {
    if !reads(tokens, at, "thread : :") && !reads(tokens, at, "time : :") {
        return false;
    }
    match closing(tokens, at + 3) {
        Some(end) => (at + 3..end).any(|i| reads(tokens, i, "sleep")),
        None => reads(tokens, at + 3, "sleep"),
    }
}

#[test]
fn no_test_sleeps() {
    let sleeping = "fn a() {\n    std::thread::sleep(b);\n}";
    check(&SLEEPING_TESTS, &[("crates/a/tests/t.rs", sleeping)], &["crates/a/tests/t.rs:2"]);
    check(&SLEEPING_TESTS, &[("crates/a/src/lib.rs", sleeping)], &[]);
    let cases: [(&str, &[&str]); 4] = [
        ("#[cfg(test)]\nmod t { use std::thread::{sleep, spawn}; }", &["src/a.rs:2"]),
        ("#[test]\nfn t() -> R { tokio::time::sleep(b).await }", &["src/a.rs:2"]),
        ("#[test]\nfn t() {}\nfn a() { std::thread::sleep(b) }", &[]),
        ("#[cfg(test)]\nmod t;\nfn a() { std::thread::sleep(b) }", &[]),
    ];
    for (text, found) in cases {
        check(&SLEEPING_TESTS, &[("src/a.rs", text)], found);
    }
    enforce(&SLEEPING_TESTS);
}

const LEAKS: Rule = Rule {
    name: "no paths of one machine",
    why: "users do not have our directories: such a path is a dead end for them, and tells tales",
    fix: "name the file by its path from the root of this repository, or say it in words",
    find: leaks,
};

/// Beginnings of absolute paths. Split, so that this file does not break its own rule.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/", "work/"), concat!("/", "root/"), concat!("/", "home/"), concat!("/", "Users/")];
const OUTSIDE: &str = concat!("shared", "/");

fn leaks(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files() {
        for (i, line) in text.lines().enumerate() {
            let absolute = MACHINE_PATHS.iter().find(|start| begins_path(line, start));
            let outside = begins_path(line, OUTSIDE) || line.contains(concat!("../", "shared"));
            if let Some(found) = absolute.copied().or(outside.then_some(OUTSIDE)) {
                findings.push(Finding::new(path, i + 1, format!("names a path in `{found}`")));
            }
        }
    }
    findings
}

/// Whether `start` stands in `line` as the beginning of a path, not in the middle of another.
fn begins_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-./~".contains(c))
    })
}

#[test]
fn no_path_of_one_machine_leaks() {
    let cases = [
        (format!("a\nsee {}main/a.md", MACHINE_PATHS[0]), vec!["a.md:2"]),
        (format!("`{}.cargo/bin`", MACHINE_PATHS[1]), vec!["a.md:1"]),
        (format!("[it](../{OUTSIDE}a.md)"), vec!["a.md:1"]),
        (format!("in {OUTSIDE}design"), vec!["a.md:1"]),
        ("https://example.org/work/x, a/root/b, memory is shared".to_string(), vec![]),
    ];
    for (text, found) in cases {
        check(&LEAKS, &[("a.md", &text)], &found);
    }
    enforce(&LEAKS);
}
