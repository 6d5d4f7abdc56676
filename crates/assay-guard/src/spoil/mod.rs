//! Programs in which functions fail as soon as they are called.
//!
//! A test that is made to fail and is said to pass is one that nobody hears: a hook, a runner or an
//! attribute turns failures into passes. A test that passes although everything it could call
//! fails looks at nothing. Both are seen by running what is written here, and by nothing else.
//!
//! ```
//! let text = "def test_sum():\n    assert total([1, 2]) == 3\n";
//! let names = ["tests/a.py::test_sum".to_string()].into();
//! let way = assay_guard::spoil::Way::of("8f3c0a7712bd94e5");
//! let spoiled = assay_guard::spoil::tests("tests/a.py", text, &names, &way).expect("it is there");
//! assert!(spoiled.text.starts_with("def test_sum():\n    raise"));
//! assert_eq!(spoiled.tests, names);
//! ```
//!
//! Known are Rust, Python, Go, JavaScript, TypeScript and Java. The rest of a function stays where
//! it is, so that a program is built as before. Tests that are made at run time are not found.

mod grammar;
mod rust;
mod way;

use crate::code::Language;
use crate::compare::on_a_large_stack;
use std::collections::BTreeSet;
use std::ops::Range;
pub use way::Way;

/// Longer files are not read: nobody writes them by hand.
pub const BYTES_MAX: usize = 4 << 20;

/// A program in which tests fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spoiled {
    /// All of it.
    pub text: String,
    /// The tests that were found, as they were named.
    pub tests: BTreeSet<String>,
}

/// Instead of what stands at a place.
type Edit = (Range<usize>, String);

/// A function that could be made to fail.
#[derive(Debug)]
struct Found {
    name: Name,
    /// Its lines, from one.
    lines: (usize, usize),
    /// What makes it fail as a test; nothing if it is none.
    as_test: Vec<Edit>,
    /// What makes it fail whoever calls it.
    as_function: Vec<Edit>,
    /// It can be called while the program is built, which then cannot be built.
    at_build: bool,
}

/// How a test is known.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Name {
    /// By the name of a function.
    Word(String),
    /// By a text that is given with it.
    Title(String),
}

/// A program in which every function that a name of a test can mean fails; nothing if there is
/// none.
pub fn tests(path: &str, text: &str, names: &BTreeSet<String>, way: &Way) -> Option<Spoiled> {
    let all = functions_of(path, text, way)?;
    let (mut edits, mut found) = (Vec::new(), BTreeSet::new());
    for function in all.into_iter().filter(|function| !function.as_test.is_empty()) {
        let meant: Vec<&String> =
            names.iter().filter(|name| means(path, name, &function.name)).collect();
        if !meant.is_empty() {
            edits.extend(function.as_test);
            found.extend(meant.into_iter().cloned());
        }
    }
    (!edits.is_empty()).then(|| Spoiled { text: edited(text, edits), tests: found })
}

/// Which functions are made to fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// All of them.
    All,
    /// Those that nothing can ask for while it is built, as it can ask a `const fn`.
    NotAtBuild,
}

/// A program in which every function fails that a changed line is one of; of functions in each
/// other the inner one. Nothing if there is none.
pub fn functions(
    path: &str,
    text: &str,
    changed: &dyn Fn(usize) -> bool,
    way: &Way,
    which: Which,
) -> Option<String> {
    let mut all = functions_of(path, text, way)?;
    all.retain(|function| which == Which::All || !function.at_build);
    let mut owner: Vec<Option<usize>> = vec![None; text.lines().count() + 2];
    let mut outer_first: Vec<usize> = (0..all.len()).collect();
    outer_first.sort_by_key(|at| std::cmp::Reverse(all[*at].lines.1 - all[*at].lines.0));
    for at in outer_first {
        let (first, last) = all[at].lines;
        let last = last.min(owner.len() - 1);
        owner[first.min(last)..=last].fill(Some(at));
    }
    let lines = owner.iter().enumerate().filter(|(line, _)| changed(*line));
    let hit: BTreeSet<usize> = lines.filter_map(|(_, owner)| *owner).collect();
    let edits: Vec<Edit> = hit.into_iter().flat_map(|at| all[at].as_function.clone()).collect();
    (!edits.is_empty()).then(|| edited(text, edits))
}

/// Whether a file is of a language that is known here.
pub fn is_known(path: &str) -> bool {
    crate::code::is_program(path)
}

fn functions_of(path: &str, text: &str, way: &Way) -> Option<Vec<Found>> {
    if text.len() > BYTES_MAX {
        return None;
    }
    on_a_large_stack(|| match crate::tree::extension(path).as_str() {
        "rs" => rust::functions(text, way),
        _ => grammar::functions(Language::of(path)?, text, way),
    })
}

/// Whether a runner's name for a test can mean a function.
fn means(path: &str, name: &str, function: &Name) -> bool {
    match function {
        Name::Title(title) => {
            name == title || name.strip_suffix(title.as_str()).is_some_and(|r| r.ends_with(' '))
        }
        Name::Word(word) => words(path, name).any(|other| other == word),
    }
}

/// What of a test's name can be that of a function: parameters stand behind it, files, modules,
/// classes and packages before it.
fn words<'n>(path: &str, name: &'n str) -> impl Iterator<Item = &'n str> {
    let plain = name.find(['[', '(']).map_or(name, |at| &name[..at]).trim();
    let is_go = path.ends_with(".go");
    // Subtests of Go are known by what they are parts of.
    let plain = if is_go { plain.split('/').next().unwrap_or(plain) } else { plain };
    let mut parts = plain.rsplit("::").flat_map(|part| part.rsplit('.'));
    let last = parts.next();
    // `rstest` has a function for a module and its cases as tests.
    let around = parts.next().filter(|_| last.is_some_and(|last| last.starts_with("case_")));
    last.into_iter().chain(around)
}

/// A text with edits; of several at one place the inner ones, which were found later, come first.
fn edited(text: &str, edits: Vec<Edit>) -> String {
    let mut edits: Vec<(usize, Edit)> = edits.into_iter().enumerate().collect();
    edits.sort_by_key(|(found, (at, _))| (at.start, std::cmp::Reverse(*found)));
    let (mut result, mut done) = (String::with_capacity(text.len() + 80 * edits.len()), 0);
    for (_, (at, new)) in edits {
        result.push_str(text.get(done..at.start).unwrap_or_default());
        result.push_str(&new);
        done = done.max(at.end);
    }
    result + text.get(done..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
