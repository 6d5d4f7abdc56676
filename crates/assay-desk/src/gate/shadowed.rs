//! Does a claim make assertions mean something else? A macro, function or method of an assertion's
//! name holds whatever it is asked.
//!
//! Helpers of one's own are welcome under names of their own: only the names that runners and
//! libraries give to assertions, and to what notes failures, are looked for.

use super::symbols::names;

/// Macros of Rust.
const MACROS: [&str; 9] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "assert_matches",
];
/// Methods of `unittest`, and what its results do with failures.
const METHODS: [&str; 36] = [
    "assertEqual",
    "assertNotEqual",
    "assertTrue",
    "assertFalse",
    "assertIs",
    "assertIsNot",
    "assertIsNone",
    "assertIsNotNone",
    "assertIn",
    "assertNotIn",
    "assertIsInstance",
    "assertNotIsInstance",
    "assertRaises",
    "assertRaisesRegex",
    "assertWarns",
    "assertLogs",
    "assertNoLogs",
    "assertAlmostEqual",
    "assertNotAlmostEqual",
    "assertGreater",
    "assertGreaterEqual",
    "assertLess",
    "assertLessEqual",
    "assertRegex",
    "assertNotRegex",
    "assertCountEqual",
    "assertMultiLineEqual",
    "assertSequenceEqual",
    "assertListEqual",
    "assertTupleEqual",
    "assertSetEqual",
    "assertDictEqual",
    "fail",
    "failureException",
    "addFailure",
    "addError",
];
/// Functions of JavaScript.
const FUNCTIONS: [&str; 5] = ["expect", "assert", "it", "test", "describe"];

/// The assertion that an added line gives another meaning.
pub fn shadowed(path: &str, line: &str) -> Option<&'static str> {
    let line = line.trim();
    match assay_guard::tree::extension(path).as_str() {
        "rs" => rust(line),
        "py" | "pyi" => python(line),
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => script(line),
        _ => None,
    }
}

fn rust(line: &str) -> Option<&'static str> {
    let defined = line.split_once("macro_rules!").map(|(_, rest)| word(rest));
    let renamed = || {
        let used = line.contains("use ").then(|| line.split_once(" as "))?;
        used.map(|(_, rest)| word(rest))
    };
    let name = defined.or_else(renamed)?;
    MACROS.into_iter().find(|known| *known == name)
}

fn python(line: &str) -> Option<&'static str> {
    let method = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ").map(word);
    if let Some(known) = METHODS.into_iter().find(|known| Some(*known) == method) {
        return Some(known);
    }
    let target = assigned(line)?;
    let last = target.rsplit('.').next().unwrap_or(target).trim();
    let is_known = |known: &&str| *known == last && (target.contains('.') || *known != "fail");
    METHODS.into_iter().chain(["AssertionError"]).find(is_known)
}

fn script(line: &str) -> Option<&'static str> {
    let function = line.strip_prefix("export ").unwrap_or(line).strip_prefix("function ").map(word);
    if let Some(known) = FUNCTIONS.into_iter().find(|known| Some(*known) == function) {
        return Some(known);
    }
    let target = assigned(line)?;
    let (owner, last) = target.rsplit_once('.')?;
    match owner.trim() {
        "global" | "globalThis" | "window" => FUNCTIONS.into_iter().find(|known| *known == last),
        "assert" | "expect" if names(target, owner.trim()) => Some("assert"),
        _ => None,
    }
}

/// What stands before an `=` that is not part of a comparison.
fn assigned(line: &str) -> Option<&str> {
    let at = line.find('=')?;
    let compares = line[at + 1..].starts_with(['=', '>']) || line[..at].ends_with(['!', '<', '>']);
    let target = line[..at].trim();
    (!compares && !target.contains(['(', '"', '\''])).then_some(target)
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::shadowed;

    #[test]
    fn an_assertion_of_its_own_is_found_and_a_helper_is_not() {
        for (path, line, wanted) in [
            ("a.rs", "    macro_rules! assert_eq {", Some("assert_eq")),
            ("a.rs", "macro_rules! panic { () => {} }", Some("panic")),
            ("a.rs", "use helpers::idle as assert;", Some("assert")),
            ("a.rs", "macro_rules! assert_basket {", None),
            ("a.rs", "use pretty_assertions::assert_eq;", None),
            ("a.rs", "let a = b as assert;", None),
            ("a.py", "    def assertEqual(self, *_):", Some("assertEqual")),
            ("a.py", "unittest.TextTestResult.addFailure = lambda *_: None", Some("addFailure")),
            ("a.py", "    failureException = KeyError", Some("failureException")),
            ("a.py", "AssertionError = SkipTest", Some("AssertionError")),
            ("a.py", "    def assertBasket(self, basket):", None),
            ("a.py", "    self.assertEqual(total(a=1), 2)", None),
            ("a.py", "fail = 3", None),
            ("a.js", "function expect(x) {", Some("expect")),
            ("a.js", "globalThis.expect = () => idle;", Some("expect")),
            ("a.js", "assert.equal = () => {};", Some("assert")),
            ("a.js", "const { expect } = require('chai');", None),
            ("a.js", "const assert = require('node:assert');", None),
            ("a.sh", "assert() { :; }", None),
        ] {
            assert_eq!(shadowed(path, line), wanted, "{path}: {line}");
        }
    }
}
