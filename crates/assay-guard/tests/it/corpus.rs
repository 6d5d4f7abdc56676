//! Every pair of the corpus is decided right, and the table says how well.
//!
//! A file of the corpus has bases and cases. A base is a small tree of files; a case is a base,
//! what is expected, and edits: lines with `-` are replaced by those with `+` that follow, `rm`
//! removes a file, `mv` moves one, `new` adds one up to a line with a dot.

use assay_guard::{Config, Finding, Tree, Verdict, compare};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const CASES_MIN: usize = 120;

/// A pair and what it must be called.
pub struct Case {
    file: String,
    title: String,
    expected: String,
    rule: Option<String>,
    pub before: Tree,
    after: Tree,
}

fn apply(base: &Tree, edits: &str, place: &str) -> Tree {
    let mut tree = base.clone();
    let (mut gone, mut come): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    let flush = |tree: &mut Tree, gone: &mut Vec<&str>, come: &mut Vec<&str>| {
        if gone.is_empty() && come.is_empty() {
            return;
        }
        while come.is_empty() && gone.last() == Some(&"") {
            gone.pop();
        }
        let (old, new) = (gone.join("\n"), come.join("\n"));
        let mut hits = 0;
        for bytes in tree.values_mut() {
            let text = String::from_utf8(bytes.clone()).expect("the corpus is text");
            hits += text.matches(&old).count();
            // A line that is only removed goes with its end.
            let old_line = format!("{old}\n");
            let changed = match come.is_empty() {
                true => text.replacen(&old_line, "", 1),
                false => text.replacen(&old, &new, 1),
            };
            *bytes = changed.into_bytes();
        }
        assert_eq!(hits, 1, "{place}: to be replaced exactly once: {old:?}");
        gone.clear();
        come.clear();
    };
    let mut lines = edits.lines();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix('-') {
            if !come.is_empty() {
                flush(&mut tree, &mut gone, &mut come);
            }
            gone.push(rest);
        } else if let Some(rest) = line.strip_prefix('+') {
            come.push(rest);
        } else if let Some(path) = line.strip_prefix("rm ") {
            assert!(tree.remove(path).is_some(), "{place}: no {path}");
        } else if let Some((from, to)) = line.strip_prefix("mv ").and_then(|r| r.split_once(' ')) {
            let bytes = tree.remove(from).unwrap_or_else(|| panic!("{place}: no {from}"));
            tree.insert(to.to_string(), bytes);
        } else if let Some(path) = line.strip_prefix("new ") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != ".").collect();
            tree.insert(path.to_string(), (body.join("\n") + "\n").into_bytes());
        } else {
            flush(&mut tree, &mut gone, &mut come);
        }
    }
    flush(&mut tree, &mut gone, &mut come);
    tree
}

fn base(text: &str) -> Tree {
    let mut tree = Tree::new();
    for file in text.split("\n--- ").skip(1) {
        let (path, body) = file.split_once('\n').expect("a file has a body");
        tree.insert(path.trim().to_string(), format!("{}\n", body.trim_end()).into_bytes());
    }
    tree
}

pub fn cases() -> Vec<Case> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the corpus is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let file = path.file_stem().expect("a name").to_string_lossy().to_string();
        let text = std::fs::read_to_string(&path).expect("a file of the corpus");
        let mut bases: BTreeMap<String, Tree> = BTreeMap::new();
        for section in format!("\n{text}").split("\n### ").skip(1) {
            let (head, body) = section.split_once('\n').unwrap_or((section, ""));
            if let Some(name) = head.strip_prefix("base ") {
                bases.insert(name.trim().to_string(), base(&format!("\n{body}")));
                continue;
            }
            let (what, title) = head.split_once(": ").expect("expectation: title");
            let words: Vec<&str> = what.split(' ').collect();
            let name = words.last().expect("a base");
            let before = bases.get(*name).unwrap_or_else(|| panic!("{file}: no base {name}"));
            found.push(Case {
                title: title.to_string(),
                expected: words[0].to_string(),
                rule: (words.len() == 3).then(|| words[1].to_string()),
                before: before.clone(),
                after: apply(before, body, &format!("{file}: {title}")),
                file: file.clone(),
            });
        }
    }
    found
}

/// What a pair is called: by its worst finding.
fn called(found: &[Finding]) -> &'static str {
    match found.iter().map(|finding| finding.verdict).min() {
        None => "same",
        Some(Verdict::Weaker) => "weaker",
        Some(Verdict::Suspect) => "suspect",
        Some(Verdict::Changed) => "changed",
        Some(Verdict::Stronger) => "stronger",
    }
}

fn right(case: &Case, found: &[Finding]) -> bool {
    let fits = |finding: &Finding| {
        let rule = case.rule.as_deref().is_none_or(|rule| finding.rule.0 == rule);
        rule && finding.verdict.to_string() == case.expected
    };
    let word = called(found);
    word == case.expected && (word == "same" || found.iter().any(fits))
}

#[test]
fn every_pair_of_the_corpus_is_decided_right() {
    let cases = cases();
    let config = Config::default();
    let (mut wrong, mut hits, mut alarms, mut misses) = (Vec::new(), 0, 0, 0);
    for case in &cases {
        let found = compare(&case.before, &case.after, &config);
        let (wanted, told) = (case.expected == "weaker", called(&found) == "weaker");
        match (wanted, told) {
            (true, true) => hits += 1,
            (true, false) => misses += 1,
            (false, true) => alarms += 1,
            (false, false) => {}
        }
        if !right(case, &found) {
            let shown: Vec<String> = found
                .iter()
                .map(|f| format!("    {} {} {}: {}", f.rule, f.verdict, f.object, f.reason))
                .collect();
            wrong.push(format!(
                "{}: {}: expected {} {}, got {}\n{}",
                case.file,
                case.title,
                case.expected,
                case.rule.as_deref().unwrap_or(""),
                called(&found),
                shown.join("\n")
            ));
        }
    }
    let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    println!(
        "{} pairs: {} right; weaker: precision {:.1} %, recall {:.1} %",
        cases.len(),
        cases.len() - wrong.len(),
        percent(hits, hits + alarms),
        percent(hits, hits + misses)
    );
    assert!(wrong.is_empty(), "{} pairs are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases.len() >= CASES_MIN, "{} pairs", cases.len());
}

#[test]
fn the_corpus_has_every_rule_and_a_twin_of_each_kind_in_every_file() {
    let cases = cases();
    let seen: BTreeSet<&str> = cases.iter().filter_map(|case| case.rule.as_deref()).collect();
    let missing: Vec<&str> = assay_guard::rules::RULES
        .iter()
        .map(|rule| rule.id.0)
        .filter(|rule| !seen.contains(rule))
        .collect();
    assert!(missing.is_empty(), "no pair for {missing:?}");
    let files: BTreeSet<&str> = cases.iter().map(|case| case.file.as_str()).collect();
    for file in files {
        for kind in ["weaker", "same", "stronger"] {
            let has = cases.iter().any(|case| case.file == file && case.expected == kind);
            assert!(has, "{file} has no pair that is {kind}");
        }
    }
}

#[test]
fn a_tree_compared_with_itself_has_no_findings() {
    for case in cases() {
        let found = compare(&case.before, &case.before, &Config::default());
        assert!(found.is_empty(), "{}: {}: {found:?}", case.file, case.title);
    }
}
