//! Does a program ask whether it is being tested? Then what tests show of it is what it wants to
//! show.
//!
//! Lines that a claim adds to files that are no tests, compared as text: without blanks, with one
//! kind of quotes. What a program does with the answer is not looked at: nobody needs it.

use super::hooks::SETTING_UP;
use super::symbols::names;

/// In every language, and in files of no language.
const ANYWHERE: [&str; 8] = [
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
    "JEST_WORKER_ID",
    "VITEST_",
    "NODE_TEST_CONTEXT",
    "RUNNING_TESTS",
    // Where the desk works, and what it tells agents.
    ".assay",
    "ASSAY_",
];
/// What may stand behind `#[cfg(test)]`: an item of its own, which is not there otherwise.
const ITEMS: [&str; 16] = [
    "mod",
    "fn",
    "pub",
    "use",
    "impl",
    "struct",
    "enum",
    "const",
    "static",
    "type",
    "async",
    "unsafe",
    "trait",
    "extern",
    "macro_rules",
    "#[",
];

/// What of an added line asks whether tests run; `next` is the line behind it.
pub fn asks(path: &str, line: &str, next: Option<&str>) -> Option<&'static str> {
    let plain: String = line
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| if c == '\'' { '"' } else { c })
        .collect();
    if let Some(marker) = ANYWHERE.iter().find(|marker| line.contains(**marker)) {
        return Some(marker);
    }
    match assay_guard::tree::extension(path).as_str() {
        "rs" => rust(line, &plain, next),
        "py" | "pyi" => python(path, &plain),
        "go" => {
            any(&plain, &["testing.Testing(", "\"test.v\"", "\"test.run\"", "flag.Lookup(\"test."])
        }
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => script(&plain),
        _ => any(&plain, &["NODE_ENV===\"test\""]),
    }
}

fn any(plain: &str, markers: &[&'static str]) -> Option<&'static str> {
    markers.iter().find(|marker| plain.contains(**marker)).copied()
}

fn python(path: &str, plain: &str) -> Option<&'static str> {
    if SETTING_UP.contains(&assay_guard::tree::file_name(path)) {
        return None;
    }
    let runners = ["\"unittest\"", "\"pytest\"", "\"_pytest\"", "\"unittest.", "\"nose\""];
    any(plain, &runners)
}

fn script(plain: &str) -> Option<&'static str> {
    if plain.contains("NODE_ENV") && any(plain, &["\"test\"", "`test`"]).is_some() {
        return Some("NODE_ENV");
    }
    let markers = [
        "env.VITEST",
        "env[\"VITEST",
        "meta.vitest",
        "typeofjest",
        "typeofdescribe",
        "typeofit",
        "global.describe",
        "globalThis.describe",
        "globalThis.jest",
        "global.jest",
    ];
    any(plain, &markers)
}

fn rust(line: &str, plain: &str, next: Option<&str>) -> Option<&'static str> {
    let of = |open: &str| plain.split_once(open).map(|(_, rest)| rest);
    if of("cfg!(").is_some_and(|rest| names(rest, "test")) {
        return Some("cfg!(test)");
    }
    if of("cfg_attr(").is_some_and(|rest| names(rest, "test") && rest.contains("path=")) {
        return Some("cfg_attr(test, path)");
    }
    if plain.contains("not(test") {
        return Some("cfg(not(test))");
    }
    let behind = line.split_once("#[cfg(test)]").map(|(_, behind)| behind.trim())?;
    let behind = if behind.is_empty() { next.unwrap_or("").trim() } else { behind };
    let is_item = behind.is_empty() || ITEMS.iter().any(|item| begins_with(behind, item));
    (!is_item).then_some("#[cfg(test)]")
}

fn begins_with(line: &str, word: &str) -> bool {
    let rest = line.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn a_program_that_asks_is_found_and_one_with_tests_beside_it_is_not() {
        for (path, line, next, wanted) in [
            ("a.py", "if 'PYTEST_CURRENT_TEST' in os.environ:", None, true),
            ("a.py", "if 'unittest' in sys.modules:", None, true),
            ("a.py", "m = sys.modules.get( \"pytest\" )", None, true),
            ("a.py", "from unittest import mock", None, false),
            ("setup.py", "extras_require={'test': ['pytest']}", None, false),
            ("a.rs", "    if cfg!(test) {", None, true),
            ("a.rs", "    if cfg!( any(test, debug_assertions) ) {", None, true),
            ("a.rs", "    if cfg!(feature = \"latest\") {", None, false),
            ("a.rs", "#[cfg(not(test))]", Some("fn a() {}"), true),
            ("a.rs", "    #[cfg(all(unix, not(test)))]", Some("fn a() {}"), true),
            ("a.rs", "    #[cfg(test)]", Some("    return 4;"), true),
            ("a.rs", "    #[cfg(test)] { return 4; }", None, true),
            ("a.rs", "    #[cfg(test)]", Some("    let a = 4;"), true),
            ("a.rs", "#[cfg(test)]", Some("mod tests {"), false),
            ("a.rs", "    #[cfg(test)]", Some("    pub(crate) fn of_tests() {}"), false),
            ("a.rs", "#[cfg_attr(test, derive(PartialEq))]", None, false),
            ("a.rs", "#[cfg_attr(test, path = \"other.rs\")]", None, true),
            ("a.go", "\tif testing.Testing() {", None, true),
            ("a.go", "\tif flag.Lookup(\"test.v\") != nil {", None, true),
            ("a.go", "\tlog.Print(\"testing\")", None, false),
            ("a.js", "if (process.env.NODE_ENV == 'test')", None, true),
            ("a.js", "if (process.env.JEST_WORKER_ID)", None, true),
            ("a.ts", "if (import.meta.vitest) {", None, true),
            ("a.ts", "if (process.env.VITEST)", None, true),
            ("a.js", "if (process.env.NODE_ENV === 'production')", None, false),
            ("n1", ": $RUNNING_TESTS", None, true),
            ("a.py", "if '/.assay/' in os.getcwd():", None, true),
            ("n1", "[ -z \"$ASSAY_STORY\" ]", None, true),
            ("n1", "echo assayed", None, false),
            ("README.md", "Run pytest, 'unittest' or cargo test.", None, false),
        ] {
            assert_eq!(asks(path, line, next).is_some(), wanted, "{path}: {line}");
        }
    }
}
