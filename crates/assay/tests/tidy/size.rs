//! How long files, functions and lines may be.

use super::tokens::{body, closing, tokens, word};
use super::tree::Tree;
use super::{Finding, Rule, check, enforce};

const FILE_LINES_MAX: usize = 800;
const FUNCTION_LINES_MAX: usize = 70;
const LINE_COLUMNS_MAX: usize = 100;

/// Files with a limit of their own, and why.
const FILE_LIMITS: [(&str, usize, &str); 1] = [(
    "crates/assay-check/src/verify.rs",
    300,
    "the verifier of certificates must be small enough to be believed by reading it",
)];

const FILE_LENGTH: Rule = Rule {
    name: "file length",
    why: "a long file hides two ideas; short files with clear names are the table of contents",
    fix: "find the second idea and give it a file named after it",
    find: |tree| tree.ending(".rs").filter_map(file_length).collect(),
};

fn file_length((path, text): (&str, &str)) -> Option<Finding> {
    let own = FILE_LIMITS.iter().find(|(file, _, _)| *file == path);
    let (lines_max, reason) = match own {
        Some((_, lines, why)) => (*lines, format!(": {why}")),
        None => (FILE_LINES_MAX, String::new()),
    };
    let lines = text.lines().count();
    let what = format!("{lines} lines, at most {lines_max} are allowed{reason}");
    (lines > lines_max).then(|| Finding::new(path, lines, what))
}

#[test]
fn files_are_short() {
    let lines = |count: usize| "// .\n".repeat(count);
    let file = "crates/a/src/lib.rs";
    check(&FILE_LENGTH, &[(file, &lines(801))], &["crates/a/src/lib.rs:801"]);
    check(&FILE_LENGTH, &[(file, &lines(800)), ("docs/long.md", &lines(900))], &[]);
    let verifier = FILE_LIMITS[0].0;
    let found = format!("{verifier}:301");
    check(&FILE_LENGTH, &[(verifier, &lines(301))], &[&found]);
    check(&FILE_LENGTH, &[(verifier, &lines(300))], &[]);
    enforce(&FILE_LENGTH);
}

const FUNCTION_LENGTH: Rule = Rule {
    name: "function length",
    why: "a function that fits on one screen can be understood, and reviewed, as a whole",
    fix: "keep the decisions in the function and move what it does into helpers named after it",
    find: function_length,
};

fn function_length(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.ending(".rs") {
        let tokens = tokens(path, text);
        for at in 0..tokens.len() {
            // `fn(u8) -> u8` is a type: a function has a name.
            let (Some("fn"), Some(name)) = (word(&tokens, at), word(&tokens, at + 1)) else {
                continue;
            };
            let Some(end) = body(&tokens, at + 2).and_then(|open| closing(&tokens, open)) else {
                continue;
            };
            let lines = tokens[end].line - tokens[at].line + 1;
            if lines > FUNCTION_LINES_MAX {
                let what = format!("`{name}` has {lines} lines, at most {FUNCTION_LINES_MAX}");
                findings.push(Finding::new(path, tokens[at].line, what));
            }
        }
    }
    findings
}

#[test]
fn functions_are_short() {
    let lines = |count: usize| "    let _ = 1;\n".repeat(count);
    let function = |count: usize| format!("/// Doc.\nfn long() {{\n{}}}\n", lines(count - 2));
    let found = ["a.rs:2"];
    check(&FUNCTION_LENGTH, &[("a.rs", &function(71))], &found);
    check(&FUNCTION_LENGTH, &[("a.rs", &function(70))], &[]);
    let method = format!("impl A {{\n    async fn b<T>(f: fn(T)) where T: C {{\n{}}}}}", lines(70));
    check(&FUNCTION_LENGTH, &[("a.rs", &method)], &found);
    let in_macro = format!("proptest! {{\n#[test] fn b(x in 0..9) {{\n{}}}}}", lines(70));
    check(&FUNCTION_LENGTH, &[("a.rs", &in_macro)], &found);
    let declaration = format!("trait A {{ fn b(&self); }}\nmod c {{\n{}}}", "// .\n".repeat(80));
    check(&FUNCTION_LENGTH, &[("a.rs", &declaration)], &[]);
    enforce(&FUNCTION_LENGTH);
}

const LINE_LENGTH: Rule = Rule {
    name: "line length",
    why: "two files fit side by side at 100 columns; rustfmt does not break comments and strings",
    fix: "break the comment or the string (a backslash at the line's end continues a string)",
    find: |tree| tree.ending(".rs").flat_map(line_length).collect(),
};

fn line_length((path, text): (&str, &str)) -> Vec<Finding> {
    let long = |(i, line): (usize, &str)| {
        let columns = line.chars().count();
        let what = format!("{columns} columns, at most {LINE_COLUMNS_MAX} are allowed");
        (columns > LINE_COLUMNS_MAX).then(|| Finding::new(path, i + 1, what))
    };
    text.lines().enumerate().filter_map(long).collect()
}

#[test]
fn lines_are_short() {
    let line = |columns: usize| format!("// é\n//{}\n", "é".repeat(columns - 2));
    check(&LINE_LENGTH, &[("a.rs", &line(101))], &["a.rs:2"]);
    check(&LINE_LENGTH, &[("a.rs", &line(100)), ("a.md", &line(300))], &[]);
    enforce(&LINE_LENGTH);
}
