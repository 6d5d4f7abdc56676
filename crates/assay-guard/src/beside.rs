//! Unit tests that stand beside the code, as Rust has them: which lines are theirs, and a file with
//! the tests of another version of it.
//!
//! ```
//! let old = "pub fn one() -> u8 { 2 }\n";
//! let new = "pub fn one() -> u8 { 1 }\n#[cfg(test)]\nmod tests {}\n";
//! let grafted = assay_guard::beside::graft(old, new).expect("both are Rust");
//! assert!(grafted.contains("{ 2 }") && grafted.contains("mod tests {}"));
//! assert_eq!(assay_guard::beside::lines(new), Some(vec![2..=3]));
//! ```
//!
//! A test is an item under a `cfg` with `test` in it, or a function with an attribute `test`. What
//! macros make of their arguments, and items within functions and `impl`, are not looked into.

use crate::code::rust;
use crate::compare::on_a_large_stack;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Range, RangeInclusive};
use syn::spanned::Spanned;
use syn::{Attribute, Item};

/// Longer files are not read: nobody writes them by hand.
const BYTES_MAX: usize = 4 << 20;

/// Whether a Rust file is one of tests as a whole, by what such files are called.
pub fn is_test_file(path: &str) -> bool {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let usual = ["tests.rs", "test.rs"].contains(&name);
    let ends = ["_test.rs", "_tests.rs"].iter().any(|end| name.ends_with(end));
    name.ends_with(".rs")
        && (usual || ends || directories.split('/').any(|part| matches!(part, "tests" | "test")))
}

/// The lines of tests, from 1; nothing if the text is not Rust.
pub fn lines(text: &str) -> Option<Vec<RangeInclusive<usize>>> {
    let line = |at: usize| 1 + text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
    let parts = Parts::of(text)?;
    Some(parts.tests.iter().map(|(_, at)| line(at.start)..=line(at.end)).collect())
}

/// `old` with the tests of `new` instead of its own: the tests without the work. Files that `new`
/// declares as modules are declared, so that tests in them are seen. Nothing if one of the two is
/// not Rust.
pub fn graft(old: &str, new: &str) -> Option<String> {
    let (before, after) = (Parts::of(old)?, Parts::of(new)?);
    let mut pieces: BTreeMap<&[String], String> = BTreeMap::new();
    let declared = after
        .files
        .iter()
        .filter(|((path, name), _)| !before.files.contains_key(&(path.clone(), name.clone())));
    let declared = declared.map(|((path, _), at)| (path, at));
    let tests = after.tests.iter().map(|(path, at)| (path, at));
    for (path, at) in declared.chain(tests) {
        let piece = pieces.entry(path.as_slice()).or_default();
        piece.push('\n');
        piece.push_str(&new[at.clone()]);
        piece.push('\n');
    }
    let mut edits: Vec<(Range<usize>, String)> =
        before.tests.iter().map(|(_, at)| (at.clone(), String::new())).collect();
    let mut end = String::new();
    for (path, piece) in pieces {
        match before.modules.get(path) {
            Some(close) => edits.push((*close..*close, piece)),
            None => end.push_str(&wrapped(path, &piece)),
        }
    }
    edits.sort_by_key(|(at, _)| at.start);
    let mut text = old.to_string();
    for (at, piece) in edits.into_iter().rev() {
        text.replace_range(at, &piece);
    }
    Some(text + &end)
}

fn wrapped(path: &[String], piece: &str) -> String {
    let open: String = path.iter().map(|name| format!("mod {name} {{")).collect();
    format!("{open}{piece}{}", "}".repeat(path.len()))
}

/// What a file has, each with the inline modules around it.
#[derive(Default)]
struct Parts {
    tests: Vec<(Vec<String>, Range<usize>)>,
    /// `mod name;`, those of tests aside.
    files: BTreeMap<(Vec<String>, String), Range<usize>>,
    /// Where inline modules close.
    modules: BTreeMap<Vec<String>, usize>,
}

impl Parts {
    fn of(text: &str) -> Option<Parts> {
        if text.len() > BYTES_MAX {
            return None;
        }
        on_a_large_stack(|| Parts::read_from(text))
    }

    fn read_from(text: &str) -> Option<Parts> {
        let file = rust::read(text)?.ok()?;
        let mut parts = Parts::default();
        if file.attrs.iter().any(is_test) {
            parts.tests.push((Vec::new(), 0..text.len()));
            return Some(parts);
        }
        parts.read(&file.items, &[]);
        Some(parts)
    }

    fn read(&mut self, items: &[Item], around: &[String]) {
        for item in items {
            let at = item.span().byte_range();
            if attributes(item).iter().any(is_test) {
                self.tests.push((around.to_vec(), at));
                continue;
            }
            let Item::Mod(module) = item else {
                continue;
            };
            let name = module.ident.to_string();
            match &module.content {
                None => _ = self.files.insert((around.to_vec(), name), at),
                Some((brace, items)) => {
                    let inner = [around, &[name]].concat();
                    let close = brace.span.close().byte_range().start;
                    self.modules.insert(inner.clone(), close);
                    self.read(items, &inner);
                }
            }
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[cfg(test)]` and the like, `#[test]`, `#[tokio::test]`.
fn is_test(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path.is_ident("cfg") {
        let words = words(attribute);
        return words.contains("test") && !words.contains("not");
    }
    path.segments.last().is_some_and(|last| last.ident == "test")
}

fn words(attribute: &Attribute) -> BTreeSet<String> {
    let text = quote::ToTokens::to_token_stream(&attribute.meta).to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::{graft, is_test_file, lines};

    const OLD: &str = "//! Sums.\npub fn one() -> u8 { 2 }\nmod inner {\n    pub fn two() {}\n    \
                       #[cfg(test)]\n    mod tests { #[test] fn old_inner() {} }\n}\n\
                       #[cfg(test)]\nmod tests {\n    #[test]\n    fn old() {}\n}\n";
    const NEW: &str = "//! Sums.\nmod basket;\npub fn one() -> u8 { 1 }\nmod inner {\n    pub fn \
                       two() { work() }\n    #[cfg(test)]\n    mod tests { #[test] fn new_inner() \
                       {} }\n}\n/// What it shows: ä.\n#[cfg(all(test, unix))]\nmod tests {\n    \
                       use super::*;\n    #[test]\n    fn fresh() { assert_eq!(one(), 1); }\n}\n\
                       #[test]\nfn alone() {}\n#[cfg(not(test))]\nfn product() {}\n";

    #[test]
    fn the_tests_of_one_version_stand_beside_the_code_of_the_other() {
        let text = graft(OLD, NEW).expect("Rust");
        for there in ["{ 2 }", "fn two() {}", "fn new_inner", "fn fresh", "fn alone", "mod basket;"]
        {
            assert_eq!(text.matches(there).count(), 1, "{there}: {text}");
        }
        for gone in ["{ 1 }", "work()", "old_inner", "fn old()", "fn product"] {
            assert!(!text.contains(gone), "{gone}: {text}");
        }
        assert!(syn::parse_file(&text).is_ok(), "{text}");
        // A file that is new has nothing but its tests, in the modules they were in.
        let fresh = graft("", NEW).expect("Rust");
        assert!(fresh.contains("mod inner {") && !fresh.contains("fn one"), "{fresh}");
        assert!(syn::parse_file(&fresh).is_ok(), "{fresh}");
        assert_eq!(graft(OLD, OLD).map(|same| same.contains("fn old()")), Some(true));
        assert_eq!(graft("fn (", NEW), None);
    }

    #[test]
    fn lines_of_tests_are_known() {
        assert_eq!(lines(OLD), Some(vec![5..=6, 8..=12]));
        assert_eq!(lines("#![cfg(test)]\nfn a() {}\n"), Some(vec![1..=3]));
        assert_eq!(lines("fn a() {}\n"), Some(vec![]));
        assert_eq!(lines(&"(".repeat(100_000)), None);
        // As deep as it may be, and far deeper: neither is the end of whoever asks.
        for (count, is_read) in [(1_500, true), (100_000, false)] {
            for part in ["!", "-", "*", "&", "return ", "|| "] {
                let text = format!("fn a() {{ {}true }}\n", part.repeat(count));
                assert_eq!(lines(&text).is_some(), is_read, "{count} {part}");
            }
            for part in [".a", " + a", "?"] {
                let text = format!("fn a() {{ a{} }}\n", part.repeat(count));
                assert_eq!(lines(&text).is_some(), is_read, "{count} {part}");
            }
        }
        let many = format!("fn a() {{ {} }}\n", "if a {} else ".repeat(100_000) + "{}");
        assert_eq!(lines(&many), None);
        // What stands side by side is not deep.
        let items = "fn a() { b(); match c { A => {} } }\n".repeat(5_000);
        let many = "//! Text.\n".repeat(5_000) + &items;
        assert_eq!(lines(&many), Some(vec![]));
        for (path, wanted) in [
            ("src/tests.rs", true),
            ("src/a/tests/b.rs", true),
            ("src/a_test.rs", true),
            ("src/lib.rs", false),
            ("src/tests.py", false),
            ("src/contests.rs", false),
        ] {
            assert_eq!(is_test_file(path), wanted, "{path}");
        }
    }
}
